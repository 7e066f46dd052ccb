"""Rows and columns of the search for totals, as its parts hand them on. Pure."""

import re
from collections.abc import Collection
from decimal import Decimal
from typing import Literal

import msgspec

from kbd.formats import AggregateRow, TotalLabel, is_rate_name

__all__ = [
    "SPREADS",
    "TELLING_DIGITS",
    "Judged",
    "Number",
    "RowStretch",
    "TotalCandidate",
    "TotalsColumn",
    "Verdict",
]

Number = int | float | Decimal

SPREADS = ("median", "deviation", "variance")
"""Statistics that no sums tell: the rows themselves are asked, see `row_stretches`."""
_STATISTICS = ("minimum", "maximum", "count", *SPREADS)
TELLING_DIGITS = 4
"""A figure of so many digits is that of other rows by chance once in thousands of tables."""

_NOT_ADDED_WORDS = """
id ids no nr num number year jahr año anno année rok code zip plz postcode phone rate rates price
prices preis preise prix precio prezzo percent percentage pct prozent share anteil part average avg
mean durchschnitt ratio quote quota age rank index month monat day week temperature temp lat lon bal
latitude longitude margin marge balance saldo utilization utilisation usage growth score rating
yield efficiency progress completion
"""
_NOT_ADDED = frozenset(_NOT_ADDED_WORDS.split())


class TotalsColumn(msgspec.Struct, frozen=True):
    """A column of figures: its name, and whether it holds whole numbers, times or percents."""

    name: str
    is_whole: bool = False
    is_time: bool = False
    is_percent: bool = False

    @property
    def is_additive(self) -> bool:
        """Whether sums of it make sense: not of rates, prices, years or ids."""
        if self.is_time or self.is_percent or is_rate_name(self.name):
            return False
        words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", self.name))
        return not _NOT_ADDED & {word.casefold() for word in words}


class RowStretch(msgspec.Struct, frozen=True):
    """Plain rows next to each other.

    Args:
        rows: How many.
        counts: How many values each column has.
        sums: Their sum.
        sizes: The sum of their sizes.
        lows: The least of them; None where there is none.
        highs: The greatest.
    """

    rows: int
    counts: tuple[int, ...]
    sums: tuple[Number, ...]
    sizes: tuple[Number, ...]
    lows: tuple[Number | None, ...] = ()
    highs: tuple[Number | None, ...] = ()


class TotalCandidate(msgspec.Struct, frozen=True):
    """A row that may sum others up.

    Args:
        row: Its place among the rows, from 0.
        text: What labels it, "" for nothing.
        label: What that says, None without a label.
        figures: Its value in each column of figures.
        is_bare: Whether none of its other fields is filled.
        is_alike: Whether those that are filled say what a row beside it says.
        has_others: Whether the table has other fields at all.
        others: The texts of its other fields.
        is_outer: Whether it is the first or the last row.
        formula: What its own formulas sum up, None where they tell nothing.
        is_proven: Whether they alone prove that it is a total.
        spread: The columns of figures in which it has the median, deviation or variance of the
            plain rows above, as its label says.
    """

    row: int
    text: str
    label: TotalLabel | None
    figures: tuple[Number | None, ...]
    is_bare: bool
    is_alike: bool
    has_others: bool
    is_outer: bool
    others: tuple[str, ...] = ()
    formula: AggregateRow | None = None
    is_proven: bool = False
    spread: tuple[int, ...] = ()

    @property
    def is_statistic(self) -> bool:
        """Whether its label is that of a least or greatest value, of a count or a spread."""
        return self.label is not None and self.label.kind in _STATISTICS


Verdict = Literal["above", "below", "unsure", "row", "remark", "doubtful", "counted"]
"""What a row is; below the last total it remarks on it, surely or perhaps, or is counted."""


class Judged(msgspec.Struct, frozen=True):
    """A candidate with what it is: it sums the rows above or below it up, or it is a plain row.

    Args:
        candidate: The row.
        verdict: What it is.
        ranges: The rows that it sums up, or those that it seems to where that is unsure, the first
            and the last of each stretch; none where it is not known.
        columns: The columns of figures in which it does.
    """

    candidate: TotalCandidate
    verdict: Verdict
    ranges: tuple[tuple[int, int], ...] = ()
    columns: tuple[int, ...] = ()

    def is_no_chance(self, added: Collection[int]) -> bool:
        """Tell whether its figures are those of others in several columns, or to many digits.

        Args:
            added: The columns of figures that add up: the ids 1, 2 and 3 say nothing.
        """
        telling = [self.candidate.figures[place] for place in self.columns if place in added]
        digits = [len(re.sub("[^0-9]", "", f"{value}").strip("0")) for value in telling if value]
        return len(digits) > 1 or max(digits, default=0) >= TELLING_DIGITS
