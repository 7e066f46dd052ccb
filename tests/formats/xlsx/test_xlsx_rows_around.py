"""Rows that are appended look as those above them, and what does not count them is named."""

import datetime as dt
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

from kbd.errors import ValidationFailed
from kbd.formats import Placement
from written_rows import write

pytestmark = pytest.mark.full

COLUMNS = [["Day", "date"], ["Item", "string"], ["Amount", "float"]]
NEW: list[list[Any]] = [["2024-02-01", "x", 5.25], ["2024-02-02", "y", "7.125"]]
APPENDED = Placement(sheet="Data", mode="append_rows")


def looked_after(path: Path, last: Any = None, *, table: bool = False) -> Path:
    """Make a workbook whose cells have looks, and with ranges that end with its last row."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Data"
    sheet.append(["Day", "Item", "Amount"])
    for row, amount in enumerate((10.5, 20, 3), 2):
        sheet.append([dt.date(2024, 1, row), "a", amount])
        sheet.cell(row, 1).number_format = "dd.mm.yyyy"
        sheet.cell(row, 2).font = Font(italic=True)
        sheet.cell(row, 3).number_format = '#,##0.00 "€"'
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    if table:
        sheet.add_table(Table(displayName="Sales", ref="A1:C4"))
    else:
        sheet.auto_filter.ref = "A1:C4"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=3, min_row=1, max_row=4), titles_from_data=True)
    sheet.add_chart(chart, "F2")
    book.defined_names["Amounts"] = DefinedName("Amounts", attr_text="Data!$C$2:$C$4")
    other = book.create_sheet("Other")
    for place, formula in enumerate(("=SUM(Data!C2:C4)", "=SUM(Data!C:C)", "=MAX(Data!C2:C3)"), 1):
        other.cell(place, 1, formula)
    if last is not None:
        sheet.append(last)
    book.save(path)
    return path


@pytest.mark.parametrize("table", [False, True])
def test_appended_rows_look_as_the_last_one(tmp_path: Path, table: bool) -> None:
    """Form of dates, number formats and fonts are those of the cells above; a header's are not."""
    source = looked_after(tmp_path / "a.xlsx", table=table)
    write(source, tmp_path / "b.xlsx", NEW, APPENDED, COLUMNS)
    sheet = openpyxl.load_workbook(tmp_path / "b.xlsx")["Data"]
    for row in (5, 6):
        looks = [(cell.number_format, cell.font.i, cell.font.b) for cell in sheet[row]]
        assert looks == [(c.number_format, c.font.i, c.font.b) for c in sheet[4]]
    assert [cell.value for cell in sheet["C"]][-2:] == [5.25, 7.125]

    bare = openpyxl.Workbook()
    bare.worksheets[0].title = "Data"
    bare.worksheets[0].append(["Day", "Item", "Amount"])
    bare.worksheets[0]["B1"].font = Font(bold=True)
    bare.save(tmp_path / "c.xlsx")
    write(tmp_path / "c.xlsx", tmp_path / "d.xlsx", NEW, APPENDED, COLUMNS)
    assert not openpyxl.load_workbook(tmp_path / "d.xlsx")["Data"]["B2"].font.b


def test_what_ends_above_the_new_rows_is_named(tmp_path: Path) -> None:
    """Formulas, names, charts and a filter keep their ranges, and it is said that they do."""
    written = write(looked_after(tmp_path / "a.xlsx"), tmp_path / "b.xlsx", NEW, APPENDED, COLUMNS)
    assert written.warnings[-1] == (
        "The new rows are not counted in what ends above them: Other!A1 =SUM(Data!C2:C4), the name"
        " Amounts (Data!$C$2:$C$4), a chart ('Data'!$C$2:$C$4), the filter A1:C4; extend it to row"
        " 6 if it is to hold them."
    )
    table = looked_after(tmp_path / "t.xlsx", table=True)
    notes = write(table, tmp_path / "u.xlsx", NEW, APPENDED, COLUMNS).warnings
    assert "Table Sales was A1:C4 and is A1:C6 now." in notes
    assert "the filter" not in notes[-1]


def test_replaced_cells_are_counted(tmp_path: Path) -> None:
    """A sheet that is replaced says how many cells went, and how many of them were formulas."""
    source = looked_after(tmp_path / "a.xlsx", ["z", None, "=1+1"])
    placement = Placement(sheet="Data", mode="replace_sheet")
    written = write(source, tmp_path / "b.xlsx", NEW, placement, COLUMNS)
    assert written.warnings[0] == (
        "14 filled cell(s) of Data were emptied, 1 of them with formulas: A1, B1, C1, A2, B2"
        " and 9 more."
    )


@pytest.mark.parametrize("function", ["MAX", "MIN", "COUNT", "SUM", "AVERAGE"])
def test_no_rows_go_below_a_formula_over_the_column(tmp_path: Path, function: str) -> None:
    """Whatever it works out, it would not count them."""
    source = looked_after(tmp_path / "a.xlsx", ["Figure", None, f"={function}(C2:C4)"])
    with pytest.raises(ValidationFailed, match="row 5 of sheet Data is a total"):
        write(source, tmp_path / "b.xlsx", NEW, APPENDED, COLUMNS)
