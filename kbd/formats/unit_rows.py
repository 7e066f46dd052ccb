"""Rows of units below a header (kg, EUR, in %): told by where they have texts, and where not."""

import re
from collections.abc import Collection, Sequence

from kbd.formats.cell_texts import MISSING_TEXTS

__all__ = ["COLUMN_NUMBERS", "UNITS", "has_units", "numbers_columns"]

UNITS = "units below the header"
COLUMN_NUMBERS = "numbers of the columns below the header"
"""What is left out below a header, as `TouchedRows` names it."""

_LEAST_ROWS = 2
_LEAST_COLUMNS = 3
_FIGURES = re.compile(r"(?<![0-9])(?:(?<=[^\W\d_])[23](?![0-9])|10{2,6}(?![0-9]))")
"""Figures of units: of squares and cubes, of CO2, and of thousands (1000 EUR)."""
_WORDS = frozenset(("unit", "units", "einheit", "einheiten", "unité", "unidad", "unità"))


def has_units(
    first: Sequence[str], rest: Sequence[Sequence[str]], figures: Collection[int]
) -> bool:
    """Tell whether the first row below a header has the units of the figures below it.

    It has a text without digits in each of their columns and nothing beside.

    Args:
        first: The row.
        rest: The rows below it.
        figures: The places of their columns that hold figures.
    """
    if len(rest) < _LEAST_ROWS or not figures or not all(map(_may_be_unit, first)):
        return False
    others = [place for place in range(len(first)) if place not in figures]
    units = [place for place in figures if place < len(first) and first[place].strip()]
    if not units or not all(_bare(first[place]) in ("", "-", *_WORDS) for place in others):
        return False
    # A blank field is a value that is missing, unless nothing names the row.
    names_none = all(_bare(first[place]) in ("", *_WORDS) for place in others)
    is_labeled = len(figures) < len(first) and any(
        field.strip() for row in rest for place, field in enumerate(row) if place not in figures
    )
    is_full = len(units) == len(figures) or (names_none and is_labeled)
    return is_full and not all(first[n].strip().lower() in MISSING_TEXTS for n in units)


def numbers_columns(
    first: Sequence[str], rest: Sequence[Sequence[str]], figures: Collection[int]
) -> bool:
    """Tell whether the first row below a header numbers the columns, as those of forms do.

    It counts from 1 over all of them, also above texts; the arguments as above.
    """
    counts = [field.strip() for field in first] == [str(n + 1) for n in range(len(first))]
    if not counts or len(first) < _LEAST_COLUMNS or len(rest) < _LEAST_ROWS:
        return False
    return any(
        place not in figures and any(row[place].strip() for row in rest)
        for place in range(len(first))
    )


def _may_be_unit(field: str) -> bool:
    return not re.search("[0-9]", _FIGURES.sub("", field))


def _bare(field: str) -> str:
    return field.strip().strip("()[]:").casefold()
