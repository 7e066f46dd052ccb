"""The box in which a model's SQL runs: a table in memory, and no way out.

The table is copied into memory first; then time and chance are pinned, external access is switched
off with nothing allowed, the configuration is locked, and a read-only transaction is opened. With
nothing allowed there is no file that a statement could read, write or delete, whatever it says;
allow lists and views over files were each found to let some COPY through.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb

from kbd.errors import ToolTimeout, ValidationFailed
from kbd_tables.duck import closing_connection, ident, json_value, reported_type, said, sql_text
from kbd_tables.gate import Statement, admit, pin

__all__ = ["Columns", "boxed", "query"]

Columns = Sequence[tuple[str, str, str]]
"""Name, reported type and SQL type of each column."""

_LOAD_MEMORY_MB = 1024
_MANY_VALUES = 2_000_000
"""From so many values on only the columns that a statement names are loaded."""

_RESULT_BYTES = 4 * 1024 * 1024
"""A window that would be larger as text is cut after a row, and says so."""


@contextmanager
def boxed(
    parquet: str, columns: Columns, row_count: int, sql: str, limits: dict[str, Any], now_us: int
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Statement]]:
    """Open the box with the table in it, for one admitted statement.

    Inside the block the clock runs: past its seconds the statement is interrupted.

    Args:
        parquet: The typed table.
        columns: Its columns.
        row_count: Its rows.
        sql: The statement from outside.
        limits: `query_seconds`, `query_memory_mb`, `query_threads`.
        now_us: The time of the call in microseconds since 1970 UTC.

    Raises:
        ValidationFailed: The statement is not admitted, or DuckDB refuses it.
        ToolTimeout: It passed its time or memory.
    """
    names = [name for name, _, _ in columns]
    with closing_connection(_LOAD_MEMORY_MB, limits["query_threads"]) as connection:
        statement = admit(connection, sql, names)
        large = row_count * len(columns) > _MANY_VALUES
        _fill(connection, parquet, (large and statement.columns) or names)
        pin(connection, now_us, statement.sql)
        _lock(connection, limits["query_memory_mb"])
        clock = threading.Timer(limits["query_seconds"], connection.interrupt)
        clock.daemon = True
        clock.start()
        try:
            yield connection, statement
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            shown = ", ".join(f"{ident(name)} {kind}" for name, kind, _ in columns[:60])
            more = f" and {len(columns) - 60} more" if len(columns) > 60 else ""
            hint = f"The table is called data; its columns are {shown}{more}."
            # Lines are counted in the statement that this one was nested in.
            message = said(error).split("\n\nLINE ")[0]
            raise ValidationFailed(f"{message}\n{hint}") from None
        finally:
            clock.cancel()


def query(
    parquet: str,
    columns: Columns,
    row_count: int,
    sql: str,
    limits: dict[str, Any],
    now_us: int,
    window_rows: int,
    window_offset: int,
) -> dict[str, Any]:
    """Run a statement and return a window of its rows and how many there are in all.

    Returns:
        `{columns, column_types, rows, total_row_count, is_ordered, is_cut, elapsed_ms}`.

    Raises:
        ValidationFailed, ToolTimeout: As for `boxed`.
    """
    with boxed(parquet, columns, row_count, sql, limits, now_us) as (connection, statement):
        began = time.perf_counter()
        nested = f"(\n{statement.sql}\n)"
        window = connection.execute(
            f"SELECT * FROM {nested} LIMIT {window_rows + 1} OFFSET {window_offset}"
        )
        described = [(str(item[0]), str(item[1])) for item in window.description or ()]
        found = window.fetchall()
        total = window_offset + len(found)
        if len(found) > window_rows or (window_offset and not found):
            counted = connection.execute(f"SELECT count(*) FROM {nested}").fetchone()
            total = int(counted[0]) if counted else total
        elapsed = (time.perf_counter() - began) * 1000
    rows, is_cut = _within_bytes(found[:window_rows])
    return {
        "columns": [name for name, _ in described],
        "column_types": [reported_type(kind) for _, kind in described],
        "rows": rows,
        "total_row_count": total,
        "is_ordered": statement.is_ordered,
        "is_cut": is_cut,
        "elapsed_ms": round(elapsed, 1),
    }


def _fill(connection: duckdb.DuckDBPyConnection, parquet: str, names: Sequence[str]) -> None:
    """Copy the table into memory under the name `data`."""
    selected = ", ".join(ident(name) for name in names)
    try:
        connection.execute(
            f"CREATE TABLE data AS SELECT {selected} FROM read_parquet({sql_text(parquet)})"
        )
    except duckdb.OutOfMemoryException:
        raise ToolTimeout(
            "the table does not fit into memory with these columns; name only the columns that "
            "you need, or use table_stats and table_read_rows"
        ) from None


def _lock(connection: duckdb.DuckDBPyConnection, memory_mb: int) -> None:
    """Close every way out; the statement gets its memory on top of what the table takes."""
    used = connection.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone()
    table_mb = int((used[0] or 0) if used else 0) // (1024 * 1024) + 1
    connection.execute(f"SET memory_limit = '{memory_mb + table_mb}MiB'")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    connection.execute("BEGIN TRANSACTION READ ONLY")


def _within_bytes(found: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], bool]:
    """Return rows as plain values up to the cap, and whether some were left out."""
    rows: list[list[Any]] = []
    size = 0
    for row in found:
        values = [json_value(value) for value in row]
        size += sum(len(str(value)) + 4 for value in values)
        if rows and size > _RESULT_BYTES:
            return rows, True
        rows.append(values)
    return rows, False
