"""The gate before SQL: exactly one statement that only reads.

The lock-down of `kbd_tables.box` holds without this gate. The gate is a second wall, and it gives
better messages. It judges DuckDB's own syntax tree, since a CTE may hold a COPY or a DELETE in a
statement that counts as SELECT.

What a statement would take from the moment: the time, and chance.

A call that is done again must answer what it answered. So the clock that SQL sees is the call's,
chance begins from a seed of the call's, times are told in UTC, and one thread works: with two, sums
of floats and the order of groups were found to change from run to run.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import msgspec

from kbd.errors import ValidationFailed
from kbd_tables.duck import said

__all__ = ["CLOCKS", "Statement", "admit", "pin"]

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


def pin(connection: duckdb.DuckDBPyConnection, now_us: int, sql: str) -> None:
    """Have a connection answer the same statement at the same time in the same way.

    Args:
        connection: It, before its configuration is locked.
        now_us: The time of the call in microseconds since 1970 UTC.
        sql: The statement; each has its own chance.
    """
    connection.execute("SET threads = 1")
    connection.execute("SET TimeZone = 'UTC'")
    # A function of ours is found before DuckDB's own of that name, also inside views and macros.
    connection.execute(_clocks(now_us))
    digest = hashlib.sha256(f"{now_us}\0{sql}".encode(errors="surrogatepass")).digest()
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


_LONGEST = 100_000
_READING_NODES = frozenset(
    ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "STATEMENT_NODE")
)
_MOMENTARY = frozenset(
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


def admit(connection: duckdb.DuckDBPyConnection, query: str, columns: Sequence[str]) -> Statement:
    """Return a query as a statement that may run.

    Args:
        connection: To parse with; nothing is executed from the query.
        query: The text, as the model wrote it.
        columns: The names of the table's columns.

    Raises:
        ValidationFailed: It is not one statement that only reads, or does not parse.
    """
    if len(query) > _LONGEST:
        raise ValidationFailed(f"the query is longer than {_LONGEST} characters")
    if "\0" in query:
        raise ValidationFailed("the query holds a NUL character")
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:
        raise ValidationFailed(said(error)) from None
    if len(statements) != 1:
        raise ValidationFailed(f"the query must be {_ALLOWED}; it has {len(statements)} statements")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = str(statements[0].type).rpartition(".")[2]
        raise ValidationFailed(f"the query must be {_ALLOWED}; {kind} is not allowed")
    sql = _without_end(query)
    tree = _tree(connection, sql)
    _check_nodes(tree)
    _check_steady(tree)
    return Statement(sql=sql, is_ordered=_is_ordered(tree), columns=_needed(tree, columns))


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
    for part in _parts(tree):
        kind = part.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _READING_NODES:
            what = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise ValidationFailed(f"the query must be {_ALLOWED}; it holds a {what}")


def _check_steady(tree: Any) -> None:
    """Refuse what would answer otherwise when the statement is run again.

    Raises:
        ValidationFailed: It goes past the pinned clock, tells of the moment, hides a statement in
            a text, or takes a sample that chance alone decides.
    """
    for part in _parts(tree):
        if part.get("class") == "FUNCTION":
            name = part.get("function_name", "").lower()
            path = part.get("qualified_name", {}).get("path", ())
            if name in CLOCKS and "system" in [step.lower() for step in path[:-1]]:
                raise ValidationFailed(f"write {name} without the schema system before it")
            if name in _MOMENTARY:
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
    """Whether the outermost query orders its rows."""
    modifiers = tree["node"].get("modifiers", ())
    return any(modifier.get("type") == "ORDER_MODIFIER" for modifier in modifiers)


def _needed(tree: Any, columns: Sequence[str]) -> tuple[str, ...] | None:
    """Return the columns that a query names, or None where it may need all.

    Only used to load less; a name that is no column may stand for a whole row, so it means all.
    """
    known = {name.lower(): name for name in columns}
    needed: set[str] = set()
    for part in _parts(tree):
        if part.get("class") == "STAR" or part.get("type") == "SHOW_REF":
            return None
        if part.get("ref_type") in ("NATURAL", "POSITIONAL"):
            return None
        names = part.get("column_names")
        mentioned = [names[-1]] if names else []
        for name in [*mentioned, *part.get("using_columns", ())]:
            if name.lower() not in known:
                return None
            needed.add(known[name.lower()])
    return tuple(name for name in columns if name in needed) or tuple(columns[:1])


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a tree; a stack, since trees nest deeper than Python calls may."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
