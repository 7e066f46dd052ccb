"""Sandbox of a model's SQL: one statement that only reads, tables in memory, and no way out.

The tables that the statement names are copied into memory first; then time and chance are pinned,
external access is switched off with nothing allowed, the configuration is locked, and a read-only
transaction is opened. With nothing allowed there is no file that a statement could read, write or
delete, whatever it says; allow lists and views over files were each found to let some COPY through.

Before that, a statement is checked to be exactly one that only reads (`statements`), and the tables
that it names are looked up among those of the workbench (`table_names`): a name is never a path.
"""

import resource
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import msgspec

from kbd.errors import ToolTimeout
from kbd.formats import ReadingQuestion
from kbd.types import FileName
from kbd_tables.absent_values import ComparedColumn, absent_values
from kbd_tables.duck import (
    closing_connection,
    count_lost,
    json_value,
    parquet_rows,
    quoted_name,
    quoted_text,
    reported_type,
)
from kbd_tables.jobs import QueryLimits
from kbd_tables.open_questions import check_figures
from kbd_tables.sql_errors import refused
from kbd_tables.statement_time import pin_clock
from kbd_tables.statements import Statement, checked_statement, with_whole_order, works_out_figures
from kbd_tables.table_names import DATA, TableCatalog, TableName

__all__ = [
    "Columns",
    "LoadedTable",
    "OpenSandbox",
    "TableQuestion",
    "TablesNeeded",
    "query",
    "sandboxed",
]

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


class LoadedTable(msgspec.Struct, frozen=True):
    """A table for statements.

    Args:
        name: As `TableCatalog.find` tells it.
        parquet: Its rows, typed.
        columns: Its columns: name, reported type and SQL type of each.
        row_count: Its rows.
        questions: What is open about how it is read.
    """

    name: TableName
    parquet: str
    columns: tuple[tuple[str, str, str], ...]
    row_count: int
    questions: tuple[ReadingQuestion, ...] = ()


NamedTables = dict[tuple[str, ...], LoadedTable]
"""Tables by what a statement calls them."""


class TablesNeeded(Exception):
    """A statement reads tables that it was not given.

    Args:
        names: Which.
    """

    def __init__(self, names: Sequence[TableName]) -> None:
        super().__init__()
        self.names = names


class TableQuestion(msgspec.Struct, frozen=True):
    """A statement from outside, and what it may see.

    Args:
        sql: Its text.
        catalog: The tables that there are.
        tables: Those of them that are at hand.
        limits: Its time, memory and threads.
        now_us: The time of the call in microseconds since 1970 UTC.
    """

    sql: str
    catalog: TableCatalog
    tables: tuple[LoadedTable, ...]
    limits: QueryLimits
    now_us: int


class OpenSandbox(msgspec.Struct, frozen=True):
    """Sandbox that is open, with the statement and the tables that it reads.

    Args:
        connection: Where the tables are.
        statement: What may run.
        named: The tables by what the statement calls them.
    """

    connection: duckdb.DuckDBPyConnection
    statement: Statement
    named: NamedTables

    @property
    def reads(self) -> tuple[TableName, ...]:
        """The tables that the statement reads, each once."""
        return tuple(dict.fromkeys(table.name for table in self.named.values()))


@contextmanager
def sandboxed(question: TableQuestion) -> Iterator[OpenSandbox]:
    """Open a sandbox for one checked statement, with the tables in it that it names.

    Inside the block the clock runs: past its seconds the statement is interrupted.

    Raises:
        TablesNeeded: It names tables that are not at hand.
        ValidationFailed: The statement is not admitted, or DuckDB refuses it.
        ToolTimeout: It passed its time or memory.
    """
    limits = question.limits
    is_large = any(_values(table) > _MANY_VALUES for table in question.tables)
    # A second thread takes longer to start than a small table to load.
    threads = limits.query_threads if is_large else 1
    with closing_connection(_LOAD_MEMORY_MB, threads) as connection:
        # Before the tables are loaded, which is most of the work: what is refused costs nothing.
        statement = checked_statement(connection, question.sql)
        named = _named_tables(connection, statement, question)
        asking = [table for table in named.values() if table.questions]
        if asking and works_out_figures(connection, statement):
            for table in asking:
                check_figures(FileName(table.name.file), table.questions)
        _load(connection, statement, named)
        pin_clock(connection, question.now_us, statement.sql)
        _lock(connection, limits.query_memory_mb)
        clock = threading.Timer(limits.query_seconds, connection.interrupt)
        clock.daemon = True
        clock.start()
        try:
            with _bounded_memory(limits.query_memory_mb):
                yield OpenSandbox(connection, statement, named)
        # `closing_connection` knows these two; all others are faults of the statement.
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            raise refused(error, named, question.catalog) from None
        finally:
            clock.cancel()


def _named_tables(
    connection: duckdb.DuckDBPyConnection, statement: Statement, question: TableQuestion
) -> NamedTables:
    """Return the tables that a statement names.

    Raises:
        TablesNeeded: Some are not at hand.
        ValidationFailed: There is no such table.
    """
    at_hand = {table.name: table for table in question.tables}
    found: NamedTables = {}
    missing: list[TableName] = []
    for path in statement.tables:
        name = question.catalog.find(path)
        if name is None:
            if not _is_built_in(connection, path):
                raise question.catalog.unknown(path)
        elif name in at_hand:
            found[path] = at_hand[name]
        else:
            missing.append(name)
    if missing:
        raise TablesNeeded(missing)
    return found


def _is_built_in(connection: duckdb.DuckDBPyConnection, path: Sequence[str]) -> bool:
    """Tell whether a name is that of one of DuckDB's own views."""
    row = connection.execute(
        "SELECT count(*) FROM duckdb_views() WHERE internal AND view_name = lower(?)", [path[-1]]
    ).fetchone()
    return bool(row and row[0])


def query(question: dict[str, Any], window: dict[str, Any], total: int | None) -> dict[str, Any]:
    """Run a statement and return a window of its rows and how many there are in all.

    Args:
        question: A plain `TableQuestion`.
        window: `{rows, offset}`: how many rows, after how many others.
        total: How many there are in all, where that is known.

    Returns:
        `{columns, column_types, rows, total_row_count, is_ordered, is_timeless, reads, is_cut,
        lost_figures, elapsed_ms, hints}`, or `{needs: [{file, sheet}]}`; hints name values that the
        statement asks for and no row has.

    Raises:
        ValidationFailed, ToolTimeout: As for `sandboxed`.
    """
    asked = msgspec.convert(question, TableQuestion)
    try:
        with sandboxed(asked) as box:
            began = time.perf_counter()
            found = _window(box, asked.catalog, window, total)
            elapsed = (time.perf_counter() - began) * 1000
            hints = _hints(box) if _is_empty(found.rows) else []
    except TablesNeeded as needed:
        return {"needs": msgspec.to_builtins(needed.names)}
    rows, is_cut = _within_bytes(found.rows)
    return {
        "columns": [name for name, _ in found.columns],
        "column_types": [reported_type(kind) for _, kind in found.columns],
        "rows": rows,
        "total_row_count": found.total,
        "is_ordered": box.statement.order_keys > 0,
        "is_timeless": box.statement.is_timeless,
        "reads": msgspec.to_builtins(box.reads),
        "is_cut": is_cut,
        "lost_figures": sum(count_lost(row) for row in found.rows[: len(rows)]),
        "elapsed_ms": round(elapsed, 1),
        "hints": hints,
    }


def _is_empty(found: Sequence[Sequence[Any]]) -> bool:
    """Tell whether a statement found nothing: no row, or one of figures over none."""
    return not found or (len(found) == 1 and not any(found[0]))


def _hints(box: OpenSandbox) -> list[str]:
    """Return notes on values that a statement asks for and no row has."""
    texts = [
        ComparedColumn(".".join(map(quoted_name, path)), name)
        for path, table in box.named.items()
        for name, kind, _ in table.columns
        if kind == "string"
    ]
    return absent_values(box.connection, box.statement.sql, texts)


class _Window(msgspec.Struct, frozen=True):
    """Window of a statement's rows, with its columns and their SQL types, and the total."""

    columns: list[tuple[str, str]]
    rows: list[tuple[Any, ...]]
    total: int


def _window(
    box: OpenSandbox, catalog: TableCatalog, window: dict[str, Any], total: int | None
) -> _Window:
    """Return a window of a statement's rows, and count them where the window does not tell."""
    connection, statement = box.connection, box.statement
    # On lines of its own, lest a comment in its last line swallow the bracket.
    nested = f"(\n{_paged(connection, statement, catalog)}\n)"
    rows, offset = window["rows"], window["offset"]
    # One row more than is asked for tells whether there are more, without counting them.
    answer = connection.execute(f"SELECT * FROM {nested} LIMIT {rows + 1} OFFSET {offset}")
    columns = [(str(item[0]), str(item[1])) for item in answer.description or ()]
    found = answer.fetchall()
    # An offset past the end says nothing of how many rows there are.
    if total is None and (len(found) > rows or (offset and not found)):
        counted = connection.execute(f"SELECT count(*) FROM (\n{statement.sql}\n)").fetchone()
        total = int(counted[0]) if counted else None
    return _Window(columns, found[:rows], offset + len(found) if total is None else total)


def _paged(
    connection: duckdb.DuckDBPyConnection, statement: Statement, catalog: TableCatalog
) -> str:
    """Return a statement whose windows fit together, if it orders its rows."""
    if statement.lists_tables:
        listed = ", ".join(f"({quoted_text(name)})" for name in (DATA, *catalog.files))
        return f"SELECT name FROM (VALUES {listed}) AS t(name)"
    # A limit of its own is a wall: it answers the same, whatever is taken of it.
    if not statement.order_keys or statement.is_limited:
        return statement.sql
    described = connection.execute(f"DESCRIBE (\n{statement.sql}\n)").fetchall()
    whole = with_whole_order(connection, statement, len(described))
    # What is materialized is ordered whole, before a window is taken of it.
    return whole or f"WITH whole AS MATERIALIZED (\n{statement.sql}\n) FROM whole"


def _load(connection: duckdb.DuckDBPyConnection, statement: Statement, named: NamedTables) -> None:
    """Copy tables into memory, each once, under the names that a statement calls them by."""
    loaded: dict[TableName, str] = {}
    taken: set[str] = set()
    for path, table in named.items():
        called = ".".join(map(quoted_name, path))
        # DuckDB does not tell names apart that differ in case.
        if called.lower() in taken:
            continue
        taken.add(called.lower())
        if len(path) > 1:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted_name(path[0])}")
        if table.name in loaded:
            connection.execute(f"CREATE VIEW {called} AS FROM {loaded[table.name]}")
            continue
        loaded[table.name] = called
        _load_table(connection, table, called, _needed(statement, table, named))


def _needed(statement: Statement, table: LoadedTable, named: NamedTables) -> Sequence[str]:
    """Return the columns of a table to load: of a large one those that a statement may name."""
    names = [name for name, _, _ in table.columns]
    if _values(table) <= _MANY_VALUES or statement.columns is None:
        return names
    known = {name.lower() for each in named.values() for name, _, _ in each.columns}
    # What is neither a column nor a value of its own may stand for a whole row.
    if not known.union(statement.aliases).issuperset(statement.columns):
        return names
    # A count of rows names no column, and a table needs at least one.
    return [name for name in names if name.lower() in statement.columns] or names[:1]


def _values(table: LoadedTable) -> int:
    """Return how many values a table has."""
    return table.row_count * len(table.columns)


def _load_table(
    connection: duckdb.DuckDBPyConnection, table: LoadedTable, called: str, names: Sequence[str]
) -> None:
    selected = ", ".join(quoted_name(name) for name in names)
    try:
        connection.execute(
            f"CREATE TABLE {called} AS SELECT {selected} FROM {parquet_rows(table.parquet)}"
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
