"""From a plain CSV to a typed Parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from kbd.errors import FileReadFailed
from kbd.formats import ColumnType
from kbd_tables.duck import closing_connection, ident, said, sql_text
from kbd_tables.inference import Candidate, candidates_for, choose, sql_for

__all__ = ["load", "plain_rows_sql"]

_SAMPLE_ROWS = 1_000
_LONGEST_LINE = 32 * 1024 * 1024
_BATCH = 50
_COMPRESSION = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1"

T = TypeVar("T")
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
            choice = choose(name, held[index], facts.get(index, {}))
            if choice.note:
                warnings.append(choice.note)
            typed.append({"name": name, "type": choice.type, "sql_type": choice.sql_type})
            value = sql_for(choice.cast, f"c{index}", raw=f"c{index}")
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

    The first rows rule most out, so that all rows are only tested for what is likely. What has
    commas is tested last: every plain number passes, and need not be read again for that.
    """
    source = f"read_parquet({sql_text(raw)})"
    likely = _likely(connection, source, known)
    held: Held = {index: [] for index in likely}
    for commas in (False, True):
        tests = [
            (index, candidate)
            for index in likely
            if not held[index]
            for candidate in likely[index]
            if candidate.has_commas == commas
        ]
        _test(connection, source, tests, held)
    return held


def _test(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    tests: Sequence[tuple[int, Candidate]],
    held: Held,
) -> None:
    """Add to each column the candidates that every value passes."""
    for batch in _batches(tests):
        selected = ", ".join(
            f"bool_and({sql_for(candidate.test, f'c{index}')}) FILTER (WHERE c{index} IS NOT NULL)"
            for index, candidate in batch
        )
        answers = _first(connection.execute(f"SELECT {selected} FROM {source}"))
        for (index, candidate), passed in zip(batch, answers, strict=True):
            # NULL: the column has no value at all, and so no type.
            if passed:
                held[index].append(candidate)


def _likely(
    connection: duckdb.DuckDBPyConnection, source: str, known: Sequence[ColumnType | None]
) -> Held:
    """Return for each column the candidates that its values in the first rows pass.

    The sample is turned on its side, so that each test is planned once, not once a column:
    planning thousands of expressions takes far longer than running them.
    """
    likely: Held = {index: list(candidates_for(kind)) for index, kind in enumerate(known)}
    tests = {candidate.name: candidate for held in likely.values() for candidate in held}
    if not tests:
        return likely
    selected = ", ".join(f"bool_and({sql_for(test.test, 'v')})" for test in tests.values())
    sample = f"(SELECT * FROM {source} LIMIT {_SAMPLE_ROWS})"
    rows = connection.execute(
        f"SELECT c, {selected} FROM (UNPIVOT {sample} ON COLUMNS(*) INTO NAME c VALUE v) GROUP BY c"
    ).fetchall()
    for column, *answers in rows:
        index = int(str(column).removeprefix("c"))
        passed = {name for name, answer in zip(tests, answers, strict=True) if answer}
        likely[index] = [candidate for candidate in likely[index] if candidate.name in passed]
    return likely


def _decimal_facts(connection: duckdb.DuckDBPyConnection, raw: str, held: Held) -> Facts:
    """Return what must be known of the columns that may be decimals."""
    facts: Facts = {}
    # Where both meanings of a comma fit, either's facts tell so.
    asked = [(i, c.facts(f"c{i}")) for i in held for c in held[i] if not c.sql_type]
    for batch in _batches(asked):
        selected = ", ".join(sql for _, found in batch for sql in found.values())
        statement = f"SELECT {selected} FROM read_parquet({sql_text(raw)})"
        answers = iter(_first(connection.execute(statement)))
        for index, found in batch:
            facts[index] = {name: int(next(answers)) for name in found}
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


def _batches(items: Sequence[T]) -> list[Sequence[T]]:
    """Cut items into portions that one statement takes."""
    return [items[start : start + _BATCH] for start in range(0, len(items), _BATCH)]


def _first(connection: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    """Return the one row of an aggregate."""
    row = connection.fetchone()
    assert row is not None
    return tuple(row)
