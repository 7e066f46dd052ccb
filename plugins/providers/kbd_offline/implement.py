"""The implement phase: one item, by its place in the plan."""

from collections.abc import Sequence
from typing import Any, assert_never

from kbd.errors import ValidationFailed
from kbd_offline import sql
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.conversion import convert_sheet, exported, rows_of
from kbd_offline.deduplication import dedupe
from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Deduped,
    Grouped,
    Measure,
    Merged,
    Profiled,
    Replaced,
    RowsIntent,
    SheetExport,
    Sheets,
    Split,
    TableIntent,
    found_in,
)
from kbd_offline.jobs import explained
from kbd_offline.merge import stack
from kbd_offline.names import split_suffix
from kbd_offline.profile_report import profile
from kbd_offline.replacement import not_found, substitute
from kbd_offline.sheet_writer import Sheet, fill_sheet, fitted_widths
from kbd_offline.steps import steps

__all__ = ["implement", "is_declined"]

_BOOK = ".xlsx"
_SHEET = "Sheet1"
_MAX_ANSWER_ROWS = 50

_Other = Sheets | Deduped | Merged | Profiled | Replaced | Declined


def implement(conversation: PlannerConversation) -> str:
    """Do the item and return its final text; see `PlannerConversation.call` for what it raises.

    Raises:
        ValidationFailed: The plan is not of this provider, or a tool refused what was to be done:
            the item fails with that reason.
    """
    intent = found_in(conversation.block("plan"))
    number = conversation.item_number
    if intent is None or not 1 <= number <= len(steps(intent)):
        raise ValidationFailed("The offline provider can only carry out plans that it made itself.")
    try:
        if isinstance(intent, Split | Grouped | RowsIntent):
            return _table_work(conversation, intent, number)
        return _other_work(conversation, intent, number)
    except CallFailedError as failed:
        raise ValidationFailed(f"A tool refused: {failed}") from None


def _table_work(
    conversation: PlannerConversation, intent: Split | Grouped | RowsIntent, number: int
) -> str:
    match intent:
        case Split():
            return _split(conversation, intent, number)
        case Grouped(target=str(target)):
            return _grouped(conversation, intent, target)
        case Grouped():
            return _answer(conversation, intent)
        case RowsIntent():
            return _rows(conversation, intent)


def _other_work(conversation: PlannerConversation, intent: _Other, number: int) -> str:
    match intent:
        case Sheets():
            return convert_sheet(conversation, intent, number)
        case Deduped():
            return dedupe(conversation, intent)
        case Merged():
            return stack(conversation, intent, number)
        case Profiled():
            return profile(conversation, intent)
        case Replaced(parts=()):
            return not_found(intent)
        case Replaced():
            return substitute(conversation, intent, number)
        case Declined():
            return explained(intent)
        case _:
            assert_never(intent)


def is_declined(conversation: PlannerConversation) -> bool:
    """Tell whether the plan is that nothing is done."""
    return isinstance(found_in(conversation.block("plan")), Declined)


def _split(conversation: PlannerConversation, intent: Split, number: int) -> str:
    if number <= len(intent.parts):
        return _part(conversation, intent, intent.parts[number - 1])
    key, table = intent.key, intent.selection.table
    figures = _overall(conversation, table, sql.overall(intent.selection, intent.measures))
    query = sql.grouped(Grouped(intent.selection, (key,), intent.measures), for_sheet=True)
    columns = (_key_column(key.label, key.column, key.part), *map(_figure, intent.measures))
    totals = ("Total", *figures)
    sheet = Sheet(
        target=intent.target,
        name=intent.summary_sheet,
        table=table,
        query=query,
        columns=columns,
        rows=len(intent.parts),
        widths=_widths(conversation, table, query, columns, totals),
        totals=totals,
    )
    fill_sheet(conversation, sheet)
    told = ", ".join(_told(intent.measures, figures))
    return f'Sheet "{sheet.name}" has {rows_of(sheet.rows)} and a row of totals ({told}).'


def _part(conversation: PlannerConversation, intent: Split, part: SheetExport) -> str:
    sheet = Sheet(
        target=intent.target,
        name=part.sheet,
        table=intent.selection.table,
        query=sql.rows(
            intent.selection, intent.columns, intent.order, (intent.key, part.value), for_sheet=True
        ),
        columns=intent.columns,
        rows=part.rows,
        widths=intent.widths,
    )
    fill_sheet(conversation, sheet)
    return (
        f'Sheet "{part.sheet}" in {intent.target} has {rows_of(part.rows)}; read back and counted.'
    )


def _grouped(conversation: PlannerConversation, intent: Grouped, target: str) -> str:
    table = intent.selection.table
    if split_suffix(target)[1] != _BOOK:
        return exported(conversation, table, target, sql.grouped(intent))
    query = sql.grouped(intent, for_sheet=True)
    first, overall = conversation.calls(
        ("table_query", {**table.arguments, "query": query, "window_rows": 1}),
        (
            "table_query",
            {**table.arguments, "query": sql.overall(intent.selection, intent.measures)},
        ),
    )
    rows = int(first["total_row_count"])
    keys = [_key_column(key.label, key.column, key.part) for key in intent.keys]
    columns = (*keys, *map(_figure, intent.measures))
    is_sum = all(measure.function in ("total", "count") for measure in intent.measures)
    label = "Total" if is_sum else "All rows"
    figures = overall["rows"][0]
    totals = (label, *(None for _ in keys[1:]), *figures) if keys else ()
    sheet = Sheet(
        target=target,
        name="Summary",
        table=table,
        query=query,
        columns=columns,
        rows=rows,
        widths=_widths(conversation, table, query, columns, totals or figures),
        totals=totals,
    )
    fill_sheet(conversation, sheet)
    told = ", ".join(_told(intent.measures, figures))
    return f"{target} has {rows_of(rows)}; over all of them: {told}."


def _rows(conversation: PlannerConversation, intent: RowsIntent) -> str:
    table, is_book = intent.selection.table, split_suffix(intent.target)[1] == _BOOK
    query = sql.rows(intent.selection, intent.columns, intent.order, for_sheet=is_book)
    if not is_book:
        asked = None if intent.is_whole else query
        return exported(conversation, table, intent.target, asked, intent.rows)
    sheet = Sheet(
        target=intent.target,
        name=_SHEET,
        table=table,
        query=query,
        columns=intent.columns,
        rows=intent.rows,
        widths=intent.widths,
    )
    fill_sheet(conversation, sheet)
    return f"{intent.target} has {rows_of(intent.rows)}; read back and counted."


def _answer(conversation: PlannerConversation, intent: Grouped) -> str:
    found = conversation.call(
        "table_query",
        **intent.selection.table.arguments,
        query=sql.grouped(intent),
        window_rows=_MAX_ANSWER_ROWS,
    )
    figures = len(intent.measures)
    lines = []
    for row in found["rows"]:
        names = ", ".join(_value(value) for value in row[: len(row) - figures])
        told = ", ".join(_told(intent.measures, row[len(row) - figures :]))
        lines.append(f"- {names}: {told}" if names else told)
    more = int(found["total_row_count"]) - len(lines)
    if more > 0:
        lines.append(f"… and {more} more; ask for a workbook to get all of them.")
    return "\n".join(lines) or "No row is left to count."


def _overall(conversation: PlannerConversation, table: TableIntent, query: str) -> tuple[Any, ...]:
    return tuple(conversation.call("table_query", **table.arguments, query=query)["rows"][0])


def _widths(
    conversation: PlannerConversation,
    table: TableIntent,
    query: str,
    columns: Sequence[ColumnIntent],
    totals: Sequence[Any],
) -> tuple[int, ...]:
    """Return widths for the rows of a query and a row of totals below them."""
    found = _overall(conversation, table, sql.widths(columns, f"({query})"))
    last = (0 if value is None else len(str(value)) for value in totals)
    longest = [max(length or 0, other) for length, other in zip(found, last, strict=True)]
    return fitted_widths(columns, longest)


def _told(measures: Sequence[Measure], figures: Sequence[Any]) -> list[str]:
    pairs = zip(measures, figures, strict=True)
    return [f"{measure.label} {_value(figure)}" for measure, figure in pairs]


def _value(value: Any) -> str:
    if value is None:
        return "(empty)"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _key_column(label: str, column: ColumnIntent, part: str | None) -> ColumnIntent:
    kind = column.type if part is None else "integer" if part == "year" else "string"
    return ColumnIntent(label, kind)


def _figure(measure: Measure) -> ColumnIntent:
    if measure.function == "count" or measure.column is None:
        return ColumnIntent(measure.label, "integer")
    kind = "float" if measure.function == "average" else measure.column.type
    return ColumnIntent(measure.label, kind)
