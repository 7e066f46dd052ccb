"""A workbook of openpyxl, written as reproducible bytes.

The same workbook gives the same file: entries in one order with one time, properties with fixed
dates. Sheets are written here rather than by openpyxl, some five times as fast; only what kbd's
own operations can put into a sheet is written: cells, widths, heights, frozen panes.
"""

import datetime as dt
import io
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo
from zlib import crc32

import msgspec
from openpyxl import Workbook
from openpyxl.packaging.custom import StringProperty
from openpyxl.utils.datetime import to_excel
from openpyxl.writer.excel import ExcelWriter

from kbd_xlsx.marker import MARKER_PART, NO_DIGEST, PROPERTY, digest
from kbd_xlsx.references import column_letters, column_number

__all__ = ["Bodies", "SheetBody", "cell_xml", "new_workbook", "save"]

_WRITTEN = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - the format's properties have no zone
"""The date in every file's properties: what a run made must not depend on when it ran."""

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_NAMESPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_HEAD = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="{_NAMESPACE}">'

_PLAIN = re.compile(r"(?!\s)[^\x00-\x1f&<>]*(?<!\s)")
"""Text that stands in XML as it is."""


class SheetBody(msgspec.Struct, frozen=True):
    """The cells of a sheet as they stand in its part: rows that no cell objects are needed for."""

    dimension: str
    rows: bytes


Bodies = Mapping[str, SheetBody]
"""By the title of the sheet, whose own cells they replace."""


class _Parts:
    """Collects the parts that openpyxl's writer makes; stands in for its zip file."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def writestr(self, name: str, data: str | bytes) -> None:
        self.contents[name] = data.encode() if isinstance(data, str) else bytes(data)

    def namelist(self) -> list[str]:
        return list(self.contents)


class _Writer(ExcelWriter):
    """openpyxl's writer of all parts but the sheets.

    Args:
        workbook: What to write; untyped, as the stubs know only half of it.
        parts: Where the parts go.
        bodies: The cells of sheets that have none as objects.
    """

    def __init__(self, workbook: Any, parts: Any, bodies: Bodies) -> None:
        super().__init__(workbook, parts)
        self._parts, self._bodies = parts, bodies

    def write_worksheet(self, ws: Any) -> None:
        """Write a sheet's part and register it, as the method it stands for does."""
        self._parts.writestr(ws.path[1:], _sheet_xml(ws, self._bodies.get(ws.title)))
        self.manifest.append(ws)


def new_workbook() -> Workbook:
    """Return a workbook without any sheet."""
    workbook = Workbook()
    for sheet in workbook.worksheets:
        workbook.remove(sheet)
    return workbook


def save(workbook: Any, target: Path, bodies: Bodies = MappingProxyType({})) -> None:
    """Write a workbook with its marker; the same workbook gives the same bytes."""
    workbook.properties.creator = PROPERTY
    workbook.properties.created = workbook.properties.modified = _WRITTEN
    for name in list(workbook.custom_doc_props.names):
        del workbook.custom_doc_props[name]
    workbook.custom_doc_props.append(StringProperty(name=PROPERTY, value=NO_DIGEST))
    workbook.active = 0
    parts = _Parts()
    _Writer(workbook, parts, bodies).write_data()
    contents = parts.contents
    sealed = digest((name, len(data), crc32(data)) for name, data in contents.items())
    contents[MARKER_PART] = contents[MARKER_PART].replace(NO_DIGEST.encode(), sealed.encode())
    with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=6) as archive:
        # The table of contents comes first: programs recognise the format by it.
        for name in sorted(contents, key=lambda name: (name != "[Content_Types].xml", name)):
            info = ZipInfo(name, _ZIP_TIME)
            info.compress_type = ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            archive.writestr(info, contents[name])


def _sheet_xml(sheet: Any, body: SheetBody | None) -> bytes:
    if body is None:
        out = io.StringIO()
        _write_rows(sheet, out)
        body = SheetBody(sheet.calculate_dimension(), out.getvalue().encode())
    head = (
        f'{_HEAD}<dimension ref="{body.dimension}"/>{_view(sheet)}'
        f'<sheetFormatPr defaultRowHeight="15"/>{_columns(sheet)}'
    )
    return b"".join((head.encode(), b"<sheetData>", body.rows, b"</sheetData>", b"</worksheet>"))


def _view(sheet: Any) -> str:
    """Write the sheet's view with its frozen panes."""
    selected = ' tabSelected="1"' if sheet.parent.worksheets[0] is sheet else ""
    start = f'<sheetViews><sheetView workbookViewId="0"{selected}'
    if sheet.freeze_panes is None:
        return f"{start}/></sheetViews>"
    first = sheet[sheet.freeze_panes]
    rows, columns = first.row - 1, first.column - 1
    split = (f' xSplit="{columns}"' if columns else "") + (f' ySplit="{rows}"' if rows else "")
    corner = "bottomRight" if rows and columns else "bottomLeft" if rows else "topRight"
    pane = f'<pane{split} topLeftCell="{sheet.freeze_panes}" activePane="{corner}" state="frozen"/>'
    return f'{start}>{pane}<selection pane="{corner}"/></sheetView></sheetViews>'


def _columns(sheet: Any) -> str:
    widths = {
        column_number(letters): dimension.width
        for letters, dimension in sheet.column_dimensions.items()
        if dimension.customWidth
    }
    if not widths:
        return ""
    columns = "".join(
        f'<col min="{number}" max="{number}" width="{width}" customWidth="1"/>'
        for number, width in sorted(widths.items())
    )
    return f"<cols>{columns}</cols>"


def _write_rows(sheet: Any, out: io.StringIO) -> None:
    rows: dict[int, list[Any]] = {
        number: [] for number, found in sheet.row_dimensions.items() if found.ht is not None
    }
    # openpyxl's own store of the cells that there are; its public iteration makes missing ones.
    for (number, _), cell in sheet._cells.items():  # noqa: SLF001
        rows.setdefault(number, []).append(cell)
    letters = {n: column_letters(n) for n in range(1, sheet.max_column + 1)}
    epoch = sheet.parent.epoch
    for number in sorted(rows):
        height = sheet.row_dimensions[number].ht if number in sheet.row_dimensions else None
        tall = "" if height is None else f' ht="{height}" customHeight="1"'
        out.write(f'<row r="{number}"{tall}>')
        for cell in sorted(rows[number], key=_column_of):
            style = cell.style_id if cell.has_style else 0
            place = f"{letters[cell.column]}{number}"
            out.write(cell_xml(place, cell.data_type, cell.value, style, epoch))
        out.write("</row>")


def _column_of(cell: Any) -> int:
    column: int = cell.column
    return column


def cell_xml(place: str, kind: str, value: Any, style: int, epoch: dt.datetime) -> str:
    """Return a cell as it stands in a sheet's part; "" if there is nothing to be seen of it.

    Args:
        place: Where it is ("B3").
        kind: openpyxl's letter for its type.
        value: What it holds; text as `checked_text` returns it.
        style: The index of its style.
        epoch: The workbook's first day, for dates.
    """
    start = f'<c r="{place}" s="{style}"' if style else f'<c r="{place}"'
    if value is None:
        return f"{start}/>" if style else ""
    match kind:
        case "s":
            text = str(value)
            if _PLAIN.fullmatch(text):
                return f'{start} t="inlineStr"><is><t>{text}</t></is></c>'
            text = escape(text, {"\r": "&#13;"})
            keep = ' xml:space="preserve"' if text != text.strip() or "\n" in text else ""
            return f'{start} t="inlineStr"><is><t{keep}>{text}</t></is></c>'
        case "f":
            return f"{start}><f>{escape(str(value)[1:])}</f></c>"
        case "b":
            return f'{start} t="b"><v>{int(bool(value))}</v></c>'
        case "d":
            serial = to_excel(value, epoch)  # type: ignore[no-untyped-call]  # absent in the stubs
            return f"{start}><v>{serial}</v></c>"
        case "e":
            return f'{start} t="e"><v>{escape(str(value))}</v></c>'
        case _:
            return f"{start}><v>{value}</v></c>"
