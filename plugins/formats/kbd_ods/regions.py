"""The text of a spreadsheet's ranges, as `kbd.sheets.grid_text` writes it."""

from collections.abc import Iterator
from functools import partial

from kbd.formats import Passage, Reading, Region, Source
from kbd.sheets.areas import Area, parse_area
from kbd.sheets.grid_text import (
    SheetGrid,
    area_within,
    first_chunk,
    formula_notes,
    grid_reading,
    hidden_notes,
    hidden_sheet_note,
    named_area,
    sheet_passages,
)
from kbd_ods.sheets import OdsSheet
from kbd_ods.workbook import find_sheet, first_sheet, read_sheets

__all__ = ["passages", "read_cells", "read_region"]


def read_region(source: Source, region: Region) -> Reading:
    """Read a range of a sheet; without a range its first 50 rows, without a sheet the first one.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: There is no such sheet, or the range is none.
    """
    return _read(source, region, typed=False)


def read_cells(source: Source, region: Region) -> Reading:
    """Read a range as `read_region` does, with its cells as `rows`; raises as it does."""
    return _read(source, region, typed=True)


def passages(source: Source) -> Iterator[Passage]:
    """Yield every sheet's text in chunks of 50 rows; places are as "Sheet1!A1:E50"."""
    sheets = read_sheets(source)
    for sheet in sheets:
        # Of sheets that share a name, which no program writes, the first one answers to it.
        is_named = find_sheet(sheets, sheet.name) is sheet
        yield from sheet_passages(sheet.name, sheet.area, partial(_grid, sheet), is_named=is_named)


def _read(source: Source, region: Region, *, typed: bool) -> Reading:
    name, wanted = named_area(source, region)
    sheets = read_sheets(source)
    sheet = find_sheet(sheets, name) if name else first_sheet(sheets)
    used = sheet.area
    if used is None:
        return Reading(f"{sheet.name}: no values.", rows=() if typed else None)
    area = parse_area(wanted, used) if wanted else first_chunk(used)
    grid = _grid(sheet, area_within(area, used))
    return grid_reading(sheet.name, used, area, grid, _notes(sheet, grid), typed=typed)


def _grid(sheet: OdsSheet, area: Area) -> SheetGrid:
    return SheetGrid(area, dict(sheet.rows(area)), sheet.formulas(area), {}, False)  # noqa: FBT003


def _notes(sheet: OdsSheet, grid: SheetGrid) -> list[str]:
    """Return the notes on formulas, and on what people do not see."""
    notes = [*formula_notes(grid)]
    if sheet.found.hidden:
        notes.append(hidden_sheet_note(sheet.name))
    return [
        *notes,
        *hidden_notes(sheet.hidden_rows(grid.area), sheet.hidden_columns(grid.area)),
    ]
