"""Values: whether a word is meant as one, and those that a column has in words. Pure."""

import difflib

from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import PART
from kbd_offline.scan import RequestScan, UnclearError
from kbd_offline.terminals import Valued

__all__ = ["check_contained", "is_marked", "values_text"]

_MAX_LISTED = 12


def values_text(column: KnownColumn, value: str = "") -> str:
    """Return the values that a column has, and the one near another."""
    text = f"; {column.name} has {column.distinct:,} different values"
    spelt = sorted(column.values, key=lambda one: -column.values[one])
    rows_of: dict[str, int] = {}
    for one in spelt:
        rows_of[one.casefold()] = rows_of.get(one.casefold(), 0) + column.values[one]
    best = {one.casefold(): one for one in reversed(spelt)}
    shown = [best[small] for small in sorted(rows_of, key=lambda one: -rows_of[one])]
    if column.is_listed and len(shown) <= _MAX_LISTED:
        rows = sum(column.values.values())
        text = f"; {column.name} is one of {', '.join(shown)} ({rows:,} rows)"
    by_fold = {one.casefold(): one for one in shown}
    near = difflib.get_close_matches(value.strip().casefold(), by_fold, 1, 0.5)
    return f'{text}; did you mean "{by_fold[near[0]]}"?' if near else text


def is_marked(scan: RequestScan, found: Valued) -> bool:
    """Tell whether a word that may mean something else is written as the value, before a noun."""
    text = scan.text(found.start, found.end)
    spelt = any(text == value for _, values in found.found for value in values)
    mention = scan.column(found.end)
    before_noun = scan.is_noun(found.end) or (mention is not None and mention.level <= PART)
    listed = scan.value(scan.behind_connector(found.end))
    is_listed = listed is not None and listed.start > found.end and listed.is_plain and any(
        column == other for column, _ in found.found for other, _ in listed.found
    )  # fmt: skip
    is_inside = scan.word(found.start - 1) in _INSIDE and found.start > 0
    is_spelt = spelt and text[:1].isupper() and found.start > 0
    return before_noun or is_listed or is_inside or is_spelt


_INSIDE = frozenset(["in", "im", "aus", "within"])
"""What a value stands behind, and no figure."""


def check_contained(column: KnownColumn, function: str, value: str, words: str) -> None:
    """Check that some value has a text, where all values are known."""
    small = value.casefold()
    found = (one.casefold() for one in column.values)
    match function:
        case "starts_with":
            has = any(one.startswith(small) for one in found)
        case "ends_with":
            has = any(one.endswith(small) for one in found)
        case _:
            has = any(small in one for one in found)
    if column.is_listed and not has:
        raise UnclearError(f'in no row {column.name} {words} "{value}"{values_text(column)}')
