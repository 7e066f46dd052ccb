"""A text replaced on slides: across runs, once each, with looks kept, wherever slides have text."""

import re
from pathlib import Path
from typing import Any

import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from deck_edits import PREVIEW_WARNING, edit, slides, texts
from kbd_pptx.edits.replacement import replace_in_paragraph
from kbd_pptx.presentation import A
from linked_decks import listed_twice, patched

# python-pptx tells no types of it.
CHART_DATA: Any = CategoryChartData

Marked = list[tuple[str, str]]
"""Characters, each with the size of its run, which stands for its look."""


def paragraph_of(runs: list[tuple[str, str]]) -> etree._Element:
    """Build a paragraph of runs; a vertical tab is a break, a NUL a field."""
    made = etree.Element(f"{A}p")
    etree.SubElement(made, f"{A}pPr", algn="ctr")
    for text, size in runs:
        tag = {"\v": "br", "\0": "fld"}.get(text, "r")
        run = etree.SubElement(made, f"{A}{tag}")
        etree.SubElement(run, f"{A}rPr", sz=size)
        if tag != "br":
            etree.SubElement(run, f"{A}t").text = "7" if tag == "fld" else text
    etree.SubElement(made, f"{A}endParaRPr", sz="9")
    return made


def marked(paragraph: etree._Element) -> Marked:
    """Read the characters of a paragraph with their sizes."""
    found = []
    for run in paragraph.iterchildren(f"{A}r", f"{A}br", f"{A}fld"):
        look = run.find(f"{A}rPr")
        assert look is not None
        special = {f"{A}br": "\v", f"{A}fld": "\0"}.get(str(run.tag))
        found += [(each, look.get("sz", "")) for each in special or run.findtext(f"{A}t") or ""]
    return found


def model(chars: Marked, search: str, replace: str, *, match_case: bool) -> tuple[Marked, int]:
    """Replace by hand: character by character, what was put in is not looked at again."""
    found: Marked = []
    place, count = 0, 0
    while place < len(chars):
        here = "".join(each for each, _ in chars[place : place + len(search)])
        if here == search or (not match_case and here.lower() == search.lower()):
            found += [(each, chars[place][1]) for each in replace]
            place, count = place + len(search), count + 1
        else:
            found.append(chars[place])
            place += 1
    return found, count


RUNS = st.lists(
    st.tuples(st.one_of(st.text("abB ", max_size=5), st.sampled_from("\v\0")),
              st.sampled_from(("10", "11", "12"))),
    max_size=8,
)  # fmt: skip


@given(RUNS, st.text("abB\v", min_size=1, max_size=3), st.text("abX\v", max_size=4), st.booleans())
def test_against_a_model(
    runs: list[tuple[str, str]],
    search: str,
    replace: str,
    match_case: bool,
) -> None:
    """Whatever the runs: every hit once, with the look it began in; all else keeps its own."""
    paragraph = paragraph_of(runs)
    before = marked(paragraph)
    pattern = re.compile(re.escape(search), 0 if match_case else re.IGNORECASE)
    count = replace_in_paragraph(paragraph, pattern, replace)

    assert (marked(paragraph), count) == model(before, search, replace, match_case=match_case)
    assert [each.tag for each in paragraph][:: max(len(paragraph) - 1, 1)] == [
        f"{A}pPr", f"{A}endParaRPr",
    ]  # fmt: skip


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """{{name}} in a title over three runs, a table, a group, notes, a chart, a layout."""
    made: Any = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    title = slide.shapes.title.text_frame.paragraphs[0]
    for text, bold in (("Dear {{na", True), ("m", None), ("e}}, hello", False)):
        run = title.add_run()
        run.text, run.font.bold = text, bold
    table = slide.shapes.add_table(1, 2, Inches(1), Inches(3), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text = "{{name}}", "for {{NAME}} {{name}}"
    group = slide.shapes.add_group_shape()
    inner = group.shapes.add_textbox(Inches(1), Inches(5), Inches(2), Inches(1))
    inner.text_frame.text = "{{name}} in a group"
    slide.notes_slide.notes_text_frame.text = "Ask {{name}}"
    data = CHART_DATA()
    data.categories = ["{{name}}"]
    data.add_series("S", (1,))
    second = made.slides.add_slide(made.slide_layouts[6])
    place = (Inches(1), Inches(1), Inches(4), Inches(3))
    second.shapes.add_chart(XL_CHART_TYPE.PIE, *place, data)
    box = made.slide_layouts[6].shapes._spTree
    shape = etree.fromstring(etree.tostring(inner._element).replace(b"in a group", b"on a layout"))
    box.append(shape)
    made.save(str(tmp_path / "deck.pptx"))
    return tmp_path / "deck.pptx"


def test_tables_groups_and_notes_are_reached(deck: Path, tmp_path: Path) -> None:
    """Every place a reader sees is filled, the count is told, and looks stay (item 129)."""
    out = tmp_path / "out.pptx"
    applied = edit(deck, {"op": "replace_text", "search": "{{name}}", "replace": "Ada"}, to=out)

    slide = slides(out)[0]
    runs = slide.shapes.title.text_frame.paragraphs[0].runs
    assert [(run.text, run.font.bold) for run in runs] == [("Dear Ada", True), (", hello", False)]
    table = next(shape.table for shape in slide.shapes if shape.has_table)
    assert [cell.text for cell in table.rows[0].cells] == ["Ada", "for Ada Ada"]
    group = next(shape for shape in slide.shapes if shape.shape_type == 6)
    assert group.shapes[0].text_frame.text == "Ada in a group"
    assert slide.notes_slide.notes_text_frame.text == "Ask Ada"
    assert applied.changed == ("6 replacements on slide 0, 1 of them in notes",)


def test_what_is_not_reached_is_told(deck: Path, tmp_path: Path) -> None:
    """A chart and a layout hold the text, too: they stay, and the warnings name their slides."""
    out = tmp_path / "out.pptx"
    applied = edit(deck, {"op": "replace_text", "search": "{{name}}", "replace": "Ada"}, to=out)

    assert applied.warnings == (
        "Charts on slide 1 hold the text, too; they are not reached.",
        "Layouts on slide 1 hold the text, too; they are not reached.",
        PREVIEW_WARNING,
    )


def test_categories_of_later_charts_are_told(deck: Path, tmp_path: Path) -> None:
    """A chart of the kinds of 2014 that holds the text is named as others are."""
    out = tmp_path / "out.pptx"
    cx = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    kind = "http://schemas.microsoft.com/office/2014/relationships/chartEx"
    relation = f'<Relationship Id="rIdX" Type="{kind}" Target="../charts/chartEx1.xml"/></Rel'
    part = (
        f'<cx:chartSpace xmlns:cx="{cx}"><cx:chartData><cx:data id="0"><cx:strDim type="cat">'
        '<cx:lvl ptCount="1"><cx:pt idx="0">Dear all</cx:pt></cx:lvl></cx:strDim></cx:data>'
        "</cx:chartData></cx:chartSpace>"
    )
    patched(
        deck,
        {"slides/_rels/slide2.xml.rels": lambda text: text.replace("</Rel", relation)},
        **{"ppt/charts/chartEx1.xml": part},
    )
    applied = edit(deck, {"op": "replace_text", "search": "Dear", "replace": "Hi"}, to=out)

    assert applied.warnings == (
        "Charts on slide 1 hold the text, too; they are not reached.",
        PREVIEW_WARNING,
    )


def test_case_and_place_can_be_told(deck: Path, tmp_path: Path) -> None:
    """match_case leaves other spellings, index leaves other slides."""
    out = tmp_path / "out.pptx"
    applied = edit(
        deck,
        {"op": "replace_text", "search": "NAME", "replace": "x", "match_case": True},
        {"op": "replace_text", "search": "name", "replace": "x", "index": 1},
        to=out,
    )

    assert applied.changed == ("1 replacement on slide 0", "0 replacements")
    assert '"name" was not found on slide 1; nothing was replaced.' in applied.warnings
    assert texts(out)[0][0] == "Dear {{name}}, hello"


def test_a_hit_is_replaced_once(deck: Path, tmp_path: Path) -> None:
    """A replacement that holds the search is not replaced again; a line end becomes a break."""
    out = tmp_path / "out.pptx"
    edit(
        deck,
        {"op": "replace_text", "search": "hello", "replace": "hello hello"},
        {"op": "replace_text", "search": "Dear ", "replace": "My\ndear "},
        to=out,
    )

    assert texts(out)[0][0] == "My\vdear {{name}}, hello hello"


def test_a_slide_that_is_listed_twice_is_replaced_once(deck: Path, tmp_path: Path) -> None:
    """What was put in is not searched again, whichever place the slide is found by."""
    out = tmp_path / "out.pptx"
    listed_twice(deck, 0)
    applied = edit(deck, {"op": "replace_text", "search": "hello", "replace": "hello!"}, to=out)

    assert [texts(out)[place][0] for place in (0, 2)] == ["Dear {{name}}, hello!"] * 2
    assert applied.changed == ("1 replacement on slides 0, 2",)
