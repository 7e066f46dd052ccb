"""Loader of a plain CSV into a typed Parquet, with the types inferred from the values.

Types are found by SQL tests that must hold for every value. A type is only taken where nothing is
lost by it: `007`, `+49`, numbers beyond 64 bits, and dates and commas that can be read in two ways
stay text. Candidates are tried on the first rows and those that are left on all rows, most specific
first; numbers with commas where nothing else holds.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import ColumnType
from kbd_tables.blanks import blank_edges, told_of_blanks, trimmed
from kbd_tables.duck import closing_connection, duckdb_message, quoted_name, quoted_text
from kbd_tables.totals import TypedColumn, take_out_totals

__all__ = ["Candidate", "Choice", "candidates_for", "choose", "load", "plain_rows_sql", "sql_for"]

_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"
_DECIMAL = r"-?(0|[1-9][0-9]*)(\.[0-9]{1,6})?"
_WHOLE = r"-?[0-9]{19,}"
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?Z?)?"
_SLASHES = "[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}"
_HYPHENS = "[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}"
_EITHER_ORDER = (("d/m/y", "m/d/y"), ("d-m-y", "m-d-y"))
"""Ways to write dates that only the values tell apart."""
_GROUPED = r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}({thousands}[0-9]{3})+)({point}[0-9]{1,6})?"
_DECIMAL_COMMA = _GROUPED.replace("{thousands}", "[.]").replace("{point}", ",")
_THOUSANDS_COMMA = _GROUPED.replace("{thousands}", ",").replace("{point}", "[.]")

_COMMA, _GROUPS = "decimal comma", "thousands comma"

_FACTS = {
    "scale": "max(length(regexp_extract({plain}, '[.]([0-9]+)', 1)))",
    "digits": "max(length(regexp_extract({plain}, '^-?([0-9]+)', 1)))",
}
"""SQL of a decimal column's digits: the most after and before the point."""

_COMMA_FACTS = _FACTS | {
    "commas": "count(*) FILTER (WHERE contains({v}, ','))",
    # No English number looks so: a group after a comma has three digits and no point before it.
    "proofs": "count(*) FILTER (WHERE regexp_matches({v}, '[.].*,|,([0-9]{1,2}|[0-9]{4,})$'))",
}
"""And of those with commas: how many values have one, and in how many it must be a decimal one."""


class Candidate(msgspec.Struct, frozen=True):
    """Type that a column may have, with its test.

    Args:
        name: For telling candidates apart.
        type: The type that is reported.
        test: What must be true of each value; `{v}` is the value, blanks around it removed.
        cast: The typed value.
        sql_type: The type that holds it; "" for decimals, whose scale depends on the column.
        plain: The value with a point, if any, and nothing between its digits.
        note: What a reader of the table must know; `{name}` is the column.
    """

    name: str
    type: ColumnType
    test: str
    cast: str
    sql_type: str
    plain: str = "{v}"
    note: str = ""

    @property
    def has_commas(self) -> bool:
        """Whether it is for numbers with commas, which are only tried where no other fits."""
        return self.name in (_COMMA, _GROUPS)

    def facts(self, column: str) -> dict[str, str]:
        """Return, of a decimal, the SQL of what must be known of a column to take it."""
        facts = _COMMA_FACTS if self.has_commas else _FACTS
        plain = sql_for(self.plain, column)
        return {name: sql_for(fact, column, plain=plain) for name, fact in facts.items()}


class Choice(msgspec.Struct, frozen=True):
    """Type chosen for a column: the reported type, the SQL type, the typed value, a note or ""."""

    type: ColumnType = "string"
    sql_type: str = "VARCHAR"
    cast: str = "{raw}"
    note: str = ""


def _date(name: str, pattern: str, layout: str) -> Candidate:
    """Return the candidate for dates written in one way."""
    return Candidate(
        name,
        "date",
        f"(regexp_full_match({{v}}, '{pattern}') AND try_strptime({{v}}, '{layout}') IS NOT NULL)",
        f"CAST(try_strptime({{v}}, '{layout}') AS DATE)",
        "DATE",
    )


def _commas(name: str, pattern: str, plain: str) -> Candidate:
    """Return the candidate for decimals with one meaning of commas."""
    return Candidate(
        name,
        "float",
        f"regexp_full_match({{v}}, '{pattern}')",
        f"CAST({plain} AS DECIMAL(18, {{scale}}))",
        "",
        plain,
        f'column "{{name}}" is read with {name}s',
    )


_CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "boolean",
        "boolean",
        "lower({v}) IN ('true', 'false')",
        "lower({v}) = 'true'",
        "BOOLEAN",
    ),
    Candidate(
        "integer",
        "integer",
        # The round trip keeps leading zeros, a plus and what does not fit out.
        # With coalesce, for bool_and would pass over the NULL of a cast that fails.
        "coalesce(CAST(try_cast({v} AS BIGINT) AS VARCHAR) = {v}, false)",
        "CAST({v} AS BIGINT)",
        "BIGINT",
    ),
    Candidate(
        "decimal",
        "float",
        f"regexp_full_match({{v}}, '{_DECIMAL}')",
        # Not a double, with which ten times 0.1 is not 1.
        "CAST({v} AS DECIMAL(18, {scale}))",
        "",
    ),
    Candidate(
        "double",
        "float",
        # Whole numbers past 64 bits stay text: a double would lose their last digits.
        f"(regexp_full_match({{v}}, '{_NUMBER}') AND NOT regexp_full_match({{v}}, '{_WHOLE}')"
        " AND isfinite(try_cast({v} AS DOUBLE)))",
        "CAST({v} AS DOUBLE)",
        "DOUBLE",
    ),
    _date("iso", "[0-9]{4}-[0-9]{2}-[0-9]{2}", "%Y-%m-%d"),
    _date("y/m/d", "[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}", "%Y/%m/%d"),
    _date("d.m.y", "[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}", "%d.%m.%Y"),
    _date("d/m/y", _SLASHES, "%d/%m/%Y"),
    _date("m/d/y", _SLASHES, "%m/%d/%Y"),
    _date("d-m-y", _HYPHENS, "%d-%m-%Y"),
    _date("m-d-y", _HYPHENS, "%m-%d-%Y"),
    Candidate(
        "datetime",
        "datetime",
        f"(regexp_full_match({{v}}, '{_MOMENT}')"
        " AND try_cast(rtrim({v}, 'Z') AS TIMESTAMP) IS NOT NULL)",
        "CAST(rtrim({v}, 'Z') AS TIMESTAMP)",
        "TIMESTAMP",
    ),
    _commas(_COMMA, _DECIMAL_COMMA, "replace(replace(ltrim({v}, '+'), '.', ''), ',', '.')"),
    _commas(_GROUPS, _THOUSANDS_COMMA, "replace(ltrim({v}, '+'), ',', '')"),
)

_KNOWN_DOUBLE = Candidate(
    "known double", "float", "isfinite(try_cast({v} AS DOUBLE))", "CAST({v} AS DOUBLE)", "DOUBLE"
)
"""A format that knows its numbers may write more digits than inference would take from text."""


def candidates_for(known: ColumnType | None) -> tuple[Candidate, ...]:
    """Return what a column may be: of a format that knows its types, only the type it names."""
    if known is None:
        return _CANDIDATES
    # A format that knows its numbers writes them with a point, and no comma between digits.
    fitting = tuple(
        c for c in _CANDIDATES if c.type == known and c.name != "double" and not c.has_commas
    )
    return (*fitting, _KNOWN_DOUBLE) if known == "float" else fitting


def sql_for(template: str, column: str, **parts: object) -> str:
    """Fill a test or a cast in for a column, blanks around its values removed.

    Patterns hold braces, so only the named fields are replaced.
    """
    for name, value in {"v": f"trim({column})", **parts}.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def choose(name: str, candidates: Sequence[Candidate], facts: Mapping[str, int]) -> Choice:
    """Return what a column is.

    Args:
        name: The column's.
        candidates: The candidates whose test every value passed, in their order.
        facts: Of decimals, the `Candidate.facts`.

    An 18-digit decimal is exact in sums; numbers that do not fit become doubles.
    """
    names = [candidate.name for candidate in candidates]
    if any(day in names and month in names for day, month in _EITHER_ORDER):
        return Choice(
            note=f"{name}: day and month cannot be told apart in its dates; it is kept as text "
            "(use strptime to say which is meant)"
        )
    if _COMMA in names and facts["commas"] and not facts["proofs"]:
        return Choice(
            note=f'column "{name}": decimal and thousands commas cannot be told apart in its '
            "numbers; it is kept as text (use replace and CAST to say which is meant)"
        )
    for candidate in candidates:
        # "+49" and "1.234.567" pass these tests, too; without one comma in the column they are no
        # proof of numbers, and it stays text.
        if candidate.has_commas and not facts["commas"]:
            continue
        note = candidate.note.replace("{name}", name)
        if candidate.sql_type:
            return Choice(candidate.type, candidate.sql_type, candidate.cast, note)
        scale = facts["scale"]
        if facts["digits"] + scale <= 18:
            cast = candidate.cast.replace("{scale}", str(scale))
            return Choice(candidate.type, f"DECIMAL(18, {scale})", cast, note)
    return Choice()


_SAMPLE_ROWS = 1_000
_MAX_LINE_BYTES = 32 * 1024 * 1024
_BATCH = 50
_COMPRESSION = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1"

T = TypeVar("T")
CandidatesByColumn = dict[int, list[Candidate]]
Facts = dict[int, dict[str, int]]


def load(
    plain: str,
    raw: str,
    target: str,
    columns: Sequence[tuple[str, ColumnType | None]],
    row_count: int,
    read_as: dict[str, Any],
    reading: dict[str, Any],
) -> dict[str, Any]:
    """Type a plain table (`Tabular.read_table`) and write it as Parquet.

    Args:
        plain: The CSV.
        raw: A path for the untyped Parquet, which the caller removes.
        target: A path for the typed Parquet.
        columns: Names in order, with their type where the format knows it.
        row_count: The rows that the format counted.
        read_as: How it is to be read: a plain `ReadAs`.
        reading: How the format read it: a plain `TableReading`.

    Returns:
        `{columns: [{name, type, sql_type}], row_count, reading, left_out_rows, warnings}`; the rows
        that were left out are counted from 0 among those of the CSV.

    Raises:
        FileReadFailed: The CSV is not in the plain form, or rows would be lost.
    """
    with closing_connection() as connection:
        found = _untyped(connection, plain, raw, len(columns), row_count)
        edges = blank_edges(connection, raw, len(columns), read_as)
        typed, notes = _typed(connection, raw, columns, edges)
        totals = take_out_totals(connection, raw, target, typed, read_as, reading)
        if totals.rows:
            # Without them a column of years is one of numbers, whose last row said "Total".
            typed, notes = _typed(connection, raw, columns, edges)
        texts = [number for number in sorted(edges) if typed[number].type == "string"]
        told = told_of_blanks(connection, raw, texts, totals.reading)
        selected = ", ".join(f"{each.value} AS {quoted_name(each.name)}" for each in typed)
        connection.execute(
            f"COPY (SELECT {selected} FROM read_parquet({quoted_text(raw)}))"
            f" TO {quoted_text(target)} ({_COMPRESSION})"
        )
    return {
        "columns": [{"name": c.name, "type": c.type, "sql_type": c.sql_type} for c in typed],
        "row_count": found - len(totals.rows),
        "reading": told,
        "left_out_rows": totals.rows,
        "warnings": [*notes, *totals.notes],
    }


def _typed(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[tuple[str, ColumnType | None]],
    edges: frozenset[int],
) -> tuple[list[TypedColumn], list[str]]:
    """Return the columns with their types, and what a reader of the table must know of them.

    `edges` are those whose texts may have blanks around them.
    """
    candidates = _passed_candidates(connection, raw, [known for _, known in columns])
    facts = _decimal_facts(connection, raw, candidates)
    names, notes = _distinct([name for name, _ in columns])
    typed = []
    for index, name in enumerate(names):
        choice = choose(name, candidates[index], facts.get(index, {}))
        if choice.note:
            notes.append(choice.note)
        value = sql_for(choice.cast, f"c{index}", raw=trimmed(index, edges))
        typed.append(TypedColumn(name, choice.type, choice.sql_type, value))
    return typed, notes


def plain_rows_sql(plain: str, width: int, *, parallel: bool = True) -> str:
    """Return the SQL that reads the plain form, all text, columns named c0, c1, ..."""
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(width))
    return (
        f"read_csv({quoted_text(plain)}, columns = {{{columns}}}, header = true,"
        " auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
        # Nothing is sniffed, for the form is our own. Strict: a tolerant reader drops rows
        # silently.
        f" new_line = '\\n', strict_mode = true, max_line_size = {_MAX_LINE_BYTES},"
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
            connection.execute(f"COPY (FROM {source}) TO {quoted_text(raw)} ({_COMPRESSION})")
        except duckdb.Error as error:
            if not parallel:
                raise FileReadFailed(
                    f"the table cannot be loaded: {duckdb_message(error)}"
                ) from None
            continue
        count = connection.execute(f"SELECT count(*) FROM read_parquet({quoted_text(raw)})")
        found = int(_first(count)[0])
        if found == row_count:
            return found
    raise FileReadFailed(f"the table cannot be loaded whole: {row_count} rows were expected")


def _passed_candidates(
    connection: duckdb.DuckDBPyConnection, raw: str, known: Sequence[ColumnType | None]
) -> CandidatesByColumn:
    """Return for each column the candidates that every value passes.

    The first rows rule most out, so that all rows are only tested for what is likely. What has
    commas is tested last: every plain number passes, and need not be read again for that.
    """
    source = f"read_parquet({quoted_text(raw)})"
    likely = _likely_candidates(connection, source, known)
    candidates: CandidatesByColumn = {index: [] for index in likely}
    for commas in (False, True):
        tests = [
            (index, candidate)
            for index in likely
            if not candidates[index]
            for candidate in likely[index]
            if candidate.has_commas == commas
        ]
        _test(connection, source, tests, candidates)
    return candidates


def _test(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    tests: Sequence[tuple[int, Candidate]],
    candidates: CandidatesByColumn,
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
                candidates[index].append(candidate)


def _likely_candidates(
    connection: duckdb.DuckDBPyConnection, source: str, known: Sequence[ColumnType | None]
) -> CandidatesByColumn:
    """Return for each column the candidates that its values in the first rows pass.

    The sample is turned on its side, so that each test is planned once, not once a column:
    planning thousands of expressions takes far longer than running them.
    """
    likely: CandidatesByColumn = {
        index: list(candidates_for(kind)) for index, kind in enumerate(known)
    }
    tests = {
        candidate.name: candidate for candidates in likely.values() for candidate in candidates
    }
    if not tests:
        return likely
    selected = ", ".join(f"bool_and({sql_for(test.test, 'v')})" for test in tests.values())
    sample = f"(SELECT * FROM {source} LIMIT {_SAMPLE_ROWS})"
    rows = connection.execute(
        f"SELECT c, {selected} FROM (UNPIVOT {sample} ON COLUMNS(*) INTO NAME c VALUE v) GROUP BY c"
    ).fetchall()
    # UNPIVOT leaves NULL out: a column without a value in the sample keeps all its candidates.
    for column, *answers in rows:
        index = int(str(column).removeprefix("c"))
        passed = {name for name, answer in zip(tests, answers, strict=True) if answer}
        likely[index] = [candidate for candidate in likely[index] if candidate.name in passed]
    return likely


def _decimal_facts(
    connection: duckdb.DuckDBPyConnection, raw: str, candidates: CandidatesByColumn
) -> Facts:
    """Return what must be known of the columns that may be decimals."""
    facts: Facts = {}
    # Where both meanings of a comma fit, either's facts tell so.
    asked = [(i, c.facts(f"c{i}")) for i in candidates for c in candidates[i] if not c.sql_type]
    for batch in _batches(asked):
        selected = ", ".join(sql for _, found in batch for sql in found.values())
        statement = f"SELECT {selected} FROM read_parquet({quoted_text(raw)})"
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
