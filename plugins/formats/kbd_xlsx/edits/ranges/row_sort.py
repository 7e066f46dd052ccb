"""Rows of a range in another order: whole cells move, with their looks, links and notes.

Formulas are written as Excel does in a sort: each is copied to its new row, so that references to
its own row go along, and those to other rows are as far away as before. Formulas elsewhere name the
same places as before, whatever stands there then. Hidden rows stay where they are.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.sheets.areas import Area, cell_name, column_letters, overlaps, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.ranges.moved_formulas import moved_formula, names_other_rows
from kbd_xlsx.edits.ranges.notes import move_links, move_notes, warn_of_drawings
from kbd_xlsx.edits.ranges.places import (
    MAX_CELLS,
    WHOLE,
    check_groups,
    check_headers,
    check_pivots,
    clipped,
    note_formula,
    opened_blocks,
    put_cells,
)
from kbd_xlsx.edits.ranges.sort_order import CellOrder, sorted_rows
from kbd_xlsx.operations import SortColumn, SortRange
from kbd_xlsx.parts.cell_blocks import CellBlocks, LooseCell
from kbd_xlsx.parts.cells import size_of
from kbd_xlsx.parts.markup import attribute
from kbd_xlsx.parts.shared_items import SharedItems, inline_text

__all__ = ["sort_range"]

_NUMERAL = re.compile(r"\s*[-+]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?%?\s*")
_TRUE = ("1", "true")
_LOOKED_AT = 200
"""Rows that are looked at for cells beside the range."""

Cells = Mapping[int, Mapping[int, LooseCell]]


def sort_range(book: BookEdit, operation: SortRange) -> str:
    """Sort a range and say by what.

    Raises:
        ValidationFailed: It holds what cannot move by rows (merged cells, an array, a table's
            header or totals), a key is no column of it, or has formulas without results.
    """
    title, blocks = opened_blocks(book, operation.sheet)
    area = clipped(blocks, parse_area(operation.range, WHOLE))
    if size_of(area) > MAX_CELLS:
        raise ValidationFailed(f"sort_range reaches {MAX_CELLS:,} cells at most")
    body = area if not operation.header else msgspec.structs.replace(area, top=area.top + 1)
    if body.top > body.bottom:
        return f"{title}!{area}: no rows to sort"
    _check(book, title, blocks, body)
    cells = blocks.cells(area)
    values = _Values(book, title, blocks, cells)
    hidden = [row for row in blocks.row_numbers(body) if _is_hidden(blocks, row)]
    rows = [row for row in range(body.top, body.bottom + 1) if row not in set(hidden)]
    keys = [(_column(key, area, operation, values), key.descending) for key in operation.by]
    order = sorted_rows(rows, [(values.orders(column), down) for column, down in keys])
    moves = {old: new for new, old in zip(rows, order, strict=True) if old != new}
    values.warn([column for column, _ in keys], rows)
    _warn(book, title, blocks, body, hidden)
    by = ", ".join(column_letters(column) + " descending" * down for column, down in keys)
    if moves:
        _move(book, title, blocks, body, cells, moves)
    return f"{title}!{area}: sorted by {by}; {len(moves)} rows moved"


def _check(book: BookEdit, title: str, blocks: CellBlocks, body: Area) -> None:
    for merge in book.sheet(title).merges:
        if overlaps(merge, body):
            raise ValidationFailed(
                f"{title}!{body} holds the merged cells {merge}, which cannot move by rows; "
                "unmerge them first"
            )
    check_groups(blocks, body, title, verb="sorted")
    check_headers(book, title, body)
    check_pivots(book, title, body)


def _is_hidden(blocks: CellBlocks, row: int) -> bool:
    return attribute(blocks.row_attributes(row), b"hidden") in _TRUE


def _column(key: SortColumn, area: Area, operation: SortRange, values: "_Values") -> int:
    """Return the column that a key means: by its header, else by its letters."""
    names = values.header(area) if operation.header else {}
    folded = key.column.strip().casefold()
    found = [column for column, name in names.items() if name.casefold() == folded]
    if len(found) == 1:
        return found[0]
    letters = key.column.strip().removeprefix("$").upper()
    columns = {column_letters(column): column for column in range(area.left, area.right + 1)}
    if letters in columns:
        return columns[letters]
    known = listed([f"{column_letters(c)} ({name})" for c, name in names.items()] or list(columns))
    why = "is the header of several columns" if found else "is no column"
    raise ValidationFailed(f"{key.column!r} {why} of {area}; its columns: {known}")


class _Values:
    """What the cells of a range hold, for their order.

    Args:
        book: The workbook.
        title: The sheet's title.
        blocks: The sheet.
        cells: The cells of the range.
    """

    def __init__(self, book: BookEdit, title: str, blocks: CellBlocks, cells: Cells) -> None:
        self._book, self._title, self._blocks, self._cells = book, title, blocks, cells
        self._shared = SharedItems(book.rewriting, book.main)
        self._known: dict[tuple[int, int], tuple[str, str]] = {}

    def header(self, area: Area) -> dict[int, str]:
        """Return the names of columns that the first row of a range holds."""
        found = {}
        for column in self._cells.get(area.top, {}):
            kind, text = self._held(area.top, column)
            if text.strip():
                found[column] = text.strip() if kind == "text" else text
        return found

    def orders(self, column: int) -> Callable[[int], CellOrder | None]:
        """Return what gives the place of a row in the order by a column."""

        def place(row: int) -> CellOrder | None:
            kind, value = self._held(row, column)
            return None if kind == "blank" else CellOrder.of(kind, value)

        return place

    def warn(self, columns: Sequence[int], rows: Sequence[int]) -> None:
        """Warn of numbers that are stored as texts, which sort behind all numbers."""
        for column in columns:
            held = [self._held(row, column) for row in rows]
            texts = sum(kind == "text" and bool(_NUMERAL.fullmatch(text)) for kind, text in held)
            if texts:
                self._book.notices.warn(
                    f"{self._title}: {texts} numbers of column {column_letters(column)} are "
                    "stored as text and were sorted as texts, after the numbers."
                )

    def _held(self, row: int, column: int) -> tuple[str, str]:
        """Return the kind of a cell's value and the value."""
        known = self._known.get((row, column))
        if known is None:
            known = self._known[row, column] = self._read(row, column)
        return known

    def _read(self, row: int, column: int) -> tuple[str, str]:
        cell = self._cells.get(row, {}).get(column)
        if cell is None or not cell.inner.strip():
            return "blank", ""
        value = self._blocks.value(cell)
        match cell.kind:
            case "s":
                return "text", self._shared.text(value)
            case "inlineStr":
                return "text", inline_text(cell.inner, self._blocks.prefix)
            case "b":
                return "boolean", value
            case "e":
                return "error", value
            case "n" if not value and self._blocks.formula(cell) is not None:
                raise ValidationFailed(
                    f"{self._title}!{cell_name(row, column)} is a formula without a stored result "
                    "yet, so rows cannot be sorted by it; sort by another column, or in a later "
                    "call"
                )
            case "n":
                return ("number", value) if value else ("blank", "")
            case _:
                return "text", value


def _warn(
    book: BookEdit, title: str, blocks: CellBlocks, body: Area, hidden: Sequence[int]
) -> None:
    if hidden:
        book.notices.warn(
            f"{title}: hidden rows stayed where they are: {listed([str(row) for row in hidden])}."
        )
    for column in (body.left - 1, body.right + 1):
        if column < 1:
            continue
        bottom = min(body.bottom, body.top + _LOOKED_AT - 1)
        beside = blocks.cells(Area(body.top, column, bottom, column))
        held = [row for row, cells in beside.items() if cells[column].inner]
        if len(held) * 2 > bottom - body.top + 1:
            book.notices.warn(
                f"{title}: cells beside the range, in column {column_letters(column)}, stayed "
                "where they are."
            )
    warn_of_drawings(book, title, body)


def _move(
    book: BookEdit,
    title: str,
    blocks: CellBlocks,
    body: Area,
    cells: Cells,
    moves: Mapping[int, int],
) -> None:
    new: dict[int, dict[int, LooseCell | None]] = {}
    elsewhere = []
    columns = {column for row in moves for column in cells.get(row, {})}
    for old, row in moves.items():
        for column in columns:
            cell = cells.get(old, {}).get(column)
            if cell is None:
                # A cell that is not there has the look of its row or column, so none goes.
                new.setdefault(row, {})[column] = None
                continue
            text = blocks.formula(cell)
            if text is not None:
                if names_other_rows(text, old):
                    elsewhere.append(cell_name(row, column))
                moved = moved_formula(text, row - old, 0)
                place = cell_name(row, column)
                cell = blocks.without_result(blocks.with_formula(cell, moved, place))
                note_formula(book, title, (row, column), moved)
            new.setdefault(row, {})[column] = cell
    put_cells(book, title, blocks, new, [body])
    move_links(book, title, body, moves)
    move_notes(book, title, body, moves)
    if elsewhere:
        book.notices.warn(
            f"{title}: formulas that name other rows were moved as Excel does, and may name other "
            f"cells than before: {listed(elsewhere)}."
        )
