"""Conditions on fields that are empty, or are not. Pure."""

from kbd_offline import expressions
from kbd_offline.clauses import ConditionClause
from kbd_offline.facts import KnownColumn
from kbd_offline.names import slug
from kbd_offline.scan import RequestScan

__all__ = ["has_article", "of_emptiness"]


def has_article(scan: RequestScan, start: int, end: int) -> bool:
    """Tell whether "a" or "no" stands between two places."""
    return any(scan.word(at) in _ARTICLES for at in range(start, end))


_ARTICLES = frozenset(["a", "an", "any", "ein", "eine", "einen", "keine", "keinen", "no"])


def of_emptiness(column: KnownColumn, *, is_filled: bool) -> ConditionClause:
    """Return the condition that a column has a value, or none."""
    if is_filled:
        return ConditionClause(
            expressions.filled(column.name), f"{column.name} is not empty", (column,),
            slug=f"with-{slug(column.name)}",
        )  # fmt: skip
    return ConditionClause(
        expressions.empty(column.name), f"{column.name} is empty", (column,),
        slug=f"without-{slug(column.name)}",
    )  # fmt: skip
