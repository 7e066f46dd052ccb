"""Rows that sum others up although nothing labels them: where they are, and which to ask about."""

from collections.abc import Callable, Collection, Mapping, Sequence

import duckdb

from kbd_tables.duck import parquet_rows
from kbd_tables.total_rows import Judged

__all__ = ["filled_sql", "is_odd_last", "unlabeled_rows", "with_unlabeled"]

_MAX_BARE = 1_000
_LEAST_KEYS = 2
_LEAST_GAPS = 2
_GAPS_SHARE = 0.8
"""So many of the rows with a gap are sums, if that is what the gap says."""
_GAPS = "'null', '(null)', '<null>', '\\n'"
"""What databases write in place of a gap (NULL, and \\N of MySQL), in small letters."""


def filled_sql(place: int) -> str:
    """Return the SQL of what a column of texts has, NULL also where a database wrote that word."""
    return f"(CASE WHEN lower(trim(c{place})) NOT IN ({_GAPS}) THEN c{place} END)"


def unlabeled_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    others: Sequence[int],
    texts: Sequence[int],
    figures: Sequence[int],
    count: int,
    numbers: Sequence[int] = (),
) -> dict[int, str]:
    """Return rows that may sum others up although nothing labels them, with the texts they have.

    The last row, whose label may be a word of any language; and those that say what the row above
    them says, with a gap where it says more, as the sums of groups have it that databases make.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        others: The columns that are no figures.
        texts: Those of them that are texts.
        figures: The columns of figures.
        count: How many rows there are.
        numbers: Those of the columns of figures that name rows as texts do: years, months.
    """
    source = parquet_rows(raw, numbered=True)
    shown = connection.execute(
        f"SELECT {', '.join(f'c{n}' for n in others) or 'NULL'} FROM {source}"
        f" WHERE file_row_number = {count - 1}"
    ).fetchone()
    found = {count - 1: next((str(value) for value in shown or () if value is not None), "")}
    keys = [*texts, *numbers]
    amounts = [n for n in figures if n not in numbers]
    if len(keys) < _LEAST_KEYS or not amounts:
        return found
    own = {n: filled_sql(n) for n in keys}
    above = {n: f"lag({own[n]}) OVER (ORDER BY file_row_number)" for n in keys}
    same = " AND ".join(f"({own[n]} IS NULL OR {own[n]} = {above[n]})" for n in keys)
    less = " OR ".join(f"({own[n]} IS NULL AND {above[n]} IS NOT NULL)" for n in keys)
    filled = " OR ".join(f"{own[n]} IS NOT NULL" for n in keys)
    added = " OR ".join(f"c{n} IS NOT NULL" for n in amounts)
    rows = connection.execute(
        f"SELECT r FROM (SELECT file_row_number AS r, ({same}) AND ({less}) AND ({filled})"
        f" AND ({added}) AS is_gap FROM {source})"
        f" WHERE is_gap LIMIT {_MAX_BARE + 1}"
    ).fetchall()
    gaps = {int(row): "" for (row,) in rows}
    return {**found, **gaps} if len(gaps) <= min(_MAX_BARE, count // 2) else found


def is_odd_last(
    connection: duckdb.DuckDBPyConnection, raw: str, texts: Sequence[int], count: int
) -> bool:
    """Tell whether the last row has a text where all rows above have one and the same other one.

    So has a trailer record, whose code is that of no other.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        texts: The columns of texts.
        count: How many rows there are.
    """
    if not texts:
        return False
    above = f"FILTER (WHERE file_row_number < {count - 1})"
    last = f"FILTER (WHERE file_row_number = {count - 1})"
    parts = " OR ".join(
        f"(count(c{n}) {above} = {count - 1} AND min(c{n}) {above} = max(c{n}) {above}"
        f" AND min(c{n}) {last} <> min(c{n}) {above})"
        for n in texts
    )
    found = connection.execute(
        f"SELECT coalesce({parts}, false) FROM {parquet_rows(raw, numbered=True)}"
    ).fetchone()
    assert found is not None, "an aggregate has one row"
    return bool(found[0])


def with_unlabeled(
    judged: list[Judged],
    again: Sequence[Judged],
    more: Mapping[int, str],
    last: int,
    added: Collection[int],
    is_odd: Callable[[], bool],
) -> list[Judged]:
    """Add the rows that nothing labels and that sum others up by their figures to those judged.

    Args:
        judged: The rows that something labels.
        again: The same with the others.
        more: Those that nothing labels, with their texts; some may have been judged before.
        last: The last row of the table.
        added: The columns of figures that add up.
        is_odd: Tells whether that is unlike all others, so that it takes less to be no chance.
    """
    known = {each.candidate.row for each in judged}
    # Without a text beside its figures nothing of a row says more than those around it.
    gaps = [
        each
        for each in again
        if each.candidate.row in more
        and (each.candidate.is_alike or each.candidate.is_bare)
        and each.verdict in ("unsure", "row")
    ]
    agreeing = [each for each in gaps if each.verdict == "unsure"]
    if len(agreeing) >= _LEAST_GAPS and len(agreeing) >= _GAPS_SHARE * len(gaps):
        rest = known | {row.candidate.row for row in agreeing}
        return [each for each in again if each.candidate.row in rest]
    found = (each for each in again if each.candidate.row == last and last in {*more} - known)
    unsure = [each for each in found if each.verdict == "unsure"]
    return [
        *judged,
        *(each for each in unsure if each.is_no_chance(added) or (each.columns and is_odd())),
    ]
