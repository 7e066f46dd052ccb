"""Neighborhood of changed cells: which rows and columns of both versions are shown beside them.

Rows that were added, removed or moved shift the others. An `Axis` pairs the rows of the two
versions again: what neither was added nor removed is common, and the n-th common row of one version
is the n-th of the other. Columns, slides and pages are paired likewise.

Blocks are runs of common rows around changed ones, as hunks are in a text: two rows above and
below, the changed columns with their neighbors, and the first row and column, which say what the
others are.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from kbd.requests.base import Unset
from kbd.requests.reviews import ChangePlace, ContentChange

__all__ = [
    "AREA_CELLS",
    "Axis",
    "CellArea",
    "ChangeMark",
    "ColumnNames",
    "GridBlock",
    "Pair",
    "find_area",
    "find_blocks",
    "find_windows",
    "make_axis",
    "sheet_of",
    "unit_axis",
    "unit_number",
]

CONTEXT = 2
"""Rows around a changed one."""

BLOCK_ROWS = 40
"""Rows of one block; the next one goes on."""

BLOCK_COLUMNS = 14
"""Columns of one block; further changed ones are in the list of changes only."""

RANGE_ROWS = 12
"""Rows that are shown of a range that was added, removed or moved as a whole."""

AREA_CELLS = 200
"""Cells that are marked of one area whose formatting changed."""

_CELL = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")
_COLUMN = re.compile(r"\$?([A-Z]{1,3})")
_ROW = re.compile(r"\$?([1-9]\d{0,6})")


class CellArea(msgspec.Struct, frozen=True):
    """Rectangle of cells, both ends included, counted from 1; 0 for all rows or all columns."""

    top: int
    left: int
    bottom: int
    right: int


def sheet_of(place: ChangePlace) -> str | None:
    """Return the sheet that a place is in, "" for a table without sheets, None if it has no cells.

    A table of a document has numbered columns and no window of its own.
    """
    if not isinstance(place.sheet, Unset):
        has_cells = not isinstance(place.cell, Unset) or not isinstance(place.range, Unset)
        return place.sheet if has_cells else None
    is_row = not isinstance(place.row, Unset) and isinstance(place.table, Unset)
    is_column = isinstance(place.column, str)
    return "" if is_row or is_column else None


class ColumnNames(msgspec.Struct, frozen=True):
    """Names of the columns of a delimited table in both versions, in order."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


_NO_NAMES = ColumnNames()


def find_area(place: ChangePlace, names: Sequence[str] = ()) -> CellArea | None:
    """Return the cells of a place; None where it has none that could be shown.

    Args:
        place: Where.
        names: The columns of a delimited table, in order, of the version that the place is in.
    """
    if not isinstance(place.cell, Unset):
        return _parse(place.cell)
    if not isinstance(place.range, Unset):
        return _parse(place.range)
    row = 0 if isinstance(place.row, Unset) else place.row
    column = 0
    if isinstance(place.column, str):
        if place.column not in names:
            return None
        column = names.index(place.column) + 1
    return CellArea(row, column, row, column) if row or column else None


def _parse(text: str) -> CellArea | None:
    """Return a range: B7, A5:F5, whole rows 5:7, whole columns C:D."""
    first, _, last = text.upper().partition(":")
    last = last or first
    cells = _CELL.fullmatch(first), _CELL.fullmatch(last)
    if cells[0] and cells[1]:
        return CellArea(
            int(cells[0][2]), _number(cells[0][1]), int(cells[1][2]), _number(cells[1][1])
        )
    rows = _ROW.fullmatch(first), _ROW.fullmatch(last)
    if rows[0] and rows[1]:
        return CellArea(int(rows[0][1]), 0, int(rows[1][1]), 0)
    columns = _COLUMN.fullmatch(first), _COLUMN.fullmatch(last)
    if columns[0] and columns[1]:
        return CellArea(0, _number(columns[0][1]), 0, _number(columns[1][1]))
    return None


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


class Axis(msgspec.Struct, frozen=True):
    """Rows of both versions side by side, counted from 1; likewise columns, slides, pages.

    Args:
        added: What only the version after has, in order; also where something moved to.
        removed: What only the version before has; also where something moved from.
    """

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def common_after(self, number: int) -> int:
        """Return which common row this row after is, or, of an added one, that before it."""
        return number - bisect_right(self.added, number)

    def common_before(self, number: int) -> int:
        """Return the same of a row before."""
        return number - bisect_right(self.removed, number)

    def after_of(self, common: int) -> int:
        """Return where a common row is in the version after."""
        return _place(self.added, common)

    def before_of(self, common: int) -> int:
        """Return where it is in the version before."""
        return _place(self.removed, common)


def _place(own: tuple[int, ...], common: int) -> int:
    """Return the number of a common row in a version that has own rows."""
    number = common
    while (shifted := common + bisect_right(own, number)) != number:
        number = shifted
    return number


def make_axis(spans: Iterable[tuple[str, int, int]]) -> Axis:
    """Return the axis of what was "added" and "removed": spans from a first to a last number."""
    own: dict[str, set[int]] = {"added": set(), "removed": set()}
    for kind, first, last in spans:
        # Bounded: a file says how long a range is, and nobody is shown a million rows.
        own[kind].update(range(first, min(last, first + _SPAN) + 1))
    return Axis(tuple(sorted(own["added"])), tuple(sorted(own["removed"])))


_SPAN = 100_000


def unit_axis(changes: Iterable[ContentChange], unit: str) -> Axis:
    """Return the axis of a deck's slides or a file's pages ("slide", "page"), from 1."""
    spans: list[tuple[str, int, int]] = []
    for change in changes:
        if change.what != unit or change.kind == "changed":
            continue
        number = unit_number(change.place, unit)
        if number and change.kind != "moved":
            spans.append((change.kind, number, number))
        elif number:
            spans.append(("added", number, number))
            if not isinstance(change.moved_from, Unset):
                origin = unit_number(change.moved_from, unit)
                spans += [("removed", origin, origin)] if origin else []
    return make_axis(spans)


def unit_number(place: ChangePlace, unit: str) -> int:
    """Return which slide or page a place is on, from 1; 0 for none."""
    if unit == "slide":
        return 0 if isinstance(place.slide, Unset) else place.slide + 1
    return 0 if isinstance(place.page, Unset) else place.page


class ChangeMark(msgspec.Struct, frozen=True):
    """Mark of a cell, row or column: what happened, and the change that says so, by its index."""

    kind: str
    change: int


class Pair(msgspec.Struct, frozen=True):
    """Row or column in both versions; None where it is not."""

    before: int | None
    after: int | None


class GridBlock(msgspec.Struct, frozen=True):
    """Changed cells and what stands around them.

    Args:
        rows: The rows that are shown, in order.
        columns: The columns, in order.
        row_marks: Of rows that are only in one version, or moved, by their pair.
        column_marks: Likewise.
        cells_before: Marks of cells of the version before, by row and column.
        cells_after: Marks of cells of the version after.
        changes: The indices of the changes that are shown.
        more_columns: Changed columns that did not fit.
    """

    rows: tuple[Pair, ...]
    columns: tuple[Pair, ...]
    row_marks: dict[Pair, ChangeMark]
    column_marks: dict[Pair, ChangeMark]
    cells_before: dict[tuple[int, int], ChangeMark]
    cells_after: dict[tuple[int, int], ChangeMark]
    changes: tuple[int, ...]
    more_columns: int = 0


_Key = tuple[int, int, int]
"""Place of a row among those of both versions: the common row that it is, or that it follows; 0 for
the common one, 1 for one that is gone, 2 for a new one; its number."""


class _Marks:
    """Marks that the changes of one sheet give, as they are collected."""

    def __init__(self, changes: Sequence[tuple[int, ContentChange]], names: ColumnNames) -> None:
        spans: dict[str, list[tuple[str, int, int]]] = {"row": [], "column": []}
        self.lines: dict[str, dict[tuple[str, int], ChangeMark]] = {"row": {}, "column": {}}
        self.cells: dict[str, dict[int, dict[int, ChangeMark]]] = {"before": {}, "after": {}}
        areas: list[tuple[int, ContentChange, CellArea]] = []
        for index, change in changes:
            own = names.before if change.kind == "removed" else names.after
            area = find_area(change.place, own)
            if area is None:
                continue
            axis = "column" if not area.top else "row" if not area.left else ""
            if axis and change.kind != "changed":
                origin = None
                if not isinstance(change.moved_from, Unset):
                    origin = find_area(change.moved_from, names.before)
                spans[axis] += self._take_lines(axis, ChangeMark(change.kind, index), area, origin)
            else:
                areas.append((index, change, area))
        self.rows, self.columns = make_axis(spans["row"]), make_axis(spans["column"])
        for index, change, area in areas:
            self._take_cells(ChangeMark(change.kind, index), area)

    def _take_lines(
        self, axis: str, mark: ChangeMark, area: CellArea, origin: CellArea | None
    ) -> Iterator[tuple[str, int, int]]:
        """Mark whole rows or columns, and yield what they do to the axis."""
        sides = {"added": [("added", area)], "removed": [("removed", area)]}.get(mark.kind)
        if sides is None:
            sides = [("added", area)] + ([("removed", origin)] if origin else [])
        for side, where in sides:
            first, last = (where.top, where.bottom) if axis == "row" else (where.left, where.right)
            for number in range(first, min(last, first + RANGE_ROWS - 1) + 1):
                self.lines[axis][side, number] = mark
            yield side, first, last

    def _take_cells(self, mark: ChangeMark, area: CellArea) -> None:
        """Mark the cells of an area in the versions that have them."""
        if not area.top or not area.left:
            # A whole row or column of which something else than its place changed.
            axis, first = ("row", area.top) if area.top else ("column", area.left)
            self.lines[axis].setdefault(("changed", first), mark)
            return
        left = AREA_CELLS
        for row in range(area.top, area.bottom + 1):
            for column in range(area.left, area.right + 1):
                self._take_cell(mark, row, column)
                left -= 1
                if not left:
                    return

    def _take_cell(self, mark: ChangeMark, row: int, column: int) -> None:
        rows, columns, cells = self.rows, self.columns, self.cells
        # The first change of a cell counts: its value comes before its formatting.
        if mark.kind == "removed":
            cells["before"].setdefault(row, {}).setdefault(column, mark)
            if row not in rows.removed and column not in columns.removed:
                row = rows.after_of(rows.common_before(row))
                column = columns.after_of(columns.common_before(column))
                cells["after"].setdefault(row, {}).setdefault(column, mark)
            return
        cells["after"].setdefault(row, {}).setdefault(column, mark)
        if mark.kind != "added" and row not in rows.added and column not in columns.added:
            row = rows.before_of(rows.common_after(row))
            column = columns.before_of(columns.common_after(column))
            cells["before"].setdefault(row, {}).setdefault(column, mark)


def find_blocks(
    changes: Sequence[tuple[int, ContentChange]], names: ColumnNames = _NO_NAMES
) -> tuple[GridBlock, ...]:
    """Return the blocks of a sheet's or table's changes, in the order of its rows.

    Args:
        changes: Its changes, each with its index in the comparison.
        names: The columns of a delimited table.
    """
    marks = _Marks(changes, names)
    changed = _changed_rows(marks)
    if not changed:
        # Whole columns alone: the first rows show what they hold.
        changed = {(number, 0, number) for number in range(1, CONTEXT + 4)}
        if not marks.lines["column"]:
            return ()
    keys = sorted(_with_context(changed))
    runs: list[list[_Key]] = [[keys[0]]]
    for one, other in pairwise(keys):
        if other[0] - one[0] > 1 or len(runs[-1]) >= BLOCK_ROWS:
            runs.append([])
        runs[-1].append(other)
    return tuple(_block(marks, run) for run in runs)


def _changed_rows(marks: _Marks) -> set[_Key]:
    rows = marks.rows
    found: set[_Key] = set()
    for side, number in marks.lines["row"]:
        if side == "removed":
            found.add(_key_before(rows, number))
        else:
            found.add(_key_after(rows, number))
    found |= {_key_after(rows, row) for row in marks.cells["after"]}
    return found | {_key_before(rows, row) for row in marks.cells["before"]}


def _key_after(axis: Axis, number: int) -> _Key:
    common = axis.common_after(number)
    return (common, 2, number) if number in axis.added else (common, 0, common)


def _key_before(axis: Axis, number: int) -> _Key:
    common = axis.common_before(number)
    return (common, 1, number) if number in axis.removed else (common, 0, common)


def _with_context(changed: set[_Key]) -> set[_Key]:
    """Return the rows with the common ones around them."""
    found = set(changed)
    for common, kind, _ in changed:
        # One that is gone or new stands behind the common one that it names.
        first = common - CONTEXT + (1 if kind else 0)
        found |= {(number, 0, number) for number in range(max(1, first), common + CONTEXT + 1)}
    return found


def _block(marks: _Marks, run: list[_Key]) -> GridBlock:
    rows = tuple(_pair(marks.rows, key) for key in run)
    cells_before = _cells_of(marks.cells["before"], (pair.before for pair in rows))
    cells_after = _cells_of(marks.cells["after"], (pair.after for pair in rows))
    row_marks = {
        pair: mark for pair in rows if (mark := _line_mark(marks.lines["row"], pair)) is not None
    }
    columns, more = _columns(marks, cells_before, cells_after)
    column_marks = {
        pair: mark
        for pair in columns
        if (mark := _line_mark(marks.lines["column"], pair)) is not None
    }
    shown = (row_marks, column_marks, cells_before, cells_after)
    return GridBlock(
        rows=rows,
        columns=columns,
        row_marks=row_marks,
        column_marks=column_marks,
        cells_before=cells_before,
        cells_after=cells_after,
        changes=tuple(sorted({mark.change for each in shown for mark in each.values()})),
        more_columns=more,
    )


def _cells_of(
    marked: dict[int, dict[int, ChangeMark]], rows: Iterable[int | None]
) -> dict[tuple[int, int], ChangeMark]:
    """Return the marks of the cells of some rows."""
    return {
        (row, column): mark
        for row in rows
        if row is not None
        for column, mark in marked.get(row, {}).items()
    }


def _pair(axis: Axis, key: _Key) -> Pair:
    common, kind, number = key
    match kind:
        case 1:
            return Pair(number, None)
        case 2:
            return Pair(None, number)
        case _:
            return Pair(axis.before_of(common), axis.after_of(common))


def _line_mark(lines: dict[tuple[str, int], ChangeMark], pair: Pair) -> ChangeMark | None:
    if pair.after is None:
        return lines.get(("removed", pair.before or 0))
    if pair.before is None:
        return lines.get(("added", pair.after))
    return lines.get(("changed", pair.after))


def _columns(
    marks: _Marks,
    before: Iterable[tuple[int, int]],
    after: Iterable[tuple[int, int]],
) -> tuple[tuple[Pair, ...], int]:
    """Return the columns to show: the changed ones, their neighbors and the first one."""
    axis = marks.columns
    changed = {_key_after(axis, column) for _, column in after}
    changed |= {_key_before(axis, column) for _, column in before}
    for side, number in marks.lines["column"]:
        changed.add((_key_before if side == "removed" else _key_after)(axis, number))
    ordered = sorted(changed)
    taken = ordered[: BLOCK_COLUMNS - 1]
    if not taken:
        # Rows as a whole: their first columns say which they are.
        return tuple(_pair(axis, (n, 0, n)) for n in range(1, BLOCK_COLUMNS + 1)), 0
    shown = {(1, 0, 1), *taken}
    for common, kind, _ in taken:
        for near in (common, common + 1) if kind else (common - 1, common + 1):
            if near >= 1 and len(shown) < BLOCK_COLUMNS:
                shown.add((near, 0, near))
    return tuple(_pair(axis, key) for key in sorted(shown)), len(ordered) - len(taken)


def find_windows(
    rows: Iterable[int], columns: Iterable[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield windows that hold these rows and columns: first row, count, first column, count."""
    for left, right in _spans(columns, _WINDOW_COLUMNS, _WINDOW_COLUMNS):
        width = right - left + 1
        most_rows = max(1, min(_WINDOW_ROWS, _WINDOW_CELLS // width))
        for top, bottom in _spans(rows, most_rows, _WINDOW_GAP):
            yield top, bottom - top + 1, left, width


_WINDOW_ROWS, _WINDOW_COLUMNS, _WINDOW_CELLS = 500, 200, 20_000
_WINDOW_GAP = 60
"""Rows between two that are wanted for which another window is asked for."""


def _spans(numbers: Iterable[int], most: int, gap: int) -> Iterator[tuple[int, int]]:
    """Yield spans that hold some numbers, none longer than `most`, split at wide gaps."""
    first = last = 0
    for number in sorted(set(numbers)):
        if first and (number - first >= most or number - last > gap):
            yield first, last
            first = 0
        first, last = first or number, number
    if first:
        yield first, last
