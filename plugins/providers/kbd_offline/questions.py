"""Questions that are open about a table: asked before a job is done that hangs on them. Pure.

What was said in a request or after one is `kbd_offline.answers`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kbd.formats import NumberFacts, additivity
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
from kbd_offline.request_text import COLUMNS_LISTED, UnclearError

__all__ = ["as_answered", "check_questions", "compared_columns", "sorted_by"]

_OF_COLUMNS = ("decimal", "date_order")


def as_answered(
    facts: Mapping[str, Any], columns: Sequence[ColumnIntent]
) -> tuple[ColumnIntent, ...]:
    """Return columns as they are once what is asked about a table is answered, either way.

    Until then they hold texts, so that a request for figures of "all numbers" passes them over.

    Args:
        facts: What `table_get_map` says of the table.
        columns: Its columns as they are.
    """
    types = {
        name: "float" if question["about"] == "decimal" else "date"
        for question in facts.get("reading", {}).get("questions", ())
        if question["about"] in _OF_COLUMNS
        for name in question["columns"]
    }
    return tuple(
        _typed(column, types[column.name]) if column.name in types else column for column in columns
    )


def _typed(column: ColumnIntent, kind: str) -> ColumnIntent:
    role = additivity(column.name, "float", NumberFacts()).role if kind == "float" else "additive"
    return ColumnIntent(column.name, kind, "" if role == "additive" else role)


def check_questions(
    facts: Mapping[str, Any], intent: Intent, answered: Intent | None = None
) -> None:
    """Check that a job hangs on nothing that is not known about its table.

    Args:
        facts: What `table_get_map` says of the table.
        intent: The job; one that is declined may be so for what is not known.
        answered: The job as it would be with the columns of `as_answered`.

    Raises:
        UnclearError: It does; the message asks, with the answers and what each means.
    """
    for question in facts.get("reading", {}).get("questions", ()):
        about, columns = question["about"], question["columns"]
        if _hangs_on(intent, about, columns) or (
            answered is not None and _is_changed(intent, answered, about, columns)
        ):
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
        reason = intent.reason.partition(COLUMNS_LISTED)[0]
        return about in _OF_COLUMNS and any(f'"{name}"' in reason for name in columns)
    if about in _OF_COLUMNS and columns:
        return not {column.name for column in compared_columns(intent)}.isdisjoint(columns) or any(
            order in columns for order in sorted_by(intent)
        )
    return True


def _is_changed(intent: Intent, answered: Intent, about: str, columns: list[str]) -> bool:
    """Tell whether a job becomes another one by the answer."""
    if isinstance(answered, Declined) or about not in _OF_COLUMNS:
        return False
    return isinstance(intent, Declined) or _hangs_on(answered, about, columns)


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
