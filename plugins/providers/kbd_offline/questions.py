"""Questions that are open about a table: asked before a job is done that hangs on them. Pure.

What was said in a request or after one is `kbd_offline.answers`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Deduped,
    Grouped,
    Intent,
    Merged,
    RowSelection,
    RowsIntent,
    Split,
)
from kbd_offline.request_text import UnclearError

__all__ = ["check_questions", "compared_columns", "sorted_by"]

_OF_COLUMNS = ("decimal", "date_order")


def check_questions(facts: Mapping[str, Any], intent: Intent) -> None:
    """Check that a job hangs on nothing that is not known about its table.

    Args:
        facts: What `table_get_map` says of the table.
        intent: The job; one that is declined may be so for what is not known.

    Raises:
        UnclearError: It does; the message asks, with the answers and what each means.
    """
    for question in facts.get("reading", {}).get("questions", ()):
        if _hangs_on(intent, question["about"], question["columns"]):
            raise UnclearError(_asked(question))


def _hangs_on(intent: Intent, about: str, columns: list[str]) -> bool:
    if isinstance(intent, Merged):
        # Its columns are given one type, whatever they are in each table.
        return True
    if about == "totals":
        selection = _selection(intent)
        return selection is not None and not selection.keeps_totals
    if isinstance(intent, Declined):
        # A column that cannot be read as numbers yet has no figures: that is why.
        return about in _OF_COLUMNS and any(f'"{name}"' in intent.reason for name in columns)
    if about in _OF_COLUMNS and columns:
        return not {column.name for column in compared_columns(intent)}.isdisjoint(columns) or any(
            order in columns for order in sorted_by(intent)
        )
    return True


def _selection(intent: Intent) -> RowSelection | None:
    match intent:
        case Split() | Grouped() | RowsIntent() | Deduped():
            return intent.selection
        case _:
            return None


def compared_columns(intent: Intent) -> Iterator[ColumnIntent]:
    """Yield the columns whose values are more than letters to a job."""
    selection = _selection(intent)
    if selection is not None:
        yield from (condition.column for condition in selection.conditions)
    match intent:
        case Split():
            yield from (each.column for each in intent.measures if each.column is not None)
            yield intent.key.column
        case Grouped():
            yield from (each.column for each in intent.measures if each.column is not None)
            yield from (key.column for key in intent.keys)
        case _:
            pass


def sorted_by(intent: Intent) -> tuple[str, ...]:
    """Return the names that a job sorts by, of columns or of figures."""
    match intent:
        case Split() | Grouped() | RowsIntent():
            return tuple(order.column for order in intent.order)
        case _:
            return ()


def _asked(question: Mapping[str, Any]) -> str:

    options = "; ".join(f"{one['value']}: {one['meaning']}" for one in question["options"])
    values = " or ".join(_said(question["about"], one["value"]) for one in question["options"])
    return f"{question['text']} ({options}). Answer {values}"


def _said(about: str, value: str) -> str:
    """Return the words of an answer."""
    match about, value:
        case "totals", "leave_out":
            return '"leave out"'
        case "totals", "leave_out_proven":
            return '"leave out proven totals"'
        case "totals", _:
            return '"keep"'
        case "decimal", ",":
            return '"decimal comma"'
        case "decimal", _:
            return '"decimal point"'
        case "header_row", "0":
            return '"no header"'
        case _:
            return f'"{about.replace("_", " ")}: {value}"'
