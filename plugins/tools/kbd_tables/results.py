"""Results of a table: its columns, statistics, rows by number, and the stream of its rows.

Columns, statistics and rows are read from the typed Parquet itself, so that only the columns asked
for are read. The stream is the one that `Tabular.write_table` documents.
"""

import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import msgpack
import msgspec

from kbd.errors import FileReadFailed
from kbd_tables.duck import (
    closing_connection,
    count_lost,
    json_value,
    parquet_rows,
    quoted_name,
    reported_type,
)
from kbd_tables.sandbox import (
    Columns,
    OpenSandbox,
    TableQuestion,
    TablesNeeded,
    answered,
    hints_of,
    sandbox_runs,
    sandboxed,
)
from kbd_tables.spellings import MANY_ROWS, join_notes

__all__ = ["describe", "export", "export_plain", "export_queries", "export_query", "rows", "stats"]

_WHOLE = re.compile("-?[0-9]+")
_EXACT_DISTINCT_ROWS = 100_000
_MAX_COMMON_VALUES = 5
_BATCH = 50
_SCANS = 16
"""Scans of a table in one statement: each opens its file twice, and a worker may open 64."""
_ROW_NUMBER = "file_row_number"
"""The name of a row's number in Parquet, which a column of the table may have as well."""


def describe(parquet: str, columns: Columns, row_count: int) -> list[dict[str, Any]]:
    """Return for each column its place, type, and counts of values and of distinct values.

    Up to 100,000 rows the distinct values are counted, beyond that estimated.
    """
    with closing_connection(threads=1 if row_count <= _EXACT_DISTINCT_ROWS else 2) as connection:
        if row_count <= _EXACT_DISTINCT_ROWS:
            counts = _exact_counts(connection, parquet, columns)
        else:
            parts = ("count({0})", "approx_count_distinct({0})")
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


def stats(parquet: str, columns: Columns) -> dict[str, list[dict[str, Any]] | list[str]]:
    """Compute the statistics of columns.

    Returns:
        `{columns, lost_figures}`: for each column those of its type (contract, section 4), and the
        names of those that are NaN or infinite, as of a sum that no double holds.
    """
    wanted = [_STATS[_GROUP[kind]] for _, kind, _ in columns]
    asked = [
        (name, ("count({0})", *parts.values()))
        for (name, _, _), parts in zip(columns, wanted, strict=True)
    ]
    result: list[dict[str, Any]] = []
    lost: list[str] = []
    # With more threads the sums of floats come out in another order, and so with other last digits.
    with closing_connection(threads=1) as connection:
        answers = _aggregates(connection, parquet, asked)
        for (name, kind, _), parts, (non_null, *values) in zip(
            columns, wanted, answers, strict=True
        ):
            found = {"name": name, "type": kind, "non_null_count": non_null}
            labeled = dict(zip(parts, values, strict=True))
            found |= {label: json_value(value) for label, value in labeled.items()}
            lost += [f"{label} of {name}" for label, value in labeled.items() if count_lost(value)]
            if kind == "string":
                found["most_common"] = _most_common(connection, parquet, name)
            result.append(found)
    return {"columns": result, "lost_figures": lost}


def rows(parquet: str, columns: Columns, row_start: int, row_count: int) -> list[list[Any]]:
    """Return rows by their 1-based number, in the file's order."""
    selected = ", ".join(quoted_name(name) for name, _, _ in columns)
    # Parquet is written and read in order: DuckDB preserves insertion order by default.
    if any(name.lower() == _ROW_NUMBER for name, _, _ in columns):
        source, place = parquet_rows(parquet), f"LIMIT {row_count} OFFSET {row_start - 1}"
    else:
        # By their numbers, for of the rows before an OFFSET all values are decoded.
        source = parquet_rows(parquet, numbered=True)
        place = f"WHERE {_ROW_NUMBER} >= {row_start - 1} LIMIT {row_count}"
    statement = f"SELECT {selected} FROM {source} {place}"
    with closing_connection() as connection:
        found = connection.execute(statement).fetchall()
    return [[json_value(value) for value in row] for row in found]


def _exact_counts(
    connection: duckdb.DuckDBPyConnection, parquet: str, columns: Columns
) -> list[tuple[int, int]]:
    """Return how many values each column has, and how many distinct ones, some columns a statement.

    Grouped by each column in turn: `count(DISTINCT)` of eight columns took five times as long.
    """
    source = parquet_rows(parquet)
    found: list[tuple[int, int]] = []
    for start in range(0, len(columns), _SCANS):
        parts = (
            f"SELECT {place} AS place, coalesce(sum(n) FILTER (WHERE v IS NOT NULL), 0)::BIGINT,"
            f" count(v) FROM (SELECT {quoted_name(name)} AS v, count(*) AS n FROM {source}"
            # By place: another column of the table may be called "V", and would go before.
            " GROUP BY 1)"
            for place, (name, _, _) in enumerate(columns[start : start + _SCANS])
        )
        counted = connection.execute(f"{' UNION ALL '.join(parts)} ORDER BY place").fetchall()
        found += [(values, distinct) for _, values, distinct in counted]
    return found


def _aggregates(
    connection: duckdb.DuckDBPyConnection,
    parquet: str,
    asked: Sequence[tuple[str, Sequence[str]]],
) -> list[tuple[Any, ...]]:
    """Return the aggregates asked for each column, some columns a statement."""
    result: list[tuple[Any, ...]] = []
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        selected = ", ".join(
            part.format(quoted_name(name)) for name, parts in batch for part in parts
        )
        answer = connection.execute(f"SELECT {selected} FROM {parquet_rows(parquet)}").fetchone()
        values = iter(answer or ())
        result += [tuple(itertools.islice(values, len(parts))) for _, parts in batch]
    return result


def _most_common(
    connection: duckdb.DuckDBPyConnection, parquet: str, name: str
) -> list[dict[str, Any]]:
    """Return the values that occur most, equally common ones in their own order."""
    column = quoted_name(name)
    found = connection.execute(
        f"SELECT {column}, count(*) AS n FROM {parquet_rows(parquet)}"
        # By value where they are equally common, so that the same table answers the same.
        f" WHERE {column} IS NOT NULL GROUP BY ALL ORDER BY 2 DESC, 1"
        f" LIMIT {_MAX_COMMON_VALUES}"
    ).fetchall()
    return [{"value": json_value(value), "count": count} for value, count in found]


_FETCHED = 200
"""Rows that are taken at a time. Of 5,000 the values fall out of the processor's cache: to pack
them took a third to two thirds longer."""
_MAX_FIELD_BYTES = 64 * 1024 * 1024
_CARRIED = frozenset(("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR"))
"""Types whose values are in the stream as DuckDB returns them."""
_Values = Sequence[Any]
"""The values of one column in some rows."""


def export(parquet: str, columns: Columns, target: str) -> dict[str, Any]:
    """Write the whole table with typed values.

    Returns:
        `{row_count, column_count, is_ordered, lost_figures}`; the last one counts those that are
        NaN or infinite, which no format has a number for.
    """
    selected = ", ".join(quoted_name(name) for name, _, _ in columns)
    with closing_connection(threads=2) as connection:
        connection.execute(f"SELECT {selected} FROM {parquet_rows(parquet)}")
        written = _write(connection, target)
    return {
        "row_count": written.rows,
        "column_count": written.columns,
        "is_ordered": True,
        "lost_figures": written.lost,
    }


def export_query(question: dict[str, Any], target: str) -> dict[str, Any]:
    """Write what a statement makes of tables with typed values.

    Args:
        question: A plain `kbd_tables.sandbox.TableQuestion`.
        target: Where to.

    Returns:
        As `export` with `reads`, the tables that it read, and `hints`, `spellings` and `matched`
        as of `kbd_tables.sandbox.query`; or `{needs: [{file, sheet}]}`.

    Raises:
        ValidationFailed, ToolTimeout: As for `kbd_tables.sandbox.sandboxed`.
    """
    asked = msgspec.convert(question, TableQuestion)
    try:
        with sandboxed(asked) as box:
            return _exported(box, target)
    except TablesNeeded as needed:
        return {"needs": msgspec.to_builtins(needed.names)}


def export_queries(
    question: dict[str, Any], targets: Sequence[str], asked: int = 0
) -> dict[str, Any]:
    """Write what several statements make of the same tables, each to a target of its own.

    Args:
        question: A plain `kbd_tables.sandbox.TableQuestion`, with `more` and `labels`.
        targets: Where to, one for each statement but the first ones.
        asked: How many of the statements, the first ones, are answered and not written.

    Returns:
        `{answers}`, as of `kbd_tables.sandbox.query` for each that is answered, with up to 5,000
        rows, and as of `export_query` for each other; or `{needs: [{file, sheet}]}`.

    Raises:
        ValidationFailed, ToolTimeout: As for `kbd_tables.sandbox.sandbox_runs`.
    """
    given = msgspec.convert(question, TableQuestion)
    answers = []
    try:
        with sandbox_runs(given) as runs:
            for place in range(asked):
                with runs.running(place) as box:
                    answers.append(answered(box, given.catalog, _ANSWERED, None))
            for place, target in enumerate(targets, asked):
                with runs.running(place) as box:
                    answers.append(_exported(box, target))
    except TablesNeeded as needed:
        return {"needs": msgspec.to_builtins(needed.names)}
    return {"answers": answers}


_ANSWERED = {"rows": 5_000, "offset": 0}
"""Window of a statement that is answered beside what others write."""


def _exported(box: OpenSandbox, target: str) -> dict[str, Any]:
    """Run the statement of a sandbox and write its rows."""
    box.connection.execute(box.statement.sql)
    written = _write(box.connection, target)
    return {
        "row_count": written.rows,
        "column_count": written.columns,
        # A single row needs no order.
        "is_ordered": box.statement.order_keys > 0 or written.rows < 2,
        "lost_figures": written.lost,
        "hints": hints_of(box, written.first),
        "spellings": join_notes(box.connection, box.statement, box.named, MANY_ROWS),
        "matched": box.statement.matched,
        "reads": msgspec.to_builtins(box.reads),
    }


def export_plain(
    columns: Columns,
    plain: str,
    names: Sequence[str],
    left_out_rows: Sequence[int],
    target: str,
) -> dict[str, Any]:
    """Write the rows of the plain form with every number as the file has it ("12.50", "1.234 €").

    Rows that are not in the table, counted from 0, are passed over.

    Numbers keep their type, so that a format does not take "-5" for text that looks like a
    formula; everything else is text.

    Returns:
        As `export`.
    """
    kinds = [kind if kind in ("integer", "float") else "string" for _, kind, _ in columns]
    # The module's own limit is 131,072 characters, and the plain form may have longer fields.
    csv.field_size_limit(_MAX_FIELD_BYTES)
    passed_over = frozenset(left_out_rows)
    with Path(plain).open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, strict=True)
        next(reader, None)  # the headings, which are in `names`
        kept = (row for number, row in enumerate(reader) if number not in passed_over)
        portions = (_plain_columns(portion, kinds) for portion in _portions(kept))
        written = _pack(target, list(zip(names, kinds, strict=True)), portions)
    return {"row_count": written, "column_count": len(names), "is_ordered": True}


def _portions(rows: Iterator[list[str]]) -> Iterator[list[list[str]]]:
    """Yield rows some thousands at a time."""
    while portion := list(itertools.islice(rows, _FETCHED)):
        yield portion


def _plain_columns(portion: Sequence[Sequence[str]], kinds: Sequence[str]) -> list[_Values]:
    """Return the columns of some rows of the plain form, with values as the stream has them."""
    # Some rows may all have another width than the table.
    if {len(row) for row in portion} != {len(kinds)}:
        raise FileReadFailed("a row of the table has another width than its columns")
    return [
        [text or None for text in column]
        if kind == "string"
        else [_plain_number(text.strip(), kind) for text in column]
        for kind, column in zip(kinds, zip(*portion, strict=True), strict=True)
    ]


def _plain_number(text: str, kind: str) -> int | str | None:
    """Return a number as the stream has it, and no value for none."""
    # All others stay as they are written: "12.50" would lose its zero, "1.234 €" its marks. A
    # plain whole number has one spelling alone.
    return int(text) if kind == "integer" and _WHOLE.fullmatch(text) else text or None


class _WrittenRows(msgspec.Struct, frozen=True):
    """What was written: how many rows, columns and lost figures, and the first two rows."""

    rows: int
    columns: int
    lost: int
    first: tuple[tuple[Any, ...], ...]


def _write(connection: duckdb.DuckDBPyConnection, target: str) -> _WrittenRows:
    """Write the rows of an executed statement."""
    described = [
        (str(item[0]), reported_type(str(item[1]))) for item in connection.description or ()
    ]
    # Nested types name what they hold.
    types = [str(item[1]) for item in connection.description or ()]
    first: tuple[tuple[Any, ...], ...] = ()
    lost = 0

    def streamed() -> Iterator[list[_Values]]:
        nonlocal first, lost
        # As Python values all rows of a large table might not fit into memory.
        while portion := connection.fetchmany(_FETCHED):
            first = first or tuple(portion[:2])
            columns: list[_Values] = list(zip(*portion, strict=True))
            lost += sum(
                sum(map(count_lost, column))
                for kind, column in zip(types, columns, strict=True)
                if "DOUBLE" in kind or "FLOAT" in kind
            )
            yield [
                column if kind in _CARRIED else list(map(_stream_value, column))
                for kind, column in zip(types, columns, strict=True)
            ]

    count = _pack(target, described, streamed())
    return _WrittenRows(count, len(described), lost, first)


def _pack(
    target: str, columns: Sequence[tuple[str, str]], portions: Iterable[Sequence[_Values]]
) -> int:
    """Write the stream of rows, which are given as the columns of some thousands of them.

    By columns, because what is the same for all values of one is so looked up once.
    """
    packer = msgpack.Packer()
    written = 0
    with Path(target).open("wb") as file:
        file.write(packer.pack([list(column) for column in columns]))
        for portion in portions:
            file.writelines(map(packer.pack, zip(*portion, strict=True)))
            written += len(portion[0])
    return written


def _stream_value(value: Any) -> Any:
    """Return a value as the stream has it: a decimal keeps its text, so nothing is rounded."""
    match value:
        case Decimal():
            return str(value) if value.is_finite() else None
        # Before the rest: `json_value` would cut a long one.
        case str():
            return value
        case date() | time():
            return value.isoformat()
        case list() | tuple() | dict():
            return json.dumps(json_value(value), ensure_ascii=False)
        case _:
            return json_value(value)
