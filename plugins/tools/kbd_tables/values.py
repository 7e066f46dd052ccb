"""Values of DuckDB as plain JSON values."""

import math
from datetime import date, time
from decimal import Decimal
from typing import Any

from kbd.formats import ColumnType

__all__ = ["CELL_CHARACTERS", "json_value", "reported_type"]

CELL_CHARACTERS = 32_767
"""A longer text is cut in results, as spreadsheets do; the file is not changed."""

_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
_EXACT_DIGITS = 15
_INT64 = 2**63


def reported_type(sql_type: str) -> ColumnType:
    """Return the type that tables report for a type of DuckDB."""
    if sql_type in (*_INTEGERS, *_UNSIGNED):
        return "integer"
    if sql_type in ("DOUBLE", "FLOAT") or sql_type.startswith("DECIMAL"):
        return "float"
    if sql_type == "BOOLEAN":
        return "boolean"
    if sql_type == "DATE":
        return "date"
    return "datetime" if sql_type.startswith("TIMESTAMP") else "string"


def json_value(value: Any) -> Any:
    """Return a value as JSON can carry it without loss.

    Dates are ISO texts; a decimal is a number where a double holds it exactly, else text, and so
    is an integer beyond 64 bits; NaN and infinities are null.
    """
    match value:
        case None | bool():
            return value
        case int():
            return value if -_INT64 <= value < _INT64 else str(value)
        case float():
            return value if math.isfinite(value) else None
        case str():
            return value if len(value) <= CELL_CHARACTERS else f"{value[:CELL_CHARACTERS]}..."
        case Decimal():
            return _decimal(value)
        case date() | time():
            return value.isoformat()
        case list() | tuple():
            return [json_value(item) for item in value]
        case dict():
            return {str(key): json_value(item) for key, item in value.items()}
        case bytes():
            return value.hex()
        case _:
            return str(value)


def _decimal(value: Decimal) -> float | str:
    """Return a decimal as a number if that is exact."""
    if not value.is_finite() or len(value.as_tuple().digits) > _EXACT_DIGITS:
        return str(value)
    return float(value)
