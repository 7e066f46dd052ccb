"""Phases of a run: research, plan, implement and summary, each a function of the conversation.

Research looks at the files, reads the request and writes down the intent: of one table its columns
and, of what is asked, values and counts. Plan and summary are texts made from texts, without tools.
Implement does one item, by its place in the plan.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, assert_never

from kbd.errors import ValidationFailed
from kbd.job_words import is_look
from kbd.messages import Decline
from kbd_offline import sql
from kbd_offline.abilities import HOW_TO_ASK, asks_for_abilities, nearest_examples
from kbd_offline.answers import encode_said
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.conversion import convert_sheet, export_table, export_whole
from kbd_offline.deduplication import deduplicate, research_deduplication
from kbd_offline.files import MAX_REQUEST_CHARACTERS, without_names
from kbd_offline.findings import Findings, describe_intent, plan_steps, report, row_count_text
from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Deduped,
    Grouped,
    Intent,
    Measure,
    Merged,
    Profiled,
    Replaced,
    RowsIntent,
    SheetExport,
    Sheets,
    Split,
    TableIntent,
    decode_intent,
    encode_intent,
)
from kbd_offline.interpretation import (
    NOT_A_MODEL,
    JobKind,
    decline_text,
    job_of,
    shortened,
)
from kbd_offline.merge import merge_tables, research_merge
from kbd_offline.names import split_suffix
from kbd_offline.profiles import research_look, research_profiles, write_profile
from kbd_offline.replacement import not_found_text, replace_text, research_replacement
from kbd_offline.request_text import UnclearError
from kbd_offline.summing_rows import summing_rows
from kbd_offline.table_research import research_table
from kbd_offline.workbooks import Sheet, column_widths, fill_sheet

__all__ = ["implement", "plan", "refusal_of", "research", "summary"]

_EXACT_DECIMALS = 6
"""Figures are told with at most so many decimals, where they are not small."""

_SMALL = 0.001
"""Below this a figure is told with four digits that count."""


def research(conversation: PlannerConversation) -> str:
    """Return research.md; see `PlannerConversation.call` for what it raises."""
    request = conversation.request
    try:
        if asks_for_abilities(request):
            raise UnclearError("it asks what can be done, which is below")
        # Cut only to tell the kind of job, for its patterns are tried at each place; what is longer
        # is declined when the files are looked for.
        job = job_of(without_names(request[:MAX_REQUEST_CHARACTERS], conversation.paths))
        looks = job is JobKind.TABLE and is_look(request)
        research_job = research_look if looks else _research_of_kind(job)
        found = report(research_job(conversation, request))
    except (CallFailedError, UnclearError) as failed:
        found = report(Findings(Declined(shortened(request), str(failed))))
    return "\n".join([found, *encode_said(conversation.read_as)])


def _research_of_kind(job: JobKind) -> Callable[[PlannerConversation, str], Findings]:
    match job:
        case JobKind.TABLE:
            return research_table
        case JobKind.DEDUPE:
            return research_deduplication
        case JobKind.MERGE:
            return research_merge
        case JobKind.PROFILE:
            return research_profiles
        case JobKind.REPLACE:
            return research_replacement
        case _:
            assert_never(job)


MAX_LISTED = 3
"""Items that a summary lists one by one; a hundred sheets are not."""

MAX_COUNTED = 20
"""The same where each item has a count of its own that the user asked for."""


def plan(conversation: PlannerConversation) -> str:
    """Return plan.md: one item a sheet or file, and the intent in the notes."""
    intent = decode_intent(conversation.block("research") or conversation.request)
    if intent is None:
        reason = "the research was not made by this provider"
        intent = Declined(shortened(conversation.request), reason)
    items = [f"- [ ] {place}. {step.line}" for place, step in enumerate(plan_steps(intent), 1)]
    return "\n".join(
        [
            "# Execution Plan",
            "",
            "## Task",
            " ".join(describe_intent(intent).split()),
            "",
            "## Items",
            "",
            *items,
            "",
            "## Notes",
            *_notes(intent),
            *encode_said(conversation.read_as),
            "- For the offline provider, which reads no prose:",
            encode_intent(intent),
        ]
    )


def summary(conversation: PlannerConversation) -> str:
    """Return the message to the user: answers as they are, else what changed and what failed."""
    items = [dict(item) for item in conversation.json_block("results").get("items", [])]
    changes = [dict(change) for change in conversation.json_block("changes").get("changes", [])]
    intent = decode_intent(conversation.block("plan"))
    failed = [item for item in items if item.get("state") == "failed"]
    if not changes and not failed and items:
        text = "\n\n".join(str(item.get("text", "")) for item in items)
        text = "\n".join([text, *(f"- {note}." for note in _answer_notes(intent))])
        return text if isinstance(intent, Declined) else f"{text}\n\n{NOT_A_MODEL}"
    lines = [f"{_change(change)}." for change in changes] or ["Nothing was changed."]
    if intent is not None and changes and not failed:
        lines.append(f"{describe_intent(intent)}.")
    done = [str(item.get("text", "")) for item in items if item not in failed]
    most = MAX_LISTED if isinstance(intent, Split) else MAX_COUNTED
    if len(done) > most:
        lines.append(f"{len(done)} of {len(items)} items are done, among them:")
    # The last ones: of a split, the sheet of totals is among them.
    lines += [f"- {text}" for text in done[-most:]]
    lines += [f"- {note}." for note in _answer_notes(intent)[:MAX_COUNTED]]
    lines += [f"- Failed: {item.get('label')} ({item.get('reason')})" for item in failed]
    return "\n".join([*lines, "", NOT_A_MODEL])


def _answer_notes(intent: Intent | None) -> tuple[str, ...]:
    """Return what the reader of the answer must know beside it."""
    match intent:
        case Merged() | Replaced():
            return intent.notes
        case Split() | Grouped() | RowsIntent() | Deduped():
            return intent.selection.notes
        case _:
            return ()


def _change(change: dict[str, Any]) -> str:
    kind = str(change.get("change_type", "modified"))
    return f"{kind.capitalize()}: {change.get('path')}"


def _notes(intent: Intent) -> list[str]:
    match intent:
        case Split():
            return [
                f"- Source: {intent.selection.source}",
                f"- Target: {intent.target} (new; the first item creates it, later ones add to it)",
                "- Empty fields stay empty and are left out of totals and averages.",
            ]
        case Grouped() | RowsIntent() | Deduped():
            target = intent.target or "none, the answer is a text"
            return [f"- Source: {intent.selection.table.label}", f"- Target: {target}"]
        case Sheets():
            return [
                f"- Source: {intent.source}",
                "- Each sheet goes over as it is, into a new file.",
            ]
        case Merged():
            return [
                f"- Target: {intent.target} (new; the first item creates it, later ones add to it)",
                "- Columns are matched by name, in the order of the first table.",
                *(f"- {note}" for note in intent.notes),
            ]
        case Profiled(target=""):
            return ["- Target: none, the answer is a text"]
        case Profiled():
            return [f"- Target: {intent.target} (new)", "- The files themselves are not changed."]
        case Replaced():
            case = "as it is written" if intent.match_case else "in capitals or not"
            notes = (f"- {note}" for note in intent.notes)
            return [f"- The text is searched {case}; only where it stands is changed.", *notes]
        case Declined():
            return [f"- Not done: {intent.reason}"]
        case _:
            assert_never(intent)


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
    intent = decode_intent(conversation.block("plan"))
    number = conversation.item_number
    if intent is None or not 1 <= number <= len(plan_steps(intent)):
        raise ValidationFailed("the offline provider can only carry out plans that it made itself")
    try:
        if isinstance(intent, Split | Grouped | RowsIntent):
            return _table_work(conversation, intent, number)
        return _other_work(conversation, intent, number)
    except CallFailedError as failed:
        raise ValidationFailed(f"a tool refused: {failed}") from None


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
            return deduplicate(conversation, intent)
        case Merged():
            return merge_tables(conversation, intent, number)
        case Profiled():
            return write_profile(conversation, intent)
        case Replaced(parts=()):
            return not_found_text(intent)
        case Replaced():
            return replace_text(conversation, intent, number)
        case Declined():
            return decline_text(intent)
        case _:
            assert_never(intent)


def refusal_of(conversation: PlannerConversation) -> Decline | None:
    """Return why the plan is that nothing is done; None where something is, or is answered."""
    intent = decode_intent(conversation.block("plan"))
    if not isinstance(intent, Declined) or asks_for_abilities(intent.understood):
        return None
    suggestions = nearest_examples(intent.understood) or (HOW_TO_ASK,)
    return Decline(intent.reason, intent.understood, suggestions)


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
        functions=("", *map(_summing, intent.measures)),
    )
    fill_sheet(conversation, sheet)
    figure_texts = ", ".join(_figure_texts(intent.measures, figures))
    rows = row_count_text(sheet.rows)
    return f'Sheet "{sheet.name}" has {rows} and a row of totals ({figure_texts}).'


def _summing(measure: Measure) -> str:
    """Return the function of sheets that makes a figure of all rows out of those of groups."""
    match measure.function:
        case "total" | "count":
            return "SUM"
        case "minimum" if measure.column is not None and measure.column.is_number:
            return "MIN"
        case "maximum" if measure.column is not None and measure.column.is_number:
            return "MAX"
        case _:
            # The average of groups' averages is none of the rows.
            return ""


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
    rows = row_count_text(part.rows)
    return f'Sheet "{part.sheet}" in {intent.target} has {rows}; read back and counted.'


def _grouped(conversation: PlannerConversation, intent: Grouped, target: str) -> str:
    table = intent.selection.table
    if split_suffix(target)[1] != _BOOK:
        return export_table(conversation, table, target, sql.grouped(intent))
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
    # The average of all rows is no sum of the averages above it.
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
        functions=(*("" for _ in keys), *map(_summing, intent.measures)),
    )
    fill_sheet(conversation, sheet)
    figure_texts = ", ".join(_figure_texts(intent.measures, figures))
    return f"{target} has {row_count_text(rows)}; over all of them: {figure_texts}."


def _rows(conversation: PlannerConversation, intent: RowsIntent) -> str:
    table, is_book = intent.selection.table, split_suffix(intent.target)[1] == _BOOK
    query = sql.rows(intent.selection, intent.columns, intent.order, for_sheet=is_book)
    if not is_book:
        if intent.is_whole:
            return export_whole(conversation, table, intent.target, intent.rows)
        return export_table(conversation, table, intent.target, query, intent.rows)
    kept = summing_rows(conversation, table, intent.columns) if intent.is_whole else None
    sheet = Sheet(
        target=intent.target,
        name=_SHEET,
        table=table,
        query=query,
        columns=intent.columns,
        rows=intent.rows,
        widths=intent.widths,
        formulas=kept.formulas if kept else (),
    )
    fill_sheet(conversation, sheet)
    written = f"{intent.target} has {row_count_text(intent.rows)}; read back and counted."
    return " ".join([written, *(kept.notes if kept else ())])


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
        figure_texts = ", ".join(_figure_texts(intent.measures, row[len(row) - figures :]))
        lines.append(f"- {names}: {figure_texts}" if names else figure_texts)
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
    return column_widths(columns, longest)


def _figure_texts(measures: Sequence[Measure], figures: Sequence[Any]) -> list[str]:
    pairs = zip(measures, figures, strict=True)
    return [f"{measure.label} {_value(figure)}" for measure, figure in pairs]


def _decimals(value: float) -> int:
    """Return with how many decimals a figure is told: exactly where it has few, two at least."""
    # Of a double's digits 15 are sure.
    shown = f"{round(value, _EXACT_DECIMALS) if abs(value) >= _SMALL else value:.15g}"
    places = len(shown.partition(".")[2])
    if "e" not in shown and places <= _EXACT_DECIMALS:
        return max(2, places)
    # A rate of 0.0683 told as 0.07 would be another one: four digits that count.
    return 2 if abs(value) >= 1 or not value else 3 - math.floor(math.log10(abs(value)))


def _value(value: Any) -> str:
    if value is None:
        return "(empty)"
    if isinstance(value, float):
        return f"{value:,.{_decimals(value)}f}"
    # To Python a bool is an int, and would be written as 1.
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _key_column(label: str, column: ColumnIntent, part: str | None) -> ColumnIntent:
    kind = column.type if part is None else "integer" if part == "year" else "string"
    return ColumnIntent(label, kind)


def _figure(measure: Measure) -> ColumnIntent:
    if measure.function in ("count", "distinct") or measure.column is None:
        return ColumnIntent(measure.label, "integer")
    kind = "float" if measure.function == "average" else measure.column.type
    return ColumnIntent(measure.label, kind)
