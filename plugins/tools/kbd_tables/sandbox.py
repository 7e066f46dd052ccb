"""Sandbox of a model's SQL: one statement that only reads, the tables that it names, no way out.

The tables are made known first; then time and chance are pinned, external access is switched off,
the configuration is locked, and a read-only transaction is opened. Allow lists and views over files
were each found to let some COPY through. So the tables are copied into memory and nothing is
allowed: there is no file that a statement could read, write or delete, whatever it says. Only where
the operating system keeps their files from being written, and the statement asks for nothing but
tables, they are read where they lie, and these files alone may be opened (`loaded_tables`).

Before that, a statement is checked to be exactly one that only reads (`statements`), and the tables
that it names are looked up among those of the workbench (`table_names`): a name is never a path.
"""

import os
import resource
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import msgspec

from kbd.errors import ToolTimeout, ValidationFailed
from kbd.types import FileName
from kbd_tables.absent_values import ComparedColumn, absent_values
from kbd_tables.duck import (
    KEPT_PARQUET,
    READY,
    closing_connection,
    count_lost,
    json_value,
    parquet_rows,
    quoted_name,
    quoted_text,
    reported_type,
)
from kbd_tables.jobs import QueryLimits
from kbd_tables.loaded_tables import (
    LoadedTable,
    NamedTables,
    check_whole,
    is_large,
    load_tables,
    named_columns,
)
from kbd_tables.open_questions import check_figures, check_values
from kbd_tables.spellings import ANSWERED_ROWS, join_notes
from kbd_tables.sql_errors import refused
from kbd_tables.statement_time import pin_clock
from kbd_tables.statements import (
    Statement,
    all_statements,
    checked_statement,
    may_be_threaded,
    with_whole_order,
    works_out_figures,
)
from kbd_tables.table_names import TableCatalog, TableName

__all__ = [
    "Columns",
    "OpenSandbox",
    "SandboxRuns",
    "TableQuestion",
    "TablesNeeded",
    "answered",
    "hints_of",
    "query",
    "sandbox_runs",
    "sandboxed",
    "warm_up",
]

Columns = Sequence[tuple[str, str, str]]
"""Name, reported type and SQL type of each column."""

_LOAD_MEMORY_MB = 1024
_ENGINE_MB = 128
"""Memory in MiB that DuckDB needs beside what its limit counts: threads, plans, what is freed and
not given back. A statement that used 472 MiB by its count had 503 MiB."""

_FEW_ROWS = 200
"""Rows that are fetched at least: to know that there are fewer saves counting them."""

_RESULT_BYTES = 4 * 1024 * 1024
"""Text of one window; a larger one is cut after a row, and marked as cut."""

_WARMING_TABLE = (
    "SELECT i AS id, DATE '2024-01-01' + i::INTEGER AS day, i / 8 AS amount, i % 2 = 0 AS paid,"
    " 'name ' || i % 7 AS name FROM range(3000) AS t(i)"
)
_GROUPED = "SELECT name, sum(amount) AS total, count(*) AS n FROM data GROUP BY name ORDER BY name"
_JOINED = (
    "SELECT a.name, sum(b.amount) FROM data AS a JOIN data AS b ON a.id = b.id AND a.name = b.name"
    " WHERE a.paid GROUP BY ALL ORDER BY 1"
)
_ORDERED = "SELECT id, day, name, amount FROM data ORDER BY amount"
_COUNTS = "SELECT count(*), count(n) FROM (SELECT {0} AS n FROM data GROUP BY ALL)"


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
        more: Further statements that run after it on the same tables, each within the same limits.
        labels: What each statement is for, which its errors say; none where there is only one.
    """

    sql: str
    catalog: TableCatalog
    tables: tuple[LoadedTable, ...]
    limits: QueryLimits
    now_us: int
    more: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


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


class SandboxRuns:
    """Statements of one sandbox, which run one after the other.

    Args:
        question: The statements, and their limits.
        boxes: The sandbox with each of them.
        in_place: The files that they read where they lie.

    Attributes:
        label: What the statement is for that runs, or was run last.
    """

    def __init__(
        self, question: TableQuestion, boxes: Sequence[OpenSandbox], in_place: Sequence[str]
    ) -> None:
        self._question, self._boxes, self._in_place = question, boxes, in_place
        self.label = ""

    @contextmanager
    def running(self, place: int = 0) -> Iterator[OpenSandbox]:
        """Have the clock run for the statement at a place: past its seconds it is interrupted.

        Raises:
            ValidationFailed: DuckDB refuses it.
        """
        limits, box = self._question.limits, self._boxes[place]
        self.label = _label(self._question, place)
        try:
            with (
                _bounded_time(box.connection, limits.query_seconds),
                _bounded_memory(limits.query_memory_mb),
            ):
                yield box
        # `closing_connection` knows these two; all others are faults of the statement.
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error as error:
            check_whole(self._in_place, error)
            raise refused(error, box.named, self._question.catalog) from None


def _label(question: TableQuestion, place: int) -> str:
    return question.labels[place] if place < len(question.labels) else ""


@contextmanager
def sandboxed(question: TableQuestion) -> Iterator[OpenSandbox]:
    """Open a sandbox for one checked statement, with the tables in it that it names.

    Inside the block the clock runs: past its seconds the statement is interrupted.

    Raises:
        TablesNeeded: It names tables that are not at hand.
        ValidationFailed: The statement is not admitted, or DuckDB refuses it.
        ToolTimeout: It passed its time or memory.
    """
    with sandbox_runs(question) as runs, runs.running() as box:
        yield box


@contextmanager
def sandbox_runs(question: TableQuestion) -> Iterator[SandboxRuns]:
    """Open a sandbox for checked statements, with the tables in it that any of them names.

    Raises:
        TablesNeeded, ValidationFailed, ToolTimeout: As `sandboxed`; a message says which statement
            is meant, where there are several.
    """
    runs = SandboxRuns(question, (), ())
    try:
        with _opened(question, runs) as found:
            runs = found
            yield found
    except (ValidationFailed, ToolTimeout) as error:
        if not runs.label:
            raise
        raise type(error)(f"{runs.label}: {error.message}", detail=error.detail) from None


@contextmanager
def _opened(question: TableQuestion, runs: SandboxRuns) -> Iterator[SandboxRuns]:
    """Open the sandbox; `runs` is told which statement is looked at meanwhile."""
    limits, sqls = question.limits, (question.sql, *question.more)
    # A second thread takes longer to start than a small table to load.
    threads = limits.query_threads if any(map(is_large, question.tables)) else 1
    with closing_connection(_LOAD_MEMORY_MB, threads) as connection:
        # Before the tables are loaded, which is most of the work: what is refused costs nothing.
        boxes, needed = list[OpenSandbox](), dict[TableName, None]()
        for place, sql in enumerate(sqls):
            runs.label = _label(question, place)
            statement = checked_statement(connection, sql)
            try:
                own = _named_tables(connection, statement, question)
            except TablesNeeded as missing:
                needed.update(dict.fromkeys(missing.names))
                continue
            _check_questions(statement, own)
            boxes.append(OpenSandbox(connection, statement, own))
        if needed:
            raise TablesNeeded(list(needed))
        runs.label = ""
        whole = all_statements([box.statement for box in boxes])
        named = {path: table for box in boxes for path, table in box.named.items()}
        in_place = load_tables(connection, whole, named)
        # In several threads sums of floats, and the order of groups, change from run to run.
        many = threads > 1 and all(may_be_threaded(connection, box.statement) for box in boxes)
        pin_clock(connection, question.now_us, whole.sql, threads if many else 1)
        _lock(connection, limits.query_memory_mb, in_place)
        yield SandboxRuns(question, boxes, in_place)


def _check_questions(statement: Statement, named: NamedTables) -> None:
    """Refuse a statement whose figures hang on what is open about its tables.

    Raises:
        ValidationFailed: They do.
    """
    columns = {column.lower() for table in named.values() for column, _, _ in table.columns}
    renamed = any(name not in columns for name in statement.converted)
    for table in named.values():
        if not table.questions:
            continue
        file = FileName(table.name.file)
        if works_out_figures(statement):
            check_figures(file, table.questions)
        valued = {*statement.converted, *statement.ranked}
        if renamed:
            # Another name may stand for any column that the statement needs.
            valued.update(("*",) if statement.columns is None else statement.columns)
        check_values(file, table.questions, valued)


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
        lost_figures, elapsed_ms, hints, spellings, matched}`, or `{needs: [{file, sheet}]}`;
        hints name values that the statement asks for and no row has, spellings those that it does
        not join, matched the columns of whose values it asks which are the same.

    Raises:
        ValidationFailed, ToolTimeout: As for `sandboxed`.
    """
    asked = msgspec.convert(question, TableQuestion)
    try:
        with sandboxed(asked) as box:
            return answered(box, asked.catalog, window, total)
    except TablesNeeded as needed:
        return {"needs": msgspec.to_builtins(needed.names)}


def answered(
    box: OpenSandbox, catalog: TableCatalog, window: Mapping[str, int], total: int | None
) -> dict[str, Any]:
    """Run the statement of a sandbox whose clock runs, and answer as `query`."""
    began = time.perf_counter()
    found = _window(box, catalog, window, total)
    elapsed = (time.perf_counter() - began) * 1000
    hints = hints_of(box, found.rows)
    spellings = join_notes(box.connection, box.statement, box.named, ANSWERED_ROWS)
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
        "spellings": spellings,
        "matched": box.statement.matched,
    }


def hints_of(box: OpenSandbox, found: Sequence[Sequence[Any]]) -> list[str]:
    """Return notes on values that a statement asks for and no row has, where it found nothing.

    Args:
        box: Where it ran.
        found: Its rows, the first two at least: none, or one without a figure, is nothing. A row
            of totals has a label all the same.
    """
    values = [value for row in found[:2] for value in row]
    figures = [value for value in values if not isinstance(value, str)]
    if len(found) > 1 or any(figures) or (values and not figures):
        return []
    texts = [
        ComparedColumn(".".join(map(quoted_name, path)), name)
        for path, table in box.named.items()
        for name, kind, _ in table.columns
        if kind == "string"
    ]
    # A row with a text may be one that was asked for, with a value that is there.
    is_labeled = len(figures) < len(values)
    return absent_values(box.connection, box.statement.sql, texts, if_all=is_labeled)


class _Window(msgspec.Struct, frozen=True):
    """Window of a statement's rows, with its columns and their SQL types, and the total."""

    columns: list[tuple[str, str]]
    rows: list[tuple[Any, ...]]
    total: int


def _window(
    box: OpenSandbox, catalog: TableCatalog, window: Mapping[str, int], total: int | None
) -> _Window:
    """Return a window of a statement's rows, and count them where the window does not tell."""
    connection, statement = box.connection, box.statement
    # On lines of its own, lest a comment in its last line swallow the bracket.
    nested = f"(\n{_paged(box, catalog)}\n)"
    rows, offset = window["rows"], window["offset"]
    # One row more than is asked for tells whether there are more, without counting them; and some
    # more cost nothing, and tell how many there are of most that are grouped.
    taken = max(rows + 1, _FEW_ROWS)
    answer = connection.execute(f"SELECT * FROM {nested} LIMIT {taken} OFFSET {offset}")
    columns = [(str(item[0]), str(item[1])) for item in answer.description or ()]
    found = answer.fetchall()
    # An offset past the end says nothing of how many rows there are.
    if total is None and (len(found) == taken or (offset and not found)):
        counted = connection.execute(f"SELECT count(*) FROM (\n{statement.sql}\n)").fetchone()
        total = int(counted[0]) if counted else None
    return _Window(columns, found[:rows], offset + len(found) if total is None else total)


def _paged(box: OpenSandbox, catalog: TableCatalog) -> str:
    """Return a statement whose windows fit together, if it orders its rows."""
    connection, statement = box.connection, box.statement
    if statement.lists_tables:
        listed = ", ".join(f"({quoted_text(name)})" for name in catalog.names)
        return f"SELECT name FROM (VALUES {listed}) AS t(name)"
    # A limit of its own is a wall: it answers the same, whatever is taken of it.
    if not statement.order_keys or statement.is_limited:
        return statement.sql
    width = statement.width
    if width is None:
        width = len(connection.execute(f"DESCRIBE (\n{statement.sql}\n)").fetchall())
    whole = with_whole_order(connection, statement, _more_keys(box, width))
    # What is materialized is ordered whole, before a window is taken of it.
    return whole or f"WITH whole AS MATERIALIZED (\n{statement.sql}\n) FROM whole"


def _more_keys(box: OpenSandbox, width: int) -> list[str]:
    """Return keys that order rows of a statement that are equal in its own: all their values.

    To sort 3.8 million rows by a hash of the columns that they are made of takes half as long. Two
    of a million rows that are equal otherwise have the same one once in 40 million tables.
    """
    called = box.statement.scanned
    table = next(iter(box.named.values()), None)
    if not called or table is None or not is_large(table):
        return [str(place) for place in range(1, width + 1)]
    names = (quoted_name(name) for name in named_columns(box.statement, box.named, table))
    return [f"hash({', '.join(f'{quoted_name(called)}.{name}' for name in names)})"]


def _lock(
    connection: duckdb.DuckDBPyConnection, memory_mb: int, in_place: Sequence[str] = ()
) -> None:
    """Lock the connection; the statement gets its memory on top of what the table takes.

    The order matters: settings are refused once the configuration is locked.

    Args:
        connection: It has the tables.
        memory_mb: Memory of the statement in MiB.
        in_place: The files that it may read.
    """
    used = connection.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone()
    table_mb = int((used[0] or 0) if used else 0) // (1024 * 1024) + 1
    listed = ", ".join(map(quoted_text, in_place))
    # Not the last wall: `select len(range(1000000000))` took 20 GB under a limit of 256 MB. The
    # worker's address space ends that.
    connection.execute(
        f"SET memory_limit = '{memory_mb + table_mb}MiB';"
        f"SET allowed_paths = [{listed}];"
        "SET enable_external_access = false;"
        "SET lock_configuration = true;"
        "BEGIN TRANSACTION READ ONLY"
    )


@contextmanager
def _bounded_time(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Bound how long a connection's statements take: past it they are interrupted."""
    clock = threading.Timer(seconds, connection.interrupt)
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()
        # It must not interrupt what comes after, nor be there when the process is confined.
        clock.join()


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


def warm_up() -> Generator[None]:
    """Run statements as calls do, on a small table that is gone afterwards, a step each.

    The first statement in a fork takes ten times as long as the second: each page that DuckDB
    touches is one of the parent's that must be mapped, or copied. So a process that waits for a
    call makes the first use, of each kind; first what most calls share.
    """
    if not _WARMING_PARQUET:
        return
    with open(os.memfd_create("table"), "wb") as table:
        table.write(_WARMING_PARQUET)
        table.flush()
        READY.execute("BEGIN TRANSACTION")
        try:
            path = f"/proc/self/fd/{table.fileno()}"
            READY.execute(f"CREATE VIEW data AS FROM {parquet_rows(path)}")
            for sql in (_JOINED, _GROUPED, _ORDERED):
                yield from _run_once(sql)
            pin_clock(READY, 0, "")
            with _bounded_time(READY, 1), _bounded_memory(_LOAD_MEMORY_MB):
                READY.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
            for column in ("name", "day", "amount"):
                yield
                READY.execute(_COUNTS.format(column)).fetchall()
        finally:
            READY.execute("ROLLBACK")


def _written_table() -> bytes:
    """Return a small table as Parquet; nothing where the system has no files in memory."""
    if not hasattr(os, "memfd_create"):
        return b""
    with open(os.memfd_create("table"), "rb") as table:
        path = f"/proc/self/fd/{table.fileno()}"
        READY.execute(f"COPY ({_WARMING_TABLE}) TO '{path}' ({KEPT_PARQUET}, USE_TMP_FILE false)")
        return table.read()


_WARMING_PARQUET = _written_table()
"""What a process that waits for a call warms up with: to write it there takes 4 ms each time."""


def _run_once(sql: str) -> Generator[None]:
    """Check and run a statement in the steps of `sandbox.query`."""
    yield
    statement = checked_statement(READY, sql)
    yield
    READY.execute(f"DESCRIBE (\n{statement.sql}\n)").fetchall()
    yield
    whole = with_whole_order(READY, statement, ["1"])
    READY.execute(f"SELECT * FROM (\n{whole}\n) LIMIT 20 OFFSET 10").fetchall()
