"""The formulas of a workbook, as far as it matters on what they depend."""

from collections.abc import Iterator, Sequence

import msgspec

from kbd_xlsx.calculation.cells import FormulaCell, formula_cells
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
    """

    sheet: int
    cell: FormulaCell
    area: Area | None
    meaning: Meaning


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
        area = _filled(cell)
        if area is not None:
            _add_surroundings(sheet, cell, area, meaning)
        yield BookFormula(sheet, cell, area, meaning)
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
    return BookFormula(sheet, cell, None, meaning)


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


def _add_surroundings(sheet: int, cell: FormulaCell, area: Area, meaning: Meaning) -> None:
    """Add what an array or data table reads besides the operands of its text.

    A data table reads its two input cells, and the row above and the column left of it. A formula
    that fills what room it finds fails if another value is in its way.
    """
    if cell.kind == "dataTable":
        for written in cell.inputs:
            for place in read_operands(written).references:
                meaning.cells.append((sheet, *_sides(place)))
        around = max(1, area.top - 1), max(1, area.left - 1)
        meaning.cells.append((sheet, *around, area.bottom, area.right))
    elif cell.is_dynamic and cell.is_error:
        meaning.cells.append((sheet, cell.row, cell.column, MAX_ROW, MAX_COLUMN))
    elif cell.is_dynamic:
        meaning.cells.append((sheet, area.top, area.left, area.bottom, area.right))


def _sides(place: Reference) -> tuple[int, int, int, int]:
    return place.top, place.left, place.bottom, place.right
