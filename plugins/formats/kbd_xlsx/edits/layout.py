"""How a sheet is laid out: widths, heights, panes, merged cells, filters."""

from typing import Any

from kbd.errors import ValidationFailed
from kbd.office.formatting import number
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import (
    AutoFilter,
    FreezePanes,
    MergeCells,
    SetColumnWidths,
    SetRowHeights,
    UnmergeCells,
)
from kbd_xlsx.references import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    column_letters,
    column_number,
    overlaps,
    parse_area,
)

__all__ = [
    "filter_rows",
    "freeze_panes",
    "merge_cells",
    "set_column_widths",
    "set_row_heights",
    "unmerge_cells",
]

MAX_WIDTH = 255
"""Characters (ECMA-376, 18.3.1.13)."""

MAX_HEIGHT = 409
"""Points."""

_WIDTH, _HEIGHT = number(0, MAX_WIDTH), number(0, MAX_HEIGHT, "pt")
_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_FILTER_NAME = "_xlnm._FilterDatabase"


def set_column_widths(book: BookEdit, operation: SetColumnWidths) -> str:
    """Set widths and say which; what cannot be one is skipped with a warning."""
    sheet = book.sheet(operation.sheet)
    done = []
    for entry in operation.columns:
        column = _column(entry.column)
        width = _WIDTH.parse(entry.width)
        if column is None or width is None:
            book.notices.warn(f"width of column {entry.column!r} cannot be {entry.width!r}")
            continue
        sheet.set_width(column, float(width))
        done.append(column_letters(column))
    return f"{sheet.name}: widths of {', '.join(done) or 'no column'}"


def set_row_heights(book: BookEdit, operation: SetRowHeights) -> str:
    """Set heights and say which; what cannot be one is skipped with a warning."""
    sheet = book.sheet(operation.sheet)
    done = []
    for entry in operation.rows:
        valid = isinstance(entry.row, int) and not isinstance(entry.row, bool)
        height = _HEIGHT.parse(entry.height)
        if not valid or not 1 <= entry.row <= MAX_ROW or height is None:
            book.notices.warn(f"height of row {entry.row!r} cannot be {entry.height!r}")
            continue
        sheet.set_height(entry.row, float(height))
        done.append(str(entry.row))
    return f"{sheet.name}: heights of {', '.join(done) or 'no row'}"


def freeze_panes(book: BookEdit, operation: FreezePanes) -> str:
    """Freeze rows and columns, or none, and say which."""
    sheet = book.sheet(operation.sheet)
    sheet.freeze(operation.row, operation.column)
    if not operation.row and not operation.column:
        return f"{sheet.name}: nothing frozen"
    corner = f"{column_letters(operation.column + 1)}{operation.row + 1}"
    return f"{sheet.name}: frozen above and left of {corner}"


def merge_cells(book: BookEdit, operation: MergeCells) -> str:
    """Merge a range; raises ValidationFailed where that would lose or break something."""
    sheet = book.sheet(operation.sheet)
    area = parse_area(operation.range, _WHOLE)
    if (area.top, area.left) == (area.bottom, area.right):
        raise ValidationFailed(f"{area} is one cell; there is nothing to merge.")
    _check_no_table(book, sheet.name, area, "be merged")
    sheet.merge(area)
    return f"{sheet.name}!{area}: merged"


def unmerge_cells(book: BookEdit, operation: UnmergeCells) -> str:
    """Take merged cells apart; raises ValidationFailed if there are none."""
    sheet = book.sheet(operation.sheet)
    area = parse_area(operation.range, _WHOLE)
    sheet.unmerge(area)
    return f"{sheet.name}!{area}: no longer merged"


def filter_rows(book: BookEdit, operation: AutoFilter) -> str:
    """Give a range filter buttons; raises ValidationFailed where a table has its own."""
    sheet = book.sheet(operation.sheet)
    area = parse_area(operation.range, _WHOLE)
    _check_no_table(book, sheet.name, area, "have a filter of its own")
    if sheet.auto_filter(area):
        book.notices.warn(
            f"{sheet.name} had a filter with criteria; they are gone, rows that they hid stay "
            "hidden."
        )
    quoted = sheet.name.replace("'", "''")
    corners = (
        f"${column_letters(column)}${row}"
        for row, column in ((area.top, area.left), (area.bottom, area.right))
    )
    tab = book.titles.index(sheet.name)
    book.book.set_name(_FILTER_NAME, tab, f"'{quoted}'!{':'.join(corners)}")
    return f"{sheet.name}!{area}: filter"


def _check_no_table(book: BookEdit, sheet: str, area: Area, what: str) -> None:
    for table in book.tables(sheet):
        if overlaps(table.area, area):
            raise ValidationFailed(
                f"{area} is part of table {table.name} ({table.area}); cells of it cannot {what}."
            )


def _column(value: Any) -> int | None:
    """Return a column's number from its letters or its number, None if there is no such one."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_COLUMN:
        return value
    if not isinstance(value, str) or not 1 <= len(value) <= 3 or not value.isascii():
        return None
    try:
        return column_number(value) if value.isalpha() else None
    except ValidationFailed:
        return None
