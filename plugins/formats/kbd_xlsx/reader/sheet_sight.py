"""What people do not see of the cells of an area: by their looks, conditions, runs and merges."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

import msgspec

from kbd.sheets.areas import Area, overlaps
from kbd.sheets.cells import CellMark, Marks
from kbd.sheets.values import Value
from kbd_xlsx.reader.cell_looks import USUAL_LOOK, CellLook, Sight, may_hide, sight
from kbd_xlsx.reader.conditions import OPEN_CONDITION, ConditionRule, LookUp, add_up, applies
from kbd_xlsx.reader.rich_text import RichCell, SheetRuns
from kbd_xlsx.reader.unseen import EVERY_LOOK, OPEN_LOOK, UnseenRun

__all__ = ["MarkCounts", "SheetLooks", "SheetSight", "UnseenPlaces"]

MAX_RULES_OF_CELL = 20
"""Conditions of one cell that are added up."""

MAX_EVALUATED = 200_000
"""Conditions that are evaluated for an area; beyond them it stays open whether they apply."""


class SheetLooks(msgspec.Struct, frozen=True, array_like=True):
    """What tells what is seen of a sheet's cells, beside where they are.

    Args:
        looks: The looks of cells that may hide what they hold, by their places.
        conditions: Conditional formats that matter for it, the first one first.
        rich: Cells with runs of text of their own colors and sizes.
    """

    looks: dict[int, CellLook] = {}
    conditions: list[ConditionRule] = []
    rich: SheetRuns = SheetRuns()

    def hiding_areas(self) -> list[Area]:
        """Return the ranges of the conditions that may hide texts."""
        hiding = (rule.areas for rule in self.conditions if rule.is_hiding)
        return list(dict.fromkeys(area for areas in hiding for area in areas))


_SHOWN_PLACES = 5


class MarkCounts(msgspec.Struct, frozen=True):
    """How many cells are hidden, may be, or are hidden in part.

    Args:
        hidden: Cells of which nothing is seen.
        maybe: Cells that a condition may hide.
        partly: Cells of which something is not seen.
        first: Row and column of the first few of all.
    """

    hidden: int = 0
    maybe: int = 0
    partly: int = 0
    first: tuple[tuple[int, int], ...] = ()

    def added(self, marks: Marks) -> "MarkCounts":
        """Return the counts with those of more cells."""
        kinds = [mark.kind for row in marks.values() for mark in row.values()]
        return MarkCounts(
            self.hidden + kinds.count("hidden"),
            self.maybe + kinds.count("maybe"),
            self.partly + kinds.count("partly"),
            (*self.first, *((row, column) for row in marks for column in marks[row]))[
                :_SHOWN_PLACES
            ],
        )


_BLOCK_ROWS = 1_000
_MAX_BLOCKS = 8


class UnseenPlaces:
    """Runs of a sheet, and its cells with texts in runs, found by their rows.

    A sheet is read in thousands of parts, each of which would look at all of them.
    """

    def __init__(self, runs: list[UnseenRun], cells: tuple[RichCell, ...]) -> None:
        self._long: list[UnseenRun] = []
        self._by_block: dict[int, list[UnseenRun]] = {}
        self._by_row: dict[int, list[RichCell]] = {}
        for run in runs:
            blocks = range(run.top // _BLOCK_ROWS, run.bottom // _BLOCK_ROWS + 1)
            if len(blocks) > _MAX_BLOCKS:
                self._long.append(run)
                continue
            for block in blocks:
                self._by_block.setdefault(block, []).append(run)
        for cell in cells:
            self._by_row.setdefault(cell.row, []).append(cell)

    def runs(self, area: Area) -> list[UnseenRun]:
        """Return the runs in the rows of an area."""
        blocks = range(area.top // _BLOCK_ROWS, area.bottom // _BLOCK_ROWS + 1)
        near = [run for block in blocks for run in self._by_block.get(block, ())]
        found = [run for run in (*self._long, *near) if run.top <= area.bottom]
        return list(dict.fromkeys(run for run in found if run.bottom >= area.top))

    def rich(self, rows: Iterable[int]) -> list[RichCell]:
        """Return the cells with texts in runs in some rows."""
        return [cell for row in rows for cell in self._by_row.get(row, ())]


class SheetSight:
    """What is seen of the cells of an area.

    Args:
        area: The area.
        rows: The values of its rows.
        computed: Its cells that have formulas or errors, with the errors, "" for none.
        looks: What was found of the sheet.
        filled: Where the styles of tables put something behind cells.
        look_up: Returns the value of any cell of the sheet, "" for none, None if it is not known.
    """

    def __init__(
        self,
        area: Area,
        rows: Mapping[int, list[Value]],
        computed: Mapping[tuple[int, int], str],
        looks: SheetLooks,
        filled: tuple[Area, ...],
        look_up: LookUp,
    ) -> None:
        self._area = area
        self._rows = rows
        self._computed = computed
        self._looks = looks
        self._near = [
            rule for rule in looks.conditions if any(overlaps(each, area) for each in rule.areas)
        ]
        self._filled = filled
        self._look_up = cache(look_up)
        self.evaluated = 0
        """How many conditions were evaluated."""
        self._looked_at: set[tuple[int, int]] = set()
        self._marks: Marks = {}
        self._sums: dict[tuple[object, ...], Sight] = {}

    def marks(
        self,
        runs: list[UnseenRun],
        rich: list[RichCell],
        covered: list[Area],
        *,
        conditioned: bool = True,
    ) -> Marks:
        """Return what is not seen.

        Args:
            runs: Where cells are whose look may hide them.
            rich: Cells with texts in runs.
            covered: Merged ranges, whose cells but the first are not seen.
            conditioned: Whether conditions are evaluated for cells of the usual look.
        """
        area = self._area
        for run in runs:
            for row in range(max(run.top, area.top), min(run.bottom, area.bottom) + 1):
                for column in run.in_row(area.left, area.right) if row in self._rows else ():
                    self._mark(row, column, run.look)
        if conditioned:
            self._mark_conditioned()
        for cell in rich:
            if area.left <= cell.column <= area.right:
                self._mark_runs(cell)
        if self._looks.rich.untold_from:
            self._mark_untold(self._looks.rich.untold_from)
        for row, column in self._computed if covered else ():
            for each in covered:
                if _holds(each, row, column) and (row, column) != (each.top, each.left):
                    self._put(row, column, CellMark("hidden"))
        return {row: dict(sorted(self._marks[row].items())) for row in sorted(self._marks)}

    def _mark_conditioned(self) -> None:
        """Mark the texts of usual looks in the ranges of conditions; others are in runs.

        Numbers that a condition hides, as of zeros and repeats, are left alone: many sheets have
        them, and they tell a model nothing that it could obey.
        """
        area = self._area
        for row, column, value in self._conditioned(area):
            if (row, column) not in self._looked_at:
                self._mark_by(row, column, value, USUAL_LOOK)

    def _conditioned(self, area: Area) -> Iterator[tuple[int, int, Value]]:
        """Yield the cells in the ranges of conditions that have texts, or formulas of no result."""
        ranges = [
            (max(each.left, area.left), min(each.right, area.right), each)
            for each in self._looks.hiding_areas()
            if overlaps(each, area)
        ]
        for row, values in self._rows.items() if ranges else ():
            columns = {
                column
                for left, right, each in ranges
                if each.top <= row <= each.bottom
                for column in range(left, right + 1)
                if type(values[column - area.left]) is str
            }
            for column in columns:
                value = values[column - area.left]
                if value != "" or (row, column) in self._computed:
                    yield row, column, value

    def _value(self, row: int, column: int) -> Value:
        return self._rows[row][column - self._area.left]

    def _put(self, row: int, column: int, mark: CellMark) -> None:
        self._marks.setdefault(row, {})[column] = mark

    def _mark(self, row: int, column: int, place: int) -> None:
        value = self._value(row, column)
        if value == "" and (row, column) not in self._computed:
            return
        if place == EVERY_LOOK:
            self._put(row, column, CellMark("hidden"))
            return
        if place == OPEN_LOOK:
            if any(rule.holds(row, column) for rule in self._near):
                self._put(row, column, CellMark("maybe"))
            return
        self._looked_at.add((row, column))
        look = self._looks.looks.get(place)
        if look is not None:
            self._mark_by(row, column, value, look)

    def _mark_by(self, row: int, column: int, value: Value, look: CellLook) -> None:
        match self._sight(row, column, value, look):
            case Sight.HIDDEN:
                self._put(row, column, CellMark("hidden"))
            case Sight.MAYBE:
                self._put(row, column, CellMark("maybe"))
            case Sight.SEEN:
                pass

    def _sight(self, row: int, column: int, value: Value, look: CellLook) -> Sight:
        own = self._grounded(row, column, look)
        # An error that a condition hides, as many do, tells nobody anything.
        is_error = self._computed.get((row, column), "") != ""
        is_number = not isinstance(value, str) and not may_hide(own)
        rules = [] if is_error or is_number else self._rules(row, column, value)
        if not isinstance(value, str):
            return add_up(own, value, rules)
        # For a look all texts are alike, so that the same rules come to the same.
        key = (own, value == "", tuple((id(rule), applied) for rule, applied in rules))
        found = self._sums.get(key)
        if found is None:
            found = self._sums[key] = add_up(own, value, rules)
        return found

    def _grounded(self, row: int, column: int, look: CellLook) -> CellLook:
        """Return a look; where the style of a table is behind it, its ground cannot be told."""
        if look.ground and any(_holds(each, row, column) for each in self._filled):
            return CellLook(look.ink, "", look.code)
        return look

    def _rules(
        self, row: int, column: int, value: Value
    ) -> list[tuple[ConditionRule, bool | None]]:
        """Return the conditions of a cell, and whether each applies."""
        found: list[tuple[ConditionRule, bool | None]] = []
        for rule in self._near:
            if not rule.holds(row, column):
                continue
            if len(found) >= MAX_RULES_OF_CELL:
                # The rest may hide it, too: one that is open stands for all.
                found.append((OPEN_CONDITION, None))
                break
            self.evaluated += 1
            is_open = self.evaluated > MAX_EVALUATED
            applied = None if is_open else applies(rule, row, column, value, self._look_up)
            if applied is not False:
                found.append((rule, applied))
        return found

    def _mark_runs(self, cell: RichCell) -> None:
        """Mark the runs of a cell that are not seen; what its number format hides stays hidden."""
        row, column = cell.row, cell.column
        value, text = self._value(row, column), self._looks.rich.texts[cell.text]
        if not isinstance(value, str) or not value:
            return
        look = self._looks.looks.get(cell.look) or USUAL_LOOK
        look = self._grounded(row, column, look)
        rules = self._rules(row, column, value)
        # In a color that nothing behind it has, only the number format can hide it.
        if sight(CellLook("7F8183", "", look.code), value) is Sight.HIDDEN:
            return
        if len(value) != text.length:
            self._put(row, column, CellMark("maybe"))
            return
        if any(rule.change.ink or rule.change.ground for rule, _ in rules):
            # Programs differ in whether a condition colors runs that have a color of their own.
            if text.unseen_spans(look.ink, look.ground):
                self._marks.setdefault(row, {}).setdefault(column, CellMark("maybe"))
            return
        spans = tuple(
            span for span in text.unseen_spans(look.ink, look.ground) if value[slice(*span)].strip()
        )
        self._marks.get(row, {}).pop(column, None)
        shown = value
        for start, end in reversed(spans):
            shown = shown[:start] + shown[end:]
        if spans:
            # A formula is shown with its text, in which the places of a result mean nothing.
            is_part = shown.strip() and (row, column) not in self._computed
            self._put(row, column, CellMark("partly", spans) if is_part else CellMark("hidden"))

    def _mark_untold(self, first: int) -> None:
        """Mark the texts of rows that were too many to be told apart."""
        for row, values in self._rows.items():
            for column, value in enumerate(values, self._area.left) if row >= first else ():
                if isinstance(value, str) and value:
                    self._marks.setdefault(row, {}).setdefault(column, CellMark("maybe"))


def _holds(area: Area, row: int, column: int) -> bool:
    return area.top <= row <= area.bottom and area.left <= column <= area.right
