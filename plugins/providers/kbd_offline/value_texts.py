"""Values of a column in words, for one that no row has. Pure."""

import difflib

from kbd_offline.facts import KnownColumn

__all__ = ["values_text"]

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
