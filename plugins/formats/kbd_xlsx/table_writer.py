"""Writes the rows of a table into a sheet: of a new workbook, or of one that keeps all else."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, get_args

import msgpack

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Column, ColumnType, Placement, Source, Written
from kbd.opc.package import Package
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.references import MAX_COLUMN, Area, cell_name
from kbd_xlsx.rows.neighbours import AppendPlace, fit_tables
from kbd_xlsx.rows.placement import RowPlacing
from kbd_xlsx.rows.row_types import TypedRows
from kbd_xlsx.rows.spots import Spot, prepare_spot
from kbd_xlsx.rows.widths import ColumnWidths
from kbd_xlsx.workbook import SUFFIXES

__all__ = ["write_table"]

_TYPES: frozenset[str] = frozenset(get_args(ColumnType))


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows as the placement says.

    Raises:
        ValidationFailed: There is no such sheet and none may be made, the rows do not fit, or
            they cannot be written without a loss.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    with ExitStack() as stack:
        stream = iter(
            msgpack.Unpacker(stack.enter_context(rows.open("rb")), raw=False, strict_map_key=False)
        )
        columns = _columns(stream)
        if source is None or placement.mode == "new_file":
            SUFFIXES.type_of_new(target.name)
            package, book = None, BookEdit.blank(target.name)
        else:
            package = stack.enter_context(Package(source))
            book = BookEdit.opened(package)
            book.fit(target.name)
        is_made = _ensure(book, placement)
        spot = prepare_spot(book, package, placement, columns)
        return _filled(book, placement.sheet, spot, columns, stream, target, is_made=is_made)


def _columns(stream: Iterator[Any]) -> list[Column]:
    first = next(stream, None)
    if first is None:
        raise FileReadFailed("The stream of rows is empty; it begins with its columns.")
    if len(first) > MAX_COLUMN:
        raise ValidationFailed(f"{len(first):,} columns do not fit into a sheet.")
    return [Column(str(name), kind if kind in _TYPES else None) for name, kind in first]


def _ensure(book: BookEdit, placement: Placement) -> bool:
    """Make the sheet if it is missing and may be made, and say whether it was made."""
    if book.is_new or placement.create_sheet_if_missing:
        return book.ensure(placement.sheet)
    book.title(placement.sheet)  # raises, naming near ones
    return False


def _filled(
    book: BookEdit,
    name: str,
    spot: Spot,
    columns: list[Column],
    stream: Iterator[Any],
    target: Path,
    *,
    is_made: bool,
) -> Written:
    """Put the rows at their spot and write the workbook."""
    if spot.left + len(columns) - 1 > MAX_COLUMN:
        raise ValidationFailed(f"{len(columns):,} columns do not fit from there on.")
    sheet = book.sheet(name)
    typed = TypedRows(from_1904=book.book.from_1904)
    placing = RowPlacing(book, sheet, columns, typed, spot.top, spot.left)
    widths = ColumnWidths(columns)
    has_header = spot.has_header and bool(columns)
    if has_header:
        placing.header()
    count = 0
    for values in stream:
        placing.row(values)
        widths.see(values)
        count += 1
    if is_made:
        widths.set(sheet, spot.left)
        if has_header and (spot.top, spot.left) == (1, 1):
            # Keeps the names in view, and says that they are names.
            sheet.freeze(1, 0)
    area = None
    if columns and placing.next_row > spot.top:
        area = Area(spot.top, spot.left, placing.next_row - 1, spot.left + len(columns) - 1)
    names = [column.name for column in columns]
    title = book.title(name)
    landing = AppendPlace(title, names, area, has_header, spot.emptied, spot.joined)
    notes = fit_tables(book, landing)
    book.save(target)
    warnings = (*spot.warnings, *notes, *typed.warnings(), *book.warnings)
    return Written(_range(area), count, len(columns), warnings)


def _range(area: Area | None) -> str:
    """Return a range with both ends, even if it is one cell; "" if there is none."""
    if area is None:
        return ""
    return f"{cell_name(area.top, area.left)}:{cell_name(area.bottom, area.right)}"
