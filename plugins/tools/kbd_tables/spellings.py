"""Spellings of texts that differ in capitals alone, which SQL takes for different values.

People mean one customer by "ACME" and "Acme". A statement that groups by such a column, compares
or joins it tells them apart: its figures are not wrong by its words, but not what was meant. So it
is said, of a column when its table is loaded, and of two columns when they are joined.
"""

import itertools
from collections.abc import Iterator, Sequence

import duckdb

from kbd_tables.duck import quoted_name
from kbd_tables.loaded_tables import NamedTables
from kbd_tables.statements import Statement

__all__ = ["ANSWERED_ROWS", "MANY_ROWS", "column_spellings", "join_notes"]

MANY_ROWS = 100_000
"""Rows from which on a column with a value of its own in most of them is not searched, nor a join
of an export: to sort their texts may take longer than what was asked."""
ANSWERED_ROWS = 2_000
"""The same of a join in a query: to compare 5,000 values took 7 ms, a third of what it takes."""
_BATCH = 50
_MAX_PAIRS = 8
_MAX_SHOWN = 60


def column_spellings(
    connection: duckdb.DuckDBPyConnection, table: str, names: Sequence[str], row_count: int
) -> dict[str, str]:
    """Return a note for each column with values that differ in capitals alone.

    Args:
        connection: Where the work is done.
        table: The SQL of the typed table.
        names: Its columns of texts.
        row_count: Its rows; of more than 100,000 only columns with fewer values are searched.
    """
    found = {}
    for name in _searched(connection, table, names, row_count):
        column = quoted_name(name)
        row = connection.execute(
            "SELECT count(*), min(one), arg_min(other, one) FROM (SELECT min(v) AS one, max(v) AS"
            f" other FROM (SELECT DISTINCT {column} AS v FROM {table}"
            f" WHERE {column} IS NOT NULL) GROUP BY lower(v) HAVING count(*) > 1)"
        ).fetchone()
        if row and row[0]:
            found[name] = _differ(*row)
    return found


def _searched(
    connection: duckdb.DuckDBPyConnection, table: str, names: Sequence[str], row_count: int
) -> Iterator[str]:
    """Yield the columns that have few enough values."""
    if row_count <= MANY_ROWS:
        yield from names
        return
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        counted = ", ".join(f"approx_count_distinct({quoted_name(name)})" for name in batch)
        counts = connection.execute(f"SELECT {counted} FROM {table}").fetchone()
        yield from (
            name for name, count in zip(batch, counts or (), strict=True) if count <= MANY_ROWS
        )


def join_notes(
    connection: duckdb.DuckDBPyConnection,
    statement: Statement,
    named: NamedTables,
    most_rows: int,
) -> list[str]:
    """Return a note for each two columns that are joined and have values in other capitals.

    Args:
        connection: Where the tables are.
        statement: What joins them.
        named: The tables by what the statement calls them.
        most_rows: Of tables with more nothing is said.
    """
    # In one order always: the note of a run is the same when it is replayed.
    tables = sorted(named.items(), key=lambda item: (-item[1].row_count, item[0]))
    small = {
        ".".join(map(quoted_name, path)): {
            name.lower(): name for name, kind, _ in table.columns if kind == "string"
        }
        for path, table in tables
        if table.row_count <= most_rows
    }
    pairs = dict.fromkeys(
        ((left, columns[pair[0]]), (right, others[pair[1]]))
        for (left, columns), (right, others) in itertools.combinations(small.items(), 2)
        for joined in statement.joined
        for pair in (joined, joined[::-1])
        if pair[0] in columns and pair[1] in others
    )
    try:
        notes = [_join_note(connection, *pair) for pair in list(pairs)[:_MAX_PAIRS]]
    except duckdb.Error:
        # The statement itself went well; what its time or memory has no room for is left out.
        return []
    return [note for note in notes if note]


def _join_note(
    connection: duckdb.DuckDBPyConnection, column: tuple[str, str], other: tuple[str, str]
) -> str:
    """Return a note on values of a column that only others in the other one stand for.

    Args:
        connection: Where the tables are.
        column: The table, and the column of it: of the larger table, most of whose values are in
            the other one, so that few are left to look at.
        other: The other one. What it alone has in two spellings is said of it by itself.
    """
    own, theirs = quoted_name(column[1]), quoted_name(other[1])
    lost = (
        f"(SELECT DISTINCT a.{own} AS v FROM {column[0]} AS a ANTI JOIN {other[0]} AS b"
        f" ON a.{own} = b.{theirs})"
    )
    found = connection.execute(f"SELECT count(v) FROM {lost}").fetchone()
    if not found or not found[0]:
        return ""
    row = connection.execute(
        f"SELECT count(DISTINCT lower(v)), min(v), arg_min(w, v) FROM {lost}"
        f" JOIN (SELECT DISTINCT {theirs} AS w FROM {other[0]}) ON lower(v) = lower(w)"
    ).fetchone()
    if not row or not row[0]:
        return ""
    return (
        f"{column[1]} of {column[0]} and {other[1]} of {other[0]}: {_differ(*row)}, and does not "
        "match by SQL; lower() on both sides matches it"
    )


def _differ(count: int, one: str, other: str) -> str:
    shown = ", ".join(
        text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…" for text in (one, other)
    )
    values = "1 value is" if count == 1 else f"{count:,} values are"
    return f"{values} written with other capitals, too ({shown})"
