"""The text of a workbook's ranges: a compact grid of typed values, a line a row.

        A       B       C
    1   Date    Item    Amount
    2   2024-01-31      Tea     4.5

Cells are separated by tabs, blank rows and blank cells at a row's end are left out. Dates are ISO,
numbers plain; text that could be taken for another type stands in quotes. A formula is shown as
its text with the result that was stored, and what that is worth. A cell that people do not see by
its color, size or number format stands in `[hidden: …]`, and so does a part of a text; a text that
a condition may hide stands in `[maybe hidden: …]`. The same as typed values: `cells`.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import CellValue, ChunkInfo, Passage, Reading, Region, Source
from kbd.formats.headings import names_of_columns
from kbd.opc import suffix_mismatch
from kbd_xlsx.reader.blocks import Value, plain_text, plain_value, shown
from kbd_xlsx.reader.book import Formula, SheetReader, WorkbookReader, with_workbook
from kbd_xlsx.reader.section_file import ShelfDamagedError
from kbd_xlsx.reader.sheet_sight import CellMark
from kbd_xlsx.references import Area, cell_name, column_letters, parse_area
from kbd_xlsx.workbook import FAMILY, SheetEntry
from kbd_xlsx.workbook_map import ROWS_PER_CHUNK

__all__ = ["first_sheet", "passages", "read_cells", "read_region"]

MAX_READ_CHARS = 200_000
"""Characters of one reading: about 50,000 tokens, more than a model uses well."""

MAX_CELLS = 200_000
"""Cells of one reading of typed values."""

_SHOWN_RANGES = 10

_NOTES = {
    "missing": "[not calculated] means that no result is stored: it appears when a person opens "
    "the file.",
    "momentary": "[stored then: …] is the result of the last calculation; it changes with time or "
    "chance, or by what the file cannot tell.",
    "current": "[stored: …] is the result that the saving program left.",
}
_UNSEEN = (
    ("hidden", "Cells that are hidden, by their look, a condition or a merged cell"),
    ("partly", "Cells of which a part is hidden, by its color or size"),
    ("maybe", "Cells that may be hidden, by a condition or their number format"),
)
_PLACEHOLDERS = (
    "All stored results here are 0 and the workbook asks to be calculated when it is opened: "
    "they may be placeholders."
)


class _Text(msgspec.Struct, frozen=True):
    """A grid's text and the last row that is in it."""

    text: str
    last_row: int


class _Grid(msgspec.Struct, frozen=True):
    """An area within the used range: rows that have values, formulas, what people do not see."""

    area: Area
    rows: Mapping[int, list[Value]]
    formulas: Mapping[tuple[int, int], Formula]
    marks: Mapping[int, Mapping[int, CellMark]]
    are_placeholders: bool

    def row(self, number: int) -> list[Value]:
        """Return the values of a row."""
        return self.rows.get(number) or [""] * (self.area.right - self.area.left + 1)


def read_region(source: Source, region: Region) -> Reading:
    """Read a range of a sheet; without a range its first 50 rows, without a sheet the first one.

    Raises:
        FileReadFailed: The workbook cannot be read.
        ValidationFailed: There is no such sheet, or the range is none.
    """
    return _read(source, region, typed=False)


def read_cells(source: Source, region: Region) -> Reading:
    """Read a range as `read_region` does, with its cells as `rows`; raises as it does."""
    return _read(source, region, typed=True)


def passages(source: Source) -> Iterator[Passage]:
    """Yield every sheet's text in chunks of 50 rows; places are as "Sheet1!A1:E50"."""
    done = 0
    for ignores_cache in (False, True):
        try:
            with WorkbookReader(source, ignores_cache=ignores_cache) as book:
                # What was handed on is not repeated where a damaged cache is replaced midway.
                for passage in islice(_all_passages(book), done, None):
                    yield passage
                    done += 1
        except ShelfDamagedError:
            continue
        return


def _all_passages(book: WorkbookReader) -> Iterator[Passage]:
    for part in book.workbook.sheets:
        with book.sheet(part) as sheet:
            yield from _sheet_passages(book, sheet)


def _sheet_passages(book: WorkbookReader, sheet: SheetReader) -> Iterator[Passage]:
    used = sheet.area
    top = used.top if used else 1
    name = sheet.part.name
    # Of sheets that share a name, which no program writes, the first one answers to it.
    is_named = bool(name) and book.find(name) is sheet.part
    heading = ""
    while used is not None and top <= used.bottom:
        bottom = min(top + ROWS_PER_CHUNK - 1, used.bottom)
        area = Area(top, used.left, bottom, used.right)
        found = _grid_text(_grid(book, sheet, area))
        if top == used.top:
            # Below the letters of the columns; each row begins with its number.
            first = found.text.split("\n", 2)[1:2]
            heading = names_of_columns(first[0].split("\t")[1:]) if first else ""
        area = Area(top, area.left, found.last_row, area.right)
        region = Region(sheet=name, range=str(area)) if is_named else None
        yield Passage(found.text, f"{name}!{area}", region, heading)
        top = found.last_row + 1


def _read(source: Source, region: Region, *, typed: bool) -> Reading:
    foreign = set(region.named()) - {"sheet", "range"}
    if foreign:
        raise ValidationFailed(f"{source.name} is read by sheet and range, not by {min(foreign)}")
    name, wanted = _named(region)

    def work(book: WorkbookReader) -> Reading:
        part = book.find(name) if name else first_sheet(book.workbook.sheets)
        with book.sheet(part) as sheet:
            used = sheet.area
            if used is None:
                return Reading(f"{part.name}: no values.", rows=() if typed else None)
            area = parse_area(wanted, used) if wanted else _first_chunk(used)
            reading = _reading(book, sheet, used, area, typed=typed)
            refused = suffix_mismatch(book.workbook.identity, FAMILY, source.name)
            if refused:
                reading = msgspec.structs.replace(reading, warnings=(*reading.warnings, refused))
            return reading

    return with_workbook(source, work)


def _named(region: Region) -> tuple[str | None, str | None]:
    """Take a sheet's name from a range like 'My sheet'!A1:B2 if it has one."""
    name, wanted = region.sheet, region.range
    if wanted and "!" in wanted:
        prefix, _, wanted = wanted.rpartition("!")
        prefix = prefix.strip().removeprefix("'").removesuffix("'").replace("''", "'")
        if name and name.casefold() != prefix.casefold():
            raise ValidationFailed(f"the range is of sheet {prefix}, but sheet is {name}")
        name = name or prefix
    return name, wanted


def first_sheet(sheets: tuple[SheetEntry, ...]) -> SheetEntry:
    """Return the sheet that is read where none is named: the first one that people see."""
    for sheet in sheets:
        if sheet.kind == "worksheet" and not sheet.hidden:
            return sheet
    return sheets[0]


def _first_chunk(used: Area) -> Area:
    return Area(used.top, used.left, min(used.bottom, used.top + ROWS_PER_CHUNK - 1), used.right)


def _grid(book: WorkbookReader, sheet: SheetReader, area: Area) -> _Grid:
    """Take an area's cells; rows and columns outside the used range hold nothing to show."""
    used = sheet.area or area
    # A range outside the used one keeps at least one column, which is read as blank.
    right = max(area.left, min(area.right, used.right))
    inside = Area(area.top, area.left, min(area.bottom, max(used.bottom, area.top)), right)
    rows = dict(sheet.rows(inside))
    formulas = sheet.formulas(inside)
    results = [
        rows[row][column - inside.left] if row in rows else ""
        for (row, column), formula in formulas.items()
        if formula.text
    ]
    # Libraries such as XlsxWriter store 0 for every formula and ask for calculation on opening.
    zeros = len(results) > 1 and all(result == 0 for result in results)
    are_placeholders = zeros and book.workbook.is_calculated_on_load
    return _Grid(inside, rows, formulas, sheet.marks(inside), are_placeholders)


def _reading(
    book: WorkbookReader, sheet: SheetReader, used: Area, area: Area, *, typed: bool
) -> Reading:
    grid = _grid(book, sheet, area)
    found = _grid_text(grid)
    rows = _typed_rows(grid, found.last_row) if typed else None
    end = min(area.bottom, used.bottom)
    last = found.last_row if rows is None else grid.area.top + len(rows) - 1
    warnings = []
    if last < end:
        warnings.append(f"Only the rows up to {last} fit into one reading; go on below it.")
    taken = Area(area.top, area.left, max(area.top, min(last, area.bottom)), area.right)
    text = f"{sheet.part.name}!{taken}\n{found.text}"
    warnings = [*_notes(sheet, grid), *warnings]
    is_whole = taken.top <= used.top and taken.bottom >= used.bottom
    if is_whole and rows is None:
        return Reading(text, warnings=tuple(warnings))
    total = -(-(used.bottom - used.top + 1) // ROWS_PER_CHUNK)
    index = min(max(0, taken.top - used.top) // ROWS_PER_CHUNK, total - 1)
    more = taken.bottom < used.bottom
    if rows is not None:
        taken = Area(taken.top, taken.left, last, grid.area.right)
    return Reading(text, ChunkInfo(index, total, more, str(taken)), tuple(warnings), rows)


def _notes(sheet: SheetReader, grid: _Grid) -> list[str]:
    """Return the notes on formulas and on hidden rows and columns."""
    notes = []
    seen = {formula.result_state for formula in grid.formulas.values() if formula.text}
    if seen:
        notes.append("Formula cells show their formula. " + " ".join(
            note for result_state, note in _NOTES.items() if result_state in seen
        ))  # fmt: skip
    if grid.are_placeholders:
        notes.append(_PLACEHOLDERS)
    if sheet.part.hidden:
        how = "hidden, and no program offers to show it" if sheet.part.is_very_hidden else "hidden"
        notes.append(f"The sheet {sheet.part.name} is {how}.")
    rows = [
        f"{first}-{last}" if last > first else str(first)
        for first, last in sheet.hidden_rows(grid.area)
    ]
    columns = [
        f"{column_letters(first)}-{column_letters(last)}" if last > first else column_letters(first)
        for first, last in sheet.hidden_columns(grid.area)
    ]
    unseen = [
        (note, [cell_name(*place) for place, mark in _placed(grid) if mark.kind == kind])
        for kind, note in _UNSEEN
    ]
    told = [("Rows that are hidden", rows), ("Columns that are hidden", columns), *unseen]
    for what, ranges in told:
        if ranges:
            more = " …" if len(ranges) > _SHOWN_RANGES else ""
            notes.append(f"{what}: {', '.join(ranges[:_SHOWN_RANGES])}{more}.")
    return notes


def _placed(grid: _Grid) -> Iterator[tuple[tuple[int, int], CellMark]]:
    for row, marks in grid.marks.items():
        for column, mark in marks.items():
            yield (row, column), mark


def _grid_text(grid: _Grid) -> _Text:
    """Write an area's rows until they are all there or the text is full."""
    area = grid.area
    columns = range(area.left, area.right + 1)
    lines = ["\t" + "\t".join(map(column_letters, columns))]
    size = len(lines[0])
    by_row: dict[int, list[int]] = {}
    for row, column in grid.formulas:
        by_row.setdefault(row, []).append(column)
    for number in sorted(grid.rows.keys() | by_row.keys()):
        cells = [shown(value) for value in grid.row(number)]
        for column in by_row.get(number, ()):
            place = column - area.left
            cells[place] = _formula_text(grid.formulas[number, column], cells[place])
        if not any(cells):
            continue
        for column, mark in grid.marks.get(number, {}).items():
            place = column - area.left
            value = grid.row(number)[place]
            if mark.kind == "partly":
                cells[place] = shown(mark.labeled(plain_text(value)))
            else:
                cells[place] = mark.labeled(cells[place])
        line = f"{number}\t" + "\t".join(cells).rstrip("\t")
        # The first row is shown whatever its length: else a reader could never get past it.
        if size + len(line) > MAX_READ_CHARS and number > area.top:
            return _Text("\n".join(lines), number - 1)
        lines.append(line)
        size += len(line) + 1
    return _Text("\n".join(lines), area.bottom)


def _formula_text(formula: Formula, result: str) -> str:
    if not formula.text:
        return formula.error
    # An empty text is a result as well, so it is shown as one.
    result = formula.error or result or '""'
    match formula.result_state:
        case "missing":
            return f"{formula.text} [not calculated]"
        case "momentary":
            return f"{formula.text} [stored then: {result}]"
        case "current":
            return f"{formula.text} [stored: {result}]"
        case _:
            assert_never(formula.result_state)


def _typed_rows(grid: _Grid, last_row: int) -> tuple[tuple[CellValue, ...], ...]:
    """Return the rectangle's rows as plain values, up to the last row that fits."""
    area = grid.area
    width = area.right - area.left + 1
    last_row = min(last_row, area.top + max(1, MAX_CELLS // width) - 1)
    rows: list[list[CellValue]] = [
        [plain_value(value) for value in grid.row(number)]
        for number in range(area.top, last_row + 1)
    ]
    for (row, column), formula in grid.formulas.items():
        if row > last_row:
            continue
        cells, place = rows[row - area.top], column - area.left
        value: CellValue = {"error": formula.error} if formula.error else cells[place]
        if not formula.text:
            cells[place] = value
            continue
        is_current = formula.result_state == "current" and not grid.are_placeholders
        cells[place] = {"formula": formula.text, "value": value, "current": is_current}
    return tuple(map(tuple, rows))
