"""Rows of medians, deviations and variances: whether their figures are those of the rows above."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import duckdb
import msgspec

from kbd_tables.duck import parquet_rows
from kbd_tables.total_rows import SPREADS, TotalCandidate

__all__ = ["with_spreads"]

_MAX_ROWS = 20
"""Rows of such statistics that are compared; more are not what ends a table."""
_FUNCTIONS = {
    "median": ("median",),
    "deviation": ("stddev_samp", "stddev_pop"),
    "variance": ("var_samp", "var_pop"),
}
"""What a label may mean: of a sample, or of all."""
_RELATIVE_ERROR = Decimal("1e-9")


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
        candidates: The rows in question; what is compared is the plain rows above.
    """
    asked = [each for each in candidates if each.label and each.label.kind in SPREADS]
    if not asked or len(asked) > _MAX_ROWS:
        return [*candidates]
    rows = [each.row for each in candidates]
    connection.execute("CREATE OR REPLACE TEMP TABLE known_rows AS SELECT unnest(?) AS n", [rows])
    found = {}
    for candidate in asked:
        assert candidate.label is not None, "it was asked for by its label"
        functions = _FUNCTIONS[candidate.label.kind]
        parts = ", ".join(
            f"{function}(CAST({value} AS DOUBLE))" for value in values for function in functions
        )
        answers = connection.execute(
            f"SELECT {parts} FROM {parquet_rows(raw, numbered=True)} WHERE file_row_number <"
            f" {candidate.row} AND file_row_number NOT IN (SELECT n FROM known_rows)"
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
