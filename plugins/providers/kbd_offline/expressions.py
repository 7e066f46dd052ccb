"""Expressions of jobs as texts: columns, values, comparisons that take capitals as one. Pure."""

import re
from collections.abc import Sequence
from datetime import date

from kbd_offline.facts import KnownColumn

__all__ = [
    "PART_TITLES", "alternatives", "both", "column", "compared", "contained", "literal", "negated",
    "one_of", "part_of", "spellings_note", "within",
]  # fmt: skip

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    ["and", "or", "not", "in", "between", "is", "null", "empty", "true", "false", "case", "when",
     "then", "else", "end"]
)  # fmt: skip

PART_TITLES = {
    "year": "Year", "quarter": "Quarter", "month": "Month", "week": "Week", "day": "Day",
    "weekday": "Weekday",
}  # fmt: skip
"""Headings of parts of dates."""

_PARTS = {
    "year": "year", "quarter": "quarter_of", "month": "month_of", "week": "week_of",
    "weekday": "weekday_name",
}  # fmt: skip


def column(name: str) -> str:
    """Return a column."""
    if _BARE.fullmatch(name) and name.lower() not in _KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Return a text."""
    return "'" + value.replace("'", "''") + "'"


def part_of(known: KnownColumn, part: str) -> str:
    """Return a part of a date: years as numbers, months as 2024-03."""
    name = column(known.name)
    if part == "day":
        return name if known.type == "date" else f"date_of({name})"
    return f"{_PARTS[part]}({name})"


def one_of(known: KnownColumn, values: Sequence[str], *, exact: bool) -> str:
    """Return the condition that a column has one of some texts."""
    name = column(known.name)
    if known.is_text and not exact:
        return " or ".join(f"same({name}, {literal(value)})" for value in values)
    listed = [value if known.is_number else literal(value) for value in values]
    if known.type == "boolean":
        listed = [value.lower() for value in values]
    return f"{name} = {listed[0]}" if len(listed) == 1 else f"{name} in ({', '.join(listed)})"


def negated(known: KnownColumn, condition: str) -> str:
    """Return that a condition on a column does not hold: an empty field is no value."""
    return f"({column(known.name)} is empty or not ({condition}))"


def compared(name: str, operator: str, value: str) -> str:
    """Return a comparison of a column with a number."""
    return f"{column(name)} {operator} {value}"


def contained(known: KnownColumn, function: str, value: str, *, exact: bool) -> str:
    """Return that a text is in a column, or at an end of it."""
    name = column(known.name)
    if exact:
        return f"{function}({name}, {literal(value)})"
    return f"{function}(lower({name}), {literal(value.lower())})"


def within(name: str, start: date | None, end: date | None) -> str:
    """Return that a column lies within days: from the first on, before the second."""
    parts = []
    if start is not None:
        parts.append(f"{column(name)} >= date '{start.isoformat()}'")
    if end is not None:
        parts.append(f"{column(name)} < date '{end.isoformat()}'")
    return " and ".join(parts)


def both(conditions: Sequence[str]) -> str:
    """Return that all of some conditions hold."""
    return _joined(" and ", " or ", conditions)


def alternatives(conditions: Sequence[str]) -> str:
    """Return that one of some conditions holds."""
    return _joined(" or ", " and ", conditions)


def _joined(joint: str, other: str, conditions: Sequence[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return joint.join(f"({one})" if other in one else one for one in conditions)


def spellings_note(name: str, values: Sequence[str], shown: str) -> str:
    """Return that values of a column which differ in capitals count as one."""
    *most, last = (f'"{one}"' for one in values)
    return (
        f"{', '.join(most)} and {last} count as one {name}"
        f' ("{shown}"); say "exactly" to tell them apart'
    )
