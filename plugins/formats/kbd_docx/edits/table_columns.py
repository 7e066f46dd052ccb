"""Operations on the columns of tables, and on merged cells.

Rows of one table may be cut at different columns: a cell that goes over the place of a new column
becomes wider, one that goes beyond deleted ones narrower.
"""

from collections.abc import Sequence

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import PARAGRAPH, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.likeness import alike_cell
from kbd_docx.edits.removal import check_deletable, describe_losses, remove_content
from kbd_docx.edits.settings import put_setting, settings_of, take_settings
from kbd_docx.edits.table_grid import CellGrid, GridCell, small_number
from kbd_docx.edits.table_lines import (
    check_whole,
    drop_empty_controls,
    has_content,
    move_content,
    write_text,
)
from kbd_docx.edits.texts import cell_text
from kbd_docx.edits.widths import column_widths, scale_cells, set_grid, text_width, twips
from kbd_docx.operations import (
    Cell,
    DeleteTableColumns,
    InsertTableColumns,
    MergeTableCells,
    SplitTableCell,
)
from kbd_docx.operations.tables import MAX_COLUMNS

__all__ = [
    "delete_table_columns",
    "insert_table_columns",
    "merge_table_cells",
    "split_table_cell",
]


def insert_table_columns(edit: DocumentEdit, operation: InsertTableColumns) -> str:
    """Put columns into a table; a table that would become wider than the text keeps its width.

    Raises:
        ValidationFailed: There is no such table or place, or a text has no cell of its own.
    """
    table = edit.body.table(operation.table)
    grid = CellGrid(table)
    at, there, count = operation.at, grid.column_count, len(operation.columns)
    if at > there or not there:
        raise ValidationFailed(
            f"column {at} cannot be inserted; the table has {there} columns, so that the last "
            f"place is {there}"
        )
    if there + count > MAX_COLUMNS:
        raise ValidationFailed(f"a table has at most {MAX_COLUMNS} columns; this one has {there}")
    for column in operation.columns:
        if len(column) > len(grid.rows):
            raise ValidationFailed(
                f"a column has {len(column)} texts; the table has {len(grid.rows)} rows"
            )
    like = operation.like if operation.like is not None else max(at - 1, 0)
    grid.check_column(like)
    for row in range(len(grid.rows)):
        check_whole(grid.cells(row), row)
    widths = column_widths(grid)
    for row in range(len(grid.rows)):
        texts = [column[row] if row < len(column) else None for column in operation.columns]
        _insert_into_row(edit, grid, row, (at, like, widths[like]), texts)
    grid.forget()
    _fit(edit, grid, [*widths[:at], *([widths[like]] * count), *widths[at:]], sum(widths))
    edit.warn_if_in_field(table)
    many = f"column {at}" if count == 1 else f"columns {at}-{at + count - 1}"
    return f"table {operation.table}: {many} new"


def _insert_into_row(
    edit: DocumentEdit, grid: CellGrid, row: int, place: tuple[int, int, int], texts: Sequence[Cell]
) -> None:
    at, like, width = place
    cells, count = grid.cells(row), len(texts)
    over = next((cell for cell in cells if cell.start < at < cell.end), None)
    element = grid.rows[row]
    start, end = grid.row_start(row), cells[-1].end if cells else grid.row_start(row)
    if over is not None or not cells or at < start or at > end or (at == 0 and start):
        if any(map(cell_text, texts)):
            raise ValidationFailed(
                f"row {row} has no cell of its own in the new column: a merged cell goes over it, "
                "or the row does not reach there; leave its text out (null)"
            )
        if over is not None:
            _set_span(over, over.span + count)
            _widen(over.element.find(f"{W}tcPr/{W}tcW"), width * count)
        elif at <= start:
            _leave_out(element, "gridBefore", start + count)
        elif small_number(element.find(f"{W}trPr/{W}gridAfter")):
            _leave_out(element, "gridAfter", grid.row_end(row) - end + count)
        return
    beside = next((cell for cell in cells if cell.start <= like < cell.end), None) or (
        min(cells, key=lambda cell: abs(cell.start - like))
    )
    behind = next((cell for cell in cells if cell.start >= at), None)
    last = cells[-1].element
    for text in texts:
        made = alike_cell(beside.element)
        take_settings(made.find(f"{W}tcPr"), "gridSpan")
        if beside.span > 1:
            put_setting(settings_of(made), "tcW", w=width, type="dxa")
        write_text(edit, made, text, beside.element)
        if behind is not None:
            _outside(behind.element, element, is_first=True).addprevious(made)
        else:
            _outside(last, element, is_first=False).addnext(made)
            last = made


def _outside(cell: etree._Element, row: etree._Element, *, is_first: bool) -> etree._Element:
    """Return the content control that a cell begins or ends, the outermost one, or the cell."""
    found = cell
    while (around := found.getparent()) is not None and around is not row:
        siblings = found.itersiblings(preceding=is_first)
        if any(each.tag in (f"{W}tc", f"{W}sdt", f"{W}customXml") for each in siblings):
            break
        found = around
    return found


def _widen(width: etree._Element | None, more: int) -> None:
    if width is not None and width.get(f"{W}type", "dxa") == "dxa" and twips(width, "w"):
        width.set(f"{W}w", str(twips(width, "w") + more))


def _leave_out(row: etree._Element, name: str, count: int) -> None:
    settings = settings_of(row)
    if count:
        put_setting(settings, name, val=count)
    else:
        take_settings(settings, name, "wBefore" if name == "gridBefore" else "wAfter")


def _set_span(cell: GridCell, span: int) -> None:
    settings = settings_of(cell.element)
    if span > 1:
        put_setting(settings, "gridSpan", val=span)
    else:
        take_settings(settings, "gridSpan")


def _fit(edit: DocumentEdit, grid: CellGrid, widths: Sequence[int], before: int) -> None:
    """Fit a table with new columns into the text, or into its own width if that was more."""
    blocks = edit.body.blocks
    number = sum(each.tag == PARAGRAPH for each in blocks[: blocks.index(grid.table)])
    room = max(text_width(edit.body.element, number).twips, before)
    total = sum(widths)
    factor = min(1.0, room / total)
    set_grid(grid.table, [int(width * factor) for width in widths])
    scale_cells(grid, factor)
    width = grid.table.find(f"{W}tblPr/{W}tblW")
    if width is not None and width.get(f"{W}type", "dxa") == "dxa" and twips(width, "w"):
        width.set(f"{W}w", str(int(total * factor)))


def delete_table_columns(edit: DocumentEdit, operation: DeleteTableColumns) -> str:
    """Delete columns of a table and tell what went with them.

    Raises:
        ValidationFailed: There are not so many, or a row would be left without a cell.
    """
    table = edit.body.table(operation.table)
    grid = CellGrid(table)
    first, behind = operation.first, operation.first + operation.count
    grid.check_column(first)
    grid.check_column(behind - 1)
    if operation.count == grid.column_count:
        raise ValidationFailed("a table needs a column; leave one")
    widths = column_widths(grid)
    deleted = _columns_cells(grid, first, behind)
    check_deletable(deleted, "cells")
    if lost := describe_losses(deleted):
        edit.warnings.warn(f"With the deleted columns went {lost}.")
    edit.let_go(deleted)
    staying = next(
        (cell.element for row in range(len(grid.rows)) for cell in grid.cells(row)
         if cell.element not in set(deleted)), None,
    )  # fmt: skip
    _narrow(grid, first, behind, widths)
    anchor = next(staying.iter(PARAGRAPH), None) if staying is not None else None
    parents = [(each.getparent(), next(each.iterancestors(f"{W}tr"))) for each in deleted]
    remove_content(deleted, anchor)
    for parent, row in parents:
        if parent is not None:
            drop_empty_controls(edit, parent, row, f"{W}tc")
    left = [*widths[:first], *widths[behind:]]
    set_grid(table, left)
    width = table.find(f"{W}tblPr/{W}tblW")
    if width is not None and width.get(f"{W}type", "dxa") == "dxa" and twips(width, "w"):
        width.set(f"{W}w", str(sum(left)))
    many = f"column {first}" if operation.count == 1 else f"columns {first}-{behind - 1}"
    return f"table {operation.table}: {many} deleted"


def _columns_cells(grid: CellGrid, first: int, behind: int) -> list[etree._Element]:
    """Return the cells that lie in columns and not beyond them."""
    deleted = []
    for row in range(len(grid.rows)):
        cells = grid.cells(row)
        check_whole(cells, row)
        own = [cell.element for cell in cells if first <= cell.start and cell.end <= behind]
        if cells and len(own) == len(cells):
            raise ValidationFailed(
                f"row {row} would be left without a cell; delete that row first, or leave a column"
            )
        deleted += own
    return deleted


def _narrow(grid: CellGrid, first: int, behind: int, widths: Sequence[int]) -> None:
    """Take columns from the cells that go beyond them, and from what rows leave out."""
    for row in range(len(grid.rows)):
        element = grid.rows[row]
        start, end = grid.row_start(row), grid.row_end(row)
        cells = grid.cells(row)
        for cell in cells:
            common = range(max(cell.start, first), min(cell.end, behind))
            if common and len(common) < cell.span:
                _set_span(cell, cell.span - len(common))
                taken = sum(widths[column] for column in common)
                _widen(cell.element.find(f"{W}tcPr/{W}tcW"), -taken)
        if start and first < start:
            _leave_out(element, "gridBefore", start - (min(start, behind) - first))
        last = cells[-1].end if cells else start
        if end > last and behind > last:
            over = min(end, behind) - max(last, first)
            _leave_out(element, "gridAfter", end - last - max(over, 0))


def merge_table_cells(edit: DocumentEdit, operation: MergeTableCells) -> str:
    """Make one cell of several; what they hold stands in it one below the other.

    Raises:
        ValidationFailed: There is no such table or cell, or other merged cells are in the way.
    """
    grid = CellGrid(edit.body.table(operation.table))
    top, bottom = operation.row, operation.to_row
    left, behind = operation.col, operation.to_col + 1
    grid.place(top, left)
    grid.check_row(bottom)
    if bottom < top or behind <= left:
        raise ValidationFailed("the range ends before it begins: to_row and to_col are the last")
    rows = [_cells_within(grid, row, left, behind) for row in range(top, bottom + 1)]
    _check_vertical(grid, rows, top, bottom)
    if len(rows) == 1 and len(rows[0]) == 1:
        raise ValidationFailed("that is one cell already")
    if len(rows) > 1 and any(_is_controlled(cells[0].element) for cells in rows):
        raise ValidationFailed(
            "a cell of the range stands in a content control of its own, which a merge over rows "
            "would break; merge within one row, or choose other cells"
        )
    check_deletable([cell.element for cells in rows for cell in cells[1:]], "cells")
    target = rows[0][0].element
    for place, cells in enumerate(rows):
        _merge_row(edit, cells, target, behind - left)
        if len(rows) > 1:
            value = {"val": "restart"} if not place else {}
            put_setting(settings_of(cells[0].element), "vMerge", **value)
        else:
            take_settings(cells[0].element.find(f"{W}tcPr"), "vMerge")
    return (
        f"table {operation.table}: row {top}, col {left} merged to row {bottom}, col {behind - 1}"
    )


def _is_controlled(cell: etree._Element) -> bool:
    parent = cell.getparent()
    return parent is not None and parent.tag != f"{W}tr"


def _cells_within(grid: CellGrid, row: int, left: int, behind: int) -> list[GridCell]:
    cells = grid.cells(row)
    check_whole(cells, row)
    found = [cell for cell in cells if left <= cell.start and cell.end <= behind]
    if not found or found[0].start != left or found[-1].end != behind:
        starts = ", ".join(str(cell.start) for cell in cells)
        raise ValidationFailed(
            f"the range cuts through a cell, or leaves the table, in row {row}; its cells begin at "
            f"{starts} and end before {cells[-1].end if cells else 0}"
        )
    return found


def _check_vertical(
    grid: CellGrid, rows: Sequence[Sequence[GridCell]], top: int, bottom: int
) -> None:
    for place, cells in enumerate(rows):
        row = top + place
        for cell in cells:
            start, end = grid.merge_start(row, cell), grid.merge_end(row, cell)
            if cell.vertical and (start < top or end > bottom):
                raise ValidationFailed(
                    f"a merged cell at row {start}, col {cell.start} goes to row {end}, beyond the "
                    "range; take it in whole, or split it first"
                )


def _merge_row(
    edit: DocumentEdit, cells: Sequence[GridCell], target: etree._Element, span: int
) -> None:
    """Make one cell of a row's cells; what they hold goes into the target."""
    first = cells[0]
    total = sum(twips(width, "w") for cell in cells
                if (width := cell.element.find(f"{W}tcPr/{W}tcW")) is not None)  # fmt: skip
    width = first.element.find(f"{W}tcPr/{W}tcW")
    for cell in cells:
        if cell.element is not target:
            move_content(cell.element, target)
    _set_span(first, span)
    if width is not None and width.get(f"{W}type", "dxa") == "dxa" and total:
        width.set(f"{W}w", str(total))
    row = next(first.element.iterancestors(f"{W}tr"))
    for cell in cells[1:]:
        parent = cell.element.getparent()
        assert parent is not None, "a cell is in a row"
        remove_content([cell.element], next(target.iter(PARAGRAPH), None))
        drop_empty_controls(edit, parent, row, f"{W}tc")


def split_table_cell(edit: DocumentEdit, operation: SplitTableCell) -> str:
    """Make the cells of a merged one again; what it holds stays in the first.

    Raises:
        ValidationFailed: There is no such table or cell, or it is not merged.
    """
    grid = CellGrid(edit.body.table(operation.table))
    cell = grid.place(operation.row, operation.col)
    check_whole(grid.cells(operation.row), operation.row)
    end = grid.merge_end(operation.row, cell)
    if cell.span == 1 and end == operation.row:
        raise ValidationFailed(f"row {operation.row}, col {operation.col} is not a merged cell")
    widths = column_widths(grid)
    for row in range(operation.row, end + 1):
        found = grid.at(row, cell.start)
        assert found is not None, "a merge has a cell in each of its rows"
        take_settings(found.element.find(f"{W}tcPr"), "vMerge")
        if row > operation.row and has_content(found.element):
            edit.warnings.warn(
                f"Row {row}, col {cell.start} held something that the merged cell covered; it is "
                "shown now."
            )
        _split_row(found, widths)
    count = cell.span * (end - operation.row + 1)
    return f"table {operation.table}: row {operation.row}, col {operation.col} split into {count}"


def _split_row(cell: GridCell, widths: Sequence[int]) -> None:
    """Cut a cell at the columns that it goes over."""
    last = cell.element
    if cell.span == 1:
        return
    take_settings(cell.element.find(f"{W}tcPr"), "gridSpan")
    for column in range(cell.start, cell.end):
        made = last
        if column > cell.start:
            made = alike_cell(cell.element)
            last.addnext(made)
            last = made
        put_setting(settings_of(made), "tcW", w=widths[column], type="dxa")
