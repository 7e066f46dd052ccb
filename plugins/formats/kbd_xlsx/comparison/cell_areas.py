"""Cells with the same thing to be told of them, gathered to rectangles while rows go down."""

from collections.abc import Hashable, Iterator
from typing import Generic, NamedTuple, TypeVar

from kbd.sheets.areas import Area

__all__ = ["CellAreas"]

MAX_AREAS = 20_000
"""Rectangles that are remembered; those past it are counted."""

Key = TypeVar("Key", bound=Hashable)


class _Run(NamedTuple):
    left: int
    right: int


class CellAreas(Generic[Key]):
    """Rectangles of cells by what they have in common.

    Attributes:
        unlisted: How many rectangles there are past the limit.
    """

    def __init__(self) -> None:
        self.unlisted = 0
        self._areas: list[tuple[Area, Key]] = []
        self._open: dict[tuple[Key, _Run], tuple[int, int]] = {}
        self._row = 0
        self._runs: dict[Key, _Run] = {}
        self._done: list[tuple[Key, _Run]] = []

    def add(self, row: int, column: int, key: Key) -> None:
        """Add a cell; rows come in rising order, and the columns of each."""
        if row != self._row:
            self._end_row()
            self._row = row
        run = self._runs.get(key)
        if run is not None and run.right == column - 1:
            self._runs[key] = run._replace(right=column)
            return
        if run is not None:
            self._done.append((key, run))
        self._runs[key] = _Run(column, column)

    def take(self) -> Iterator[tuple[Area, Key]]:
        """Return the rectangles from top to bottom."""
        self._end_row()
        self._row += 2
        self._end_row()
        self._areas.sort(key=lambda found: (found[0].top, found[0].left))
        return iter(self._areas)

    def _end_row(self) -> None:
        opened: dict[tuple[Key, _Run], tuple[int, int]] = {}
        for each in (*self._done, *self._runs.items()):
            top, bottom = self._open.pop(each, (self._row, self._row))
            if bottom < self._row - 1:
                self._close(each, top, bottom)
                top = self._row
            opened[each] = top, self._row
        for each, (top, bottom) in self._open.items():
            self._close(each, top, bottom)
        self._open = opened
        self._runs = {}
        self._done = []

    def _close(self, found: tuple[Key, _Run], top: int, bottom: int) -> None:
        if len(self._areas) >= MAX_AREAS:
            self.unlisted += 1
            return
        key, run = found
        self._areas.append((Area(top, run.left, bottom, run.right), key))
