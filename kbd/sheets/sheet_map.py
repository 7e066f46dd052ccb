"""Pieces of the map of a sheet: its used range, islands and chunks. Names: contract, section 8."""

from typing import Any

from kbd.sheets.areas import Area
from kbd.sheets.grid_text import ROWS_PER_CHUNK
from kbd.sheets.islands import Island

__all__ = ["chunk_list", "island_map", "size_of", "used_range"]


def size_of(area: Area | None) -> dict[str, int]:
    """Return how many rows and columns an area has."""
    if area is None:
        return {"row_count": 0, "col_count": 0}
    return {
        "row_count": area.bottom - area.top + 1,
        "col_count": area.right - area.left + 1,
    }


def used_range(area: Area | None) -> dict[str, int] | None:
    """Return where cells hold something; None if none does."""
    if area is None:
        return None
    return {
        "min_row": area.top, "max_row": area.bottom, "min_col": area.left, "max_col": area.right
    }  # fmt: skip


def island_map(island: Island) -> dict[str, Any]:
    """Return an island as maps tell it."""
    return {
        "range": str(island.area),
        "label": "header" if island.headers else "data",
        **size_of(island.area),
        "headers": list(island.headers) if island.headers else None,
    }


def chunk_list(used: Area | None, headers: list[str] | None) -> list[dict[str, Any]]:
    """Return the chunks of a used range, each with the names of the first island."""
    if used is None:
        return []
    found = []
    # Readings count chunks by the same steps, so that their numbers agree.
    for index, top in enumerate(range(used.top, used.bottom + 1, ROWS_PER_CHUNK)):
        bottom = min(top + ROWS_PER_CHUNK - 1, used.bottom)
        area = Area(top, used.left, bottom, used.right)
        rows = bottom - top + 1
        found.append({"index": index, "range": str(area), "rows": rows, "headers": headers})
    return found
