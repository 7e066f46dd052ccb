"""Places in decks: how people write them, and where they are in the other version."""

from pathlib import Path
from typing import Any

import pytest

from compared_decks import full_deck, planted, source
from deck_edits import FORMAT, edit
from kbd.errors import ValidationFailed
from kbd.formats import Place


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("2", "slide 2"),
        ("Slide 2", "slide 2"),
        ("slide #2", "slide 2"),
        ("two", "slide 2"),
        ("slide 1, title 1", "slide 1, Title 1"),
        ("slide 1: title", "slide 1, Title 1"),
        ("slide 1, Content Placeholder 2, paragraph 3",
         "slide 1, Content Placeholder 2, paragraph 3"),
        ("slide 2, notes", "slide 2, notes"),
        ("slide 2, notes, paragraph 2", "slide 2, notes, paragraph 2"),
        ("slide 3, Table 2, row 2, column 3", "slide 3, Table 2, row 2, column 3"),
        ("slide 3, Table 2, column 1", "slide 3, Table 2, column 1"),
        ("layout Title Slide", "layout Title Slide"),
        ("part ppt/viewProps.xml", "part ppt/viewProps.xml"),
        ("slide size", "slide size"),
    ],
)  # fmt: skip
def test_places_are_found_as_people_write_them(tmp_path: Path, text: str, title: str) -> None:
    """Case does not count, a colon will do, and a slide goes by its title, too."""
    assert FORMAT.locate(source(full_deck(tmp_path)), text).title == title


@pytest.mark.parametrize(
    "text",
    [
        "", "slide 9", "slide 0", "slide 1, Nothing", "slide 1, Title 1, row 1", "nowhere",
        "slide 3, Table 2, row 4", "slide 2, notes, paragraph 3", "slide 2, comment 1",
        "slide 1, Title 1, paragraph 2",
    ],
)  # fmt: skip
def test_what_is_no_place_is_refused(tmp_path: Path, text: str) -> None:
    """The refusal says what is there, or how places are written."""
    with pytest.raises(ValidationFailed, match=r"slides|write|shapes are|rows|paragraph"):
        FORMAT.locate(source(full_deck(tmp_path)), text)


def test_places_follow_their_slide(tmp_path: Path) -> None:
    """A slide that moved takes its shapes, cells and notes with it; one that is gone is nowhere."""
    deck, out = full_deck(tmp_path), tmp_path / "out.pptx"
    edit(
        deck,
        {"op": "move_slide", "index": 2, "to": 0},
        {"op": "delete_slide", "index": 1},
        {"op": "set_notes", "index": 1, "text": "Say that\nSay this"},
        to=out,
    )
    titles = (
        "slide 3", "slide 3, Table 2, row 2, column 1", "slide 1", "slide 1, Title 1",
        "slide 2", "slide 2, notes", "slide 2, notes, paragraph 1",
    )  # fmt: skip
    places = tuple(FORMAT.locate(source(deck), title) for title in titles)

    found = FORMAT.trace(source(deck), source(out), places, forward=True)

    assert [each.place and each.place.title for each in found] == [
        "slide 1", "slide 1, Table 2, row 2, column 1", None, None,
        "slide 2", "slide 2, notes", "slide 2, notes, paragraph 2",
    ]  # fmt: skip
    assert [each.is_changed for each in found] == [False, False, False, False, True, True, False]
    there = tuple(each.place for each in found if each.place)
    back = FORMAT.trace(source(deck), source(out), there, forward=False)
    assert [each.place for each in back] == [places[at] for at in (0, 1, 4, 5, 6)]


def test_cells_follow_their_rows(tmp_path: Path) -> None:
    """A row that came above shifts what is below; a cell that is equal is not changed."""
    deck = full_deck(tmp_path)

    def change(each: Any) -> None:
        table = each.slides[2].shapes[1].table
        table._tbl.remove(table._tbl.tr_lst[0])
        table.cell(1, 2).text = "r2c2 now"

    out = planted(deck, change)
    places = tuple(
        FORMAT.locate(source(deck), f"slide 3, Table 2, row {row}, column 3") for row in (1, 2, 3)
    )

    gone, same, changed = FORMAT.trace(source(deck), source(out), places, forward=True)

    assert gone.place is None
    assert (same.place and same.place.row, same.is_changed) == (0, False)
    assert (changed.place and changed.place.row, changed.is_changed) == (1, True)


def test_a_place_that_is_nowhere_leads_nowhere(tmp_path: Path) -> None:
    """Slides, shapes and parts that a version does not have have no way to the other."""
    deck = full_deck(tmp_path)
    other = planted(deck, lambda _: None)
    places = (
        Place("slide 9", slide=8),
        Place("slide 1, X", slide=0, shape=77),
        Place("part none.xml", part="none.xml"),
    )

    found = FORMAT.trace(source(deck), source(other), places, forward=True)

    assert [each.place for each in found] == [None, None, None]
