"""Plain rows of an untyped table between rows that may sum them up, as sums."""

from collections.abc import Sequence

import duckdb

from kbd_tables.duck import parquet_rows
from kbd_tables.total_rows import RowStretch

__all__ = ["stretches_of"]


def stretches_of(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    values: Sequence[str],
    rows: Sequence[int],
) -> list[RowStretch]:
    """Return what the rows before, between and after some rows come to.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        values: The SQL of each column of figures.
        rows: Those rows, in order, from 0.
    """
    selected = ", ".join(f"{value} AS v{n}" for n, value in enumerate(values))
    parts = ", ".join(
        f"count(v{n}), sum(v{n}), sum(abs(v{n})), min(v{n}), max(v{n})" for n in range(len(values))
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE marked_rows AS"
        " SELECT n, row_number() OVER (ORDER BY n) AS place FROM (SELECT unnest(?) AS n)",
        [list(rows)],
    )
    # One scan that keeps no rows: the candidates are few, and are looked up by their place.
    found = connection.execute(
        f"SELECT coalesce(place, 0) AS stretch, count(*), {parts}"
        f" FROM (SELECT file_row_number AS r, {selected} FROM {parquet_rows(raw, numbered=True)}"
        " WHERE file_row_number NOT IN (SELECT n FROM marked_rows))"
        " ASOF LEFT JOIN marked_rows ON r > n GROUP BY stretch"
    ).fetchall()
    by_place = {int(place): answer for place, *answer in found}
    width = len(values)
    empty = [0, *[0, 0, 0, None, None] * width]
    made = []
    for place in range(len(rows) + 1):
        answer = by_place.get(place, empty)
        cells = [answer[1 + 5 * n : 6 + 5 * n] for n in range(width)]
        made.append(
            RowStretch(
                answer[0],
                tuple(cell[0] for cell in cells),
                tuple(cell[1] or 0 for cell in cells),
                tuple(cell[2] or 0 for cell in cells),
                tuple(cell[3] for cell in cells),
                tuple(cell[4] for cell in cells),
            )
        )
    return made
