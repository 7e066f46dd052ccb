"""Tables of workbooks: a sheet read as one.

Which cells are the table is found by `table_extent`; what else the sheet holds is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import ReadAs, Source, Table
from kbd.formats.plain_rows import writing_plain_rows
from kbd.sheets.aggregates import SummingFormulas
from kbd.sheets.areas import Area, cell_name
from kbd.sheets.grid_text import currency_notes, hidden_sheet_note, hidden_table_notes
from kbd.sheets.repeated_headers import HeaderMark, header_mark, without_headers
from kbd.sheets.table_columns import MAX_EXACT, column_names, kind_of
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
from kbd.sheets.values import Stamp, plain_number, plain_text
from kbd_xlsx.reader import blocks
from kbd_xlsx.reader.book import SheetReader, WorkbookReader, with_workbook
from kbd_xlsx.workbook import SheetEntry

__all__ = ["read_table"]


def read_table(source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
    """Write a sheet's table to `target` and describe it.

    Raises:
        FileReadFailed: The workbook cannot be read.
        ValidationFailed: There is no such sheet, several hold values and none was named, or what
            was said does not fit a workbook.
    """
    for field, said in (("encoding", read_as.encoding), ("delimiter", read_as.delimiter)):
        if said is not None:
            raise ValidationFailed(f"{source.name} is a workbook, which has no {field} to say")

    def work(book: WorkbookReader) -> Table:
        if read_as.header_sheet is not None:
            book.find(read_as.header_sheet)  # raises, naming what there is
        part = _only_filled(book) if sheet is None else book.find(sheet)
        with book.sheet(part) as found:
            extent = find_extent(found, read_as)
            if extent is None:
                target.write_text("")
                return Table((), 0, details={"sheet": part.name})
            return _write(found, extent, read_as, target)

    return with_workbook(source, work)


def _only_filled(book: WorkbookReader) -> SheetEntry:
    """Return the only sheet that holds values."""
    filled = []
    for part in book.workbook.sheets:
        with book.sheet(part) as sheet:
            if sheet.area is not None:
                filled.append(part)
    if len(filled) > 1:
        names = ", ".join(part.name for part in filled)
        raise ValidationFailed(f"several sheets hold values; name one of: {names}")
    return filled[0] if filled else book.workbook.sheets[0]


def _unseen_notes(sheet: SheetReader, area: Area) -> tuple[str, ...]:
    """Warn of what people do not see: a row of a table has no place for a label."""
    found, part = sheet.unseen_counts(area), sheet.part
    notes: tuple[str, ...] = ()
    if part.hidden:
        notes = (hidden_sheet_note(part.name, is_very_hidden=part.is_very_hidden),)
    rows, columns = sheet.hidden_rows(area), sheet.hidden_columns(area)
    notes = (*notes, *hidden_table_notes(rows, columns))
    if not found.first:
        return notes
    total = found.hidden + found.partly + found.maybe
    named = ", ".join(cell_name(*place) for place in found.first)
    more = " …" if total > len(found.first) else ""
    parts = ", ".join(
        f"{count} {how}"
        for count, how in ((found.partly, "in part"), (found.maybe, "maybe, by a condition"))
        if count
    )
    which = f" ({parts})" if parts else ""
    return (*notes, f"{total} cell(s) of the table are hidden from people{which}: {named}{more}.")


def _formula_notes(sheet: SheetReader, area: Area) -> tuple[str, ...]:
    """Warn of results that were stored, and of those that are missing."""
    stored = missing = errors = 0
    for facts, _ in sheet.facts(area):
        if facts.error:
            errors += 1
        elif facts.is_empty_text or sheet.value(facts.row, facts.column) != "":
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


def _emptied(sheet: SheetReader, area: Area) -> Iterator[tuple[str, int, int]]:
    """Yield the formulas whose cells are empty in the table, with the reason."""
    for facts, _ in sheet.facts(area):
        is_shown = facts.is_empty_text or sheet.value(facts.row, facts.column) != ""
        if facts.error or not is_shown:
            what = ERROR if facts.error else UNSTORED
            yield what, facts.row, facts.column


def _write(sheet: SheetReader, extent: TableExtent, read_as: ReadAs, target: Path) -> Table:
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
    notes = (*_formula_notes(sheet, area), *_unseen_notes(sheet, area))
    unread = chain(_emptied(sheet, area), merged_below(sheet.merged_areas(), body))
    emptied = emptied_cells(unread, extent.skipped)
    paid = sheet.currencies(body)
    notes = (*notes, *currency_notes(paid))
    details = {"sheet": sheet.part.name, **mixed_currencies(names, area.left, paid)}
    return make_table(extent, names, seen, read, notes, details, emptied, sums.rows(kept))


def _write_rows(
    sheet: SheetReader,
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
    found = SeenRows([SeenColumn() for _ in names], mark)
    parts, at = extent.parts(), 0
    with writing_plain_rows(target) as writer:
        writer.writerow(names)
        for first, left, columns in sheet.blocks():
            last = first + len(columns[0].values) - 1
            while at < len(parts) and parts[at].top <= last:
                rows = _rows(parts[at], first, left, columns, plain, found, kept)
                writer.writerows(rows)
                found.count += len(rows)
                if parts[at].bottom > last:
                    break
                at += 1
    return found


def _rows(
    area: Area,
    first: int,
    left: int,
    columns: list[blocks.PackedColumn],
    plain: Mapping[int, Mapping[str, str]],
    found: SeenRows,
    kept: frozenset[int],
) -> list[tuple[str, ...]]:
    """Return a block's rows that are in the table and not blank, as text, and add what was seen.

    The first rows that are blank are added to those that were found; some of them are kept.
    """
    height = len(columns[0].values)
    start, end = max(0, area.top - first), min(height, area.bottom - first + 1)
    if start >= end:
        return []
    stored, read = list[list[str]](), list[list[str]]()
    for number, seen in enumerate(found.columns):
        place = area.left + number - left
        if not 0 <= place < len(columns):
            stored.append([""] * (end - start))
            read.append(stored[-1])
        elif number in plain:
            # `column_values` includes the last place, while `end` is one past it.
            values = blocks.column_values(columns[place], start, end - 1)
            stored.append([plain_text(value) for value in values])
            read.append(read_values(values, plain[number], seen.kinds))
        else:
            stored.append(_texts(columns[place], start, end, seen, first))
            read.append(stored[-1])
    found.look_out(first + start, stored)
    rows = zip(*read, strict=True)
    # A row of a missing value alone is no blank one.
    numbered = enumerate(zip(*stored, strict=True), first + start)
    filled = [
        row
        for row, (number, whole) in zip(rows, numbered, strict=True)
        if any(whole) or number in kept
    ]
    if len(filled) < end - start and len(found.blank) < MOST_BLANK:
        numbered = enumerate(zip(*stored, strict=True), first + start)
        numbers = (number for number, row in numbered if not any(row) and number not in kept)
        found.blank.extend(islice(numbers, MOST_BLANK - len(found.blank)))
    return filled


def _texts(
    column: blocks.PackedColumn, start: int, end: int, seen: SeenColumn, first: int
) -> list[str]:
    """Return some values of a column in the plain form, and add what was seen.

    Args:
        column: A block's column.
        start: The place of the first value.
        end: One past the last one.
        seen: Of the column.
        first: The row of the sheet at which the block begins.
    """
    values: list[Any] = column.values[start:end]
    if column.codes:
        if column.codes.count(column.codes[start], start, end) == end - start:
            # All dates, or all of another such kind, if the first one is: they lie here as texts.
            first_value = blocks.column_values(column, start, start)[0]
            if isinstance(first_value, Stamp):
                seen.kinds.add(kind_of(first_value))
                return values
        # `column_values` includes the last place, while `end` is one past it.
        values = blocks.column_values(column, start, end - 1)
    types = set(map(type, values))
    # A sheet has floats alone; whole ones that are exact are told as the integers they were.
    are_whole = types == {float} and all(map(float.is_integer, values))
    if are_whole and max(map(abs, values)) < MAX_EXACT:
        seen.kinds.add("integer")
        return list(map(str, map(int, values)))
    if types == {float}:
        seen.kinds.add("float")
        return list(map(plain_number, values))
    if types == {bool}:
        seen.kinds.add("boolean")
        return ["true" if value else "false" for value in values]
    if str in types and seen.is_open:
        seen.add_texts((first + start + n, v) for n, v in enumerate(values) if isinstance(v, str))
    if types == {str}:
        if any(values):
            seen.kinds.add("string")
        return values
    seen.kinds.update(kind_of(value) for value in values if value != "")
    return [plain_text(value) for value in values]
