"""Sheet of a spreadsheet, as whatever reads sheets wants it."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

from kbd.sheets.areas import Area
from kbd.sheets.cells import Formula, SheetCells
from kbd.sheets.values import Stamp, Value
from kbd_ods.formula_texts import is_momentary
from kbd_ods.sheet_builder import FoundFormula, FoundSheet, RepeatedRow

__all__ = ["OdsSheet"]


class OdsSheet(SheetCells):
    """A sheet.

    Args:
        found: What there is of it.
    """

    def __init__(self, found: FoundSheet) -> None:
        self.found = found
        self.name = found.name
        self.area = found.area
        self.frozen_rows = found.frozen_rows

    def rows(self, area: Area) -> Iterator[tuple[int, list[Value]]]:
        """Yield the rows of an area with their numbers; blank ones are left out."""
        rows = self.found.rows
        start = bisect_left(rows, area.top, key=lambda row: row.top + row.count - 1)
        for place in range(start, len(rows)):
            row = rows[place]
            if row.top > area.bottom:
                return
            first, last = max(row.top, area.top), min(row.top + row.count - 1, area.bottom)
            values = _cells(row, area.left, area.right)
            for number in range(first, last + 1):
                yield number, values.copy()

    def computed(self, area: Area) -> Iterator[tuple[int, int, str]]:
        """Yield an area's cells with formulas or errors: row, column, and the error or the text."""
        for each in self.formulas_in(area):
            yield each.row, each.column, each.error or each.text

    def aggregating(self, area: Area) -> Iterator[tuple[int, int, str]]:
        """Yield an area's cells with formulas: row, column, and the text."""
        for each in self.formulas_in(area):
            if each.text:
                yield each.row, each.column, each.text

    def formulas_in(self, area: Area) -> Iterator[FoundFormula]:
        """Yield an area's formulas and errors, from top to bottom."""
        found = self.found.formulas
        start = bisect_left(found, area.top, key=lambda each: each.row)
        for place in range(start, len(found)):
            each = found[place]
            if each.row > area.bottom:
                return
            if area.left <= each.column <= area.right:
                yield each

    def formulas(self, area: Area) -> dict[tuple[int, int], Formula]:
        """Return the same by row and column, each with what its result is worth."""
        return {(each.row, each.column): _formula(each) for each in self.formulas_in(area)}

    def island_areas(self) -> list[Area]:
        """Return where the islands are, from top to bottom."""
        return self.found.islands

    def merged_areas(self) -> list[Area]:
        """Return the merged ranges from top to bottom."""
        return self.found.merged

    def hidden_rows(self, area: Area) -> list[tuple[int, int]]:
        """Return the ranges of hidden rows in an area."""
        return _within(self.found.hidden_rows, area.top, area.bottom)

    def hidden_columns(self, area: Area) -> list[tuple[int, int]]:
        """Return the ranges of hidden columns in an area."""
        return _within(self.found.hidden_columns, area.left, area.right)


def _cells(row: RepeatedRow, left: int, right: int) -> list[Value]:
    values: list[Value] = [""] * (right - left + 1)
    for run in row.runs:
        for column in range(max(left, run.left), min(right, run.right) + 1):
            values[column - left] = _value(run.values[column - run.left])
    return values


def _value(kept: Any) -> Value:
    if isinstance(kept, list):
        kind, text = kept
        return Stamp(kind, text)
    assert isinstance(kept, bool | int | float | str)
    return kept


def _formula(found: FoundFormula) -> Formula:
    if not found.is_stored:
        return Formula(found.text, found.error, "missing")
    return Formula(found.text, found.error, "momentary" if is_momentary(found.text) else "current")


def _within(ranges: Sequence[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    return [(max(a, first), min(b, last)) for a, b in ranges if a <= last and b >= first]
