"""Loader of a plain CSV into a typed Parquet, with the types inferred from the values."""

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import CAPITALS_APART, AggregateRow, ColumnType, ReadAs, TableReading
from kbd.formats.headings import unique_names
from kbd_tables.blanks import blank_edges, told_of_blanks, trimmed
from kbd_tables.clock_times import DAY_SECONDS, are_times_of_day, clock_seconds_sql
from kbd_tables.column_roles import find_roles
from kbd_tables.column_types import TextColumn, TypedColumn, find_columns
from kbd_tables.currencies import find_currencies
from kbd_tables.date_types import type_dates
from kbd_tables.duck import (
    KEPT_PARQUET,
    PASSING_PARQUET,
    closing_connection,
    duckdb_message,
    parquet_rows,
    quoted_name,
    quoted_text,
)
from kbd_tables.number_types import type_numbers
from kbd_tables.numbers import DecimalMark
from kbd_tables.reading_text import how_to_answer
from kbd_tables.spellings import column_spellings
from kbd_tables.total_notes import Clock, SummedColumn
from kbd_tables.totals import Totals, certain_totals, take_out_totals
from kbd_tables.verdicts import RawTable, TypedColumns, Verdicts

__all__ = ["load", "plain_rows_sql"]

_MAX_LINE_BYTES = 32 * 1024 * 1024
_ROWS_OF_A_THREAD = 122_880
"""Rows of a group in Parquet of DuckDB, each of which one thread reads: of a smaller table a second
one has nothing to do, and takes 3 ms to start and end."""


def load(
    plain: str,
    raw: str,
    target: str,
    columns: Sequence[tuple[str, ColumnType | None]],
    row_count: int,
    read_as: dict[str, Any],
    reading: dict[str, Any],
    aggregates: Sequence[Mapping[str, Any]] = (),
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
        aggregates: The rows whose formulas sum others up: plain `AggregateRow`.

    Returns:
        `{columns: [{name, type, sql_type}], row_count, reading, roles, currencies, notes,
        spellings, left_out_rows, kept_totals, warnings}`; `roles` has an `Additivity` by the name
        of each column that is not additive, `notes` what must be known of a column, `spellings`
        which have values that differ in capitals alone; the rows that were left out are counted
        from 0 among those of the CSV.

    Raises:
        FileReadFailed: The CSV is not in the plain form, or rows would be lost.
    """
    names, warnings = _distinct([name for name, _ in columns])
    known = [kind for _, kind in columns]
    with closing_connection(threads=2 if row_count > _ROWS_OF_A_THREAD else 1) as connection:
        found = _untyped(connection, plain, raw, len(columns), row_count)
        edges = blank_edges(connection, raw, len(columns), read_as)
        source = parquet_rows(raw)
        rows = _Rows(raw, names, known, edges, found, _aggregates(aggregates))
        typed, totals = _typed(connection, rows, target, read_as, reading)
        texts = [number for number in sorted(edges) if typed.columns[number].type == "string"]
        told = told_of_blanks(connection, raw, texts, totals.reading)
        table = _write(connection, source, target, names, typed, edges)
        facts = _facts(connection, table, names, typed, found - len(totals.rows))
    completed = _completed(told, typed)
    answers = how_to_answer(completed.questions)
    spelled = [f"{name}: {note}: {CAPITALS_APART}" for name, note in facts["spellings"].items()]
    return {
        "columns": [
            {"name": name, "type": column.type, "sql_type": column.sql_type}
            for name, column in zip(names, typed.columns, strict=True)
        ],
        "row_count": found - len(totals.rows),
        "reading": msgspec.to_builtins(completed),
        **facts,
        "left_out_rows": totals.rows,
        "kept_totals": msgspec.to_builtins(totals.kept),
        "warnings": [*warnings, *typed.warnings, *spelled, *totals.notes, *answers],
    }


def _facts(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    names: Sequence[str],
    typed: TypedColumns,
    row_count: int,
) -> dict[str, Any]:
    """Return what the values of the columns mean, as `load` does: roles, currencies, notes, ..."""
    roles = find_roles(connection, table, names, typed.columns)
    currencies = find_currencies(connection, table, names, typed.columns, roles)
    texts = [
        name
        for name, column in zip(names, typed.columns, strict=True)
        if column.type == "string" and not column.seconds
    ]
    return {
        "roles": msgspec.to_builtins(roles),
        "currencies": msgspec.to_builtins(currencies),
        "notes": msgspec.to_builtins(typed.notes),
        "spellings": column_spellings(connection, table, texts, row_count),
    }


def _aggregates(plain: Sequence[Mapping[str, Any]]) -> tuple[AggregateRow, ...]:
    return tuple(msgspec.convert(each, AggregateRow) for each in plain)


class _Rows(msgspec.Struct, frozen=True):
    """Rows of a table as texts: their Parquet, the names and known types of the columns.

    `edges` are the columns in which a value may have blanks around it, `aggregates` the rows whose
    formulas sum others up.
    """

    raw: str
    names: list[str]
    known: list[ColumnType | None]
    edges: frozenset[int]
    count: int
    aggregates: tuple[AggregateRow, ...] = ()

    def summed(self, typed: TypedColumns) -> list[SummedColumn]:
        """Return the columns as they are searched for totals, with the types that they have."""
        return [
            SummedColumn(name, "integer", "BIGINT", column.seconds, _clock(column))
            if column.seconds
            else SummedColumn(
                name,
                column.type,
                column.sql_type,
                _value(place, column, self.edges),
                is_percent=column.is_percent,
            )
            for place, (name, column) in enumerate(zip(self.names, typed.columns, strict=True))
        ]


def _typed(
    connection: duckdb.DuckDBPyConnection,
    rows: _Rows,
    spare: str,
    read_as: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> tuple[TypedColumns, Totals]:
    """Type the columns and take totals out of the rows.

    Args:
        connection: A database.
        rows: The rows.
        spare: A path that may be written meanwhile.
        read_as: How they are to be read: a plain `ReadAs`.
        reading: How the format read them: a plain `TableReading`.
    """
    source = parquet_rows(rows.raw)
    said = msgspec.convert(read_as, ReadAs)

    def typed_with(count: int, said: ReadAs, summed: DecimalMark | None = None) -> TypedColumns:
        findings = find_columns(connection, source, rows.names, rows.known, count)
        table = RawTable(connection, source, rows.names, rows.known, findings)
        return _type_columns(table, said, summed)

    typed, summed = typed_with(rows.count, said), None

    def taken_out(columns: list[SummedColumn], among: frozenset[int] | None = None) -> Totals:
        return take_out_totals(
            connection, rows.raw, spare, columns, read_as, reading, among, rows.aggregates
        )

    totals = taken_out(rows.summed(typed))
    are_open = any(question.about == "decimal" for question in typed.questions)
    if are_open and not totals.rows and totals.reading == dict(reading):
        marked = {
            mark: rows.summed(typed_with(rows.count, _with_mark(said, mark))) for mark in ".,"
        }
        sure = {
            mark: certain_totals(connection, rows.raw, each, rows.aggregates)
            for mark, each in marked.items()
        }
        summed = _summed_mark(sure)
        if summed is None:
            # The question tells what the column adds up to: without what is a total either way.
            columns, among = marked["."], sure["."] & sure[","]
        else:
            typed = typed_with(rows.count, said, summed)
            columns, among = rows.summed(typed), None
        totals = taken_out(columns, among)
    if not totals.rows:
        return typed, totals
    # Without them a column of years is one of numbers, whose last row said "Total". But what a
    # total proves of the decimal mark holds for the rows that it sums up.
    count = rows.count - len(totals.rows)
    again = typed_with(count, said, summed)
    if len(again.questions) > len(typed.questions) and typed.decimal in (".", ","):
        again = typed_with(count, said, typed.decimal)
    return again, totals


def _type_columns(table: RawTable, said: ReadAs, summed: DecimalMark | None = None) -> TypedColumns:
    """Decide how each column is held, by what it and the other columns of the file prove.

    What stays open is text, with a question that has the figures of either answer. Whatever is not
    plain from the values is said in a warning with its reason.

    Args:
        table: The columns and what they are by their own values.
        said: How the table is to be read.
        summed: The decimal mark by which its totals are what their rows come to.
    """
    verdicts = Verdicts()
    for place, finding in enumerate(table.findings):
        if isinstance(finding, TypedColumn):
            verdicts.typed[place] = finding
            if finding.type in ("date", "datetime") and table.known[place] is None:
                verdicts.orders.add("ymd")
        elif isinstance(finding, TextColumn):
            if finding.is_of_clocks:
                verdicts.typed[place], are_moments = _clock_column(table, place)
                if are_moments:
                    continue
            is_stored = table.known[place] == "string"
            if note := _text_note(finding, is_stored=is_stored):
                verdicts.note(place, note)
    type_numbers(table, verdicts, said.decimal, summed)
    type_dates(table, verdicts, said.date_order)
    return verdicts.result(table.names)


def _clock_column(table: RawTable, place: int) -> tuple[TypedColumn, bool]:
    """Return a column of times such as 7:30, which are texts, and whether they are times of day."""
    name = f"c{place}"
    seconds = clock_seconds_sql(name)
    least, most = table.ask(f"min({seconds})", f"max({seconds})")
    is_duration = max(-(least or 0), most or 0) >= DAY_SECONDS
    are_moments = most is not None and are_times_of_day(table.names[place], least, most)
    column = TypedColumn("string", "VARCHAR", name, seconds=seconds, is_duration=is_duration)
    return column, are_moments


def _clock(column: TypedColumn) -> Clock:
    return "duration" if column.is_duration else "time"


def _text_note(column: TextColumn, *, is_stored: bool) -> str:
    """Return what a reader would not expect of a column of texts, "" for nothing.

    Args:
        column: The column.
        is_stored: Whether a format knows its values as texts.
    """
    if column.is_of_clocks:
        others = "" if column.odd is None else f', beside others such as "{column.odd[0]}"'
        return (
            f"times such as {column.clock_example}, durations or times of day{others}; kept as "
            "text, of which sum(epoch(try_cast(… AS INTERVAL))) are the seconds in all"
        )
    if column.unlike:
        one, other = column.unlike
        return f'its dates are written in several ways ("{one}", "{other}"); kept as text'
    if is_stored and column.number_count > column.date_count and not column.is_coded:
        # A sum of the file's own program would leave those out that are stored as text.
        return (
            f"{column.number_count:,} of {column.value_count:,} values look like numbers, but are "
            "stored as text or stand among texts; kept as text"
        )
    if is_stored or column.odd is None or not column.is_likely:
        return ""
    kind = "numbers" if column.number_count >= column.date_count else "dates"
    count = max(column.number_count, column.date_count)
    value, row = column.odd
    return (
        f'{count:,} of {column.value_count:,} values are {kind}, but not "{value}" (row {row}); '
        "kept as text"
    )


def _summed_mark(sure: Mapping[DecimalMark, frozenset[int]]) -> DecimalMark | None:
    """Return the decimal mark that the totals prove: all that fit by the other one fit by it, too.

    Args:
        sure: The rows that surely sum others up, by either mark.
    """
    for mark, other in (".,", ",."):
        if sure[mark] > sure[other]:
            return mark
    return None


def _with_mark(said: ReadAs, mark: DecimalMark) -> ReadAs:
    """Return what was said, with a decimal mark where none was."""
    return msgspec.convert({"decimal": mark} | msgspec.to_builtins(said), ReadAs)


def _write(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    target: str,
    names: Sequence[str],
    typed: TypedColumns,
    edges: frozenset[int],
) -> str:
    """Write the typed Parquet: the SQL of each column's values, under its name; return its SQL."""
    columns = enumerate(zip(names, typed.columns, strict=True))
    selected = ", ".join(
        f"{_value(place, column, edges)} AS {quoted_name(name)}"
        for place, (name, column) in columns
    )
    connection.execute(
        f"COPY (SELECT {selected} FROM {source}) TO {quoted_text(target)} ({KEPT_PARQUET})"
    )
    return parquet_rows(target)


def _value(place: int, column: TypedColumn, edges: frozenset[int]) -> str:
    """Return the SQL of a column's values; texts without the blanks around them."""
    return trimmed(place, edges) if column.type == "string" else column.sql


def _completed(reading: Mapping[str, Any], typed: TypedColumns) -> TableReading:
    """Return how the table was read, with what its columns were found to be."""
    before = msgspec.convert(reading, TableReading)
    return msgspec.structs.replace(
        before,
        # A format that knows its numbers may have found it in their texts.
        decimal=typed.decimal or before.decimal,
        thousands=typed.thousands,
        date_order=typed.date_order,
        questions=(*typed.questions, *before.questions),
    )


def plain_rows_sql(plain: str, width: int, *, parallel: bool = True) -> str:
    """Return the SQL that reads the plain form, all text, columns named c0, c1, ..."""
    columns = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(width))
    return (
        f"read_csv({quoted_text(plain)}, columns = {{{columns}}}, header = true,"
        " auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = '',"
        # Nothing is sniffed, for the form is our own. Strict: a tolerant reader drops rows
        # silently.
        f" new_line = '\\n', strict_mode = true, max_line_size = {_MAX_LINE_BYTES},"
        # Else 16 of the longest lines, which is too much for two threads.
        f" buffer_size = {2 * _MAX_LINE_BYTES},"
        f" parallel = {str(parallel).lower()}, hive_partitioning = false)"
    )


def _untyped(
    connection: duckdb.DuckDBPyConnection, plain: str, raw: str, width: int, row_count: int
) -> int:
    """Write the table as Parquet of texts and return its rows; no row may be lost.

    Reading in parallel has to guess where a quoted field began; where the count differs from the
    format's, it is read again in one piece. So it is where two threads need more memory than there
    is; all that follows is then done by one thread, too.
    """
    for parallel in (True, False):
        Path(raw).unlink(missing_ok=True)
        if not parallel:
            connection.execute("SET threads = 1")
        source = plain_rows_sql(plain, width, parallel=parallel)
        try:
            connection.execute(f"COPY (FROM {source}) TO {quoted_text(raw)} ({PASSING_PARQUET})")
        except duckdb.Error as error:
            if not parallel:
                raise FileReadFailed(
                    f"the table cannot be loaded: {duckdb_message(error)}"
                ) from None
            continue
        count = connection.execute(f"SELECT count(*) FROM {parquet_rows(raw)}")
        found = int(_first(count)[0])
        if found == row_count:
            return found
    raise FileReadFailed(f"the table cannot be loaded whole: {row_count} rows were expected")


def _distinct(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names that differ without regard to case, as SQL needs, and what was changed.

    Nor has a name characters that nobody sees: neither people nor plans would give it back whole.
    """
    warnings, seen = [], []
    for place, given in enumerate(names, 1):
        name = "".join(filter(_is_seen, given)) or f"column_{place}"
        if name != given:
            warnings.append(f"column {place} is called {name} here, without what is not seen of it")
        seen.append(name)
    result = unique_names(seen)
    warnings += [
        f"column {name} is called {distinct} here: names ignore case in SQL"
        for name, distinct in zip(seen, result, strict=True)
        if name != distinct
    ]
    return result, warnings


def _is_seen(character: str) -> bool:
    """Tell whether a character shows, or is a blank."""
    return character in "\t\n\r" or unicodedata.category(character) not in ("Cc", "Cf")


def _first(connection: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    """Return the one row of an aggregate."""
    row = connection.fetchone()
    assert row is not None
    return tuple(row)
