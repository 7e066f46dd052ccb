"""The map of a workbook: sheets, used ranges, islands, chunks and features. No values but headers.

Field names: contract, section 8.
"""

from typing import Any

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Package
from kbd_xlsx.features import Features, sheet_features
from kbd_xlsx.formulas import read_formulas
from kbd_xlsx.grids import Grid, open_grids
from kbd_xlsx.islands import find_islands
from kbd_xlsx.references import Area
from kbd_xlsx.workbook import SheetPart, Workbook, read_workbook

__all__ = ["ROWS_PER_CHUNK", "Look", "look", "sheet_dimensions", "workbook_map"]

ROWS_PER_CHUNK = 50
"""Contract, section 8."""

MAX_ISLANDS = 100
"""Islands that the map of one sheet lists; `island_count` tells how many there are."""


class Look(msgspec.Struct, frozen=True):
    """A sheet, what it holds beside values, and its cells; a formula without result as its text."""

    sheet: SheetPart
    features: Features
    grid: Grid


def look(source: Source) -> tuple[Workbook, list[Look]]:
    """Check a workbook and load its sheets.

    Raises:
        FileReadFailed: It is no workbook, is encrypted or damaged, or is too large.
    """
    with Package(source) as package:
        workbook = read_workbook(package)
        if not workbook.sheets:
            raise FileReadFailed(f"{source.name} is damaged: it has no sheets.")
        # All sheets are checked before any is loaded.
        checked = [(sheet, sheet_features(package, sheet)) for sheet in workbook.sheets]
        with open_grids(source, package) as book:
            return workbook, [
                Look(
                    sheet,
                    features,
                    book.grid(sheet.name).filled(read_formulas(package, sheet, features)),
                )
                for sheet, features in checked
            ]


def workbook_map(source: Source) -> dict[str, Any]:
    """Map a workbook; raises FileReadFailed."""
    workbook, looks = look(source)
    sheets = [_sheet_map(found.sheet, found.features, found.grid) for found in looks]
    return {"sheets": sheets, "defined_names": list(workbook.defined_names)}


def sheet_dimensions(source: Source) -> list[dict[str, Any]]:
    """List the sheets with their used ranges and sizes; raises FileReadFailed."""
    return [
        {"name": found.sheet.name, "hidden": found.sheet.hidden, **_dimensions(found.grid.area)}
        for found in look(source)[1]
    ]


def _dimensions(area: Area | None) -> dict[str, Any]:
    if area is None:
        return {"range": "", "row_count": 0, "col_count": 0}
    rows, columns = area.bottom - area.top + 1, area.right - area.left + 1
    return {"range": str(area), "row_count": rows, "col_count": columns}


def _sheet_map(sheet: SheetPart, features: Features, grid: Grid) -> dict[str, Any]:
    islands = find_islands(grid)
    first = list(islands[0].headers) if islands and islands[0].headers else None
    used = grid.area
    size = _dimensions(used)
    del size["range"]
    return {
        "name": sheet.name,
        "kind": sheet.kind,
        "hidden": sheet.hidden,
        "used_range": used and {
            "min_row": used.top, "max_row": used.bottom,
            "min_col": used.left, "max_col": used.right,
        },
        **size,
        "island_count": len(islands),
        "islands": [
            {
                "range": str(island.area),
                "label": "header" if island.headers else "data",
                "row_count": island.area.bottom - island.area.top + 1,
                "col_count": island.area.right - island.area.left + 1,
                "headers": list(island.headers) if island.headers else None,
            }
            for island in islands[:MAX_ISLANDS]
        ],
        "chunks": _chunks(used, first),
        "has_charts": features.has_charts,
        "has_merged_cells": features.has_merged_cells,
        "has_conditional_formatting": features.has_conditional_formatting,
        "has_formulas": features.has_formulas,
        "has_pivots": features.has_pivots,
        "tables": list(features.tables),
    }  # fmt: skip


def _chunks(used: Area | None, headers: list[str] | None) -> list[dict[str, Any]]:
    if used is None:
        return []
    found = []
    for index, top in enumerate(range(used.top, used.bottom + 1, ROWS_PER_CHUNK)):
        bottom = min(top + ROWS_PER_CHUNK - 1, used.bottom)
        area = Area(top, used.left, bottom, used.right)
        rows = bottom - top + 1
        found.append({"index": index, "range": str(area), "rows": rows, "headers": headers})
    return found
