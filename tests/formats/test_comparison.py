"""Lists of changes: bounded in number and size, while all are counted."""

from typing import Any

import msgspec
import pytest

from kbd.formats import (
    Change,
    ChangeCount,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    comparison,
)
from kbd.formats.comparison import MAX_CHANGE_CHARACTERS


def change(number: int = 1, /, **fields: Any) -> Change:
    """A change of a line."""
    place = Place(f"line {number}", line=number)
    return Change(place, fields.pop("kind", "changed"), "line", **fields)


def test_changes_are_listed_in_order_and_counted() -> None:
    """What was added comes out, with the counts by kind and thing."""
    changes = ChangeList()
    given = [change(1), change(2, kind="added", after="x"), change(3)]
    for each in given:
        changes.add(each)
    found = changes.comparison()

    assert found.changes == tuple(given)
    assert found.total == 3
    assert found.counts == (ChangeCount("changed", "line", 2), ChangeCount("added", "line", 1))
    assert found.warnings == ()
    assert found.hunks is None


def test_an_empty_list_is_an_empty_comparison() -> None:
    """Equal contents have no change, no count, no warning."""
    assert ChangeList().comparison() == Comparison((), 0, ())


def test_past_the_bound_changes_are_only_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is full then; the total is that of all, and a warning tells how many are listed."""
    monkeypatch.setattr(comparison, "MAX_CHANGES", 3)
    changes = ChangeList()
    for number in range(5):
        assert changes.is_full == (number >= 3)
        changes.add(change(number))
    changes.count("changed", "line", 10)
    changes.count("removed", "line", 0)
    found = changes.comparison()

    assert [each.place.line for each in found.changes] == [0, 1, 2]
    assert found.total == 15
    assert found.counts == (ChangeCount("changed", "line", 15),)
    assert found.warnings == ("of 15 changes the first 3 are listed",)


def test_values_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few changes there are, their values take no more than an answer may."""
    monkeypatch.setattr(comparison, "MAX_LISTED_BYTES", 10_000)
    changes = ChangeList()
    for number in range(50):
        changes.add(change(number, after="x" * 1000))
    found = changes.comparison()

    assert changes.is_full
    assert len(msgspec.json.encode(found.changes)) < 12_000
    assert found.total == 50


@pytest.mark.parametrize("name", ["before", "after"])
def test_long_texts_are_cut(name: str) -> None:
    """A text past the limit is cut, its words are left out, and the change says so."""
    changes = ChangeList()
    words = (("removed", "x"), ("added", "y"))
    for length in (MAX_CHANGE_CHARACTERS + 1, MAX_CHANGE_CHARACTERS):
        changes.add(change(1, **{name: "x" * length, "words": words}))
    cut, whole = changes.comparison().changes

    assert msgspec.structs.asdict(cut)[name] == "x" * MAX_CHANGE_CHARACTERS + "…"
    assert (cut.is_cut, cut.words) == (True, ())
    assert (whole.is_cut, whole.words) == (False, words)


def test_rows_of_long_texts_are_cut() -> None:
    """The fields of a row share what one text may have; what is no text stays."""
    changes = ChangeList()
    changes.add(change(after=["a", 7, "b" * 15_000, None, "c" * 15_000]))
    changes.add(change(after=["a", 7, "b" * 15_000, None]))
    cut, whole = changes.comparison().changes

    assert cut.is_cut
    assert [cut.after[0], cut.after[1], cut.after[3]] == ["a", 7, None]
    assert sum(len(text) for text in cut.after if isinstance(text, str)) <= 20_010
    assert (whole.is_cut, whole.after[2]) == (False, "b" * 15_000)


def test_words_that_are_too_long_go() -> None:
    """Words can be twice as long as a text, no more."""
    changes = ChangeList()
    changes.add(change(before="a", after="b", words=(("removed", "x" * 50_000),)))

    assert changes.comparison().changes[0].words == ()
    assert changes.comparison().changes[0].is_cut


def test_a_warning_is_given_once() -> None:
    """However often it is added."""
    changes = ChangeList()
    for text in ("one", "two", "one"):
        changes.warn(text)

    assert changes.comparison().warnings == ("one", "two")


def test_options_name_what_is_given() -> None:
    """A format refuses those that are not its own by their names."""
    assert CompareOptions().named() == ()
    assert CompareOptions(key=("Id",), context_lines=0).named() == ("key", "context_lines")
