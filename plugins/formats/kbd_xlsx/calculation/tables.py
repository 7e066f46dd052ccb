"""Structured references: which cells of a table "[[#Headers],[Amount]:[Tax]]" means."""

import re

from kbd_xlsx.calculation.records import TableArea
from kbd_xlsx.references import Area

__all__ = ["cells_of_table"]

_ITEM = re.compile(r"\[((?:[^\[\]']|'.)*)\]", re.DOTALL)
_SPELT = re.compile("_x([0-9A-Fa-f]{4})_")
_ESCAPED = re.compile(r"'(.)", re.DOTALL)


def cells_of_table(table: TableArea, inside: str, row: int) -> Area | None:
    """Return the cells that a structured reference means, None if the table has none such.

    Args:
        table: The table.
        inside: What stands between the outer brackets.
        row: Of the formula; "this row" outside of the table is taken for all of its rows.
    """
    is_this_row = inside.startswith("@")
    rest = inside.removeprefix("@")
    items = _ITEM.findall(rest) if rest.lstrip().startswith("[") else [rest]
    parts = {item.strip().casefold() for item in items if item.lstrip().startswith("#")}
    if is_this_row:
        parts.add("#this row")
    rows = _rows(table, parts, row)
    if rows is None:
        return None
    columns = [item for item in items if item.strip() and not item.lstrip().startswith("#")]
    left, right = _columns(table, columns)
    return Area(rows[0], left, rows[1], right)


def _rows(table: TableArea, parts: set[str], row: int) -> tuple[int, int] | None:
    area = table.area
    data = area.top + table.header_rows, area.bottom - table.totals_rows
    found = []
    for part in parts or {"#data"}:
        match part:
            case "#all":
                found.append((area.top, area.bottom))
            case "#headers":
                found.append((area.top, area.top + table.header_rows - 1))
            case "#totals":
                found.append((area.bottom - table.totals_rows + 1, area.bottom))
            case "#this row" if area.top <= row <= area.bottom:
                found.append((row, row))
            case _:
                found.append(data)
    found = [rows for rows in found if rows[0] <= rows[1]]
    if not found:
        return None
    return min(rows[0] for rows in found), max(rows[1] for rows in found)


def _columns(table: TableArea, names: list[str]) -> tuple[int, int]:
    """Return the first and last column that are named; all if one of them is not known."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(table.columns):
        places.setdefault(_alike(name), []).append(place)
    found = [places.get(_alike(_ESCAPED.sub(r"\1", name)), []) for name in names]
    known = [place for each in found for place in each]
    if not known or not all(found):
        return table.area.left, table.area.right
    return table.area.left + min(known), table.area.left + max(known)


def _alike(name: str) -> str:
    """Return what is equal for a column's name in a table and in a formula.

    Line breaks are spelt in several ways.
    """
    return " ".join(_SPELT.sub(lambda found: chr(int(found[1], 16)), name).casefold().split())
