"""Window of a sheet as people see it: the text of its cells, and its merged ranges.

Numbers are as the plain form of tables has them, dates ISO; number formats are not applied. A
formula is shown by the result that the file stores, and by its own text where none is stored.
"""

from kbd.formats import Grid, GridMerge, GridWindow, Source
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, column_letters, overlaps
from kbd.sheets.values import plain_text
from kbd_xlsx.reader.book import SheetReader, WorkbookReader, with_workbook
from kbd_xlsx.regions import first_sheet

__all__ = ["MAX_CELL_CHARACTERS", "MAX_WINDOW_CHARACTERS", "read_grid"]

MAX_CELL_CHARACTERS = 400
"""Of one cell; longer texts are cut, and a warning says so."""

MAX_WINDOW_CHARACTERS = 1024 * 1024
"""Of all cells of a window; it ends above the row that would pass it."""

MAX_MERGED = 1000
"""Merged ranges that a window tells."""


def read_grid(source: Source, window: GridWindow) -> Grid:
    """Read a window of a sheet.

    Raises:
        FileReadFailed: The workbook cannot be read.
        ValidationFailed: There is no such sheet.
    """

    def work(book: WorkbookReader) -> Grid:
        name = window.sheet
        part = book.find(name) if name else first_sheet(book.workbook.sheets)
        with book.sheet(part) as sheet:
            return _window(sheet, window, tuple(each.name for each in book.workbook.sheets))

    return with_workbook(source, work)


def _window(sheet: SheetReader, window: GridWindow, names: tuple[str, ...]) -> Grid:
    merged = sheet.merged_areas()
    used = sheet.area
    # A merged range is seen whole, also where it reaches past the last cell that holds anything.
    total_rows = max([used.bottom if used else 0, *(area.bottom for area in merged)])
    total_columns = max([used.right if used else 0, *(area.right for area in merged)])
    bottom = min(window.row_start + window.row_count - 1, total_rows, MAX_ROW)
    right = min(window.column_start + window.column_count - 1, total_columns, MAX_COLUMN)
    area = Area(window.row_start, window.column_start, bottom, right)
    warnings: list[str] = []
    rows: tuple[tuple[str | None, ...], ...] = ()
    inside: list[Area] = []
    if area.top <= bottom and area.left <= right:
        rows = _rows(sheet, area, warnings)
        inside = [each for each in merged if overlaps(each, area)]
    return Grid(
        sheet=sheet.part.name,
        sheets=names,
        row_start=window.row_start,
        column_start=window.column_start,
        columns=tuple(map(column_letters, range(area.left, right + 1))),
        rows=rows,
        merged=tuple(
            GridMerge(each.top, each.left, each.bottom - each.top + 1, each.right - each.left + 1)
            for each in inside[:MAX_MERGED]
        ),
        total_rows=total_rows,
        total_columns=total_columns,
        warnings=tuple(warnings),
    )


def _rows(
    sheet: SheetReader, area: Area, warnings: list[str]
) -> tuple[tuple[str | None, ...], ...]:
    """Return the rows of an area, as many as fit, and add what the reader must know of them."""
    values = dict(sheet.rows(area))
    formulas = sheet.formulas(area)
    by_row: dict[int, list[int]] = {}
    for at, column in formulas:
        by_row.setdefault(at, []).append(column)
    blank = [""] * (area.right - area.left + 1)
    rows: list[tuple[str | None, ...]] = []
    room = MAX_WINDOW_CHARACTERS
    is_cut = False
    unstored = 0
    for number in range(area.top, area.bottom + 1):
        cells = [plain_text(value) for value in values.get(number, blank)]
        for column in by_row.get(number, ()):
            formula, place = formulas[number, column], column - area.left
            if formula.error:
                cells[place] = formula.error
            elif formula.result_state == "missing":
                cells[place] = formula.text
                unstored += 1
        is_cut = is_cut or any(len(cell) > MAX_CELL_CHARACTERS for cell in cells)
        row = tuple(_shown(cell) for cell in cells)
        room -= sum(len(cell) for cell in row if cell)
        if room < 0 and rows:
            warnings.append(f"only the rows up to {number - 1} fit into one window")
            break
        rows.append(row)
    if is_cut:
        warnings.append(f"texts longer than {MAX_CELL_CHARACTERS} characters are cut")
    if unstored:
        warnings.append(f"{unstored} formula(s) have no stored result and are shown as formulas")
    return tuple(rows)


def _shown(cell: str) -> str | None:
    if len(cell) > MAX_CELL_CHARACTERS:
        return cell[:MAX_CELL_CHARACTERS] + "…"
    return cell or None
