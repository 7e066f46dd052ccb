"""From a plain CSV to a typed Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from kbd.errors import FileReadFailed
from kbd.formats import ColumnType
from kbd_tables.duck import closing_connection, ident, said, sql_text
from kbd_tables.inference import (
    DIGITS,
    SCALE,
    Candidate,
    ambiguous,
    candidates_for,
    choose,
    sql_for,
)

__all__ = ["load", "plain_rows_sql"]

_SAMPLE_ROWS = 5_000
_LONGEST_LINE = 32 * 1024 * 1024
_BATCH = 100
_COMPRESSION = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1"

Held = dict[int, list[Candidate]]
Facts = dict[int, dict[str, int]]


def load(
    plain: str,
    raw: str,
    target: str,
    columns: Sequence[tuple[str, ColumnType | None]],
    row_count: int,
) -> dict[str, Any]:
    """Type a plain table (`Tabular.read_table`) and write it as Parquet.

    Args:
        plain: The CSV.
        raw: A path for the untyped Parquet, which the caller removes.
        target: A path for the typed Parquet.
        columns: Names in order, with their type where the format knows it.
        row_count: The rows that the format counted.

    Returns:
        `{columns: [{name, type, sql_type}], row_count, warnings}`.

    Raises:
        FileReadFailed: The CSV is not in the plain form, or rows would be lost.
    """
    with closing_connection() as connection:
        found = _untyped(connection, plain, raw, len(columns), row_count)
        held = _held(connection, raw, [known for _, known in columns])
        facts = _decimal_facts(connection, raw, held)
        names, warnings = _distinct([name for name, _ in columns])
        typed, selected = [], []
        for index, name in enumerate(names):
            reported, sql_type, cast = choose(held[index], facts.get(index, {}))
            if ambiguous([candidate.name for candidate in held[index]]):
                warnings.append(
                    f"{name}: day and month cannot be told apart in its dates; it is kept as text "
                    "(use strptime to say which is meant)"
                )
            typed.append({"name": name, "type": reported, "sql_type": sql_type})
            value = sql_for(cast, f"c{index}", raw=f"c{index}")
            selected.append(f"{value} AS {ident(name)}")
        connection.execute(
            f"COPY (SELECT {', '.join(selected)} FROM read_parquet({sql_text(raw)}))"
            f" TO {sql_text(target)} ({_COMPRESSION})"
        )
    return {"columns": typed, "row_count": found, "warnings": warnings}


def plain_rows_sql(plain: str, width: int, *, parallel: bool = True) -> str:
    """Return the SQL that reads the plain form, all text, columns named c0, c1, ..."""
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(width))
    return (
        f"read_csv({sql_text(plain)}, columns = {{{columns}}}, header = true,"
        " auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
        f" new_line = '\\n', strict_mode = true, max_line_size = {_LONGEST_LINE},"
        f" parallel = {str(parallel).lower()})"
    )


def _untyped(
    connection: duckdb.DuckDBPyConnection, plain: str, raw: str, width: int, row_count: int
) -> int:
    """Write the table as Parquet of texts and return its rows; no row may be lost.

    Reading in parallel has to guess where a quoted field began; where the count differs from the
    format's, it is read again in one piece.
    """
    for parallel in (True, False):
        Path(raw).unlink(missing_ok=True)
        source = plain_rows_sql(plain, width, parallel=parallel)
        try:
            connection.execute(f"COPY (FROM {source}) TO {sql_text(raw)} ({_COMPRESSION})")
        except duckdb.Error as error:
            if not parallel:
                raise FileReadFailed(f"the table cannot be loaded: {said(error)}") from None
            continue
        count = connection.execute(f"SELECT count(*) FROM read_parquet({sql_text(raw)})")
        found = int(_first(count)[0])
        if found == row_count:
            return found
    raise FileReadFailed(f"the table cannot be loaded whole: {row_count} rows were expected")


def _held(
    connection: duckdb.DuckDBPyConnection, raw: str, known: Sequence[ColumnType | None]
) -> Held:
    """Return for each column the candidates that every value passes.

    The first rows rule most out, so that all rows are only tested for what is likely.
    """
    held: Held = {index: list(candidates_for(kind)) for index, kind in enumerate(known)}
    source = f"read_parquet({sql_text(raw)})"
    sample = f"(FROM {source} LIMIT {_SAMPLE_ROWS})"
    return _tested(connection, source, _tested(connection, sample, held))


def _tested(connection: duckdb.DuckDBPyConnection, source: str, held: Held) -> Held:
    """Keep the candidates whose test holds in a source; a column without values keeps none."""
    kept: Held = {index: [] for index in held}
    for batch in _batches([index for index in held if held[index]]):
        tests = [(index, candidate) for index in batch for candidate in held[index]]
        selected = ", ".join(
            f"bool_and({sql_for(candidate.test, f'c{index}')}) FILTER (WHERE c{index} IS NOT NULL)"
            for index, candidate in tests
        )
        answers = _first(connection.execute(f"SELECT {selected} FROM {source}"))
        for (index, candidate), passed in zip(tests, answers, strict=True):
            # NULL: there is no value yet. Only what all rows leave undecided is no type.
            if passed or (passed is None and "LIMIT" in source):
                kept[index].append(candidate)
    return kept


def _decimal_facts(connection: duckdb.DuckDBPyConnection, raw: str, held: Held) -> Facts:
    """Return how many digits the columns that may be decimals have."""
    facts: Facts = {}
    decimals = [i for i in held if any(candidate.name == "decimal" for candidate in held[i])]
    for batch in _batches(decimals):
        selected = ", ".join(
            f"max({sql_for(part, f'c{index}')})" for index in batch for part in (SCALE, DIGITS)
        )
        statement = f"SELECT {selected} FROM read_parquet({sql_text(raw)})"
        answers = _first(connection.execute(statement))
        for place, index in enumerate(batch):
            scale, digits = answers[2 * place : 2 * place + 2]
            facts[index] = {"scale": int(scale), "digits": int(digits)}
    return facts


def _distinct(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names that differ without regard to case, as SQL needs, and what was changed."""
    taken: set[str] = set()
    result, warnings = [], []
    for name in names:
        distinct, number = name, 1
        while distinct.lower() in taken:
            number += 1
            distinct = f"{name}_{number}"
        taken.add(distinct.lower())
        result.append(distinct)
        if distinct != name:
            warnings.append(f"column {name} is called {distinct} here: names ignore case in SQL")
    return result, warnings


def _batches(indexes: Sequence[int]) -> list[Sequence[int]]:
    """Cut column indexes into portions that one statement takes."""
    return [indexes[start : start + _BATCH] for start in range(0, len(indexes), _BATCH)]


def _first(connection: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    """Return the one row of an aggregate."""
    row = connection.fetchone()
    assert row is not None
    return tuple(row)
