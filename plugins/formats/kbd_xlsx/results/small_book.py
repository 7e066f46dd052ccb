"""Small book: the package that engines are given, with values and formulas alone.

It has the sheets of the workbook under their names, so that formulas read as they do there, and of
their cells those that a calculation needs.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import assert_never
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_STORED, ZipFile

import msgspec

from kbd.sheets.areas import MAX_COLUMN, column_letters
from kbd_xlsx.parts.cells import Result, escaped

__all__ = ["SmallCell", "SmallSheet", "write_small_book"]

_SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

# One engine takes no workbook without a format of cells.
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_SPACE}"><fonts count="1"><font><sz val="11"/><name '
    'val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/>'
    '<right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" '
    'fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="1"><xf numFmtId="0" '
    'fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1"><cellStyle '
    'name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


_ROWS_AT_ONCE = 1_000
"""Rows that are written in one go: each is a few bytes."""


class SmallCell(msgspec.Struct, frozen=True, gc=False):
    """A cell: its column from 1, and a value, or a formula without "="."""

    column: int
    value: Result | None
    formula: str | None = None


class SmallSheet(msgspec.Struct, frozen=True):
    """A sheet: its title, and its cells by row."""

    title: str
    rows: Mapping[int, Sequence[SmallCell]]


def write_small_book(path: Path, sheets: Sequence[SmallSheet], *, from_1904: bool) -> None:
    """Write a book.

    Args:
        path: Where to.
        sheets: Its sheets in order.
        from_1904: Whether it counts days from 1904.
    """
    with ZipFile(path, "w", ZIP_STORED) as package:
        package.writestr("[Content_Types].xml", _content_types(len(sheets)))
        package.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        package.writestr("xl/workbook.xml", _workbook(sheets, from_1904=from_1904))
        parts = [("worksheet", f"worksheets/sheet{n + 1}.xml") for n in range(len(sheets))]
        package.writestr(
            "xl/_rels/workbook.xml.rels", _relations([*parts, ("styles", "styles.xml")])
        )
        package.writestr("xl/styles.xml", _STYLES)
        for number, sheet in enumerate(sheets):
            with package.open(f"xl/worksheets/sheet{number + 1}.xml", "w") as part:
                part.write(f'{_HEAD}<worksheet xmlns="{_SPACE}"><sheetData>'.encode())
                rows = sorted(sheet.rows)
                for first in range(0, len(rows), _ROWS_AT_ONCE):
                    some = rows[first : first + _ROWS_AT_ONCE]
                    part.write("".join([_row(row, sheet.rows[row]) for row in some]).encode())
                part.write(b"</sheetData></worksheet>")


def _content_types(sheets: int) -> str:
    parts = [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
    parts += [(f"/xl/worksheets/sheet{n + 1}.xml", "worksheet") for n in range(sheets)]
    told = "".join(
        f'<Override PartName="{part}" ContentType="{_TYPE}.{kind}+xml"/>' for part, kind in parts
    )
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    return (
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="{relations}"/><Default Extension="xml" ContentType="application/xml"/>'
        f"{told}</Types>"
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{inner}</Relationships>'


def _workbook(sheets: Sequence[SmallSheet], *, from_1904: bool) -> str:
    listed = "".join(
        f'<sheet name={quoteattr(sheet.title)} sheetId="{number}" r:id="rId{number}"/>'
        for number, sheet in enumerate(sheets, 1)
    )
    settings = '<workbookPr date1904="1"/>' if from_1904 else ""
    return (
        f'{_HEAD}<workbook xmlns="{_SPACE}" xmlns:r="{_OFFICE}">{settings}<sheets>{listed}'
        "</sheets></workbook>"
    )


def _row(number: int, cells: Sequence[SmallCell]) -> str:
    inner = "".join([_cell(number, cell) for cell in cells])
    return f'<row r="{number}">{inner}</row>'


@lru_cache(maxsize=MAX_COLUMN)
def _letters(column: int) -> str:
    return column_letters(column)


def _cell(row: int, cell: SmallCell) -> str:
    value = cell.value
    if cell.formula is not None:
        # With a value, without which one engine complains of each.
        return f'<c r="{_letters(cell.column)}{row}"><f>{escaped(cell.formula)}</f><v>0</v></c>'
    if value is None:
        return ""
    text = escaped(value.text)
    place = f'<c r="{_letters(cell.column)}{row}"'
    match value.kind:
        case "number":
            return f"{place}><v>{text}</v></c>"
        case "text":
            return f'{place} t="str"><v xml:space="preserve">{text}</v></c>'
        case "boolean":
            return f'{place} t="b"><v>{text}</v></c>'
        case "error":
            return f'{place} t="e"><v>{text}</v></c>'
        case other:
            assert_never(other)
