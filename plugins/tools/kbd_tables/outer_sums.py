"""Sums of all other rows in the first or the last row that nothing labels as such.

They have a gap where every other row says something: an export of advertisements begins with a row
without a campaign, and a printed list ends with one whose label is a word of its own. Some of its
figures may be no sums: rates, and those that count a person once. It is asked about, never taken
out.
"""

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import msgspec

from kbd_tables.duck import parquet_rows
from kbd_tables.total_notes import SummedColumn
from kbd_tables.total_rows import Judged, TotalCandidate

__all__ = ["outer_sums"]

_LEAST_ROWS = 2
_SURE_ROWS = 3
"""Of so many rows one figure that agrees, below a gap, is no chance; of fewer it has digits."""
_PLACES = 9
"""Decimals to which doubles are compared."""


class _Rest(msgspec.Struct, frozen=True):
    """What the other rows have in a column: how many values, their sum, the least, the greatest."""

    count: int
    total: Any
    low: Any
    high: Any


def outer_sums(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    figures: Sequence[int],
    judged: Sequence[Judged],
    count: int,
) -> list[Judged]:
    """Return the first and the last row where they are such sums, to be asked about.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        columns: Its columns.
        figures: The places of those of figures.
        judged: The rows that were judged; those that sum others up, or may, are passed over.
        count: How many rows there are.
    """
    known = {each.candidate.row for each in judged if each.verdict != "row"}
    ends = [row for row in (0, count - 1) if row not in known]
    if count <= _LEAST_ROWS or not ends:
        return []
    values = [_value(each, place) for place, each in enumerate(columns)]
    listed = ", ".join(values)
    source = f"FROM {parquet_rows(raw, numbered=True)}"
    rows = connection.execute(
        f"SELECT file_row_number, {listed} {source} WHERE file_row_number IN"
        f" ({', '.join(map(str, ends))}) ORDER BY 1"
    ).fetchall()
    found = []
    for row, *own in rows:
        # The rest is read for few rows: most have no gap.
        gaps = [n for n, value in enumerate(own) if value is None]
        if row == 0:
            gaps = [n for n in gaps if n not in figures]
        if not gaps or not any(own[n] for n in figures):
            continue
        out = ", ".join(map(str, sorted({*known, row})))
        parts = ", ".join(
            f"count({value}), {f'sum({value})' if n in figures else 'NULL'},"
            f" min({value}), max({value})"
            for n, value in enumerate(values)
        )
        counts = connection.execute(
            f"SELECT count(*), {parts} {source} WHERE file_row_number NOT IN ({out})"
        ).fetchone()
        assert counts is not None, "an aggregate has one row"
        rest = [_Rest(*counts[place : place + 4]) for place in range(1, len(counts), 4)]
        is_gap = any(rest[n].count == counts[0] for n in gaps)
        if counts[0] < _LEAST_ROWS or not is_gap:
            continue
        others = [n for n in range(len(columns)) if n not in figures and own[n] is not None]
        unlike = [n for n in others if not _is_of_all(own[n], rest[n], counts[0])]
        if len(unlike) <= 1:
            label = str(own[unlike[0]]) if unlike else ""
            one = _judged(row, label, own, rest, columns, figures)
            if _is_sum(one, own, rest, columns, figures, counts[0]):
                found.append(one)
    return found


def _value(column: SummedColumn, place: int) -> str:
    """Return the SQL of a column's values: texts without the blanks around them."""
    return f"nullif(trim(c{place}), '')" if column.type == "string" else column.value


def _is_of_all(own: Any, rest: _Rest, rows: int) -> bool:
    """Tell whether a field says what all rows say, an end of their dates, or how many they are."""
    is_date = not isinstance(own, str)
    ends = (rest.low, rest.high) if is_date or rest.low == rest.high else ()
    return own in ends or own == str(rows)


def _judged(
    row: int,
    label: str,
    own: Sequence[Any],
    rest: Sequence[_Rest],
    columns: Sequence[SummedColumn],
    figures: Sequence[int],
) -> Judged:
    """Return a row as one to ask about, with the columns in which it is the sum of the others."""
    agreeing = tuple(
        n
        for n, place in enumerate(figures)
        if columns[place].is_additive
        and own[place]
        and rest[place].count >= _LEAST_ROWS
        and _exact(own[place]) == _exact(rest[place].total)
    )
    candidate = TotalCandidate(
        row,
        label,
        None,
        tuple(own[place] for place in figures),
        is_bare=not label,
        is_alike=False,
        has_others=True,
        is_outer=True,
    )
    return Judged(candidate, "unsure", columns=agreeing)


def _is_sum(
    one: Judged,
    own: Sequence[Any],
    rest: Sequence[_Rest],
    columns: Sequence[SummedColumn],
    figures: Sequence[int],
    rows: int,
) -> bool:
    """Tell whether a row is the sum of others by figures that are no chance.

    What differs is between the least and the greatest, as an average is, or between the greatest
    and the sum, as a count of those who are in several rows is; or more than one column tells.
    """
    if not one.columns:
        return False
    agreeing: Collection[int] = {figures[n] for n in one.columns}
    differing = [
        place
        for place in figures
        if place not in agreeing
        and columns[place].is_additive
        and own[place] is not None
        and rest[place].count
        and not rest[place].low == rest[place].high == own[place]
    ]
    is_no_chance = one.is_no_chance(one.columns)
    if not differing:
        return rows >= _SURE_ROWS or is_no_chance
    are_within = all(rest[n].low <= own[n] <= max(rest[n].high, rest[n].total) for n in differing)
    return is_no_chance and (are_within or len(agreeing) > 1)


def _exact(value: Any) -> Decimal:
    return round(Decimal(value), _PLACES) if isinstance(value, float) else Decimal(value or 0)
