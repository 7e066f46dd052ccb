"""Rows of the usual form, cut before each of their cells.

Where every row and cell of a part begins with its name, its cells are found by cutting, and only
those that are asked for have to be read. That takes a fifth of the time of `Rows.cells`.
"""

import re
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from kbd.errors import ValidationFailed
from kbd.sheets.areas import column_number
from kbd_xlsx.parts.outline import Outline, Rows

__all__ = ["MAX_ORDERS", "RowCuts", "RowPieces", "is_regular"]

MAX_ORDERS = 4_096
"""Orders of columns that are remembered; past them all are forgotten."""

_DIGITS = b"0123456789"


def is_regular(outline: Outline, rows: int) -> bool:
    """Tell whether every row and cell begins with its name, and nothing is commented.

    Args:
        outline: The part.
        rows: How many rows it has.
    """
    data, start, end = outline.data, outline.sheet_data[1], outline.rows_end
    if outline.scan is not data:
        return False
    row, cell = outline.qualified(b"row"), outline.qualified(b"c")
    if data.count(b"<" + row + b' r="', start, end) != rows:
        return False
    named = data.count(b"<" + cell + b' r="', start, end)
    if data.count(b"<" + cell, start, end) == named:
        return True
    # Other names begin with the same letter (color). Counted by what may follow the name: a pattern
    # takes ten times as long.
    ends = (b" ", b">", b"/", b"\t", b"\n", b"\r")
    found = sum(data.count(b"<" + cell + each, start, end) for each in ends)
    return named == found


class RowPieces(NamedTuple):
    """A row cut before its cells.

    Args:
        start: Where it begins in the part.
        end: Where its end tag begins.
        places: Where in `pieces` the cell of a column is.
        pieces: The row's tag; then each cell without what every cell begins with (`<c r="`).
    """

    start: int
    end: int
    places: dict[int, int]
    pieces: list[bytes]


class RowCuts:
    """Cutter of the rows of a part.

    Attributes:
        mark: What every cell begins with, up to its name.

    Args:
        outline: The part.
        rows: Its rows.
    """

    def __init__(self, outline: Outline, rows: Rows) -> None:
        self._outline, self._rows = outline, rows
        self.mark = b"<" + outline.qualified(b"c") + b' r="'
        self._names = re.compile(re.escape(self.mark) + b'([A-Z]{1,3}[1-9][0-9]{0,6})"')
        self._close = b"</" + outline.qualified(b"row") + b">"
        # By the letters of the cells' names: the places of their columns, None if out of order.
        self._orders: dict[bytes, dict[int, int] | None] = {}
        # The row that was cut last: its cells' names with a mark for its number, and its order.
        self._names_before, self._places_before = b"", dict[int, int]()

    @cached_property
    def _are_regular(self) -> bool:
        return is_regular(self._outline, len(self._rows))

    def of(self, place: int) -> RowPieces | None:
        """Cut a row; None if it is to be taken apart by `Rows.cells`, which tells what is wrong.

        Args:
            place: Its place in the order of the rows.
        """
        if not self._are_regular:
            return None
        data, starts = self._outline.data, self._rows.starts
        start = starts[place]
        limit = starts[place + 1] if place + 1 < len(starts) else self._outline.rows_end
        end = data.find(self._close, start, limit)
        if end < 0:
            return None
        pieces = data[start:end].split(self.mark)
        digits = b"%d" % self._rows.numbers[place]
        # Most rows have their cells in the columns of the row before.
        expected = self._names_before.replace(b"#", digits).split()
        if len(expected) == len(pieces) - 1 and all(map(bytes.startswith, pieces[1:], expected)):
            return RowPieces(start, end, self._places_before, pieces)
        names = self._names.findall(data, start, end)
        if len(names) != len(pieces) - 1:
            return None
        joined = b" ".join(names)
        letters = joined.translate(None, _DIGITS)
        # Each cell is one of this row if the row's number after each cell's letters is its name.
        if names and letters.replace(b" ", digits + b" ") + digits != joined:
            return None
        if letters in self._orders:
            places = self._orders[letters]
        else:
            if len(self._orders) >= MAX_ORDERS:
                self._orders.clear()
            places = self._orders[letters] = _places(letters.split())
        if places is None:
            return None
        self._names_before = b" ".join([each + b'#"' for each in letters.split()])
        self._places_before = places
        return RowPieces(start, end, places, pieces)


def _places(letters: list[bytes]) -> dict[int, int] | None:
    """Return the places of columns by their letters, None if they are not in rising order."""
    try:
        columns = [column_number(each.decode("ascii")) for each in letters]
    except ValidationFailed:
        return None
    if any(left >= right for left, right in pairwise(columns)):
        return None
    return {column: place for place, column in enumerate(columns, 1)}
