"""A sheet as a table: which of its cells it is, what its columns hold, its rows in the plain form.

The table is the sheet's largest island, with the islands below it that go on in its columns (a
blank row does not end a table). What else the sheet holds is told in the warnings.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Column, ColumnType, Source, Table
from kbd_xlsx.reader import blocks
from kbd_xlsx.reader.book import WorkbookReader, with_workbook
from kbd_xlsx.reader.display import plain_number, plain_text
from kbd_xlsx.reader.sheet import SheetReader
from kbd_xlsx.references import Area
from kbd_xlsx.workbook import SheetEntry

__all__ = ["column_names", "read_table"]

_EXACT = 2**53
"""Past it whole numbers are not exact in a file."""


class _Extent(msgspec.Struct, frozen=True):
    """A table's cells, the names in its first row, and what is not in it."""

    area: Area
    headers: tuple[str, ...] | None
    warnings: tuple[str, ...] = ()


def read_table(source: Source, sheet: str | None, target: Path) -> Table:
    """Write a sheet's table to `target` and describe it.

    Raises:
        FileReadFailed: The workbook cannot be read.
        ValidationFailed: There is no such sheet, or several hold values and none was named.
    """

    def work(book: WorkbookReader) -> Table:
        part = _only_filled(book) if sheet is None else book.find(sheet)
        with book.sheet(part) as found:
            extent = _extent(found)
            if extent is None:
                target.write_text("")
                return Table((), 0, details={"sheet": part.name})
            return _write(found, extent, target)

    return with_workbook(source, work)


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


def _only_filled(book: WorkbookReader) -> SheetEntry:
    """Return the only sheet that holds values."""
    filled = []
    for part in book.workbook.sheets:
        with book.sheet(part) as sheet:
            if sheet.area is not None:
                filled.append(part)
    if len(filled) > 1:
        names = ", ".join(part.name for part in filled)
        raise ValidationFailed(f"Several sheets hold values; name one of: {names}.")
    return filled[0] if filled else book.workbook.sheets[0]


def _extent(sheet: SheetReader) -> _Extent | None:
    """Find the table of a sheet; None if it holds nothing."""
    frozen = sheet.frozen_header()
    if frozen is not None and sheet.area is not None:
        return _Extent(sheet.area, frozen)
    areas = sheet.island_areas()
    if not areas:
        return None
    core = sheet.island(max(areas, key=_size))
    area = core.area
    others = []
    for found in areas:
        if found == core.area:
            continue
        inside = found.left >= area.left and found.right <= area.right
        if inside and found.top > area.bottom and sheet.island(found).headers is None:
            area = Area(area.top, area.left, found.bottom, area.right)
        elif not (inside and area.top <= found.top and found.bottom <= area.bottom):
            others.append(found)
    if not others:
        return _Extent(area, core.headers)
    listed = ", ".join(map(str, others[:5])) + (" …" if len(others) > 5 else "")
    return _Extent(area, core.headers, (f"The table is {area}; not in it: {listed}.",))


def _size(area: Area) -> int:
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)


def _formula_notes(sheet: SheetReader, area: Area) -> tuple[str, ...]:
    """Warn of results that were stored, and of those that are missing."""
    stored = missing = errors = 0
    for told, _ in sheet.told(area):
        if told.error:
            errors += 1
        elif told.is_empty_text or sheet.value(told.row, told.column) != "":
            stored += 1
        else:
            missing += 1
    notes = []
    if stored:
        notes.append(f"{stored} value(s) are results of formulas, as last stored.")
    if missing:
        notes.append(f"{missing} formula(s) have no stored result; their cells are empty here.")
    if errors:
        notes.append(f"{errors} cell(s) hold an error; they are empty here.")
    return tuple(notes)


def _write(sheet: SheetReader, extent: _Extent, target: Path) -> Table:
    area, headers = extent.area, extent.headers
    names = column_names(headers, area.right - area.left + 1)
    kinds: list[set[str]] = [set() for _ in names]
    top = area.top + (headers is not None)
    count = 0
    with target.open("w", encoding="utf-8", newline="", buffering=1 << 20) as file:
        writer = csv.writer(_LfEnds(file), lineterminator="\r\n")
        writer.writerow(names)
        for first, left, columns in sheet.blocks():
            rows = _rows(Area(top, area.left, area.bottom, area.right), first, left, columns, kinds)
            writer.writerows(rows)
            count += len(rows)
    warnings = (*extent.warnings, *_formula_notes(sheet, area))
    if blank := area.bottom - top + 1 - count:
        warnings = (*warnings, f"{blank} blank row(s) between others were skipped.")
    columns_found = tuple(Column(n, _column_type(k)) for n, k in zip(names, kinds, strict=True))
    details = {"sheet": sheet.part.name, "range": str(area), "has_header": headers is not None}
    return Table(columns_found, count, details=details, warnings=warnings)


def _rows(
    area: Area, first: int, left: int, columns: list[blocks.PackedColumn], kinds: list[set[str]]
) -> list[tuple[str, ...]]:
    """Return a block's rows that are in the table and not blank, as text, and add their kinds."""
    height = len(columns[0].values)
    start, end = max(0, area.top - first), min(height, area.bottom - first + 1)
    if start >= end:
        return []
    found = []
    for column, seen in zip(range(area.left, area.right + 1), kinds, strict=True):
        place = column - left
        if 0 <= place < len(columns):
            found.append(_texts(columns[place], start, end, seen))
        else:
            found.append([""] * (end - start))
    return [row for row in zip(*found, strict=True) if any(row)]


def _texts(column: blocks.PackedColumn, start: int, end: int, seen: set[str]) -> list[str]:
    """Return some values of a column in the plain form, and add their kinds to those seen."""
    if column.codes:
        stamped = blocks.column_values(column, start, end - 1)
        seen.update(_kind(value) for value in stamped if value != "")
        return [plain_text(value) for value in stamped]
    values = column.values[start:end]
    types = set(map(type, values))
    if types == {str}:
        if any(values):
            seen.add("string")
        return values
    if types == {float} and all(map(float.is_integer, values)) and max(map(abs, values)) < _EXACT:
        seen.add("integer")
        return list(map(str, map(int, values)))
    if types == {float}:
        seen.add("float")
        return list(map(plain_number, values))
    seen.update(_kind(value) for value in values if value != "")
    return [plain_text(value) for value in values]


def _kind(value: blocks.Value) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() and abs(value) < _EXACT else "float"
        case blocks.Stamp() if value.kind in ("date", "datetime"):
            return value.kind
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
