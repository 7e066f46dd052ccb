"""Tables of workbooks: a sheet read as one, and the rows of one written into a sheet.

Which cells are the table is found by `table_extent`; what else the sheet holds is told. Rows are
written into a new workbook, or into one whose other contents stay as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, get_args

import msgpack
import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Column,
    ColumnType,
    FocusHint,
    Placement,
    ReadAs,
    Source,
    Table,
    Written,
)
from kbd.formats.plain_rows import writing_plain_rows
from kbd.opc.package import Package
from kbd.sheets.aggregates import SummingFormulas
from kbd.sheets.areas import MAX_COLUMN, Area, cell_name
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
    emptied_rows,
    make_table,
    merged_below,
    mixed_currencies,
    read_values,
)
from kbd.sheets.values import Stamp, plain_number, plain_text
from kbd_xlsx.edits.book import BookEdit, lacks_results
from kbd_xlsx.edits.chart_points import keep_charts
from kbd_xlsx.edits.reach import reach_after
from kbd_xlsx.reader import blocks
from kbd_xlsx.reader.book import SheetReader, WorkbookReader, with_workbook
from kbd_xlsx.rows.cells import TypedRows
from kbd_xlsx.rows.obstacles import overwritten_note
from kbd_xlsx.rows.placement import (
    EVERYWHERE,
    AppendedRows,
    ColumnWidths,
    RowPlacer,
    TargetCells,
    fit_tables,
    prepare_spot,
)
from kbd_xlsx.rows.ranges_above import ranges_note
from kbd_xlsx.rows.total_row import TotalRow, sum_formula, total_notes, with_total
from kbd_xlsx.workbook import SUFFIXES, SheetEntry

__all__ = ["read_table", "write_table"]


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


def _emptied(sheet: SheetReader, area: Area) -> Iterator[tuple[str, int, str]]:
    """Yield the formulas whose cells are empty in the table, with the reason."""
    for facts, _ in sheet.facts(area):
        is_shown = facts.is_empty_text or sheet.value(facts.row, facts.column) != ""
        if facts.error or not is_shown:
            what = ERROR if facts.error else UNSTORED
            yield what, facts.row, cell_name(facts.row, facts.column)


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
    emptied = emptied_rows(unread, extent.skipped)
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


_TYPES: frozenset[str] = frozenset(get_args(ColumnType))


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows into a sheet, at the place and in the mode of the placement.

    Raises:
        ValidationFailed: There is no such sheet and none may be made, the rows do not fit, or
            they cannot be written without a loss.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    with ExitStack() as stack:
        stream = iter(
            msgpack.Unpacker(stack.enter_context(rows.open("rb")), raw=False, strict_map_key=False)
        )
        columns = _columns(stream)
        if source is None or placement.mode == "new_file":
            SUFFIXES.type_of_new(target.name)
            package, book = None, BookEdit.blank(target.name)
        else:
            package = stack.enter_context(Package(source))
            book = BookEdit.opened(package)
            book.fit(target.name)
        is_made = _ensure(book, placement)
        spot = prepare_spot(book, package, placement, columns)
        marked = with_total(stream, columns, rows)
        written = _filled(book, placement, spot, columns, marked, target, is_made=is_made)
        _, remaining = reach_after(book, None if book.is_new else source)
        return msgspec.structs.replace(written, remaining=remaining)


def _columns(stream: Iterator[Any]) -> list[Column]:
    first = next(stream, None)
    if first is None:
        raise FileReadFailed("the stream of rows is empty; it begins with its columns")
    if len(first) > MAX_COLUMN:
        raise ValidationFailed(f"{len(first):,} columns do not fit into a sheet")
    return [Column(str(name), kind if kind in _TYPES else None) for name, kind in first]


def _ensure(book: BookEdit, placement: Placement) -> bool:
    """Make the sheet if it is missing and may be made, and say whether it was made."""
    if book.is_new or placement.create_sheet_if_missing:
        return book.ensure(placement.sheet)
    book.title(placement.sheet)  # raises, naming near ones
    return False


def _filled(
    book: BookEdit,
    placement: Placement,
    spot: TargetCells,
    columns: list[Column],
    rows: Iterator[tuple[list[Any], TotalRow | None]],
    target: Path,
    *,
    is_made: bool,
) -> Written:
    """Put the rows at their spot and write the workbook."""
    if spot.left + len(columns) - 1 > MAX_COLUMN:
        raise ValidationFailed(f"{len(columns):,} columns do not fit from there on")
    name = placement.sheet
    sheet = book.sheet(name)
    typed = TypedRows(from_1904=book.book.from_1904)
    placing = RowPlacer(book, sheet, columns, typed, spot.top, spot.left, spot.like)
    widths = ColumnWidths(columns)
    has_header = spot.has_header and bool(columns)
    if has_header:
        placing.header()
    count, first = 0, placing.next_row
    summed: list[str] = []
    for values, total in rows:
        row, formulas = placing.next_row, dict[int, str]()
        if total is not None:
            formulas = {n: sum_formula(first, row, spot.left + n) for n in total.summed}
            summed = total_notes(total, first, row, spot.left)
        placing.row(values, formulas)
        widths.see(values)
        count += 1
    if is_made:
        widths.set(sheet, spot.left)
        if has_header and (spot.top, spot.left) == (1, 1):
            # Keeps the names in view, and says that they are names.
            sheet.freeze(1, 0)
    area = None
    if columns and placing.next_row > spot.top:
        area = Area(spot.top, spot.left, placing.next_row - 1, spot.left + len(columns) - 1)
    names = [column.name for column in columns]
    title = book.title(name)
    landing = AppendedRows(title, names, area, has_header, spot.emptied, spot.joined)
    # Before the workbook is written, so that a refusal leaves no file.
    notes = fit_tables(book, landing)
    if not book.is_new and not is_made:
        notes += _standing_notes(book, placement, title, area, spot)
    keep_charts(book)
    book.save(target)
    warnings = (*spot.warnings, *notes, *summed, *typed.warnings(), *book.warnings)
    # An empty result leaves nothing to look at but the sheet's beginning.
    row, column = (area.top - 1, area.left - 1) if area else (0, 0)
    focus = FocusHint(sheet=title, row_start=row, col_start=column)
    _, results = book.results.open_ranges()
    return Written(
        _range(area), count, len(columns), warnings, focus=focus, open_results=results,
        lacks_results=lacks_results(book),
    )  # fmt: skip


def _standing_notes(
    book: BookEdit, placement: Placement, title: str, area: Area | None, spot: TargetCells
) -> list[str]:
    """Return what must be known of what stood where the rows go, or above them.

    Raises:
        ValidationFailed: A formula would be written over without having been asked for.
    """
    standing, note = book.rewriting.read(book.part(title)), None
    match placement.mode:
        case "write_range" if area is not None:
            note = overwritten_note(standing, title, area, spot.emptied)
        case "replace_sheet":
            note = overwritten_note(standing, title, EVERYWHERE, EVERYWHERE)
        case "append_rows" if area is not None:
            note = ranges_note(book, title, area)
        case _:
            pass
    return [note] if note else []


def _range(area: Area | None) -> str:
    """Return a range with both ends, even if it is one cell; "" if there is none."""
    if area is None:
        return ""
    return f"{cell_name(area.top, area.left)}:{cell_name(area.bottom, area.right)}"
