"""Loads workbooks that kbd wrote.

openpyxl loads everything but the cells. They stand in the form that `saving` gives them, so those
of a sheet that is not touched go into the new file as they are, and the others are read here, some
five times as fast.
"""

import io
import re
from collections.abc import Collection
from typing import Any
from xml.sax.saxutils import unescape
from zipfile import ZipFile

import msgspec
from openpyxl import Workbook, load_workbook
from openpyxl.cell import Cell

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Package, reading_errors
from kbd_xlsx.marker import check_made_by_kbd
from kbd_xlsx.references import column_number
from kbd_xlsx.saving import SheetBody
from kbd_xlsx.workbook import read_workbook

__all__ = ["OwnBook", "load_own"]

_BODY = re.compile(rb'<dimension ref="([A-Z0-9:]+)"/>.*?<sheetData>(.*)</sheetData>', re.DOTALL)
_ROW = re.compile(r'<row r="(\d+)"(?: ht="([\d.]+)" customHeight="1")?>(.*?)</row>', re.DOTALL)
_CELL = re.compile(
    r'<c r="([A-Z]+)\d+"(?: s="(\d+)")?(?: t="(\w+)")?(?:/>|>'
    r"(?:<v>([^<]*)</v>|<is><t[^>]*>([^<]*)</t></is>|<f>([^<]*)</f>)</c>)"
)
_KINDS = {"": "n", "b": "b", "e": "e"}
_UNESCAPED = {"&#13;": "\r"}


class OwnBook(msgspec.Struct, frozen=True):
    """A workbook, and the cells of those of its sheets that have none as objects, by title."""

    workbook: Workbook
    bodies: dict[str, SheetBody]


def load_own(source: Source, sheets: Collection[str]) -> OwnBook:
    """Load a workbook that kbd wrote.

    Args:
        source: The file.
        sheets: The names of the sheets whose cells are needed, whatever their case.

    Raises:
        ValidationFailed: Another program made it or saved it.
        FileReadFailed: It cannot be read.
    """
    check_made_by_kbd(source)
    wanted = {name.casefold() for name in sheets}
    emptied = io.BytesIO()
    bodies: dict[str, SheetBody] = {}
    with Package(source) as package, ZipFile(emptied, "w") as copy:
        titles = {sheet.part: sheet.name for sheet in read_workbook(package).sheets}
        for entry in package.entries:
            data = package.read(entry.filename)
            if entry.filename in titles:
                data, bodies[titles[entry.filename]] = _taken_out(data, source.name)
            copy.writestr(entry.filename, data)
    try:
        with reading_errors(source.name):
            workbook = load_workbook(emptied)
        for title in list(bodies):
            if title.casefold() in wanted:
                _fill(workbook[title], bodies.pop(title).rows.decode(), source.name)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise FileReadFailed(f"{source.name} is damaged.") from error
    return OwnBook(workbook, bodies)


def _taken_out(data: bytes, name: str) -> tuple[bytes, SheetBody]:
    """Return a sheet's part without its cells, and the cells."""
    found = _BODY.search(data)
    if found is None:
        raise FileReadFailed(f"{name} is damaged: a sheet is not as kbd writes it.")
    start, end = found.span(2)
    return data[:start] + data[end:], SheetBody(found[1].decode(), found[2])


def _fill(sheet: Any, rows: str, name: str) -> None:
    """Make the cells of a sheet; a date stays the number that it is stored as."""
    count = 0
    styles = sheet.parent._cell_styles  # noqa: SLF001 - indices of styles have no public form
    for found in _ROW.finditer(rows):
        number = int(found[1])
        if found[2]:
            sheet.row_dimensions[number].height = float(found[2])
        for letters, style, kind, plain, text, formula in _CELL.findall(found[3]):
            column = column_number(letters)
            cell: Any = Cell(sheet, number, column)
            if style:
                cell._style = styles[int(style)].__copy__()  # noqa: SLF001
            _set(cell, kind, plain, text, formula)
            sheet._cells[number, column] = cell  # noqa: SLF001
            count += 1
    if count != rows.count("<c "):
        raise FileReadFailed(f"{name} is damaged: a sheet is not as kbd writes it.")


def _set(cell: Any, kind: str, plain: str, text: str, formula: str) -> None:
    """Set what a cell holds, past openpyxl's guesses at what it may be."""
    held: str | bool | None
    if formula:
        held, letter = f"={unescape(formula)}", "f"
    elif kind == "inlineStr":
        held, letter = unescape(text, _UNESCAPED), "s"
    elif kind == "b":
        held, letter = plain == "1", "b"
    else:
        held, letter = unescape(plain) or None, _KINDS[kind]
    cell._value, cell.data_type = held, letter  # noqa: SLF001
