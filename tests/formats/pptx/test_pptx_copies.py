"""Slides copied and given other layouts; what an edit of a deck leaves, takes away and tells."""

import zipfile
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from deck_edits import FORMAT, edit, make, operations, slides, talk_deck, texts
from deck_judge import DeckFile, changed_parts
from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd_pptx.edits.fonts import FontMeasure

CHART = {
    "op": "add_chart", "index": 0, "type": "column", "categories": ["a", "b"],
    "series": [{"name": "S", "values": [1, 2]}],
}  # fmt: skip


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A formatted title and body, two contents, a text box."""
    return talk_deck(tmp_path / "talk.pptx")


def listed(path: Path) -> str:
    """The application properties of a deck."""
    return DeckFile(path).entries["docProps/app.xml"].decode()


def with_listed_titles(path: Path) -> None:
    """Have the properties of a deck list its slides as PowerPoint does."""
    titles = [slide.shapes.title.text if slide.shapes.title else "-" for slide in slides(path)]
    names = "".join(f"<vt:lpstr>{title}</vt:lpstr>" for title in ("Office Theme", *titles))
    data = DeckFile(path).entries
    text = data["docProps/app.xml"].decode()
    start, end = text.index("<TitlesOfParts>"), text.index("<Manager>")
    text = (
        f'{text[:start]}<TitlesOfParts><vt:vector size="{len(titles) + 1}" baseType="lpstr">'
        f"{names}</vt:vector></TitlesOfParts>{text[end:]}"
    )
    text = text.replace("<vt:i4>0</vt:i4>", f"<vt:i4>{len(titles)}</vt:i4>")
    data["docProps/app.xml"] = text.replace(
        "<Slides>0</Slides>", f"<Slides>{len(titles)}</Slides>"
    ).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, each in data.items():
            archive.writestr(name, each)


def test_a_copied_slide_has_a_chart_and_notes_of_its_own(tmp_path: Path, out: Path) -> None:
    """What is changed on the copy does not change on the original."""
    deck = tmp_path / "deck.pptx"
    make(deck, {"op": "add_slide", "title": "One", "notes": "said"}, CHART, {"op": "add_slide"})
    edit(
        deck,
        {"op": "duplicate_slide", "index": 0},
        {"op": "set_chart", "index": 1, "categories": ["x", "y"]},
        {"op": "set_notes", "index": 1, "text": "other"},
        to=out,
    )

    found = slides(out)
    charts = [next(s for s in slide.shapes if s.has_chart).chart for slide in found[:2]]
    assert len(found) == 3
    assert [list(chart.plots[0].categories) for chart in charts] == [["a", "b"], ["x", "y"]]
    assert [each.notes_slide.notes_text_frame.text for each in found[:2]] == ["said", "other"]
    books = [chart.part.chart_workbook.xlsx_part.partname for chart in charts]
    assert books[0] != books[1]
    before, after = DeckFile(deck).entries, DeckFile(out).entries
    assert after["ppt/slides/slide1.xml"] == before["ppt/slides/slide1.xml"]
    assert after["ppt/charts/chart1.xml"] == before["ppt/charts/chart1.xml"]


def test_a_copy_goes_where_it_should(talk: Path, out: Path) -> None:
    """By its index afterwards; behind the last one at most."""
    edit(talk, {"op": "duplicate_slide", "index": 2, "to": 0}, to=out)

    assert [each[0] for each in texts(out)] == ["free text", "Old title", "Two", "free text"]
    with pytest.raises(ValidationFailed, match="copy cannot be slide 4: with it the deck has 4"):
        edit(talk, {"op": "duplicate_slide", "index": 2, "to": 4}, to=out)


def test_texts_go_to_places_of_their_kind(talk: Path, out: Path) -> None:
    """Two contents become one and a rest that is told; back again both have places."""
    applied = edit(talk, {"op": "set_layout", "index": 1, "layout": "Title and Content"}, to=out)

    slide = slides(out)[1]
    assert slide.slide_layout.name == "Title and Content"
    assert texts(out)[1] == ["Two", "left", "right"]
    assert 'has no place for "Content Placeholder 3" of slide 1' in applied.warnings[-1]
    kept = slide.shapes[2]
    assert (kept.left, kept.width) == (Inches(5.083333), Inches(4.41667)) or kept.left > Inches(4)
    changed, new, gone = changed_parts(DeckFile(talk), DeckFile(out))
    assert changed == {"ppt/slides/slide2.xml", "ppt/slides/_rels/slide2.xml.rels"}
    assert (new, gone) == (set(), set())


def test_a_deleted_slide_is_gone_from_the_bytes(tmp_path: Path, out: Path) -> None:
    """With its title in the properties, its notes, its chart, its types; the count is right."""
    deck = tmp_path / "deck.pptx"
    make(deck, {"op": "add_slide", "title": "Stays"})
    talk_deck(deck)
    with_listed_titles(deck)
    middle = tmp_path / "middle.pptx"
    edit(
        deck,
        {"op": "set_slide_text", "index": 0, "title": "Secret plan", "body": "hidden words"},
        {"op": "set_notes", "index": 0, "text": "whispered notes"},
        {**CHART, "title": "quiet chart"},
        to=middle,
    )
    assert "<vt:lpstr>Secret plan</vt:lpstr>" in listed(middle)
    assert "Old title" not in listed(middle)
    edit(middle, {"op": "delete_slide", "index": 0}, to=out)

    entries = DeckFile(out).entries
    for text in (b"Secret plan", b"hidden words", b"whispered notes", b"quiet chart"):
        assert not [name for name, data in entries.items() if text in data], text
    assert "<Slides>2</Slides>" in listed(out)
    assert '<vt:vector size="3" baseType="lpstr">' in listed(out)
    types = entries["[Content_Types].xml"].decode()
    parts = [piece.split('"')[0] for piece in types.split('PartName="/')[1:]]
    assert set(parts) <= entries.keys()


def test_an_edit_that_changes_nothing_leaves_every_byte(tmp_path: Path, out: Path) -> None:
    """Also in a deck without slides, to which python-pptx adds a list of them."""
    deck = tmp_path / "deck.pptx"
    empty: Any = pptx.Presentation()
    empty.save(str(deck))
    applied = edit(deck, {"op": "replace_text", "search": "x", "replace": "y"}, to=out)

    assert len(applied.warnings) == 1
    assert changed_parts(DeckFile(deck), DeckFile(out)) == (set(), set(), set())


def test_a_copy_reaches_out_to_nothing_new(talk: Path, out: Path) -> None:
    """The address of a link that the deck had is not told as new."""
    deck: Any = pptx.Presentation(str(talk))
    run = deck.slides[0].shapes.title.text_frame.paragraphs[0].runs[0]
    run.hyperlink.address = "https://example.com/"
    deck.save(str(talk))
    applied = edit(talk, {"op": "duplicate_slide", "index": 0}, to=out)

    assert applied.external == ()
    assert slides(out)[1].shapes.title.text_frame.paragraphs[0].runs[0].hyperlink.address


def test_replacing_names_the_comments_that_it_passes(talk: Path, out: Path) -> None:
    """A text that a comment holds, too, stays there, which is said."""
    deck: Any = pptx.Presentation(str(talk))
    part = deck.slides[2].part
    space = "http://schemas.openxmlformats.org/presentationml/2006/main"
    blob = (
        f'<p:cmLst xmlns:p="{space}"><p:cm authorId="0" dt="2024-01-01T00:00:00" idx="1">'
        '<p:pos x="1" y="1"/><p:text>free text here</p:text></p:cm></p:cmLst>'
    ).encode()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/comments"
    type_ = "application/vnd.openxmlformats-officedocument.presentationml.comments+xml"
    name = PackURI("/ppt/comments/comment1.xml")
    part.relate_to(Part(name, type_, part.package, blob), kind)
    deck.save(str(talk))
    applied = edit(talk, {"op": "replace_text", "search": "free text", "replace": "x"}, to=out)

    assert "Comments on slide 2 hold the text, too; they are not reached." in applied.warnings
    gone = out.with_stem("gone")
    edit(talk, {"op": "delete_slide", "index": 2}, to=gone)
    assert not [n for n, data in DeckFile(gone).entries.items() if b"free text here" in data]


def test_operations_follow_their_slide(talk: Path, out: Path) -> None:
    """Where a slide came in front, an operation on a shape goes to the slide behind it."""
    edit(talk, {"op": "add_slide", "title": "New", "index": 0}, to=out)
    found = operations(
        {"op": "set_shape", "index": 2, "shape": "TextBox 1", "left": 1},
        {"op": "duplicate_slide", "index": 0},
    )
    before, after = (Source(path, path.name) for path in (talk, out))
    carried = FORMAT.relocate(found, before, after)
    uncertain = FORMAT.relocate(
        operations({"op": "duplicate_slide", "index": 0, "to": 2}), before, after
    )

    assert [each["index"] for each in carried.operations] == [3, 1]
    assert "where the copy should stand is not certain" in uncertain.reason


def test_texts_are_measured_where_their_font_is(tmp_path: Path) -> None:
    """Narrow letters are narrower than wide ones; a font that is not there measures nothing."""
    measure = FontMeasure("No Such Font At All", "DejaVu Sans")
    narrow, wide = measure("iiii", ""), measure("WWWW", "")
    if narrow is None or wide is None:
        pytest.skip("DejaVu Sans is not installed")

    assert narrow < wide / 2
    assert measure("iiii", "+mj-lt") is None
