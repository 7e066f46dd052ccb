"""Formulas that differ only in their numbers, as those do that were filled down a column.

The first of a shape is scanned; the others are read by putting their row numbers in its place.
Which number is a row is found by scanning the shape again with numbers that tell.
"""

import re
from collections.abc import Sequence

import msgspec

from kbd_xlsx.calculation.operands import Operands, Reference, read_operands
from kbd_xlsx.references import MAX_ROW

__all__ = ["OperandReader"]

MAX_SHAPES = 2_000
"""Shapes that are remembered; past them all are forgotten."""

MAX_NUMBERS = 64
"""Numbers in a formula whose shape is remembered."""

MAX_DIGITS = 7
"""Digits that a row may be written with."""

_FIRST_MARK = 900_000
"""The first of the rows that tell; the last row of a sheet, as in A:C, is none of them."""

_NUMBER = re.compile("([0-9]+)")


class _Shape(msgspec.Struct, frozen=True):
    """What formulas of one shape refer to.

    Args:
        references: Sheet, first and last column, which sides are relative, and the places of the
            numbers that are its first and last row; below 0 is a row that the shape tells.
        fixed: Places and digits of the numbers that belong to names, which have to be the same.
        first: What the first formula of the shape refers to.
    """

    references: tuple[tuple[str | None, int, int, int, int, int], ...]
    fixed: tuple[tuple[int, str], ...]
    first: Operands

    def filled(self, numbers: Sequence[str]) -> Operands | None:
        """Return what the formula with other numbers refers to, None if it has to be scanned."""
        for place, digits in self.fixed:
            if numbers[place] != digits:
                return None
        if max(map(len, numbers), default=0) > MAX_DIGITS:
            return None
        found = []
        for sheet, left, right, moves, first, last in self.references:
            top = int(numbers[first]) if first >= 0 else -first
            bottom = int(numbers[last]) if last >= 0 else -last
            if not (0 < top <= MAX_ROW >= bottom > 0):
                return None
            found.append(Reference(sheet, top, left, bottom, right, moves))
        first_one = self.first
        return Operands(found, first_one.others, [], first_one.calls, is_clear=True)


class OperandReader:
    """Reads what formulas refer to, and remembers their shapes."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, ...], _Shape | None] = {}

    def read(self, text: str) -> Operands:
        """Return the same as `read_operands`."""
        pieces = _NUMBER.split(text)
        key, numbers = tuple(pieces[::2]), pieces[1::2]
        is_known = key in self._shapes
        shape = self._shapes.get(key)
        if shape is not None:
            operands = shape.filled(numbers)
            if operands is not None:
                return operands
        operands = read_operands(text)
        if not is_known:
            if len(self._shapes) >= MAX_SHAPES:
                self._shapes.clear()
            self._shapes[key] = _shape(key, numbers, operands)
        return operands


def _shape(key: Sequence[str], numbers: Sequence[str], operands: Operands) -> _Shape | None:
    """Return the shape of a formula that was scanned, None if another scan tells too little."""
    if operands.spans or not operands.is_clear or len(numbers) > MAX_NUMBERS:
        return None
    marks = [str(_FIRST_MARK + place) for place in range(len(numbers))]
    if not set(marks).isdisjoint(numbers):
        return None
    pieces = [key[0]]
    for mark, piece in zip(marks, key[1:], strict=True):
        pieces += [mark, piece]
    marked = read_operands("".join(pieces))
    if len(marked.references) != len(operands.references) or marked.spans or not marked.is_clear:
        return None
    has_names = marked.others != operands.others or marked.calls != operands.calls
    references = []
    rows = set()
    for ours, theirs in zip(operands.references, marked.references, strict=True):
        first = _place(theirs.top, len(numbers))
        last = _place(theirs.bottom, len(numbers))
        references.append((ours.sheet, ours.left, ours.right, ours.moves, first, last))
        rows |= {first, last}
        has_names |= ours.sheet != theirs.sheet
    fixed = tuple((place, digits) for place, digits in enumerate(numbers) if place not in rows)
    return _Shape(tuple(references), fixed if has_names else (), operands)


def _place(row: int, count: int) -> int:
    """Return the place of the number that a row is, the row below 0 if it is of the shape."""
    place = row - _FIRST_MARK
    return place if 0 <= place < count else -row
