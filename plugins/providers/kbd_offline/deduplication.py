"""Rows that are there more than once, taken out: of a table, into a new file or in its place."""

import re

import msgspec

from kbd_offline import sql
from kbd_offline.clauses import columns_at, no_column
from kbd_offline.conversation import PlannerConversation
from kbd_offline.conversion import export_table
from kbd_offline.equality import take_exactness
from kbd_offline.files import (
    BOOK,
    BOOK_SUFFIX,
    READ_TABLES,
    TABLE_SUFFIXES,
    RequestFiles,
    check_written,
    requested_suffix,
    target_for,
)
from kbd_offline.findings import FileFinding, Findings, check_sheet, inspect_table, row_count_text
from kbd_offline.intents import ColumnIntent, Declined, Deduped, Intent, RowSelection, TableIntent
from kbd_offline.names import split_suffix
from kbd_offline.questions import check_questions
from kbd_offline.request_text import DEDUPING, UnclearError, Wording
from kbd_offline.table_choice import choose_table, on_chosen_sheet
from kbd_offline.workbooks import Sheet, column_widths, fill_sheet

__all__ = ["deduplicate", "research_deduplication"]

_SHEET = "Sheet1"
_IN_PLACE = (
    r"\b(?:in[- ]place|in\s+the\s+(?:same\s+)?file\s+itself|(?:change|edit|overwrite|update|modify)"
    r"\s+(?:the\s+|that\s+|this\s+)?(?:same\s+|original\s+|existing\s+)?(?:file|table|original|it)"
    r"(?:\s+itself)?)\b"
)
_UNTOUCHED = (
    r"\b(?:but\s+)?(?:don'?t|do\s+not|without|never|not)\s+(?:chang|edit|overwrit|updat|modif|touch)\w*"
    r"\s+(?:(?:the|that|this|my|same|original|existing|source)\s+)*(?:file|table|original|source|it)\b"
)
_OPPOSITE = (
    r"\b(?:keep\w*|only|show|list|find|but|except|give\s+me)\s+(?:(?:only|all|the|rows|with|of)\s+)*"
    r"(?:duplicat|repeated)|\b(?:remov|delet|drop)\w*\s[^,;.]*\bwithout\b"
)
_LAST = (
    r"\bkeep(?:ing)?\s+(?:only\s+)?(?:the\s+)?(?:last|latest|newest|most\s+recent)\b"
    r"(?:\s+(?:one|row|entry|record|occurrence)s?\b)?"
)
_DATED = re.compile(r"latest|newest|recent")
# A strong word has to be followed by a column; a weak one ("duplicates in the file") may be.
_BY = (
    r"\b(?P<strong>by|on|based\s+on|using|per|considering|comparing|for\s+(?:each|every)"
    r"|(?:with|have|having|share|sharing|where|whose|of)\s+(?:the\s+)?same|whose|where|same)\b"
    r"|\b(?:with|in|of|for|the|duplicated?|repeated|unique|distinct)\b"
)
_FILL = re.compile(
    r"(?:\s+(?:only|just|the|columns?|fields?|each|same|values?|of|in|identical|equal|unique)\b)*\s*:?"
)
_ALL = re.compile(r"(?:all|whole|entire|every|everything|rows?|exact|complete|full)\Z")


def research_deduplication(conversation: PlannerConversation, request: str) -> Findings:
    """Read a request to take out duplicates and count them.

    Raises:
        UnclearError: It has no reading, or more than one.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """

    def read(files: RequestFiles, columns: tuple[ColumnIntent, ...]) -> Intent:
        try:
            return parse_deduplication(files, columns)
        except UnclearError as unclear:
            return Declined(request, str(unclear))

    choice = choose_table(conversation, request, read)
    choice = on_chosen_sheet(conversation, choice, read)
    files = choice.files
    seen = inspect_table(conversation, TableIntent(files.source, files.sheet))
    intent = parse_deduplication(files, seen.columns)
    check_questions(seen.facts, intent)
    notes = choice.notes
    if intent.target == files.source:
        _check_in_place(seen)
    table = seen.table.arguments
    exactly = msgspec.structs.replace(
        intent, selection=msgspec.structs.replace(intent.selection, exact=True)
    )
    left, as_spelt, widths = conversation.calls(
        ("table_query", {**table, "query": sql.count_of(sql.unique(intent))}),
        ("table_query", {**table, "query": sql.count_of(sql.unique(exactly))}),
        ("table_query", {**table, "query": sql.widths(intent.columns)}),
    )
    rows = int(left["rows"][0][0])
    if unlike := int(as_spelt["rows"][0][0]) - rows:
        which = "1 of them differs" if unlike == 1 else f"{unlike:,} of them differ"
        notes += (f'{which} in capitals alone; say "exactly" to keep such rows',)
    intent = msgspec.structs.replace(
        intent, selection=msgspec.structs.replace(intent.selection, notes=notes)
    )
    if split_suffix(intent.target)[1] == BOOK_SUFFIX:
        check_sheet(rows, len(intent.columns))
    fitted = column_widths(intent.columns, widths["rows"][0])
    measured = msgspec.structs.replace(intent, rows=rows, removed=seen.rows - rows, widths=fitted)
    return Findings(
        measured, seen.lines, seen.warnings, (f"{row_count_text(measured.removed)} to be removed",)
    )


def parse_deduplication(files: RequestFiles, columns: tuple[ColumnIntent, ...]) -> Deduped:
    """Return what a request asks to take out.

    Raises:
        UnclearError: It has no reading, or more than one.
    """
    exact, text = take_exactness(files.text)
    wording = Wording(text, columns)
    # Left whole: what is taken out below may hold the words for the kind of the result.
    whole = Wording(files.text)
    if wording.has(_OPPOSITE):
        raise UnclearError("I take duplicates out; I do not keep or list only them")
    # First, for "do not change the file" holds "change the file".
    untouched = wording.find(_UNTOUCHED)
    if untouched:
        wording.take(*untouched.span())
    place = wording.find(_IN_PLACE)
    if place:
        wording.take(*place.span())
    last = wording.find(_LAST)
    if last:
        if _DATED.search(last.group()):
            raise UnclearError(
                'rows can be kept by their place in the file: say "keep the first" or "the last"'
            )
        wording.take(*last.span())
    keys = _take_keys(wording)
    check_written(wording)
    wording.check_rest(DEDUPING, [files.source])
    return Deduped(
        RowSelection(files.source, sheet=files.sheet, exact=exact),
        columns,
        keys,
        last is not None,
        _target(files, whole, in_place=place is not None),
    )


def deduplicate(conversation: PlannerConversation, intent: Deduped) -> str:
    """Write the rows that stay and tell how many went.

    Raises:
        PendingError, CallFailedError: As for `PlannerConversation.call`.
        ValidationFailed: What was written is not what was counted.
    """
    table = intent.selection.table
    is_book = split_suffix(intent.target)[1] == BOOK_SUFFIX
    query = sql.unique(intent, for_sheet=is_book)
    if not intent.removed and intent.target == intent.selection.source:
        return f"{_found(intent)}; {intent.target} was not touched."
    if is_book:
        sheet = Sheet(
            intent.target, _SHEET, table, query, intent.columns, intent.rows, intent.widths
        )
        fill_sheet(conversation, sheet)
        outcome = f"{intent.target} has {row_count_text(intent.rows)}; read back and counted."
    else:
        outcome = export_table(conversation, table, intent.target, query, intent.rows)
    return f"{_found(intent)}. {outcome}{_formed(intent)}"


def _found(intent: Deduped) -> str:
    same = f"the same {_named(intent.keys)}" if intent.keys else "the same values"
    count = intent.removed
    if not count:
        return f"No row of {intent.selection.table.label} has {same} as another"
    which = "a later" if intent.keeps_last else "an earlier"
    rows = "1 row was" if count == 1 else f"{count:,} rows were"
    blank = "; rows without any value there were all kept" if intent.keys else ""
    return (
        f"{rows} removed from {row_count_text(intent.rows + count)}: {which} one has {same}{blank}"
    )


def _named(columns: tuple[ColumnIntent, ...]) -> str:
    return ", ".join(column.name for column in columns)


def _formed(intent: Deduped) -> str:
    """Return the note that a text table's dates and fractions are written in one form."""
    kinds = {column.type for column in intent.columns}
    if split_suffix(intent.target)[1] not in TABLE_SUFFIXES or not kinds & {"date", "float"}:
        return ""
    return " Dates are written as YYYY-MM-DD, fractions with a point."


def _take_keys(wording: Wording) -> tuple[ColumnIntent, ...]:
    """Take the columns that tell rows apart; none if whole rows are compared.

    Raises:
        UnclearError: A column is meant that is not there, or several may be meant.
    """
    start = 0
    while (clause := wording.find(_BY, start)) is not None:
        start = clause.end()
        filled = _FILL.match(wording.folded, start)
        first = filled.end() if filled else start
        # A name may begin with such a word ("Value Date").
        columns, end = columns_at(wording, start) if wording.column_at(start, exact=True) else (
            columns_at(wording, first)
        )  # fmt: skip
        if columns:
            wording.take(clause.start(), end)
            return columns
        word = wording.word_at(first)
        if clause.group("strong") and word and not _ALL.match(word.group()):
            raise no_column(wording, wording.original[word.start() : word.end()])
    return ()


def _target(files: RequestFiles, whole: Wording, *, in_place: bool) -> str:
    if in_place:
        if files.target is not None:
            raise UnclearError(f"it asks to change {files.source} and to write {files.target}")
        return files.source
    stem, suffix = split_suffix(files.source)
    stem = stem.rpartition("/")[2]
    plain = suffix if suffix in TABLE_SUFFIXES else BOOK_SUFFIX
    requested = requested_suffix(whole)
    kind = requested or (BOOK_SUFFIX if plain in TABLE_SUFFIXES and whole.has(BOOK) else plain)
    return target_for(files, f"{stem}-deduped", kind)


def _check_in_place(seen: FileFinding) -> None:
    """Check that a file can be written again as it was.

    Raises:
        UnclearError: It would come out in another form.
    """
    path, suffix = seen.table.path, split_suffix(seen.table.path)[1]
    if suffix in READ_TABLES and suffix not in TABLE_SUFFIXES:
        raise UnclearError(f"{path} is of a kind that I read and do not write; I make a new file")
    if suffix not in TABLE_SUFFIXES:
        raise UnclearError(
            f"rows are not taken out of {path} in place: formulas and looks would stay behind;"
            " I make a new workbook of it"
        )
    delimiter = seen.facts.get("delimiter", ",")
    expected = {".csv": ",", ".psv": "|"}.get(suffix, "\t")
    encoding = str(seen.facts.get("encoding_detected", "utf-8"))
    if delimiter != expected or encoding not in ("utf-8", "ascii"):
        raise UnclearError(
            f"{path} has {delimiter!r} between its fields and is {encoding}, and I would write it"
            f" with {expected!r} as utf-8; I make a new file of it"
        )
