"""Research of one table: the request is read against its columns, and completed by looking."""

import msgspec

from kbd.sheets.sheet_names import sheet_names
from kbd_offline import sql
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.conversion import read_sheets
from kbd_offline.equality import check_values, with_spellings
from kbd_offline.files import BOOK_SUFFIX, RequestFiles, without_stems
from kbd_offline.findings import (
    EMPTY_FIELDS,
    FileFinding,
    Findings,
    check_sheet,
    inspect_table,
    row_count_text,
)
from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Grouped,
    Intent,
    Key,
    RowSelection,
    RowsIntent,
    SheetExport,
    Split,
    TableIntent,
)
from kbd_offline.interpretation import refused, understand
from kbd_offline.names import split_suffix
from kbd_offline.questions import as_answered, check_questions, compared_columns
from kbd_offline.request_text import UnclearError
from kbd_offline.table_choice import Reader, TableChoice, choose_sheet, choose_table, with_notes
from kbd_offline.workbooks import (
    column_widths,
    inspect_workbooks,
    is_book,
    on_sheet,
    take_sheets,
    wants_each_sheet,
)

__all__ = ["research_table"]

MAX_SHEETS = 100
"""More than anybody turns over; such a column is more likely one of names or amounts."""


def research_table(conversation: PlannerConversation, request: str) -> Findings:
    """Read a request about one table and complete it by looking.

    Raises:
        UnclearError: It has no reading, or more than one.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """

    def read(files: RequestFiles, columns: tuple[ColumnIntent, ...]) -> Intent:
        return understand(request, files, columns)

    try:
        choice = choose_table(conversation, request, read)
    except UnclearError as unclear:
        # Nothing is declined before the files were looked at.
        conversation.call("list_files")
        # That it can never be done says more than that a file is missing.
        raise UnclearError(refused(without_stems(request)) or str(unclear)) from None
    try:
        return _inspected(conversation, request, choice, read)
    except (CallFailedError, UnclearError) as failed:
        source = choice.files.source
        told = str(failed)
        raise UnclearError(told if told.startswith(source) else f"{source}: {told}") from None


def _inspected(
    conversation: PlannerConversation, request: str, choice: TableChoice, read: Reader
) -> Findings:
    files = choice.files
    if is_book(files.source) and not files.sheet:
        (book,) = inspect_workbooks(conversation, [files.source])
        chosen, text = take_sheets(files.text, book.sheets)
        if len(chosen or book.filled) > 1 or wants_each_sheet(text):
            files = msgspec.structs.replace(files, text=text)
            try:
                return read_sheets(conversation, files, book, chosen)
            except UnclearError:
                reader = _of_sheet_column(read) if wants_each_sheet(text) else read
                sheet = None if chosen else choose_sheet(conversation, files, book, reader)
                if sheet is None:
                    raise
                choice = sheet
    files = on_sheet(conversation, choice.files)
    found = _understood(conversation, request, files)
    return msgspec.structs.replace(found, intent=with_notes(found.intent, choice.notes))


def _of_sheet_column(read: Reader) -> Reader:
    """Return a reading of "each sheet" as the values of a column that is called so.

    Only where another column is named beside it: "the rows of each sheet" may be those of each
    sheet of the workbook.
    """

    def read_keyed(files: RequestFiles, columns: tuple[ColumnIntent, ...]) -> Intent:
        intent = read(files, columns)
        own = {column.name for column in columns if wants_each_sheet(f"each {column.name}")}
        named = {column.name for column in compared_columns(intent)}
        if own & named and named - own:
            return intent
        return Declined(files.text, "it speaks of every sheet")

    return read_keyed


def _understood(conversation: PlannerConversation, request: str, files: RequestFiles) -> Findings:
    # A copy of the whole names no column, so the words alone tell it; then the table is read as it
    # is written, with its totals.
    keeps_totals = _keeps_totals(understand(request, files, ()))
    table = TableIntent(files.source, files.sheet, keeps_totals=keeps_totals)
    seen = inspect_table(conversation, table)
    intent = understand(request, files, seen.columns)
    if not isinstance(intent, Declined) and _keeps_totals(intent) != keeps_totals:
        table = msgspec.structs.replace(table, keeps_totals=not keeps_totals)
        seen = inspect_table(conversation, table)
        intent = understand(request, files, seen.columns)
    intent = _as_asked(seen, intent, request, files)
    if not seen.rows:
        intent = _without_rows(seen, intent, understand(request, files, _as_numbers(seen)))
    if isinstance(intent, Split | Grouped | RowsIntent):
        intent = _compared(conversation, intent)
    intent = _measured(conversation, intent)
    return Findings(intent, seen.lines, (EMPTY_FIELDS, *seen.warnings), _samples(intent))


def _as_asked(seen: FileFinding, intent: Intent, request: str, files: RequestFiles) -> Intent:
    """Return the intent, where what is not known of some columns makes no difference to it.

    A column whose numbers can be read in two ways holds texts until that is answered: "totals" are
    none of it then, and "the total" is that of another column. So the request is read once more
    as if it were answered.

    Raises:
        UnclearError: It would be another job.
    """
    columns = as_answered(seen.facts, seen.columns)
    answered = intent if columns == seen.columns else understand(request, files, columns)
    check_questions(seen.facts, intent, answered)
    if isinstance(answered, Split) and isinstance(intent, Split):
        # What is not summed, as it does not add up, is said of these columns, too.
        selection = msgspec.structs.replace(intent.selection, notes=answered.selection.notes)
        return msgspec.structs.replace(intent, selection=selection)
    return answered if isinstance(answered, Declined) else intent


def _keeps_totals(intent: Intent) -> bool:
    return isinstance(intent, RowsIntent) and intent.selection.keeps_totals


def _as_numbers(seen: FileFinding) -> tuple[ColumnIntent, ...]:
    """Return the columns of a table without rows as ones of numbers, for nothing tells."""
    return tuple(ColumnIntent(column.name, "float") for column in seen.columns)


def _without_rows(seen: FileFinding, intent: Intent, as_numbers: Intent) -> Intent:
    """Return the intent for a table that has columns and nothing below them.

    Args:
        seen: The table.
        intent: What was read with columns of texts, as they are.
        as_numbers: What is read if they held numbers.

    Raises:
        UnclearError: There is nothing to work out.
    """
    empty = "it has column names and no rows below them"
    if isinstance(intent, Declined) and not isinstance(as_numbers, Declined):
        raise UnclearError(f"{empty}, so there is nothing to work out")
    if isinstance(intent, Declined):
        return msgspec.structs.replace(
            intent, reason=f"{intent.reason}; {seen.table.label}: {empty}"
        )
    if isinstance(intent, Grouped) and any(each.function != "count" for each in intent.measures):
        raise UnclearError(f"{empty}, so there is nothing to work out")
    return intent


def _compared(conversation: PlannerConversation, intent: Split | Grouped | RowsIntent) -> Intent:
    """Check the values that an intent names, and see which count as one.

    Raises:
        UnclearError: No row has one of them.
    """
    check_values(conversation, intent.selection)
    _check_counted(conversation, intent.selection)
    columns = [key.column for key in _keys(intent) if key.part is None]
    selection = with_spellings(conversation, intent.selection, columns)
    return msgspec.structs.replace(intent, selection=selection)


def _check_counted(conversation: PlannerConversation, selection: RowSelection) -> None:
    """Check that a count of what a column names is that of the rows: "how many customers".

    Raises:
        UnclearError: Some values are there more than once, or some are empty.
    """
    columns = selection.counted
    if not columns:
        return
    query = sql.counts(selection, columns)
    answer = conversation.call("table_query", **selection.table.arguments, query=query)
    rows, *different = map(int, answer["rows"][0])
    for column, count in zip(columns, different, strict=True):
        if count != rows:
            raise UnclearError(
                f"it may be of the {row_count_text(rows)}, or of the {count:,} different values of "
                f'"{column.name}": say "count rows" or "count different {column.name}"'
            )


def _keys(intent: Split | Grouped | RowsIntent) -> tuple[Key, ...]:
    match intent:
        case Split():
            return (intent.key,)
        case Grouped():
            return intent.keys
        case RowsIntent():
            return ()


def _measured(conversation: PlannerConversation, intent: Intent) -> Intent:
    """Complete an intent with values, counts and widths from the tables."""
    match intent:
        case Split():
            return _measured_split(conversation, intent)
        case RowsIntent():
            table = intent.selection.table.arguments
            counted = ("table_query", {**table, "query": sql.count_rows(intent.selection)})
            if split_suffix(intent.target)[1] != BOOK_SUFFIX:
                (count,) = conversation.calls(counted)
                return msgspec.structs.replace(intent, rows=int(count["rows"][0][0]))
            count, widths = conversation.calls(
                counted, ("table_query", {**table, "query": sql.widths(intent.columns)})
            )
            found = int(count["rows"][0][0])
            check_sheet(found, len(intent.columns))
            fitted = column_widths(intent.columns, widths["rows"][0])
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
    # The window has as many values as are allowed; the total tells whether there are more.
    count = int(values["total_row_count"])
    if count > MAX_SHEETS:
        raise UnclearError(f'"{key.label}" has {count} values; I make up to {MAX_SHEETS} sheets')
    if not count:
        raise UnclearError("no row is left to put on a sheet")
    found = [(row[0], int(row[1])) for row in values["rows"]]
    check_sheet(max(rows for _, rows in found), len(intent.columns))
    reserved = (intent.summary_sheet,) if intent.measures else ()
    names = sheet_names((value or "" for value, _ in found), reserved)
    parts = (SheetExport(name, *one) for name, one in zip(names, found, strict=True))
    fitted = column_widths(intent.columns, widths["rows"][0])
    return msgspec.structs.replace(intent, parts=tuple(parts), widths=fitted)


def _samples(intent: Intent) -> tuple[str, ...]:
    if isinstance(intent, Split):
        return tuple(f"{part.sheet}: {row_count_text(part.rows)}" for part in intent.parts)
    return ("None needed: the figures are worked out over all rows.",)
