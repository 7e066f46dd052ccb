"""Places of two changes: whether they have anything in common."""

import pytest

from kbd.formats import Change, ChangeKind, Place
from kbd.formats.rebase import places_overlap, touches


def place(**coordinates: object) -> Place:
    """Return a place without a title."""
    return Place("", **coordinates)  # type: ignore[arg-type]


CELL = {"sheet": "S", "cell": "B7"}
PAIRS = [
    (CELL, {"sheet": "s", "cell": "B7"}, True),
    (CELL, {"sheet": "S", "cell": "B8"}, False),
    (CELL, {"sheet": "T", "cell": "B7"}, False),
    (CELL, {"sheet": "S", "range": "A1:C9"}, True),
    (CELL, {"sheet": "S", "range": "A1:A9 D1:D9"}, False),
    (CELL, {"sheet": "S", "range": "A1:A9 B7:B9"}, True),
    (CELL, {"sheet": "S", "range": "7:7"}, True),
    (CELL, {"sheet": "S", "range": "8:9"}, False),
    (CELL, {"sheet": "S", "range": "B:B"}, True),
    (CELL, {"sheet": "S", "range": "C:XFD"}, False),
    (CELL, {"sheet": "S"}, True),
    (CELL, {"sheet": "S", "range": "A1:C9", "part": "chart 1"}, False),
    ({"sheet": "S"}, {"sheet": "S", "part": "chart 1"}, True),
    ({"part": "names"}, {"part": "names"}, True),
    ({"part": "names"}, {"part": "properties"}, False),
    ({"part": "names"}, CELL, False),
    ({"section": 1, "paragraph": 3}, {"section": 1, "paragraph": 3}, True),
    ({"section": 1, "paragraph": 3}, {"section": 1, "paragraph": 4}, False),
    ({"section": 1, "paragraph": 3}, {"section": 1, "table": 0}, False),
    ({"section": 1, "paragraph": 3}, {"section": 1}, True),
    ({"table": 0, "row": 1, "column": 1}, {"table": 0, "row": 1}, True),
    ({"table": 0, "row": 1, "column": 1}, {"table": 0, "row": 2}, False),
    ({"table": 0}, {"table": 1}, False),
    ({"slide": 1, "shape": 4}, {"slide": 1}, True),
    ({"slide": 1, "shape": 4}, {"slide": 1, "shape": 5}, False),
    ({"slide": 1, "shape": 4}, {"slide": 1, "part": "notes"}, False),
    ({"slide": 1}, {"slide": 1, "part": "notes"}, True),
    ({"line": 3}, {"line": 4}, False),
    ({"row": 3, "column": "amount"}, {"row": 3, "column": "name"}, False),
]


@pytest.mark.parametrize(("one", "other", "expected"), PAIRS)
def test_places_overlap(one: dict[str, object], other: dict[str, object], expected: bool) -> None:
    """Either way: one holds the other, or both hold something."""
    assert places_overlap(place(**one), place(**other)) is expected
    assert places_overlap(place(**other), place(**one)) is expected


def change(kind: ChangeKind, what: str, **coordinates: object) -> Change:
    """Return a change at a place."""
    return Change(place(**coordinates), kind, what)


def test_what_is_about_another_aspect_does_not_touch() -> None:
    """A value and a look of one cell are two things; what is gone takes all with it."""
    cell = change("changed", "cell", **CELL)

    assert touches(cell, change("added", "cell", **CELL))
    assert not touches(cell, change("changed", "format", sheet="S", range="A1:C9"))
    assert touches(cell, change("removed", "row", sheet="S", range="7:7"))
    assert not touches(cell, change("changed", "height", sheet="S", range="7:7"))
    assert touches(cell, change("removed", "filter", sheet="S", range="A1:C9"))
    assert not touches(cell, change("removed", "filter", sheet="S", range="A1:C9"), ("filter",))
    assert not touches(cell, change("moved", "cell", **CELL))
