"""The text of a workbook's ranges: a compact grid of typed values, a line a row.

        A	B	C
    1	Date	Item	Amount
    2	2024-01-31	Tea	4.5

Cells are separated by tabs, blank rows and blank cells at a row's end are left out. Dates are ISO,
numbers plain; text that could be taken for another type stands in quotes. A formula is shown as
its text with the result that was stored, if there is one.
"""

from collections.abc import Iterator

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd.opc import Package
from kbd_xlsx.features import sheet_features
from kbd_xlsx.formulas import read_formulas
from kbd_xlsx.grids import Grid, open_grids, shown
from kbd_xlsx.mapping import ROWS_PER_CHUNK
from kbd_xlsx.references import Area, column_letters, parse_area
from kbd_xlsx.workbook import SheetPart, find_sheet, read_workbook

__all__ = ["passages", "read_region"]

MAX_READ_CHARS = 200_000
"""What one reading holds at most: about 50,000 tokens, more than a model uses well."""

_FORMULA_NOTE = (
    "Formula cells show their formula; [stored: …] is the result that the saving program left, "
    "and [no value stored] means that there is none, or an error."
)


class _Text(msgspec.Struct, frozen=True):
    """A grid's text, the last row that is in it, and whether it has formulas."""

    text: str
    last_row: int
    has_formulas: bool


def read_region(source: Source, region: Region) -> Reading:
    """Read a range of a sheet; without a range its first 50 rows, without a sheet the first one.

    Raises:
        FileReadFailed: The workbook cannot be read.
        ValidationFailed: There is no such sheet, or the range is none.
    """
    foreign = set(region.named()) - {"sheet", "range"}
    if foreign:
        raise ValidationFailed(f"{source.name} is read by sheet and range, not by {min(foreign)}.")
    name, wanted = _named(region)
    with Package(source) as package:
        workbook = read_workbook(package)
        sheet = find_sheet(workbook, name) if name else _first(workbook.sheets)
        features = sheet_features(package, sheet)
        with open_grids(source, package) as book:
            grid = book.grid(sheet.name)
        formulas = read_formulas(package, sheet, features)
        grid = grid.widened(formulas.keys())
        if grid.area is None:
            return Reading(f"{sheet.name}: no values.")
        area = parse_area(wanted, grid.area) if wanted else _first_chunk(grid.area)
    return _reading(sheet, grid, grid.area, area, formulas)


def passages(source: Source) -> Iterator[Passage]:
    """Yield every sheet's text in chunks of 50 rows; places are as "Sheet1!A1:E50"."""
    with Package(source) as package:
        workbook = read_workbook(package)
        for sheet in workbook.sheets:
            formulas = read_formulas(package, sheet, sheet_features(package, sheet))
            with open_grids(source, package) as book:
                grid = book.grid(sheet.name).widened(formulas.keys())
            if grid.area is None:
                continue
            top = grid.area.top
            while top <= grid.area.bottom:
                bottom = min(top + ROWS_PER_CHUNK - 1, grid.area.bottom)
                area = Area(top, grid.area.left, bottom, grid.area.right)
                found = _grid_text(grid, area, formulas)
                area = Area(top, area.left, found.last_row, area.right)
                yield Passage(found.text, f"{sheet.name}!{area}")
                top = found.last_row + 1


def _named(region: Region) -> tuple[str | None, str | None]:
    """Take a sheet's name from a range like 'My sheet'!A1:B2 if it has one."""
    name, wanted = region.sheet, region.range
    if wanted and "!" in wanted:
        prefix, _, wanted = wanted.rpartition("!")
        prefix = prefix.strip().removeprefix("'").removesuffix("'").replace("''", "'")
        if name and name.casefold() != prefix.casefold():
            raise ValidationFailed(f"The range is of sheet {prefix}, but sheet is {name}.")
        name = name or prefix
    return name, wanted


def _first(sheets: tuple[SheetPart, ...]) -> SheetPart:
    for sheet in sheets:
        if sheet.kind == "worksheet" and not sheet.hidden:
            return sheet
    if not sheets:
        raise ValidationFailed("The workbook has no sheets.")
    return sheets[0]


def _first_chunk(used: Area) -> Area:
    return Area(used.top, used.left, min(used.bottom, used.top + ROWS_PER_CHUNK - 1), used.right)


def _reading(
    sheet: SheetPart, grid: Grid, used: Area, area: Area, formulas: dict[tuple[int, int], str]
) -> Reading:
    found = _grid_text(grid, area, formulas)
    warnings = [_FORMULA_NOTE] if found.has_formulas else []
    end = min(area.bottom, used.bottom)
    if found.last_row < end:
        warnings.append(
            f"Only the rows up to {found.last_row} fit into one reading; go on below it."
        )
    taken = Area(area.top, area.left, max(area.top, min(found.last_row, area.bottom)), area.right)
    text = f"{sheet.name}!{taken}\n{found.text}"
    if taken.top <= used.top and taken.bottom >= used.bottom:
        return Reading(text, warnings=tuple(warnings))
    total = -(-(used.bottom - used.top + 1) // ROWS_PER_CHUNK)
    index = min(max(0, taken.top - used.top) // ROWS_PER_CHUNK, total - 1)
    more = taken.bottom < used.bottom
    return Reading(text, ChunkInfo(index, total, more, str(taken)), tuple(warnings))


def _grid_text(grid: Grid, area: Area, formulas: dict[tuple[int, int], str]) -> _Text:
    """Write an area's rows until they are all there or the text is full."""
    columns = range(area.left, area.right + 1)
    used = grid.area
    # Columns and rows outside the used range hold nothing to show.
    last_row = min(area.bottom, used.bottom) if used else area.bottom
    right = min(area.right, used.right) if used else area.right
    columns = range(area.left, max(area.left, right) + 1)
    lines = ["\t" + "\t".join(map(column_letters, columns))]
    size = len(lines[0])
    seen = False
    for number in range(area.top, last_row + 1):
        cells = [shown(value) for value in grid.row(number, columns[0], columns[-1])]
        for place, column in enumerate(columns) if formulas else ():
            formula = formulas.get((number, column))
            if formula is not None and formula.startswith("="):
                seen = True
                stored = f"stored: {cells[place]}" if cells[place] else "no value stored"
                cells[place] = f"{formula} [{stored}]"
            elif formula is not None:
                cells[place] = formula
        line = f"{number}\t" + "\t".join(cells).rstrip("\t")
        if size + len(line) > MAX_READ_CHARS and number > area.top:
            return _Text("\n".join(lines), number - 1, seen)
        if any(cells):
            lines.append(line)
            size += len(line) + 1
    return _Text("\n".join(lines), max(area.top, last_row), seen)
