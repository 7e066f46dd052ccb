"""Table of a sheet: its rows in the plain form, typed where a column's cells agree."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs, Source, Table
from kbd.formats.plain_rows import writing_plain_rows
from kbd.sheets.aggregates import SummingFormulas
from kbd.sheets.areas import Area
from kbd.sheets.grid_text import currency_notes, hidden_sheet_note, hidden_table_notes
from kbd.sheets.repeated_headers import HeaderMark, header_mark, without_headers
from kbd.sheets.table_columns import column_names, kind_of
from kbd.sheets.table_extent import TableExtent, find_extent
from kbd.sheets.table_rows import (
    ERROR,
    MOST_BLANK,
    UNSTORED,
    SeenColumn,
    SeenRows,
    decide_texts,
    emptied_cells,
    make_table,
    merged_below,
    mixed_currencies,
    read_values,
)
from kbd.sheets.values import Value, plain_text
from kbd_ods.sheets import OdsSheet
from kbd_ods.workbook import find_sheet, read_sheets

__all__ = ["read_table"]

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
    if read_as.header_sheet is not None:
        find_sheet(sheets, read_as.header_sheet)  # raises, naming what there is
    wanted = _only_filled(sheets) if sheet is None else find_sheet(sheets, sheet)
    extent = find_extent(wanted, read_as)
    if extent is None:
        target.write_text("")
        return Table((), 0, details={"sheet": wanted.name})
    return _write(wanted, extent, read_as, target)


def _only_filled(sheets: Sequence[OdsSheet]) -> OdsSheet:
    """Return the only sheet that holds values."""
    filled = [sheet for sheet in sheets if sheet.area is not None]
    if len(filled) > 1:
        names = ", ".join(sheet.name for sheet in filled)
        raise ValidationFailed(f"several sheets hold values; name one of: {names}")
    return filled[0] if filled else sheets[0]


def _write(sheet: OdsSheet, extent: TableExtent, read_as: ReadAs, target: Path) -> Table:
    area = extent.area
    names = column_names(extent.headers, area.right - area.left + 1)
    seen = _write_rows(sheet, extent, names, {}, target, mark=header_mark(sheet, extent))
    if seen.marked:
        extent = without_headers(sheet, extent, seen.marked)
    if extent.skipped:
        seen = _write_rows(sheet, extent, names, {}, target)
    read = decide_texts(names, seen, read_as)
    body = Area(extent.top, area.left, area.bottom, area.right)
    sums = SummingFormulas(sheet, body, names, seen.count, extent.skipped)
    kept = sums.valueless if read_as.totals != "keep" else frozenset[int]()
    if read.plain or kept:
        seen = _write_rows(sheet, extent, names, read.plain, target, kept)
    missing = (
        (ERROR if each.error else UNSTORED, each.row, each.column)
        for each in sheet.formulas_in(area)
        if each.error or not each.is_stored
    )
    unread = chain(missing, merged_below(sheet.merged_areas(), body))
    emptied = emptied_cells(unread, extent.skipped)
    notes = _notes(sheet, area)
    mixed = mixed_currencies(names, area.left, sheet.found.currencies)
    details = {"sheet": sheet.name, **mixed}
    return make_table(extent, names, seen, read, notes, details, emptied, sums.rows(kept))


def _write_rows(
    sheet: OdsSheet,
    extent: TableExtent,
    names: Sequence[str],
    plain: Mapping[int, Mapping[str, str]],
    target: Path,
    kept: frozenset[int] = frozenset(),
    mark: HeaderMark | None = None,
) -> SeenRows:
    """Write the rows in the plain form, texts of some columns as they are read.

    Blank ones are left out but for those that are kept.
    """
    area = extent.area
    found = SeenRows([SeenColumn() for _ in names], mark)
    expected = extent.top
    with writing_plain_rows(target) as writer:
        writer.writerow(names)
        for number, values in sheet.rows(Area(extent.top, area.left, area.bottom, area.right)):
            # A row of a missing value alone is no blank one.
            if all(value == "" for value in values) and number not in kept:
                continue
            named = max(0, MOST_BLANK - len(found.blank))
            found.blank.extend(range(expected, min(number, expected + named)))
            expected = number + 1
            if number in extent.skipped:
                continue
            texts = _texts(number, values, plain, found.columns)
            found.look_out(number, [[text] for text in texts])
            writer.writerow(texts)
            found.count += 1
    return found


def _texts(
    number: int,
    values: Sequence[Value],
    plain: Mapping[int, Mapping[str, str]],
    columns: Sequence[SeenColumn],
) -> list[str]:
    """Return a row's values in the plain form, and add what was seen."""
    texts = []
    for place, (value, seen) in enumerate(zip(values, columns, strict=True)):
        if place in plain:
            texts += read_values([value], plain[place], seen.kinds)
            continue
        if value != "":
            seen.kinds.add(kind_of(value))
            if isinstance(value, str) and seen.is_open:
                seen.add_texts([(number, value)])
        texts.append(plain_text(value))
    return texts


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
    ]
    notes = [hidden_sheet_note(sheet.name)] if sheet.found.hidden else []
    notes += [f"{count} {what}" for count, what in told if count]
    notes += hidden_table_notes(sheet.hidden_rows(area), sheet.hidden_columns(area))
    if covered := sheet.found.covered:
        notes.append(f"{covered} value(s) below merged cells, which nobody sees, are not read.")
    paid = sheet.found.currencies.items()
    inside = {column: codes for column, codes in paid if area.left <= column <= area.right}
    notes += currency_notes(inside)
    return notes
