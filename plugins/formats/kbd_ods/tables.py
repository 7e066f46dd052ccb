"""Table of a sheet: its rows in the plain form, typed where a column's cells agree."""

import csv
from collections.abc import Sequence
from pathlib import Path

from kbd.errors import ValidationFailed
from kbd.formats import Column, ReadAs, Source, Table, TableReading, TouchedRows
from kbd.sheets.areas import Area, column_letters
from kbd.sheets.table_columns import LfEnds, column_names, column_type, kind_of
from kbd.sheets.table_extent import TableExtent, find_extent
from kbd.sheets.values import Value, plain_text
from kbd_ods.sheets import OdsSheet
from kbd_ods.workbook import find_sheet, read_sheets

__all__ = ["read_table"]

_MOST_BLANK = 10
"""Blank rows that are named."""

_MOST_CODES = 5


def read_table(source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
    """Write a sheet's table to `target` and describe it.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: There is no such sheet, several hold values and none was named, or what
            was said does not fit a spreadsheet.
    """
    for field, said in (("encoding", read_as.encoding), ("delimiter", read_as.delimiter)):
        if said is not None:
            raise ValidationFailed(f"{source.name} is a spreadsheet, which has no {field} to say")
    sheets = read_sheets(source)
    wanted = _only_filled(sheets) if sheet is None else find_sheet(sheets, sheet)
    extent = find_extent(wanted, read_as)
    if extent is None:
        target.write_text("")
        return Table((), 0, details={"sheet": wanted.name})
    return _write(wanted, extent, target)


def _only_filled(sheets: Sequence[OdsSheet]) -> OdsSheet:
    """Return the only sheet that holds values."""
    filled = [sheet for sheet in sheets if sheet.area is not None]
    if len(filled) > 1:
        names = ", ".join(sheet.name for sheet in filled)
        raise ValidationFailed(f"several sheets hold values; name one of: {names}")
    return filled[0] if filled else sheets[0]


def _write(sheet: OdsSheet, extent: TableExtent, target: Path) -> Table:
    area, headers, top = extent.area, extent.headers, extent.top
    names = column_names(headers, area.right - area.left + 1)
    kinds: list[set[str]] = [set() for _ in names]
    count, expected = 0, top
    blank: list[int] = []
    with target.open("w", encoding="utf-8", newline="", buffering=1 << 20) as file:
        writer = csv.writer(LfEnds(file), lineterminator="\r\n")
        writer.writerow(names)
        for number, values in sheet.rows(Area(top, area.left, area.bottom, area.right)):
            texts = _texts(values, kinds)
            if not any(texts):
                continue
            blank.extend(range(expected, min(number, expected + _MOST_BLANK)))
            expected = number + 1
            writer.writerow(texts)
            count += 1
    left_out = extent.left_out
    warnings = (*extent.warnings, *_notes(sheet, area))
    if skipped := area.bottom - top + 1 - count:
        warnings = (*warnings, f"{skipped} blank row(s) between others were skipped.")
        rows = tuple(blank[:_MOST_BLANK])
        left_out = (*left_out, TouchedRows("blank row between others", skipped, rows))
    columns = tuple(Column(n, column_type(k)) for n, k in zip(names, kinds, strict=True))
    details = {"sheet": sheet.name, "range": str(area), "has_header": headers is not None}
    reading = TableReading(
        header_row=extent.header_row, left_out=left_out, repaired=extent.repaired
    )
    return Table(columns, count, reading, details, warnings)


def _texts(values: Sequence[Value], kinds: Sequence[set[str]]) -> list[str]:
    for value, seen in zip(values, kinds, strict=True):
        if value != "":
            seen.add(kind_of(value))
    return list(map(plain_text, values))


def _notes(sheet: OdsSheet, area: Area) -> list[str]:
    """Return what a reader must know of the table's cells."""
    found = list(sheet.formulas_in(area))
    errors = sum(bool(each.error) for each in found)
    missing = sum(not each.is_stored for each in found)
    named = sorted({each.error for each in found if each.error})
    told = [
        (len(found) - errors - missing, "value(s) are results of formulas, as last stored."),
        (missing, "formula(s) have no stored result; their cells are empty here."),
        (errors, f"cell(s) hold an error ({', '.join(named[:_MOST_CODES])}); they are empty here."),
        (_spanned(sheet.hidden_rows(area)), "row(s) of the table are hidden from people."),
        (_spanned(sheet.hidden_columns(area)), "column(s) of the table are hidden from people."),
        (sheet.found.covered, "value(s) below merged cells, which nobody sees, are not read."),
    ]
    notes = [f"{count} {what}" for count, what in told if count]
    for column, codes in sorted(sheet.found.currencies.items()):
        if area.left <= column <= area.right and len(codes) > 1:
            listed = ", ".join(codes[:_MOST_CODES])
            notes.append(
                f"Column {column_letters(column)} has amounts in several currencies ({listed}): "
                "a sum of them is none."
            )
    return notes


def _spanned(spans: Sequence[tuple[int, int]]) -> int:
    return sum(last - first + 1 for first, last in spans)
