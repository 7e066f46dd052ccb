"""Operations on decks: what they write, where it goes, what they keep, what they refuse."""

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.enum.text import PP_ALIGN
from pptx.util import Pt

from deck_edits import edit, make, slides, talk_deck, texts
from kbd.errors import ValidationFailed


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A deck of python-pptx: a formatted title and body, a table, two contents, a text box."""
    return talk_deck(tmp_path / "talk.pptx")


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


def test_tabs_make_levels(out: Path) -> None:
    """A tab before a line puts it a level deeper."""
    make(out, {"op": "add_slide", "title": "T", "body": "a\n\tb\n\t\tc\nd"})

    paragraphs = slides(out)[0].placeholders[1].text_frame.paragraphs
    assert [(each.text, each.level) for each in paragraphs] == [
        ("a", 0), ("b", 1), ("c", 2), ("d", 0),
    ]  # fmt: skip


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"op": "set_slide_text", "index": 3, "title": "x"}, "there is no slide 3"),
        ({"op": "set_slide_text", "index": 0}, "give a title"),
        ({"op": "set_slide_text", "index": 0, "body": "x", "body_runs": []}, "not both"),
        ({"op": "add_slide", "title": "x", "index": 4}, "there is no slide 4"),
        ({"op": "add_slide", "title_runs": [{"bold": True}]}, r"title_runs\[0\] has no text"),
        ({"op": "add_slide", "body": "\n" * 6000}, "too long"),
        ({"op": "append_bullets", "index": 9, "bullets": ["x"]}, "there is no slide 9"),
        ({"op": "delete_slide", "index": 3}, "there is no slide 3"),
        ({"op": "move_slide", "index": 0, "to": 3}, "there is no slide 3"),
        ({"op": "set_notes", "index": 7, "text": "x"}, "there is no slide 7"),
        ({"op": "replace_text", "index": 7, "search": "x", "replace": "y"}, "there is no slide 7"),
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
