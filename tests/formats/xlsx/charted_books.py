"""Workbooks for examples of charts, and what their packages hold."""

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
from lxml import etree
from openpyxl.worksheet.table import Table

from kbd.formats import Applied, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

__all__ = [
    "FORMAT",
    "chart_of",
    "charts_by_openpyxl",
    "charts_in",
    "edited",
    "entries",
    "months_book",
    "records",
]

FORMAT = XlsxFormat()


def months_book(path: Path) -> Path:
    """Write sheet "My data" with months (dates), items, costs, gains and a text column; a table.

    A1:E7 has headers; costs show two decimals, gains whole numbers; table Sums is on sheet Other.
    """
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "My data"
    sheet.append(["Month", "Item", "Cost", "Gain", "Note"])
    for number in range(6):
        month = dt.date(2024, number + 1, 1)
        sheet.append([month, f"Item {number}", 100 + number * 7.5, 80 + number, f"note {number}"])
        sheet.cell(number + 2, 3).number_format = "#,##0.00"
    other = book.create_sheet("Other")
    for row in (["City", "Amount"], ["Ulm", 3], ["Bonn", 4.5], ["Kiel", 1]):
        other.append(row)
    other.add_table(Table(displayName="Sums", ref="A1:B4"))
    other["D1"] = "=B2*2"
    book.save(path)
    return path


def records(*found: dict[str, Any]) -> tuple[msgspec.Struct, ...]:
    """Return operations as a format takes them."""
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    return tuple(msgspec.convert(list(found), list[vocabulary]))


def edited(book: Path, *found: dict[str, Any], to: str = "out.xlsx") -> Applied:
    """Apply operations; the result stands beside the workbook."""
    target = book.with_name(to)
    target.unlink(missing_ok=True)
    return FORMAT.apply(Source(book, book.name), records(*found), target)


def entries(path: Path) -> dict[str, bytes]:
    """Return the parts of a package by name."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def charts_by_openpyxl(path: Path, sheet: str) -> list[Any]:
    """Return the charts of a sheet as openpyxl reads them, which parses them by their schema."""
    found: list[Any] = vars(openpyxl.load_workbook(path)[sheet])["_charts"]
    return found


def charts_in(path: Path, sheet: str) -> list[dict[str, Any]]:
    """Return the charts of a sheet as the map tells them."""
    mapped = FORMAT.map(Source(path, path.name))["sheets"]
    found: list[dict[str, Any]] = next(
        each.get("charts", []) for each in mapped if each["name"] == sheet
    )
    return found


def chart_of(path: Path, number: int = 1) -> etree._Element:
    """Return the root of a chart's part."""
    return etree.fromstring(entries(path)[f"xl/charts/chart{number}.xml"])
