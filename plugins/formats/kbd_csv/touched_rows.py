"""Rows of a file that are not in its table as they stand there, counted while it is read.

One record is the source of both the table's reading and the sentence that warns of it.
"""

from collections.abc import Iterator

import msgspec

from kbd.formats import TouchedRows

__all__ = ["Touched", "TouchedKinds"]

_MOST_ROWS = 10
_SAMPLE_CHARS = 80


class Touched(msgspec.Struct):
    """Rows to which one thing was done: how many, the first of them, and the first one's text."""

    count: int = 0
    rows: list[int] = []
    sample: str = ""

    def add(self, row: int, text: str, count: int = 1) -> None:
        """Count a row by its number in the file."""
        if not self.count:
            self.sample = text.replace("\0", "").strip("\ufeff \t\r\n")[:_SAMPLE_CHARS]
        if len(self.rows) < _MOST_ROWS:
            self.rows.append(row)
        self.count += count

    def record(self, what: str) -> TouchedRows:
        """Return what is told of them."""
        return TouchedRows(what, self.count, tuple(self.rows), self.sample)


class TouchedKinds:
    """Rows to which several things were done, by what that is."""

    def __init__(self) -> None:
        self._found: dict[str, Touched] = {}

    def add(self, what: str, row: int, text: str, count: int = 1) -> None:
        """Count a row by its number in the file."""
        self._found.setdefault(what, Touched()).add(row, text, count)

    def put(self, what: str, touched: Touched) -> None:
        """Take rows that were counted elsewhere."""
        self._found[what] = touched

    def records(self) -> Iterator[TouchedRows]:
        """Yield what is told of them, in the order in which they were met."""
        for what, touched in self._found.items():
            yield touched.record(what)
