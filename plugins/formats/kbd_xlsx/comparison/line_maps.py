"""Which rows, columns and cells of one version are which of the other, on all sheets.

A formula follows a shift if each of its references names the same cells as before. Of rows that
have no counterpart, it may name any that took their place.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, cell_name, column_letters
from kbd_xlsx.comparison.formula_texts import FormulaReference, FormulaText, ParsedFormula
from kbd_xlsx.parts.markup import area_of

__all__ = [
    "NO_SHIFT",
    "BookMaps",
    "LineMap",
    "LineRun",
    "SheetMap",
    "Shift",
    "joined_runs",
    "last_shift",
]


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


class BookMaps:
    """The sheets of both versions.

    Args:
        sheets: Those that both have.
    """

    def __init__(self, sheets: Iterable[SheetMap] = ()) -> None:
        self._by_name: Mapping[str, SheetMap] = {each.before.casefold(): each for each in sheets}

    def sheet(self, name: str) -> SheetMap | None:
        """Return a sheet by its name in the version before."""
        return self._by_name.get(name.casefold())

    def follows(self, before: FormulaText, after: FormulaText, home: SheetMap | None) -> bool:
        """Tell whether a formula names the same cells as before.

        Args:
            before: The formula in the version before.
            after: The formula now.
            home: The sheet that it is of; None for none.
        """
        one, two = before.parsed(), after.parsed()
        if one.pieces != two.pieces or len(one.references) != len(two.references):
            return False
        return all(
            self._same(ours, theirs, home)
            for ours, theirs in zip(one.references, two.references, strict=True)
        )

    def translated(self, text: str, home: SheetMap | None) -> str:
        """Return a formula as it is if it only followed the shift."""
        parsed = FormulaText(text).parsed()
        moved = [self._became(each, home) for each in parsed.references]
        # What did not change is left as it is written.
        if tuple(moved) == parsed.references:
            return text
        written = [parsed.pieces[0]]
        for piece, reference in zip(parsed.pieces[1:], moved, strict=True):
            written.extend((_written(reference), piece))
        return "".join(written)

    def parsed(self, text: str) -> ParsedFormula:
        """Take a formula apart."""
        return FormulaText(text).parsed()

    def _same(self, one: FormulaReference, two: FormulaReference, home: SheetMap | None) -> bool:
        if one.fixed != two.fixed or one.is_area != two.is_area:
            return False
        sheet = self._named(one.sheet, home)
        if one.sheet != two.sheet:
            if sheet is None or _bare(two.sheet).casefold() != sheet.after.casefold():
                return False
            if not one.sheet or not two.sheet:
                return False
        mine = one.top, one.left, one.bottom, one.right
        other = two.top, two.left, two.bottom, two.right
        if sheet is None:
            return mine == other
        if bool(one.top) != bool(two.top) or bool(one.left) != bool(two.left):
            return False
        rows = not one.top or _accepted(
            sheet.rows, (one.top, one.bottom), (two.top, two.bottom), is_area=one.is_area
        )
        return rows and (
            not one.left
            or _accepted(
                sheet.columns, (one.left, one.right), (two.left, two.right), is_area=one.is_area
            )
        )

    def _named(self, written: str, home: SheetMap | None) -> SheetMap | None:
        """Return the sheet that a reference is to."""
        if not written:
            return home
        # A range of sheets counts as its first one.
        return self.sheet(_bare(written)) or self.sheet(_bare(written).partition(":")[0])

    def _became(self, reference: FormulaReference, home: SheetMap | None) -> FormulaReference:
        """Return a reference as it is if it only followed the shift."""
        sheet = self._named(reference.sheet, home)
        if sheet is None:
            return reference
        top, left, bottom, right = reference[1:5]
        name = reference.sheet
        if top:
            top, bottom = sheet.rows.first(top), sheet.rows.last(bottom)
        if left:
            left, right = sheet.columns.first(left), sheet.columns.last(right)
        if name and sheet.before != sheet.after and ":" not in name:
            name = _quoted(sheet.after)
        return reference._replace(sheet=name, top=top, left=left, bottom=bottom, right=right)


class Shift(NamedTuple):
    """What references on a sheet have become; without maps they are as they were."""

    maps: BookMaps | None = None
    sheet: SheetMap | None = None

    def ranges(self, text: str) -> str:
        """Return ranges as they have become."""
        return text if self.sheet is None or not text else self.sheet.ranges(text)

    def formula(self, text: str) -> str:
        """Return a formula as it is if it only followed the shift."""
        return text if self.maps is None or not text else self.maps.translated(text, self.sheet)


NO_SHIFT = Shift()


def _written(reference: FormulaReference) -> str:
    prefix = f"{reference.sheet}!" if reference.sheet else ""
    if reference.top > reference.bottom or reference.left > reference.right:
        return f"{prefix}#REF!"
    fixed = reference.fixed
    first = _corner(reference.top, reference.left, fixed[0], fixed[1])
    if not reference.is_area:
        return prefix + first
    return f"{prefix}{first}:{_corner(reference.bottom, reference.right, fixed[2], fixed[3])}"


def _accepted(
    lines: LineMap, before: tuple[int, int], after: tuple[int, int], *, is_area: bool
) -> bool:
    if is_area:
        return lines.accepts_span(before, after)
    return lines.accepts(before[0], after[0])


def _corner(row: int, column: int, row_fixed: bool, column_fixed: bool) -> str:  # noqa: FBT001
    letters = ("$" if column_fixed else "") + column_letters(column) if column else ""
    digits = ("$" if row_fixed else "") + str(row) if row else ""
    return letters + digits if letters or digits else cell_name(1, 1)


def _bare(written: str) -> str:
    """Return a sheet's name without its quotes."""
    if written.startswith("'") and written.endswith("'") and len(written) > 1:
        return written[1:-1].replace("''", "'")
    return written


def _quoted(name: str) -> str:
    if name.replace("_", "a").isalnum() and not name[0].isdigit():
        return name
    return "'" + name.replace("'", "''") + "'"


def last_shift(runs: Sequence[LineRun], moved: Sequence[LineRun]) -> int:
    """Return how far the last lines were shifted that did not move by themselves."""
    moves = set(moved)
    last = max((run for run in runs if run not in moves), default=LineRun(0, 0, 0))
    return last.after - last.before


def joined_runs(runs: list[LineRun]) -> list[LineRun]:
    """Join runs that go on one another."""
    found: list[LineRun] = []
    for run in sorted(runs):
        last = found[-1] if found else None
        if (
            last is not None
            and last.before + last.length == run.before
            and last.after + last.length == run.after
        ):
            found[-1] = last._replace(length=last.length + run.length)
        else:
            found.append(run)
    return found
