"""What is told of a table without SQL from outside: columns, statistics, rows by number.

Each runs on the typed Parquet itself, so that only the columns asked for are read.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import duckdb

from kbd_tables.duck import closing_connection, ident, json_value, sql_text

__all__ = ["describe", "rows", "stats"]

_EXACT_DISTINCT_ROWS = 100_000
_MOST_COMMON = 5
_BATCH = 50

Columns = Sequence[tuple[str, str, str]]
"""Name, reported type and SQL type of each column."""


def describe(parquet: str, columns: Columns, row_count: int) -> list[dict[str, Any]]:
    """Return for each column its place, type, and counts of values and of distinct values.

    Up to 100,000 rows the distinct values are counted, beyond that estimated.
    """
    exact = row_count <= _EXACT_DISTINCT_ROWS
    distinct = "count(DISTINCT {0})" if exact else "approx_count_distinct({0})"
    parts = ("count({0})", distinct)
    with closing_connection() as connection:
        counts = _aggregates(connection, parquet, [(name, parts) for name, _, _ in columns])
    return [
        {
            "name": name,
            "index": index,
            "inferred_type": kind,
            "nullable": non_null < row_count,
            "non_null_count": non_null,
            "distinct_estimate": values,
        }
        for index, ((name, kind, _), (non_null, values)) in enumerate(
            zip(columns, counts, strict=True)
        )
    ]


_STATS: dict[str, dict[str, str]] = {
    "numeric": {
        "min": "min({0})",
        "max": "max({0})",
        "mean": "avg({0})",
        "sum": "sum({0})",
        "stddev": "stddev_samp({0})",
    },
    "boolean": {
        "true_count": "count(*) FILTER (WHERE {0})",
        "false_count": "count(*) FILTER (WHERE NOT {0})",
    },
    "moment": {"min": "min({0})", "max": "max({0})"},
    "string": {"min_length": "min(length({0}))", "max_length": "max(length({0}))"},
}
_GROUP = {
    "integer": "numeric",
    "float": "numeric",
    "boolean": "boolean",
    "date": "moment",
    "datetime": "moment",
    "string": "string",
}


def stats(parquet: str, columns: Columns) -> list[dict[str, Any]]:
    """Return for each column the statistics of its type (contract, section 4)."""
    wanted = [_STATS[_GROUP[kind]] for _, kind, _ in columns]
    asked = [
        (name, ("count({0})", *parts.values()))
        for (name, _, _), parts in zip(columns, wanted, strict=True)
    ]
    result = []
    # With more threads the sums of floats come out in another order, and so with other last digits.
    with closing_connection(threads=1) as connection:
        answers = _aggregates(connection, parquet, asked)
        for (name, kind, _), parts, (non_null, *values) in zip(
            columns, wanted, answers, strict=True
        ):
            found = {"name": name, "type": kind, "non_null_count": non_null}
            found |= {label: json_value(v) for label, v in zip(parts, values, strict=True)}
            if kind == "string":
                found["most_common"] = _most_common(connection, parquet, name)
            result.append(found)
    return result


def rows(parquet: str, columns: Columns, row_start: int, row_count: int) -> list[list[Any]]:
    """Return rows by their 1-based number, in the file's order."""
    selected = ", ".join(ident(name) for name, _, _ in columns)
    # Parquet is written and read in order: DuckDB preserves insertion order by default.
    statement = (
        f"SELECT {selected} FROM read_parquet({sql_text(parquet)})"
        f" LIMIT {row_count} OFFSET {row_start - 1}"
    )
    with closing_connection() as connection:
        found = connection.execute(statement).fetchall()
    return [[json_value(value) for value in row] for row in found]


def _aggregates(
    connection: duckdb.DuckDBPyConnection,
    parquet: str,
    asked: Sequence[tuple[str, Sequence[str]]],
) -> list[tuple[Any, ...]]:
    """Return the aggregates asked for each column, some columns a statement."""
    result: list[tuple[Any, ...]] = []
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        selected = ", ".join(part.format(ident(name)) for name, parts in batch for part in parts)
        answer = connection.execute(
            f"SELECT {selected} FROM read_parquet({sql_text(parquet)})"
        ).fetchone()
        values = iter(answer or ())
        result += [tuple(itertools.islice(values, len(parts))) for _, parts in batch]
    return result


def _most_common(
    connection: duckdb.DuckDBPyConnection, parquet: str, name: str
) -> list[dict[str, Any]]:
    """Return the values that occur most, equally common ones in their own order."""
    column = ident(name)
    found = connection.execute(
        f"SELECT {column}, count(*) AS n FROM read_parquet({sql_text(parquet)})"
        f" WHERE {column} IS NOT NULL GROUP BY ALL ORDER BY n DESC, {column} LIMIT {_MOST_COMMON}"
    ).fetchall()
    return [{"value": json_value(value), "count": count} for value, count in found]
