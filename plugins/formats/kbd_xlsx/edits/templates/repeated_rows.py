"""Rows of a template repeated for the records of a list, or taken out for none.

What is below moves down as with `insert_rows`; ranges that end with the rows take the new ones in,
in formulas, charts, names, tables, rules. Merges, heights and looks are copied row by row.
"""

from functools import partial

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.lines import delete_lines, repeat_rows
from kbd_xlsx.edits.ranges.moved_formulas import moved_formula
from kbd_xlsx.edits.ranges.places import check_groups, note_formula, opened_blocks, put_cells
from kbd_xlsx.edits.templates.row_readers import RowGroup, SheetFormulas
from kbd_xlsx.parts.cell_blocks import CellBlocks, LooseCell
from kbd_xlsx.parts.cells import contains
from kbd_xlsx.parts.markup import attribute, with_attributes
from kbd_xlsx.shifting.formulas import FormulaMover
from kbd_xlsx.shifting.line_map import LineMap, SheetMap, map_with_new, map_without

__all__ = ["repeat_group"]

_TRUE = ("1", "true")


def repeat_group(book: BookEdit, group: RowGroup, count: int, formulas: SheetFormulas) -> int:
    """Have rows be there once for each record; return how many rows the sheet has more.

    Args:
        book: The workbook, in which nothing above the rows has moved.
        group: The rows.
        count: How many records there are.
        formulas: The workbook's formulas as they were before any repetition.

    Raises:
        ValidationFailed: They hold an array formula, or the sheet has no room.
    """
    if count == 0:
        return _remove(book, group, formulas)
    if count > 1:
        _repeat(book, group, count)
    return (count - 1) * group.height


def _area(group: RowGroup) -> Area:
    return Area(group.first, 1, group.last, MAX_COLUMN)


def _repeat(book: BookEdit, group: RowGroup, count: int) -> None:
    more = (count - 1) * group.height
    title, blocks = opened_blocks(book, group.title)
    check_groups(blocks, _area(group), title, verb="repeated")
    cells = blocks.cells(_area(group))
    heights = {row: _height(blocks, row) for row in range(group.first, group.last + 1)}
    merges = [each for each in book.sheet(title).merges if contains(_area(group), each)]
    # Formulas of the rows themselves do not take in what is made of them.
    lines = map_with_new(group.last + 1, more, MAX_ROW)
    mover = FormulaMover(SheetMap(title, title, lines, LineMap()), book.titles)
    repeat_rows(book, title, group.first, group.last, more)
    title, blocks = opened_blocks(book, title)
    copied = partial(_copied, book, title, blocks, mover)
    new: dict[int, dict[int, LooseCell | None]] = {}
    for by in range(0, count * group.height, group.height):
        for row, found in cells.items():
            made = {column: copied(cell, (row, column), by) for column, cell in found.items()}
            new[row + by] = {column: cell for column, cell in made.items() if cell is not None}
    put_cells(book, title, blocks, new, [Area(group.first, 1, group.last + more, MAX_COLUMN)])
    sheet = book.sheet(title)
    for by in range(group.height, count * group.height, group.height):
        for each in merges:
            sheet.merge(Area(each.top + by, each.left, each.bottom + by, each.right))
        for row, height in heights.items():
            if height is not None:
                sheet.set_height(row + by, height)


def _copied(
    book: BookEdit,
    title: str,
    blocks: CellBlocks,
    mover: FormulaMover,
    cell: LooseCell,
    place: tuple[int, int],
    by: int,
) -> LooseCell | None:
    """Return a cell some rows further down; None for one of the first record that stays."""
    text = blocks.formula(cell)
    if text is None:
        return cell if by else None
    moved = moved_formula(mover.moved(text, is_home=True), by, 0)
    note_formula(book, title, (place[0] + by, place[1]), moved)
    return blocks.without_result(blocks.with_formula(cell, moved))


def _height(blocks: CellBlocks, row: int) -> float | None:
    attributes = blocks.row_attributes(row)
    height = attribute(attributes, b"ht")
    if height is None or attribute(attributes, b"customHeight") not in _TRUE:
        return None
    try:
        return float(height)
    except ValueError:
        return None


def _remove(book: BookEdit, group: RowGroup, formulas: SheetFormulas) -> int:
    """Take rows out; where something would lose its cells with them, they are emptied instead."""
    if not _is_needed(book, group, formulas):
        delete_lines(book, group.title, "rows", [(group.first, group.last)])
        return -group.height
    title, blocks = opened_blocks(book, group.title)
    emptied: dict[int, dict[int, LooseCell | None]] = {
        row: {
            column: LooseCell(with_attributes(cell.attributes, {b"t": None, b"cm": None}), b"")
            for column, cell in cells.items()
        }
        for row, cells in blocks.cells(_area(group)).items()
    }
    put_cells(book, title, blocks, emptied, [_area(group)])
    rows = f"row {group.first}" if group.height == 1 else f"rows {group.first} to {group.last}"
    book.notices.warn(
        f"{group.name} is empty: {rows} of {title} was emptied and stays, for formulas, charts or "
        "a table need it."
    )
    return 0


def _is_needed(book: BookEdit, group: RowGroup, formulas: SheetFormulas) -> bool:
    """Tell whether references would lose all of their cells with rows, or a table all of its."""
    book.flush()
    for table in book.tables(group.title):
        top, bottom = table.area.top + table.header_rows, table.area.bottom - table.totals_rows
        if group.first <= top and bottom <= group.last and top <= bottom:
            return True
    lines = map_without([(group.first, group.last)], MAX_ROW)
    mover = FormulaMover(SheetMap(group.title, group.title, lines, LineMap()), book.titles)
    for title, texts in formulas.items():
        is_home = title == group.title
        for (row, _), text in texts.items():
            if not (is_home and group.first <= row <= group.last):
                mover.moved(text, is_home=is_home)
    for name in book.book.names:
        mover.carried(name.text, is_home=False, only_fixed=True)
    for part in book.rewriting.parts():
        if "/charts/chart" in part and part.endswith(".xml"):
            for formula in book.rewriting.root(part).iter("{*}f"):
                mover.moved(formula.text or "", is_home=False)
    return mover.lost > 0
