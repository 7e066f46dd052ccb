"""Operations applied in order, all or nothing: the file is written when all went through."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.formats import Applied, Source
from kbd.office.operations import OperationTable, apply_in_order
from kbd.opc.package import Package
from kbd_xlsx.edits.book import BookEdit, lacks_results
from kbd_xlsx.edits.categories import summarize_by_category
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.chart_points import keep_charts
from kbd_xlsx.edits.charts import ChartWriter
from kbd_xlsx.edits.focus import find_focus
from kbd_xlsx.edits.images import add_image, delete_image
from kbd_xlsx.edits.lines import delete_columns, delete_rows, insert_columns, insert_rows
from kbd_xlsx.edits.objects.comments import set_comment
from kbd_xlsx.edits.objects.conditional_formats import add_rule
from kbd_xlsx.edits.objects.hyperlinks import set_hyperlink
from kbd_xlsx.edits.objects.names import define_name, delete_name
from kbd_xlsx.edits.objects.pivots import refresh_pivot
from kbd_xlsx.edits.objects.print_setup import set_print
from kbd_xlsx.edits.objects.protection import protect_sheet
from kbd_xlsx.edits.objects.removal import clear_objects
from kbd_xlsx.edits.objects.tables import add_table, resize_table
from kbd_xlsx.edits.objects.validations import set_data_validation
from kbd_xlsx.edits.ranges.copies import copy_range
from kbd_xlsx.edits.ranges.fill import fill_formula
from kbd_xlsx.edits.ranges.formatting import format_range
from kbd_xlsx.edits.ranges.replacement import replace_text
from kbd_xlsx.edits.ranges.row_sort import sort_range
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
from kbd_xlsx.edits.tabs.duplicates import copy_sheet
from kbd_xlsx.edits.tabs.order import hide_sheet, move_sheet
from kbd_xlsx.edits.tabs.renames import rename_sheet
from kbd_xlsx.edits.templates.placeholders import fill_template
from kbd_xlsx.operations import (
    AddChart,
    AddImage,
    AddSheetTable,
    AutoFilter,
    ClearObjects,
    ClearRange,
    CopyRange,
    CopySheet,
    DefineName,
    DeleteChart,
    DeleteColumns,
    DeleteImage,
    DeleteName,
    DeleteRows,
    DeleteRowsWhere,
    DeleteSheet,
    EnsureSheet,
    FillBookTemplate,
    FillFormula,
    FormatRange,
    FreezePanes,
    HideSheet,
    InsertColumns,
    InsertRows,
    MergeCells,
    MoveSheet,
    ProtectSheet,
    Recalculate,
    RefreshPivot,
    RenameSheet,
    ReplaceCellText,
    ResizeSheetTable,
    SetCells,
    SetChart,
    SetColumnWidths,
    SetComment,
    SetConditionalFormat,
    SetDataValidation,
    SetHyperlink,
    SetPrint,
    SetRange,
    SetRowHeights,
    SortRange,
    SummarizeByCategory,
    UnmergeCells,
)
from kbd_xlsx.parts.markup import EVERYWHERE
from kbd_xlsx.workbook import SUFFIXES

__all__ = ["apply"]

_KEEP_TEXTS = (
    FormatRange, FreezePanes, HideSheet, InsertColumns, InsertRows, MoveSheet, ProtectSheet,
    Recalculate, SetColumnWidths, SetPrint, SetRowHeights, SortRange, UnmergeCells,
)  # fmt: skip
"""Operations that take no text of a cell away, unless it is the result of a formula."""


def apply(
    source: Source | None,
    operations: tuple[msgspec.Struct, ...],
    target: Path,
    files: Mapping[str, Source] = MappingProxyType({}),
) -> Applied:
    """Apply operations and write the result.

    Args:
        source: The workbook; None for a new one.
        operations: The records, in order.
        target: Where the result goes.
        files: The other files that they name, by their paths.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        SUFFIXES.type_of_new(target.name)
        return _applied(BookEdit.blank(target.name), None, operations, target, files)
    with Package(source) as package:
        book = BookEdit.opened(package)
        book.fit(target.name)
        return _applied(book, source, operations, target, files)


def _applied(
    book: BookEdit,
    source: Source | None,
    operations: tuple[msgspec.Struct, ...],
    target: Path,
    files: Mapping[str, Source],
) -> Applied:
    writer = CellWriter(book)
    keep_charts(book)
    changed = apply_in_order(
        operations, _table(book, writer, target, files), partial(_prepare, book)
    )
    # This comes after all operations, so that widths which any of them set are left alone.
    writer.fit_dates()
    writer.warn_of_figures()
    book.save(target, only_results=all(isinstance(each, _KEEP_TEXTS) for each in operations))
    focus = find_focus(operations)
    if focus is not None:
        # As the workbook writes it: operations may write it in other capitals, or delete it later.
        title = book.find(focus.sheet or "")
        focus = None if title is None else msgspec.structs.replace(focus, sheet=title)
    reach = reach_after(book, source)
    written, results = book.results.open_ranges()
    return Applied(
        len(changed), changed, book.warnings, *reach, focus, tuple(book.notices.told),
        open_results=results, formulas_written=written, lacks_results=lacks_results(book),
    )  # fmt: skip


def _table(
    book: BookEdit, writer: CellWriter, target: Path, files: Mapping[str, Source]
) -> OperationTable:
    """Return what applies each operation to a workbook."""
    charts = ChartWriter(book)
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
        Recalculate: partial(_recalculate, book),
        FormatRange: partial(format_range, book),
        FillFormula: partial(fill_formula, book, writer),
        CopyRange: partial(copy_range, book),
        SortRange: partial(sort_range, book),
        ReplaceCellText: partial(replace_text, book, writer),
        RenameSheet: partial(rename_sheet, book),
        MoveSheet: partial(move_sheet, book),
        CopySheet: partial(copy_sheet, book),
        HideSheet: partial(hide_sheet, book),
        AddSheetTable: partial(add_table, book),
        ResizeSheetTable: partial(resize_table, book),
        DefineName: partial(define_name, book),
        DeleteName: partial(delete_name, book),
        SetConditionalFormat: partial(add_rule, book),
        SetDataValidation: partial(set_data_validation, book),
        SetHyperlink: partial(set_hyperlink, book, writer),
        SetComment: partial(set_comment, book),
        ClearObjects: partial(clear_objects, book),
        SetPrint: partial(set_print, book),
        ProtectSheet: partial(protect_sheet, book),
        RefreshPivot: partial(refresh_pivot, book),
        AddChart: charts.add,
        SetChart: charts.change,
        DeleteChart: charts.delete,
        AddImage: partial(add_image, book, files=files),
        DeleteImage: partial(delete_image, book),
        FillBookTemplate: partial(fill_template, book, writer, files=files),
    }


def _prepare(book: BookEdit, operation: Any) -> None:
    """Make the sheet of an operation, in a new workbook."""
    # In a workbook that there is a misspelt sheet must not appear; in a new one it may.
    names_old = isinstance(operation, DeleteSheet | RenameSheet | MoveSheet | CopySheet | HideSheet)
    sheet = getattr(operation, "sheet", None)
    if book.is_new and sheet and not names_old:
        book.ensure(sheet)


def _recalculate(book: BookEdit, operation: Recalculate) -> str:
    titles = [title for title, _ in book.worksheets()]
    if operation.sheet is not None:
        titles = [book.title(operation.sheet)]
    for title in titles:
        # Old results stay where no new one is known.
        book.results.open[title] = [EVERYWHERE]
    return f"{', '.join(titles)}: calculated"


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
