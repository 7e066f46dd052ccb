"""Stale results: the stored ones that an edit makes old.

A result is old if its formula reads, through other formulas or not, a cell that the edit changed.
What a formula reads is told by its text; one whose text does not tell (INDIRECT, GETPIVOTDATA,
macros, text that cannot be scanned) counts as reading every cell, and OFFSET as reading all of
the sheets that its formula names.

A dynamic array (its cell is marked so, or its formula has a function that spills) may fill more
cells than before once it is calculated again. If it is new or old, all cells below and right of
it count as changed, too, as far as no other formula bounds its room. It is old also if a value
comes into the cells that it fills or goes out of them, and, if its result is an error, which may
be for want of room, if anything below and right of it changes. Legacy arrays and data tables keep
their size.

A formula that only asks for the time or for chance (NOW, TODAY, RAND) keeps its result: it was
that of one moment before the edit, and is so after it.

Where the result of a dynamic array may spread when it is calculated again.

Such a result fills as many cells as it needs, below and right of its formula, unless something
stands in its way: then it is an error in one cell. It never fills the cell of another formula.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.dependents import SheetIndex

__all__ = ["MAX_STEPS", "SpillRange", "column_runs", "stale_results"]

Place = tuple[int, int, int]
"""A cell: the number of its sheet, its row and its column."""


class SpillRange:
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


MAX_STEPS = 20_000_000
"""References that are followed before every result counts as old: a few seconds of work."""


def stale_results(
    book: FormulaBook,
    changed: Mapping[str, Sequence[Area]],
    max_steps: int = MAX_STEPS,
) -> dict[str, list[Area]]:
    """Return the cells whose result is old after an edit.

    Args:
        book: The workbook's formulas as they are after the edit.
        changed: By the title of their sheet, the cells that hold something else than before.
        max_steps: Work after which every formula of the workbook is returned.

    Returns:
        Rectangles by the title of their sheet: cells that have a formula, in columns where they
        touch, and all cells that an array, a spill or a data table fills. Without a stored result
        they are among them, too: what they come to is another now.

    Raises:
        FileReadFailed: A sheet is damaged.
    """
    if not any(changed.values()):
        return {}
    graph = _Graph(book)
    graph.spread(_merged(book, changed), max_steps)
    return graph.stale_areas()


class _Graph:
    """The formulas of a workbook by number, and who reads which cells."""

    def __init__(self, book: FormulaBook) -> None:
        self._titles = book.titles
        # Numbers in arrays cost a fraction of what a record for each formula would.
        self._sheets, self._rows, self._columns = array("l"), array("l"), array("l")
        self._areas: dict[int, Area] = {}
        self._growing: set[int] = set()
        self._read_all: list[int] = []
        self._indexes = [SheetIndex() for _ in book.sheets]
        for number, formula in enumerate(book.formulas()):
            cell = formula.cell
            self._sheets.append(formula.sheet)
            self._rows.append(cell.row)
            self._columns.append(cell.column)
            if formula.area is not None:
                self._areas[number] = formula.area
            if formula.is_growing:
                self._growing.add(number)
            if formula.meaning.reads_all:
                # Any edit makes it old, so the cells that its text names do not matter.
                self._read_all.append(number)
                continue
            for sheet, top, left, bottom, right in formula.meaning.cells:
                self._indexes[sheet].add(number, top, left, bottom, right)
        self._stale = bytearray(len(self._rows))

    def spread(self, changed: Iterable[tuple[int, Area]], max_steps: int) -> None:
        """Mark the formulas that read changed cells, and those that read their results."""
        waiting = [(sheet, area.top, area.left, area.bottom, area.right) for sheet, area in changed]
        if not waiting:
            return
        steps = 0
        for number in self._read_all:
            self._stale[number] = 1
            waiting.append(self._result(number))
        while waiting:
            sheet, top, left, bottom, right = waiting.pop()
            steps += 1
            for number in self._indexes[sheet].take(top, left, bottom, right):
                steps += 1
                if number >= 0 and not self._stale[number]:
                    self._stale[number] = 1
                    waiting.append(self._result(number))
            if steps > max_steps:
                # Past the bound every result counts as old: none is better than a wrong one.
                self._stale = bytearray(b"\1" * len(self._stale))
                return

    def stale_areas(self) -> dict[str, list[Area]]:
        """Return the results that were marked, by the title of their sheet."""
        places: dict[int, list[tuple[int, int]]] = {}
        found: dict[int, list[Area]] = {}
        for number, is_stale in enumerate(self._stale):
            if not is_stale:
                continue
            # All cells of an area hold results, whether or not the formula's own cell has one.
            area = self._areas.get(number)
            if area is not None:
                found.setdefault(self._sheets[number], []).append(area)
            else:
                place = self._columns[number], self._rows[number]
                places.setdefault(self._sheets[number], []).append(place)
        for sheet, cells in places.items():
            found.setdefault(sheet, []).extend(column_runs(cells))
        return {self._titles[sheet]: areas for sheet, areas in sorted(found.items())}

    def _result(self, number: int) -> tuple[int, int, int, int, int]:
        """Return the cells that an old result filled or that the new one may fill."""
        area = self._areas.get(number)
        sheet, row, column = self._place(number)
        if area is None:
            area = Area(row, column, row, column)
        if number in self._growing:
            area = self._spill_range.of((sheet, row, column), area)
        return sheet, area.top, area.left, area.bottom, area.right

    @cached_property
    def _spill_range(self) -> SpillRange:
        # Only formulas that spill need it, so most workbooks never pay for it.
        return SpillRange(map(self._place, self._growing), map(self._place, range(len(self._rows))))

    def _place(self, number: int) -> tuple[int, int, int]:
        return self._sheets[number], self._rows[number], self._columns[number]


def _merged(book: FormulaBook, changed: Mapping[str, Sequence[Area]]) -> list[tuple[int, Area]]:
    """Return changed cells by the number of their sheet, single ones joined along columns."""
    numbers = {title.casefold(): number for number, title in enumerate(book.titles)}
    # An exact title takes precedence over one that differs only in case.
    numbers.update((title, number) for number, title in enumerate(book.titles))
    found: list[tuple[int, Area]] = []
    for title, areas in changed.items():
        number = numbers.get(title, numbers.get(title.casefold(), -1))
        if number < 0:
            continue
        # Joined, so that a column of edits is one question to the index.
        single = {(area.left, area.top) for area in areas if _is_cell(area)}
        found.extend((number, area) for area in areas if not _is_cell(area))
        found.extend((number, area) for area in column_runs(single))
    return found


def _is_cell(area: Area) -> bool:
    return area.top == area.bottom and area.left == area.right


def column_runs(cells: Iterable[tuple[int, int]]) -> list[Area]:
    """Return cells, given as column and row, as areas of one column each, in order."""
    found: list[Area] = []
    # Columns count from 1, so 0 means that no area has begun.
    first = last = column = 0
    for left, row in sorted(cells):
        if left == column and row == last + 1:
            last = row
            continue
        if column:
            found.append(Area(first, column, last, column))
        column, first, last = left, row, row
    if column:
        found.append(Area(first, column, last, column))
    return found
