"""Where the result of a dynamic array may spread when it is calculated again.

Such a result fills as many cells as it needs, below and right of its formula, unless something
stands in its way: then it is an error in one cell. It never fills the cell of another formula.
"""

from bisect import bisect_right
from collections.abc import Iterable

from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area

__all__ = ["Room"]

Place = tuple[int, int, int]
"""A cell: the number of its sheet, its row and its column."""


class Room:
    """The cells that results may spread over.

    Args:
        growing: The cells of the formulas whose results may spread.
        formulas: The cells of all formulas, which stand in their way.
    """

    def __init__(self, growing: Iterable[Place], formulas: Iterable[Place]) -> None:
        self._below: dict[tuple[int, int], list[int]] = {}
        self._beside: dict[tuple[int, int], list[int]] = {}
        for sheet, row, column in growing:
            self._below[sheet, column] = []
            self._beside[sheet, row] = []
        for sheet, row, column in formulas:
            if (sheet, column) in self._below:
                self._below[sheet, column].append(row)
            if (sheet, row) in self._beside:
                self._beside[sheet, row].append(column)
        for places in (*self._below.values(), *self._beside.values()):
            places.sort()

    def of(self, place: Place, area: Area) -> Area:
        """Return the cells that the result of a growing formula fills or may fill.

        The first formula below and the first right of what it fills bound them; what is below
        and right at once belongs to them, as a result may grow both ways.

        Args:
            place: Of the formula.
            area: The cells that it fills.
        """
        sheet, row, column = place
        bottom = _before_next(self._below[sheet, column], area.bottom, MAX_ROW)
        right = _before_next(self._beside[sheet, row], area.right, MAX_COLUMN)
        return Area(area.top, area.left, bottom, right)


def _before_next(places: list[int], place: int, last: int) -> int:
    after = bisect_right(places, place)
    return places[after] - 1 if after < len(places) else max(place, last)
