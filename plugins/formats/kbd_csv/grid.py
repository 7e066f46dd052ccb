"""Window of a delimited table: its data rows, counted from 1, under the names of its columns."""

from collections.abc import Sequence

from kbd.formats import Grid, GridWindow, Source
from kbd_csv.head import column_names
from kbd_csv.tables import read_rows

__all__ = ["MAX_CELL_CHARACTERS", "MAX_WINDOW_CHARACTERS", "read_grid"]

MAX_CELL_CHARACTERS = 400
"""Of one field; longer texts are cut, and a warning says so."""

MAX_WINDOW_CHARACTERS = 1024 * 1024
"""Of all fields of a window; it ends above the row that would pass it."""


class _Window:
    """Rows of a window, taken from those that pass by."""

    def __init__(self, window: GridWindow) -> None:
        self.rows: list[list[str]] = []
        self.is_cut = False
        self.is_full = False
        self._window = window
        self._number = 0
        self._room = MAX_WINDOW_CHARACTERS

    def write(self, row: Sequence[str]) -> None:
        """Take a row if it is of the window."""
        self._number += 1
        start, end = self._window.row_start, self._window.row_start + self._window.row_count
        if self.is_full or not start <= self._number < end:
            return
        left = self._window.column_start - 1
        fields = list(row[left : left + self._window.column_count])
        if any(len(field) > MAX_CELL_CHARACTERS for field in fields):
            self.is_cut = True
            fields = [_cut(field) for field in fields]
        self._room -= sum(map(len, fields))
        self.is_full = self._room < 0 and bool(self.rows)
        if not self.is_full:
            self.rows.append(fields)


def _cut(field: str) -> str:
    return field if len(field) <= MAX_CELL_CHARACTERS else field[:MAX_CELL_CHARACTERS] + "…"


def read_grid(source: Source, window: GridWindow) -> Grid:
    """Read a window of a table.

    Raises:
        FileReadFailed: It cannot be opened, or is no table within the limits.
    """
    table_head, found, row_count, width = read_rows(source, lambda: _Window(window))
    left = window.column_start - 1
    columns = column_names(table_head.header, width)[left : left + window.column_count]
    warnings = []
    if found.is_full:
        last = window.row_start + len(found.rows) - 1
        warnings.append(f"only the rows up to {last} fit into one window")
    if found.is_cut:
        warnings.append(f"texts longer than {MAX_CELL_CHARACTERS} characters are cut")
    return Grid(
        sheet="",
        sheets=(),
        row_start=window.row_start,
        column_start=window.column_start,
        columns=tuple(columns),
        rows=tuple(tuple(field or None for field in row[: len(columns)]) for row in found.rows),
        total_rows=row_count,
        total_columns=width,
        warnings=tuple(warnings),
    )
