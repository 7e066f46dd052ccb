"""Where on a sheet each look is, as ranges, found row by row."""

import msgspec

from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area, column_letters

__all__ = ["MAX_RANGES", "Occurrence", "Occurrences"]

MAX_RANGES = 12
"""Ranges that are listed of one look on one sheet."""


class Occurrence(msgspec.Struct):
    """Where a look is.

    Args:
        cells: How many cells have it.
        ranges: The first ranges of them, also whole rows and columns.
        more: How many ranges are not listed.
        first: A cell that has it, its row and column.
    """

    cells: int = 0
    ranges: list[str] = []
    more: int = 0
    first: tuple[int, int] = (0, 0)


class Occurrences:
    """The looks of one sheet while its rows are read in order.

    Runs of equal looks in a row join the same run of the row above to one range.

    Attributes:
        by_style: What was found, by the index of the style.
    """

    def __init__(self) -> None:
        self.by_style: dict[int, Occurrence] = {}
        # The ranges that the next row may continue: (style, left, right) -> (top, bottom).
        self._open: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._whole: dict[int, tuple[int, int]] = {}

    def add_columns(self, style: int, left: int, right: int) -> None:
        """Note that whole columns have a look."""
        self._list(style, f"{column_letters(left)}:{column_letters(right)}")
        self._whole.setdefault(style, (MAX_ROW, left))

    def add_row(self, row: int, cells: list[tuple[int, int]], whole: int | None = None) -> None:
        """Note the looks of a row.

        Args:
            row: Its number.
            cells: Column and style of its cells, by rising column.
            whole: The style of the row itself, if it has one.
        """
        opened: dict[tuple[int, int, int], tuple[int, int]] = {}
        for style, left, right in _runs(cells):
            top, bottom = self._open.pop((style, left, right), (row, row))
            if bottom < row - 1:
                self._close(style, Area(top, left, bottom, right))
                top = row
            opened[style, left, right] = top, row
        for (style, left, right), (top, bottom) in self._open.items():
            self._close(style, Area(top, left, bottom, right))
        self._open = opened
        if whole is not None:
            self._list(whole, f"{row}:{row}")
            self._whole.setdefault(whole, (row, MAX_COLUMN))

    def finish(self) -> None:
        """Close what is open: no row follows."""
        for (style, left, right), (top, bottom) in self._open.items():
            self._close(style, Area(top, left, bottom, right))
        self._open = {}
        for style, place in self._whole.items():
            if not self.by_style[style].cells:
                # No cell of its own has it, so a cell that nobody will have written to does.
                self.by_style[style].first = place

    def _close(self, style: int, area: Area) -> None:
        self._list(style, str(area))
        found = self.by_style[style]
        if not found.cells:
            found.first = area.top, area.left
        found.cells += (area.bottom - area.top + 1) * (area.right - area.left + 1)

    def _list(self, style: int, text: str) -> None:
        found = self.by_style.setdefault(style, Occurrence())
        if len(found.ranges) < MAX_RANGES:
            found.ranges.append(text)
        else:
            found.more += 1


def _runs(cells: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return runs of neighbours of one style: (style, left, right)."""
    runs: list[tuple[int, int, int]] = []
    for column, style in cells:
        if runs and runs[-1][0] == style and runs[-1][2] == column - 1:
            runs[-1] = style, runs[-1][1], column
        elif 0 < column <= MAX_COLUMN:
            runs.append((style, column, column))
    return runs
