"""The map of a spreadsheet: sheets, used ranges, islands, chunks. No values but headers."""

from typing import Any

from kbd.formats import Source
from kbd.sheets.areas import column_letters
from kbd.sheets.sheet_map import chunk_list, island_map, size_of, used_range
from kbd_ods.sheets import OdsSheet
from kbd_ods.workbook import read_sheets

__all__ = ["facts", "workbook_map"]

MAX_ISLANDS = 100
"""Islands that the map of one sheet lists; `island_count` is the number of all."""


def facts(source: Source) -> dict[str, Any]:
    """Return the sheets with their used ranges and sizes; raises FileReadFailed."""
    sheets = []
    for sheet in read_sheets(source):
        used = "" if sheet.area is None else str(sheet.area)
        sizes = {"range": used, **size_of(sheet.area)}
        sheets.append({"name": sheet.name, "hidden": sheet.found.hidden, **sizes})
    return {"format": "ods", "sheets": sheets}


def workbook_map(source: Source) -> dict[str, Any]:
    """Map a spreadsheet; raises FileReadFailed."""
    return {"sheets": [_sheet_map(sheet) for sheet in read_sheets(source)]}


def _sheet_map(sheet: OdsSheet) -> dict[str, Any]:
    islands, count = sheet.islands(MAX_ISLANDS)
    first = list(islands[0].headers) if islands and islands[0].headers else None
    found = sheet.found
    return {
        "name": sheet.name,
        "hidden": found.hidden,
        "used_range": used_range(sheet.area),
        **size_of(sheet.area),
        "island_count": count,
        "islands": list(map(island_map, islands)),
        "chunks": chunk_list(sheet.area, first),
        "has_merged_cells": bool(found.merged),
        "has_formulas": any(each.text for each in found.formulas),
        **_rare(sheet),
    }


def _rare(sheet: OdsSheet) -> dict[str, Any]:
    """Return what few sheets have, where it is."""
    found = sheet.found
    counts = {
        "formula_count": sum(bool(each.text) for each in found.formulas),
        "error_count": sum(bool(each.error) for each in found.formulas),
        "merged_count": len(found.merged),
        "object_count": found.objects,
        "frozen_rows": found.frozen_rows,
        "hidden_row_count": sum(last - first + 1 for first, last in found.hidden_rows),
        "covered_cell_count": found.covered,
    }
    told: dict[str, Any] = {name: count for name, count in counts.items() if count}
    if found.comments:
        told["has_comments"] = True
    if found.hidden_columns:
        told["hidden_columns"] = [
            f"{column_letters(first)}:{column_letters(last)}"
            for first, last in found.hidden_columns
        ]
    return told
