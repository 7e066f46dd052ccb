"""Sums of groups that stand above or below their rows as plain values: "North" and its shops.

Nothing labels them, so that the figures of the whole table have to tell: each row is the sum of a
group or in one, and half of the groups, of which there are several, have more than one figure. Or
the first row is the sum of all others ("World" above its continents). It is asked about, never
taken out.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb

from kbd_tables.duck import parquet_rows
from kbd_tables.total_notes import SummedColumn
from kbd_tables.total_rows import TELLING_DIGITS, Judged, TotalCandidate

__all__ = ["sums_of_groups"]

_LEAST_ROWS = 4
"""A sum and three rows; two groups of two rows and their sums are six."""
_MAX_ROWS = 20_000
_FEW_ROWS = 500
"""So few are read in less time than it takes to ask whether they have to be."""
_LEAST_GROUPS = 2
_SURE_GROUPS = 3
"""So many groups of two rows or more, with no row beside them, are no chance of any numbers."""
_LEAST_BELOW = 3
"""Rows below the sum of a whole table."""
_FEW_DIGITS, _LARGE = 2, 100
"""Of more rows the sum of a single column has two digits at least, and is no small number."""
_LEAST_SUM = 10
"""The sum of a group that is no chance."""
_PLACES = 9
"""Decimals to which doubles are compared."""

_Figures = tuple[Decimal, ...]


def sums_of_groups(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    figures: Sequence[int],
    judged: Sequence[Judged],
    count: int,
) -> list[Judged]:
    """Return the rows that sum those below them up, or those above, in a table of groups alone.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        columns: Its columns.
        figures: The places of those of figures.
        judged: The rows that something labels; those that sum others up are in no group.
        count: How many rows there are.
    """
    added = [n for n, place in enumerate(figures) if columns[place].is_additive]
    are_known = any(each.verdict in ("above", "below") for each in judged)
    if not _LEAST_ROWS <= count <= _MAX_ROWS or not added or are_known:
        return []
    texts = [n for n, each in enumerate(columns) if each.type == "string"]
    label = ", ".join(f"c{n}" for n in texts)
    labeled = {
        each.candidate.row
        for each in judged
        if each.verdict == "unsure" and each.candidate.label and each.candidate.label.is_whole
    }
    asked = columns[figures[added[0]]].value
    if count > _FEW_ROWS and not any(
        _may_begin(connection, raw, asked, labeled, is_below=is_below) for is_below in (False, True)
    ):
        return []
    read = connection.execute(
        f"SELECT file_row_number, {f'coalesce({label})' if texts else 'NULL'},"
        f" {', '.join(columns[n].value for n in figures)}"
        f" FROM {parquet_rows(raw, numbered=True)} ORDER BY 1"
    ).fetchall()
    rows = [row for row in read if row[0] not in labeled]
    values = [tuple(_exact(row[2 + n]) for n in added) for row in rows]
    known = {each.candidate.row for each in judged if each.verdict == "unsure"}
    return [
        _judged(rows[place], (rows[low][0], rows[high][0]), added)
        for place, low, high in _sums(values)
        if rows[place][0] not in known
    ]


def _sums(values: Sequence[_Figures]) -> list[tuple[int, int, int]]:
    """Return where the sums are, each with the first and the last of its rows."""
    groups = _groups(values)
    if groups is None and _heads_all(values):
        groups = [(0, len(values) - 1)]
    if groups is not None:
        return [(first, first + 1, last) for first, last in groups]
    end = len(values) - 1
    below = _groups(values[::-1]) or []
    return [(end - first, end - last, end - first - 1) for first, last in reversed(below)]


def _may_begin(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    value: str,
    labeled: set[int],
    *,
    is_below: bool,
) -> bool:
    """Tell whether the first row is what some below it come to, or else the second one.

    Nearly all tables are done with by this, without a row of them in Python.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        value: The SQL of a column.
        labeled: Rows that are passed over.
        is_below: Whether sums stand below their rows: then it is the last rows, from the end.
    """
    step = "-file_row_number" if is_below else "file_row_number"
    out = ", ".join(map(str, sorted(labeled))) or "-1"
    typed = f"coalesce(CAST({value} AS DOUBLE), 0)"
    rows = f"FROM {parquet_rows(raw, numbered=True)} WHERE file_row_number NOT IN ({out})"
    firsts = connection.execute(f"SELECT {typed}, {step} {rows} ORDER BY {step} LIMIT 2").fetchall()
    if len(firsts) < 2:
        return False
    (first, _), (second, place) = firsts
    running = f"sum({typed}) OVER (ORDER BY {step} ROWS UNBOUNDED PRECEDING)"

    def comes_to(wanted: float) -> str:
        # By doubles, so roughly: the rows themselves tell.
        exact = f"CAST('{wanted!r}' AS DOUBLE)"
        return f"abs(total - {exact}) <= 1e-6 * (1 + abs({exact}))"

    found = connection.execute(
        f"SELECT count(*) FROM (SELECT {step} AS r, {running} AS total {rows}) WHERE"
        f" (r >= {place} AND {comes_to(2 * first)})"
        f" OR (r > {place} AND {comes_to(first + 2 * second)})"
    ).fetchone()
    assert found is not None, "an aggregate has one row"
    return bool(found[0])


def _judged(row: Sequence[Any], below: tuple[int, int], added: Sequence[int]) -> Judged:
    candidate = TotalCandidate(
        row[0],
        str(row[1] or ""),
        None,
        tuple(row[2:]),
        is_bare=False,
        is_alike=False,
        has_others=True,
        is_outer=row[0] == 0,
    )
    return Judged(candidate, "unsure", (below,), tuple(n for n in added if row[2 + n] is not None))


def _exact(value: Any) -> Decimal:
    if value is None:
        return Decimal()
    return round(Decimal(value), _PLACES) if isinstance(value, float) else Decimal(value)


def _groups(values: Sequence[_Figures]) -> list[tuple[int, int]] | None:
    """Return the first and the last row of each group, the sum first; None if not all are in one.

    With the sum of all of them above, if there is one: it is a group of all rows.
    """
    whole = _in_a_row(values, 0)
    if whole is not None:
        return whole
    parts = _in_a_row(values, 1)
    if parts is None or _sum([values[first] for first, _ in parts]) != values[0]:
        return None
    return [(0, len(values) - 1), *parts]


def _heads_all(values: Sequence[_Figures]) -> bool:
    """Tell whether the first row is the sum of all others, and that is no chance.

    It is that of several columns, or to some digits; what two rows come to may be their own.
    """
    first, below = values[0], values[1:]
    if len(below) < _LEAST_BELOW or _sum(below) != first:
        return False
    digits = [re.sub("[^0-9]", "", f"{each:f}").strip("0") for each in first if each]
    is_large = len(below) > _LEAST_BELOW and abs(max(first, key=abs)) >= _LARGE
    are_several = sum(abs(each) >= _LEAST_SUM for each in first) > 1
    least = _FEW_DIGITS if is_large else TELLING_DIGITS
    return are_several or max(map(len, digits), default=0) >= least


def _in_a_row(values: Sequence[_Figures], start: int) -> list[tuple[int, int]] | None:
    """Return groups next to each other from a row to the end; None if a row is in none."""
    found: list[tuple[int, int]] = []
    place = start
    while place < len(values):
        if not any(values[place]):
            # A row of zeros behind a group is one of its rows.
            if not found:
                return None
            found[-1] = (found[-1][0], place)
            place += 1
            continue
        last = _last_of(values, place)
        if last is None:
            return None
        found.append((place, last))
        place = last + 1
    # Of one figure that is there twice either may be a row: flags of 1 are all the sum of the next.
    larger = [first for first, last in found if sum(map(any, values[first + 1 : last + 1])) > 1]
    # Of small numbers in one column many come to others by chance.
    are_telling = any(abs(each) >= _LEAST_SUM for first in larger for each in values[first])
    are_telling = are_telling or _SURE_GROUPS <= len(larger) == len(found)
    if not (are_telling or len(values[0]) > 1):
        return None
    return found if len(larger) >= max(_LEAST_GROUPS, len(found) / 2) else None


def _last_of(values: Sequence[_Figures], first: int) -> int | None:
    """Return the row up to which those below a row come to it."""
    total = [Decimal()] * len(values[first])
    for place in range(first + 1, len(values)):
        total = [one + other for one, other in zip(total, values[place], strict=True)]
        if tuple(total) == values[first]:
            return place
    return None


def _sum(values: Sequence[_Figures]) -> _Figures:
    return tuple(sum(column, Decimal()) for column in zip(*values, strict=True))
