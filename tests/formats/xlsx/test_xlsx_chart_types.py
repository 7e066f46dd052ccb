"""Type, axes, labels and stacking of charts that there are: changed, or refused by name."""

import zipfile
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from charted_books import (
    FORMAT,
    chart_of,
    charts_by_openpyxl,
    charts_in,
    edited,
    entries,
    months_book,
    records,
)
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import CompareOptions, Source
from kbd_xlsx.drawings import chart_schema
from real_workbooks import real_workbooks

TYPES = ("bar", "column", "line", "pie", "scatter", "area")
ORDERS = {
    "ser": chart_schema.SERIES_ORDER, "scaling": chart_schema.SCALING_ORDER,
    "dLbls": chart_schema.LABELS_ORDER, "chart": chart_schema.CHART_ORDER,
}  # fmt: skip


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return months_book(tmp_path / "book.xlsx")


def charted(book: Path, kind: str, **fields: Any) -> Path:
    """Add a chart of costs by month, by default, and return the workbook."""
    chart: dict[str, Any] = {
        "op": "add_chart", "sheet": "My data", "type": kind, "title": "Money",
        "series": [{"values": "C2:C7", "categories": "A2:A7"}],
    }  # fmt: skip
    edited(book, chart | fields, to="charted.xlsx")
    return book.with_name("charted.xlsx")


def change(**fields: Any) -> dict[str, Any]:
    return {"op": "set_chart", "sheet": "My data", "chart": "Money", **fields}


def value(book: Path, path: str) -> list[str]:
    """The `val` of elements of the chart."""
    steps = "/".join(f"{{*}}{step}" for step in path.split("/"))
    return [each.get("val", "") for each in chart_of(book).iterfind(f".//{steps}")]


def disorder(root: etree._Element) -> Iterator[str]:
    """Yield the elements whose children are not in the order of the schema."""
    for element in root.iter("{http://schemas.openxmlformats.org/drawingml/2006/chart}*"):
        name = etree.QName(element).localname
        order = ORDERS.get(name)
        if name.endswith("Chart"):
            order = chart_schema.PLOT_ORDER
        elif name.endswith("Ax"):
            order = chart_schema.AXIS_ORDER
        if order is not None:
            names = [etree.QName(each).localname for each in element if isinstance(each.tag, str)]
            ranks = [order.index(each) for each in names if each in order]
            if ranks != sorted(ranks) or set(names) - set(order):
                yield f"{name}: {names}"


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("was", "wanted"), list(permutations(TYPES, 2)))
def test_each_type_becomes_each_other(book: Path, was: str, wanted: str) -> None:
    """Series, title and points go over; openpyxl reads the new type, the schema's order holds.

    Back again it has the same series and the same elements as a chart of the first type.
    """
    source = charted(book, was)
    edited(source, change(type=wanted))
    out = source.with_name("out.xlsx")

    (before,), (after,) = charts_in(source, "My data"), charts_in(out, "My data")
    assert after == before | {"type": wanted}
    assert list(disorder(chart_of(out))) == []
    (read,) = charts_by_openpyxl(out, "My data")
    assert len(read.series) == 1
    assert b"<c:v>107.5</c:v>" in entries(out)["xl/charts/chart1.xml"]
    edited(out, change(type=was), to="back.xlsx")
    back = out.with_name("back.xlsx")
    assert charts_in(back, "My data") == [before]
    assert {each.tag for each in chart_of(back).iter("{*}ser", "{*}catAx", "{*}valAx")} <= {
        each.tag for each in chart_of(source).iter()
    } | {"{http://schemas.openxmlformats.org/drawingml/2006/chart}catAx"}


def test_bars_that_become_columns_turn_their_axes(book: Path) -> None:
    """The axis of values goes to the left, its title stands upright; all else keeps its bytes."""
    source = charted(book, "bar", y_title="Euro", x_title="Month", labels="value")
    edited(source, change(type="column"))
    old, new = (entries(source.with_name(n))["xl/charts/chart1.xml"] for n in
                ("charted.xlsx", "out.xlsx"))  # fmt: skip

    expected = old.replace(b'barDir val="bar"', b'barDir val="col"')
    expected = expected.replace(b'axPos val="b"', b'axPos val="X"')
    expected = expected.replace(b'axPos val="l"', b'axPos val="b"')
    expected = expected.replace(b'axPos val="X"', b'axPos val="l"')
    turned = expected.replace(b'rot="-5400000"', b'rot="X"').replace(
        b'<a:bodyPr rot="0" vert="horz"/><a:lstStyle/><a:p><a:pPr><a:defRPr sz="1000"',
        b'<a:bodyPr rot="-5400000" vert="horz"/><a:lstStyle/><a:p><a:pPr><a:defRPr sz="1000"',
    )
    assert new == turned.replace(b'rot="X"', b'rot="0"')


def test_colors_go_over(book: Path) -> None:
    """The fill of a bar is the color of its line, and of the column that the line becomes."""
    source = charted(book, "column")
    part = entries(source)
    red = b'<a:solidFill><a:srgbClr val="C00000"/></a:solidFill>'
    chart = part["xl/charts/chart1.xml"]
    accent = b'<a:solidFill><a:schemeClr val="accent1"></a:schemeClr></a:solidFill>'
    accent = (
        accent if accent in chart else b'<a:solidFill><a:schemeClr val="accent1"/></a:solidFill>'
    )
    assert accent in chart
    part["xl/charts/chart1.xml"] = chart.replace(accent, red)
    with zipfile.ZipFile(source, "w") as archive:
        for name, data in part.items():
            archive.writestr(name, data)
    edited(source, change(type="line"), to="line.xlsx")
    edited(source.with_name("line.xlsx"), change(type="area"), to="area.xlsx")

    line, area = (chart_of(source.with_name(f"{name}.xlsx")) for name in ("line", "area"))
    (color,) = line.iterfind(".//{*}ser/{*}spPr/{*}ln/{*}solidFill/{*}srgbClr")
    assert color.get("val") == "C00000"
    (color,) = area.iterfind(".//{*}ser/{*}spPr/{*}solidFill/{*}srgbClr")
    assert color.get("val") == "C00000"


def test_what_a_new_type_needs_is_given_along(book: Path) -> None:
    """A pie of one of two series, without the titles of axes; columns with other labels."""
    source = charted(
        book, "column", series=[{"values": "C2:C7"}, {"values": "D2:D7"}], x_title="Month"
    )
    edited(source, change(type="pie", x_title="", series=[{}], labels="category_percent"))
    pie = source.with_name("out.xlsx")
    assert [each["type"] for each in charts_in(pie, "My data")] == ["pie"]
    assert value(pie, "showPercent") == ["1"]

    edited(pie, change(type="column", labels="value", x_title="Month"), to="back.xlsx")
    back = pie.with_name("back.xlsx")
    assert value(back, "showPercent") == ["0"]
    assert value(back, "dLblPos") == []


def test_looks_that_a_type_does_not_have_are_told(book: Path) -> None:
    """Slices that are pulled out stand in line as bars, and a warning says so."""
    source = charted(book, "pie")
    parts = entries(source)
    chart = parts["xl/charts/chart1.xml"].replace(
        b'<c:dPt><c:idx val="0"/><c:bubble3D val="0"/>',
        b'<c:dPt><c:idx val="0"/><c:bubble3D val="0"/><c:explosion val="20"/>',
    )
    assert b"explosion" in chart
    with zipfile.ZipFile(source, "w") as archive:
        for name, data in (parts | {"xl/charts/chart1.xml": chart}).items():
            archive.writestr(name, data)
    applied = edited(source, change(type="bar"))

    assert applied.warnings == ("A chart of type bar does not have: slices that are pulled out.",)
    assert value(source.with_name("out.xlsx"), "explosion") == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("made", "wanted", "words"), [
    ({"type": "column", "series": [{"values": "C2:C7"}, {"values": "D2:D7"}]},
     {"type": "pie"}, "2 series .a pie has one"),
    ({"type": "line", "y_title": "Euro"}, {"type": "pie"}, 'x_title and y_title as ""'),
    ({"type": "line", "series": [{"values": "C2:C7", "categories": "B2:B7"}]},
     {"type": "scatter"}, "categories of texts"),
    ({"type": "area", "stacked": True}, {"type": "scatter"}, "stacking"),
    ({"type": "pie", "labels": "percent"}, {"type": "column"}, "labels of percents"),
    ({"type": "scatter", "x_axis": {"min": 45000}}, {"type": "line"}, "scale of the x axis"),
    ({"type": "scatter", "series": [{"values": "C2:C7", "categories": "A2:A7"},
                                    {"values": "D2:D7", "categories": "C2:C7"}]},
     {"type": "column"}, "x values that differ"),
    ({"type": "pie"}, {"stacked": True}, "only bar, column, line and area"),
    ({"type": "pie"}, {"type": "pie", "stacked": True}, "cannot be stacked"),
    ({"type": "column"}, {"labels": "percent"}, "for pie charts"),
    ({"type": "column"}, {"x_axis": {"log": True}}, "x_axis is of dates"),
    ({"type": "column", "series": [{"values": "C2:C7", "categories": "B2:B7"}]},
     {"x_axis": {"min": 1}}, "x_axis is of categories"),
    ({"type": "column"}, {"y_axis": {"min": 5, "max": 5}}, "from 5 to 5"),
    ({"type": "column", "y_axis": {"max": 5}}, {"y_axis": {"min": 7}}, "from 7 to 5"),
    ({"type": "column"}, {"y_axis": {"log": True, "min": 0}}, "more than 0"),
    ({"type": "column"}, {"y_axis": {"unit": 0}}, "more than 0"),
    ({"type": "column"}, {"y_axis": {"min": "low"}}, '"auto"'),
    ({"type": "column"}, {"y_axis": {"format": " "}}, "format is empty"),
    ({"type": "pie"}, {"y_axis": {"min": 1}}, "no axes"),
])  # fmt: skip
def test_what_cannot_be_is_refused(book: Path, made: Any, wanted: Any, words: str) -> None:
    """The refusal names the chart and what the new type has no place for; nothing is written."""
    source = charted(book, made.pop("type"), **made)
    with pytest.raises(ValidationFailed, match=words) as error:
        edited(source, change(**wanted))
    assert "Chart 1 of My data" in error.value.message
    assert not source.with_name("out.xlsx").exists()


def test_a_pie_has_no_axes_from_the_start(book: Path) -> None:
    """Scales in a new pie are refused as titles of axes are."""
    with pytest.raises(ValidationFailed, match="a pie chart has no axes"):
        charted(book, "pie", y_axis={"min": 0})


def test_axes_have_ends_steps_and_formats(book: Path) -> None:
    """A new chart and a changed one get the same; "auto" leaves the axis as it was before."""
    scale = {"min": 50, "max": 200, "unit": 25, "format": "0.0 €"}
    made = charted(book, "column", y_axis=scale, x_axis={"min": "2024-01-01", "format": "mmm"})
    assert (value(made, "valAx/scaling/min"), value(made, "valAx/scaling/max")) == (["50"], ["200"])
    assert value(made, "valAx/majorUnit") == ["25"]
    assert value(made, "dateAx/scaling/min") == ["45292"]
    codes = [each.attrib for each in chart_of(made).iterfind(".//{*}numFmt")]
    assert {"formatCode": "0.0 €", "sourceLinked": "0"} in [dict(each) for each in codes]
    assert list(disorder(chart_of(made))) == []

    (read,) = charts_by_openpyxl(made, "My data")
    assert (read.y_axis.scaling.min, read.y_axis.majorUnit) == (50, 25)
    reset = dict.fromkeys(("min", "max", "unit", "format"), "auto")
    edited(made, change(y_axis=reset, x_axis=dict.fromkeys(("min", "format"), "auto")))
    out = made.with_name("out.xlsx")
    assert value(out, "scaling/min") + value(out, "scaling/max") + value(out, "majorUnit") == []
    again = charted(book, "column")
    edited(again, change(y_axis=scale))
    assert charts_by_openpyxl(again.with_name("out.xlsx"), "My data")[0].y_axis.scaling.max == 200


def test_a_logarithmic_axis(book: Path) -> None:
    """Values on a logarithmic scale, and back."""
    made = charted(book, "line", y_axis={"log": True})
    assert value(made, "logBase") == ["10"]
    edited(made, change(y_axis={"log": False}))
    assert value(made.with_name("out.xlsx"), "logBase") == []


def test_labels_are_put_on_and_taken_off(book: Path) -> None:
    """Labels of a chart without any look as those of a new one; "none" leaves the first bytes."""
    plain = charted(book, "line")
    before = entries(plain)["xl/charts/chart1.xml"]
    edited(plain, change(labels="value"), to="labeled.xlsx")
    labeled = plain.with_name("labeled.xlsx")
    assert value(labeled, "showVal") == ["1"]
    edited(labeled, change(labels="none"))
    assert entries(plain.with_name("out.xlsx"))["xl/charts/chart1.xml"] == before
    with_labels = charted(book, "line", labels="value")
    assert entries(with_labels)["xl/charts/chart1.xml"] == entries(labeled)["xl/charts/chart1.xml"]


def test_series_stand_on_one_another_or_not(book: Path) -> None:
    """Stacked bars have no gap; labels stand where stacked ones may."""
    both = [{"values": "C2:C7"}, {"values": "D2:D7"}]
    made = charted(book, "column", series=both, labels="value")
    edited(made, change(stacked="percent"), to="stacked.xlsx")
    stacked = made.with_name("stacked.xlsx")
    assert value(stacked, "grouping") == ["percentStacked"]
    assert (value(stacked, "overlap"), value(stacked, "dLblPos")) == (["100"], [])
    assert charts_by_openpyxl(stacked, "My data")[0].grouping == "percentStacked"
    edited(stacked, change(stacked=False, type="line"))
    assert value(stacked.with_name("out.xlsx"), "grouping") == ["standard"]


def test_the_review_names_type_axes_and_labels(book: Path) -> None:
    """One change of the chart, with what was set before and after."""
    made = charted(book, "column")
    edited(made, change(type="line", y_axis={"min": 20, "format": "0"}, labels="value"))
    out = made.with_name("out.xlsx")
    found = FORMAT.compare(Source(made, "a.xlsx"), Source(out, "a.xlsx"), CompareOptions())

    (changed,) = found.changes
    assert set(changed.details) == {"kind", "y_axis", "labels"}
    assert changed.after["y_axis"] == {"min": "20", "format": "0"}
    assert changed.after["labels"] == "value"


@pytest.mark.full
@pytest.mark.corpora
def test_real_charts_of_each_type(corpora: Path, tmp_path: Path) -> None:
    """A chart of any program becomes each type that it can: its part alone differs, in order.

    The map tells the same series, the review the type and what belongs to it alone.
    """
    done, refused = 0, 0
    for path in real_workbooks(corpora):
        with zipfile.ZipFile(path) as archive:
            if not any("charts/chart" in name for name in archive.namelist()):
                continue
        try:
            sheets = FORMAT.map(Source(path, path.name))["sheets"]
        except KbdError:
            continue
        found = [(s["name"], s["charts"][0]) for s in sheets if s.get("charts")]
        for sheet, chart in found[:2]:
            for wanted in TYPES:
                outcome = retyped(path, tmp_path / path.name, sheet, chart, wanted)
                done, refused = done + outcome, refused + (not outcome)
    assert done > 150
    assert refused < 2 * done


def retyped(path: Path, target: Path, sheet: str, chart: Any, wanted: str) -> bool:
    """Give the first chart of a sheet another type; tell whether that could be."""
    operation = {"op": "set_chart", "sheet": sheet, "chart": 0, "type": wanted}
    target.unlink(missing_ok=True)
    try:
        FORMAT.apply(Source(path, path.name), records(operation), target)
    except KbdError:
        return False
    before, after = entries(path), entries(target)
    differing = [name for name in before if before[name] != after[name]]
    assert before.keys() == after.keys()
    assert len(differing) <= 1, (path.name, differing)
    for name in differing:
        was, now = (set(disorder(etree.fromstring(each[name]))) for each in (before, after))
        assert now <= was, (path.name, wanted)
    same = charts_in(target, sheet)[0]
    assert same == chart | {"type": wanted}, (path.name, wanted)
    return True
