"""The map of a workbook: sheets, used ranges, islands, chunks and features. No values but headers.

Field names: contract, section 8. What few sheets have is named only where it is there, so that maps
stay small.
"""

from typing import Any

from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd.sheets.areas import Area, cell_name, column_letters
from kbd.sheets.sheet_map import chunk_list, island_map, size_of, used_range
from kbd_xlsx.reader.book import SheetReader, WorkbookReader, with_workbook
from kbd_xlsx.reader.features import Features
from kbd_xlsx.values import reach_of

__all__ = ["facts", "workbook_map"]

_MAX_AREAS = 20
"""Ranges of conditional formats that the map of one sheet lists."""

MAX_ISLANDS = 100
"""Islands that the map of one sheet lists; `island_count` is the number of all."""

_RARE = (
    "formula_count", "error_count", "merged_count", "conditional_format_count",
    "data_validation_count", "sparkline_count", "chart_count", "pivot_count", "image_count",
    "frozen_rows", "frozen_columns", "has_comments", "has_slicers", "is_protected", "auto_filter",
)  # fmt: skip
"""Features that a map names only where they are."""


def workbook_map(source: Source) -> dict[str, Any]:
    """Map a workbook; raises FileReadFailed."""
    return with_workbook(source, _map)


def facts(source: Source) -> dict[str, Any]:
    """Return the sheets with their used ranges and sizes; raises FileReadFailed."""
    return {"format": "xlsx", "sheets": with_workbook(source, _list)}


def _map(book: WorkbookReader) -> dict[str, Any]:
    workbook = book.workbook
    sheets, active = [], ActiveContent()
    for part in workbook.sheets:
        with book.sheet(part) as sheet:
            sheets.append(_sheet_map(sheet))
            _add_reaching(active, sheet)
    found: dict[str, Any] = {"sheets": sheets, "defined_names": list(workbook.defined_names)}
    if workbook.identity.has_macros:
        found["has_macros"] = True
    if texts := active.new_texts():
        found["active_content"] = list(texts)
    return found


def _add_reaching(found: ActiveContent, sheet: SheetReader) -> None:
    """Add the formulas of a sheet that reach out of the workbook; one that is shared once."""
    reaching: set[tuple[int, int, str]] = set()
    # A long formula may be shared by each cell of a sheet: it is looked at once.
    shared: set[tuple[int, int]] = set()
    for facts, batch in sheet.facts(sheet.area) if sheet.area is not None else ():
        match facts.text:
            case str(text) if reach_of(text) is not None:
                reaching.add((facts.row, facts.column, text))
            case int(place) if batch.masters[place][1:] not in shared:
                text, *where = batch.masters[place]
                shared.add((where[0], where[1]))
                if reach_of(text) is not None:
                    reaching.add((where[0], where[1], text))
            case _:
                pass
    for row, column, text in sorted(reaching):
        found.add("formula", f"={text}", f"{sheet.part.name}!{cell_name(row, column)}")


def _list(book: WorkbookReader) -> list[dict[str, Any]]:
    found = []
    for part in book.workbook.sheets:
        with book.sheet(part) as sheet:
            used = "" if sheet.area is None else str(sheet.area)
            sizes = {"range": used, **size_of(sheet.area)}
            found.append({"name": part.name, "hidden": part.hidden, **sizes})
    return found


def _sheet_map(sheet: SheetReader) -> dict[str, Any]:
    islands, count = sheet.islands(MAX_ISLANDS)
    first = list(islands[0].headers) if islands and islands[0].headers else None
    used = sheet.area
    features = sheet.features
    return {
        "name": sheet.part.name,
        "kind": sheet.part.kind,
        "hidden": sheet.part.hidden,
        "used_range": used_range(used),
        **size_of(used),
        "island_count": count,
        "islands": [island_map(island) for island in islands],
        "chunks": chunk_list(used, first),
        "has_charts": features.chart_count > 0,
        "has_merged_cells": features.merged_count > 0,
        "has_conditional_formatting": features.conditional_format_count > 0,
        "has_formulas": features.formula_count > 0,
        "has_pivots": features.pivot_count > 0,
        "tables": list(features.tables),
        **({"charts": list(features.charts)} if features.charts else {}),
        **_rare(sheet, features),
    }  # fmt: skip


def _rare(sheet: SheetReader, features: Features) -> dict[str, Any]:
    """Return what few sheets have, where it is."""
    found = {field: value for field in _RARE if (value := getattr(features, field))}
    if sheet.part.is_very_hidden:
        found["very_hidden"] = True
    everywhere = Area(1, 1, 1 << 30, 1 << 30)
    rows = sum(last - first + 1 for first, last in sheet.hidden_rows(everywhere))
    if rows:
        found["hidden_row_count"] = rows
    counts = sheet.unseen_counts()
    unseen = {
        "hidden_cell_count": counts.hidden,
        "partly_hidden_cell_count": counts.partly,
        "maybe_hidden_cell_count": counts.maybe,
        "hiding_conditions": [str(area) for area in sheet.hiding_areas()[:_MAX_AREAS]],
    }
    found |= {name: value for name, value in unseen.items() if value}
    if features.hidden_columns:
        found["hidden_columns"] = [
            f"{column_letters(first)}:{column_letters(last)}"
            for first, last in features.hidden_columns
        ]
    return found
