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

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from kbd.formats import Passage, Reading, Region, Source
from kbd.opc import suffix_mismatch
from kbd.sheets.areas import Area, cell_name, parse_area
from kbd.sheets.cells import CellMark
from kbd.sheets.grid_text import (
    SheetGrid,
    area_within,
    first_chunk,
    formula_notes,
    grid_reading,
    hidden_notes,
    hidden_sheet_note,
    named_area,
    place_note,
    sheet_passages,
)
from kbd_xlsx.reader.book import SheetReader, WorkbookReader, with_workbook
from kbd_xlsx.reader.section_file import ShelfDamagedError
from kbd_xlsx.workbook import FAMILY, SheetEntry

__all__ = ["first_sheet", "passages", "read_cells", "read_region"]

MAX_CHARTS_NAMED = 5
"""Charts of a sheet that a reading names; the map lists more."""

_UNSEEN = (
    ("hidden", "Cells that are hidden, by their look, a condition or a merged cell"),
    ("partly", "Cells of which a part is hidden, by its color or size"),
    ("maybe", "Cells that may be hidden, by a condition or their number format"),
)
_PLACEHOLDERS = (
    "All stored results here are 0 and the workbook asks to be calculated when it is opened: "
    "they may be placeholders."
)


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
    name = sheet.part.name
    # Of sheets that share a name, which no program writes, the first one answers to it.
    is_named = bool(name) and book.find(name) is sheet.part
    yield from sheet_passages(name, sheet.area, partial(_grid, book, sheet), is_named=is_named)


def _read(source: Source, region: Region, *, typed: bool) -> Reading:
    name, wanted = named_area(source, region)

    def work(book: WorkbookReader) -> Reading:
        part = book.find(name) if name else first_sheet(book.workbook.sheets)
        with book.sheet(part) as sheet:
            used = sheet.area
            if used is None:
                return Reading(f"{part.name}: no values.", rows=() if typed else None)
            area = parse_area(wanted, used) if wanted else first_chunk(used)
            reading = _reading(book, sheet, used, area, typed=typed)
            refused = suffix_mismatch(book.workbook.identity, FAMILY, source.name)
            if refused:
                reading = msgspec.structs.replace(reading, warnings=(*reading.warnings, refused))
            return reading

    return with_workbook(source, work)


def first_sheet(sheets: tuple[SheetEntry, ...]) -> SheetEntry:
    """Return the sheet that is read where none is named: the first one that people see."""
    for sheet in sheets:
        if sheet.kind == "worksheet" and not sheet.hidden:
            return sheet
    return sheets[0]


def _grid(book: WorkbookReader, sheet: SheetReader, area: Area) -> SheetGrid:
    """Take an area's cells; rows and columns outside the used range hold nothing to show."""
    used = sheet.area or area
    inside = area_within(area, used)
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
    return SheetGrid(inside, rows, formulas, sheet.marks(inside), are_placeholders)


def _reading(
    book: WorkbookReader, sheet: SheetReader, used: Area, area: Area, *, typed: bool
) -> Reading:
    grid = _grid(book, sheet, area)
    notes = _notes(sheet, grid)
    return grid_reading(sheet.name, used, area, grid, notes, typed=typed)


def _notes(sheet: SheetReader, grid: SheetGrid) -> list[str]:
    """Return the notes on formulas and on hidden rows and columns."""
    notes = [*formula_notes(grid)]
    if grid.are_placeholders:
        notes.append(_PLACEHOLDERS)
    if sheet.part.hidden:
        very = sheet.part.is_very_hidden
        notes.append(hidden_sheet_note(sheet.part.name, is_very_hidden=very))
    unseen = [
        (note, [cell_name(*place) for place, mark in _placed(grid) if mark.kind == kind])
        for kind, note in _UNSEEN
    ]
    if sheet.features.charts:
        notes.append(_chart_note(sheet.features.charts))
    rows, columns = sheet.hidden_rows(grid.area), sheet.hidden_columns(grid.area)
    told = [place_note(what, places) for what, places in unseen if places]
    return [*notes, *hidden_notes(rows, columns), *told]


def _chart_note(charts: Sequence[Mapping[str, Any]]) -> str:
    """Name the charts of a sheet; the map says what they draw."""
    named = []
    for chart in charts[:MAX_CHARTS_NAMED]:
        facts = [chart.get("type", ""), chart.get("title", ""), chart.get("range", "")]
        named.append(f"{chart['name']} ({', '.join(filter(None, facts))})")
    more = len(charts) - len(named)
    return f"Charts on this sheet: {'; '.join(named)}{f' and {more} more' if more else ''}."


def _placed(grid: SheetGrid) -> Iterator[tuple[tuple[int, int], CellMark]]:
    for row, marks in grid.marks.items():
        for column, mark in marks.items():
            yield (row, column), mark
