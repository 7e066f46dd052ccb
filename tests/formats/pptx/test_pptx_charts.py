"""Charts of slides: native, with a workbook that says the same, changed with their look kept."""

import io
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from deck_edits import PREVIEW_WARNING, edit, make, slides
from deck_judge import DeckFile, changed_parts
from kbd.errors import ValidationFailed

SERIES: list[dict[str, Any]] = [
    {"name": "North", "values": [1200, 1500.5]},
    {"name": "South", "values": [800, None]},
]
COLOUR = "FF8800"
# python-pptx tells no types of these.
Rgb: Any = RGBColor
Data: Any = CategoryChartData


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def charted(tmp_path: Path) -> Path:
    """A deck of another library with a chart whose first series has a color and a format."""
    path = tmp_path / "charted.pptx"
    deck: Any = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    data = Data(number_format="0.0")
    data.categories = ["a", "b"]
    data.add_series("One", (1, 2))
    data.add_series("Two", (3, 4))
    frame = slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(6), Inches(4), data
    )
    fill = frame.chart.plots[0].series[0].format.fill
    fill.solid()
    fill.fore_color.rgb = Rgb.from_string(COLOUR)
    deck.save(str(path))
    return path


def chart_of(path: Path, index: int = 0) -> Any:
    """The first chart of a slide."""
    return next(shape for shape in slides(path)[index].shapes if shape.has_chart)


def shown(chart: Any) -> tuple[list[str], dict[str, list[float | None]]]:
    """The categories of a chart, and its series."""
    plot = chart.plots[0]
    return list(plot.categories), {each.name: list(each.values) for each in plot.series}


def book_of(chart: Any) -> list[list[Any]]:
    """The rows of the workbook behind a chart."""
    blob = chart.part.chart_workbook.xlsx_part.blob
    sheet = openpyxl.load_workbook(io.BytesIO(blob)).worksheets[0]
    return [list(row) for row in sheet.iter_rows(values_only=True)]


@pytest.mark.parametrize("kind", ["bar", "column", "line", "area", "pie", "doughnut"])
def test_a_chart_is_native_and_agrees_with_its_workbook(kind: str, out: Path) -> None:
    """python-pptx reads type, data and title; the workbook holds the same."""
    series = SERIES[:1] if kind == "pie" else SERIES
    chart = {
        "op": "add_chart", "index": 0, "type": kind, "categories": ["Q1", "Q2"], "series": series,
        "title": "Sales & more", "description": "Sales by quarter",
    }  # fmt: skip
    make(out, {"op": "add_slide", "title": "T"}, chart)

    frame = chart_of(out)
    categories, values = shown(frame.chart)
    assert frame.placeholder_format.idx == 1
    assert categories == ["Q1", "Q2"]
    assert values == {each["name"]: each["values"] for each in series}
    assert frame.chart.chart_title.text_frame.text == "Sales & more"
    assert frame.chart.chart_type.name.startswith(kind.upper()[:3])
    names = [each["name"] for each in series]
    rows = zip(["Q1", "Q2"], *(each["values"] for each in series), strict=True)
    assert book_of(frame.chart) == [[None, *names], *map(list, rows)]


def test_the_same_call_makes_the_same_bytes(tmp_path: Path) -> None:
    """The workbook says no time of its making."""
    chart = {"op": "add_chart", "index": 0, "type": "scatter", "categories": [1, 2.5],
             "series": SERIES}  # fmt: skip
    for name in ("a.pptx", "b.pptx"):
        make(tmp_path / name, {"op": "add_slide", "title": "T"}, chart)

    assert (tmp_path / "a.pptx").read_bytes() == (tmp_path / "b.pptx").read_bytes()


def test_data_and_title_change_and_the_look_stays(charted: Path, out: Path) -> None:
    """Of three series the first keeps its color, the format stays; the chart alone differs."""
    applied = edit(
        charted,
        {"op": "set_chart", "index": 0, "title": "Neu", "categories": ["x", "y", "z"], "series": [
            {"name": name, "values": [1, 2, number]} for number, name in enumerate("ABC")
        ]},
        to=out,
    )  # fmt: skip

    chart = chart_of(out).chart
    assert applied.warnings == (PREVIEW_WARNING,)
    assert shown(chart) == (["x", "y", "z"], {"A": [1, 2, 0], "B": [1, 2, 1], "C": [1, 2, 2]})
    assert book_of(chart)[0] == [None, "A", "B", "C"]
    assert str(chart.plots[0].series[0].format.fill.fore_color.rgb) == COLOUR
    assert "0.0" in chart.part.blob.decode()
    assert chart.chart_title.text_frame.text == "Neu"
    changed, new, gone = changed_parts(DeckFile(charted), DeckFile(out))
    assert (new, gone) == (set(), set())
    assert {name.rpartition("/")[0] for name in changed} == {"ppt/charts", "ppt/embeddings"}


def test_a_type_changes_within_its_family(charted: Path, out: Path) -> None:
    """Columns become lines with their data; a pie they cannot become, which is said."""
    edit(charted, {"op": "set_chart", "index": 0, "type": "line"}, to=out)

    chart = chart_of(out).chart
    assert chart.chart_type.name == "LINE"
    assert shown(chart) == (["a", "b"], {"One": [1, 2], "Two": [3, 4]})
    with pytest.raises(ValidationFailed, match="a column chart; it can become bar, line, area"):
        edit(charted, {"op": "set_chart", "index": 0, "type": "pie"}, to=out)


def test_what_the_workbook_held_beside_is_named(charted: Path, out: Path) -> None:
    """Formulas and sheets of the old workbook go, and the warning says which."""
    deck: Any = pptx.Presentation(str(charted))
    part = next(s for s in deck.slides[0].shapes if s.has_chart).chart.part
    book = openpyxl.load_workbook(io.BytesIO(part.chart_workbook.xlsx_part.blob))
    book.create_sheet("Notes")["A1"] = "=1+1"
    held = io.BytesIO()
    book.save(held)
    part.chart_workbook.xlsx_part._blob = held.getvalue()
    deck.save(str(charted))
    applied = edit(charted, {"op": "set_chart", "index": 0, "categories": ["x", "y"]}, to=out)

    warning, preview = applied.warnings
    assert preview == PREVIEW_WARNING
    assert "behind Chart 2 held 2 sheets and formulas; it was written anew" in warning


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"chart": "Sales"}, "no chart 'Sales' on slide 0; charts there: \"Chart 2\" .id 3."),
        ({"series": [{"name": "A", "values": [1]}]}, "'A' has 1 values; there are 2 categories"),
        ({"categories": []}, "at least one category"),
        ({}, "give series, categories, a title or a type"),
    ],
)
def test_what_cannot_be_is_refused(
    operation: dict[str, Any], reason: str, charted: Path, out: Path
) -> None:
    """Charts that there are not, and data that do not fit."""
    with pytest.raises(ValidationFailed, match=reason):
        edit(charted, {"op": "set_chart", "index": 0, **operation}, to=out)
