"""What is known of a table once it has been read and typed."""

from typing import Any

import msgspec

from kbd.formats import ColumnType
from kbd.types import FileName

__all__ = ["ROWS_PER_CHUNK", "OpenTable", "TableColumn", "TableRecord"]

ROWS_PER_CHUNK = 500
"""Rows of a chunk in maps (contract, section 8)."""


class TableColumn(msgspec.Struct, frozen=True):
    """A column: its name in SQL, its reported type, and the SQL type that holds it."""

    name: str
    type: ColumnType
    sql_type: str


class TableRecord(msgspec.Struct, frozen=True):
    """What stands beside the typed Parquet of a table.

    Args:
        columns: The columns in order; names are unique without regard to case, as SQL needs them.
        row_count: Data rows.
        encoding: What was detected, "" where there is nothing to detect.
        encoding_confidence: 0 to 1.
        details: What the format adds (delimiter, quote_char, sheet ...).
        warnings: What a reader of the table must know.
    """

    columns: tuple[TableColumn, ...]
    row_count: int
    encoding: str
    encoding_confidence: float
    details: dict[str, Any]
    warnings: tuple[str, ...]


class OpenTable(msgspec.Struct, frozen=True):
    """A table that is ready: whose it is, what is known of it, and its Parquet file."""

    name: FileName
    record: TableRecord
    parquet: str
    size_bytes: int
