"""Rows on their way to a format: the stream that `Tabular.write_table` documents."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import msgpack

from kbd_tables.box import Columns, boxed
from kbd_tables.duck import closing_connection, ident, json_value, reported_type, sql_text

__all__ = ["export", "export_plain"]

_FETCHED = 5_000
_LARGEST_FIELD = 64 * 1024 * 1024


def export(
    parquet: str,
    columns: Columns,
    row_count: int,
    sql: str | None,
    limits: dict[str, Any],
    now_us: int,
    target: str,
) -> dict[str, Any]:
    """Write the table, or what a statement makes of it, with typed values.

    Returns:
        `{row_count, column_count, is_ordered}`.

    Raises:
        ValidationFailed, ToolTimeout: As for `kbd_tables.box.boxed`.
    """
    if sql is None:
        selected = ", ".join(ident(name) for name, _, _ in columns)
        with closing_connection() as connection:
            connection.execute(f"SELECT {selected} FROM read_parquet({sql_text(parquet)})")
            written, width = _write(connection, target)
        return {"row_count": written, "column_count": width, "is_ordered": True}
    with boxed(parquet, columns, row_count, sql, limits, now_us) as (connection, statement):
        connection.execute(statement.sql)
        written, width = _write(connection, target)
    return {
        "row_count": written,
        "column_count": width,
        "is_ordered": statement.is_ordered or written < 2,
    }


def export_plain(columns: Columns, plain: str, names: Sequence[str], target: str) -> dict[str, Any]:
    """Write the rows of the plain form with every number as the file has it ("12.50", "1e5").

    Numbers keep their type, so that a format does not take "-5" for text that looks like a
    formula; everything else is text.

    Returns:
        As `export`.
    """
    kinds = [kind if kind in ("integer", "float") else "string" for _, kind, _ in columns]
    csv.field_size_limit(_LARGEST_FIELD)
    with Path(plain).open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, strict=True)
        next(reader, None)
        rows = ([_plain_value(v, k) for v, k in zip(row, kinds, strict=True)] for row in reader)
        written = _pack(target, list(zip(names, kinds, strict=True)), rows)
    return {"row_count": written, "column_count": len(names), "is_ordered": True}


def _plain_value(text: str, kind: str) -> int | str | None:
    """Return a field of the plain form as the stream has it."""
    if not text:
        return None
    if kind == "string":
        return text
    return int(text) if kind == "integer" else text.strip()


def _write(connection: duckdb.DuckDBPyConnection, target: str) -> tuple[int, int]:
    """Write the rows of an executed statement; return how many rows and columns."""
    described = [
        (str(item[0]), reported_type(str(item[1]))) for item in connection.description or ()
    ]
    rows = ([_stream_value(value) for value in row] for row in _fetched(connection))
    return _pack(target, described, rows), len(described)


def _pack(target: str, columns: Sequence[tuple[str, str]], rows: Iterable[list[Any]]) -> int:
    """Write the stream and return the number of rows."""
    packer = msgpack.Packer()
    written = 0
    with Path(target).open("wb") as file:
        file.write(packer.pack([list(column) for column in columns]))
        for row in rows:
            file.write(packer.pack(row))
            written += 1
    return written


def _fetched(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an executed statement, some thousands at a time."""
    while portion := connection.fetchmany(_FETCHED):
        yield from portion


def _stream_value(value: Any) -> Any:
    """Return a value as the stream has it: a decimal keeps its text, so nothing is rounded."""
    match value:
        case Decimal():
            return str(value) if value.is_finite() else None
        case str():
            return value
        case date() | time():
            return value.isoformat()
        case list() | tuple() | dict():
            return json.dumps(json_value(value), ensure_ascii=False)
        case _:
            return json_value(value)
