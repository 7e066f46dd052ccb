"""Contents of a worksheet with its pending edits, and the areas that they change."""

import re
from collections.abc import Iterable, Iterator

from kbd.sheets.areas import Area, column_number
from kbd_xlsx.parts.cells import PendingCells
from kbd_xlsx.parts.outline import CellMarkup, Outline, RowMarkup, Rows

__all__ = ["CellContents", "changed_areas", "pending_box"]

# The opening of a ready cell, up to its column.
_PLACED = re.compile(rb'(<(?:[\w.-]+:)?c r=")([A-Z]+)\d')


class CellContents:
    """The cells of a part that hold something, pending edits counted.

    Args:
        outline: The part.
        rows: Its rows; none if they are wiped.
        pending: What is to change.
    """

    def __init__(self, outline: Outline, rows: Rows, pending: PendingCells) -> None:
        self._outline, self._rows, self._pending = outline, rows, pending
        name = re.escape(outline.qualified(b""))
        # An empty value is none.
        self._holds = re.compile(rb"<%b(?:f(?=[\s/>])|v(?:\s[^>]*)?>(?!</)|is(?=[\s>]))" % name)
        self._formula = re.compile(rb"<%bf(?=[\s/>])" % name)

    def columns(self, number: int) -> list[int]:
        """Return the columns of a row that hold something, in order."""
        edits = self._pending.edits.get(number, {})
        held = {
            cell.column
            for row, cell in self._cells(number)
            if cell.column not in edits or edits[cell.column].content is None
            if self._holds.search(row.scan, cell.inner, cell.inner_end)
        }
        clears = self._pending.clears_of(number)
        if clears:
            held = {
                column
                for column in held
                if not any(area.left <= column <= area.right for area in clears)
            }
        held.update(
            column
            for column, edit in edits.items()
            if edit.content is not None and edit.content.kind != "blank"
        )
        return sorted(held)

    def _cells(self, number: int) -> Iterator[tuple[RowMarkup, CellMarkup]]:
        put = self._pending.puts.get(number)
        if put is not None:
            # Ready cells have no row element yet, but only the row's number is needed here.
            row = RowMarkup(number, put.cells, put.cells, 0, b"", 0, len(put.cells), len(put.cells))
        else:
            place = self._rows.place(number)
            if place is None:
                return
            row = self._rows.at(place)
        for cell in self._rows.cells(row):
            yield row, cell

    def rows(self, area: Area) -> list[int]:
        """Return the numbers of the rows of an area that there are or will be, in order."""
        found = {self._rows.numbers[place] for place in self._rows.places(area)}
        for numbers in (self._pending.edits, self._pending.puts):
            found.update(number for number in numbers if area.top <= number <= area.bottom)
        return sorted(found)

    def removes_or_adds_formulas(self) -> bool:
        """Tell whether an edit writes a formula or takes one away."""
        pending, outline = self._pending, self._outline
        if pending.are_results:
            return False
        if any(
            edit.content is not None and edit.content.kind == "formula"
            for cells in pending.edits.values()
            for edit in cells.values()
        ):
            return True
        if any(self._formula.search(put.cells) for put in pending.puts.values()):
            return True
        if not outline.has_formulas:
            return False
        if pending.is_wiped:
            return True
        # Only these rows can lose a formula, so no others are taken apart.
        touched = {
            number
            for number, cells in pending.edits.items()
            if any(edit.content is not None for edit in cells.values())
        }
        for area in pending.clears:
            touched.update(self._rows.numbers[place] for place in self._rows.places(area))
        return any(self._removes_formula(number) for number in touched)

    def _removes_formula(self, number: int) -> bool:
        place = self._rows.place(number)
        if place is None:
            return False
        row = self._rows.at(place)
        if not self._formula.search(row.scan, row.inner, row.inner_end):
            return False
        return any(
            self._pending.replaces(number, cell.column)
            and self._formula.search(row.scan, cell.inner, cell.inner_end)
            for cell in self._rows.cells(row)
        )


def changed_areas(pending: PendingCells) -> list[Area]:
    """Return the areas in which pending edits change values, adjacent cells together."""
    if pending.are_results:
        return []
    rows = (
        (
            number,
            sorted(column for column, edit in cells.items() if edit.content is not None),
        )
        for number, cells in sorted(pending.edits.items())
    )
    return [*_joined(rows), *_stacked(_put_areas(pending)), *pending.clears]


def pending_box(pending: PendingCells) -> Area | None:
    """Return the smallest area with all cells that pending edits make, None if there are none."""
    box: Area | None = None
    for number, cells in pending.edits.items():
        columns = [
            column
            for column, edit in cells.items()
            if edit.styles or (edit.content is not None and edit.content.kind != "blank")
        ]
        if columns:
            box = _around(box, number, min(columns), max(columns))
    for area in _put_areas(pending):
        box = _around(box, area.top, area.left, area.right)
    return box


def _around(box: Area | None, row: int, left: int, right: int) -> Area:
    if box is None:
        return Area(row, left, row, right)
    if box.top <= row <= box.bottom and box.left <= left and right <= box.right:
        return box
    return Area(min(box.top, row), min(box.left, left), max(box.bottom, row), max(box.right, right))


def _put_areas(pending: PendingCells) -> Iterator[Area]:
    """Yield the area of each ready row that has cells."""
    columns: dict[bytes, int] = {}
    for number, put in pending.puts.items():
        first = _PLACED.search(put.cells)
        # Sought with its "<", which a text cannot hold: one may well hold what follows it.
        last = first and _PLACED.match(put.cells, put.cells.rfind(first[1]))
        if not first or not last:
            continue
        for letters in (first[2], last[2]):
            if letters not in columns:
                columns[letters] = column_number(letters.decode())
        yield Area(number, columns[first[2]], number, columns[last[2]])


def _joined(rows: Iterable[tuple[int, list[int]]]) -> Iterator[Area]:
    """Yield areas of cells that are given by rows."""

    def runs() -> Iterator[Area]:
        for number, columns in rows:
            first = last = 0
            for column in columns:
                if last and column != last + 1:
                    yield Area(number, first, number, last)
                    first = column
                first, last = first or column, column
            if last:
                yield Area(number, first, number, last)

    return _stacked(runs())


def _stacked(areas: Iterable[Area]) -> Iterator[Area]:
    """Yield areas of one row each, joined with equal ones directly below."""
    open_: dict[tuple[int, int], tuple[int, int]] = {}
    for area in areas:
        key = (area.left, area.right)
        top, bottom = open_.get(key, (0, 0))
        if bottom and bottom != area.top - 1:
            yield Area(top, area.left, bottom, area.right)
            top = 0
        open_[key] = (top or area.top, area.bottom)
    for (left, right), (top, bottom) in open_.items():
        yield Area(top, left, bottom, right)
