"""Blanks around the values of a table: taken off its texts, counted, and told.

"Food" and "Food " look alike to everybody; as two values they would be two groups.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from kbd.formats import TableReading, TouchedRows
from kbd_tables.duck import quoted_text

__all__ = ["told_of_blanks", "trimmed"]

# As `str.strip` has them, and the marks that no one sees at the ends of what was copied.
_BLANKS = "".join(map(chr, (
    *range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x2028,
    0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF,
)))  # fmt: skip
_MAX_SHOWN = 10
_SHOWN_CHARACTERS = 80
_BATCH = 50


def trimmed(column: str, read_as: Mapping[str, Any]) -> str:
    """Return the SQL of a text without blanks around it, NULL where nothing is left.

    Args:
        column: The SQL of the text.
        read_as: How the table is to be read: a plain `ReadAs`.
    """
    if read_as.get("blanks") == "keep":
        return column
    return f"nullif({_bare(column)}, '')"


def _bare(column: str) -> str:
    return f"trim({column}, {quoted_text(_BLANKS)})"


def told_of_blanks(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    texts: Sequence[int],
    read_as: Mapping[str, Any],
    reading: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a plain `TableReading` that tells how many rows had blanks around a text.

    Args:
        connection: Where the work is done.
        raw: The Parquet of texts, columns c0, c1, ...
        texts: The numbers of the columns that are texts.
        read_as: How the table is to be read: a plain `ReadAs`.
        reading: How it was read so far.
    """
    if read_as.get("blanks") == "keep" or not texts:
        return dict(reading)
    told = msgspec.convert(reading, TableReading)
    parts = [f"coalesce(c{n} <> {_bare(f'c{n}')}, false)" for n in texts]
    # In portions, for planning thousands of expressions takes longer than running them.
    any_ = " OR ".join(
        f"({' OR '.join(parts[start : start + _BATCH])})" for start in range(0, len(parts), _BATCH)
    )
    source = f"read_parquet({quoted_text(raw)}, file_row_number = true)"
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
    sample = next(value for value in shown or () if value is not None and value != value.strip(_BLANKS))
    touched = TouchedRows(
        "blanks around texts taken off",
        count,
        tuple(told.header_row + 1 + int(row) for (row,) in rows),
        repr(sample)[:_SHOWN_CHARACTERS],
    )
    told = msgspec.structs.replace(told, repaired=(*told.repaired, touched))
    return dict(msgspec.to_builtins(told))
