"""Maps of a sheet's rows and columns: which line of it becomes which.

The same map tells how versions that are compared differ, and what an edit that puts lines in or
takes them out does to every reference.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.parts.markup import area_of

__all__ = ["GrownMap", "LineMap", "LineRun", "SheetMap", "map_with_new", "map_without"]


class LineRun(NamedTuple):
    """Adjacent rows or columns: `length` from `before` on are those from `after` on."""

    before: int
    after: int
    length: int


class LineMap:
    """Which rows (or columns) of one version are which of the other, counted from 1.

    Args:
        runs: Those that are the same, in any order.
        ends: The last lines that were aligned, before and after.
        shift: How far all is shifted that lies past them.
    """

    def __init__(
        self, runs: Iterable[LineRun] = (), ends: tuple[int, int] = (0, 0), shift: int = 0
    ) -> None:
        self.runs = sorted(runs)
        self.ends = ends
        self.shift = shift
        self._starts = [run.before for run in self.runs]

    @property
    def is_identity(self) -> bool:
        """Whether every line is where it was."""
        return (
            not self.shift
            and sum(run.length for run in self.runs) >= self.ends[0]
            and all(run.before == run.after for run in self.runs)
        )

    @property
    def placed(self) -> "LineMap":
        """The map of what stands on single lines, which does not grow with those behind them."""
        return self

    def inverted(self) -> "LineMap":
        """Return the map the other way."""
        runs = (LineRun(run.after, run.before, run.length) for run in self.runs)
        return LineMap(runs, (self.ends[1], self.ends[0]), -self.shift)

    def get(self, line: int) -> int | None:
        """Return which line it is in the other version, None if it is none."""
        place = bisect_right(self._starts, line) - 1
        if place >= 0:
            run = self.runs[place]
            if line < run.before + run.length:
                return run.after + line - run.before
        if line > self.ends[0]:
            return line + self.shift
        return None

    def room(self, line: int) -> tuple[int, int]:
        """Return between which lines of the other version one without a counterpart would be."""
        place = bisect_right(self._starts, line) - 1
        before = self.runs[place] if place >= 0 else LineRun(0, 0, 1)
        after = self.runs[place + 1].after if place + 1 < len(self.runs) else self.ends[1] + 1
        start = before.after + before.length
        return start, max(after, start) - 1

    def first(self, line: int) -> int:
        """Return where a range begins that began with a line."""
        found = self.get(line)
        if found is not None:
            return found
        place = bisect_right(self._starts, line)
        return self.runs[place].after if place < len(self.runs) else self.ends[1] + 1

    def last(self, line: int) -> int:
        """Return where a range ends that ended with a line."""
        found = self.get(line)
        if found is not None:
            return found
        place = bisect_right(self._starts, line) - 1
        return self.runs[place].after + self.runs[place].length - 1 if place >= 0 else 0

    def accepts(self, before: int, after: int) -> bool:
        """Tell whether a reference to one line may now name the other."""
        found = self.get(before)
        if found == after:
            return True
        if before > self.ends[0]:
            # What lies below the table need not have moved along.
            return after == before
        if found is not None:
            return False
        low, high = self.room(before)
        return low <= after <= high

    def accepts_span(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Tell whether a range of lines may now be another."""
        one = self.accepts(before[0], after[0]) or self.first(before[0]) == after[0]
        return one and (self.accepts(before[1], after[1]) or self.last(before[1]) == after[1])


class GrownMap(LineMap):
    """Map of a sheet that gets more lines like some: ranges that end with those take them in.

    Args:
        line: The last of the lines that there are.
        count: How many more there are behind it.
        end: The last line that a sheet can have.
    """

    def __init__(self, line: int, count: int, end: int) -> None:
        plain = map_with_new(line + 1, count, end)
        super().__init__(plain.runs, plain.ends, plain.shift)
        self._line, self._count, self._plain = line, count, plain

    @property
    def placed(self) -> LineMap:
        """The same without the growth."""
        return self._plain

    def last(self, line: int) -> int:
        """Return where a range ends that ended with a line."""
        return line + self._count if line == self._line else super().last(line)


class SheetMap(msgspec.Struct, frozen=True):
    """A sheet of both versions: its names, its rows and its columns."""

    before: str
    after: str
    rows: LineMap
    columns: LineMap

    @property
    def is_identity(self) -> bool:
        """Whether every cell is where it was."""
        return self.rows.is_identity and self.columns.is_identity

    @property
    def placed(self) -> "SheetMap":
        """The map of what stands on single cells: a merge, an array, a picture."""
        return SheetMap(self.before, self.after, self.rows.placed, self.columns.placed)

    def area(self, area: Area) -> Area | None:
        """Return what an area has become, None if nothing is left of it."""
        whole_rows = area.top <= 1 and area.bottom >= MAX_ROW
        whole_columns = area.left <= 1 and area.right >= MAX_COLUMN
        top, bottom = area.top, area.bottom
        left, right = area.left, area.right
        if not whole_rows:
            top, bottom = self.rows.first(top), self.rows.last(bottom)
        if not whole_columns:
            left, right = self.columns.first(left), self.columns.last(right)
        if top > bottom or left > right or top < 1 or left < 1:
            return None
        return Area(top, left, min(bottom, MAX_ROW), min(right, MAX_COLUMN))

    def ranges(self, text: str) -> str:
        """Return ranges, separated by blanks, as they have become; what is none stays."""
        found = []
        for word in text.split():
            area = area_of(word)
            became = None if area is None else self.area(area)
            found.append(word if area is None else "#REF!" if became is None else str(became))
        # Of several ranges those are left that did not go with their rows or columns.
        left = [word for word in found if word != "#REF!"]
        return " ".join(left or found[:1])


def map_with_new(line: int, count: int, end: int) -> LineMap:
    """Return the map of a sheet that gets new lines.

    Args:
        line: Before which they go, from 1.
        count: How many they are.
        end: The last line that a sheet can have; what is pushed past it is gone.
    """
    runs = [LineRun(1, 1, line - 1), LineRun(line, line + count, end - count - line + 1)]
    return LineMap((run for run in runs if run.length > 0), (end, end))


def map_without(spans: Sequence[tuple[int, int]], end: int) -> LineMap:
    """Return the map of a sheet that loses lines.

    Args:
        spans: First and last of the lines that go, in rising order.
        end: The last line that a sheet can have.
    """
    runs, start, gone = [], 1, 0
    for first, last in spans:
        runs.append(LineRun(start, start - gone, first - start))
        gone += last - first + 1
        start = last + 1
    runs.append(LineRun(start, start - gone, end - start + 1))
    return LineMap((run for run in runs if run.length > 0), (end, end - gone))
