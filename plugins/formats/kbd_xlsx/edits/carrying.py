"""Carries operations out, in order, all or nothing: the file is written when all went through."""

from pathlib import Path
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd.opc.package import Package
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.categories import summarize_by_category
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.layout import (
    filter_rows,
    freeze_panes,
    merge_cells,
    set_column_widths,
    set_row_heights,
    unmerge_cells,
)
from kbd_xlsx.edits.removal import delete_sheet
from kbd_xlsx.operations import (
    AutoFilter,
    ClearRange,
    DeleteSheet,
    EnsureSheet,
    FreezePanes,
    MergeCells,
    SetCells,
    SetColumnWidths,
    SetRange,
    SetRowHeights,
    SummarizeByCategory,
    UnmergeCells,
)
from kbd_xlsx.suffixes import check_new_name

__all__ = ["apply"]

Contents = SetCells | SetRange | ClearRange
Layout = SetColumnWidths | SetRowHeights | FreezePanes | MergeCells | UnmergeCells | AutoFilter
Sheets = EnsureSheet | DeleteSheet | SummarizeByCategory


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        check_new_name(target.name)
        return _applied(BookEdit.blank(target.name), operations, target)
    with Package(source) as package:
        book = BookEdit.opened(package)
        book.fit(target.suffix)
        return _applied(book, operations, target)


def _applied(book: BookEdit, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    writer = CellWriter(book)
    changed = tuple(_carried_out(book, writer, operation, target) for operation in operations)
    writer.fit_dates()
    book.save(target)
    return Applied(len(changed), changed, book.warnings, book.notices.external)


def _carried_out(
    book: BookEdit, writer: CellWriter, operation: msgspec.Struct, target: Path
) -> str:
    """Apply one operation and return what it changed."""
    if not isinstance(operation, Contents | Layout | Sheets):
        raise ValidationFailed(f"{type(operation).__name__} is not built yet.")
    if book.is_new and not isinstance(operation, DeleteSheet):
        # In a workbook that there is a misspelt sheet must not appear; in a new one it may.
        book.ensure(operation.sheet)
    match operation:
        case SetCells():
            return writer.set_cells(operation)
        case SetRange():
            return writer.set_range(operation)
        case ClearRange():
            return writer.clear_range(operation)
        case EnsureSheet():
            made = book.ensure(operation.sheet)
            return f"{book.title(operation.sheet)}: {'new sheet' if made else 'was there'}"
        case DeleteSheet():
            return delete_sheet(book, operation)
        case SummarizeByCategory():
            return summarize_by_category(book, operation, target)
        case _:
            return _laid_out(book, operation)


def _laid_out(book: BookEdit, operation: Layout) -> str:
    match operation:
        case SetColumnWidths():
            return set_column_widths(book, operation)
        case SetRowHeights():
            return set_row_heights(book, operation)
        case FreezePanes():
            return freeze_panes(book, operation)
        case MergeCells():
            return merge_cells(book, operation)
        case UnmergeCells():
            return unmerge_cells(book, operation)
        case AutoFilter():
            return filter_rows(book, operation)
        case other:
            assert_never(other)
