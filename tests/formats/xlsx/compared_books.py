"""What tests of comparisons share: small workbooks, operations, and what a diff says of cells."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
from openpyxl.utils import range_boundaries

from kbd.formats import CompareOptions, Comparison, Region, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS
from kbd_xlsx.parts.markup import area_of

__all__ = [
    "Cell",
    "applied",
    "book",
    "cells_of",
    "compared",
    "replayed",
    "source",
    "table",
    "told",
    "told_cells",
]

FORMAT = XlsxFormat()
_OPERATIONS: Any = list[Union[OPERATIONS]]  # type: ignore[valid-type]  # noqa: UP007
Cell = tuple[str, int, int]
Rows = list[list[Any]]

MAX_CELLS = 20_000


def source(path: Path) -> Source:
    return Source(path, path.name)


def book(path: Path, rows: Rows, change: Callable[[Any, Any], None] | None = None) -> Source:
    """Write a workbook with sheet Data."""
    made = openpyxl.Workbook()
    sheet = made.worksheets[0]
    sheet.title = "Data"
    for row in rows:
        sheet.append(row)
    if change is not None:
        change(made, sheet)
    made.save(path)
    return source(path)


def table(count: int, *extra: tuple[int, list[Any]]) -> Rows:
    """Return a table with formulas in each row and sums below; extra rows stand at places."""
    rows: Rows = [["Id", "Item", "Qty", "Price", "Total"]]
    rows += [[n, f"Item {n}", n % 7, n * 1.5, None] for n in range(1, count + 1)]
    for place, row in extra:
        rows.insert(place, [*row, None])
    for number, row in enumerate(rows[1:], 2):
        row[4] = f"=C{number}*D{number}"
    last = len(rows)
    rows.append(["Sum", None, f"=SUM(C2:C{last})", None, f"=SUM(E2:E{last})"])
    return rows


def applied(before: Source, target: Path, *operations: dict[str, Any]) -> Source:
    """Apply operations of the format."""
    made = msgspec.convert(list(operations), _OPERATIONS)
    FORMAT.apply(before, tuple(made), target)
    return Source(target, before.name)


def compared(before: Source | None, after: Source | None, sheet: str | None = None) -> Comparison:
    return FORMAT.compare(before, after, CompareOptions(sheet=sheet))


def told(comparison: Comparison) -> list[tuple[str, str, str]]:
    """Return kind, thing and title of each change."""
    return [(each.kind, each.what, each.place.title) for each in comparison.changes]


def cells_of(found: Source) -> dict[Cell, Any] | None:
    """Return all cells with their places as readings give them; None of a large sheet."""
    cells: dict[Cell, Any] = {}
    for sheet in FORMAT.map(found)["sheets"]:
        if not sheet["used_range"]:
            continue
        if sheet["row_count"] * sheet["col_count"] > MAX_CELLS:
            return None
        reading = FORMAT.cells(found, Region(sheet=sheet["name"], range="A:XFD"))
        assert reading.rows is not None
        assert reading.chunk_info is not None
        left, top, _, _ = range_boundaries(reading.chunk_info.range)
        for row, values in enumerate(reading.rows, top or 1):
            for column, value in enumerate(values, left or 1):
                if value is not None:
                    cells[sheet["name"], row, column] = value
    return cells


def _areas(change: Any) -> Sequence[Cell]:
    area = area_of(change.place.cell or change.place.range)
    assert area is not None
    if change.what == "row":
        values = change.after if change.kind == "added" else change.before
        return [
            (change.place.sheet, area.top, column)
            for column, value in enumerate(values, 1)
            if value is not None
        ]
    return [
        (change.place.sheet, row, column)
        for row in range(area.top, area.bottom + 1)
        for column in range(area.left, area.right + 1)
    ]


def told_cells(comparison: Comparison) -> set[Cell]:
    """Return the cells that changed, where no row or column was shifted."""
    found: set[Cell] = set()
    for change in comparison.changes:
        if change.what in ("cell", "result") or (
            change.what == "row" and change.kind in ("added", "removed")
        ):
            found.update(_areas(change))
    return found


def replayed(cells: dict[Cell, Any], comparison: Comparison) -> dict[Cell, Any]:
    """Return cells with a diff applied that shifts nothing; stale results lose their value."""
    found = dict(cells)
    for change in comparison.changes:
        if change.what == "row" and change.kind in ("added", "removed"):
            for place in _areas(change):
                found.pop(place, None)
                if change.kind == "added":
                    found[place] = change.after[place[2] - 1]
        elif change.what == "cell" or (change.what == "result" and change.after is not None):
            (place,) = _areas(change)
            found.pop(place, None)
            if change.after is not None:
                found[place] = change.after
        elif change.what == "result":
            for place in _areas(change):
                held = found.get(place)
                if isinstance(held, dict) and "formula" in held:
                    found[place] = {**held, "value": None, "current": False}
                else:
                    found.pop(place, None)
    return found
