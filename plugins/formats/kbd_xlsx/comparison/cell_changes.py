"""Changes of a sheet's rows, columns and cells, by an alignment of its two versions."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kbd.formats import CellValue, Change, ChangeKind, ChangeList
from kbd.formats.alignment import diff_words
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.cell_areas import CellAreas
from kbd_xlsx.comparison.cell_values import is_recalculated
from kbd_xlsx.comparison.counted_rows import RowCounter, shift_rows
from kbd_xlsx.comparison.line_maps import BookMaps, LineMap, SheetMap
from kbd_xlsx.comparison.places import (
    area_place,
    cell_place,
    columns_place,
    rows_place,
)
from kbd_xlsx.comparison.raw_cells import RawCell, is_filled_row, raw_cells
from kbd_xlsx.comparison.result_changes import ResultChanges
from kbd_xlsx.comparison.row_alignment import SheetAlignment

__all__ = ["compare_cells", "list_rows"]

MAX_COLUMN_VALUES = 1000
"""Values that are listed of a column."""

_Cells = Mapping[int, RawCell]
# Quoted texts, names of sheets, tables, whole rows, and formulas that have attributes.
_NOT_PLAIN = re.compile(rb"<f>[^<]*(?:[\"'!\[&]|\d:\$?\d)|<f[^>]")


class _Event(NamedTuple):
    """What is next from top to bottom: a row that is gone, or one that there is now.

    `before` and `after` are 0 where there is none.
    """

    position: int
    order: int
    before: int
    after: int


class _Cursor:
    """Rows of a sheet as they are asked for, mostly in rising order."""

    def __init__(self, side: SheetSide, wanted: set[int]) -> None:
        self._rows = ((row.number, row.cells) for row in side.rows(sorted(wanted)))
        self._passed: dict[int, bytes] = {}
        self._at = 0

    def cells(self, number: int) -> _Cells:
        """Return the cells of a row by their columns."""
        return _taken_apart(self.markup(number))

    def markup(self, number: int) -> bytes:
        """Return the cells of a row as they are written."""
        while self._at < number:
            row = next(self._rows, None)
            if row is None:
                self._at = 1 << 30
                break
            # Of rows that moved some are asked for later.
            self._at, self._passed[row[0]] = row[0], row[1]
        return self._passed.pop(number, b"")


def compare_cells(
    sides: tuple[SheetSide, SheetSide],
    alignment: SheetAlignment,
    maps: BookMaps,
    sheet: SheetMap,
    changes: ChangeList,
    *,
    is_comparable: bool,
    singly: bool = False,
) -> None:
    """Add the changes of columns, rows and cells.

    Args:
        sides: Both versions of the sheet.
        alignment: How their rows and columns belong together.
        maps: Which cells are which, on all sheets.
        sheet: The same for this sheet.
        changes: Where the changes go.
        is_comparable: Whether numbers of texts and looks mean the same in both versions.
        singly: Whether the cells of rows that are new or gone are listed instead of the rows.

    Raises:
        FileReadFailed: A sheet is damaged.
    """
    comparison = _CellComparison(sides, alignment, maps, sheet, changes, singly=singly)
    comparison.run(is_comparable=is_comparable)


def list_rows(side: SheetSide, kind: ChangeKind, changes: ChangeList) -> None:
    """Add all rows of a sheet that is new, or gone; raises FileReadFailed."""
    for number, _, cells in side.rows(range(1, len(side.scan.hashes) + 1)):
        if not is_filled_row(cells):
            continue
        if changes.is_full:
            changes.count(kind, "row", 1)
            continue
        _add_row(changes, side, number, kind, _row_values(side, number, _taken_apart(cells)))


def _row_values(side: SheetSide, number: int, cells: _Cells) -> list[CellValue]:
    """Return the values of a row from column A to its last one."""
    last = max((column for column, cell in cells.items() if cell.is_filled), default=0)
    return [side.shown(cells.get(column), number) for column in range(1, last + 1)]


def _add_row(
    changes: ChangeList,
    side: SheetSide,
    number: int,
    kind: ChangeKind,
    values: list[CellValue],
    note: str = "",
) -> None:
    changes.add(
        Change(
            place=rows_place(side.name, number, number),
            kind=kind,
            what="row",
            before=values if kind == "removed" else None,
            after=values if kind == "added" else None,
            note=note,
        )
    )


class _CellComparison:
    """The comparison of one sheet."""

    def __init__(
        self,
        sides: tuple[SheetSide, SheetSide],
        alignment: SheetAlignment,
        maps: BookMaps,
        sheet: SheetMap,
        changes: ChangeList,
        *,
        singly: bool,
    ) -> None:
        self._singly = singly
        self._before, self._after = sides
        self._alignment = alignment
        self._maps = maps
        self._sheet = sheet
        self._changes = changes
        self._results = ResultChanges(*sides, changes)
        self._looks: CellAreas[tuple[int, int]] = CellAreas()
        self._columns_back = alignment.columns.inverted()
        self._has_columns = bool(
            alignment.removed_columns or alignment.added_columns or alignment.moved_columns
        )

    def run(self, *, is_comparable: bool) -> None:
        """Add all changes."""
        self._is_comparable = is_comparable and not self._has_columns
        counter = RowCounter(
            self._before, self._after, self._alignment.rows, is_comparable=is_comparable
        )
        self._counter = None if self._has_columns else counter
        self._add_columns()
        self._add_moves()
        alignment = self._alignment
        gone = _Cursor(self._before, {pair[0] for pair in alignment.pairs} | set(alignment.removed))
        new = _Cursor(self._after, {pair[1] for pair in alignment.pairs} | set(alignment.added))
        for event in self._events():
            if event.before and event.after:
                self._compare_markup(
                    event.before, gone.markup(event.before), event.after, new.markup(event.after)
                )
            elif event.before:
                self._add_whole_row(self._before, event.before, gone, "removed")
            else:
                self._add_whole_row(self._after, event.after, new, "added")
        self._results.finish()
        self._add_looks()

    def _events(self) -> Iterator[_Event]:
        rows = self._alignment.rows
        events = [_Event(after, 1, before, after) for before, after in self._alignment.pairs]
        events += [_Event(row, 1, 0, row) for row in self._alignment.added]
        events += [_Event(rows.room(row)[0], 0, row, 0) for row in self._alignment.removed]
        return iter(sorted(events))

    def _add_whole_row(
        self, side: SheetSide, number: int, cursor: _Cursor, kind: ChangeKind
    ) -> None:
        cells = cursor.cells(number)
        filled = [column for column, cell in cells.items() if cell.is_filled]
        is_past = kind == "added" and number > self._alignment.rows.ends[0]
        if self._singly:
            alignment = self._alignment
            gone = alignment.removed_columns if kind == "removed" else alignment.added_columns
            # What is in a column that is new or gone, too, was listed with that.
            for column in set(filled).difference(gone):
                self._add_filled(kind, number, cells[column])
        # One cell that was put below the table is no row of it.
        elif len(filled) == 1 and is_past and self._is_last(number):
            self._add_cell(kind, number, filled[0], None, cells[filled[0]])
        elif self._changes.is_full:
            self._changes.count(kind, "row", 1)
        else:
            _add_row(self._changes, side, number, kind, _row_values(side, number, cells))

    def _is_last(self, number: int) -> bool:
        """Tell whether all rows from one on are new, so that none was shifted by it."""
        runs = self._alignment.rows.runs
        return not runs or number >= runs[-1].after + runs[-1].length

    def _add_moves(self) -> None:
        for run in self._alignment.moved:
            if self._changes.is_full:
                self._changes.count("moved", "row", 1)
                continue
            last = run.length - 1
            self._changes.add(
                Change(
                    place=rows_place(self._after.name, run.after, run.after + last),
                    kind="moved",
                    what="row",
                    moved_from=rows_place(self._before.name, run.before, run.before + last),
                )
            )

    def _add_columns(self) -> None:
        if not self._has_columns:
            return
        alignment = self._alignment
        for kind, side, columns in (
            ("removed", self._before, alignment.removed_columns),
            ("added", self._after, alignment.added_columns),
        ):
            if self._singly:
                self._add_column_cells(
                    side, set(columns), "removed" if kind == "removed" else "added"
                )
                continue
            values = _column_values(side, columns)
            for column in columns:
                listed = values.get(column, [])
                is_cut = len(listed) >= MAX_COLUMN_VALUES
                is_gone = kind == "removed"
                self._changes.add(
                    Change(
                        place=columns_place(side.name, column, column),
                        kind="removed" if is_gone else "added",
                        what="column",
                        before=listed if is_gone else None,
                        after=None if is_gone else listed,
                        is_cut=is_cut,
                    )
                )
        for run in alignment.moved_columns:
            last = run.length - 1
            self._changes.add(
                Change(
                    place=columns_place(self._after.name, run.after, run.after + last),
                    kind="moved",
                    what="column",
                    moved_from=columns_place(self._before.name, run.before, run.before + last),
                )
            )

    def _add_column_cells(self, side: SheetSide, columns: set[int], kind: ChangeKind) -> None:
        """Add the cells of columns, in place of these."""
        for number, _, cells in side.rows(range(1, len(side.scan.hashes) + 1)):
            for cell in raw_cells(cells):
                if cell.column in columns and cell.is_filled:
                    self._add_filled(kind, number, cell)

    def _add_filled(self, kind: ChangeKind, row: int, cell: RawCell) -> None:
        self._add_cell(kind, row, cell.column, *((None, cell) if kind == "added" else (cell, None)))

    def _compare_markup(self, before: int, ours: bytes, after: int, theirs: bytes) -> None:
        """Compare two rows by what is written of them, as far as that can tell."""
        are_filled = is_filled_row(ours), is_filled_row(theirs)
        if self._counter is not None and self._changes.is_full and all(are_filled):
            counts = self._counter.count(before, ours, after, theirs)
            if counts is not None:
                for what, more in counts.items():
                    self._changes.count("changed", what, more)
                return
        if self._is_comparable and all(are_filled):
            if before != after and _is_shifted(ours, theirs, self._alignment.rows):
                return
            if before == after:
                ours, theirs = _unequal_cells(ours, theirs)
        one, two = _taken_apart(ours), _taken_apart(theirs)
        if not self._singly and not self._has_columns and are_filled[0] != are_filled[1]:
            cells = one if are_filled[0] else two
            if sum(cell.is_filled for cell in cells.values()) > 1:
                self._fill_row(before, one, after, two)
                return
        self._compare_row(before, one, after, two)

    def _compare_row(self, before: int, ours: _Cells, after: int, theirs: _Cells) -> None:
        if not self._has_columns:
            columns = sorted(ours.keys() | theirs.keys())
            pairs: Iterable[tuple[int, int]] = zip(columns, columns, strict=True)
        else:
            pairs = self._paired_columns(ours, theirs)
        for column, here in pairs:
            one, two = ours.get(here), theirs.get(column)
            # A formula is the same if it stands where it stood, and is no share of another.
            if (
                one is not None
                and one == two
                and self._is_comparable
                and (one.formula is None or (before == after and b"shared" not in one.details))
            ):
                continue
            self._compare_cell((before, here), one, (after, column), two)
            self._compare_looks((before, here), one, (after, column), two)

    def _paired_columns(self, ours: _Cells, theirs: _Cells) -> list[tuple[int, int]]:
        """Return the columns of cells, now and before, without those that are new or gone."""
        found: dict[int, int] = {}
        for column in ours:
            there = self._alignment.columns.get(column)
            if there is not None:
                found[there] = column
        for column in theirs:
            here = self._columns_back.get(column)
            if here is not None:
                found[column] = here
        return sorted(found.items())

    def _fill_row(self, before: int, ours: _Cells, after: int, theirs: _Cells) -> None:
        """Add a row that was empty and is not now, or the other way."""
        if any(cell.is_filled for cell in theirs.values()):
            kind: ChangeKind = "added"
            side, number, cells, note = self._after, after, theirs, "the row was empty before"
        else:
            kind = "removed"
            side, number, cells, note = self._before, before, ours, "the row is empty now"
        if self._changes.is_full:
            self._changes.count(kind, "row", 1)
            return
        _add_row(self._changes, side, number, kind, _row_values(side, number, cells), note)

    def _compare_cell(
        self,
        before: tuple[int, int],
        one: RawCell | None,
        after: tuple[int, int],
        two: RawCell | None,
    ) -> None:
        """Compare what two cells hold."""
        has_one = one is not None and one.is_filled
        has_two = two is not None and two.is_filled
        if not has_one and not has_two:
            return
        if one is not None and two is not None and has_one and has_two:
            if one.formula is not None and two.formula is not None:
                if self._is_same_formula(before, one, after, two):
                    self._results.compare(before, one, after, two)
                    return
            elif one.formula is None and two.formula is None:
                if self._is_same_content(one, two):
                    return
                if self._are_results(before, after):
                    self._results.compare(before, one, after, two)
                    return
            self._add_cell("changed", *after, one, two, before)
        elif has_two:
            self._add_cell("added", *after, None, two)
        elif self._after.is_member(*after) and one is not None and one.formula is None:
            self._results.outdate(*after)
        else:
            self._add_cell("removed", *before, one, None)

    def _is_same_formula(
        self, before: tuple[int, int], one: RawCell, after: tuple[int, int], two: RawCell
    ) -> bool:
        ours = self._before.formula(one, before[0])
        theirs = self._after.formula(two, after[0])
        if not _same_details(one, two, self._sheet):
            return False
        if before == after and (ours == theirs or ours.parsed() == theirs.parsed()):
            return True
        return self._maps.follows(ours, theirs, self._sheet)

    def _is_same_content(self, one: RawCell, two: RawCell) -> bool:
        ours, theirs = self._before.book.values, self._after.book.values
        content = ours.content(one)
        if one.metadata != two.metadata:
            return False
        if content != theirs.content(two):
            # A day may be written as a number, or by its name.
            is_named = (one.kind == "d") != (two.kind == "d")
            return is_named and ours.shown(one) == theirs.shown(two)
        return not isinstance(content, str) or ours.text(one)[1] == theirs.text(two)[1]

    def _are_results(self, before: tuple[int, int], after: tuple[int, int]) -> bool:
        """Tell whether cells without formulas hold results of formulas of others."""
        return self._before.is_member(*before) and self._after.is_member(*after)

    def _add_cell(
        self,
        kind: ChangeKind,
        row: int,
        column: int,
        one: RawCell | None,
        two: RawCell | None,
        before: tuple[int, int] = (0, 0),
    ) -> None:
        if self._changes.is_full:
            self._changes.count(kind, "cell", 1)
            return
        old = self._before.shown(one, before[0] or row)
        new = self._after.shown(two, row)
        side = self._before if kind == "removed" else self._after
        words = (
            diff_words(old, new)
            if kind == "changed" and isinstance(old, str) and isinstance(new, str) and old != new
            else ()
        )
        self._changes.add(
            Change(
                place=cell_place(side.name, row, column),
                kind=kind,
                what="cell",
                before=old,
                after=new,
                words=words,
                note=self._note(one, two, old, new) if kind == "changed" else "",
            )
        )

    def _note(
        self, one: RawCell | None, two: RawCell | None, old: CellValue, new: CellValue
    ) -> str:
        """Return what values alone do not show."""
        if one is None or two is None:
            return ""
        if (one.formula is None) != (two.formula is None):
            return "a value became a formula" if one.formula is None else "a formula became a value"
        if one.formula is not None:
            return _formula_note(one, two, old, new)
        kinds = _kind(old), _kind(new)
        if kinds[0] != kinds[1]:
            return f"it was {kinds[0]} and is {kinds[1]} now"
        if old == new:
            return "the looks or the metadata within the cell changed"
        return ""

    def _compare_looks(
        self,
        before: tuple[int, int],
        one: RawCell | None,
        after: tuple[int, int],
        two: RawCell | None,
    ) -> None:
        style_one = self._before.style_at(*before) if one is None else one.style
        style_two = self._after.style_at(*after) if two is None else two.style
        ours, theirs = self._before.book.looks, self._after.book.looks
        if ours.key(style_one) != theirs.key(style_two):
            self._looks.add(*after, (style_one, style_two))

    def _add_looks(self) -> None:
        ours, theirs = self._before.book.looks, self._after.book.looks
        for area, (one, two) in self._looks.take():
            details = ours.change(one, theirs, two)
            if details is not None:
                self._changes.add(
                    Change(
                        place=area_place(self._after.name, area),
                        kind="changed",
                        what="format",
                        details=details,
                    )
                )
        self._changes.count("changed", "format", self._looks.unlisted)


def _taken_apart(markup: bytes) -> _Cells:
    return {cell.column: cell for cell in raw_cells(markup)}


def _unequal_cells(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Return the cells of a row that are written differently; all where it cannot be told."""
    ours, theirs = before.split(b"</c>"), after.split(b"</c>")
    # Of a shared formula the text stands elsewhere, and a cell without an address is counted.
    is_counted = any(each.count(b"<c") != each.count(b'<c r="') for each in (before, after))
    if len(ours) != len(theirs) or b'"shared"' in before or is_counted:
        return before, after
    pairs = [pair for pair in zip(ours[:-1], theirs[:-1], strict=True) if pair[0] != pair[1]]
    first = b"".join([one + b"</c>" for one, _ in pairs])
    second = b"".join([two + b"</c>" for _, two in pairs])
    return first + ours[-1], second + theirs[-1]


def _is_shifted(before: bytes, after: bytes, rows: LineMap) -> bool:
    """Tell whether one row becomes another by putting new numbers of rows in their places.

    Where it cannot be told from the markup the answer is no.
    """
    # Texts within the row may look like cells, and cells of other sheets shift in other ways.
    if b"<is" in before or b't="str"' in before or _NOT_PLAIN.search(before):
        return False
    return shift_rows(before, rows) == after


def _column_values(side: SheetSide, columns: Any) -> dict[int, list[CellValue]]:
    """Return the values of columns from row 1 on."""
    found: dict[int, list[CellValue]] = {column: [] for column in columns}
    if not found:
        return found
    for number, _, cells in side.rows(range(1, MAX_COLUMN_VALUES + 1)):
        for cell in raw_cells(cells):
            values = found.get(cell.column)
            if values is not None and cell.is_filled:
                values.extend([None] * (number - 1 - len(values)))
                values.append(side.shown(cell, number))
    return found


def _same_details(one: RawCell, two: RawCell, sheet: SheetMap) -> bool:
    """Tell whether what a formula has beside its text is the same: being an array, its area."""
    ours, theirs = _details(one), _details(two)
    area = ours.pop("ref", "")
    other = theirs.pop("ref", "")
    if ours != theirs:
        return False
    return area == other or sheet.ranges(area) == other


def _details(cell: RawCell) -> dict[str, str]:
    if b"array" not in cell.details and b"dataTable" not in cell.details:
        return {"ca": "1"} if is_recalculated(cell) else {}
    pairs = (word.partition("=") for word in cell.details.decode("utf-8", "replace").split())
    return {name: value.strip("\"'") for name, _, value in pairs if name not in ("aca", "ca")}


def _formula_note(one: RawCell, two: RawCell, old: CellValue, new: CellValue) -> str:
    if isinstance(old, dict) and isinstance(new, dict) and old["formula"] == new["formula"]:
        if _details(one) != _details(two):
            return "the formula fills other cells, or is calculated at other times"
        return "the formula did not follow the rows or columns that moved"
    return ""


_KINDS = {"date": "a date", "datetime": "a date", "time": "a time", "duration": "a duration"}


def _kind(value: CellValue) -> str:
    match value:
        case None:
            return "empty"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case _:
            return _KINDS.get(next(iter(value)), "an error")
