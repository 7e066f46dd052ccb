"""Writes rows into workbooks, and reads them back by two libraries that did not write them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table
from python_calamine import CalamineWorkbook

from kbd.formats import Placement, Source, Written
from kbd.testing.formats import write_rows
from kbd_xlsx.rows.table_writer import write_table

COLUMNS = [["name", "string"], ["amount", "integer"]]


def write(
    source: Path | None,
    target: Path,
    rows: Sequence[Sequence[Any]],
    placement: Placement,
    columns: Sequence[Sequence[Any]] = COLUMNS,
) -> Written:
    """Write rows from one path to another."""
    stream = write_rows(target.with_suffix(".rows"), columns, rows)
    found = None if source is None else Source(source, source.name)
    return write_table(found, stream, placement, target)


def values(path: Path, sheet: str) -> list[list[Any]]:
    """Return a sheet's values as one library finds them, None where there are none."""
    return [[cell.value for cell in row] for row in openpyxl.load_workbook(path)[sheet].iter_rows()]


def plain(path: Path, sheet: str) -> list[list[Any]]:
    """Return a sheet's values as the other library finds them, from A1 on, "" where are none."""
    found = CalamineWorkbook.from_path(str(path)).get_sheet_by_name(sheet)
    return found.to_python(skip_empty_area=False)


def parts(path: Path) -> dict[str, bytes]:
    """Return the parts of a package."""
    with ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def foreign(path: Path, rows: Sequence[Sequence[Any]], *, table: str = "", totals: int = 0) -> Path:
    """Make a workbook of another program: sheet Data, with much beside its cells.

    Args:
        path: Where it goes.
        rows: The cells of Data, from A1 on.
        table: The range of its table, "" for none.
        totals: How many rows of totals the table has.
    """
    book = openpyxl.Workbook()
    sheet: Any = book.active
    sheet.title = "Data"
    for row in rows:
        sheet.append(row)
    sheet.column_dimensions["A"].width = 33
    sheet["A1"].comment = Comment("a note", "somebody")
    sheet["B1"].font = Font(italic=True)
    make_rule: Any = CellIsRule
    rule = make_rule(operator="greaterThan", formula=["2"], font=Font(color="FF0000"))
    sheet.conditional_formatting.add("B2:B100", rule)
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "H2")
    if table:
        made: Any = Table(displayName="Sales", ref=table)
        made.totalsRowCount = totals or None
        sheet.add_table(made)
    other: Any = book.create_sheet("Other")
    other["A1"], other["A2"], other["A3"] = "=SUM(Data!B2:B50)", "=1+1", "kept"
    book.save(path)
    return path
