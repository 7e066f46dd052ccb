"""Operations on decks: what they write, where it goes, what they keep, what they refuse."""

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.dml.color import RGBColor
from pptx.enum.text import PP_ALIGN
from pptx.util import Inches, Pt

from deck_edits import edit, make, slides, texts
from kbd.errors import ValidationFailed

# python-pptx tells no types of it.
COLOUR: Any = RGBColor


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A deck of python-pptx: a formatted title and body, a table, two contents, a text box."""
    deck: Any = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    run = first.shapes.title.text_frame.paragraphs[0].add_run()
    run.text, run.font.bold, run.font.size = "Old title", True, Pt(33)
    frame = first.placeholders[1].text_frame
    for level, text in enumerate(("Top", "Deeper", "Deepest")):
        paragraph = frame.paragraphs[0] if level == 0 else frame.add_paragraph()
        paragraph.level = level
        run = paragraph.add_run()
        run.text, run.font.italic = text, True
        run.font.color.rgb = COLOUR(0x11, 0x22, 0x33 + level)
    second = deck.slides.add_slide(deck.slide_layouts[3])
    second.shapes.title.text_frame.text = "Two"
    second.placeholders[1].text_frame.text = "left"
    second.placeholders[2].text_frame.text = "right"
    third = deck.slides.add_slide(deck.slide_layouts[6])
    box = third.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1))
    box.text_frame.text = "free text"
    deck.save(str(tmp_path / "talk.pptx"))
    return tmp_path / "talk.pptx"


def test_runs_carry_their_looks(out: Path) -> None:
    """Title and body from runs: fonts, sizes, colours, spacing as they were given (item 126)."""
    title = [
        {"text": "Q4 ", "bold": True, "font_name": "Arial", "font_size": 28},
        {"text": "Results", "bold": True, "font_name": "Arial", "font_size": 28},
    ]
    body = [
        {"text": "Revenue: ", "font_size": 18, "underline": True},
        {"text": "$4.2M", "bold": True, "font_color": "#2E7D32", "highlight_color": "yellow"},
    ]
    make(out, {
        "op": "add_slide", "layout": "title_and_content", "title_runs": title, "body_runs": body,
        "alignment": "center", "space_after": 6, "line_spacing": 1.1,
    })  # fmt: skip

    slide = slides(out)[0]
    first, second = slide.shapes.title.text_frame.paragraphs[0].runs
    assert slide.shapes.title.text_frame.text == "Q4 Results"
    for run in (first, second):
        assert (run.font.bold, run.font.name, run.font.size) == (True, "Arial", Pt(28))
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    assert paragraph.text == "Revenue: $4.2M"
    assert paragraph.runs[0].font.underline is True
    assert str(paragraph.runs[1].font.color.rgb) == "2E7D32"
    highlight = paragraph.runs[1].font._element.find(".//{*}highlight/{*}srgbClr")
    assert highlight is not None
    assert highlight.get("val") == "FFFF00"
    assert (paragraph.alignment, paragraph.space_after) == (PP_ALIGN.CENTER, Pt(6))
    assert paragraph.line_spacing == pytest.approx(1.1)


def test_bad_looks_are_skipped_and_told(out: Path) -> None:
    """A wrong value costs nothing but itself; each is named in the warnings."""
    applied = make(out, {
        "op": "add_slide", "title_runs": [
            {"text": "T", "bold": "yes", "font_size": -3, "font_color": "sparkly", "size": 4}
        ],
        "body": "b", "alignment": "middle", "space_before": 5, "line_spacing": 1e9,
    })  # fmt: skip

    slide = slides(out)[0]
    run = slide.shapes.title.text_frame.paragraphs[0].runs[0]
    assert (run.text, run.font.bold, run.font.size) == ("T", None, None)
    assert slide.placeholders[1].text_frame.paragraphs[0].space_before == Pt(5)
    told = "\n".join(applied.warnings)
    for name in ("bold", "font_size", "font_color", "size", "alignment", "line_spacing"):
        assert name in told
    assert len(applied.warnings) == 6


def test_an_unknown_layout_still_takes_all_lines(out: Path) -> None:
    """A label that no layout has: all three lines stand on the slide, with a warning (item 130)."""
    applied = make(
        out, {"op": "add_slide", "layout": "fancy_grid", "title": "T", "body": "one\ntwo\nthree"}
    )

    assert texts(out) == [["T", "one\ntwo\nthree"]]
    assert [each for each in applied.warnings if "fancy_grid" in each]


def test_a_near_layout_is_named(out: Path) -> None:
    """A misspelt layout is told with the one that it may have meant."""
    applied = make(out, {"op": "add_slide", "layout": "Comparisson", "title": "T"})

    assert 'Near it: "Comparison".' in applied.warnings[0]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("title_slide", "Title Slide"), ("title_and_content", "Title and Content"),
        ("section_header", "Section Header"), ("title_only", "Title Only"), ("blank", "Blank"),
        ("two_content", "Two Content"), ("picture WITH caption", "Picture with Caption"),
        ("TitleSlide", "Title Slide"),
    ],
)  # fmt: skip
def test_labels_find_their_layouts(label: str, name: str, out: Path) -> None:
    """The six labels and every name of the deck, case and blanks ignored, without a warning."""
    applied = make(out, {"op": "add_slide", "layout": label})

    assert applied.warnings == ()
    assert slides(out)[0].slide_layout.name == name


def test_labels_find_layouts_of_any_language(talk: Path, out: Path) -> None:
    """In a deck with German names layouts are found by type, and without one by their room."""
    deck: Any = pptx.Presentation(str(talk))
    for layout, name in zip(deck.slide_layouts, ("Titelfolie", "Titel und Inhalt"), strict=False):
        layout.name = name
    for layout in deck.slide_layouts:
        if layout.element.get("type") in {"obj", "twoObj", "blank"}:
            del layout.element.attrib["type"]
            layout.name = f"Eigenes {layout.name}"
    deck.save(str(talk))
    labels = ("title_slide", "title_and_content", "two_content", "blank")
    applied = edit(talk, *({"op": "add_slide", "layout": label} for label in labels), to=out)

    found = [slide.slide_layout.name for slide in slides(out)[3:]]
    assert found == ["Titelfolie", "Eigenes Titel und Inhalt", "Eigenes Two Content",
                     "Eigenes Blank"]  # fmt: skip
    assert applied.warnings == ()


def test_a_body_never_overwrites_a_title(out: Path) -> None:
    """On title_only a body goes into a text box below the title, and the warnings say so."""
    applied = make(
        out, {"op": "add_slide", "layout": "title_only", "title": "Title", "body": "one\ntwo"}
    )

    title, box = slides(out)[0].shapes
    assert (title.text_frame.text, box.text_frame.text) == ("Title", "one\ntwo")
    layout = slides(out)[0].slide_layout.placeholders[0]
    assert box.top >= layout.top + layout.height
    assert "text box" in applied.warnings[0]
    after = out.with_name("after.pptx")
    again = edit(out, {"op": "set_slide_text", "index": 0, "body": "three"}, to=after)
    assert (texts(after), again.warnings) == ([["Title", "three"]], ())


def test_two_contents_are_parted_by_an_empty_line(out: Path) -> None:
    """What stands before the empty line goes left, the rest right; without one all goes left."""
    make(
        out,
        {"op": "add_slide", "layout": "two_content", "title": "T", "body": "a\nb\n\nc\nd"},
        {"op": "add_slide", "layout": "two_content", "title": "T", "body": "a\nb"},
        {"op": "set_slide_text", "index": 1, "body": "left\n\nright"},
    )

    assert texts(out) == [["T", "a\nb", "c\nd"], ["T", "left", "right"]]
    left, right = slides(out)[0].placeholders[1], slides(out)[0].placeholders[2]
    assert left.left < right.left


def test_tabs_make_levels(out: Path) -> None:
    """A tab before a line puts it a level deeper."""
    make(out, {"op": "add_slide", "title": "T", "body": "a\n\tb\n\t\tc\nd"})

    paragraphs = slides(out)[0].placeholders[1].text_frame.paragraphs
    assert [(each.text, each.level) for each in paragraphs] == [
        ("a", 0), ("b", 1), ("c", 2), ("d", 0),
    ]  # fmt: skip


def test_empty_placeholders_are_left_out_and_come_back(out: Path) -> None:
    """A slide shows no "Click to add text"; a later operation brings the place back."""
    make(out, {"op": "add_slide", "title": "T", "body": ""})
    after = out.with_name("after.pptx")
    edit(out, {"op": "append_bullets", "index": 0, "bullets": ["a", "b"]}, to=after)

    assert [len(slides(each)[0].placeholders) for each in (out, after)] == [1, 2]
    assert texts(after) == [["T", "a\nb"]]


def test_set_slide_text_keeps_the_formatting(talk: Path, out: Path) -> None:
    """New text has the looks, levels and bullets of what stood in its place."""
    edit(talk, {"op": "set_slide_text", "index": 0, "title": "New", "body": "A\nB\nC\nD"}, to=out)

    slide = slides(out)[0]
    run = slide.shapes.title.text_frame.paragraphs[0].runs[0]
    assert (run.text, run.font.bold, run.font.size) == ("New", True, Pt(33))
    paragraphs = slide.placeholders[1].text_frame.paragraphs
    assert [each.text for each in paragraphs] == ["A", "B", "C", "D"]
    assert [each.level for each in paragraphs] == [0, 1, 2, 0]
    colours = [each.runs[0].font.color.rgb for each in paragraphs]
    assert [int(str(each)[-2:], 16) for each in colours] == [0x33, 0x34, 0x35, 0x33]
    assert all(each.runs[0].font.italic for each in paragraphs)


def test_lines_that_stay_are_not_touched(talk: Path, out: Path) -> None:
    """Where a line is as it was, its runs stay, be they as many as they are."""
    deck: Any = pptx.Presentation(str(talk))
    paragraph = deck.slides[0].placeholders[1].text_frame.paragraphs[0]
    run = paragraph.add_run()
    run.text, run.font.bold = " and bold", True
    deck.save(str(talk))
    edit(talk, {"op": "set_slide_text", "index": 0, "body": "Top and bold\nX\nDeepest"}, to=out)

    top, middle, _ = slides(out)[0].placeholders[1].text_frame.paragraphs
    assert [each.text for each in top.runs] == ["Top", " and bold"]
    assert middle.text == "X"


def test_append_bullets_goes_on_like_the_body(talk: Path, out: Path) -> None:
    """New paragraphs look like the last one of their level; what was there stays."""
    edit(
        talk,
        {"op": "append_bullets", "index": 0, "bullets": ["e"]},
        {"op": "append_bullets", "index": 0, "bullets": ["f", "g"], "level": 2, "space_before": 3},
        to=out,
    )

    paragraphs = slides(out)[0].placeholders[1].text_frame.paragraphs
    assert [each.text for each in paragraphs] == ["Top", "Deeper", "Deepest", "e", "f", "g"]
    assert [each.level for each in paragraphs] == [0, 1, 2, 0, 2, 2]
    assert str(paragraphs[3].runs[0].font.color.rgb) == "112233"
    assert str(paragraphs[5].runs[0].font.color.rgb) == "112235"
    assert [each.space_before for each in paragraphs[2:]] == [None, None, Pt(3), Pt(3)]


def test_bullets_find_the_only_text_box(talk: Path, out: Path) -> None:
    """A slide without a place for a body: bullets go to its one text box."""
    edit(talk, {"op": "append_bullets", "index": 2, "bullets": ["more"]}, to=out)

    assert texts(out)[2] == ["free text\nmore"]


def test_slides_are_added_where_they_are_wanted(talk: Path, out: Path) -> None:
    """With an index a slide goes there, and the others move on."""
    edit(
        talk,
        {"op": "add_slide", "layout": "title_slide", "title": "First", "index": 0},
        {"op": "add_slide", "layout": "section_header", "title": "Middle", "index": 2},
        to=out,
    )

    titles = [each[0] for each in texts(out)]
    assert titles == ["First", "Old title", "Middle", "Two", "free text"]


def test_a_break_within_a_paragraph(out: Path) -> None:
    """A vertical tab is a break; control characters that no deck can hold are left out."""
    applied = make(out, {"op": "add_slide", "title": "one\vtwo\x00", "body": "a\r\nb"})

    assert texts(out) == [["one\vtwo", "a\nb"]]
    assert "Control characters" in applied.warnings[0]


def test_long_text_shrinks_or_is_told(out: Path) -> None:
    """A body that is too long is shrunk as far as it is read, then the warnings say so."""
    line = "A sentence of about the length that people write on their slides, or a little longer"
    few, many = "\n".join([line] * 8), "\n".join([line] * 60)
    applied = make(
        out,
        {"op": "add_slide", "title": "T", "body": "short"},
        {"op": "add_slide", "title": "T", "body": few},
        {"op": "add_slide", "title": "T", "body": many},
    )

    found = [
        slide.placeholders[1].text_frame._txBody.find(".//{*}normAutofit") for slide in slides(out)
    ]
    assert found[0] is None
    assert 60_000 <= int(found[1].get("fontScale")) < 100_000
    assert applied.warnings == (
        "Slide 2: the body is too long for its place; split it over slides.",
    )


def test_footers_come_along(talk: Path, out: Path) -> None:
    """A new slide shows the footer and number that the slide before it shows."""
    deck: Any = pptx.Presentation(str(talk))
    first = deck.slides[0]
    for place in deck.slide_layouts[1].placeholders:
        if place.placeholder_format.idx in {11, 12}:
            first.shapes.clone_placeholder(place)
    first.placeholders[11].text_frame.text = "Confidential"
    deck.save(str(talk))
    edit(talk, {"op": "add_slide", "title": "New", "index": 1}, to=out)

    assert texts(out)[1] == ["New", "Confidential", ""]


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"op": "set_slide_text", "index": 3, "title": "x"}, "There is no slide 3"),
        ({"op": "set_slide_text", "index": 0}, "give a title"),
        ({"op": "set_slide_text", "index": 0, "body": "x", "body_runs": []}, "not both"),
        ({"op": "add_slide", "title": "x", "index": 4}, "There is no slide 4"),
        ({"op": "add_slide", "title_runs": [{"bold": True}]}, r"title_runs\[0\] has no text"),
        ({"op": "add_slide", "body": "\n" * 6000}, "too long"),
        ({"op": "append_bullets", "index": 9, "bullets": ["x"]}, "There is no slide 9"),
        ({"op": "delete_slide", "index": 3}, "There is no slide 3"),
        ({"op": "move_slide", "index": 0, "to": 3}, "There is no slide 3"),
        ({"op": "set_notes", "index": 7, "text": "x"}, "There is no slide 7"),
        ({"op": "replace_text", "index": 7, "search": "x", "replace": "y"}, "There is no slide 7"),
    ],
)
def test_what_cannot_be_done_is_refused(
    operation: dict[str, Any], reason: str, talk: Path, out: Path
) -> None:
    """The message says what is wrong, and no file is written, also not of what went before."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(talk, {"op": "set_slide_text", "index": 0, "title": "first"}, operation, to=out)
    assert not out.exists()


def test_text_over_other_things_is_told(talk: Path, out: Path) -> None:
    """Where a picture or a table stands in the body's place, text goes there and it is told."""
    deck: Any = pptx.Presentation(str(talk))
    slide = deck.slides[0]
    body = slide.placeholders[1]
    place = (body.left, body.top, body.width, body.height)
    body._element.getparent().remove(body._element)
    slide.shapes.add_table(2, 2, *place)
    deck.save(str(talk))
    applied = edit(talk, {"op": "append_bullets", "index": 0, "bullets": ["x"]}, to=out)

    assert applied.warnings == (
        "Slide 0: the text was put where other things stand; look at the slide.",
    )


def test_a_layouts_name_counts_before_its_kind(talk: Path, out: Path) -> None:
    """Where a layout is named as asked, it is taken, whatever its type says."""
    deck: Any = pptx.Presentation(str(talk))
    deck.slide_layouts[1].name = "Standard"
    deck.slide_layouts[5].name = "title AND content"
    deck.save(str(talk))
    edit(talk, {"op": "add_slide", "layout": "title_and_content", "title": "T"}, to=out)

    assert slides(out)[-1].slide_layout.name == "title AND content"
