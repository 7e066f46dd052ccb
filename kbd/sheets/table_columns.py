"""Columns of a sheet's table: their names and their types."""

from collections.abc import Sequence

from kbd.formats import ColumnType
from kbd.formats.headings import unique_names
from kbd.sheets.values import Stamp, Value

__all__ = ["MAX_EXACT", "column_names", "column_type", "kind_of"]

MAX_EXACT = 2**53
"""Past it whole numbers are not exact in a file."""


def column_names(headers: Sequence[str] | None, width: int) -> list[str]:
    """Name columns as headers do, made unique without regard to case, none empty."""
    given = [" ".join(each.split()) for each in headers[:width]] if headers else [""] * width
    return unique_names(given)


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
