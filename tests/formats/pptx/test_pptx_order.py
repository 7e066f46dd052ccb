"""Slides moved, deleted and annotated, with what the deck says of them elsewhere."""

from pathlib import Path

import pptx
import pytest
from lxml import etree

from deck_edits import PREVIEW_WARNING, edit, make, slides, texts
from deck_judge import DeckFile, changed_parts
from kbd.errors import ValidationFailed
from linked_decks import (
    five_slides,
    listed_twice,
    patched,
    sections_of,
    signed,
    with_sections,
    with_show,
)


@pytest.fixture
def five(tmp_path: Path) -> Path:
    """Five slides with notes; two links lead from S1 to S3."""
    return five_slides(tmp_path / "five.pptx")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


def titles(path: Path) -> str:
    """Return the numbers in the slides' titles."""
    return "".join(each[0].removeprefix("S") for each in texts(path))


@pytest.mark.parametrize(
    ("index", "to", "order"),
    [(0, 4, "12340"), (4, 0, "40123"), (1, 2, "02134"), (3, 1, "03124"), (2, 2, "01234")],
)
def test_move_slide(index: int, to: int, order: str, five: Path, out: Path) -> None:
    """A slide stands at `to` afterwards; nothing but the deck's list changes."""
    edit(five, {"op": "move_slide", "index": index, "to": to}, to=out)

    assert titles(out) == order
    changed, new, gone = changed_parts(DeckFile(five), DeckFile(out))
    assert changed <= {"ppt/presentation.xml"}
    assert (new, gone) == (set(), set())


@pytest.mark.parametrize(
    ("index", "to", "sections"),
    [
        (0, 4, [[0], [1, 2, 3, 4]]),
        (4, 0, [[0, 1, 2], [3, 4]]),
        (3, 2, [[0, 1], [2, 3, 4]]),
        (1, 0, [[0, 1], [2, 3, 4]]),
        (1, 2, [[0], [1, 2, 3, 4]]),
    ],
)
def test_sections_follow(
    index: int, to: int, sections: list[list[int]], five: Path, out: Path
) -> None:
    """A moved slide is listed where it stands; it leaves its section only where it must."""
    with_sections(five, 2, 3)
    edit(five, {"op": "move_slide", "index": index, "to": to}, to=out)

    found = sections_of(out)
    assert found == sections


def test_new_and_deleted_slides_keep_sections_whole(five: Path, out: Path) -> None:
    """Each slide is in one section, that of the slide before it; a deleted one is in none."""
    with_sections(five, 2, 3)
    edit(
        five,
        {"op": "add_slide", "title": "S5"},
        {"op": "add_slide", "title": "S6", "index": 0},
        {"op": "delete_slide", "index": 3},
        to=out,
    )

    assert titles(out) == "601345"
    assert sections_of(out) == [[0, 1, 2], [3, 4, 5]]


def test_delete_slide_takes_all_that_is_its_own(five: Path, out: Path) -> None:
    """The slide's part and its notes go, the count of slides follows, and nothing else changes."""
    applied = edit(five, {"op": "delete_slide", "index": 2}, to=out)

    assert titles(out) == "0134"
    assert applied.warnings == ()
    changed, new, gone = changed_parts(DeckFile(five), DeckFile(out))
    assert gone == {
        "ppt/slides/slide3.xml", "ppt/slides/_rels/slide3.xml.rels",
        "ppt/notesSlides/notesSlide3.xml", "ppt/notesSlides/_rels/notesSlide3.xml.rels",
    }  # fmt: skip
    assert new == set()
    assert changed == {
        "ppt/presentation.xml", "ppt/_rels/presentation.xml.rels", "[Content_Types].xml",
        "docProps/app.xml",
    }  # fmt: skip


def test_a_slide_that_is_listed_twice_is_deleted_entry_by_entry(five: Path, out: Path) -> None:
    """The other entry keeps the slide, with what leads to it; its part goes with the last one."""
    listed_twice(five, 3)
    applied = edit(five, {"op": "delete_slide", "index": 3}, to=out)

    assert titles(out) == "01243"
    assert applied.warnings == ()
    assert b"hlinkClick" in DeckFile(out).entries["ppt/slides/slide2.xml"]
    edit(five, *[{"op": "delete_slide", "index": place} for place in (5, 3)], to=out)
    assert titles(out) == "0124"
    assert "ppt/slides/slide4.xml" not in DeckFile(out).entries


def test_a_custom_show_keeps_a_slide_that_has_another_entry(five: Path, out: Path) -> None:
    """Entries of a slide may have relations of their own; the show's stays."""
    with_show(listed_twice(five, 3), 3)
    rels = "ppt/_rels/presentation.xml.rels"
    (relation,) = [each for each in DeckFile(five).root(rels) if "slide4" in each.get("Target", "")]
    id_ = relation.get("Id", "")
    relation.set("Id", "rId900")
    again = etree.tostring(relation).decode()
    patched(
        five,
        {
            rels: lambda text: text.replace("</Rel", f"{again}</Rel"),
            "ppt/presentation.xml": lambda text: text.replace(
                f'id="900" r:id="{id_}"', 'id="900" r:id="rId900"'
            ),
        },
    )
    edit(five, {"op": "delete_slide", "index": 3}, to=out)

    assert titles(out) == "01243"
    assert f'<p:sld r:id="{id_}"/>'.encode() in DeckFile(out).entries["ppt/presentation.xml"]
    assert f'Id="{id_}"'.encode() in DeckFile(out).entries[rels]


def test_links_to_a_deleted_slide_are_taken_off(five: Path, out: Path) -> None:
    """The text and the shape that led there stay, without their links, and it is told."""
    applied = edit(five, {"op": "delete_slide", "index": 3}, to=out)

    entries = DeckFile(out).entries
    assert titles(out) == "0124"
    assert texts(out)[1][-1] == "go there"
    assert b"hlinkClick" not in entries["ppt/slides/slide2.xml"]
    assert b"slide4.xml" not in entries["ppt/slides/_rels/slide2.xml.rels"]
    assert "ppt/slides/slide4.xml" not in entries
    assert applied.warnings == ("A link on slide 1 led to slide 3; it was taken off.",)


def test_a_custom_show_loses_a_deleted_slide(five: Path, out: Path) -> None:
    """The show goes on without it, and it is told."""
    with_show(five, 0, 2, 4)
    applied = edit(five, {"op": "delete_slide", "index": 2}, to=out)

    shown = pptx.Presentation(str(out)).element.findall(".//{*}custShow/{*}sldLst/{*}sld")
    assert len(shown) == 2
    assert applied.warnings == ("Slide 2 was taken out of a custom show.",)


def test_the_outline_forgets_a_deleted_slide(five: Path, out: Path) -> None:
    """What programs keep of how the deck was looked at does not hold the slide back."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    view = (
        f'<p:outlineViewPr xmlns:r="{kind}"><p:cViewPr><p:scale><a:sx n="1" d="1"/>'
        '<a:sy n="1" d="1"/></p:scale><p:origin x="0" y="0"/></p:cViewPr>'
        '<p:sldLst><p:sld r:id="rId1"/></p:sldLst></p:outlineViewPr><p:gridSpacing'
    )
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{kind}/slide" Target="slides/slide1.xml"/></Relationships>'
    )
    patched(
        five,
        {"ppt/viewProps.xml": lambda text: text.replace("<p:gridSpacing", view, 1)},
        **{"ppt/_rels/viewProps.xml.rels": relations},
    )
    edit(five, {"op": "delete_slide", "index": 0}, to=out)

    entries = DeckFile(out).entries
    assert b"outlineViewPr" in entries["ppt/viewProps.xml"]
    assert b"rId1" not in entries["ppt/viewProps.xml"]
    assert "ppt/slides/slide1.xml" not in entries


def test_all_slides_can_go_and_new_ones_come(five: Path, out: Path) -> None:
    """A deck may be emptied; what is added then has names and ids of its own."""
    edit(
        five, *[{"op": "delete_slide", "index": 0}] * 5, {"op": "add_slide", "title": "S9"}, to=out
    )

    assert titles(out) == "9"


def test_notes_are_rewritten_or_made(five: Path, out: Path) -> None:
    """Notes that are there keep their page; a new page has a master that the deck lists."""
    edit(five, {"op": "set_notes", "index": 1, "text": "first\nsecond"}, to=out)
    notes = slides(out)[1].notes_slide.notes_text_frame
    assert [each.text for each in notes.paragraphs] == ["first", "second"]
    assert changed_parts(DeckFile(five), DeckFile(out)) == (
        {"ppt/notesSlides/notesSlide2.xml"}, set(), set(),
    )  # fmt: skip

    make(five, {"op": "add_slide", "title": "T"}, {"op": "add_slide", "title": "U", "notes": "n"})
    edit(five, {"op": "set_notes", "index": 0, "text": "made"}, to=out)
    found = slides(out)
    assert [each.notes_slide.notes_text_frame.text for each in found] == ["made", "n"]
    root = DeckFile(out).root("ppt/presentation.xml")
    assert len(root.findall("{*}notesMasterIdLst/{*}notesMasterId")) == 1


def test_a_slide_that_is_needed_elsewhere_stays(five: Path, out: Path) -> None:
    """Where something unknown leads to a slide, deleting it is refused by name."""
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relation = f'<Relationship Id="rId77" Type="{kind}/slide" Target="slide2.xml"/>'
    mark = f'<p:strange xmlns:r="{kind}" r:id="rId77"/></p:cSld>'
    patched(
        five,
        {
            "ppt/slides/slide1.xml": lambda text: text.replace("</p:cSld>", mark),
            "ppt/slides/_rels/slide1.xml.rels": lambda text: text.replace(
                "</Relationships>", f"{relation}</Relationships>"
            ),
        },
    )

    with pytest.raises(ValidationFailed, match="slide 1 cannot be deleted: slide 0 needs it"):
        edit(five, {"op": "delete_slide", "index": 1}, to=out)


def test_signed_final_and_locked_decks_are_told(five: Path, out: Path) -> None:
    """They are edited, and the warnings say what that means for them."""
    signed(five)
    custom = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/custom-properties"
    relation = f'<Relationship Id="rIdC" Type="{custom}" Target="docProps/custom.xml"/>'
    space = "http://schemas.openxmlformats.org/officeDocument/2006"
    final = (
        f'<Properties xmlns="{space}/custom-properties" xmlns:vt="{space}/docPropsVTypes">'
        '<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="2" name="_MarkAsFinal">'
        "<vt:bool>true</vt:bool></property></Properties>"
    )
    lock = '<p:modifyVerifier algorithmName="SHA-512"/></p:presentation>'
    patched(
        five,
        {
            "_rels/.rels": lambda text: (
                text.replace("</Relationships>", f"{relation}</Relationships>")
                if "officeDocument/2006/relationships/officeDocument" in text
                else text
            ),
            "ppt/presentation.xml": lambda text: text.replace("</p:presentation>", lock),
        },
        **{"docProps/custom.xml": final},
    )
    applied = edit(five, {"op": "set_slide_text", "index": 0, "title": "S7"}, to=out)

    assert titles(out) == "71234"
    *warnings, preview = applied.warnings
    told = " ".join(warnings)
    assert (len(warnings), preview) == (3, PREVIEW_WARNING)
    assert all(word in told for word in ("signed", "final", "password"))
