"""How wide the columns of a new sheet are: as their names and first rows need."""

from collections.abc import Sequence
from typing import Any
from unicodedata import east_asian_width

from kbd.formats import Column
from kbd_xlsx.parts.sheet import SheetPart

__all__ = ["ColumnWidths"]

_ROWS = 200
_MIN_WIDTH, _MAX_WIDTH = 8, 60
_MARGIN = 2


class ColumnWidths:
    """Measures what is shown in columns.

    Args:
        columns: The columns in order.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._widths = [_shown_width(column.name) for column in columns]
        self._rows = 0

    def see(self, values: Sequence[Any]) -> None:
        """Take a row into account, if it is one of the first."""
        if self._rows < _ROWS:
            self._rows += 1
            shown = (0 if value is None else _shown_width(str(value)) for value in values)
            self._widths = [max(pair) for pair in zip(self._widths, shown, strict=True)]

    def set(self, sheet: SheetPart, left: int) -> None:
        """Set the widths of a sheet's columns from one on."""
        for column, width in enumerate(self._widths, left):
            sheet.set_width(column, float(min(max(width + _MARGIN, _MIN_WIDTH), _MAX_WIDTH)))


def _shown_width(text: str) -> int:
    """Return how many characters wide a text is: East Asian wide ones take the place of two."""
    if text.isascii():
        return len(text)
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)
