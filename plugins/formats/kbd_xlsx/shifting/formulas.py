"""References of formulas, moved by the map of one sheet.

A formula goes on naming the cells that it named. A range grows by lines that are put in between
its ends and shrinks by those that go; what is left of a reference whose cells all went is `#REF!`.
Only coordinates change: names, tables, spelling and blanks stay as they are written.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, column_letters
from kbd_xlsx.calculation.functions import PLAIN, SPILLING_CALLS, known_name
from kbd_xlsx.calculation.operands import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    LocatedReference,
    NameUse,
    Reference,
    locate_references,
    read_operands,
)
from kbd_xlsx.shifting.line_map import LineMap, SheetMap

__all__ = ["LOST", "NO_OFFSET", "FormulaMover", "Offset", "SharedFormula", "written"]

LOST = "#REF!"
"""What a formula has in the place of cells that there are not any more."""

MAX_SHAPES = 4_000
"""Shapes of formulas that are remembered; past them all are forgotten."""

_NUMBER = re.compile("([0-9]+)")
_POSITIONS = re.compile(r"(?<![\w.])(?:ROW|COLUMN|CELL|FORMULATEXT)\s*\(", re.IGNORECASE)
_CONSTANTS = frozenset({"TRUE", "FALSE"})
_MAX_DIGITS = 7


class Offset(NamedTuple):
    """How far relative references are from those of the text, before the move and after it."""

    rows: int = 0
    columns: int = 0
    rows_after: int = 0
    columns_after: int = 0


NO_OFFSET = Offset()


class _Shape(NamedTuple):
    """Shape of formulas that differ in numbers only.

    Args:
        pieces: The texts around the numbers as they will be.
        fixed: Places and digits of numbers that are no rows; another has to be scanned.
        rows: Places of the numbers that are the first and last row of a reference.
        tells_place: Whether its result tells where a cell stands, or how a formula is written.
    """

    pieces: tuple[str, ...]
    fixed: tuple[tuple[int, str], ...]
    rows: tuple[tuple[int, int], ...]
    tells_place: bool


class _Remembered(dict[str, str]):
    """Rows as written, by the row before; "" for one that is not there any more."""

    def __init__(self, become: Callable[[int], int | None]) -> None:
        super().__init__()
        self._become = become

    def __missing__(self, digits: str) -> str:
        row = int(digits) if len(digits) <= _MAX_DIGITS else 0
        found = self._become(row) if 0 < row <= MAX_ROW else None
        text = str(found) if found and found <= MAX_ROW else ""
        self[digits] = text
        return text


class FormulaMover:
    """Moves references to one sheet.

    Attributes:
        lost: How many references lost all of their cells so far.
        spanning: How many references so far go through the sheet and others (Jan:Dec!A1); they
            stay as they are.
        unclear: How many formulas so far could not be scanned; they stay as they are.
        may_read_new: Whether any formula so far may read lines that are put in: a range of it
            grew, or its text does not tell what it reads.
        tells_place: Whether the result of the last one tells where a cell stands.

    Args:
        sheet: The sheet's map.
        titles: The titles of all sheets in order.
    """

    def __init__(self, sheet: SheetMap, titles: Sequence[str]) -> None:
        self.sheet = sheet
        self.may_read_new = self.tells_place = False
        self.lost = self.spanning = self.unclear = 0
        self._places = {title.casefold(): place for place, title in enumerate(titles)}
        self._place = self._places.get(sheet.before.casefold(), -1)
        self._targets: dict[str, bool] = {}
        self._shapes: dict[tuple[bool, tuple[str, ...]], _Shape | None] = {}
        self._single = _Remembered(sheet.rows.get)
        self._first = _Remembered(sheet.rows.first)
        self._last = _Remembered(sheet.rows.last)

    def moved(self, text: str, *, is_home: bool) -> str:
        """Return a formula of a cell as it becomes.

        Args:
            text: The formula, with or without "=".
            is_home: Whether it is of the sheet itself, so that references without a sheet move.
        """
        # No reference to another sheet does without this sign.
        is_other = not is_home and "!" not in text
        pieces = _NUMBER.split(text)
        key = is_home, tuple(pieces[::2])
        numbers = pieces[1::2]
        shape = self._shapes.get(key)
        if shape is None and key not in self._shapes:
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            shape = self._shapes[key] = self._shape_of(text, key[1], numbers, is_home=is_home)
        if shape is None:
            self.tells_place = _POSITIONS.search(text) is not None
        else:
            self.tells_place = shape.tells_place
        if is_other:
            return text
        if shape is not None:
            found = self._filled(shape, numbers)
            if found is not None:
                return found
        return self.carried(text, is_home=is_home)

    def carried(
        self,
        text: str,
        *,
        is_home: bool,
        offset: Offset = NO_OFFSET,
        only_fixed: bool = False,
    ) -> str:
        """Return a formula whose text is written for another cell as it becomes.

        Args:
            text: The formula.
            is_home: As in `moved`.
            offset: How far its references are from those of the text.
            only_fixed: Whether relative references stay, as those of names do, which are told from
                the cell that uses the name.
        """
        located = locate_references(text)
        if not located.is_clear:
            self.unclear += 1
            return text
        pieces: list[str] = []
        place = 0
        for each in located.references:
            new = self._text_of(each, is_home=is_home, offset=offset, only_fixed=only_fixed)
            if new is not None:
                pieces += (text[place : each.start], new)
                place = each.end
        return "".join((*pieces, text[place:]))

    def _text_of(
        self, located: LocatedReference, *, is_home: bool, offset: Offset, only_fixed: bool
    ) -> str | None:
        """Return the coordinates of a reference as written, None if they stay."""
        reference = located.reference
        if not self.is_target(reference.sheet, is_home=is_home):
            if offset == NO_OFFSET:
                return None
            # Of another sheet, but told from a cell that moved.
            became: tuple[int, int, int, int] | None = _along(reference, offset)
        else:
            if only_fixed and reference.moves:
                return None
            became = self.became(located, offset)
        if became is None:
            self.lost += 1
            return LOST
        if became == (reference.top, reference.left, reference.bottom, reference.right):
            return None
        return written(located, became)

    def is_target(self, sheet: str | None, *, is_home: bool) -> bool:
        """Tell whether a sheet as it stands before "!" is the one that is mapped."""
        if sheet is None:
            return is_home
        known = self._targets.get(sheet)
        if known is None:
            known = self._targets[sheet] = self._is_named(sheet)
        if not known and ":" in sheet and self._is_spanned(sheet):
            self.spanning += 1
        return known

    def became(
        self, located: LocatedReference, offset: Offset = NO_OFFSET
    ) -> tuple[int, int, int, int] | None:
        """Return top, left, bottom and right of a reference to the sheet; None if it is lost."""
        reference = located.reference
        moves = reference.moves
        rows: tuple[int, int] | None = (reference.top, reference.bottom)
        columns: tuple[int, int] | None = (reference.left, reference.right)
        if located.kind != "columns" and rows != (1, MAX_ROW):
            along = bool(moves & TOP), bool(moves & BOTTOM)
            ends = reference.top, reference.bottom
            lines = self.sheet.rows.placed if located.kind == "cell" else self.sheet.rows
            rows = _span(lines, ends, along, (offset.rows, offset.rows_after), MAX_ROW)
        if located.kind != "rows" and columns != (1, MAX_COLUMN):
            along = bool(moves & LEFT), bool(moves & RIGHT)
            ends = reference.left, reference.right
            columns = _span(
                self.sheet.columns, ends, along, (offset.columns, offset.columns_after), MAX_COLUMN
            )
        if rows is None or columns is None:
            return None
        grew = (
            abs(rows[1] - rows[0]) != abs(reference.bottom - reference.top)
            or abs(columns[1] - columns[0]) != abs(reference.right - reference.left)
            or (not self.sheet.rows.is_identity and rows == (1, MAX_ROW))
            or (not self.sheet.columns.is_identity and columns == (1, MAX_COLUMN))
        )
        self.may_read_new = self.may_read_new or grew
        return rows[0], columns[0], rows[1], columns[1]

    def _look_at(self, text: str) -> None:
        """Note a formula whose text does not tell which cells it reads."""
        operands = read_operands(text)
        has_names = any(
            not isinstance(each, NameUse) or each.name.upper() not in _CONSTANTS
            for each in operands.others
        )
        is_open = any(
            call in SPILLING_CALLS or (call not in PLAIN and known_name(call) not in PLAIN)
            for call in operands.calls
        )
        if has_names or is_open or operands.spans or not operands.is_clear:
            self.may_read_new = True

    def _is_named(self, sheet: str) -> bool:
        return _bare(sheet).casefold() == self.sheet.before.casefold()

    def _is_spanned(self, sheet: str) -> bool:
        first, colon, last = _bare(sheet).partition(":")
        if not colon or "[" in sheet:
            return False
        ends = self._places.get(first.casefold()), self._places.get(last.casefold())
        if ends[0] is None or ends[1] is None:
            return False
        return min(ends[0], ends[1]) <= self._place <= max(ends[0], ends[1])

    def _shape_of(
        self, text: str, pieces: tuple[str, ...], numbers: list[str], *, is_home: bool
    ) -> _Shape | None:
        """Return the shape of a formula, None if each of its kind has to be scanned."""
        self._look_at(text)
        located = locate_references(text)
        if not located.is_clear:
            return None
        starts = {found.start(): place for place, found in enumerate(_NUMBER.finditer(text))}
        rows, within = [], set()
        for each in located.references:
            places = [starts[at] for at in range(each.start, each.end) if at in starts]
            within.update(places)
            sheet = each.reference.sheet
            if sheet is not None and ":" in sheet:
                return None
            if self.is_target(sheet, is_home=is_home):
                if places:
                    rows.append((places[0], places[-1]))
                elif self.sheet.columns.is_identity:
                    # Whole columns hold any new row.
                    self.may_read_new = True
        fixed = tuple((at, digits) for at, digits in enumerate(numbers) if at not in within)
        tells = _POSITIONS.search(text) is not None
        if self.sheet.columns.is_identity:
            return _Shape(pieces, fixed, tuple(rows), tells)
        lost = self.lost
        new = _NUMBER.split(self.carried(text, is_home=is_home))
        is_lost, self.lost = self.lost > lost, lost
        if is_lost or new[1::2] != numbers:
            return None
        return _Shape(tuple(new[::2]), fixed, (), tells)

    def _filled(self, shape: _Shape, numbers: list[str]) -> str | None:
        """Return a formula of a shape with its numbers, None if it has to be scanned."""
        for place, digits in shape.fixed:
            if numbers[place] != digits:
                return None
        new = numbers
        for first, last in shape.rows:
            if new is numbers:
                new = numbers.copy()
            if first == last:
                new[first] = self._single[numbers[first]]
            elif (
                numbers[first] == numbers[last]
                and self._first[numbers[first]] == self._last[numbers[last]]
            ):
                new[first] = new[last] = self._single[numbers[first]]
            else:
                one, two = int(numbers[first]), int(numbers[last])
                new[first], new[last] = self._first[numbers[first]], self._last[numbers[last]]
                # All rows, written with both ends, are all rows afterwards.
                if one > two or not new[first] or not new[last] or (one, two) == (1, MAX_ROW):
                    return None
                height = int(new[last]) - int(new[first])
                if height < 0:
                    return None
                self.may_read_new = self.may_read_new or height != two - one
            if not new[first]:
                return None
        out = [""] * (len(shape.pieces) + len(new))
        out[::2] = shape.pieces
        out[1::2] = new
        return "".join(out)


class SharedFormula:
    """Formula that several cells share, written for the first of them.

    Attributes:
        tells_place: Whether its results tell where cells stand.

    Args:
        text: Its text.
        row: Of the cell that it is written for, as is the column.
        mover: What moves its references.
        is_home: Whether it is of the sheet that is mapped.
    """

    def __init__(
        self, text: str, row: int, column: int, mover: FormulaMover, *, is_home: bool
    ) -> None:
        self.text, self.row, self.column = text, row, column
        mover.moved(text, is_home=is_home)
        self.tells_place = mover.tells_place
        self._mover, self._is_home = mover, is_home
        self._references = locate_references(text).references
        self._own: list[bool] = [
            mover.is_target(each.reference.sheet, is_home=is_home) for each in self._references
        ]

    def of(self, old: tuple[int, int]) -> str:
        """Return the formula of a cell that shares it, as its own text, by where it was."""
        away = old[0] - self.row, old[1] - self.column
        return self._mover.carried(
            self.text, is_home=self._is_home, offset=Offset(away[0], away[1], 0, 0)
        )

    def follows(self, old: tuple[int, int], new: tuple[int, int], first: "SharedFormula") -> bool:
        """Tell whether a cell that shares the formula still names the same cells.

        Args:
            old: Where the cell was.
            new: Where it is.
            first: The formula as it is written now, for its first cell now.
        """
        away = Offset(old[0] - self.row, old[1] - self.column)
        along = Offset(new[0] - first.row, new[1] - first.column)
        # A reference that got lost in the first cell is missing there.
        if len(self._references) != len(first.references):
            return False
        for each, other, is_own in zip(self._references, first.references, self._own, strict=True):
            right = self._mover.became(each, away) if is_own else _along(each.reference, away)
            if right != _along(other.reference, along):
                return False
        return True

    @property
    def references(self) -> list[LocatedReference]:
        """The references of the text."""
        return self._references


def written(located: LocatedReference, sides: tuple[int, int, int, int]) -> str:
    """Write the coordinates of a reference for other cells: top, left, bottom, right."""
    top, left, bottom, right = sides
    moves = located.reference.moves
    row_one = f"{'' if moves & TOP else '$'}{top}"
    row_two = f"{'' if moves & BOTTOM else '$'}{bottom}"
    column_one = ("" if moves & LEFT else "$") + column_letters(left)
    column_two = ("" if moves & RIGHT else "$") + column_letters(right)
    match located.kind:
        case "cell":
            return column_one + row_one
        case "area":
            return f"{column_one}{row_one}:{column_two}{row_two}"
        case "columns":
            return f"{column_one}:{column_two}"
        case "rows":
            return f"{row_one}:{row_two}"


def _span(
    lines: LineMap,
    ends: tuple[int, int],
    along: tuple[bool, bool],
    offset: tuple[int, int],
    count: int,
) -> tuple[int, int] | None:
    """Return the ends of a reference along rows or columns, None if nothing is left of it."""
    before, after = offset
    one = _around(ends[0] + before, count) if along[0] else ends[0]
    two = _around(ends[1] + before, count) if along[1] else ends[1]
    # Ends may be written the wrong way round, and stay so.
    if one <= two:
        one, two = lines.first(one), lines.last(two)
        is_lost = one > two
    else:
        one, two = lines.last(one), lines.first(two)
        is_lost = two > one
    if is_lost or not (1 <= one <= count and 1 <= two <= count):
        return None
    one = _around(one - after, count) if along[0] else one
    two = _around(two - after, count) if along[1] else two
    return one, two


def _along(reference: Reference, offset: Offset) -> tuple[int, int, int, int]:
    """Return the sides of a reference for a cell further on."""
    moves = reference.moves
    rows, columns = offset.rows - offset.rows_after, offset.columns - offset.columns_after
    whole_rows = (reference.top, reference.bottom) == (1, MAX_ROW)
    whole_columns = (reference.left, reference.right) == (1, MAX_COLUMN)
    top, bottom = reference.top, reference.bottom
    left, right = reference.left, reference.right
    if not whole_rows:
        top = _around(top + rows, MAX_ROW) if moves & TOP else top
        bottom = _around(bottom + rows, MAX_ROW) if moves & BOTTOM else bottom
    if not whole_columns:
        left = _around(left + columns, MAX_COLUMN) if moves & LEFT else left
        right = _around(right + columns, MAX_COLUMN) if moves & RIGHT else right
    return top, left, bottom, right


def _around(line: int, count: int) -> int:
    """Return a line of a sheet; one past its end comes in again at the other."""
    return (line - 1) % count + 1


def _bare(sheet: str) -> str:
    """Return a sheet's name as its tab has it."""
    sheet = sheet.removeprefix("$")
    if len(sheet) > 1 and sheet.startswith("'") and sheet.endswith("'"):
        return sheet[1:-1].replace("''", "'")
    return sheet
