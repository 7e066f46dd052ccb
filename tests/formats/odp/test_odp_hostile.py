"""Decks that say of themselves what cannot be: repeats without end, depth, loops, crowds."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from confined import Confined, confined
from kbd_odp import OdpFormat
from odp_decks import box, deck_file, flat_deck, placeholder, slide

MAX_BYTES = 300 << 20
HUGE = "1000000000"
MANY = "9" * 5_000

CROWDS = {
    "blanks": placeholder("title", f'a<text:s text:c="{HUGE}"/>b'),
    "cells": box("T", f'<table:table><table:table-row table:number-rows-repeated="{HUGE}">'
                 f'<table:table-cell table:number-columns-repeated="{HUGE}"><text:p>ab</text:p>'
                 "</table:table-cell></table:table-row></table:table>"),
    "a place far away": f'<draw:rect svg:x="{MANY}in" svg:y="1e300in" svg:width="-1in" '
    'svg:height="1in"><text:p>ab</text:p></draw:rect>',
    "transforms": '<draw:rect svg:width="1in" svg:height="1in" draw:transform="'
    + "scale (1e9) " * 5_000 + f'rotate ({MANY})"><text:p>ab</text:p></draw:rect>',
    "groups in groups": "<draw:g>" * 200 + "<draw:rect><text:p>ab</text:p></draw:rect>"
    + "</draw:g>" * 200,
    "boxes that overlap": '<draw:rect svg:x="1in" svg:y="1in" svg:width="1in" svg:height="1in">'
    "<text:p>ab</text:p></draw:rect>" * 5_000,
    "a chart in itself": box("C", '<draw:object xlink:href="./"/>')
    + box("D", '<draw:object xlink:href="../../etc"/>') + placeholder("title", "ab"),
    "links": "<draw:a>" * 200 + "<draw:rect><text:p>ab</text:p></draw:rect>" + "</draw:a>" * 200,
}  # fmt: skip


@pytest.fixture(scope="module")
def ward() -> Iterator[Confined]:
    """Where hostile decks are opened."""
    with confined(OdpFormat, ("all",)) as found:
        yield found


def tried(ward: Confined, path: Path, name: str = "a.odp") -> dict[str, str]:
    """Do all to a deck, and see that nothing went out of hand."""
    answer = ward.run(path, name, ("all",))["all"]
    assert answer.kind == "returned", answer
    assert answer.peak_bytes <= MAX_BYTES, answer
    found: dict[str, str] = json.loads(answer.text)
    return found


@pytest.mark.parametrize("which", CROWDS)
def test_what_is_without_end_is_bounded(which: str, ward: Confined, tmp_path: Path) -> None:
    """The text is read, and nothing takes long or much."""
    found = tried(ward, deck_file(tmp_path / "a", slide(CROWDS[which])))

    assert not any(told.startswith("refused") for told in found.values()), found
    assert "a" in found["read"]
    assert "b" in found["read"]


def test_a_flat_deck_with_a_document_type_is_refused(ward: Confined, tmp_path: Path) -> None:
    """Entities are not made, and no file is read."""
    path = tmp_path / "a"
    for entities in (
        "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(10)),
        '<!ENTITY a9 SYSTEM "file:///etc/passwd">',
    ):
        shapes = placeholder("title", "&a9;")
        path.write_bytes(flat_deck(slide(shapes), f"<!DOCTYPE x [{entities}]>"))

        found = tried(ward, path, "a.fodp")

        assert all(found[name].startswith("refused") for name in ("map", "read", "passages"))
        assert "document type" in found["map"]


def test_many_slides_take_little_memory(ward: Confined, tmp_path: Path) -> None:
    """A deck is looked through slide by slide: what was read is let go."""
    slides = "".join(slide(placeholder("title", f"slide {n} of many")) for n in range(5_000))
    path = deck_file(tmp_path / "a", slides)

    answer = ward.run(path, "a.odp", ("map",))["map"]

    assert answer.kind == "returned"
    assert json.loads(answer.text)["slide_count"] == 5_000
    assert answer.peak_bytes <= 60 << 20


@pytest.mark.full
def test_as_many_elements_as_are_taken_are_within_bounds(ward: Confined, tmp_path: Path) -> None:
    """All of them in one slide; more are refused."""
    for count, told in ((590_000, "slide_count"), (610_000, "more than 300,000 elements")):
        marks = "".join(f'<text:p a="{n * n}"/>' for n in range(count))
        path = deck_file(tmp_path / "a", slide(f"<draw:rect>{marks}</draw:rect>"))

        answer = ward.run(path, "a.odp", ("map",))["map"]

        assert told in answer.text
        assert answer.peak_bytes <= MAX_BYTES
