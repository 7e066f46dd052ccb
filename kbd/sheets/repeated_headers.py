"""Headers that stand again between the rows of a sheet's table, as printed pages have them.

A reader looks out for the header's first name in its column while it writes the rows. Where that
stands again, it is decided here which rows are the header, and which are titles above it.
"""

from collections.abc import Iterable

import msgspec

from kbd.formats.headings import ABOVE_REPEATED, REPEATED, repeats_header
from kbd.sheets.areas import Area
from kbd.sheets.cells import SheetCells
from kbd.sheets.row_forms import (
    count_values,
    filled_rows,
    is_aside,
    told_row,
    touched_rows,
    typical_count,
)
from kbd.sheets.table_extent import TableExtent
from kbd.sheets.values import plain_text

__all__ = ["HeaderMark", "header_mark", "without_headers"]

_HEAD_ROWS = 60
_MOST_TITLES = 20
_LEAST_TOLD = 3
"""So many values has a row at least, if one value alone tells that it is none."""


class HeaderMark(msgspec.Struct, frozen=True):
    """What a header may be told by: the place of a column, and its name as it may be written."""

    place: int
    texts: frozenset[str]


def header_mark(sheet: SheetCells, extent: TableExtent) -> HeaderMark | None:
    """Return what the header of a table may be told by; None without one, or one of one name."""
    if extent.headers is None:
        return None
    names = _header(sheet, extent)[-1]
    if sum(bool(name.strip()) for name in names) < 2:
        return None
    place = next(place for place, name in enumerate(names) if name.strip())
    name = names[place]
    return HeaderMark(place, frozenset((name, name.upper(), name.lower(), name.title())))


def without_headers(sheet: SheetCells, extent: TableExtent, rows: Iterable[int]) -> TableExtent:
    """Return a table without the header where it stands again, and the titles above it.

    Args:
        sheet: Where it is.
        extent: The table.
        rows: Those that have the header's first name in its column.
    """
    area, header = extent.area, _header(sheet, extent)
    headers, titles = list[int](), list[int]()
    head = Area(extent.top, area.left, min(area.bottom, extent.top + _HEAD_ROWS), area.right)
    typical = typical_count([*filled_rows(sheet, head).values()])
    for row in rows:
        first = row - len(header) + 1
        block = _texts(sheet, Area(first, area.left, row, area.right))
        if first < extent.top or not all(map(repeats_header, block, header)):
            continue
        titles += _titles(sheet, extent, first, typical)
        headers += range(first, row + 1)
        if extent.top in extent.skipped and _is_alike(sheet, area, row + 1, extent.top):
            headers.append(row + 1)
    if not headers:
        return extent
    left_out, warnings = [*extent.left_out], [*extent.warnings]
    for what, numbers in ((ABOVE_REPEATED, titles), (REPEATED, headers)):
        if numbers:
            sample = told_row(sheet.row(numbers[0], area.left, area.right))
            left_out.append(touched_rows(what, numbers, sample))
            listed = ", ".join(map(str, numbers[:3])) + (" …" if len(numbers) > 3 else "")
            warnings.append(f"Left out: {what} (row {listed}).")
    return msgspec.structs.replace(
        extent,
        skipped=extent.skipped | {*headers, *titles},
        left_out=tuple(left_out),
        warnings=tuple(warnings),
    )


def _header(sheet: SheetCells, extent: TableExtent) -> list[list[str]]:
    """Return the rows of the header as texts: one, or the two that name the columns together."""
    area = extent.area
    first = extent.top - extent.name_rows
    return _texts(sheet, Area(first, area.left, extent.top - 1, area.right))


def _is_alike(sheet: SheetCells, area: Area, one: int, other: int) -> bool:
    """Tell whether two rows of a table say the same: the units that stand again, too."""
    rows = (sheet.row(number, area.left, area.right) for number in (one, other))
    first, second = ([*map(plain_text, row)] for row in rows)
    return first == second


def _texts(sheet: SheetCells, area: Area) -> list[list[str]]:
    return [[*map(plain_text, row)] for row in filled_rows(sheet, area).values()]


def _titles(sheet: SheetCells, extent: TableExtent, first: int, typical: int) -> list[int]:
    """Return the rows of titles above a repeated header, from top to bottom.

    Right below a row they are titles only where rows have more values.
    """
    area = extent.area
    start = max(extent.top, first - _MOST_TITLES)
    rows = filled_rows(sheet, Area(start, area.left, first - 1, area.right))
    found, is_apart = list[int](), False
    for number in sorted(rows, reverse=True):
        if not count_values(rows[number]):
            is_apart = True
        elif is_aside(rows[number], typical):
            found.append(number)
        else:
            break
    return sorted(found) if is_apart or typical >= _LEAST_TOLD else []
