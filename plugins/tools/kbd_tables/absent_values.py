"""Values that a statement asks for and no row has, with those that are near.

A statement that finds nothing may be right, or hold a misspelt value; only the table can tell.
"""

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

from kbd_tables.duck import quoted_name, quoted_text

__all__ = ["absent_values"]

_MAX_COMPARED = 20
_MAX_VALUES = 1_000
_MAX_LISTED = 8
_MAX_SHOWN = 60


def absent_values(
    connection: duckdb.DuckDBPyConnection, sql: str, columns: Sequence[str]
) -> list[str]:
    """Return a note for each text that a column is compared with and that no row has.

    Args:
        connection: Where the table is, under the name `data`.
        sql: A statement that found nothing.
        columns: The names of the table's columns of texts.
    """
    try:
        return list(_notes(connection, sql, columns))
    except duckdb.Error:
        # The statement itself went well; what its time or memory has no room for is left out.
        return []


def _notes(
    connection: duckdb.DuckDBPyConnection, sql: str, columns: Sequence[str]
) -> Iterator[str]:
    answer = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    tree = json.loads(answer[0]) if answer else {"error": True}
    if tree.get("error"):
        return
    known = {name.lower(): name for name in columns}
    for column, value in list(dict.fromkeys(_compared(tree)))[:_MAX_COMPARED]:
        name = known.get(column.lower())
        if name is not None and (note := _note(connection, name, value)):
            yield note


def _compared(tree: Any) -> Iterator[tuple[str, str]]:
    """Yield columns and the texts that they are compared with as equal."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(part)
        if not isinstance(part, dict):
            continue
        stack.extend(part.values())
        match part.get("type"):
            case "COMPARE_EQUAL":
                sides = (part.get("left"), part.get("right"))
                yield from _pairs(*sides)
                yield from _pairs(*reversed(sides))
            case "COMPARE_IN":
                first, *others = part.get("children") or [None]
                for other in others:
                    yield from _pairs(first, other)
            case _:
                continue


def _pairs(column: Any, literal: Any) -> Iterator[tuple[str, str]]:
    names = column.get("column_names") if isinstance(column, dict) else None
    value = literal.get("literal") if isinstance(literal, dict) else None
    if names and isinstance(value, dict) and value.get("kind") == "STRING":
        yield str(names[-1]), str(value["text"])


def _note(connection: duckdb.DuckDBPyConnection, column: str, value: str) -> str:
    """Return what is near a value, "" if a row has it."""
    name = quoted_name(column)
    there = connection.execute(
        f"SELECT count(*) FROM data WHERE {name} = {quoted_text(value)}"
    ).fetchone()
    if there and there[0]:
        return ""
    found = connection.execute(
        f"SELECT {name}, count(*), count(*) OVER (), sum(count(*)) OVER () FROM data"
        f" WHERE {name} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MAX_VALUES}"
    ).fetchall()
    if not found:
        return f"no row has a value in {column}"
    count, rows = int(found[0][2]), int(found[0][3])
    note = f"no row has {column} = {_shown(value)}"
    by_fold = {str(one).casefold(): str(one) for one, *_ in found}
    near = difflib.get_close_matches(value.strip().casefold(), by_fold, 3, 0.6)
    if count <= _MAX_LISTED:
        note += f": {column} is one of {', '.join(_shown(str(v)) for v, *_ in found)}"
        note += f" ({rows:,} rows)"
    else:
        note += f", which has {count:,} different values"
    return (
        f"{note}; did you mean {' or '.join(_shown(by_fold[n]) for n in near)}?" if near else note
    )


def _shown(value: str) -> str:
    return repr(value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…")
