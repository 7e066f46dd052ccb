"""Inputs of a calculation: the values that its formulas read, as sheets of a small book."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.operand_ranges import Place
from kbd_xlsx.comparison.shared_texts import SharedTexts
from kbd_xlsx.parts.cells import Result
from kbd_xlsx.parts.stored_cells import StoredCell, StoredCells
from kbd_xlsx.results.plan import CalculationPlan, ReadCells
from kbd_xlsx.results.small_book import SmallCell, SmallSheet
from kbd_xlsx.values import CellValue, content_of, datetime_value

__all__ = ["InputReader", "find_empty", "find_fractions", "is_fraction"]


class InputReader:
    """Reads from a workbook what a calculation needs.

    Args:
        book: Its formulas, tables and names.
        cells: The cells of its sheets by their titles.
        texts: The texts that they share.
        from_1904: Whether it counts days from 1904.
    """

    def __init__(
        self,
        book: FormulaBook,
        cells: Mapping[str, StoredCells],
        texts: SharedTexts,
        *,
        from_1904: bool,
    ) -> None:
        self._book, self._cells, self._texts = book, cells, texts
        self._from_1904 = from_1904

    def sheets(self, plan: CalculationPlan, texts: Mapping[Place, str]) -> list[SmallSheet]:
        """Return the sheets with the values that formulas read.

        Args:
            plan: What they read.
            texts: The formulas, by their places.
        """
        formulas: dict[int, dict[int, dict[int, SmallCell]]] = {}
        for (sheet, row, column), text in texts.items():
            cell = SmallCell(column, None, text)
            formulas.setdefault(sheet, {}).setdefault(row, {})[column] = cell
        found = []
        for number, title in enumerate(self._book.titles):
            rows = formulas.get(number, {})
            for read in self._read(title, plan.inputs.get(number)):
                there = rows.setdefault(read.row, {})
                if read.column not in there:
                    there[read.column] = SmallCell(read.column, self._value(read))
            cells = {row: [there[c] for c in sorted(there)] for row, there in rows.items()}
            found.append(SmallSheet(title, cells))
        return found

    def _read(self, title: str, read: ReadCells | None) -> Iterator[StoredCell]:
        """Yield the cells of a sheet that are read, each once."""
        stretches = {} if read is None else read.stretches()
        if not stretches:
            return
        starts = {column: [first for first, _ in found] for column, found in stretches.items()}
        box = Area(
            min(found[0][0] for found in stretches.values()),
            min(stretches),
            max(found[-1][1] for found in stretches.values()),
            max(stretches),
        )
        for cell in self._cells[title].of(box, stretches.keys()):
            found = stretches[cell.column]
            place = bisect_right(starts[cell.column], cell.row) - 1
            if place >= 0 and cell.row <= found[place][1]:
                yield cell

    def _value(self, cell: StoredCell) -> Result | None:
        if cell.formula is not None and not cell.value and cell.kind != "text":
            return None
        match cell.kind:
            case "shared":
                index = int(cell.value) if cell.value.isdigit() else -1
                return Result("text", self._texts.get(index)[0])
            case "date":
                try:
                    moment = datetime_value(cell.value, "")
                    content = content_of(CellValue(moment, "d"), from_1904=self._from_1904)
                except ValidationFailed:
                    return None
                return Result("number", content.text)
            case "number" | "text" | "boolean" | "error" as kind:
                return Result(kind, cell.value)
            case other:
                assert_never(other)


def find_empty(
    plan: CalculationPlan, sheets: Sequence[SmallSheet], places: Iterable[Place]
) -> dict[Place, str]:
    """Return which of some formulas read cells of which none holds anything, and where.

    Args:
        plan: What they read.
        sheets: The cells that hold something.
        places: The formulas.
    """
    filled = [_Filled(sheet.rows) for sheet in sheets]
    found = {}
    for place in places:
        for sheet, top, left, bottom, right in plan.reads.get(place, ()):
            if not filled[sheet].has_any(top, left, bottom, right):
                found[place] = f"{sheets[sheet].title}!{Area(top, left, bottom, right)}"
                break
    return found


def find_fractions(sheets: Sequence[SmallSheet]) -> Iterator[Place]:
    """Yield the places of values that are no whole numbers: cells may show fewer digits."""
    for number, sheet in enumerate(sheets):
        for row, cells in sheet.rows.items():
            for cell in cells:
                if cell.value is not None and is_fraction(cell.value):
                    yield number, row, cell.column


def is_fraction(value: Result) -> bool:
    """Tell whether a value is a number with digits after the point."""
    return value.kind == "number" and not float(value.text).is_integer()


class _Filled:
    """The cells of a sheet that hold something."""

    def __init__(self, rows: Mapping[int, Sequence[SmallCell]]) -> None:
        self._rows = rows
        self._columns: dict[int, set[int]] = {}

    def has_any(self, top: int, left: int, bottom: int, right: int) -> bool:
        """Tell whether one of them is in an area."""
        rows: Iterable[int] = range(top, bottom + 1)
        if len(self._rows) < bottom - top:
            rows = (row for row in self._rows if top <= row <= bottom)
        return any(
            any(left <= column <= right for column in self._of(row))
            for row in rows
        )  # fmt: skip

    def _of(self, row: int) -> set[int]:
        columns = self._columns.get(row)
        if columns is None:
            columns = {cell.column for cell in self._rows.get(row, ())}
            self._columns[row] = columns
        return columns
