"""What differs between two versions of a deck is named where it stands, and places are followed."""

from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import Change, CompareOptions, Place, Source
from kbd_odp import OdpFormat
from odp_decks import box, deck_file, placeholder, rich_deck_file, slide

FORMAT = OdpFormat()


def compared(tmp_path: Path, before: str, after: str, *, automatic: str = "") -> list[Change]:
    """The changes between decks of some slides."""
    one = deck_file(tmp_path / "one", before, automatic=automatic)
    two = deck_file(tmp_path / "two", after, automatic=automatic)
    found = FORMAT.compare(Source(one, "a.odp"), Source(two, "a.odp"), CompareOptions())
    return list(found.changes)


def told(changes: list[Change]) -> list[tuple[str, str, str]]:
    """Where, how and what."""
    return [(each.place.title, each.kind, each.what) for each in changes]


TABLE = (
    "<table:table><table:table-row><table:table-cell><text:p>{}</text:p></table:table-cell>"
    "<table:table-cell><text:p>{}</text:p></table:table-cell></table:table-row></table:table>"
)
INTRO = slide(placeholder("title", "Intro") + placeholder("outline", "all of it, in short"))
FIGURES = slide(placeholder("title", "Figures") + box("Prices", TABLE.format("Tea", "3")))
END = slide(placeholder("title", "End"))


def test_changed_texts_and_cells_are_named_with_their_words(tmp_path: Path) -> None:
    """By slide and shape; of a table by row and column."""
    changes = compared(
        tmp_path,
        INTRO + FIGURES,
        INTRO.replace("in short", "at length") + FIGURES.replace(">3<", ">4<"),
    )
    assert told(changes) == [
        ("slide 1, outline", "changed", "text"),
        ("slide 2, Prices, row 1, column 2", "changed", "cell"),
    ]
    assert (changes[0].before, changes[0].after) == (
        "all of it, in short", "all of it, at length",
    )  # fmt: skip
    assert ("removed", "in short") in [
        (kind, text.strip()) for kind, text in changes[0].words
    ] or any(kind == "removed" for kind, _ in changes[0].words)


def test_slides_come_go_and_move(tmp_path: Path) -> None:
    """Each is told once, with what it says; the others are not touched by it."""
    more = slide(placeholder("title", "Something new"))
    assert told(compared(tmp_path, INTRO + END, INTRO + more + END)) == [
        ("slide 2", "added", "slide")
    ]
    (gone,) = compared(tmp_path, INTRO + FIGURES + END, INTRO + END)
    assert (gone.place.title, gone.kind, gone.before) == ("slide 2", "removed", "Figures\nTea 3")
    (moved,) = compared(tmp_path, INTRO + FIGURES + END, INTRO + END + FIGURES)
    assert (moved.kind, moved.what) == ("moved", "slide")
    assert moved.moved_from is not None


def test_shapes_notes_and_looks_are_told(tmp_path: Path) -> None:
    """A shape that came, one that moved, notes, a hidden slide, and a look without words."""
    added = INTRO.replace("</draw:page>", box("More", TABLE.format("a", "b")) + "</draw:page>")
    assert told(compared(tmp_path, INTRO, added)) == [("slide 1, More", "added", "table")]
    (change,) = compared(tmp_path, FIGURES, FIGURES.replace('svg:y="2in"', 'svg:y="3in"'))
    assert change.details == {"y": (2.0, 3.0)}
    notes = (
        '<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>softly'
        "</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>"
    )
    assert told(compared(tmp_path, END, END.replace("</draw:page>", notes))) == [
        ("slide 1, notes", "added", "notes")
    ]
    styles = "".join(
        f'<style:style style:name="P{n}" style:family="paragraph"><style:text-properties '
        f'fo:font-size="{size}pt"/></style:style>' for n, size in ((1, 10), (2, 12), (3, 10))
    )  # fmt: skip
    looks = [END.replace("<text:p>", f'<text:p text:style-name="P{n}">') for n in (1, 2, 3)]
    assert told(compared(tmp_path, looks[0], looks[1], automatic=styles)) == [
        ("slide 1, title", "changed", "format")
    ]
    # The same look by another name: programs name automatic styles anew at each save.
    assert compared(tmp_path, looks[0], looks[2], automatic=styles) == []


def test_a_picture_counts_by_what_it_holds(tmp_path: Path) -> None:
    """Other bytes under the same name are a change of the picture that shows them."""
    shown = slide(box("Logo", '<draw:image xlink:href="Pictures/1.png"/>'))
    paths = [
        deck_file(tmp_path / name, shown, parts={"Pictures/1.png": data})
        for name, data in (("one", b"a"), ("two", b"b"))
    ]
    before, after = (Source(path, "a.odp") for path in paths)
    found = FORMAT.compare(before, after, CompareOptions())
    assert told(list(found.changes)) == [("slide 1, Logo", "changed", "picture")]


def test_a_deck_is_equal_to_itself(tmp_path: Path) -> None:
    """Nothing differs; beside nothing at all each slide came, or went."""
    source = Source(rich_deck_file(tmp_path / "a.odp"), "a.odp")
    assert FORMAT.compare(source, source, CompareOptions()).total == 0
    for before, after, kind in ((None, source, "added"), (source, None, "removed")):
        found = FORMAT.compare(before, after, CompareOptions())
        assert [(each.kind, each.what) for each in found.changes] == [(kind, "slide")] * 3
    with pytest.raises(ValidationFailed, match="a deck takes no sheet"):
        FORMAT.compare(source, source, CompareOptions(sheet="x"))


def test_places_are_found_by_what_people_call_them(tmp_path: Path) -> None:
    """By number, title, name of a shape, row and column; else it says what there is."""
    source = Source(rich_deck_file(tmp_path / "a.odp"), "a.odp")
    assert FORMAT.locate(source, "slide 2").slide == 1
    assert FORMAT.locate(source, "where we stand").slide == 0
    cell = FORMAT.locate(source, "slide 2, Prices, row 2, column 1")
    assert (cell.slide, cell.row, cell.column) == (1, 1, 0)
    assert FORMAT.locate(source, cell.title) == cell
    assert FORMAT.locate(source, "slide 2, notes").part == "notes"
    for text, message in (
        ("slide 9", "has no slide 9; it has 3 slides"),
        ("slide 2, Costs", 'no shape "Costs"; its shapes are: title, Prices'),
        ("slide 2, Prices, row 7", "has 2 rows and 2 columns"),
        ("the end", "is no place of a.odp"),
    ):
        with pytest.raises(ValidationFailed, match=message):
            FORMAT.locate(source, text)


def test_places_are_followed_to_the_other_version(tmp_path: Path) -> None:
    """Behind a slide that came, and back; what is gone is nowhere, what changed is marked."""
    one = Source(deck_file(tmp_path / "one", INTRO + FIGURES), "a.odp")
    after = END + FIGURES.replace(">3<", ">4<") + INTRO
    two = Source(deck_file(tmp_path / "two", after), "a.odp")
    cell = FORMAT.locate(one, "slide 2, Prices, row 1, column 2")
    kept = FORMAT.locate(one, "slide 2, Prices, row 1, column 1")
    (there, same) = FORMAT.trace(one, two, (cell, kept), forward=True)
    assert there.place == Place(
        "slide 2, Prices, row 1, column 2", slide=1, shape=1, row=0, column=1
    )
    assert (there.is_changed, same.is_changed) == (True, False)
    (back,) = FORMAT.trace(one, two, (Place("slide 1", slide=0),), forward=False)
    assert back.place is None
