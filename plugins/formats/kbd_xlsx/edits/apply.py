"""Operations applied in order, all or nothing: the file is written when all went through."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from kbd.formats import Applied, FocusHint, Source
from kbd.office.operations import OperationTable, apply_in_order
from kbd.opc.package import Package
from kbd.sheets.areas import Area, column_number, parse_area, parse_cell
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.categories import summarize_by_category
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.lines import delete_columns, delete_rows, insert_columns, insert_rows
from kbd_xlsx.edits.reach import reach_after
from kbd_xlsx.edits.row_search import delete_rows_where
from kbd_xlsx.edits.sheets import (
    delete_sheet,
    filter_rows,
    freeze_panes,
    merge_cells,
    set_column_widths,
    set_row_heights,
    unmerge_cells,
)
from kbd_xlsx.operations import (
    AutoFilter,
    ClearRange,
    DeleteColumns,
    DeleteRows,
    DeleteRowsWhere,
    DeleteSheet,
    EnsureSheet,
    FreezePanes,
    InsertColumns,
    InsertRows,
    MergeCells,
    SetCells,
    SetColumnWidths,
    SetRange,
    SetRowHeights,
    SummarizeByCategory,
    UnmergeCells,
)
from kbd_xlsx.workbook import SUFFIXES

__all__ = ["apply"]


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        SUFFIXES.type_of_new(target.name)
        return _applied(BookEdit.blank(target.name), None, operations, target)
    with Package(source) as package:
        book = BookEdit.opened(package)
        book.fit(target.name)
        return _applied(book, source, operations, target)


def _applied(
    book: BookEdit, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
) -> Applied:
    writer = CellWriter(book)
    changed = apply_in_order(operations, _table(book, writer, target), partial(_prepare, book))
    # This comes after all operations, so that widths which any of them set are left alone.
    writer.fit_dates()
    book.save(target)
    focus = _focus(operations)
    if focus is not None:
        # As the workbook writes it: operations may write it in other capitals, or delete it later.
        title = book.find(focus.sheet or "")
        focus = None if title is None else msgspec.structs.replace(focus, sheet=title)
    reach = reach_after(book, source)
    return Applied(len(changed), changed, book.warnings, *reach, focus, tuple(book.notices.told))


def _focus(operations: tuple[msgspec.Struct, ...]) -> FocusHint | None:
    """Return the first cell of the last operation that names cells, else the last one's sheet."""
    hint = None
    for operation in operations:
        sheet, area = getattr(operation, "sheet", ""), getattr(operation, "range", "")
        match operation:
            case SetCells(cells=(first, *_)):
                hint = _cell_focus(sheet, first.cell)
            case SetRange(start=start):
                hint = _cell_focus(sheet, start)
            case InsertRows(row=row) | DeleteRows(row=row):
                hint = FocusHint(sheet=sheet, row_start=row - 1, col_start=0)
            case InsertColumns(column=column) | DeleteColumns(column=column):
                place = column_number(column.strip()) - 1
                hint = FocusHint(sheet=sheet, row_start=0, col_start=place)
            case DeleteSheet():
                if hint is not None and _is_same(hint.sheet, sheet):
                    hint = None
            case _ if not sheet:
                continue
            case _ if area:
                found = parse_area(area, Area(1, 1, 1, 1))
                hint = FocusHint(sheet=sheet, row_start=found.top - 1, col_start=found.left - 1)
            case _ if hint is None or hint.row_start is None or not _is_same(hint.sheet, sheet):
                hint = FocusHint(sheet=sheet)
    return hint


def _is_same(one: str | None, other: str) -> bool:
    # A workbook has no two sheets whose names differ in capitals only, so operations may.
    return one is not None and one.casefold() == other.casefold()


def _cell_focus(sheet: str, cell: str) -> FocusHint:
    row, column = parse_cell(cell)
    return FocusHint(sheet=sheet, row_start=row - 1, col_start=column - 1)


def _table(book: BookEdit, writer: CellWriter, target: Path) -> OperationTable:
    """Return what applies each operation to a workbook."""
    return {
        SetCells: writer.set_cells,
        SetRange: writer.set_range,
        ClearRange: writer.clear_range,
        EnsureSheet: partial(_ensure_sheet, book),
        InsertRows: partial(insert_rows, book),
        DeleteRows: partial(delete_rows, book),
        InsertColumns: partial(_with_widths, book, writer, insert_columns),
        DeleteColumns: partial(_with_widths, book, writer, delete_columns),
        DeleteRowsWhere: partial(delete_rows_where, book),
        DeleteSheet: partial(delete_sheet, book),
        SummarizeByCategory: partial(summarize_by_category, book, target=target),
        SetColumnWidths: partial(set_column_widths, book),
        SetRowHeights: partial(set_row_heights, book),
        FreezePanes: partial(freeze_panes, book),
        MergeCells: partial(merge_cells, book),
        UnmergeCells: partial(unmerge_cells, book),
        AutoFilter: partial(filter_rows, book),
    }


def _prepare(book: BookEdit, operation: Any) -> None:
    """Make the sheet of an operation, in a new workbook."""
    # In a workbook that there is a misspelt sheet must not appear; in a new one it may.
    if book.is_new and not isinstance(operation, DeleteSheet):
        book.ensure(operation.sheet)


def _with_widths(
    book: BookEdit,
    writer: CellWriter,
    apply_to: Callable[[BookEdit, Any], str],
    operation: InsertColumns | DeleteColumns,
) -> str:
    # Widths that dates need are of columns as they are before some move.
    writer.fit_dates()
    return apply_to(book, operation)


def _ensure_sheet(book: BookEdit, operation: EnsureSheet) -> str:
    made = book.ensure(operation.sheet)
    return f"{book.title(operation.sheet)}: {'new sheet' if made else 'was there'}"
