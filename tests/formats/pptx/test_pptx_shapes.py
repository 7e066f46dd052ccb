"""Pictures, text boxes and shapes put onto slides; shapes moved, as the map tells their places."""

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.util import Inches

from deck_edits import FORMAT, edit, make, operations, slides, talk_deck
from deck_judge import DeckFile, changed_parts
from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from small_pictures import png


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A formatted title and body, two contents, a text box."""
    return talk_deck(tmp_path / "talk.pptx")


def pictured(deck: Path | None, to: Path, *found: dict[str, Any]) -> Applied:
    """Apply operations with two pictures: wide.png of 2 by 1, tall.png of 1 by 2."""
    files = {}
    for name, size in (("wide.png", (192, 96)), ("tall.png", (96, 192))):
        path = to.with_name(name)
        path.write_bytes(png(*size, 96))
        files[name] = Source(path, name)
    source = None if deck is None else Source(deck, deck.name)
    return FORMAT.apply_with_files(source, operations(*found), to, files)


def picture_of(path: Path, index: int = 0) -> Any:
    """The last shape of a slide."""
    return list(slides(path)[index].shapes)[-1]


def test_a_picture_takes_a_placeholder_and_keeps_its_proportions(out: Path) -> None:
    """It lies in the middle of the place for contents, and a second one is not stored again."""
    applied = pictured(
        None, out,
        {"op": "add_slide", "title": "T"},
        {"op": "add_image", "index": 0, "image": "wide.png", "description": "A field"},
        {"op": "add_slide", "layout": "title_only", "title": "T"},
        {"op": "add_image", "index": 1, "image": "wide.png", "width": 3, "left": 1, "top": 2},
    )  # fmt: skip

    first, second = picture_of(out), picture_of(out, 1)
    place = slides(out)[0].slide_layout.placeholders[1]
    assert applied.warnings == ()
    assert first.placeholder_format.idx == 1
    assert first.width == pytest.approx(2 * first.height, rel=1e-4)
    assert first.height == pytest.approx(place.height, rel=1e-4)
    assert (second.left, second.top, second.width, second.height) == (
        Inches(1), Inches(2), Inches(3), Inches(1.5),
    )  # fmt: skip
    assert first.element.xpath(".//p:cNvPr/@descr") == ["A field"]
    media = [name for name in DeckFile(out).entries if name.startswith("ppt/media/")]
    assert media == ["ppt/media/image1.png"]


def test_a_place_for_pictures_is_filled(out: Path) -> None:
    """There a picture is cropped at the sides that stand over."""
    pictured(
        None, out,
        {"op": "add_slide", "layout": "Picture with Caption", "title": "T"},
        {"op": "add_image", "index": 0, "image": "wide.png"},
    )  # fmt: skip

    picture = picture_of(out)
    assert picture.crop_left == picture.crop_right > 0.1
    assert picture.crop_top == picture.crop_bottom == 0


def test_a_picture_is_replaced_in_its_place(tmp_path: Path, out: Path) -> None:
    """Place and size stay, the crop is told, the old picture leaves the file."""
    deck = tmp_path / "deck.pptx"
    pictured(
        None, deck, {"op": "add_slide", "title": "T"},
        {"op": "add_image", "index": 0, "image": "wide.png", "description": "wide"},
    )  # fmt: skip
    before = picture_of(deck)
    applied = pictured(deck, out, {"op": "replace_image", "index": 0, "image": "tall.png"})

    after = picture_of(out)
    assert applied.warnings == (
        "Slide 0: tall.png was cropped at its top and bottom to fit.",
        (
            'Slide 0: the description of Picture 2 is still "wide"; give one if it shows something '
            "else now."
        ),
    )
    assert (after.left, after.top, after.width) == (before.left, before.top, before.width)
    assert after.crop_top == pytest.approx(0.375, abs=1e-3)
    entries = DeckFile(out).entries
    pictures = [data for name, data in entries.items() if name.startswith("ppt/media/")]
    assert pictures == [png(96, 192, 96)]


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path, out: Path) -> None:
    """By its bytes, whatever it is called."""
    wrong = tmp_path / "wrong.png"
    wrong.write_text("no picture", encoding="utf-8")
    found = operations({"op": "add_slide"}, {"op": "add_image", "index": 0, "image": "wrong.png"})
    with pytest.raises(ValidationFailed, match="no picture that can be put in"):
        FORMAT.apply_with_files(None, found, out, {"wrong.png": Source(wrong, "wrong.png")})


def test_text_boxes_and_shapes_are_as_asked(out: Path) -> None:
    """A box as high as its text; a shape with its fill, whose text can be seen on it."""
    applied = make(
        out,
        {"op": "add_slide", "layout": "title_only", "title": "T"},
        {"op": "add_textbox", "index": 0, "text": "one\ntwo", "left": 1, "top": 2, "width": 3,
         "font_size": 20, "alignment": "center"},
        {"op": "add_shape", "index": 0, "shape": "right arrow", "text": "Go", "fill": "#FFEE00",
         "line": "none", "left": 5, "top": 2},
        {"op": "add_shape", "index": 0, "shape": "ellipse", "fill": "accent2", "left": 8, "top": 2,
         "line": "sparkling"},
    )  # fmt: skip

    _, box, arrow, oval = slides(out)[0].shapes
    assert box.text_frame.text == "one\ntwo"
    assert {run.font.size.pt for p in box.text_frame.paragraphs for run in p.runs} == {20}
    assert box.height == pytest.approx(Inches((2 * 20 * 1.2 + 7.2) / 72), rel=0.01)
    assert arrow.auto_shape_type.name == "RIGHT_ARROW"
    assert str(arrow.fill.fore_color.rgb) == "FFEE00"
    assert arrow.element.xpath("./p:style/a:fontRef/a:schemeClr/@val") == ["tx1"]
    assert oval.fill.fore_color.theme_color.name == "ACCENT_2"
    assert "sparkling" in applied.warnings[0]


def test_a_shape_that_is_none_is_an_error_with_the_near_name(out: Path) -> None:
    """A misspelt geometry is told with what comes near."""
    with pytest.raises(ValidationFailed, match=r'no shape .chevrn.; near it: "chevron"'):
        make(out, {"op": "add_slide"}, {"op": "add_shape", "index": 0, "shape": "chevrn"})


def test_shapes_move_as_the_map_tells(talk: Path, out: Path) -> None:
    """What is not given stays, of inherited places, too; the slide alone differs."""
    edit(
        talk,
        {"op": "set_shape", "index": 2, "shape": "TextBox 1", "left": 2.5, "description": "box"},
        {"op": "set_shape", "index": 0, "shape": "title 1", "width": 5},
        to=out,
    )

    was, now = (FORMAT.map(Source(path, path.name))["slides"] for path in (talk, out))
    box = {**was[2]["shapes"][0], "left": 2.5}
    assert now[2]["shapes"] == [box]
    assert now[0]["shapes"][0] == {**was[0]["shapes"][0], "width": 5.0}
    changed, new, gone = changed_parts(DeckFile(talk), DeckFile(out))
    assert changed == {"ppt/slides/slide1.xml", "ppt/slides/slide3.xml"}
    assert (new, gone) == (set(), set())


def test_a_table_that_is_resized_shares_the_size(out: Path) -> None:
    """Columns and rows keep their proportions and fill the new frame."""
    make(
        out,
        {"op": "add_slide", "title": "T"},
        {"op": "add_table", "index": 0, "rows": [["a", "bb"], [1, 2]]},
        {"op": "set_shape", "index": 0, "shape": "Table 2", "width": 4, "height": 3},
    )

    frame = next(shape for shape in slides(out)[0].shapes if shape.has_table)
    assert (frame.width, frame.height) == (Inches(4), Inches(3))
    assert sum(column.width for column in frame.table.columns) == Inches(4)
    assert sum(row.height for row in frame.table.rows) == Inches(3)


def test_what_stands_over_or_does_not_fit_is_told(out: Path) -> None:
    """A box beyond the slide's edge, a text too long for its shape, a text over the lower edge."""
    applied = make(
        out,
        {"op": "add_slide", "layout": "blank"},
        {"op": "add_shape", "index": 0, "shape": "rect", "left": 12, "top": 1, "width": 3},
        {"op": "add_shape", "index": 0, "shape": "rect", "text": "word " * 60, "left": 1, "top": 1,
         "width": 1.5, "height": 0.5},
        {"op": "add_textbox", "index": 0, "text": "line\n" * 30, "left": 5, "top": 3, "width": 2},
    )  # fmt: skip

    assert applied.warnings == (
        "Slide 0: the shape reaches over the slide, which is 13.33 by 7.5 inches.",
        "Slide 0: the text of Rectangle 2 is too long for its place; split it over slides.",
        "Slide 0: the text box reaches over the slide, which is 13.33 by 7.5 inches.",
        "Slide 0: the text box runs over the lower edge of the slide.",
    )


def test_a_shape_in_a_group_is_refused_by_name(talk: Path, out: Path) -> None:
    """It goes with its group."""
    deck: Any = pptx.Presentation(str(talk))
    shapes = deck.slides[2].shapes
    shapes.add_group_shape([shapes[0]])
    deck.save(str(talk))
    with pytest.raises(ValidationFailed, match="is in the group 'Group 2'; move the group"):
        edit(talk, {"op": "set_shape", "index": 2, "shape": "TextBox 1", "left": 1}, to=out)
