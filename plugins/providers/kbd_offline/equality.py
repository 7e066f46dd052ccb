"""One equality: texts that differ in capitals alone are one value, unless "exactly" is said.

Blanks around values are off already when a table is read. Filters, groups, sheets for each value
and duplicates ask here what is alike, and tell what was put together. A value that no row has is
told with those that there are, before anything is written.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd_offline import sql
from kbd_offline.conversation import PlannerConversation
from kbd_offline.intents import ColumnIntent, Condition, RowSelection
from kbd_offline.names import fold
from kbd_offline.request_text import QUOTED, UnclearError

__all__ = ["check_values", "take_exactness", "with_spellings"]

_EXACTLY = (
    r"\b(?:exactly|case[- ]?sensitiv(?:e|ely)|(?:match|matching|respect|respecting|mind|minding)"
    r"\s+(?:the\s+)?case|with\s+(?:exact|the\s+same)\s+(?:case|capitals|spelling)"
    r"|exact(?=\s+(?:duplicat|match|repeat)))\b"
)
_MAX_VALUES = 200
_MAX_LISTED = 12
_MAX_NOTES = 3
_OF_TEXT = ("=", "!=", "contains", "starts with", "ends with")


def take_exactness(text: str) -> tuple[bool, str]:
    """Return whether a request minds capitals, and the request without the words for it."""
    folded = fold(text)
    for quoted in re.finditer(QUOTED, text):
        # What stands in quotes is a value.
        start, end = quoted.span()
        folded = folded[:start] + "\x00" * (end - start) + folded[end:]
    spans = [found.span() for found in re.finditer(_EXACTLY, folded)]
    for start, end in spans:
        # Blanks, so that every other place stays that of the request.
        text = text[:start] + " " * (end - start) + text[end:]
    return bool(spans), text


def check_values(conversation: PlannerConversation, selection: RowSelection) -> None:
    """Check that rows have the texts that they are chosen by, and that any row is chosen.

    Raises:
        UnclearError: No row has one: the message names those that there are, and near ones.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    if not selection.conditions:
        return
    asked = [c for c in selection.conditions if c.operator in _OF_TEXT and _is_text(c.column)]
    table = selection.table.arguments
    query = sql.count_each(selection, asked)
    counts = [int(one) for one in conversation.call("table_query", **table, query=query)["rows"][0]]
    for condition, count in zip(asked, counts[1:], strict=True):
        if not count:
            raise UnclearError(_no_value(conversation, selection, condition))
    if not counts[0]:
        joint = " or " if selection.any_of else " and "
        told = joint.join(_condition_text(condition) for condition in selection.conditions)
        raise UnclearError(f"no row of {selection.table.label} is left where {told}")


def _is_text(column: ColumnIntent) -> bool:
    return column.type == "string"


def _condition_text(condition: Condition) -> str:
    if condition.operator in ("empty", "not empty"):
        return f"{condition.column.name} is {condition.operator}"
    return f"{condition.column.name} {condition.operator} {condition.value}"


def _no_value(
    conversation: PlannerConversation, selection: RowSelection, condition: Condition
) -> str:
    """Return the message that no row has a value, with those that there are."""
    name = condition.column.name
    found = conversation.call(
        "table_query",
        **selection.table.arguments,
        query=sql.spellings(condition.column),
        window_rows=_MAX_VALUES,
    )
    values = {str(value): int(count) for value, count, _ in found["rows"]}
    total = int(found["total_row_count"])
    which = {"=": "has", "!=": "has"}.get(condition.operator, f"{condition.operator} in")
    message = f'no row has "{condition.value}" as {name}' if which == "has" else (
        f'in no row {name} {condition.operator} "{condition.value}"'
    )  # fmt: skip
    if total <= _MAX_LISTED:
        rows = sum(values.values())
        message += f"; {name} is one of {', '.join(values)} ({rows:,} rows)"
    else:
        message += f"; {name} has {total:,} different values"
    by_fold = {value.casefold(): value for value in values}
    near = difflib.get_close_matches(condition.value.strip().casefold(), by_fold, 1, 0.5)
    return f'{message}; did you mean "{by_fold[near[0]]}"?' if near else message


def with_spellings(
    conversation: PlannerConversation, selection: RowSelection, columns: Sequence[ColumnIntent]
) -> RowSelection:
    """Return a selection that knows which columns have values in several spellings.

    It notes them, and those of the values that its rows are chosen by.

    Args:
        conversation: See `PlannerConversation.call` for what it raises.
        selection: The rows.
        columns: Those whose values are told apart: of groups, or of duplicates.
    """
    asked: dict[ColumnIntent, list[str | None]] = {c: [None] for c in columns if _is_text(c)}
    for condition in selection.conditions:
        if condition.operator in ("=", "!=") and _is_text(condition.column):
            # All of a column of groups are told anyway.
            of = asked.setdefault(condition.column, [])
            of += [condition.value] if None not in of else []
    pairs = [(column, value) for column, values in asked.items() for value in values]
    if selection.exact or not pairs:
        return selection
    answers = conversation.calls(
        *(
            (
                "table_query",
                {
                    **selection.table.arguments,
                    "query": sql.spellings(column, several=True, of=value),
                    "window_rows": _MAX_NOTES,
                },
            )
            for column, value in pairs
        )
    )
    found = [(pair, a) for pair, a in zip(pairs, answers, strict=True) if a["total_row_count"]]
    notes = [_spelling_note(column, answer) for (column, _), answer in found]
    names = tuple(column.name for (column, value), _ in found if value is None)
    return msgspec.structs.replace(selection, respelt=names, notes=(*selection.notes, *notes))


def _spelling_note(column: ColumnIntent, answer: Mapping[str, Any]) -> str:
    told = [
        f'{_listed(spellings)} count as one {column.name} ("{shown}")'
        for shown, _, spellings in answer["rows"]
    ]
    more = int(answer["total_row_count"]) - len(told)
    others = f"; so do {more:,} more that differ in capitals alone" if more > 0 else ""
    return f'{"; ".join(told)}{others}; say "exactly" to tell them apart'


def _listed(spellings: Sequence[Any]) -> str:
    *most, last = [f'"{one}"' for one in spellings]
    return f"{', '.join(most)} and {last}" if most else last
