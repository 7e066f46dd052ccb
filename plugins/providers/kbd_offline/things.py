"""Words for what rows are, whatever their file is called: "transactions", "Buchungen". Pure.

Such a word counts rows or says nothing more. Where a column tells which thing a row is of, and has
some more than once, the word means that column: many rows may be of one customer.
"""

from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.names import singular, stem, tokens

__all__ = ["names_rows"]

_EVENTS_TEXT = """
transaction booking purchase reading measurement posting payment movement case position sale order
deal buchung transaktion vorgang vorgange posten position messung messwert zahlung verkauf
verkaufe bestellung einkauf einkaufe fall falle book buch bucher item
"""
_EVENTS = frozenset(map(stem, _EVENTS_TEXT.split()))
"""Things that happen: each row is one, if it is of such things at all."""

_PEOPLE_TEXT = """
employee staff worker colleague people person member customer client student mitarbeiter
mitarbeiterin angestellte kollege personen leute mensch mitglied kunde schuler
"""
_PEOPLE = frozenset(map(stem, _PEOPLE_TEXT.split()))
"""Persons: each row is one only where hardly any name is there twice."""

_NAMES = frozenset(["name", "nachname", "surname", "fullname"])


def names_rows(word: str, table: KnownTable, named: tuple[KnownColumn, ...]) -> bool:
    """Tell whether a folded word is one for the rows of a table.

    Args:
        word: The word.
        table: The table.
        named: The columns that it may mean besides.
    """
    root = stem(word)
    if any(_repeats(column, table) for column in named):
        return False
    if root in _EVENTS or singular(word) in _EVENTS:
        return True
    return (root in _PEOPLE or singular(word) in _PEOPLE) and _is_of_people(table)


def _repeats(column: KnownColumn, table: KnownTable) -> bool:
    """Tell whether a column tells things apart, and has some more than once."""
    return (column.is_text or column.role == "id") and column.distinct < table.rows


def _is_of_people(table: KnownTable) -> bool:
    names = [column for column in table.columns if _NAMES & set(tokens(column.name))]
    is_keyed = any(column.distinct == table.rows == column.filled for column in table.columns)
    return is_keyed and len(names) == 1 and names[0].distinct >= 0.8 * table.rows
