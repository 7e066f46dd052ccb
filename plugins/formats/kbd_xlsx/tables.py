"""A sheet as a table: which of its cells it is, what its columns hold, its rows in the plain form.

The table is the sheet's largest island, with the islands below it that go on in its columns (a
blank row does not end a table). What else the sheet holds is told in the warnings.
"""

import csv
import datetime as dt
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kbd.errors import ValidationFailed
from kbd.formats import Column, ColumnType, Source, Table
from kbd.opc import Package
from kbd_xlsx.features import sheet_features
from kbd_xlsx.formulas import read_formulas
from kbd_xlsx.grids import Grid, GridBook, Value, open_grids, plain_text
from kbd_xlsx.islands import Island, find_islands
from kbd_xlsx.references import Area
from kbd_xlsx.workbook import SheetPart, Workbook, find_sheet, read_workbook

__all__ = ["column_names", "read_table"]


def read_table(source: Source, sheet: str | None, target: Path) -> Table:
    """Write a sheet's table to `target` and describe it.

    Raises:
        FileReadFailed: The workbook cannot be read.
        ValidationFailed: There is no such sheet, or several hold values and none was named.
    """
    with Package(source) as package:
        workbook = read_workbook(package)
        wanted = find_sheet(workbook, sheet) if sheet is not None else None
        parts = workbook.sheets if wanted is None else (wanted,)
        features = {part.name: sheet_features(package, part) for part in parts}
        with open_grids(source, package) as book:
            chosen, grid = _choose(book, workbook, wanted)
        places = read_formulas(package, chosen, features[chosen.name])
        grid = grid.widened(places.keys())
        islands = find_islands(grid.filled(places))
        if not islands:
            target.write_text("")
            return Table((), 0, details={"sheet": chosen.name})
        headers = _frozen_header(grid, features[chosen.name].frozen_rows)
        if headers is not None and grid.area is not None:
            area = grid.area
            left_out: tuple[str, ...] = ()
        else:
            area, headers, left_out = _extent(islands)
    warnings = (*left_out, *_formula_notes(places, grid, area))
    return _write(grid, area, headers, target, chosen.name, warnings)


def column_names(headers: Sequence[str] | None, width: int) -> list[str]:
    """Name columns as headers do, made unique without regard to case, none empty."""
    names: list[str] = []
    seen: set[str] = set()
    for place in range(width):
        given = " ".join(headers[place].split()) if headers else ""
        stem = given or f"column_{place + 1}"
        name, count = stem, 2
        while name.casefold() in seen:
            name, count = f"{stem}_{count}", count + 1
        seen.add(name.casefold())
        names.append(name)
    return names


def _choose(book: GridBook, workbook: Workbook, wanted: SheetPart | None) -> tuple[SheetPart, Grid]:
    """Return the sheet asked for, or the only one that holds values."""
    if wanted is not None:
        return wanted, book.grid(wanted.name)
    filled = [
        (sheet, grid)
        for sheet, grid in ((sheet, book.grid(sheet.name)) for sheet in workbook.sheets)
        if grid.area is not None
    ]
    if len(filled) > 1:
        names = ", ".join(sheet.name for sheet, _ in filled)
        raise ValidationFailed(f"Several sheets hold values; name one of: {names}.")
    return filled[0] if filled else (workbook.sheets[0], Grid(None, []))


def _extent(islands: list[Island]) -> tuple[Area, tuple[str, ...] | None, tuple[str, ...]]:
    """Return the table's cells, its headers, and a warning for islands that are not in it."""
    core = max(islands, key=lambda found: _size(found.area))
    area = core.area
    others = []
    for island in islands:
        if island is core:
            continue
        inside = island.area.left >= area.left and island.area.right <= area.right
        if inside and island.area.top > area.bottom and island.headers is None:
            area = Area(area.top, area.left, island.area.bottom, area.right)
        elif not (inside and area.top <= island.area.top and island.area.bottom <= area.bottom):
            others.append(str(island.area))
    if not others:
        return area, core.headers, ()
    listed = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
    return area, core.headers, (f"The table is {area}; not in it: {listed}.",)


def _frozen_header(grid: Grid, frozen_rows: int) -> tuple[str, ...] | None:
    """Return the names in a sheet's first used row if it stays in view and has one a column.

    Who freezes a row of names says that they head everything below, blank rows and all.
    """
    area = grid.area
    if area is None or frozen_rows != area.top:
        return None
    names = grid.row(area.top, area.left, area.right)
    if not all(isinstance(name, str) and name.strip() for name in names):
        return None
    return tuple(str(name) for name in names)


def _size(area: Area) -> int:
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)


def _formula_notes(
    places: Mapping[tuple[int, int], str], grid: Grid, area: Area
) -> tuple[str, ...]:
    """Warn of results that were stored, and of those that are missing."""
    inside = {
        (row, column): text
        for (row, column), text in places.items()
        if area.top <= row <= area.bottom and area.left <= column <= area.right
    }
    results = [
        grid.row(row, column, column)[0]
        for (row, column), text in inside.items()
        if text.startswith("=")
    ]
    missing = results.count("")
    notes = []
    if len(results) > missing:
        notes.append(f"{len(results) - missing} value(s) are results of formulas, as last stored.")
    if missing:
        notes.append(f"{missing} formula(s) have no stored result; their cells are empty here.")
    if len(inside) > len(results):
        notes.append(f"{len(inside) - len(results)} cell(s) hold an error; they are empty here.")
    return tuple(notes)


def _write(
    grid: Grid,
    area: Area,
    headers: tuple[str, ...] | None,
    target: Path,
    sheet: str,
    warnings: tuple[str, ...],
) -> Table:
    width = area.right - area.left + 1
    names = column_names(headers, width)
    kinds: list[set[str]] = [set() for _ in range(width)]
    count = 0
    with target.open("w", encoding="utf-8", newline="", buffering=1 << 20) as file:
        writer = csv.writer(_LfEnds(file), lineterminator="\r\n")
        writer.writerow(names)
        for row in _rows(grid, area, area.top + (headers is not None)):
            writer.writerow([plain_text(value) for value in row])
            for seen, value in zip(kinds, row, strict=True):
                if value != "":
                    seen.add(_kind(value))
            count += 1
    if blank := area.bottom - area.top + 1 - (headers is not None) - count:
        warnings = (*warnings, f"{blank} blank row(s) between others were skipped.")
    columns = tuple(Column(n, _column_type(k)) for n, k in zip(names, kinds, strict=True))
    details = {"sheet": sheet, "range": str(area), "has_header": headers is not None}
    return Table(columns, count, details=details, warnings=warnings)


def _rows(grid: Grid, area: Area, top: int) -> Iterator[list[Value]]:
    """Yield the rows that are not blank."""
    for number in range(top, area.bottom + 1):
        row = grid.row(number, area.left, area.right)
        if any(value != "" for value in row):
            yield row


def _kind(value: Value) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() and abs(value) < 2**53 else "float"
        case dt.datetime():
            return "datetime"
        case dt.date():
            return "date"
        case _:
            return "string"


def _column_type(kinds: set[str]) -> ColumnType | None:
    """Return the type that all values of a column have, text if they differ, None if none is."""
    if not kinds:
        return None
    for kind in ("boolean", "integer", "date"):
        if kinds == {kind}:
            return kind
    if kinds <= {"integer", "float"}:
        return "float"
    if kinds <= {"date", "datetime"}:
        return "datetime"
    return "string"


class _LfEnds:
    """Ends rows with LF; the csv module quotes a CR only if the row's end has one."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row[:-2] + "\n")
