"""Sheets of a workbook, each into a text table or Parquet file of its own.

Tables written as plain text, and how many rows they got.
"""

import re
from collections.abc import Sequence

from kbd.errors import ValidationFailed
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.files import BOOK_SUFFIX, RequestFiles, check_written, requested_suffix
from kbd_offline.findings import Findings, row_count_text
from kbd_offline.intents import SheetOut, Sheets, TableIntent
from kbd_offline.names import free_name, split_suffix
from kbd_offline.request_text import CONVERTING, UnclearError, Wording
from kbd_offline.summing_rows import kept_rows_text
from kbd_offline.workbooks import WorkbookFacts

__all__ = ["convert_sheet", "export_table", "export_whole", "read_sheets"]


def export_table(
    conversation: PlannerConversation,
    table: TableIntent,
    target: str,
    query: str | None = None,
    rows: int | None = None,
) -> str:
    """Write a table as plain text or Parquet, check how many rows were written, and tell it.

    Args:
        conversation: See `PlannerConversation.call` for what it raises.
        table: What is read.
        target: The file.
        query: What makes its rows; without one the table goes over as it is, numbers as spelt.
        rows: How many there should be, if that is known.

    Raises:
        ValidationFailed: There are more or fewer rows.
    """
    asked = {} if query is None else {"query": query}
    kind = "parquet" if split_suffix(target)[1] == ".parquet" else "csv"
    written = conversation.call(
        "table_export", **table.arguments, target_path=target, format=kind, **asked
    )
    count = int(written["row_count"])
    if rows is not None and count != rows:
        raise ValidationFailed(f"{target} has {row_count_text(count)} instead of {rows:,}")
    # Of a text table they tell of its encoding and types; of a sheet, of what is not in its table.
    warnings = written.get("warnings", ()) if table.sheet else ()
    return " ".join([f"{target} has {row_count_text(count)}.", *map(str, warnings)])


def export_whole(
    conversation: PlannerConversation, table: TableIntent, target: str, rows: int
) -> str:
    """Write a table as it is, and tell which of its rows sum others up; see `export_table`."""
    written = export_table(conversation, table, target, rows=rows)
    kept = kept_rows_text(conversation, table)
    return f"{written} {kept}" if kept else written


MAX_FILES = 100
# A sheet's name may hold quotes, angle brackets and bars; on Windows a file's name may not.
_FORBIDDEN = re.compile(r"[\x00-\x1f/\\:*?\"<>|]+")


def read_sheets(
    conversation: PlannerConversation,
    files: RequestFiles,
    book: WorkbookFacts,
    chosen: Sequence[str],
) -> Findings:
    """Read a request about several sheets of a workbook: only turning them into text is known.

    Raises:
        UnclearError: It asks for something else, or does not say into what.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    wording = Wording(files.text)
    suffix = requested_suffix(wording)
    check_written(wording)
    named = re.search(r"\b(csv|tsv|psv|parquet)\b", wording.folded)
    if suffix is None and named:
        suffix = f".{named.group(1)}"
    if suffix in (None, BOOK_SUFFIX):
        raise book.several()
    try:
        wording.check_rest(CONVERTING)
    except UnclearError as unclear:
        # Words of another job: that one is done with one sheet.
        raise UnclearError(f"{unclear}; {book.several()}") from None
    if files.target is not None:
        raise UnclearError(f"{book.path} has several sheets, and {files.target} is one name")
    return _found(conversation, files, book, chosen, suffix or ".csv")


def convert_sheet(conversation: PlannerConversation, intent: Sheets, number: int) -> str:
    """Write one sheet and tell it; see `export_table` for what it raises."""
    part = intent.parts[number - 1]
    table = TableIntent(intent.source, part.sheet, keeps_totals=True)
    return export_whole(conversation, table, part.target, part.rows)


def _found(
    conversation: PlannerConversation,
    files: RequestFiles,
    book: WorkbookFacts,
    chosen: Sequence[str],
    suffix: str,
) -> Findings:
    sheets = chosen or book.filled
    if len(sheets) > MAX_FILES:
        raise UnclearError(f"there are {len(sheets)} sheets, and I write up to {MAX_FILES} files")
    # As they are, with the rows that sum others up.
    tables = [TableIntent(book.path, sheet, keeps_totals=True) for sheet in sheets]
    outcomes = conversation.outcomes(*(("table_get_map", table.arguments) for table in tables))
    stem = split_suffix(book.path)[0].rpartition("/")[2]
    parts, notes, lines = list[SheetOut](), list[str](), list[str]()
    empty = [] if chosen else [sheet for sheet in book.sheets if sheet not in book.filled]
    for table, outcome in zip(tables, outcomes, strict=True):
        if isinstance(outcome, CallFailedError):
            # A sheet that was named must not be left out with a note.
            if chosen:
                raise UnclearError(str(outcome))
            notes.append(f"{table.sheet}: {outcome}")
            empty.append(table.sheet)
            continue
        # Two sheets may come to the same name once signs are taken out.
        taken = [*files.taken, *(part.target for part in parts)]
        name = _FORBIDDEN.sub(" ", table.sheet).strip(" .") or "sheet"
        target = free_name(f"{stem}-{name}{suffix}", taken)
        parts.append(SheetOut(table.sheet, target, int(outcome["row_count"])))
        lines.append(f"- {table.label}: {row_count_text(outcome['row_count'])}")
        notes += [f"{table.sheet}: {warning}" for warning in outcome.get("warnings", ())]
    if not parts:
        raise UnclearError(f"{book.path} has no sheet with a table on it")
    hidden = tuple(part.sheet for part in parts if part.sheet in book.hidden)
    intent = Sheets(book.path, tuple(parts), tuple(empty), hidden)
    return Findings(intent, tuple(lines), tuple(notes))
