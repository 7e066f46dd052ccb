"""Values that a statement asks for and no row has, with those that are near.

A statement that finds nothing may be right, or hold a misspelt value; only the table can tell.
"""

import difflib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import msgspec

from kbd_tables.duck import quoted_name, quoted_text

__all__ = ["ComparedColumn", "absent_values"]

_MAX_COMPARED = 20
_MAX_VALUES = 1_000
_MAX_LISTED = 8
_MAX_SHOWN = 60


class ComparedColumn(msgspec.Struct, frozen=True):
    """Column of texts.

    Args:
        table: Its table, as SQL names it.
        name: Its own name.
    """

    table: str
    name: str


def absent_values(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    columns: Sequence[ComparedColumn],
    *,
    if_all: bool = False,
) -> list[str]:
    """Return a note for each text that a column is compared with and that no row has.

    Args:
        connection: Where the tables are.
        sql: A statement that found nothing.
        columns: The columns of texts of the tables that it reads.
        if_all: Whether one that a row has leaves nothing to note.
    """
    try:
        notes = list(_notes(connection, sql, columns))
        return [] if if_all and not all(notes) else [note for note in notes if note]
    except duckdb.Error:
        # The statement itself went well; what its time or memory has no room for is left out.
        return []


def _notes(
    connection: duckdb.DuckDBPyConnection, sql: str, columns: Sequence[ComparedColumn]
) -> Iterator[str]:
    """Yield a note for each text that a column is compared with, "" for one that a row has."""
    answer = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    tree = json.loads(answer[0]) if answer else {"error": True}
    if tree.get("error"):
        return
    for name, value in list(dict.fromkeys(_compared(tree)))[:_MAX_COMPARED]:
        # Columns of this name in several tables: any of them may be meant.
        notes = [
            _note(connection, column, value)
            for column in columns
            if column.name.lower() == name.lower()
        ]
        if notes:
            yield notes[0] if all(notes) else ""


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


def _note(connection: duckdb.DuckDBPyConnection, column: ComparedColumn, value: str) -> str:
    """Return what is near a value, "" if a row has it."""
    name = quoted_name(column.name)
    there = connection.execute(
        f"SELECT count(*) FROM {column.table} WHERE {name} = {quoted_text(value)}"
    ).fetchone()
    if there and there[0]:
        return ""
    found = connection.execute(
        f"SELECT {name}, count(*), count(*) OVER (), sum(count(*)) OVER ()"
        f" FROM {column.table} WHERE {name} IS NOT NULL"
        f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MAX_VALUES}"
    ).fetchall()
    if not found:
        return f"no row has a value in {column.name}"
    count, rows = int(found[0][2]), int(found[0][3])
    note = f"no row has {column.name} = {_shown(value)}"
    by_fold = {str(one).casefold(): str(one) for one, *_ in found}
    near = difflib.get_close_matches(value.strip().casefold(), by_fold, 3, 0.6)
    if count <= _MAX_LISTED:
        note += f": {column.name} is one of {', '.join(_shown(str(v)) for v, *_ in found)}"
        note += f" ({rows:,} rows)"
    else:
        note += f", which has {count:,} different values"
    return (
        f"{note}; did you mean {' or '.join(_shown(by_fold[n]) for n in near)}?" if near else note
    )


def _shown(value: str) -> str:
    return repr(value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…")
