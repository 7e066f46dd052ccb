"""Places of workbooks, with their titles; a place that a title names is found again by it."""

from kbd.formats import Place
from kbd.sheets.areas import Area, cell_name, column_letters

__all__ = [
    "area_place",
    "cell_place",
    "columns_place",
    "object_place",
    "part_place",
    "range_place",
    "rows_place",
    "sheet_place",
]


def sheet_place(sheet: str) -> Place:
    """Return a whole sheet."""
    return Place(title=sheet, sheet=sheet)


def cell_place(sheet: str, row: int, column: int) -> Place:
    """Return a cell."""
    name = cell_name(row, column)
    return Place(title=f"{sheet}!{name}", sheet=sheet, cell=name)


def rows_place(sheet: str, first: int, last: int) -> Place:
    """Return whole rows."""
    return range_place(sheet, f"{first}:{last}")


def columns_place(sheet: str, first: int, last: int) -> Place:
    """Return whole columns."""
    return range_place(sheet, f"{column_letters(first)}:{column_letters(last)}")


def area_place(sheet: str, area: Area) -> Place:
    """Return a cell or a range."""
    if (area.top, area.left) == (area.bottom, area.right):
        return cell_place(sheet, area.top, area.left)
    return range_place(sheet, str(area))


def range_place(sheet: str, text: str) -> Place:
    """Return a range, or several."""
    if text and ":" not in text and " " not in text:
        return Place(title=f"{sheet}!{text}", sheet=sheet, cell=text)
    return Place(title=f"{sheet}!{text}" if text else sheet, sheet=sheet, range=text or None)


def object_place(sheet: str, kind: str, name: str, area: str = "") -> Place:
    """Return what lies on a sheet: a chart, a picture, a shape."""
    part = f"{kind} {name}"
    return Place(title=f"{sheet}, {part}", sheet=sheet, range=area or None, part=part)


def part_place(part: str, title: str = "") -> Place:
    """Return what lies beside the sheets."""
    return Place(title=title or part, part=part)
