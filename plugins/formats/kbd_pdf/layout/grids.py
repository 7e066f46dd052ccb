"""Grids that rules draw on a page: lines that meet, and which places between them are one cell.

Lines that touch belong to one grid. Its rows and columns are as fine as its lines; where no line
parts two places they are one cell, as in a header that stands over several columns. A side that is
not drawn is there all the same: many tables have no line at their left and right.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kbd_pdf.layout.rules import Rule, Rules, covered
from kbd_pdf.layout.words import WordBox

__all__ = ["GridPlace", "RuledGrid", "grids_of"]

_TOUCH_PT = 3.0
"""Lines that end so near to others meet them."""
_SAME_PT = 3.0
"""Rows and columns are at least so wide."""
_DRAWN = 0.6
"""A side is drawn if lines cover so much of it."""
MAX_RULES = 3000
"""Lines of a page that are put together; the pairs of more of them take seconds."""
MAX_PLACES = 20_000
"""Places of a grid."""
MAX_GRIDS = 100
"""Grids of a page; drawings are made of many."""


class GridPlace(NamedTuple):
    """A cell of a grid: its first row and column from 0, and how many of each it spans."""

    row: int
    column: int
    row_count: int
    column_count: int


class RuledGrid(NamedTuple):
    """A grid: where its rows and columns are parted, from top and left, and its cells."""

    ys: tuple[float, ...]
    xs: tuple[float, ...]
    places: tuple[GridPlace, ...]

    @property
    def box(self) -> WordBox:
        """The box around it."""
        return WordBox(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def box_of(self, place: GridPlace) -> WordBox:
        """Return the box of a cell."""
        return WordBox(
            self.xs[place.column], self.ys[place.row],
            self.xs[place.column + place.column_count], self.ys[place.row + place.row_count],
        )  # fmt: skip


def grids_of(rules: Rules) -> list[RuledGrid]:
    """Return the grids that lines draw, the finest first; a single frame is none."""
    if len(rules.across) + len(rules.down) > MAX_RULES:
        return []
    found = []
    for across, down in _groups(rules):
        grid = _grid(across, down)
        if grid is not None:
            found.append(grid)
    found.sort(key=lambda each: (-len(each.places), each.ys[0], each.xs[0]))
    return found[:MAX_GRIDS]


def _groups(rules: Rules) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield lines that meet each other, those across and those down."""
    count = len(rules.across)
    parents = list(range(count + len(rules.down)))

    def root(of: int) -> int:
        while parents[of] != of:
            parents[of] = parents[parents[of]]
            of = parents[of]
        return of

    for place, one in enumerate(rules.across):
        for number, other in enumerate(rules.down, count):
            if (
                one.start - _TOUCH_PT <= other.at <= one.end + _TOUCH_PT
                and other.start - _TOUCH_PT <= one.at <= other.end + _TOUCH_PT
            ):
                parents[root(place)] = root(number)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for place, rule in enumerate((*rules.across, *rules.down)):
        groups.setdefault(root(place), ([], []))[place >= count].append(rule)
    yield from groups.values()


def _grid(across: Sequence[Rule], down: Sequence[Rule]) -> RuledGrid | None:
    if not across or not down:
        return None
    # Where lines go farther than those that they meet there is a side that is not drawn.
    ys = _positions([rule.at for rule in across], [side for rule in down for side in rule[1:]])
    xs = _positions([rule.at for rule in down], [side for rule in across for side in rule[1:]])
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows < 1 or columns < 1 or rows * columns < 2 or rows * columns > MAX_PLACES:
        return None
    return RuledGrid(ys, xs, tuple(_places(ys, xs, across, down)))


def _positions(lines: list[float], ends: list[float]) -> tuple[float, ...]:
    """Return where lines are, and the two outermost ends if they are beyond the lines."""
    found: list[float] = []
    for at in sorted(lines):
        if not found or at - found[-1] > _SAME_PT:
            found.append(at)
    if min(ends) < found[0] - _SAME_PT:
        found.insert(0, min(ends))
    if max(ends) > found[-1] + _SAME_PT:
        found.append(max(ends))
    return tuple(found)


def _places(
    ys: Sequence[float], xs: Sequence[float], across: Sequence[Rule], down: Sequence[Rule]
) -> Iterator[GridPlace]:
    """Yield the cells: places with nothing drawn between them, as far as they are rectangles."""
    rows, columns = len(ys) - 1, len(xs) - 1
    walls = [[rule for rule in down if abs(rule.at - x) <= _SAME_PT] for x in xs]
    floors = [[rule for rule in across if abs(rule.at - y) <= _SAME_PT] for y in ys]
    is_open_right = [
        [
            column + 1 < columns and covered(walls[column + 1], ys[row], ys[row + 1]) < _DRAWN
            for column in range(columns)
        ]
        for row in range(rows)
    ]
    is_open_below = [
        [
            row + 1 < rows and covered(floors[row + 1], xs[column], xs[column + 1]) < _DRAWN
            for column in range(columns)
        ]
        for row in range(rows)
    ]
    taken = [[False] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if taken[row][column]:
                continue
            wide = 1
            while is_open_right[row][column + wide - 1] and not taken[row][column + wide]:
                wide += 1
            high = 1
            while all(is_open_below[row + high - 1][at] for at in range(column, column + wide)):
                # What is parted in the next row is not the same cell.
                if any(
                    not is_open_right[row + high][at] for at in range(column, column + wide - 1)
                ) or any(taken[row + high][at] for at in range(column, column + wide)):
                    break
                high += 1
            for down_ in range(row, row + high):
                for at in range(column, column + wide):
                    taken[down_][at] = True
            yield GridPlace(row, column, high, wide)
