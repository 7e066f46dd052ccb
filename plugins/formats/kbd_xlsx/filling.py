"""Rows of a table into a workbook, with their types.

Dates are dates, numbers are numbers with as many decimals as they came with, text is text whatever
it begins with. A header is bold; columns of a new sheet are as wide as their first rows need.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from unicodedata import east_asian_width

import msgpack
import msgspec
from openpyxl.worksheet.worksheet import Worksheet

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Column, ColumnType, Placement, Source, Written
from kbd_xlsx.editing import checked_sheet_name
from kbd_xlsx.loading import OwnBook, load_own
from kbd_xlsx.marker import refuse_macros
from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area, cell_name, column_letters, parse_cell
from kbd_xlsx.rowcells import RowCells
from kbd_xlsx.rowtext import RowText
from kbd_xlsx.saving import SheetBody, new_workbook, save
from kbd_xlsx.typed import TypedRows

__all__ = ["write_table"]

_TYPES: frozenset[str] = frozenset(get_args(ColumnType))
_WIDTH_ROWS = 200
_MIN_WIDTH, _MAX_WIDTH = 8, 60


class _Spot(msgspec.Struct):
    """Where the next row goes, and what was written so far."""

    sheet: Any
    top: int
    left: int
    row: int
    header: bool


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows as the placement says.

    Raises:
        ValidationFailed: The workbook is not kbd's own, there is no such sheet and none may be
            made, or the rows do not fit.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    refuse_macros(target.name)
    with rows.open("rb") as file:
        stream = iter(msgpack.Unpacker(file, raw=False, strict_map_key=False))
        columns = _columns(stream)
        is_new = source is None or placement.mode == "new_file"
        # The cells of a sheet that is replaced are not needed, nor are those of other sheets.
        kept = () if placement.mode == "replace_sheet" else (placement.sheet,)
        book = OwnBook(new_workbook(), {}) if source is None or is_new else load_own(source, kept)
        warnings: list[str] = []
        spot = _spot(book.workbook, placement, columns, warnings, may_create=is_new)
        typed = TypedRows()
        count, body = _fill(spot, columns, stream, typed)
    if typed.as_text:
        warnings.append(f"{typed.as_text} date(s) that a sheet cannot hold were written as text.")
    if body is None:
        book.bodies.pop(spot.sheet.title, None)
    else:
        book.bodies[spot.sheet.title] = body
    save(book.workbook, target, book.bodies)
    last = spot.row - 1
    written = ""
    if columns and last >= spot.top:
        area = Area(spot.top, spot.left, last, spot.left + len(columns) - 1)
        # A range even if it is one cell: who reads it wants both ends.
        written = f"{cell_name(area.top, area.left)}:{cell_name(area.bottom, area.right)}"
    return Written(written, count, len(columns), tuple(warnings))


def _columns(stream: Iterator[Any]) -> list[Column]:
    first = next(stream, None)
    if first is None:
        raise FileReadFailed("The stream of rows is empty; it begins with its columns.")
    if len(first) > MAX_COLUMN:
        raise ValidationFailed(f"{len(first):,} columns do not fit into a sheet.")
    return [Column(str(name), kind if kind in _TYPES else None) for name, kind in first]


def _spot(
    workbook: Any,
    placement: Placement,
    columns: list[Column],
    warnings: list[str],
    *,
    may_create: bool,
) -> _Spot:
    """Find or make the sheet, empty what is to be replaced, and say where the rows begin."""
    found = next(
        (s for s in workbook.worksheets if s.title.casefold() == placement.sheet.casefold()), None
    )
    if found is None:
        if not (may_create or placement.create_sheet_if_missing):
            raise ValidationFailed(f"There is no sheet {placement.sheet!r}.")
        found = workbook.create_sheet(checked_sheet_name(placement.sheet))
    header = placement.include_header
    match placement.mode:
        case "new_file" | "replace_sheet":
            _clear(found, 1, 1)
            return _Spot(found, 1, 1, 1, header)
        case "append_rows":
            last = _last_row(found)
            if last == 0:
                return _Spot(found, 1, 1, 1, header)
            _note_header(found, columns, warnings)
            left = _first_column(found)
            return _Spot(found, last + 1, left, last + 1, header=False)
        case "write_range":
            top, left = parse_cell(placement.start_cell)
            if placement.clear_target_range:
                _clear(found, top, left)
            return _Spot(found, top, left, top, header)


def _filled(sheet: Any) -> list[tuple[int, int]]:
    """Return the places of cells that hold something."""
    return [place for place, cell in sheet._cells.items() if cell.value is not None]  # noqa: SLF001


def _last_row(sheet: Any) -> int:
    return max((row for row, _ in _filled(sheet)), default=0)


def _first_column(sheet: Any) -> int:
    return min((column for _, column in _filled(sheet)), default=1)


def _clear(sheet: Any, top: int, left: int) -> None:
    """Take away the cells below and right of a place."""
    cells = sheet._cells  # noqa: SLF001 - openpyxl has no way to take cells away that is not slow
    for place in [p for p in cells if p[0] >= top and p[1] >= left]:
        del cells[place]


def _note_header(sheet: Any, columns: list[Column], warnings: list[str]) -> None:
    """Compare the sheet's first row with the columns that are appended."""
    places = _filled(sheet)
    first = min(row for row, _ in places)
    there = [
        str(sheet.cell(first, column).value)
        for column in sorted(column for row, column in places if row == first)
    ]
    names = [column.name for column in columns]
    if [name.casefold() for name in there] == [name.casefold() for name in names]:
        warnings.append("The sheet has a header already: it was not written again.")
    else:
        warnings.append(
            f"The rows' columns ({', '.join(names)}) are not those of the sheet's header "
            f"({', '.join(there)}); they were appended by position."
        )


def _fill(
    spot: _Spot, columns: list[Column], stream: Iterator[Any], typed: TypedRows
) -> tuple[int, SheetBody | None]:
    """Write the header and the rows; return how many, and their text if they became no cells."""
    if spot.left + len(columns) - 1 > MAX_COLUMN:
        raise ValidationFailed(f"{len(columns):,} columns do not fit from there on.")
    is_empty = not spot.sheet._cells and not spot.sheet.row_dimensions  # noqa: SLF001
    make = RowText if is_empty else RowCells
    rows = make(spot.sheet, columns, typed, spot.left)
    widths = [_shown_width(column.name) for column in columns]
    if spot.header and columns:
        rows.header(spot.row, columns)
        spot.row += 1
    count = 0
    for values in stream:
        if spot.row > MAX_ROW:
            raise ValidationFailed("The rows do not fit: a sheet ends at row 1,048,576.")
        rows.row(spot.row, values)
        if count < _WIDTH_ROWS:
            shown = (0 if value is None else _shown_width(str(value)) for value in values)
            widths = [max(pair) for pair in zip(widths, shown, strict=True)]
        spot.row += 1
        count += 1
    if is_empty:
        _set_widths(spot.sheet, spot.left, widths)
        if spot.header and (spot.top, spot.left) == (1, 1):
            # Keeps the names in view, and says that they are names.
            spot.sheet.freeze_panes = "A2"
    return count, rows.body()


def _shown_width(text: str) -> int:
    """Return how many characters wide a text is: East Asian wide ones take the place of two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


def _set_widths(sheet: Worksheet, left: int, widths: list[int]) -> None:
    for column, width in enumerate(widths, left):
        wanted = min(max(width + 2, _MIN_WIDTH), _MAX_WIDTH)
        sheet.column_dimensions[column_letters(column)].width = float(wanted)
