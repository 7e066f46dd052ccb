"""Charts: made of ranges and tables, changed without a loss, deleted, told in map and review."""

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, LineChart, Reference

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
from drawn_books import drawn_book
from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Region, Source

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
TYPES = ("bar", "column", "line", "pie", "scatter", "area")


def add(**fields: Any) -> dict[str, Any]:
    return {"op": "add_chart", "sheet": "My data", "type": "column", **fields}


def change(chart: str | int, **fields: Any) -> dict[str, Any]:
    return {"op": "set_chart", "sheet": "My data", "chart": chart, **fields}


def texts(path: Path, tag: str, number: int = 1) -> list[str]:
    """The texts of a chart's elements of a name."""
    return [each.text or "" for each in chart_of(path, number).iter(f"{CHART}{tag}")]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return months_book(tmp_path / "book.xlsx")


@pytest.fixture
def charted(book: Path) -> Path:
    edited(book, add(table="A1:E7", columns=["Cost", "Gain"], title="Money"), to="charted.xlsx")
    return book.with_name("charted.xlsx")


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_is_read_back(book: Path, kind: str) -> None:
    """openpyxl, which parses charts by their schema, reads each type with its series and title."""
    edited(book, add(type=kind, series=[{"values": "C2:C7"}], title="A & B", place="G2"))

    (chart,) = charts_by_openpyxl(book.with_name("out.xlsx"), "My data")
    series = chart.series[0]
    values = series.yVal if kind == "scatter" else series.val
    assert values.numRef.f == "'My data'!$C$2:$C$7"
    assert [point.v for point in values.numRef.numCache.pt][:2] == [100, 107.5]
    assert values.numRef.numCache.formatCode == "#,##0.00"
    assert chart.title.tx.rich.p[0].r[0].t == "A & B"
    (told,) = charts_in(book.with_name("out.xlsx"), "My data")
    assert (told["type"], told["title"], told["range"][:2]) == (kind, "A & B", "G2")


def test_a_new_chart_leaves_the_rest_as_it_is(book: Path) -> None:
    """But for the sheet that gets a drawing, its relations and the types, all parts keep bytes."""
    edited(book, add(series=[{"values": "C2:C7"}]))

    before, after = entries(book), entries(book.with_name("out.xlsx"))
    differing = {name for name in before if before[name] != after[name]}
    assert differing == {"[Content_Types].xml", "xl/worksheets/sheet1.xml"}
    assert after.keys() - before.keys() == {
        "xl/charts/chart1.xml", "xl/drawings/drawing1.xml",
        "xl/drawings/_rels/drawing1.xml.rels", "xl/worksheets/_rels/sheet1.xml.rels",
    }  # fmt: skip


def test_names_and_categories_are_inferred(book: Path) -> None:
    """The header above names a series; the first column of texts or dates beside is categories."""
    edited(book, add(series=[{"values": "C2:C7"}, {"values": "D1:D7"}]))

    (told,) = charts_in(book.with_name("out.xlsx"), "My data")
    months = "'My data'!$A$2:$A$7"
    assert told["series"] == [
        {"name": "Cost", "values": "'My data'!$C$2:$C$7", "categories": months},
        {"name": "Gain", "values": "'My data'!$D$2:$D$7", "categories": months},
    ]
    # Months apart, they stand on an axis of months.
    root = chart_of(book.with_name("out.xlsx"))
    assert [each.get("val") for each in root.iter(f"{CHART}baseTimeUnit")] == ["months"]


def test_columns_of_a_table_are_series(book: Path) -> None:
    """A table by its name, a column of it, and a range with headers give series alike."""
    edited(book, add(sheet="Other", table="sums"), add(series=[{"values": "Sums[amount]"}]),
           add(table="'My data'!B1:D7", categories="Item"))  # fmt: skip

    out = book.with_name("out.xlsx")
    (one,) = charts_in(out, "Other")
    two, three = charts_in(out, "My data")
    amounts = {"name": "Amount", "values": "Other!$B$2:$B$4", "categories": "Other!$A$2:$A$4"}
    assert (one["series"], two["series"]) == ([amounts], [amounts])
    assert [each["values"][-9:] for each in three["series"]] == ["$C$2:$C$7", "$D$2:$D$7"]
    assert three["series"][0]["categories"] == "'My data'!$B$2:$B$7"
    assert texts(out, "v", 1) == ["Amount", "Ulm", "Bonn", "Kiel", "3", "4.5", "1"]


def test_values_are_those_that_the_edit_leaves(book: Path) -> None:
    """What a chart stores of cells is what they hold when the call is done."""
    set_cells = {
        "op": "set_cells", "sheet": "Other",
        "cells": [{"cell": "B2", "value": 30}, {"cell": "D2", "value": 7}],
    }  # fmt: skip
    edited(book, add(sheet="Other", series=[{"values": "B2:B4"}, {"values": "D1:D2"}]), set_cells)

    assert texts(book.with_name("out.xlsx"), "v")[-1] == "7"
    assert "30" in texts(book.with_name("out.xlsx"), "v")


def test_a_defined_name_and_years_as_headers(tmp_path: Path) -> None:
    """A name that means a range is taken; a number above numbers beside a header is their name."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (["Item", 2023, 2024], ["Tea", 1, 2], ["Milk", 3, 4]):
        sheet.append(row)
    book.defined_names["Last"] = openpyxl.workbook.defined_name.DefinedName(
        "Last", attr_text="Sheet!$C$2:$C$3"
    )
    book.save(tmp_path / "years.xlsx")
    edited(tmp_path / "years.xlsx", add(sheet="Sheet", series=[{"values": "Last"}]))

    (told,) = charts_in(tmp_path / "out.xlsx", "Sheet")
    assert told["series"][0]["name"] == "2024"
    edited(tmp_path / "years.xlsx", add(sheet="Sheet", series=[{"values": "Sheet!last"}]))
    assert charts_in(tmp_path / "out.xlsx", "Sheet") == [told]
    # The figure above is one of the series, that a part of it is drawn does not make it a name.
    edited(tmp_path / "years.xlsx", add(sheet="Sheet", series=[{"values": "C3"}]))
    assert "name" not in charts_in(tmp_path / "out.xlsx", "Sheet")[0]["series"][0]


@pytest.mark.parametrize(("fields", "words"), [
    ({"series": [{"values": "E2:E7"}]}, "hold no numbers, but text such as 'note 0'"),
    ({"series": [{"values": "H2:H7"}]}, "for it is empty"),
    ({"series": [{"values": "Nowhere!B2:B7"}]}, "there is no sheet 'Nowhere'"),
    ({"series": [{"values": "Sums[Amont]"}]}, "it has: City, Amount"),
    ({"series": [{"values": "Total"}]}, "no range and no name"),
    ({"series": [{"values": "C2:D7"}]}, "several columns"),
    ({"series": [{"values": "C2:C40000"}]}, "at most 32,000"),
    ({"series": [{"values": "[1]Data!C2:C7"}]}, "another workbook"),
    ({"table": "A1:E7", "columns": ["Costs"]}, "near it: Cost"),
    ({"table": "A1:E7", "series": [{"values": "C2:C7"}]}, "not both"),
    ({}, "needs series"),
    ({"type": "pie", "table": "A1:E7"}, "a pie chart has one series"),
    ({"type": "scatter", "series": [{"values": "C2:C7"}], "stacked": True}, "cannot be stacked"),
    ({"series": [{"values": "C2:C7"}], "size": {"width": "wide"}}, "12cm"),
    ({"series": [{"values": "C2:C7"}], "size": {"width": 0}}, "more than 0"),
    ({"series": [{"values": "C2:C7"}], "place": "XFD1"}, "past the end"),
    ({"series": [{"values": "C2:C7"}], "place": "there"}, "place of the chart"),
    ({"series": [{"values": "C2:C7"}], "labels": "percent"}, "for pie charts"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(book: Path, fields: Any, words: str) -> None:
    """The refusal names what was meant and what to give instead; nothing is written."""
    with pytest.raises(ValidationFailed, match=words.replace("[", r"\[")):
        edited(book, add(**fields))
    assert not book.with_name("out.xlsx").exists()


def test_texts_among_values_are_told(book: Path) -> None:
    """A text in the midst of numbers, and categories of another length, are warnings."""
    text = {"op": "set_cells", "sheet": "My data", "cells": [{"cell": "C4", "value": "none"}]}
    applied = edited(book, text, add(series=[{"values": "C2:C7", "categories": "B2:B5"}]))

    assert any("'My data'!C4" in warning for warning in applied.warnings)
    assert any("B2:B5 are 4 cells" in warning for warning in applied.warnings)


def test_a_chart_goes_where_there_is_room(book: Path) -> None:
    """Without a place it stands right of the cells, each further one under those that there are."""
    edited(book, *[add(series=[{"values": "C2:C7"}])] * 2)

    one, two = charts_in(book.with_name("out.xlsx"), "My data")
    assert one["range"].startswith("G1:")
    assert int(two["range"].split(":")[0][1:]) > int(one["range"].split(":")[1][1:])


def test_sizes_count_cells_or_are_lengths(book: Path) -> None:
    """A range as the place is covered exactly; numbers count cells; lengths follow the columns."""
    wide = {"op": "set_column_widths", "sheet": "My data",
            "columns": [{"column": "H", "width": 60}]}  # fmt: skip
    series = [{"values": "C2:C7"}]
    edited(
        book, wide,
        add(series=series, place="G2:K9"),
        add(series=series, place="G12", size={"width": 3, "height": 4}),
        add(series=series, place="G20", size={"width": "480px", "height": "2in"}),
    )  # fmt: skip

    ranges = [each["range"] for each in charts_in(book.with_name("out.xlsx"), "My data")]
    assert ranges[:2] == ["G2:K9", "G12:I15"]
    assert ranges[2].startswith("G20:H")


def test_what_follows_a_chart_keeps_it(book: Path) -> None:
    """Cells and widths of its sheet that are set later in the call, and earlier, are beside it."""
    cells = {"op": "set_cells", "sheet": "My data", "cells": [{"cell": "C2", "value": 7}]}
    width = {"op": "set_column_widths", "sheet": "My data",
             "columns": [{"column": "B", "width": 30}]}  # fmt: skip
    edited(book, cells, add(series=[{"values": "C2:C7"}]), width, add(type="pie", table="B1:C7"))

    out = book.with_name("out.xlsx")
    assert [each["type"] for each in charts_in(out, "My data")] == ["column", "pie"]
    assert b"<drawing " in entries(out)["xl/worksheets/sheet1.xml"]
    sheet = openpyxl.load_workbook(out)["My data"]
    assert (sheet["C2"].value, sheet.column_dimensions["B"].width) == (7, 30)


def test_a_drawing_that_there_is_keeps_its_bytes(tmp_path: Path) -> None:
    """A chart is put behind what a drawing holds, with a name and a number of its own."""
    drawn_book(tmp_path / "drawn.xlsx")
    edited(tmp_path / "drawn.xlsx", add(sheet="Data", series=[{"values": "B2:B3"}]))

    part = "xl/drawings/drawing1.xml"
    before, after = (entries(tmp_path / name)[part] for name in ("drawn.xlsx", "out.xlsx"))
    head = before[: before.rindex(b"</")]
    assert after.startswith(head)
    assert after.endswith(before[len(head) :])
    (told,) = charts_in(tmp_path / "out.xlsx", "Data")
    assert told["name"] == "Chart 1"


def test_changing_a_chart_keeps_what_is_not_named(charted: Path) -> None:
    """Only the part of the chart differs, and in it only what was named."""
    edited(charted, change("Money", title="More money", y_title="EUR", legend="right"))

    before, after = entries(charted), entries(charted.with_name("out.xlsx"))
    assert {name for name in before if before[name] != after[name]} == {"xl/charts/chart1.xml"}
    chart = charts_by_openpyxl(charted.with_name("out.xlsx"), "My data")[0]
    assert chart.title.tx.rich.p[0].r[0].t == "More money"
    assert chart.y_axis.title.tx.rich.p[0].r[0].t == "EUR"
    assert chart.legend.position == "r"
    old, new = (charts_in(path, "My data")[0] for path in (charted, charted.with_name("out.xlsx")))
    assert old["series"] == new["series"]


def test_changing_back_is_as_before(charted: Path) -> None:
    """A title set and set back, an axis title set and taken away leave the very same chart."""
    edited(charted, change(0, title="x", y_title="y"), change(0, title="Money", y_title=""))

    assert entries(charted) == entries(charted.with_name("out.xlsx"))


def test_an_index_may_be_written_as_a_text(charted: Path) -> None:
    """Digits that are no name or title are an index; a chart that is titled so comes first."""
    edited(charted, add(series=[{"values": "D2:D7"}], title="0"), to="two.xlsx")

    edited(charted, change("0", title="First"))
    edited(charted.with_name("two.xlsx"), change("0", title="Second"), to="other.xlsx")

    first = charts_in(charted.with_name("out.xlsx"), "My data")
    assert [each["title"] for each in first] == ["First"]
    both = charts_in(charted.with_name("other.xlsx"), "My data")
    assert [each["title"] for each in both] == ["Money", "Second"]
    with pytest.raises(ValidationFailed, match="there are: Chart 1"):
        edited(charted, change("1", title="x"))


def test_series_of_another_programs_chart_are_changed(tmp_path: Path) -> None:
    """Each keeps the look of the one at its place; one more looks like the last, recolored."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "My data"
    for row in (["Item", "a", "b", "c"], ["Tea", 1, 2, 3], ["Milk", 4, 5, 6]):
        sheet.append(row)
    line = LineChart()
    line.add_data(
        Reference(sheet, min_col=2, max_col=3, min_row=1, max_row=3), titles_from_data=True
    )
    line.series[0].graphicalProperties.line.dashStyle = "dash"
    line.series[1].graphicalProperties.line.solidFill = "FF0000"
    sheet.add_chart(line, "F2")
    book.save(tmp_path / "lines.xlsx")
    edited(tmp_path / "lines.xlsx", change(0, series=[
        {"values": "C2:C3"}, {"name": "Second"}, {"values": "D2:D3"},
    ]))  # fmt: skip

    chart = charts_by_openpyxl(tmp_path / "out.xlsx", "My data")[0]
    assert [each.val.numRef.f[-9:] for each in chart.series] == ["$C$2:$C$3"] * 2 + ["$D$2:$D$3"]
    assert chart.series[0].graphicalProperties.line.dashStyle == "dash"
    assert chart.series[1].tx.v == "Second"
    assert chart.series[2].graphicalProperties.line.solidFill.schemeClr.val == "accent3"
    assert [each.idx for each in chart.series] == [0, 1, 2]
    edited(tmp_path / "out.xlsx", change(0, series=[{}]), to="fewer.xlsx")
    assert len(charts_in(tmp_path / "fewer.xlsx", "My data")[0]["series"]) == 1


def test_a_chart_is_moved_and_sized(charted: Path) -> None:
    """A place moves it as large as it was; a size keeps its place; only the drawing differs."""
    edited(charted, change("Chart 1", place="B9"))
    edited(charted, change("Chart 1", size={"height": 4}), to="low.xlsx")

    (old,), (moved,), (low,) = (
        charts_in(charted.with_name(name), "My data")
        for name in ("charted.xlsx", "out.xlsx", "low.xlsx")
    )
    assert (old["range"], moved["range"]) == ("G1:N15", "B9:I23")
    assert low["range"] == "G1:N4"
    before, after = entries(charted), entries(charted.with_name("low.xlsx"))
    assert {name for name in before if before[name] != after[name]} == {"xl/drawings/drawing1.xml"}


def test_a_deleted_chart_is_gone_from_the_bytes(book: Path, charted: Path) -> None:
    """Its part and relations go; another chart, and a second edit on top, stay whole."""
    edited(charted, add(series=[{"values": "D2:D7"}], title="Other"), to="two.xlsx")
    edited(charted.with_name("two.xlsx"), {"op": "delete_chart", "sheet": "My data",
                                           "chart": "Money"})  # fmt: skip

    out = charted.with_name("out.xlsx")
    assert [each["title"] for each in charts_in(out, "My data")] == ["Other"]
    assert "xl/charts/chart1.xml" not in entries(out)
    assert not any(b"chart1.xml" in data for data in entries(out).values())
    assert len(charts_by_openpyxl(out, "My data")) == 1


@pytest.mark.parametrize(("operation", "words"), [
    (change("Chat"), "there are: Chart 1"),
    (change(3), "there are: Chart 1"),
    (change(0), "nothing to change"),
    (change(0, series=[]), "delete_chart"),
    (change(0, series=[{}, {}, {"name": "x"}]), "series 3 is new and needs values"),
    ({**change(0, title="x"), "sheet": "Other"}, "has no chart"),
])  # fmt: skip
def test_a_change_that_means_nothing_is_refused(
    charted: Path, operation: dict[str, Any], words: str
) -> None:
    """A misspelt chart is told which there are; what changes nothing is refused."""
    with pytest.raises(ValidationFailed, match=words):
        edited(charted, operation)


def test_the_review_names_what_of_a_chart_changed(charted: Path, book: Path) -> None:
    """A new chart is one change; of a changed one title, legend and series are told by name."""
    edited(charted, change(0, title="New", legend="top", series=[{}, {"values": "C2:C7"}]))

    def changes(before: Path, after: Path) -> list[Any]:
        found = FORMAT.compare(
            Source(before, before.name), Source(after, after.name), CompareOptions()
        )
        return list(found.changes)

    (new,) = changes(book, charted)
    assert (new.what, new.kind, new.after["kind"]) == ("chart", "added", ["column"])
    (changed,) = changes(charted, charted.with_name("out.xlsx"))
    assert changed.kind == "changed"
    assert set(changed.details) >= {"title", "legend", "series 2"}


def test_readings_name_the_charts(charted: Path) -> None:
    """Who reads a sheet's cells is told of the charts on it."""
    reading = FORMAT.read(Source(charted, "charted.xlsx"), Region(sheet="My data"))

    assert reading.warnings == ("Charts on this sheet: Chart 1 (column, Money, G1:N15).",)


def test_a_sheet_of_a_chart_alone_keeps_its_place(tmp_path: Path) -> None:
    """A chart on a sheet of its own gets a title; it has no place, and no chart is added there."""
    book = openpyxl.Workbook()
    book.worksheets[0].append([1, 2])
    chart = BarChart()
    chart.add_data(Reference(book.worksheets[0], min_col=1, min_row=1, max_col=2), from_rows=True)
    book.create_chartsheet("Alone").add_chart(chart)
    book.save(tmp_path / "alone.xlsx")
    alone = {"sheet": "Alone"}
    edited(tmp_path / "alone.xlsx", change(0, title="Here") | alone)

    assert b"Here" in entries(tmp_path / "out.xlsx")["xl/charts/chart1.xml"]
    with pytest.raises(ValidationFailed, match="no place"):
        edited(tmp_path / "alone.xlsx", change(0, place="B2") | alone)
    with pytest.raises(ValidationFailed, match="no cells"):
        edited(tmp_path / "alone.xlsx", add(series=[{"values": "Sheet!A1:B1"}]) | alone)


def test_a_chart_of_a_new_workbook(tmp_path: Path) -> None:
    """Cells and a chart of them are made in one call, and the package is whole."""
    rows = [["Item", "Cost"], ["Tea", 4], ["Milk", 2]]
    found = [
        {"op": "set_range", "sheet": "S", "start": "A1", "values": rows},
        add(sheet="S", table="A1:B3", type="pie", labels="category_percent"),
    ]
    FORMAT.apply(None, records(*found), tmp_path / "new.xlsx")

    with zipfile.ZipFile(tmp_path / "new.xlsx") as archive:
        assert archive.testzip() is None
    assert texts(tmp_path / "new.xlsx", "v") == ["Cost", "Tea", "Milk", "4", "2"]


@pytest.mark.libreoffice
@pytest.mark.full
def test_libreoffice_opens_each_type(book: Path, tmp_path: Path) -> None:
    """A workbook with a chart of each type is converted, and each is there with its title."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    edited(book, *[
        add(type=kind, series=[{"values": "C2:C7"}], title=f"Kind {kind}", labels="value")
        for kind in TYPES
    ])  # fmt: skip
    subprocess.run(
        [office, f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
         "--convert-to", "ods", "--outdir", str(tmp_path), str(tmp_path / "out.xlsx")],
        check=True, capture_output=True, timeout=170,
    )  # fmt: skip

    with zipfile.ZipFile(tmp_path / "out.ods") as package:
        charts = [
            package.read(name).decode()
            for name in package.namelist()
            if re.fullmatch(r"Object \d+/content.xml", name)
        ]
    assert len(charts) == len(TYPES)
    for kind in TYPES:
        assert sum(f"Kind {kind}<" in chart for chart in charts) == 1
