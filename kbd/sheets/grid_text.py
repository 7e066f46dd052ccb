"""Grid of a sheet as text and as typed values: a line a row, cells separated by tabs.

        A       B       C
    1   Date    Item    Amount
    2   2024-01-31      Tea     4.5

Blank rows and blank cells at a row's end are left out. Dates are ISO, numbers plain; text that
could be taken for another type stands in quotes. A formula is shown as its text with the result
that was stored, and what that is worth.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import CellValue, ChunkInfo, Passage, Reading, Region, Source
from kbd.formats.headings import names_of_columns
from kbd.sheets.areas import Area, column_letters
from kbd.sheets.cells import CellMark, Formula
from kbd.sheets.values import Value, plain_text, plain_value, shown

__all__ = [
    "ROWS_PER_CHUNK",
    "GridText",
    "SheetGrid",
    "area_within",
    "currency_notes",
    "first_chunk",
    "formula_notes",
    "grid_reading",
    "grid_text",
    "hidden_notes",
    "hidden_sheet_note",
    "hidden_table_notes",
    "named_area",
    "place_note",
    "sheet_passages",
    "typed_rows",
]

ROWS_PER_CHUNK = 50
"""Contract, section 8."""

MAX_READ_CHARS = 200_000
"""Characters of one reading: about 50,000 tokens, more than a model uses well."""

MAX_CELLS = 200_000
"""Cells of one reading of typed values."""

_SHOWN_RANGES = 10
_MOST_CODES = 5

_NOTES = {
    "missing": "[not calculated] means that no result is stored: it appears when a person opens "
    "the file.",
    "momentary": "[stored then: …] is the result of the last calculation; it changes with time or "
    "chance, or by what the file cannot tell.",
    "current": "[stored: …] is the result that the saving program left.",
}


class GridText(msgspec.Struct, frozen=True):
    """A grid's text and the last row that is in it."""

    text: str
    last_row: int


class SheetGrid(msgspec.Struct, frozen=True):
    """An area within the used range: rows that have values, formulas, what people do not see."""

    area: Area
    rows: Mapping[int, list[Value]]
    formulas: Mapping[tuple[int, int], Formula]
    marks: Mapping[int, Mapping[int, CellMark]]
    are_placeholders: bool

    def row(self, number: int) -> list[Value]:
        """Return the values of a row."""
        return self.rows.get(number) or [""] * (self.area.right - self.area.left + 1)


def named_area(source: Source, region: Region) -> tuple[str | None, str | None]:
    """Return the sheet and the range of a region; a range like 'My sheet'!A1:B2 names its sheet.

    Raises:
        ValidationFailed: It has other coordinates, or names two sheets.
    """
    foreign = set(region.named()) - {"sheet", "range"}
    if foreign:
        raise ValidationFailed(f"{source.name} is read by sheet and range, not by {min(foreign)}")
    name, wanted = region.sheet, region.range
    if wanted and "!" in wanted:
        prefix, _, wanted = wanted.rpartition("!")
        prefix = prefix.strip().removeprefix("'").removesuffix("'").replace("''", "'")
        if name and name.casefold() != prefix.casefold():
            raise ValidationFailed(f"the range is of sheet {prefix}, but sheet is {name}")
        name = name or prefix
    return name, wanted


def sheet_passages(
    name: str, used: Area | None, grid_of: Callable[[Area], SheetGrid], *, is_named: bool
) -> Iterator[Passage]:
    """Yield a sheet's text in chunks of 50 rows, blank ones left out; places: "Sheet1!A1:E50".

    Args:
        name: The sheet's name.
        used: Its used range.
        grid_of: Takes an area's cells.
        is_named: Whether it is the sheet that answers to its name; else no region leads to it.
    """
    top = used.top if used else 1
    heading = ""
    while used is not None and top <= used.bottom:
        bottom = min(top + ROWS_PER_CHUNK - 1, used.bottom)
        found = grid_text(grid_of(Area(top, used.left, bottom, used.right)))
        if top == used.top:
            # Below the letters of the columns; each row begins with its number.
            first = found.text.split("\n", 2)[1:2]
            heading = names_of_columns(first[0].split("\t")[1:]) if first else ""
        # A stray cell at a sheet's end must not make a passage of each chunk before it.
        if "\n" in found.text:
            area = Area(top, used.left, found.last_row, used.right)
            region = Region(sheet=name, range=str(area)) if is_named else None
            yield Passage(found.text, f"{name}!{area}", region, heading)
        top = found.last_row + 1


def first_chunk(used: Area) -> Area:
    """Return the first rows of a used range."""
    return Area(used.top, used.left, min(used.bottom, used.top + ROWS_PER_CHUNK - 1), used.right)


def area_within(area: Area, used: Area) -> Area:
    """Return an area without the rows and columns past the used range, which hold nothing."""
    # A range outside the used one keeps at least one column, which is read as blank.
    right = max(area.left, min(area.right, used.right))
    return Area(area.top, area.left, min(area.bottom, max(used.bottom, area.top)), right)


def formula_notes(grid: SheetGrid) -> Iterator[str]:
    """Yield the note on how formulas are shown, if there are some."""
    seen = {formula.result_state for formula in grid.formulas.values() if formula.text}
    if seen:
        said = (note for result_state, note in _NOTES.items() if result_state in seen)
        yield "Formula cells show their formula. " + " ".join(said)


def hidden_sheet_note(name: str, *, is_very_hidden: bool = False) -> str:
    """Return the note on a sheet whose tab people do not see."""
    how = "hidden, and no program offers to show it" if is_very_hidden else "hidden"
    return f"The sheet {name} is {how}."


def hidden_notes(
    rows: Sequence[tuple[int, int]], columns: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """Yield notes on ranges of rows and columns that people do not see."""
    if rows:
        yield place_note("Rows that are hidden", [_span(str(a), str(b)) for a, b in rows])
    if columns:
        told = [_span(column_letters(a), column_letters(b)) for a, b in columns]
        yield place_note("Columns that are hidden", told)


def hidden_table_notes(
    rows: Sequence[tuple[int, int]], columns: Sequence[tuple[int, int]]
) -> Iterator[str]:
    """Yield notes on how many rows and columns of a table people do not see."""
    for spans, what in ((rows, "row(s)"), (columns, "column(s)")):
        if spans:
            count = sum(last - first + 1 for first, last in spans)
            yield f"{count} {what} of the table are hidden from people."


def currency_notes(found: Mapping[int, Sequence[str]]) -> Iterator[str]:
    """Yield notes on the columns of a table whose amounts are in several currencies."""
    for column, codes in sorted(found.items()):
        if len(codes) > 1:
            listed = ", ".join(codes[:_MOST_CODES])
            yield (
                f"Column {column_letters(column)} has amounts in several currencies ({listed}): "
                "a sum of them is none."
            )


def place_note(what: str, places: Sequence[str]) -> str:
    """Return a note that names the first few of some places."""
    more = " …" if len(places) > _SHOWN_RANGES else ""
    return f"{what}: {', '.join(places[:_SHOWN_RANGES])}{more}."


def _span(first: str, last: str) -> str:
    return first if first == last else f"{first}-{last}"


def grid_reading(
    name: str, used: Area, area: Area, grid: SheetGrid, notes: Sequence[str], *, typed: bool
) -> Reading:
    """Return the reading of an area.

    Args:
        name: The sheet's name.
        used: Its used range.
        area: What was asked for.
        grid: What of it lies within the used range.
        notes: What a reader must know of it.
        typed: Whether its cells are wanted as values, too.
    """
    found = grid_text(grid)
    rows = typed_rows(grid, found.last_row) if typed else None
    end = min(area.bottom, used.bottom)
    last = found.last_row if rows is None else grid.area.top + len(rows) - 1
    warnings = tuple(notes)
    if last < end:
        cut = f"Only the rows up to {last} fit into one reading; go on below it."
        warnings = (*warnings, cut)
    taken = Area(area.top, area.left, max(area.top, min(last, area.bottom)), area.right)
    text = f"{name}!{taken}\n{found.text}"
    is_whole = taken.top <= used.top and taken.bottom >= used.bottom
    if is_whole and rows is None:
        return Reading(text, warnings=warnings)
    # What holds all rows is one chunk, however many its rows would fill.
    total = 1 if is_whole else -(-(used.bottom - used.top + 1) // ROWS_PER_CHUNK)
    index = min(max(0, taken.top - used.top) // ROWS_PER_CHUNK, total - 1)
    more = taken.bottom < used.bottom
    if rows is not None:
        taken = Area(taken.top, taken.left, last, grid.area.right)
    return Reading(text, ChunkInfo(index, total, more, str(taken)), warnings, rows)


def grid_text(grid: SheetGrid) -> GridText:
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
            return GridText("\n".join(lines), number - 1)
        lines.append(line)
        size += len(line) + 1
    return GridText("\n".join(lines), area.bottom)


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


def typed_rows(grid: SheetGrid, last_row: int) -> tuple[tuple[CellValue, ...], ...]:
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
