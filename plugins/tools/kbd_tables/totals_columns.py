"""Columns of figures as totals see them: whether a sum of one makes sense, by its name. Pure."""

import re

import msgspec

__all__ = ["TotalsColumn"]

_NOT_ADDED_WORDS = """
id ids no nr num number year jahr año anno année rok code zip plz postcode phone rate rates price
prices preis preise prix precio prezzo percent percentage pct prozent share anteil part average avg
mean durchschnitt ratio quote quota age rank index month monat day week temperature temp lat lon bal
latitude longitude margin marge balance saldo utilization utilisation usage growth score rating
yield efficiency progress completion
"""
_NOT_ADDED = frozenset(_NOT_ADDED_WORDS.split())


class TotalsColumn(msgspec.Struct, frozen=True):
    """A column of figures: its name, and whether it holds whole numbers."""

    name: str
    is_whole: bool = False

    @property
    def is_additive(self) -> bool:
        """Whether sums of it make sense, by its name: not of rates, prices, years or ids."""
        words = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", self.name))
        return "%" not in self.name and not _NOT_ADDED & {word.casefold() for word in words}
