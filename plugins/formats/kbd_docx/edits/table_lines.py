"""Operations on the rows of tables, and what all operations on their lines have in common.

A vertical merge begins in one cell and goes on in the ones below, which hold nothing that programs
show (ECMA-376, part 1, 17.4.84). Rows that come into one go on with it; where the row goes in which
one begins, it begins in the next row, with what it held.
"""

from collections.abc import Iterator, Sequence

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import PARAGRAPH, W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.likeness import alike_cell, alike_row, first_paragraph, run_properties
from kbd_docx.edits.removal import check_deletable, describe_losses, is_range_mark, remove_content
from kbd_docx.edits.settings import put_setting, settings_of, take_settings
from kbd_docx.edits.table_grid import ROW_WRAPPERS, CellGrid, GridCell
from kbd_docx.edits.texts import cell_text
from kbd_docx.operations import Cell, DeleteTableRows, InsertTableRows

__all__ = [
    "check_whole",
    "delete_table_rows",
    "drop_empty_controls",
    "has_content",
    "insert_table_rows",
    "move_content",
    "write_text",
]

_SETTINGS = f"{W}tcPr"


def insert_table_rows(edit: DocumentEdit, operation: InsertTableRows) -> str:
    """Put rows into a table.

    Raises:
        ValidationFailed: There is no such table or place, or a text has no cell of its own.
    """
    grid = CellGrid(edit.body.table(operation.table))
    at, count = operation.at, len(grid.rows)
    if at > count or not count:
        raise ValidationFailed(
            f"row {at} cannot be inserted; the table has {count} rows, so that the last place is "
            f"{count}"
        )
    like = _model(grid, operation)
    grid.check_row(like)
    _check_merges(grid, at, like)
    made = [_new_row(edit, grid, at, like, texts) for texts in operation.rows]
    if _repeats(grid, like) and at < _header_count(grid):
        for row in made:
            put_setting(settings_of(row), "tblHeader")
    _put_rows(grid, at, made)
    edit.warn_if_in_field(made[0])
    many = f"rows {at}-{at + len(made) - 1}" if len(made) > 1 else f"row {at}"
    return f"table {operation.table}: {many} new"


def _model(grid: CellGrid, operation: InsertTableRows) -> int:
    """Return the row that new ones look like: the one above, but not one that names columns."""
    at = operation.at
    if operation.like is not None:
        return operation.like
    if at == 0 or (at < len(grid.rows) and _repeats(grid, at - 1) and not _repeats(grid, at)):
        return at
    return at - 1


def _repeats(grid: CellGrid, row: int) -> bool:
    return grid.rows[row].find(f"{W}trPr/{W}tblHeader") is not None


def _header_count(grid: CellGrid) -> int:
    """Return how many rows at the top come again on each page."""
    return next((row for row in range(len(grid.rows)) if not _repeats(grid, row)), len(grid.rows))


def _check_merges(grid: CellGrid, at: int, like: int) -> None:
    """Refuse where a merge goes over a place and the new rows have no cell for it."""
    own = {(cell.start, cell.span) for cell in grid.cells(like)}
    for cell in grid.cells(at) if at < len(grid.rows) else ():
        if cell.vertical == "continue" and (cell.start, cell.span) not in own:
            raise ValidationFailed(
                f"a merged cell in col {cell.start} goes over that place, and row {like} has no "
                f"such cell; choose another row for like, such as {at}"
            )


def _new_row(
    edit: DocumentEdit, grid: CellGrid, at: int, like: int, texts: Sequence[Cell]
) -> etree._Element:
    """Return a row for a place that looks like another row."""
    made = alike_row(grid.rows[like])
    merged = {
        (cell.start, cell.span)
        for cell in (grid.cells(at) if at < len(grid.rows) else ())
        if cell.vertical == "continue"
    }
    given = {column: text for column, text in enumerate(texts) if cell_text(text)}
    for cell in grid.cells(like):
        new = alike_cell(cell.element)
        if (cell.start, cell.span) in merged:
            put_setting(settings_of(new), "vMerge")
        elif cell.horizontal != "continue":
            write_text(edit, new, given.pop(cell.start, None), cell.element)
        made.append(new)
    if given:
        raise ValidationFailed(
            f"the new row has no cell of its own in col {min(given)}; its cells are at "
            f"{listed([str(cell.start) for cell in grid.cells(like)])} (some of them merged)"
        )
    return made


def write_text(edit: DocumentEdit, cell: etree._Element, text: Cell, model: etree._Element) -> None:
    """Write a text into a cell of one paragraph, with the look of another cell's text."""
    first, like = first_paragraph(cell), first_paragraph(model)
    assert first is not None, "a new cell has a paragraph"
    edit.writer.fill(
        first, cell_text(text), None, run_properties(like) if like is not None else None
    )


def _put_rows(grid: CellGrid, at: int, made: Sequence[etree._Element]) -> None:
    """Put rows beside others, outside of a content control that only one side stands in."""
    is_last = at == len(grid.rows)
    found = grid.rows[-1 if is_last else at]
    while (around := found.getparent()) is not None and around is not grid.table:
        if next((each for each in found.itersiblings(preceding=not is_last)
                 if each.tag in (f"{W}tr", *ROW_WRAPPERS)), None) is not None:  # fmt: skip
            break
        found = around
    if is_last:
        for row in reversed(made):
            found.addnext(row)
    else:
        for row in made:
            found.addprevious(row)


def delete_table_rows(edit: DocumentEdit, operation: DeleteTableRows) -> str:
    """Delete rows of a table and tell what went with them.

    Raises:
        ValidationFailed: There are not so many, no row would be left, or something would break.
    """
    grid = CellGrid(edit.body.table(operation.table))
    first, behind = operation.first, operation.first + operation.count
    grid.check_row(first)
    grid.check_row(behind - 1)
    if operation.count == len(grid.rows):
        raise ValidationFailed("a table needs a row; leave one")
    deleted = grid.rows[first:behind]
    check_deletable(deleted, "rows")
    if behind < len(grid.rows):
        _hand_down(edit, grid, first, behind)
    if lost := describe_losses(deleted):
        edit.warnings.warn(f"With the deleted rows went {lost}.")
    edit.let_go(deleted)
    staying = grid.rows[first - 1] if first else grid.rows[behind]
    parents = [parent for each in deleted if (parent := each.getparent()) is not None]
    remove_content(deleted, next(staying.iter(PARAGRAPH), None))
    for parent in parents:
        drop_empty_controls(edit, parent, grid.table, f"{W}tr")
    many = f"row {first}" if operation.count == 1 else f"rows {first}-{behind - 1}"
    return f"table {operation.table}: {many} deleted"


def _hand_down(edit: DocumentEdit, grid: CellGrid, first: int, behind: int) -> None:
    """Let merges that begin in rows that go begin in the row behind them."""
    for cell in grid.cells(behind):
        if cell.vertical != "continue":
            continue
        start = grid.merge_start(behind, cell)
        origin = grid.at(start, cell.start)
        if start < first or start == behind or origin is None:
            continue
        if has_content(cell.element):
            edit.warnings.warn(
                f"A part of a merged cell held something that programs do not show (row {behind}, "
                f"col {cell.start}); it is gone."
            )
        edit.let_go([cell.element])
        for each in [each for each in cell.element if each.tag != _SETTINGS]:
            cell.element.remove(each)
        for each in [each for each in origin.element if each.tag != _SETTINGS]:
            cell.element.append(each)
        origin.element.append(etree.Element(PARAGRAPH))
        below = grid.at(behind + 1, cell.start)
        if below is not None and below.vertical == "continue":
            put_setting(settings_of(cell.element), "vMerge", val="restart")
        else:
            take_settings(settings_of(cell.element), "vMerge")


def has_content(cell: etree._Element) -> bool:
    """Tell whether a cell holds more than paragraphs without anything."""
    return bool(describe_losses([cell])) or any(
        each.text for each in cell.iter(f"{W}t", f"{W}delText")
    )


def move_content(source: etree._Element, target: etree._Element) -> None:
    """Move what a cell holds to the end of another one; paragraphs without anything stay behind.

    The other one's last paragraph goes if it holds nothing, for a cell needs but one.
    """
    if not has_content(source):
        return
    moved = [each for each in source if each.tag != _SETTINGS]
    own = [each for each in target if each.tag != _SETTINGS]
    if not has_content(target):
        for each in own:
            # Marks of ranges that end elsewhere stay.
            if not is_range_mark(each):
                target.remove(each)
    for each in moved:
        target.append(each)
    source.append(etree.Element(PARAGRAPH))
    # A cell ends in a paragraph (ECMA-376, part 1, 17.4.65).
    last = next((each for each in reversed(target) if not is_range_mark(each)), None)
    if last is None or last.tag != PARAGRAPH:
        target.append(etree.Element(PARAGRAPH))


def check_whole(cells: Sequence[GridCell], row: int) -> None:
    """Refuse a row whose cells are merged in the old way, which is not moved."""
    if any(cell.horizontal for cell in cells):
        raise ValidationFailed(
            f"row {row} has cells that are merged in the way of old programs (hMerge); that is not "
            "changed here: merge them anew in a word processor first"
        )


def drop_empty_controls(
    edit: DocumentEdit, parent: etree._Element, top: etree._Element, tag: str
) -> None:
    """Drop the content controls around rows or cells that are left with none."""
    element = parent
    while element is not top and next(_below(element, tag), None) is None:
        holder = element.getparent()
        # It is gone already, with another one that it held.
        if holder is None:
            return
        if element.tag == f"{W}sdt":
            edit.warnings.warn("With what was deleted went a content control.")
            edit.let_go([element])
        for mark in filter(is_range_mark, list(element)):
            element.addprevious(mark)
        holder.remove(element)
        element = holder


def _below(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    return (each for each in element.iter(tag) if each is not element)
