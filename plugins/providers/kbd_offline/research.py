"""The research phase: look at the files, read the request, write down the intent.

Looking, for requests about one table: its columns and, of what is asked, values and counts.
"""

from collections.abc import Callable
from typing import assert_never

import msgspec

from kbd_offline import deduplication, merge, profile_report, replacement, sql
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.conversion import read_sheets
from kbd_offline.files import (
    BOOK_SUFFIX,
    MAX_REQUEST_CHARACTERS,
    RequestFiles,
    choose_files,
    without_names,
    without_stems,
)
from kbd_offline.findings import EMPTY_FIELDS, Findings, check_sheet, look_at, report
from kbd_offline.intents import Declined, Intent, RowsIntent, SheetExport, Split, TableIntent
from kbd_offline.interpretation import refused, shortened, understand
from kbd_offline.jobs import JobKind, job_of
from kbd_offline.names import sheet_names, split_suffix
from kbd_offline.request_text import UnclearError
from kbd_offline.sheet_writer import fitted_widths
from kbd_offline.workbooks import is_book, look_into, on_sheet, take_sheets, wants_each_sheet

__all__ = ["look", "research"]

MAX_SHEETS = 100
"""More than anybody turns over; such a column is more likely one of names or amounts."""


def look(conversation: PlannerConversation, request: str) -> Findings:
    """Read a request about one table and complete it by looking.

    Raises:
        UnclearError: It has no reading, or more than one.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    try:
        files = choose_files(request, conversation.paths)
    except UnclearError as unclear:
        conversation.call("list_files")
        raise UnclearError(refused(without_stems(request)) or str(unclear)) from None
    try:
        return _looked(conversation, request, files)
    except (CallFailedError, UnclearError) as failed:
        raise UnclearError(f"{files.source}: {failed}") from None


def _looked(conversation: PlannerConversation, request: str, files: RequestFiles) -> Findings:
    if is_book(files.source):
        (book,) = look_into(conversation, [files.source])
        chosen, text = take_sheets(files.text, book.sheets)
        if len(chosen or book.filled) > 1 or wants_each_sheet(text):
            return read_sheets(
                conversation, msgspec.structs.replace(files, text=text), book, chosen
            )
    files = on_sheet(conversation, files)
    seen = look_at(conversation, TableIntent(files.source, files.sheet))
    intent = _measured(conversation, understand(request, files, seen.columns))
    return Findings(intent, seen.lines, (EMPTY_FIELDS, *seen.warnings), _samples(intent))


def _measured(conversation: PlannerConversation, intent: Intent) -> Intent:
    """Complete an intent with what only looking tells: values, counts, widths."""
    match intent:
        case Split():
            return _measured_split(conversation, intent)
        case RowsIntent():
            table = intent.selection.table.arguments
            count, widths = conversation.calls(
                ("table_query", {**table, "query": sql.count_rows(intent.selection)}),
                ("table_query", {**table, "query": sql.widths(intent.columns)}),
            )
            found = int(count["rows"][0][0])
            if split_suffix(intent.target)[1] == BOOK_SUFFIX:
                check_sheet(found, len(intent.columns))
            fitted = fitted_widths(intent.columns, widths["rows"][0])
            return msgspec.structs.replace(intent, rows=found, widths=fitted)
        case _:
            return intent


def _measured_split(conversation: PlannerConversation, intent: Split) -> Split:
    table, key = intent.selection.table.arguments, intent.key
    values, widths = conversation.calls(
        (
            "table_query",
            {**table, "query": sql.values_of(intent.selection, key), "window_rows": MAX_SHEETS},
        ),
        ("table_query", {**table, "query": sql.widths(intent.columns)}),
    )
    count = int(values["total_row_count"])
    if count > MAX_SHEETS:
        raise UnclearError(f'"{key.label}" has {count} values; I make up to {MAX_SHEETS} sheets.')
    if not count:
        raise UnclearError("no row is left to put on a sheet.")
    found = [(row[0], int(row[1])) for row in values["rows"]]
    check_sheet(max(rows for _, rows in found), len(intent.columns))
    reserved = (intent.summary_sheet,) if intent.measures else ()
    names = sheet_names((value or "" for value, _ in found), reserved)
    parts = (SheetExport(name, *one) for name, one in zip(names, found, strict=True))
    fitted = fitted_widths(intent.columns, widths["rows"][0])
    return msgspec.structs.replace(intent, parts=tuple(parts), widths=fitted)


def _samples(intent: Intent) -> tuple[str, ...]:
    if isinstance(intent, Split):
        return tuple(f"{part.sheet}: {part.rows} rows" for part in intent.parts)
    return ("None needed: the figures are worked out over all rows.",)


def research(conversation: PlannerConversation) -> str:
    """Return research.md; see `PlannerConversation.call` for what it raises."""
    request = conversation.request
    try:
        job = job_of(without_names(request[:MAX_REQUEST_CHARACTERS], conversation.paths))
        return report(_looking(job)(conversation, request))
    except (CallFailedError, UnclearError) as failed:
        return report(Findings(Declined(shortened(request), str(failed))))


def _looking(job: JobKind) -> Callable[[PlannerConversation, str], Findings]:
    match job:
        case JobKind.TABLE:
            return look
        case JobKind.DEDUPE:
            return deduplication.look
        case JobKind.MERGE:
            return merge.look
        case JobKind.PROFILE:
            return profile_report.look
        case JobKind.REPLACE:
            return replacement.look
        case _:
            assert_never(job)
