"""Cases of OpenDocument spreadsheets: the sheets of `workbook_tables`, with the same expectation."""

import io
import re
import zipfile
from collections.abc import Mapping
from datetime import date
from xml.sax.saxutils import escape, quoteattr

import msgspec
from openpyxl import Workbook as Book
from openpyxl.cell import MergedCell
from openpyxl.cell.cell import Cell
from openpyxl.worksheet.worksheet import Worksheet

from golden_tables import workbook_tables
from golden_tables.cases import Case

__all__ = ["CASES"]

_MIME_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
_SPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
    for prefix in ("office", "table", "text", "manifest")
)
_RANGE = re.compile(r"\b([A-Z]+[0-9]+)(?::([A-Z]+[0-9]+))?\b")


def _formula(text: str) -> str:
    """Return a formula as OpenDocument has it: of:=SUM([.B2:.B5])."""
    return "of:" + _RANGE.sub(lambda m: f"[.{m[1]}:.{m[2]}]" if m[2] else f"[.{m[1]}]", text)


def _cell(cell: Cell | MergedCell, spans: dict[str, str], results: Mapping[str, float]) -> str:
    """Return a cell with its type and value; what it shows stands in for what a program would."""
    if isinstance(cell, MergedCell):
        return "<table:covered-table-cell/>"
    value = cell.value
    said, shown = spans.get(cell.coordinate, ""), str(value)
    match value:
        case None:
            return f"<table:table-cell{said}/>"
        case bool():
            said += f' office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
        case int() | float():
            said += f' office:value-type="float" office:value="{value}"'
        case date():
            said += f' office:value-type="date" office:date-value="{value.isoformat()}"'
        case str() if cell.data_type == "f":
            said += f" table:formula={quoteattr(_formula(value))}"
            shown = str(results.get(cell.coordinate, ""))
            if not shown:
                return f"<table:table-cell{said}/>"
            said += f' office:value-type="float" office:value="{shown}"'
        case _:
            said += ' office:value-type="string"'
    return f"<table:table-cell{said}><text:p>{escape(shown)}</text:p></table:table-cell>"


def _sheet(sheet: Worksheet, results: Mapping[str, float]) -> str:
    spans = {
        area.start_cell.coordinate: f' table:number-columns-spanned="{area.size["columns"]}"'
        f' table:number-rows-spanned="{area.size["rows"]}"'
        for area in sheet.merged_cells.ranges
    }
    rows = "".join(
        f"<table:table-row>{''.join(_cell(cell, spans, results) for cell in row)}</table:table-row>"
        for row in sheet.iter_rows()
    )
    return f"<table:table table:name={quoteattr(sheet.title)}>{rows}</table:table>"


def _spreadsheet(book: Book, results: Mapping[str, float]) -> bytes:
    """Return a workbook's cells, types and merged ranges as an OpenDocument spreadsheet."""
    sheets = "".join(_sheet(sheet, results) for sheet in book.worksheets)
    content = (
        f"<office:document-content {_SPACES}><office:body><office:spreadsheet>{sheets}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", _MIME_TYPE, zipfile.ZIP_STORED)
        file.writestr("content.xml", content)
        file.writestr("META-INF/manifest.xml", f"<manifest:manifest {_SPACES}/>")
    return buffer.getvalue()


def _case(made: Case, book: Book, results: Mapping[str, float]) -> Case:
    name = made.name.removesuffix(".xlsx") + ".ods"
    content = _spreadsheet(book, results)
    return msgspec.structs.replace(made, subject="spreadsheets", name=name, content=content)


CASES = tuple(_case(*each) for each in workbook_tables.BOOKS)
