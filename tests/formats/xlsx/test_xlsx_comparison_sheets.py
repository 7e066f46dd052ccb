"""Comparisons of workbooks whose sheets have other names or another order."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl.workbook.defined_name import DefinedName

from compared_books import applied, book, compared, source, table, told
from kbd.formats import Source
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def test_a_renamed_sheet_is_one_change_and_formulas_follow(tmp_path: Path) -> None:
    """Formulas of other sheets that name it by its new name did not change."""

    def other(name: str) -> Callable[[Any, Any], None]:
        def change(made: Any, sheet: Any) -> None:
            sheet.title = name
            made.create_sheet("Sum")["A1"] = f"='{name}'!A2+SUM('{name}'!C2:C9)"

        return change

    before = book(tmp_path / "before.xlsx", table(20), other("Old name"))
    found = compared(before, book(tmp_path / "after.xlsx", table(20), other("New name")))

    assert told(found) == [("changed", "sheet", "New name")]
    assert found.changes[0].details["name"] == ("Old name", "New name")


def test_a_renamed_sheet_whose_rows_all_changed_is_the_same_sheet(tmp_path: Path) -> None:
    """A column that was filled differs in every row; another sheet in its place is another one."""

    def filled(_: Any, sheet: Any) -> None:
        sheet.title = "Costs"
        for row in range(1, 21):
            sheet.cell(row, 9, f"new {row}")

    def another(_: Any, sheet: Any) -> None:
        sheet.title = "Costs"
        for row in sheet.iter_rows():
            for cell in row:
                cell.value = f"other {cell.coordinate}"

    before = book(tmp_path / "before.xlsx", table(20))
    found = told(compared(before, book(tmp_path / "after.xlsx", table(20), filled)))
    assert found[0] == ("changed", "sheet", "Costs")
    assert {kind for kind, what, _ in found[1:]} == {"added"}
    found = told(compared(before, book(tmp_path / "after.xlsx", table(20), another)))
    assert {("added", "sheet", "Costs"), ("removed", "sheet", "Data")} <= set(found)


def test_sheets_in_another_order_are_moved(tmp_path: Path) -> None:
    """One sheet that moved is one change."""

    def three(made: Any, _: Any) -> None:
        for name in ("B", "C"):
            made.create_sheet(name)["A1"] = name

    def moved(made: Any, sheet: Any) -> None:
        three(made, sheet)
        made.move_sheet("C", -2)

    before = book(tmp_path / "before.xlsx", [[1]], three)
    found = compared(before, book(tmp_path / "after.xlsx", [[1]], moved))

    assert told(found) == [("moved", "sheet", "C")]
    assert found.changes[0].details["position"] == (3, 1)


def pivoted(before: Source, target: Path, rows: str, place: str) -> Source:
    """Give sheet Data a pivot table at a place, of its rows."""
    cache, pivot = "xl/pivotCache/pivotCacheDefinition1.xml", "xl/pivotTables/pivotTable1.xml"
    with Package(before) as package:
        rewriting = Rewriting(package)
        rewriting.put(cache, (
            f'<pivotCacheDefinition xmlns="{_MAIN}"><cacheSource type="worksheet">'
            f'<worksheetSource ref="{rows}" sheet="Data"/></cacheSource></pivotCacheDefinition>'
        ).encode())  # fmt: skip
        rewriting.put(pivot, (
            f'<pivotTableDefinition xmlns="{_MAIN}" name="Sums"><location ref="{place}"/>'
            "</pivotTableDefinition>"
        ).encode())  # fmt: skip
        rewriting.relate("xl/workbook.xml", "pivotCacheDefinition", cache)
        rewriting.relate("xl/worksheets/sheet1.xml", "pivotTable", pivot)
        rewriting.relate(pivot, "pivotCacheDefinition", cache)
        rewriting.save(target)
    return source(target)


@pytest.mark.parametrize(("operation", "expected"), [
    ({"op": "rename_sheet", "sheet": "Data", "name": "It's new"}, [("changed", "sheet")]),
    ({"op": "insert_rows", "sheet": "Data", "row": 5}, [("added", "row")]),
    ({"op": "insert_columns", "sheet": "Data", "column": "B"}, [("added", "column")]),
])  # fmt: skip
def test_what_a_pivot_table_has_of_moved_cells_is_no_change(
    tmp_path: Path, operation: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """The source of its data and its own place follow a name, rows and columns; others are told."""
    plain = book(tmp_path / "plain.xlsx", table(20))
    before = pivoted(plain, tmp_path / "before.xlsx", "A1:D21", "H30:I40")

    after = applied(before, tmp_path / "after.xlsx", operation)

    assert [each[:2] for each in told(compared(before, after))] == expected
    for name, rows, place in (("rows", "A1:D20", "H30:I40"), ("place", "A1:D21", "H31:I41")):
        other = pivoted(plain, tmp_path / f"{name}.xlsx", rows, place)
        assert [each[:2] for each in told(compared(before, other))] == [("changed", "part")]


def test_names_and_lost_cells_follow_their_sheet(tmp_path: Path) -> None:
    """What names a sheet otherwise than for cells changes with it, and its name alone is told."""

    def lost(made: Any, sheet: Any) -> None:
        made.defined_names["Gone"] = DefinedName("Gone", attr_text="Data!#REF!")
        sheet.defined_names["Own"] = DefinedName("Own", attr_text="Data!$A$2")
        made.create_sheet("Sum")["A1"] = '=Data!#REF!+Data!A2&"Data!Own"&Data!Own'

    before = book(tmp_path / "before.xlsx", table(5), lost)
    renaming = {"op": "rename_sheet", "sheet": "Data", "name": "New name"}

    assert told(compared(before, applied(before, tmp_path / "after.xlsx", renaming))) == [
        ("changed", "sheet", "New name")
    ]


@pytest.mark.corpora
@pytest.mark.parametrize(("name", "sheet", "chart"), [
    # A chart of a newer kind; one with shapes drawn over it; one with colors of its own.
    ("xlsx/officecli__charts-boxwhisker.xlsx", "1-Basics & Quartile", "Test Score Distribution"),
    ("xlsx_rare/openxmlsdk__BusinessPerformancetest21_with_content_TP10209823.xltx", "Summary",
     "Chart 1"),
    ("xlsx_rare/poi__StructuredRefs-lots-with-lookups.xlsx", "Profile", "Chart 1"),
])  # fmt: skip
def test_a_deleted_chart_is_one_change(
    corpora: Path, tmp_path: Path, name: str, sheet: str, chart: str
) -> None:
    """What belongs to a chart alone goes with it, and is not told once more."""
    before = source(corpora / name)
    deleting = {"op": "delete_chart", "sheet": sheet, "chart": chart}

    found = compared(before, applied(before, tmp_path / f"after{Path(name).suffix}", deleting))

    assert [each[:2] for each in told(found)] == [("removed", "chart")]


@pytest.mark.corpora
def test_a_chart_of_a_newer_kind_whose_part_is_another_is_told(
    corpora: Path, tmp_path: Path
) -> None:
    """A program may give parts other names; what is in such a part is not passed over."""
    before = source(corpora / "xlsx" / "officecli__charts-boxwhisker.xlsx")
    with zipfile.ZipFile(before.path) as old, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("extendedCharts/chart.xml"):
                data = data.replace(b"Test Score", b"Best Score")
            data = data.replace(b"extendedCharts/chart.xml", b"extendedCharts/other.xml")
            new.writestr(name.replace("extendedCharts/chart.xml", "extendedCharts/other.xml"), data)

    found = told(compared(before, source(tmp_path / "b.xlsx")))

    assert {("removed", "part"), ("added", "part")} <= {each[:2] for each in found}


def test_a_filter_follows_a_column_that_was_put_in(tmp_path: Path) -> None:
    """A filter counts its columns from its first one; only its own change is told."""

    def filtered(_: Any, sheet: Any) -> None:
        sheet.auto_filter.ref = "A1:E21"
        sheet.auto_filter.add_filter_column(3, ["1.5", "3"])

    before = book(tmp_path / "before.xlsx", table(20), filtered)
    inserting = {"op": "insert_columns", "sheet": "Data", "column": "C"}
    after = applied(before, tmp_path / "after.xlsx", inserting)

    assert told(compared(before, after)) == [("added", "column", "Data!C:C")]
    other = applied(after, tmp_path / "other.xlsx", {
        "op": "auto_filter", "sheet": "Data", "range": "A1:F20",
    })  # fmt: skip
    assert ("changed", "filter", "Data!A1:F20") in told(compared(before, other))


def test_widths_tell_which_of_blank_columns_is_new(tmp_path: Path) -> None:
    """A column between blank ones is told where it was put in, not with others' widths."""

    def spaced(_: Any, sheet: Any) -> None:
        for letter, width in zip("BCDEF", (5, 9, 13, 17, 21), strict=True):
            sheet.column_dimensions[letter].width = width

    rows = [[f"Name {n}", *[None] * 5, n] for n in range(1, 20)]
    before = book(tmp_path / "before.xlsx", rows, spaced)
    inserting = {"op": "insert_columns", "sheet": "Data", "column": "D"}

    assert told(compared(before, applied(before, tmp_path / "after.xlsx", inserting))) == [
        ("added", "column", "Data!D:D")
    ]


def test_cells_of_columns_that_are_all_alike_are_cells(tmp_path: Path) -> None:
    """No columns are told as shifted where a few of many equal cells are others."""
    before = book(tmp_path / "before.xlsx", [[1] * 7 for _ in range(12)])
    cells = [{"cell": name, "value": f"new {name}"} for name in ("A1", "C3", "B9", "AB5", "C400")]
    setting = {"op": "set_cells", "sheet": "Data", "cells": cells}

    found = told(compared(before, applied(before, tmp_path / "after.xlsx", setting)))

    assert [(what, title) for _, what, title in found] == [
        ("cell", f"Data!{name}") for name in ("A1", "C3", "AB5", "B9", "C400")
    ]


def test_a_column_put_into_very_many_rows_is_one_change(tmp_path: Path) -> None:
    """So many rows are aligned by a sample; what else changed in them is told as ever."""
    rows = table(2500)
    before = book(tmp_path / "before.xlsx", rows)
    inserting = {"op": "insert_columns", "sheet": "Data", "column": "B"}
    cells = [{"cell": name, "value": "other"} for name in ("C7", "B1200", "D2400")]
    setting = {"op": "set_cells", "sheet": "Data", "cells": cells}

    found = compared(before, applied(before, tmp_path / "after.xlsx", inserting, setting))

    # The results of sums over the text that was a number are told as well.
    assert [each for each in told(found) if each[1] != "result"] == [
        ("added", "column", "Data!B:B"),
        ("changed", "cell", "Data!C7"),
        ("changed", "cell", "Data!D2400"),
    ]


@pytest.mark.corpora
def test_a_drawing_of_comments_and_controls_is_told_for_its_controls(
    corpora: Path, tmp_path: Path
) -> None:
    """A comment that goes is told as one; what else the drawing holds is told as its part."""
    before = source(corpora / "xlsx" / "poi__bug66827.xlsx")
    drawing = "xl/drawings/vmlDrawing1.vml"
    clearing = {"op": "clear_objects", "sheet": "Main", "range": "A3", "what": ["comments"]}
    with Package(before) as package:
        rewriting = Rewriting(package)
        rewriting.put(drawing, package.read(drawing).replace(b"width:", b"width:1", 1))
        rewriting.save(tmp_path / "other.xlsx")

    after = applied(before, tmp_path / "after.xlsx", clearing)

    assert told(compared(before, after)) == [("removed", "comment", "Main!A3")]
    assert [each[:2] for each in told(compared(before, source(tmp_path / "other.xlsx")))] == [
        ("changed", "part")
    ]
