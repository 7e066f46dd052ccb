"""Focus of an edit: where a person looks first to see what operations did."""

import re

import msgspec

from kbd.formats import FocusHint
from kbd.sheets.areas import Area, parse_area
from kbd_xlsx.operations import (
    AddChart,
    AddImage,
    CopyRange,
    CopySheet,
    DeleteSheet,
    RenameSheet,
    SetCells,
    SetComment,
    SetHyperlink,
    SetRange,
)

__all__ = ["find_focus"]


def find_focus(operations: tuple[msgspec.Struct, ...]) -> FocusHint | None:
    """Return the first cell of the last operation that names cells, else the last one's sheet."""
    hint = None
    for operation in operations:
        sheet, area = _place(operation)
        match operation:
            case RenameSheet(name=name):
                same = hint is not None and _is_same(hint.sheet, sheet)
                hint = msgspec.structs.replace(hint if hint and same else FocusHint(), sheet=name)
            case CopySheet(name=name):
                hint = FocusHint(sheet=name)
            case DeleteSheet():
                if hint is not None and _is_same(hint.sheet, sheet):
                    hint = None
            case _ if not sheet:
                continue
            case _ if area:
                hint = _area_focus(sheet, area)
            case _ if hint is None or hint.row_start is None or not _is_same(hint.sheet, sheet):
                hint = FocusHint(sheet=sheet)
    return hint


def _place(operation: msgspec.Struct) -> tuple[str, str]:
    """Return the sheet of an operation and the cells that it names, "" for none."""
    sheet = getattr(operation, "sheet", "") or ""
    match operation:
        case SetCells(cells=(first, *_)):
            return sheet, first.cell
        case SetRange(start=start):
            return sheet, start
        case CopyRange(to=to, to_sheet=other):
            return other or sheet, to
        case SetHyperlink(cell=cell) | SetComment(cell=cell):
            return sheet, cell
        case AddChart(place=str(place)) | AddImage(place=place):
            return sheet, place
        case _:
            # Of several ranges the first one.
            return sheet, re.split(r"[,\s]+", getattr(operation, "range", "").strip())[0]


def _is_same(one: str | None, other: str) -> bool:
    # A workbook has no two sheets whose names differ in capitals only, so operations may.
    return one is not None and one.casefold() == other.casefold()


def _area_focus(sheet: str, area: str) -> FocusHint:
    found = parse_area(area, Area(1, 1, 1, 1))
    return FocusHint(sheet=sheet, row_start=found.top - 1, col_start=found.left - 1)
