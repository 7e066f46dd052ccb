"""A change is a line that a model can check: its place, what was there and what is there now."""

import pytest

from kbd.formats import Change, ChangeList, Place, Span
from kbd.formats.change_text import MAX_VALUE_CHARACTERS, describe_change, describe_changes

B7 = Place("Sheet1!B7", sheet="Sheet1", cell="B7")
LONG = "word " * 100

LINES = {
    "changed Sheet1!B7: 341.6 -> 314.6": Change(B7, "changed", "cell", 341.6, 314.6),
    "added Sheet1!B7: 7": Change(B7, "added", "cell", after=7),
    "removed Sheet1!B7: TRUE": Change(B7, "removed", "cell", before=True),
    "changed Sheet1!B7: =A1*2 = 4 -> 5": Change(
        B7, "changed", "cell", {"formula": "=A1*2", "value": 4, "current": True}, 5
    ),
    "changed Sheet1!B7: =A1*2 -> 5": Change(
        B7, "changed", "cell", {"formula": "=A1*2", "value": 4}, 5
    ),
    "changed Sheet1!B7 (format): font_bold: FALSE -> TRUE": Change(
        B7, "changed", "format", details={"font_bold": (False, True)}
    ),
    "moved Sheet1!5:5 (block) from Sheet1!2:2": Change(
        Place("Sheet1!5:5"), "moved", "block", moved_from=Place("Sheet1!2:2")
    ),
    "added row 3: a | 1 | (empty)": Change(
        Place("row 3"), "added", "row", after=["a", 1, "(empty)"]
    ),
    "changed Sheet1!B7: 5 (number) -> 5 (text)": Change(B7, "changed", "cell", 5, "5"),
    "changed Sheet1!B7: yes -> yes⟨U+00A0⟩": Change(B7, "changed", "cell", "yes", "yes\u00a0"),
    "changed Sheet1!B7: yes -> yes␣": Change(B7, "changed", "cell", "yes", "yes "),
    "changed Sheet1!B7: 1 -> 2; the stored result is out of date": Change(
        B7, "changed", "cell", 1, 2, note="the stored result is out of date"
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_a_change_is_a_line(line: str) -> None:
    """Kind, place, both sides, what else differs, and what the reader must know."""
    assert describe_change(LINES[line]) == line


def test_a_long_text_is_shown_from_a_little_before_its_first_changed_word() -> None:
    """Both sides, each within its bound: a change far down in a paragraph is not cut away."""
    words: tuple[Span, ...] = (
        ("equal", LONG), ("removed", "341.60"), ("added", "314.60"), ("equal", LONG),
    )  # fmt: skip
    before, after = f"{LONG}341.60{LONG}", f"{LONG}314.60{LONG}"
    line = describe_change(
        Change(Place("paragraph 3"), "changed", "paragraph", before, after, words=words)
    )
    left, _, right = line.partition(" -> ")
    assert "word 341.60word" in left
    assert "word 314.60word" in right
    assert len(right) <= MAX_VALUE_CHARACTERS


def test_a_long_value_is_shown_from_a_little_before_what_differs() -> None:
    """Also where nothing tells its words."""
    line = describe_change(Change(B7, "changed", "cell", f"{LONG}341.60", f"{LONG}314.60"))
    assert line.startswith("changed Sheet1!B7: …")
    assert "341.60 -> …" in line
    assert line.endswith("314.60")


def test_all_are_counted_and_some_are_shown() -> None:
    """From any of them on; what follows the last one is told, and so are the warnings."""
    found = ChangeList()
    for number in range(5):
        found.add(Change(Place(f"line {number + 1}"), "added", "line", after=str(number)))
    found.count("removed", "line", 3)
    found.warn("the end was not compared")
    described = describe_changes(found.comparison(), 2, 1)

    assert described["counts"] == {"line added": 5, "line removed": 3}
    assert described["changed"] == ["added line 2: 1", "added line 3: 2"]
    assert described["not_shown"] == 5
    assert described["warnings"][0] == "the end was not compared"
    rest = describe_changes(found.comparison(), 10, 4)
    assert (rest["changed"], rest["not_shown"]) == (["added line 5: 4"], 3)
    assert describe_changes(ChangeList().comparison(), 10) == {"counts": {}, "changed": []}
