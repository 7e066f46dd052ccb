"""The islands of a sheet: rectangles of cells with blank rows or blank columns around them.

A rectangle is trimmed, then split at blank rows, then at blank columns, again and again until
nothing splits. Rows are bit masks of their filled columns, so that this costs little.
"""

import datetime as dt

import msgspec

from kbd_xlsx.grids import Grid, Value, plain_text
from kbd_xlsx.references import Area

__all__ = ["Island", "find_islands"]

_SAMPLE_ROWS = 50
_FIRST_YEAR, _LAST_YEAR = 1900, 2100


class Island(msgspec.Struct, frozen=True):
    """An island, and its headers if its first row names its columns."""

    area: Area
    headers: tuple[str, ...] | None


def find_islands(grid: Grid) -> list[Island]:
    """Find a sheet's islands from top to bottom and left to right."""
    if grid.area is None:
        return []
    masks = [_mask(row) for row in grid.rows]
    height, width = len(masks), grid.area.right - grid.area.left + 1
    found: list[tuple[int, int, int, int]] = []
    # A stack, not recursion: a sheet may be split a hundred thousand times.
    stack = [(0, height - 1, 0, width - 1)]
    while stack:
        box = _trim(masks, *stack.pop())
        if box is None:
            continue
        parts = _split_rows(masks, *box)
        if len(parts) == 1:
            parts = _split_columns(masks, *box)
        if len(parts) == 1:
            found.append(box)
        else:
            stack.extend(parts)
    found.sort(key=lambda box: (box[0], box[2]))
    return [_island(grid, grid.area, *box) for box in found]


def _mask(row: list[Value]) -> int:
    mask = 0
    for place, value in enumerate(row):
        if value != "":
            mask |= 1 << place
    return mask


def _span(left: int, right: int) -> int:
    return ((1 << (right - left + 1)) - 1) << left


def _trim(
    masks: list[int], top: int, bottom: int, left: int, right: int
) -> tuple[int, int, int, int] | None:
    """Drop blank rows and columns at the edges; None if nothing is left."""
    span = _span(left, right)
    while top <= bottom and not masks[top] & span:
        top += 1
    while bottom >= top and not masks[bottom] & span:
        bottom -= 1
    union = 0
    for mask in masks[top : bottom + 1]:
        union |= mask & span
    if not union:
        return None
    return top, bottom, (union & -union).bit_length() - 1, union.bit_length() - 1


def _split_rows(
    masks: list[int], top: int, bottom: int, left: int, right: int
) -> list[tuple[int, int, int, int]]:
    span = _span(left, right)
    parts, start = [], None
    for row in range(top, bottom + 1):
        if masks[row] & span:
            start = row if start is None else start
        elif start is not None:
            parts.append((start, row - 1, left, right))
            start = None
    if start is not None:
        parts.append((start, bottom, left, right))
    return parts


def _split_columns(
    masks: list[int], top: int, bottom: int, left: int, right: int
) -> list[tuple[int, int, int, int]]:
    union = 0
    for mask in masks[top : bottom + 1]:
        union |= mask
    parts, start = [], None
    for column in range(left, right + 1):
        if union >> column & 1:
            start = column if start is None else start
        elif start is not None:
            parts.append((top, bottom, start, column - 1))
            start = None
    if start is not None:
        parts.append((top, bottom, start, right))
    return parts


def _island(grid: Grid, used: Area, top: int, bottom: int, left: int, right: int) -> Island:
    area = Area(used.top + top, used.left + left, used.top + bottom, used.left + right)
    sample = [row[left : right + 1] for row in grid.rows[top : min(bottom, top + _SAMPLE_ROWS) + 1]]
    headers = tuple(map(plain_text, sample[0])) if _names_columns(sample) else None
    return Island(area, headers)


def _names_columns(rows: list[list[Value]]) -> bool:
    """Tell whether the first row is a header.

    It has a text, names are distinct, and no column goes on as it began: a number or date in the
    first row counts as a name only where what is below is of another kind, or if it is a year.
    """
    first, below = rows[0], rows[1:]
    filled = [plain_text(value) for value in first if value != ""]
    texts = sum(isinstance(value, str) and value != "" for value in first)
    if not texts or len(set(filled)) < len(filled) or len(filled) * 2 <= len(first):
        return False
    if not below:
        return texts == len(first) > 1
    differs = False
    for place, value in enumerate(first):
        kinds = {_kind(row[place]) for row in below} - {""}
        kind = _kind(value)
        if kind == "text":
            differs = differs or (bool(kinds) and "text" not in kinds)
        elif kind and (kind in kinds) and not _heads_as_year(value, below, place):
            return False
        elif kind:
            differs = differs or bool(kinds)
    return differs or (texts == len(filled) and len(first) > 1)


def _kind(value: Value) -> str:
    match value:
        case "":
            return ""
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case dt.date():
            return "date"
        case _:
            return "time"


def _heads_as_year(value: Value, below: list[list[Value]], place: int) -> bool:
    """Tell whether a number is a year above numbers that are not all years."""
    under = [row[place] for row in below if row[place] != ""]
    return _is_year(value) and not all(_is_year(found) for found in under)


def _is_year(value: Value) -> bool:
    return isinstance(value, int | float) and _FIRST_YEAR <= value <= _LAST_YEAR and value % 1 == 0
