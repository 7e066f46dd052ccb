"""Results of the plain totals that an edit writes or reaches (=SUM(B2:B6)), worked out and stored.

A formula over numbers of its own sheet alone has a result that needs no program to calculate, so
whoever opens the file, or reads it, sees it. All other formulas wait for one.
"""

import re
from collections.abc import Collection, Sequence
from decimal import Decimal, InvalidOperation
from itertools import combinations

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, overlaps, parse_area
from kbd_xlsx.calculation.cells import FormulaCell, formula_cells
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stored_cells import StoredCells
from kbd_xlsx.values import spills

__all__ = ["open_totals", "with_totals"]

_MOST_ROWS = 100_000
"""Rows that are added up for the totals of one sheet, in all: a second of work. With more, such as
thousands of sums of the whole sheet, the other totals wait for a program that calculates."""

_RANGE = r"\$?[A-Z]{1,3}\$?\d{1,7}:\$?[A-Z]{1,3}\$?\d{1,7}"
_TOTAL = re.compile(rf"(?i)(SUM|MIN|MAX|COUNT|AVERAGE)\(({_RANGE}(?:,{_RANGE}){{0,254}})\)")
"""A function of one stretch of cells, or of several, as a grand total without its subtotals is."""


def with_totals(data: bytes, title: str, places: Collection[tuple[int, int]]) -> bytes:
    """Return a sheet's part with the results of those of its formulas that are plain totals.

    Args:
        data: The part.
        title: The sheet's title.
        places: The cells whose formulas were written or lost their results, by row and column.
    """
    # What an array fills has no formula in its cells, and may be about to change.
    if any(_fills_cells(cell) for cell in formula_cells(data, title)):
        return data
    cells = StoredCells(data, title)
    sheet = SheetPart(data, title)
    rows = 0
    for row, column in sorted(places):
        formula = next((c.formula for c in cells.of(Area(row, column, row, column))), None)
        found = _TOTAL.fullmatch(formula or "")
        if found is None:
            continue
        areas = [parse_area(text, Area(1, 1, 1, 1)) for text in found[2].split(",")]
        if any(a.top <= row <= a.bottom and a.left <= column <= a.right for a in areas):
            continue
        # A cell that counts twice is no stretch of a total: that is for a program to work out.
        if any(overlaps(one, other) for one, other in combinations(areas, 2)):
            continue
        rows += sum(map(cells.row_count, areas))
        if rows > _MOST_ROWS:
            break
        result = _result(cells, found[1].upper(), areas)
        if result is not None:
            content = Content("formula", formula or "", result=result)
            sheet.set(row, column, CellEdit(content))
    return sheet.xml(lambda base, _: base)


def open_totals(data: bytes, title: str) -> set[tuple[int, int]]:
    """Return the cells of a sheet's part whose formulas are plain totals without a result."""
    cells = StoredCells(data, title).of(Area(1, 1, MAX_ROW, MAX_COLUMN))
    return {
        (cell.row, cell.column)
        for cell in cells
        if cell.formula and not cell.value and _TOTAL.fullmatch(cell.formula)
    }


def _fills_cells(cell: FormulaCell) -> bool:
    is_array = cell.is_dynamic or cell.kind in ("array", "dataTable")
    return is_array or spills(cell.text) is not None


def _result(cells: StoredCells, function: str, areas: Sequence[Area]) -> str | None:
    """Return what a function comes to over areas, None where that hangs on other formulas."""
    numbers: list[Decimal] = []
    for cell in (cell for area in areas for cell in cells.of(area)):
        if cell.formula is not None or cell.kind == "other":
            return None
        # Texts in a range count for none of these functions (ECMA-376 part 1, 18.17.7).
        if cell.kind == "number":
            try:
                numbers.append(Decimal(cell.value))
            except InvalidOperation:
                return None
    match function:
        case "COUNT":
            return str(len(numbers))
        case "SUM":
            total = sum(numbers, Decimal(0))
        case "AVERAGE":
            if not numbers:
                return None
            total = sum(numbers, Decimal(0)) / len(numbers)
        case "MIN":
            total = min(numbers, default=Decimal(0))
        case _:
            total = max(numbers, default=Decimal(0))
    value = float(total)
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
