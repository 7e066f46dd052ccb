"""Plain rows of an untyped table between rows that may sum them up: sums, medians, deviations."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb
import msgspec

from kbd_tables.duck import parquet_rows
from kbd_tables.total_rows import SPREADS, RowStretch, TotalCandidate

__all__ = ["stretches_of", "with_spreads"]

_MAX_ROWS = 20
"""Rows of such statistics that are compared; more are not what ends a table."""
_FUNCTIONS = {
    "median": ("median",),
    "deviation": ("stddev_samp", "stddev_pop"),
    "variance": ("var_samp", "var_pop"),
}
"""What a label may mean: of a sample, or of all."""
_RELATIVE_ERROR = Decimal("1e-9")


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


def with_spreads(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    values: Sequence[str],
    candidates: Sequence[TotalCandidate],
) -> list[TotalCandidate]:
    """Return candidates, those of such statistics with the columns in which they agree.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        values: The SQL of each column of figures.
        candidates: The rows in question, of which `stretches_of` was told; what is compared is the
            plain rows above.
    """
    asked = [each for each in candidates if each.label and each.label.kind in SPREADS]
    if not asked or len(asked) > _MAX_ROWS:
        return [*candidates]
    found = {}
    for candidate in asked:
        assert candidate.label is not None, "it was asked for by its label"
        functions = _FUNCTIONS[candidate.label.kind]
        parts = ", ".join(
            f"{function}(CAST({value} AS DOUBLE))" for value in values for function in functions
        )
        answers = connection.execute(
            f"SELECT {parts} FROM {parquet_rows(raw, numbered=True)} WHERE file_row_number <"
            f" {candidate.row} AND file_row_number NOT IN (SELECT n FROM marked_rows)"
        ).fetchone()
        assert answers is not None, "an aggregate has one row"
        width = len(functions)
        found[candidate.row] = tuple(
            place
            for place, figure in enumerate(candidate.figures)
            if figure is not None
            and any(_is_near(figure, one) for one in answers[width * place : width * (place + 1)])
        )
    return [
        msgspec.structs.replace(each, spread=found[each.row]) if each.row in found else each
        for each in candidates
    ]


def _is_near(figure: Any, exact: float | None) -> bool:
    """Tell whether a figure is a statistic in the digits that it has."""
    if exact is None:
        return False
    shown = Decimal(repr(figure) if isinstance(figure, float) else figure)
    exponent = shown.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return abs(shown - Decimal(exact)) <= step / 2 + abs(shown) * _RELATIVE_ERROR
