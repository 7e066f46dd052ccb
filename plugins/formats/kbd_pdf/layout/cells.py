"""Rows of a table made from the lines of its text, where no rule parts them.

A line begins a row, or goes on with the one above: then its first column is empty and it has words
only, in few columns, right below words. Numbers do not go on in the next line.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kbd_pdf.layout.columns import (
    WIDE_GAP,
    Piece,
    column_of,
    is_number,
    letter_height,
    pieces,
)
from kbd_pdf.layout.words import WordLine

__all__ = ["Cell", "LaidRow", "is_split", "rows_of_lines"]

_CLOSE = 1.45
"""Lines whose tops are at most so many heights of letters apart are of one paragraph."""


class Cell(NamedTuple):
    """Text in a row: the first column that it stands in, how many it spans."""

    column: int
    column_count: int
    text: str


class LaidRow(NamedTuple):
    """A row: its cells from left to right, its top and its bottom."""

    cells: tuple[Cell, ...]
    top: float
    bottom: float


def rows_of_lines(
    lines: Sequence[WordLine], cuts: Sequence[float], *, is_one: bool
) -> list[LaidRow]:
    """Return lines as rows of cells.

    Args:
        lines: The lines, from top to bottom.
        cuts: Where columns are parted.
        is_one: Whether all of them are one row, as between two rules.
    """
    size = letter_height(lines)
    rows: list[LaidRow] = []
    last = 0.0
    for line in lines:
        row = _row(line, cuts, size)
        is_more = rows and (
            is_one or (line.box.top - last <= _CLOSE * size and _goes_on(rows[-1], row, len(cuts)))
        )
        if is_more:
            rows[-1] = _joined(rows[-1], row)
        else:
            rows.append(row)
        last = line.box.top
    return rows


def _row(line: WordLine, cuts: Sequence[float], size: float) -> LaidRow:
    cells: list[Cell] = []
    for piece in pieces(line, WIDE_GAP * size, cuts):
        for column, count, text in _cells_of(piece, cuts):
            if cells and cells[-1].column + cells[-1].column_count > column:
                before = cells.pop()
                end = max(column + count, before.column + before.column_count)
                column, count = before.column, end - before.column
                text = f"{before.text} {text}"
            cells.append(Cell(column, count, text))
    return LaidRow(tuple(cells), line.box.top, line.box.bottom)


def _cells_of(piece: Piece, cuts: Sequence[float]) -> list[Cell]:
    """Return a piece as one cell; as several where each of its words keeps within a column.

    Numbers that stand close to each other are no phrase that spans columns.
    """
    column, count = column_of(piece.box, cuts)
    if count > 1:
        places = [column_of(word.box, cuts) for word in piece.words]
        if all(each[1] == 1 for each in places) and all(
            is_number(word.text) for word in piece.words
        ):
            found: list[Cell] = []
            for (at, _), word in zip(places, piece.words, strict=True):
                if found and found[-1].column == at:
                    found[-1] = Cell(at, 1, f"{found[-1].text} {word.text}")
                else:
                    found.append(Cell(at, 1, word.text))
            return found
    return [Cell(column, count, piece.text)]


def _goes_on(above: LaidRow, row: LaidRow, cut_count: int) -> bool:
    if not row.cells or row.cells[0].column == 0:
        return False
    if len(row.cells) > max(1, (cut_count + 1) // 2) or any(
        is_number(cell.text) for cell in row.cells
    ):
        return False
    filled = {cell.column for cell in above.cells}
    return all(cell.column in filled for cell in row.cells) and len(above.cells) > len(row.cells)


def _joined(above: LaidRow, row: LaidRow) -> LaidRow:
    texts = {cell.column: cell for cell in above.cells}
    for cell in row.cells:
        before = texts.get(cell.column)
        if before is None:
            texts[cell.column] = cell
        else:
            count = max(before.column_count, cell.column_count)
            texts[cell.column] = Cell(cell.column, count, f"{before.text} {cell.text}")
    cells = tuple(texts[column] for column in sorted(texts))
    return LaidRow(cells, min(above.top, row.top), max(above.bottom, row.bottom))


def is_split(lines: Sequence[WordLine], cuts: Sequence[float]) -> bool:
    """Tell whether lines between two rules are rows of their own, and not one that is wrapped.

    Numbers are not wrapped. So they are where two columns have numbers in line after line, or one
    has and the lines have another text, too, in their first column; and where two columns have text
    in most of three lines or more.
    """
    if len(lines) < 2 or not cuts:
        return False
    size = letter_height(lines)
    rows = [_row(line, cuts, size).cells for line in lines]
    filled = Counter(cell.column for row in rows for cell in row)
    numbers = Counter(cell.column for row in rows for cell in row if is_number(cell.text))
    if sum(count >= 2 and count >= 0.6 * len(lines) for count in numbers.values()) >= 2:
        return True
    for column, count in numbers.items():
        own = [row for row in rows if any(c.column == column and is_number(c.text) for c in row)]
        if count >= max(2, 0.5 * len(lines)) and all(
            len(row) > 1 and row[0].column == 0 for row in own
        ):
            return True
    return len(lines) >= 3 and sum(count >= 0.8 * len(lines) for count in filled.values()) >= 2
