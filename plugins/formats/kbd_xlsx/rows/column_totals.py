"""Totals of written columns: the formula below them, and what it comes to.

The figure is stored with the formula, for readers that do not calculate. So it is made of what a
sheet holds of the values, and refused where that is not all of them.
"""

import math
import re
from array import array
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any, assert_never

from kbd.errors import ValidationFailed
from kbd.formats import Column, TotalFunction
from kbd.sheets.areas import column_letters
from kbd_xlsx.rows.total_row import sheet_number

__all__ = ["MOMENTS", "NUMBERS", "ColumnTotal"]

NUMBERS = frozenset(("integer", "float"))
"""Types of columns that are numbers."""
MOMENTS = frozenset(("date", "datetime"))
"""Types of columns that are dates, as a sheet has them."""

_FUNCTIONS: Mapping[TotalFunction, str] = MappingProxyType(
    {"sum": "SUM", "average": "AVERAGE", "minimum": "MIN", "maximum": "MAX", "count": "COUNTA"}
)
_HELD_MOMENT = re.compile(r"(?:19(?!0[0-3])|2\d)\d\d-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?")
"""A date that every sheet holds as one, whichever day it counts from: from 1904, without a zone."""
_EXACT_DIGITS = 15


class ColumnTotal:
    """Total of a column, which sees its values one by one.

    Args:
        function: How it is made.
        column: The column.

    Raises:
        ValidationFailed: Such values have no such total.
    """

    def __init__(self, function: TotalFunction, column: Column) -> None:
        self.function, self.column = function, column
        of_moments = function in ("minimum", "maximum") and column.type in MOMENTS
        if function != "count" and column.type not in NUMBERS and not of_moments:
            raise ValidationFailed(
                f"a total cannot be the {function} of column {column.name}, which holds "
                f"{column.type or 'text'}s; only count can"
            )
        self._count = 0
        self._exact, self._floats = Decimal(0), array("d")
        self._least: Any = None
        self._most: Any = None

    @property
    def is_of_moments(self) -> bool:
        """Whether it is a date."""
        return self.function != "count" and self.column.type in MOMENTS

    def see(self, value: Any) -> None:
        """Take a value into account; None is an empty cell.

        Raises:
            ValidationFailed: A sheet holds it as a text, which its formula passes over.
        """
        if value is None:
            return
        self._count += 1
        if self.function == "count":
            return
        if self.is_of_moments:
            known = value if _HELD_MOMENT.fullmatch(str(value)) else None
        else:
            known = sheet_number(value)
        if known is None:
            raise ValidationFailed(
                f"column {self.column.name} holds {str(value)[:40]}, which a sheet keeps as a text "
                f"only, so a formula for its {self.function} would leave that out: leave the total "
                "out, or round the column"
            )
        if self.function in ("minimum", "maximum"):
            self._least = known if self._least is None else min(self._least, known)
            self._most = known if self._most is None else max(self._most, known)
        elif isinstance(known, float):
            self._floats.append(known)
        else:
            self._exact += known

    def formula(self, first: int, last: int, column: int) -> str:
        """Return the formula over some rows of a column, without its sign."""
        letters = column_letters(column)
        return f"{_FUNCTIONS[self.function]}({letters}{first}:{letters}{last})"

    def result(self) -> int | float | str | None:
        """Return what it comes to: a number, a date as ISO text, None where no value is there."""
        match self.function:
            case "count":
                return self._count
            case "sum":
                return _plain(self._sum())
            case "average":
                return None if not self._count else float(self._sum()) / self._count
            case "minimum":
                return _plain(self._least)
            case "maximum":
                return _plain(self._most)
            case other:
                assert_never(other)

    def _sum(self) -> Decimal | float:
        if not self._floats:
            return self._exact
        try:
            return math.fsum((*self._floats, float(self._exact)))
        except OverflowError:
            raise ValidationFailed(
                f"the {self.function} of column {self.column.name} is more than a cell can hold: "
                "leave the total out"
            ) from None


def _plain(figure: Any) -> int | float | str | None:
    """Return a figure as a plain value; a decimal without decimals as an integer."""
    if not isinstance(figure, Decimal):
        return figure  # type: ignore[no-any-return]
    if figure == figure.to_integral_value() and figure.adjusted() < _EXACT_DIGITS:
        return int(figure)
    return float(figure)
