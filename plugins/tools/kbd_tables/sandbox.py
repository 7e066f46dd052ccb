"""Sandbox of a model's SQL: one statement that only reads, a table in memory, and no way out.

The table is copied into memory first; then time and chance are pinned, external access is switched
off with nothing allowed, the configuration is locked, and a read-only transaction is opened. With
nothing allowed there is no file that a statement could read, write or delete, whatever it says;
allow lists and views over files were each found to let some COPY through.

Before that, a statement is checked to be exactly one that only reads. The lock-down holds without
this check, which is a second wall and gives better messages. It judges DuckDB's own syntax tree,
since a CTE may hold a COPY or a DELETE in a statement that counts as SELECT.

A call that is done again must answer what it answered. So the clock that SQL sees is the call's,
chance begins from a seed of the call's, times are told in UTC, and one thread works: with two, sums
of floats and the order of groups were found to change from run to run.
"""

import hashlib
import json
import resource
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import msgspec

from kbd.errors import ToolTimeout, ValidationFailed
from kbd_tables.absent_values import absent_values
from kbd_tables.duck import (
    closing_connection,
    count_lost,
    duckdb_message,
    json_value,
    quoted_name,
    quoted_text,
    reported_type,
)

__all__ = ["CLOCKS", "Columns", "Statement", "checked_statement", "pin_clock", "query", "sandboxed"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SEEDS = 2**32
"""DuckDB keeps 32 bits of a seed."""

_INSTANTS = (
    "now", "current_timestamp", "get_current_timestamp", "transaction_timestamp",
    "pg_postmaster_start_time", "pg_conf_load_time",
)  # fmt: skip
_DAYS = ("today", "current_date")
_TIMES = ("get_current_time", "current_time")
_LOCAL_TIMES = ("current_localtime", "localtime")
_LOCAL_INSTANTS = ("current_localtimestamp", "localtimestamp")

CLOCKS = frozenset((*_INSTANTS, *_DAYS, *_TIMES, *_LOCAL_TIMES, *_LOCAL_INSTANTS, "age", "uuidv7"))
"""The functions that read a clock; each is one of ours while a statement runs."""


def pin_clock(connection: duckdb.DuckDBPyConnection, now_us: int, sql: str) -> None:
    """Pin the clock and the random seed of a connection, so that a statement is repeatable.

    Args:
        connection: The connection, before its configuration is locked.
        now_us: The time of the call in microseconds since 1970 UTC.
        sql: The statement; each has its own seed.
    """
    # Only now, for several may load the table.
    connection.execute("SET threads = 1")
    connection.execute("SET TimeZone = 'UTC'")
    # A function of ours is found before DuckDB's own of that name, also inside views and macros.
    connection.execute(_clocks(now_us))
    digest = hashlib.sha256(f"{now_us}\0{sql}".encode(errors="surrogatepass")).digest()
    # A seed of SQL lies between -1 and 1, hence the quotient.
    connection.execute("SELECT setseed(?)", [int.from_bytes(digest[:4]) / _SEEDS]).fetchall()


def _clocks(now_us: int) -> str:
    """Return the SQL that makes our own clock functions."""
    now = _EPOCH + timedelta(microseconds=now_us)
    day, time = f"{now:%Y-%m-%d}", f"{now:%H:%M:%S.%f}"
    values = {
        _INSTANTS: f"TIMESTAMPTZ '{day} {time}+00'",
        _DAYS: f"DATE '{day}'",
        _TIMES: f"TIMETZ '{time}+00'",
        _LOCAL_TIMES: f"TIME '{time}'",
        _LOCAL_INSTANTS: f"TIMESTAMP '{day} {time}'",
    }
    made = [
        f"CREATE MACRO {name}() AS {value};" for names, value in values.items() for name in names
    ]
    # Of one argument it counts up to the beginning of the day.
    made.append(
        f"CREATE MACRO age(a) AS system.main.age(TIMESTAMP '{day}', a),"
        " (a, b) AS system.main.age(a, b);"
    )
    # RFC 9562, 5.7: 48 bits of milliseconds, the version, and chance.
    stamp = f"{now_us // 1000:012x}"
    made.append(
        f"CREATE MACRO uuidv7() AS CAST('{stamp[:8]}-{stamp[8:]}-7'"
        " || substr(CAST(uuid() AS VARCHAR), 16) AS UUID);"
    )
    return "".join(made)


_MAX_STATEMENT_CHARACTERS = 100_000
_READING_NODES = frozenset(
    ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "STATEMENT_NODE")
)
_VOLATILE = frozenset(
    ("duckdb_eviction_queues", "duckdb_logs", "duckdb_memory", "pg_timezone_names")
)
_HIDING = frozenset(("json_execute_serialized_sql", "query"))
"""Statements in their arguments would not be seen here."""
_ALLOWED = "one statement that only reads: SELECT, WITH, FROM, DESCRIBE or SUMMARIZE"


class Statement(msgspec.Struct, frozen=True):
    """A statement that may run.

    Args:
        sql: Its text without the semicolon and comments at its end, so that it can be nested.
        is_ordered: Whether it has an ORDER BY of its own.
        columns: The columns of the table that it needs; None if it needs all.
    """

    sql: str
    is_ordered: bool
    columns: tuple[str, ...] | None


def checked_statement(
    connection: duckdb.DuckDBPyConnection, query: str, columns: Sequence[str]
) -> Statement:
    """Return a query as a statement that may run.

    Args:
        connection: To parse with; nothing is executed from the query.
        query: The text, as the model wrote it.
        columns: The names of the table's columns.

    Raises:
        ValidationFailed: It is not one statement that only reads, or does not parse.
    """
    if len(query) > _MAX_STATEMENT_CHARACTERS:
        raise ValidationFailed(f"the query is longer than {_MAX_STATEMENT_CHARACTERS} characters")
    if "\0" in query:
        raise ValidationFailed("the query holds a NUL character")
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:
        raise ValidationFailed(duckdb_message(error)) from None
    if len(statements) != 1:
        raise ValidationFailed(f"the query must be {_ALLOWED}; it has {len(statements)} statements")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = str(statements[0].type).rpartition(".")[2]
        raise ValidationFailed(f"the query must be {_ALLOWED}; {kind} is not allowed")
    sql = _without_end(query)
    tree = _tree(connection, sql)
    _check_nodes(tree)
    _check_repeatable(tree)
    return Statement(sql=sql, is_ordered=_is_ordered(tree), columns=_needed_columns(tree, columns))


def _without_end(query: str) -> str:
    """Cut semicolons and comments off the end; tokens know their place in bytes."""
    data = query.encode(errors="surrogatepass")
    tokens = duckdb.tokenize(query)
    end = len(data)
    for start, kind in reversed(tokens):
        is_comment = str(kind).rpartition(".")[2] == "comment"
        if not is_comment and data[start:end].strip() != b";":
            break
        end = start
    return data[:end].decode().strip()


def _tree(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """Return the syntax tree of a SELECT.

    Raises:
        ValidationFailed: DuckDB does not count it as one.
    """
    row = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert row is not None
    tree = json.loads(row[0])
    if tree["error"] or len(tree["statements"]) != 1:
        raise ValidationFailed(f"the query must be {_ALLOWED}")
    return tree["statements"][0]


def _check_nodes(tree: Any) -> None:
    """Refuse a tree with a node that does more than read.

    Raises:
        ValidationFailed: A CTE or a subquery writes.
    """
    for part in _nodes(tree):
        kind = part.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _READING_NODES:
            what = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise ValidationFailed(f"the query must be {_ALLOWED}; it holds a {what}")


def _check_repeatable(tree: Any) -> None:
    """Refuse what would answer otherwise when the statement is run again.

    Raises:
        ValidationFailed: It goes past the pinned clock, depends on the moment, hides a statement
            in a text, or takes a sample that chance alone decides.
    """
    for part in _nodes(tree):
        if part.get("class") == "FUNCTION":
            name = part.get("function_name", "").lower()
            path = part.get("qualified_name", {}).get("path", ())
            if name in CLOCKS and "system" in [step.lower() for step in path[:-1]]:
                raise ValidationFailed(f"write {name} without the schema system before it")
            if name in _VOLATILE:
                raise ValidationFailed(f"{name} is not allowed: it answers otherwise each time")
            if name in _HIDING:
                raise ValidationFailed(f"{name} is not allowed; write the statement itself")
        if part.get("is_percentage") and not part.get("repeatable") and (
            part.get("method") in ("System", "Bernoulli")
        ):  # fmt: skip
            raise ValidationFailed(
                "a sample of a percentage must be repeatable: write USING SAMPLE 10% (bernoulli, 1)"
                " with a number of your choice, or take a number of rows: USING SAMPLE 100 ROWS"
            )


def _is_ordered(tree: Any) -> bool:
    """Tell whether the outermost query orders its rows."""
    modifiers = tree["node"].get("modifiers", ())
    return any(modifier.get("type") == "ORDER_MODIFIER" for modifier in modifiers)


def _needed_columns(tree: Any, columns: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns that a query names, or None where it may need all.

    Only used to load less; a name that is no column may stand for a whole row, so it means all.
    """
    known = {name.lower(): name for name in columns}
    needed: set[str] = set()
    for part in _nodes(tree):
        if part.get("class") == "STAR" or part.get("type") == "SHOW_REF":
            return None
        if part.get("ref_type") in ("NATURAL", "POSITIONAL"):
            return None
        names = part.get("column_names")
        # The last part, for the table's name may stand before it; a field of a struct is no column,
        # and has all of them loaded.
        mentioned = [names[-1]] if names else []
        for name in [*mentioned, *part.get("using_columns", ())]:
            if name.lower() not in known:
                return None
            needed.add(known[name.lower()])
    # A count of rows names no column, and a table needs at least one.
    return tuple(name for name in columns if name in needed) or tuple(columns[:1])


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a tree; a stack, since trees nest deeper than Python calls may."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)


Columns = Sequence[tuple[str, str, str]]
"""Name, reported type and SQL type of each column."""

_LOAD_MEMORY_MB = 1024
_ENGINE_MB = 128
"""Memory in MiB that DuckDB needs beside what its limit counts: threads, plans, what is freed and
not given back. A statement that used 472 MiB by its count had 503 MiB."""

_MANY_VALUES = 2_000_000
"""Values of a table from which on only the columns that a statement names are loaded."""

_RESULT_BYTES = 4 * 1024 * 1024
"""Text of one window; a larger one is cut after a row, and marked as cut."""


@contextmanager
def sandboxed(
    parquet: str, columns: Columns, row_count: int, sql: str, limits: dict[str, Any], now_us: int
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Statement]]:
    """Open a sandbox with the table in it, for one checked statement.

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
        # Before the table is loaded, which is most of the work: what is refused costs nothing.
        statement = checked_statement(connection, sql, names)
        large = row_count * len(columns) > _MANY_VALUES
        _load_table(connection, parquet, (large and statement.columns) or names)
        pin_clock(connection, now_us, statement.sql)
        _lock(connection, limits["query_memory_mb"])
        clock = threading.Timer(limits["query_seconds"], connection.interrupt)
        clock.daemon = True
        clock.start()
        try:
            with _bounded_memory(limits["query_memory_mb"]):
                yield connection, statement
        # `closing_connection` knows these two; all others are faults of the statement.
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            shown = ", ".join(f"{quoted_name(name)} {kind}" for name, kind, _ in columns[:60])
            more = f" and {len(columns) - 60} more" if len(columns) > 60 else ""
            hint = f"the table is called data; its columns are {shown}{more}"
            # Lines are counted in the statement that this one was nested in.
            message = duckdb_message(error).split("\n\nLINE ")[0]
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
        `{columns, column_types, rows, total_row_count, is_ordered, is_cut, lost_figures,
        elapsed_ms, hints}`; hints name values that the statement asks for and no row has.

    Raises:
        ValidationFailed, ToolTimeout: As for `sandboxed`.
    """
    with sandboxed(parquet, columns, row_count, sql, limits, now_us) as (connection, statement):
        began = time.perf_counter()
        # On lines of its own, lest a comment in its last line swallow the bracket.
        nested = f"(\n{statement.sql}\n)"
        # One row more than is asked for tells whether there are more, without counting them.
        window = connection.execute(
            f"SELECT * FROM {nested} LIMIT {window_rows + 1} OFFSET {window_offset}"
        )
        described = [(str(item[0]), str(item[1])) for item in window.description or ()]
        found = window.fetchall()
        total = window_offset + len(found)
        # An offset past the end says nothing of how many rows there are.
        if len(found) > window_rows or (window_offset and not found):
            counted = connection.execute(f"SELECT count(*) FROM {nested}").fetchone()
            total = int(counted[0]) if counted else total
        elapsed = (time.perf_counter() - began) * 1000
        texts = [name for name, kind, _ in columns if kind == "string"]
        hints = absent_values(connection, statement.sql, texts) if _is_empty(found) else []
    rows, is_cut = _within_bytes(found[:window_rows])
    return {
        "columns": [name for name, _ in described],
        "column_types": [reported_type(kind) for _, kind in described],
        "rows": rows,
        "total_row_count": total,
        "is_ordered": statement.is_ordered,
        "is_cut": is_cut,
        "lost_figures": sum(count_lost(row) for row in found[: len(rows)]),
        "elapsed_ms": round(elapsed, 1),
        "hints": hints,
    }


def _is_empty(found: Sequence[Sequence[Any]]) -> bool:
    """Tell whether a statement found nothing: no row, or one of figures over none."""
    return not found or (len(found) == 1 and not any(found[0]))


def _load_table(connection: duckdb.DuckDBPyConnection, parquet: str, names: Sequence[str]) -> None:
    """Copy the table into memory under the name `data`."""
    selected = ", ".join(quoted_name(name) for name in names)
    try:
        connection.execute(
            f"CREATE TABLE data AS SELECT {selected} FROM read_parquet({quoted_text(parquet)})"
        )
    except duckdb.OutOfMemoryException:
        raise ToolTimeout(
            "the table does not fit into memory with these columns; name only the columns that "
            "you need, or use table_stats and table_read_rows"
        ) from None


def _lock(connection: duckdb.DuckDBPyConnection, memory_mb: int) -> None:
    """Lock the connection; the statement gets its memory on top of what the table takes.

    The order matters: settings are refused once the configuration is locked.
    """
    used = connection.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone()
    table_mb = int((used[0] or 0) if used else 0) // (1024 * 1024) + 1
    # Not the last wall: `select len(range(1000000000))` took 20 GB under a limit of 256 MB. The
    # worker's address space ends that.
    connection.execute(f"SET memory_limit = '{memory_mb + table_mb}MiB'")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    connection.execute("BEGIN TRANSACTION READ ONLY")


@contextmanager
def _bounded_memory(memory_mb: int) -> Iterator[None]:
    """Bound what this process may add to its memory, beside the table that is in it already.

    DuckDB's own limit does not see every value: `repeat('x', 2000000000)` took 3.9 GB under a limit
    of 512 MB. What is past this bound is out of memory to it, too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = _data_bytes() + (memory_mb + _ENGINE_MB) * 1024 * 1024
    if hard != resource.RLIM_INFINITY:
        bound = min(bound, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
    try:
        yield
    finally:
        # What is answered is made of what was found, and is bounded by itself.
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_bytes() -> int:
    """Return what this process has of private memory that can be written (`proc(5)`, statm)."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[5]) * resource.getpagesize()


def _within_bytes(found: Sequence[Sequence[Any]]) -> tuple[list[list[Any]], bool]:
    """Return rows as plain values up to the cap, and whether some were left out."""
    rows: list[list[Any]] = []
    size = 0
    for row in found:
        values = [json_value(value) for value in row]
        size += sum(len(str(value)) + 4 for value in values)
        # The first row always goes in, or paging would never get past a huge one.
        if rows and size > _RESULT_BYTES:
            return rows, True
        rows.append(values)
    return rows, False
