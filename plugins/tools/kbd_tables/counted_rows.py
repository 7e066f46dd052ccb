"""Rows whose label says how many rows they sum up: "Items: 3" or "3 rows" below three of them."""

from collections.abc import Sequence

import duckdb

from kbd.formats import COUNT_PATTERN, count_label
from kbd_tables.duck import parquet_rows, quoted_text

__all__ = ["counted_rows"]

_MAX_ROWS = 60
_SHARE = 1 / 3
"""As many of a column's values look like such labels, if that is what its rows are called."""
_CHARACTERS = 40


def counted_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    texts: Sequence[int],
    figures: Sequence[int],
    count: int,
) -> dict[int, str]:
    """Return the rows with such a label and a figure, each with its text.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        texts: The columns of texts.
        figures: The columns of figures.
        count: How many rows there are.
    """
    found: dict[int, str] = {}
    filled = " OR ".join(f"c{n} IS NOT NULL" for n in figures)
    for column in texts:
        rows = connection.execute(
            f"SELECT file_row_number, c{column}, ({filled})"
            f" FROM {parquet_rows(raw, numbered=True)} WHERE length(c{column}) <= {_CHARACTERS}"
            f" AND regexp_matches(c{column}, {quoted_text(COUNT_PATTERN)}) LIMIT {_MAX_ROWS + 1}"
        ).fetchall()
        if len(rows) > min(_MAX_ROWS, _SHARE * count):
            continue
        for row, text, has_figure in rows:
            if has_figure and count_label(text) is not None:
                found.setdefault(int(row), text)
    return found
