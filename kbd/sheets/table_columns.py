"""Columns of a sheet's table: their names, their types, and the rows as they are written."""

import io
from collections.abc import Sequence

from kbd.formats import ColumnType
from kbd.sheets.values import Stamp, Value

__all__ = ["MAX_EXACT", "LfEnds", "column_names", "column_type", "kind_of"]

MAX_EXACT = 2**53
"""Past it whole numbers are not exact in a file."""


def column_names(headers: Sequence[str] | None, width: int) -> list[str]:
    """Name columns as headers do, made unique without regard to case, none empty."""
    names: list[str] = []
    seen: set[str] = set()
    for place in range(width):
        given = " ".join(headers[place].split()) if headers else ""
        stem = given or f"column_{place + 1}"
        name, count = stem, 2
        while name.casefold() in seen:
            name, count = f"{stem}_{count}", count + 1
        seen.add(name.casefold())
        names.append(name)
    return names


def kind_of(value: Value) -> str:
    """Return the word for a value's type, as columns of tables have it."""
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() and abs(value) < MAX_EXACT else "float"
        case Stamp() if value.kind in ("date", "datetime"):
            return value.kind
        case _:
            return "string"


def column_type(kinds: set[str]) -> ColumnType | None:
    """Return the type that all values of a column have, text if they differ, None if none is."""
    if not kinds:
        return None
    for kind in ("boolean", "integer", "date"):
        if kinds == {kind}:
            return kind
    if kinds <= {"integer", "float"}:
        return "float"
    if kinds <= {"date", "datetime"}:
        return "datetime"
    return "string"


class LfEnds:
    """Ends rows with LF; the csv module quotes a CR only if the row's end has one."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file

    def write(self, row: str) -> int:
        """Write a row that ends with CR and LF."""
        return self._file.write(row[:-2] + "\n")
