"""Blanks around the values of a table: taken off its texts, counted, and told.

"Food" and "Food " look alike to everybody; as two values they would be two groups. Most columns
have none, which costs one look; only the others are trimmed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from kbd.formats import TableReading, TouchedRows
from kbd_tables.duck import parquet_rows, quoted_text

__all__ = ["blank_edges", "told_of_blanks", "trimmed"]

# As `str.strip` has them, and the marks that no one sees at the ends of what was copied.
_ODD = "".join(map(chr, (
    *range(0x09, 0x0E), *range(0x1C, 0x20), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x2028,
    0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF,
)))  # fmt: skip
_BLANKS = f" {_ODD}"
_MAX_SHOWN = 10
_SHOWN_CHARACTERS = 80
_BATCH = 50


def blank_edges(
    connection: duckdb.DuckDBPyConnection, raw: str, width: int, read_as: Mapping[str, Any]
) -> frozenset[int]:
    """Return the columns in which a value may have blanks around it.

    Args:
        connection: Where the work is done.
        raw: The Parquet of texts, columns c0, c1, ...
        width: How many there are.
        read_as: How the table is to be read: a plain `ReadAs`.
    """
    if read_as.get("blanks") == "keep":
        return frozenset()
    found: set[int] = set()
    odd = quoted_text(f"[{_ODD}]")
    for start in range(0, width, _BATCH):
        numbers = range(start, min(start + _BATCH, width))
        parts = ", ".join(
            # Other blanks than the common one are rare: that they are anywhere is all that is
            # asked, which takes a tenth of trimming them.
            f"bool_or(prefix(c{n}, ' ') OR suffix(c{n}, ' ') OR regexp_matches(c{n}, {odd}))"
            for n in numbers
        )
        answer = connection.execute(f"SELECT {parts} FROM {parquet_rows(raw)}")
        row = answer.fetchone() or ()
        found.update(n for n, has_any in zip(numbers, row, strict=True) if has_any)
    return frozenset(found)


def trimmed(column: int, edges: frozenset[int]) -> str:
    """Return the SQL of a text without blanks around it, NULL where nothing is left.

    Args:
        column: The number of the column.
        edges: The columns that have any.
    """
    return f"nullif({_bare(column)}, '')" if column in edges else f"c{column}"


def _bare(column: int) -> str:
    return f"trim(c{column}, {quoted_text(_BLANKS)})"


def told_of_blanks(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    texts: Sequence[int],
    reading: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a plain `TableReading` that tells how many rows had blanks around a text.

    Args:
        connection: Where the work is done.
        raw: The Parquet of texts, columns c0, c1, ...
        texts: The columns that are texts and may have any.
        reading: How the table was read so far.
    """
    if not texts:
        return dict(reading)
    told = msgspec.convert(reading, TableReading)
    parts = [f"coalesce(c{n} <> {_bare(n)}, false)" for n in texts]
    # In portions, for planning thousands of expressions takes longer than running them.
    any_ = " OR ".join(
        f"({' OR '.join(parts[start : start + _BATCH])})" for start in range(0, len(parts), _BATCH)
    )
    source = parquet_rows(raw, numbered=True)
    found = connection.execute(
        f"SELECT count(*), min(file_row_number) FROM {source} WHERE {any_}"
    ).fetchone()
    count, first = found or (0, None)
    if not count:
        return dict(reading)
    rows = connection.execute(
        f"SELECT file_row_number FROM {source} WHERE {any_} LIMIT {_MAX_SHOWN}"
    ).fetchall()
    shown = connection.execute(
        f"SELECT {', '.join(f'c{n}' for n in texts)} FROM {source} WHERE file_row_number = {first}"
    ).fetchone()
    sample = next(
        value for value in shown or () if value is not None and value != value.strip(_BLANKS)
    )
    touched = TouchedRows(
        "blanks around texts taken off",
        count,
        tuple(told.header_row + 1 + int(row) for (row,) in rows),
        repr(sample)[:_SHOWN_CHARACTERS],
    )
    told = msgspec.structs.replace(told, repaired=(*told.repaired, touched))
    return dict(msgspec.to_builtins(told))
