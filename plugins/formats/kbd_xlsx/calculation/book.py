"""The formulas of a workbook, as far as it matters on what they depend."""

from collections.abc import Iterator, Sequence

import msgspec

from kbd_xlsx.calculation.cells import FormulaCell, formula_cells
from kbd_xlsx.calculation.functions import SPILLING_CALLS
from kbd_xlsx.calculation.meaning import Meaning, Meanings
from kbd_xlsx.calculation.operands import Operands, Reference, read_operands
from kbd_xlsx.calculation.records import DefinedName, TableArea
from kbd_xlsx.calculation.shapes import OperandReader
from kbd_xlsx.references import MAX_COLUMN, MAX_ROW, Area

__all__ = ["BookFormula", "FormulaBook"]


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
        meanings = Meanings(self.titles, self.names, self.tables)
        reader = OperandReader()
        for number, (title, data) in enumerate(self.sheets):
            yield from _of_sheet(number, formula_cells(data, title), meanings, reader)


def _of_sheet(
    sheet: int, cells: Iterator[FormulaCell], meanings: Meanings, reader: OperandReader
) -> Iterator[BookFormula]:
    shared: dict[str, tuple[Operands, int, int]] = {}
    early: list[FormulaCell] = []
    for cell in cells:
        if cell.group is not None and not cell.text:
            if cell.group in shared:
                yield _sharing(sheet, cell, shared[cell.group], meanings)
            else:
                early.append(cell)
            continue
        operands = reader.read(cell.text)
        if cell.group is not None:
            shared[cell.group] = operands, cell.row, cell.column
        meaning = meanings.of(operands, (sheet, cell.row, cell.column))
        yield _formula(sheet, cell, operands, meaning)
    for cell in early:
        if cell.group in shared:
            yield _sharing(sheet, cell, shared[cell.group], meanings)
        else:
            # Whose formula it shares is not in the file.
            yield BookFormula(sheet, cell, None, Meaning([], reads_all=True))


def _sharing(
    sheet: int, cell: FormulaCell, shared: tuple[Operands, int, int], meanings: Meanings
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
        _add_room(sheet, cell, area, meaning)
    elif area is not None and cell.kind == "dataTable":
        _add_inputs(sheet, cell, area, meaning)
    return BookFormula(sheet, cell, area, meaning, is_growing)


def _is_growing(cell: FormulaCell, operands: Operands) -> bool:
    """Tell whether a formula is a dynamic array: by its mark, or by a function that spills."""
    if cell.kind == "dataTable":
        return False
    may_spill = cell.kind != "array" and not SPILLING_CALLS.isdisjoint(operands.calls)
    return cell.is_dynamic or may_spill


def _filled(cell: FormulaCell) -> Area | None:
    """Return the cells that an array or a data table fills, None for any other formula."""
    if not cell.area:
        return None
    written = read_operands(cell.area).references
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
    around = max(1, area.top - 1), max(1, area.left - 1)
    meaning.cells.append((sheet, *around, area.bottom, area.right))


def _add_room(sheet: int, cell: FormulaCell, area: Area | None, meaning: Meaning) -> None:
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
