"""Other words for what columns hold: "spend" for an Amount, "client" for a Customer. Pure.

A column's own name, and a part of it, always go before a synonym. What words of a group say must
also fit the column: nobody spends a category, and a unit price is no amount spent.
"""

from collections.abc import Sequence

import msgspec

from kbd_offline.intents import Column
from kbd_offline.names import tokens

__all__ = ["synonymous"]


class _Group(msgspec.Struct, frozen=True):
    """Words that mean the same of a column, all in the singular.

    Args:
        words: They.
        is_number: Whether only a column of numbers can be meant.
        is_moment: Whether only a column of dates (without times) can be meant.
        never: Words that make another thing of a column that has one of them in its name.
    """

    words: frozenset[str]
    is_number: bool
    is_moment: bool
    never: frozenset[str]

    def fits(self, column: Column) -> bool:
        """Tell whether a column may be meant by the group's words."""
        right_type = (not self.is_number or column.is_number) and (
            not self.is_moment or column.type == "date"
        )
        return right_type and not self.never & set(tokens(column.name))


_NO_THING = frozenset(("id", "no", "nr", "code", "number", "count", "type", "status", "date"))
_NO_SPENDING = _NO_THING | {
    "unit", "per", "tax", "rate", "discount", "category", "center", "centre", "list",
}  # fmt: skip


def _group(
    words: str,
    *,
    is_number: bool = False,
    is_moment: bool = False,
    never: frozenset[str] = _NO_THING,
) -> _Group:
    known = frozenset(words.split())
    return _Group(known, is_number, is_moment, never - known)


_AMOUNTS = "amount spend spending cost price expense expenditure betrag kosten preis montant"
_GROUPS = (
    _group(_AMOUNTS, is_number=True, never=_NO_SPENDING),
    _group("revenue turnover umsatz income", is_number=True),
    _group("quantity qty menge piece", is_number=True),
    _group("date day datum", is_moment=True),
    _group("customer client buyer kunde"),
    _group("supplier vendor merchant shop seller lieferant handler"),
    _group("category kind kategorie"),
    _group("description beschreibung"),
    _group("product item artikel produkt"),
    _group("country nation land"),
    _group("city town stadt"),
    _group("employee staff mitarbeiter"),
    _group("department division abteilung dept"),
    _group("phone telephone telefon tel"),
)
"""Plain everyday words; those in German where they can mean nothing else."""


def synonymous(
    word: str, columns: Sequence[Column], *, as_whole: bool = False
) -> tuple[Column, ...]:
    """Return the columns that a word means by another name; several may be meant as well.

    Those that are called so as a whole go before those that have it in their name.

    Args:
        word: Folded, in the singular.
        columns: Those that may be meant.
        as_whole: Whether only a whole name counts.
    """
    for group in _GROUPS:
        if word not in group.words:
            continue
        fitting = [column for column in columns if group.fits(column)]
        whole = [c for c in fitting if "".join(tokens(c.name)) in group.words]
        parts = [c for c in fitting if group.words & set(tokens(c.name)) and not as_whole]
        return tuple(whole or parts)
    return ()
