"""Types of a table's columns, found by what holds for every value of the column.

A type is only taken where nothing is lost by it: `007`, `+49`, numbers beyond 64 bits and texts
stay text, and what can be read in two ways is a question.

Whole numbers, booleans and ISO dates are what most columns are, and have a test in SQL each. All
others are judged by their shapes (`kbd_tables.shapes`). The first rows rule most out, so that all
rows are only gone through for what is likely.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from kbd.formats import ColumnType
from kbd_tables.clock_times import is_clock_time
from kbd_tables.dates import DateColumn, date_column, date_form
from kbd_tables.numbers import NumberColumn, is_no_amount, is_number, number_column, number_form
from kbd_tables.shapes import Shape, batches, shapes_of

__all__ = ["Aggregates", "ColumnFinding", "TextColumn", "TypedColumn", "find_columns"]

_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?Z?)?"
_SAMPLE_ROWS = 1_000
_LIKELY = 0.8
"""A column of which fewer values are numbers, or dates, is one of texts."""

_MIN_COMPACT = 5
"""So many different whole numbers that are all dates of this form are dates, whatever the name."""


_MONTH_NAME = re.compile(
    r"(month|monat|mois|mes|mese|maand|miesiąc|месяц|period|periode)s?", re.IGNORECASE
)
_MONTH = re.compile(r"9{1,2}[./](99|9999)")
_VERSION_NAME = re.compile(
    r"(^|[^a-z])(version|release|revision|section|chapter|paragraph|kapitel|abschnitt)"
    r"([^a-z]|$)",
    re.IGNORECASE,
)
"""Columns whose points are neither of fractions nor of thousands."""


class Candidate(msgspec.Struct, frozen=True):
    """Type with a test of its own.

    Args:
        name: For telling candidates apart.
        type: The type that is reported.
        test: What must be true of each value; `{v}` is the value, blanks around it removed.
        cast: The typed value.
        sql_type: The type that holds it.
    """

    name: str
    type: ColumnType
    test: str
    cast: str
    sql_type: str


class TypedColumn(msgspec.Struct, frozen=True):
    """How a column is held: the reported type, the SQL type, and the SQL of its values.

    `is_percent` says whether these were written with percent signs. `seconds` is the SQL of times
    such as 7:30 in seconds, where a column of texts holds these; `is_duration` whether one of them
    is too long for a time of day.
    """

    type: ColumnType
    sql_type: str
    sql: str
    is_percent: bool = False
    seconds: str = ""
    is_duration: bool = False


class TextColumn(msgspec.Struct, frozen=True):
    """Column that stays text.

    Args:
        number_count: How many of its values are numbers.
        date_count: How many are dates by their form.
        value_count: How many there are.
        is_coded: Whether some are figures that are no number, as 007 or 1.2.3.
        odd: The first one that is neither a number nor a date nor missing, and its row.
        unlike: Two dates that are not written alike, where all values are dates.
        clock_count: How many are times such as 7:30.
        clock_example: The first of these.
    """

    number_count: int = 0
    date_count: int = 0
    value_count: int = 0
    is_coded: bool = False
    odd: tuple[str, int] | None = None
    unlike: tuple[str, ...] = ()
    clock_count: int = 0
    clock_example: str = ""

    @property
    def is_of_clocks(self) -> bool:
        """Whether most values are times such as 7:30."""
        return self.is_likely and self.clock_count > max(self.number_count, self.date_count)

    @property
    def is_likely(self) -> bool:
        """Whether most values are numbers, dates or such times; of three or four all but one."""
        count = max(self.number_count, self.date_count, self.clock_count)
        return count >= _LIKELY * self.value_count or count == self.value_count - 1 > 1


ColumnFinding = TypedColumn | NumberColumn | DateColumn | TextColumn
"""What a column is by its own values."""


_COMPACT = Candidate(
    "compact",
    "date",
    "(regexp_full_match({v}, '(19|20)[0-9]{6}') AND try_strptime({v}, '%Y%m%d') IS NOT NULL)",
    "CAST(try_strptime({v}, '%Y%m%d') AS DATE)",
    "DATE",
)
_CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "boolean",
        "boolean",
        "lower({v}) IN ('true', 'false')",
        "lower({v}) = 'true'",
        "BOOLEAN",
    ),
    _COMPACT,
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
        "iso date",
        "date",
        "(regexp_full_match({v}, '[0-9]{4}-[0-9]{2}-[0-9]{2}')"
        " AND try_cast({v} AS DATE) IS NOT NULL)",
        "CAST({v} AS DATE)",
        "DATE",
    ),
    Candidate(
        "iso datetime",
        "datetime",
        f"(regexp_full_match({{v}}, '{_MOMENT}')"
        " AND try_cast(rtrim({v}, 'Z') AS TIMESTAMP) IS NOT NULL)",
        "CAST(rtrim({v}, 'Z') AS TIMESTAMP)",
        "TIMESTAMP",
    ),
)


_HELD: Mapping[ColumnType, str] = {
    "integer": "BIGINT",
    "float": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}
"""The SQL types of columns that have no value, by the type that their format knows."""


def _filled(template: str, column: str) -> str:
    """Fill a test or a cast in for a column; patterns hold braces, so nothing else is replaced."""
    return template.replace("{v}", f"trim({column})")


class Aggregates:
    """Aggregates over the columns of a relation, some tens a statement.

    Args:
        connection: A database.
        source: The relation.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: str) -> None:
        self._connection, self._source = connection, source

    def ask(self, asked: Sequence[str]) -> list[Any]:
        """Return the value of each."""
        answers: list[Any] = []
        for batch in batches(asked):
            row = self._connection.execute(
                f"SELECT {', '.join(batch)} FROM {self._source}"
            ).fetchone()
            assert row is not None
            answers += row
        return answers


def find_columns(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    names: Sequence[str],
    known: Sequence[ColumnType | None],
    row_count: int,
) -> list[ColumnFinding]:
    """Find what each column is by its own values.

    Args:
        connection: A database.
        source: A relation of texts with columns c0, c1, ...
        names: The columns' names; one may say that whole numbers are dates.
        known: The types that the format knows.
        row_count: The rows.
    """
    found: list[ColumnFinding] = [TextColumn() for _ in known]
    aggregates = Aggregates(connection, source)
    for place, candidate in _passed(connection, aggregates, source, known).items():
        chosen = candidate
        if candidate is _COMPACT and not _is_dated(aggregates, place, names[place]):
            chosen = next(one for one in _CANDIDATES if one.name == "integer")
        found[place] = TypedColumn(chosen.type, chosen.sql_type, _filled(chosen.cast, f"c{place}"))
    rest = [
        place
        for place, kind in enumerate(known)
        if kind in (None, "float", "string") and isinstance(found[place], TextColumn)
    ]
    for place, shapes in _likely_shapes(connection, source, rest, row_count).items():
        found[place] = _finding(shapes, names[place], known[place])
    _type_empty(aggregates, known, found)
    return found


def _type_empty(
    aggregates: Aggregates, known: Sequence[ColumnType | None], found: list[ColumnFinding]
) -> None:
    """Give columns without a single value the types that their format knows."""
    held = {
        place: (kind, _HELD[kind])
        for place, kind in enumerate(known)
        if kind is not None and kind in _HELD and isinstance(found[place], TextColumn)
    }
    counts = aggregates.ask([f"count(c{place})" for place in held])
    for (place, (kind, sql_type)), count in zip(held.items(), counts, strict=True):
        if not count:
            found[place] = TypedColumn(kind, sql_type, f"CAST(c{place} AS {sql_type})")


def _passed(
    connection: duckdb.DuckDBPyConnection,
    aggregates: Aggregates,
    source: str,
    known: Sequence[ColumnType | None],
) -> dict[int, Candidate]:
    """Return the first candidate that every value of a column passes, for the columns with one."""
    likely = _likely_candidates(connection, source, known)
    passed: dict[int, Candidate] = {}
    # One after the other: the first that is likely passes nearly always, and spares the others.
    while tests := [(place, left.pop(0)) for place, left in likely.items() if left]:
        asked = [
            f"bool_and({_filled(one.test, f'c{place}')}) FILTER (WHERE c{place} IS NOT NULL)"
            for place, one in tests
        ]
        # NULL: the column has no value at all, and so no type.
        for (place, one), answer in zip(tests, aggregates.ask(asked), strict=True):
            if answer:
                passed[place] = one
                likely[place].clear()
    return passed


def _likely_candidates(
    connection: duckdb.DuckDBPyConnection, source: str, known: Sequence[ColumnType | None]
) -> dict[int, list[Candidate]]:
    """Return for each column the candidates that its values in the first rows pass.

    The sample is turned on its side, so that each test is planned once, not once a column:
    planning thousands of expressions takes far longer than running them.
    """
    likely = {
        place: [one for one in _CANDIDATES if kind in (None, one.type) and kind != "float"]
        for place, kind in enumerate(known)
    }
    selected = ", ".join(f"bool_and({_filled(one.test, 'v')})" for one in _CANDIDATES)
    sample = f"(SELECT * FROM {source} LIMIT {_SAMPLE_ROWS})"
    rows = connection.execute(
        f"SELECT c, {selected} FROM (UNPIVOT {sample} ON COLUMNS(*) INTO NAME c VALUE v) GROUP BY c"
    ).fetchall()
    # UNPIVOT leaves NULL out: a column without a value in the sample keeps all its candidates.
    for column, *answers in rows:
        place = int(str(column).removeprefix("c"))
        fitting = {one.name for one, answer in zip(_CANDIDATES, answers, strict=True) if answer}
        likely[place] = [one for one in likely[place] if one.name in fitting]
    return likely


def _is_dated(aggregates: Aggregates, place: int, name: str) -> bool:
    """Tell whether whole numbers that are all like 20240131 are dates."""
    if DateColumn.is_named_date(name):
        return True
    return bool(aggregates.ask([f"count(DISTINCT c{place}) >= {_MIN_COMPACT}"])[0])


def _likely_shapes(
    connection: duckdb.DuckDBPyConnection, source: str, places: Sequence[int], row_count: int
) -> dict[int, tuple[Shape, ...]]:
    """Return the shapes of those columns whose first rows are mostly numbers, or dates."""
    sample = f"(SELECT *, file_row_number FROM {source} LIMIT {_SAMPLE_ROWS})"
    first = shapes_of(connection, sample, places)
    likely = [place for place in places if _is_likely(first[place])]
    found = first if row_count <= _SAMPLE_ROWS else shapes_of(connection, source, likely)
    return {place: shapes for place in likely if (shapes := found[place])}


def _is_likely(shapes: Sequence[Shape] | None) -> bool:
    if shapes is None:
        return False
    return _text(shapes).is_likely


def _are_months(shapes: Sequence[Shape], name: str) -> bool:
    """Tell whether values are months of a year, by the name of their column and their form."""
    filled = [shape for shape in shapes if not shape.is_missing]
    are_formed = all(_MONTH.fullmatch(shape.text) is not None for shape in filled)
    return are_formed and _MONTH_NAME.fullmatch(name.strip()) is not None


def _text(shapes: Sequence[Shape]) -> TextColumn:
    """Return what is in a column that has texts."""
    filled = [shape for shape in shapes if not is_no_amount(shape)]
    numbers = [shape for shape in filled if number_form(shape) is not None]
    dates = [shape for shape in filled if date_form(shape) is not None]
    clocks = [shape for shape in filled if is_clock_time(shape)]
    most = numbers if len(numbers) > len(dates) else dates
    most = clocks if len(clocks) > len(most) else most
    first = min(clocks, key=lambda shape: shape.row, default=None)
    others = [shape for shape in filled if shape not in most]
    odd = min(others, key=lambda shape: shape.row, default=None)
    return TextColumn(
        sum(shape.count for shape in numbers),
        sum(shape.count for shape in dates),
        sum(shape.count for shape in filled),
        any(not is_number(shape) for shape in numbers),
        (odd.example, odd.row) if odd else None,
        _unlike_dates(dates) if most is dates and not odd else (),
        sum(shape.count for shape in clocks),
        first.example if first else "",
    )


def _unlike_dates(dates: Sequence[Shape]) -> tuple[str, ...]:
    """Return two dates that are not written alike, none where all are."""
    if len(dates) < 2:
        return ()
    first, *others = sorted(dates, key=lambda shape: shape.row)
    other = next((one for one in others if date_column((first, one)) is None), None)
    return () if other is None else (first.example, other.example)


def _finding(
    shapes: Sequence[Shape], name: str, known: ColumnType | None
) -> NumberColumn | DateColumn | TextColumn:
    """Return what a column is by its shapes."""
    numbers, dates = number_column(shapes), date_column(shapes)
    # Eight digits are a number, too; where the name says so, they are dates.
    if dates and known is None and (numbers is None or dates.is_named_date(name)):
        return dates
    if numbers and known != "string":
        if known is None and _are_months(shapes, name):
            fault = "by its name it holds months, of which 1.24 is one of a year"
            return msgspec.structs.replace(numbers, fault=fault)
        if known is None and numbers.is_marked and _VERSION_NAME.search(name):
            fault = "by its name it holds versions or sections, of which 1.10 is not 1.1"
            return msgspec.structs.replace(numbers, fault=fault)
        return numbers
    return _text(shapes)
