"""Dynamic arrays: which formulas are some, and which cells they may fill."""

import re
from collections.abc import Container

from judging.book import Sheet
from judging.cells import Cell
from judging.places import MAX_COLUMN, MAX_ROW, Box, Place

__all__ = ["Spot", "free_beside", "is_dynamic", "is_spilling", "room_of"]

Spot = tuple[str, Place]
"""A cell: the title of its sheet in lower case, and where."""

_SPILLING = re.compile(
    r"_xlfn\.(?:_xlws\.)?(?:ANCHORARRAY|BYCOL|BYROW|CHOOSECOLS|CHOOSEROWS|DROP|EXPAND|FILTER|GROUPBY"
    r"|HSTACK|MAKEARRAY|MAP|PIVOTBY|RANDARRAY|SCAN|SEQUENCE|SORT|SORTBY|STOCKHISTORY|TAKE"
    r"|TEXTSPLIT|TOCOL|TOROW|TRIMRANGE|UNIQUE|VSTACK|WRAPCOLS|WRAPROWS)\("
)
_STRING = re.compile('"[^"]*"')


def is_spilling(formula: str) -> bool:
    """Whether a function of a formula returns as many cells as there are."""
    return bool(_SPILLING.search(_STRING.sub("", formula)))


def is_dynamic(cell: Cell) -> bool:
    """Whether a formula fills as many cells as it needs; legacy arrays and data tables do not."""
    if "t=dataTable" in cell.extra or cell.formula is None:
        return False
    return "cm=" in cell.extra or (not cell.array and is_spilling(cell.formula))


def room_of(sheet: Sheet, at: Place, changed: Container[Spot]) -> Box:
    """The cells that a dynamic array may fill: up to the next formula of its column and row."""
    title = sheet.title.lower()
    others = [
        cell.at
        for cell in sheet.cells.values()
        if cell.formula is not None and (title, cell.at) not in changed
    ]
    rows = [other.row for other in others if other.column == at.column and other.row > at.row]
    columns = [other.column for other in others if other.row == at.row and other.column > at.column]
    bottom, right = min(rows, default=MAX_ROW + 1) - 1, min(columns, default=MAX_COLUMN + 1) - 1
    return Box(at.row, at.column, bottom, right)


def free_beside(sheet: Sheet, at: Place, area: Box, changed: Container[Spot]) -> tuple[Box, ...]:
    """The empty cells next below and next right of an array, none of which an edit changed."""
    title = sheet.title.lower()

    def is_free(cell: Place) -> bool:
        found = sheet.cells.get(cell)
        is_empty = found is None or (found.kind == "blank" and found.formula is None)
        return is_empty and (title, cell) not in changed

    below = Box(area.bottom + 1, area.left, area.bottom + 1, area.right)
    beside = Box(area.top, area.right + 1, area.bottom, area.right + 1)
    strips = (below, beside) if at == (area.top, area.left) else ()
    return tuple(
        strip
        for strip in strips
        if strip.bottom <= MAX_ROW
        and strip.right <= MAX_COLUMN
        and all(
            is_free(Place(row, column))
            for row in range(strip.top, strip.bottom + 1)
            for column in range(strip.left, strip.right + 1)
        )
    )
