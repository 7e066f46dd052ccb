"""The formulas of a workbook, as far as it matters on what they depend.

Formulas that differ only in their numbers, as those do that were filled down a column.

The first of a shape is scanned; the others are read by putting their row numbers in its place.
Which number is a row is found by scanning the shape again with numbers that tell.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.calculation.cells import FormulaCell, formula_cells
from kbd_xlsx.calculation.functions import SPILLING_CALLS
from kbd_xlsx.calculation.operand_ranges import (
    Cells,
    DefinedName,
    Meaning,
    OperandRanges,
    Place,
    TableArea,
)
from kbd_xlsx.calculation.operands import Operands, Reference, read_operands

__all__ = ["BookFormula", "FormulaBook", "OperandReader"]

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
    """Shape of formulas that differ only in numbers, with the operands of all of them.

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
        # The scanner takes a row of up to seven digits; with more of them it sees no cell.
        if max(map(len, numbers), default=0) > MAX_DIGITS:
            return None
        found = []
        for sheet, left, right, moves, first, last in self.references:
            top = int(numbers[first]) if first >= 0 else -first
            bottom = int(numbers[last]) if last >= 0 else -last
            # The scanner reads A1048577 as a name, not as a cell, so the shape does not fit here.
            if not (0 < top <= MAX_ROW >= bottom > 0):
                return None
            found.append(Reference(sheet, top, left, bottom, right, moves))
        # The lists are shared, not copied: operands are only read from here on.
        first_one = self.first
        return Operands(found, first_one.others, [], first_one.calls, is_clear=True)


class _CellShape(msgspec.Struct, frozen=True):
    """Shape of formulas of one sheet that read the cells of their references and nothing else.

    Args:
        shape: The shape.
        sheets: Of each of its references.
        is_fixed: Whether none of these is relative.
    """

    shape: _Shape
    sheets: tuple[tuple[int, ...], ...]
    is_fixed: bool

    def cells(self, numbers: Sequence[str]) -> list[Cells] | None:
        """Return what the formula with some numbers reads, None if it has to be scanned."""
        for place, digits in self.shape.fixed:
            if numbers[place] != digits:
                return None
        if max(map(len, numbers), default=0) > MAX_DIGITS:
            return None
        found = []
        for (_, left, right, _, first, last), sheets in zip(
            self.shape.references, self.sheets, strict=True
        ):
            top = int(numbers[first]) if first >= 0 else -first
            bottom = int(numbers[last]) if last >= 0 else -last
            if not (0 < top <= MAX_ROW >= bottom > 0):
                return None
            if top > bottom:
                top, bottom = bottom, top
            if left > right:
                left, right = right, left
            found += [(sheet, top, left, bottom, right) for sheet in sheets]
        return found


class OperandReader:
    """Reads what formulas refer to, and remembers their shapes."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, ...], _Shape | None] = {}
        self._cell_shapes: dict[tuple[str, ...], _CellShape | None] = {}
        self._sheet = -1

    def meaning(self, text: str, place: Place, meanings: OperandRanges) -> tuple[Operands, Meaning]:
        """Return what a formula refers to, and which cells it reads.

        Args:
            text: The formula.
            place: The cell that it stands in.
            meanings: What operands mean in the workbook.

        Returns:
            The operands, of a formula that differs in its numbers alone perhaps, and their meaning.
        """
        if place[0] != self._sheet:
            # A reference without a sheet means the sheet of the formula.
            self._sheet, self._cell_shapes = place[0], {}
        pieces = _NUMBER.split(text)
        key = tuple(pieces[::2])
        known = self._cell_shapes.get(key)
        if known is not None:
            cells = known.cells(pieces[1::2])
            if cells is not None:
                meaning = meanings.of_cells(cells, len(known.sheets), is_fixed=known.is_fixed)
                return known.shape.first, meaning
        operands = self.read(text)
        if key not in self._cell_shapes:
            if len(self._cell_shapes) >= MAX_SHAPES:
                self._cell_shapes.clear()
            self._cell_shapes[key] = self._cell_shape(key, place[0], meanings)
        return operands, meanings.of(operands, place)

    def _cell_shape(
        self, key: tuple[str, ...], sheet: int, meanings: OperandRanges
    ) -> _CellShape | None:
        shape = self._shapes.get(key)
        sheets = None if shape is None else meanings.only_references(shape.first, sheet)
        if shape is None or sheets is None:
            return None
        is_fixed = not any(reference.moves for reference in shape.first.references)
        return _CellShape(shape, tuple(sheets), is_fixed)

    def read(self, text: str) -> Operands:
        """Return the same as `read_operands`."""
        pieces = _NUMBER.split(text)
        # The pattern is one group, so the split puts the numbers at the odd places.
        key, numbers = tuple(pieces[::2]), pieces[1::2]
        # A shape that cannot be filled is remembered as None, so that it is worked out only once.
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
    """Return the shape of a scanned formula, None if a further scan cannot find its rows."""
    if operands.spans or not operands.is_clear or len(numbers) > MAX_NUMBERS:
        return None
    marks = [str(_FIRST_MARK + place) for place in range(len(numbers))]
    # A row that the formula itself names would be mistaken for a mark.
    if not set(marks).isdisjoint(numbers):
        return None
    pieces = [key[0]]
    for mark, piece in zip(marks, key[1:], strict=True):
        pieces += [mark, piece]
    marked = read_operands("".join(pieces))
    if len(marked.references) != len(operands.references) or marked.spans or not marked.is_clear:
        return None
    # Where names or calls changed with the numbers, they hold digits themselves: Rate2, LOG10.
    has_names = marked.others != operands.others or marked.calls != operands.calls
    references = []
    rows = set()
    for ours, theirs in zip(operands.references, marked.references, strict=True):
        first = _place(theirs.top, len(numbers))
        last = _place(theirs.bottom, len(numbers))
        references.append((ours.sheet, ours.left, ours.right, ours.moves, first, last))
        rows |= {first, last}
        has_names |= ours.sheet != theirs.sheet
    # Without such names, a number that is no row is a constant, whose value does not matter.
    fixed = tuple((place, digits) for place, digits in enumerate(numbers) if place not in rows)
    return _Shape(tuple(references), fixed if has_names else (), operands)


def _place(row: int, count: int) -> int:
    """Return the place of the number that a row is, the row below 0 if it is of the shape."""
    place = row - _FIRST_MARK
    return place if 0 <= place < count else -row


class BookFormula(msgspec.Struct, frozen=True, gc=False):
    """A formula cell with what it reads.

    Args:
        sheet: The number of its sheet, from 0.
        cell: As the file has it.
        area: The cells that its result fills, None if it is its own alone.
        meaning: The cells that it reads.
        is_growing: Whether its result may fill more cells once it is calculated again: it is a
            dynamic array. Legacy arrays and data tables keep their size.
    """

    sheet: int
    cell: FormulaCell
    area: Area | None
    meaning: Meaning
    is_growing: bool = False


class FormulaBook:
    """A workbook's formulas; nothing is read before it is asked for.

    Args:
        sheets: Title and worksheet XML of each sheet, in the order of the tabs; a sheet without
            cells has b"".
        names: The defined names, also the hidden ones.
        tables: The tables of all sheets.
    """

    def __init__(
        self,
        sheets: Sequence[tuple[str, bytes]],
        names: Sequence[DefinedName] = (),
        tables: Sequence[TableArea] = (),
    ) -> None:
        self.sheets = tuple(sheets)
        self.names = tuple(names)
        self.tables = tuple(tables)

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the sheets in the order of the tabs."""
        return tuple(title for title, _ in self.sheets)

    def formulas(self) -> Iterator[BookFormula]:
        """Yield every formula of the workbook; raises FileReadFailed for a damaged sheet."""
        meanings = OperandRanges(self.titles, self.names, self.tables)
        reader = OperandReader()
        for number, (title, data) in enumerate(self.sheets):
            yield from _of_sheet(number, formula_cells(data, title), meanings, reader)


def _of_sheet(
    sheet: int, cells: Iterator[FormulaCell], meanings: OperandRanges, reader: OperandReader
) -> Iterator[BookFormula]:
    # It is made for each sheet, because a shared formula's number (si) holds only within one.
    shared: dict[str, tuple[Operands, int, int]] = {}
    early: list[FormulaCell] = []
    for cell in cells:
        if cell.group is not None and not cell.text:
            if cell.group in shared:
                yield _sharing(sheet, cell, shared[cell.group], meanings)
            else:
                # The cell with the formula's text may come later in the file.
                early.append(cell)
            continue
        place = sheet, cell.row, cell.column
        if cell.group is None:
            operands, meaning = reader.meaning(cell.text, place, meanings)
        else:
            operands = reader.read(cell.text)
            shared[cell.group] = operands, cell.row, cell.column
            meaning = meanings.of(operands, place)
        yield _formula(sheet, cell, operands, meaning)
    for cell in early:
        if cell.group in shared:
            yield _sharing(sheet, cell, shared[cell.group], meanings)
        else:
            # Whose formula it shares is not in the file.
            yield BookFormula(sheet, cell, None, Meaning([], reads_all=True))


def _sharing(
    sheet: int, cell: FormulaCell, shared: tuple[Operands, int, int], meanings: OperandRanges
) -> BookFormula:
    operands, row, column = shared
    moved = cell.row - row, cell.column - column
    meaning = meanings.of(operands, (sheet, cell.row, cell.column), moved)
    return _formula(sheet, cell, operands, meaning)


def _formula(sheet: int, cell: FormulaCell, operands: Operands, meaning: Meaning) -> BookFormula:
    """Return a formula; what it reads besides the operands of its text is added to its meaning."""
    area = _filled(cell)
    is_growing = _is_growing(cell, operands)
    if is_growing:
        _add_spill_range(sheet, cell, area, meaning)
    elif area is not None and cell.kind == "dataTable":
        _add_inputs(sheet, cell, area, meaning)
    return BookFormula(sheet, cell, area, meaning, is_growing)


def _is_growing(cell: FormulaCell, operands: Operands) -> bool:
    """Tell whether a formula is a dynamic array: by its mark, or by a function that spills."""
    if cell.kind == "dataTable":
        return False
    # A legacy array keeps its size, whatever functions it calls.
    may_spill = cell.kind != "array" and not SPILLING_CALLS.isdisjoint(operands.calls)
    return cell.is_dynamic or may_spill


def _filled(cell: FormulaCell) -> Area | None:
    """Return the cells that an array or a data table fills, None for any other formula."""
    if not cell.area:
        return None
    written = read_operands(cell.area).references
    # Whatever the range says, the formula's own cell gets a result.
    if not written:
        return Area(cell.row, cell.column, cell.row, cell.column)
    first = written[0]
    return Area(
        min(first.top, cell.row),
        min(first.left, cell.column),
        max(first.bottom, cell.row),
        max(first.right, cell.column),
    )


def _add_inputs(sheet: int, cell: FormulaCell, area: Area, meaning: Meaning) -> None:
    """Add what a data table reads: its input cells, the row above and the column left of it."""
    for written in cell.inputs:
        for place in read_operands(written).references:
            meaning.cells.append((sheet, *_sides(place)))
    # The values that the table tries out, and the formulas it tries them on, stand there.
    around = max(1, area.top - 1), max(1, area.left - 1)
    meaning.cells.append((sheet, *around, area.bottom, area.right))


def _add_spill_range(sheet: int, cell: FormulaCell, area: Area | None, meaning: Meaning) -> None:
    """Add the room of a dynamic array, as its result is another when a value is in the way.

    That is the area that it fills. A result that is an error may be one for want of room, so
    that any cell below and right of it may be the one in the way.
    """
    if cell.is_error:
        meaning.cells.append((sheet, cell.row, cell.column, MAX_ROW, MAX_COLUMN))
    elif area is not None:
        meaning.cells.append((sheet, area.top, area.left, area.bottom, area.right))
    else:
        meaning.cells.append((sheet, cell.row, cell.column, cell.row, cell.column))


def _sides(place: Reference) -> tuple[int, int, int, int]:
    return place.top, place.left, place.bottom, place.right
