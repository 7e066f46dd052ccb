"""Rows of a sheet by what they have: how many values, figures or none, and how they are told."""

from collections.abc import Sequence

from kbd.formats import TouchedRows, total_label
from kbd.sheets.areas import Area
from kbd.sheets.cells import SheetCells
from kbd.sheets.values import Value, plain_text

__all__ = [
    "MOST_NAMED",
    "SAMPLE_CHARS",
    "count_values",
    "figure_places",
    "filled_rows",
    "is_aside",
    "stands_in",
    "told_row",
    "touched_rows",
    "typical_count",
]

MOST_NAMED = 10
"""Rows that are named of those that are left out."""
SAMPLE_CHARS = 80

_FIGURES_SHARE = 0.8
"""So many of a column's values are no text, if it is one of figures or dates."""


def filled_rows(sheet: SheetCells, area: Area) -> dict[int, list[Value]]:
    """Return rows by their numbers; a formula without a result fills its cell with a figure."""
    rows: dict[int, list[Value]] = {number: [] for number in range(area.top, area.bottom + 1)}
    rows.update(sheet.rows(area))
    width = area.right - area.left + 1
    found = {number: row or [""] * width for number, row in rows.items()}
    for number, column, _ in sheet.computed(area):
        row = found[number]
        if row[column - area.left] == "":
            row[column - area.left] = 0.0
    return found


def count_values(row: Sequence[Value]) -> int:
    """Count the values of a row that are there."""
    return sum(value != "" for value in row)


def typical_count(rows: Sequence[Sequence[Value]]) -> int:
    """Return how many values the fuller rows have."""
    counts = sorted(count for count in map(count_values, rows) if count)
    return counts[3 * len(counts) // 4] if counts else 0


def is_aside(row: Sequence[Value], typical: int) -> bool:
    """Tell whether a row could be a remark: few values, all texts, none the label of a total."""
    count = count_values(row)
    texts = [value for value in row if isinstance(value, str) and value != ""]
    few = 0 < count <= max(1, typical // 2)
    return few and len(texts) == count and not any(total_label(text) is not None for text in texts)


def stands_in(row: Sequence[Value], figures: frozenset[int]) -> bool:
    """Tell whether the only value of a row is in one of some places."""
    places = [place for place, value in enumerate(row) if value != ""]
    return len(places) == 1 and places[0] in figures


def figure_places(rows: Sequence[Sequence[Value]]) -> frozenset[int]:
    """Return the places of the columns whose values are no texts."""
    found = set()
    for place in range(len(rows[0]) if rows else 0):
        values = [row[place] for row in rows if row[place] != ""]
        others = sum(not isinstance(value, str) for value in values)
        if values and others >= _FIGURES_SHARE * len(values):
            found.add(place)
    return frozenset(found)


def touched_rows(what: str, rows: Sequence[int], sample: str) -> TouchedRows:
    """Return a record of rows of a sheet, the first of which are named."""
    return TouchedRows(what, len(rows), tuple(rows[:MOST_NAMED]), sample)


def told_row(row: Sequence[Value]) -> str:
    """Return the values of a row as one line, cut where it gets long."""
    return ", ".join(plain_text(value) for value in row if value != "")[:SAMPLE_CHARS]
