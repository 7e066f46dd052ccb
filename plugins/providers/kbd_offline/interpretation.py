"""Interpretation of a request: the kind of job by its verbs, the intent by its words. Pure.

Nothing is passed over in silence: a word that no clause has taken and that is not plainly harmless
makes the request unclear, for it may be the one that matters. What is not done is declined with a
reason.
"""

import re
from collections.abc import Sequence
from enum import Enum, auto

import msgspec

from kbd_offline.abilities import all_abilities, asks_for_abilities, nearest_abilities
from kbd_offline.answers import NOT_DONE
from kbd_offline.clauses import (
    FigureClause,
    countable,
    counted_columns,
    measures_of,
    take_clause_words,
    take_columns,
    take_figure_order,
    take_figures,
    take_keys,
    take_listed,
    take_order,
    take_plain_totals,
)
from kbd_offline.conditions import take_conditions
from kbd_offline.equality import take_exactness
from kbd_offline.files import (
    BOOK,
    BOOK_SUFFIX,
    LEADS_TO_RESULT,
    NOT_SHEETS,
    RESULT,
    RequestFiles,
    check_written,
    requested_suffix,
    target_for,
)
from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Grouped,
    Intent,
    Key,
    Measure,
    RowSelection,
    RowsIntent,
    SortOrder,
    Split,
)
from kbd_offline.names import fold, split_suffix
from kbd_offline.request_text import (
    COLUMNS_LISTED,
    FUNCTION_WORDS,
    HARMLESS,
    QUOTED,
    REFUSED,
    UnclearError,
    Wording,
)

__all__ = ["NOT_A_MODEL", "JobKind", "decline_text", "job_of", "refused", "shortened", "understand"]


class JobKind(Enum):
    """The kinds of jobs; each is read by rules of its own."""

    TABLE = auto()
    DEDUPE = auto()
    MERGE = auto()
    PROFILE = auto()
    REPLACE = auto()


# A verb counts where a sentence or its next part begins: "by Merge Status" asks for no merge.
_BEGINS = (
    r"(?:^|[.,;:!]|\b(?:and|then|please|to|you|just|kindly|lets?|now|first|bitte|want|need)\b)\s*"
    r"(?:(?:please|just|also|do)\s+)*"
)
# Verb and object stand close, in one sentence; further apart they are of two clauses.
_DEDUPE = (
    rf"{_BEGINS}(?:de-?dup\w*|dedup\w*)"
    r"|\b(?:remov|delet|drop|strip|eliminat|clean|purg|discard|get\s+rid|without"
    r"|leav\w*\s+out|filter\s+out|throw\s+out)\w*\b[^.;]{0,40}?"
    r"\b(?:duplicat\w*|repeated\s+(?:rows|records|entries|lines)|doubles|double\s+rows)\b"
    r"|\bduplicat\w*\b[^.;]{0,40}?\b(?:remove|delete|drop)\s+(?:them|those|these)\b"
    r"|\b(?:remov|delet|drop)\w*\s+(?:the\s+|all\s+)*(?:rows|records|entries|lines)\s+"
    r"(?:with|having|(?:that|which)\s+(?:have|share))\s+the\s+same\b"
    rf"|{_BEGINS}(?:keep|get|list|only|give\s+me)\s+(?:only\s+)?(?:the\s+)?(?:unique|distinct)"
    r"\s+(?:rows|records|entries|lines)\b"
)
_MERGE = (
    rf"{_BEGINS}(?:merge|combine|concat\w*|stack|consolidate|append|join|unite|union)\b"
    rf"|{_BEGINS}put\s+(?!each|every)[^.;]{{0,80}}?\b(?:together|(?:in|into)\s+(?:one|a\s+single)"
    r"\s+(?:file|table|list))\b"
)
_PROFILE = (
    rf"{_BEGINS}profile\b|\b(?:a|an|the|data|file|quality)\s+(?:data\s+)?profile\s+(?:of|for|report)\b"
    r"|\bdata\s+profiles?\b|\bprofiling\b"
    r"|\b(?:summary|descriptive|column)\s+statistics\b"
    r"|\b(?:data\s+quality|profile)\s+report\b|\binventory\s+of\b"
    r"|\b(?:report|overview)\s+(?:of|on|about)\s+(?:(?:the|these|all|my|what)\s+)*"
    r"(?:(?:csv|excel|word|data)\s+)?(?:files?|workbooks?|documents|tables)\b"
    rf"|{_BEGINS}describe\s+(?:(?:the|these|all|my|data)\s+)*(?:files?|tables?|columns|data)\b"
)
_THINGS = (
    r"(?:all|every|each|any|the|of|occurrences?|instances?|words?|texts?|terms?|phrases?|strings?"
    r"|names?)"
)
_REPLACE = (
    rf"{_BEGINS}(?:find\s+(?:and|&)\s+)?(?:replac|substitut)\w*\b|\bfind\s+(?:and|&)\s+replace\b"
    rf"|{_BEGINS}(?:change|rename|correct|swap|turn|fix)\s+(?:{_THINGS}\s+)*\"[^\"]*\""
    r"\s*(?:to|into|for|with|by)\s+(?:the\s+)?\""
    rf"|{_BEGINS}(?:remove|delete|erase)\s+(?:{_THINGS}\s+)+\""
    rf"|{_BEGINS}find\b[^.;]*?\band\s+(?:replace|change)\b"
)
_RULES = (
    (JobKind.REPLACE, _REPLACE),
    (JobKind.DEDUPE, _DEDUPE),
    (JobKind.MERGE, _MERGE),
    (JobKind.PROFILE, _PROFILE),
)


def job_of(text: str) -> JobKind:
    """Return the kind of job that a request asks for.

    Args:
        text: The request, the names of files blanked.

    Raises:
        UnclearError: It asks for two of them at once.
    """
    # What stands in quotes is a text or a name, and asks for nothing.
    # The quotes stay, for `_REPLACE` asks for them.
    bare = re.sub(QUOTED, lambda found: '"' + " " * (len(found.group()) - 2) + '"', text)
    folded = fold(bare)
    found = [job for job, pattern in _RULES if re.search(pattern, folded)]
    if len(found) > 1:
        names = " and ".join(job.name.lower() for job in found)
        raise UnclearError(f"it asks for two jobs ({names}): ask for one after the other")
    return found[0] if found else JobKind.TABLE


NOT_A_MODEL = "kbd's offline provider did this by fixed rules; it is not a language model."

_A_MODEL = """\
For anything else connect a model: set OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your \
own) and use --model openai:NAME."""


def decline_text(intent: Declined) -> str:
    """Return what was understood, why it is not done, what comes near, how to connect a model.

    Where what can be done is all that was asked for, that is the answer.
    """
    if asks_for_abilities(intent.understood):
        return f"{all_abilities()}\n{_A_MODEL}"
    return (
        f"{NOT_DONE}\n\n"
        f"I read the request as: {intent.understood}\n"
        f"Why not: {intent.reason}\n\n"
        "I am kbd's offline provider: fixed rules, not a language model.\n"
        f"{nearest_abilities(intent.understood)}\n"
        f"{_A_MODEL}"
    )


_SHEETS = (
    r"\b(?:one|own|separate|individual|different|single|a|new|its\s+own)\s+(?:work)?(?:sheet|tab)s?\b"
    r"|\b(?:work)?(?:sheet|tab)s?\s+(?:for\s+each|for\s+every|per|by|for\s+all)\b"
    r"|\b(?:each|every)\s+\S+\s+(?:on|in|to|into|as)\s+\S+\s+(?:own\s+)?(?:work)?(?:sheet|tab)\b"
    r"|\b(?:split|divide|separate|break)\b"
)
_FILES = r"\b(?:separate|own|individual|different|one)\s+(?:csv\s+)?files?\b"
_CONVERT = r"\b(?:convert|export|save|turn|transform|change|make|write|copy|create)\b"
_QUESTION = r"^\s*(?:what|which|how|who|is|are|do|does|tell)\b|\?\s*$"
_TOTALS = r"\b(?:summary|overview|(?:sub-?)?totals?|sums?)\b"
_ONE_KEY = "a sheet is made for each value of one column, and it names several"
_MAX_QUOTED = 200


def understand(request: str, files: RequestFiles, columns: Sequence[ColumnIntent]) -> Intent:
    """Return what a request asks of a table, or why it is declined."""
    reason = refused(files.text, columns)
    if reason:
        return Declined(shortened(request), reason)
    exact, text = take_exactness(files.text)
    files = msgspec.structs.replace(files, text=text)
    try:
        return _understand(files, Wording(text, columns), exact=exact)
    except UnclearError as unclear:
        names = ", ".join(f'"{column.name}"' for column in columns)
        return Declined(shortened(request), f"{unclear}{COLUMNS_LISTED}{files.source}: {names})")


def refused(text: str, columns: Sequence[ColumnIntent] = ()) -> str | None:
    """Return why a request is declined by its words alone, or None."""
    wording = Wording(text, columns, has_synonyms=False)
    # A word in quotes or in a column's name ("Share", "Currency") asks for nothing.
    for mention in wording.mentions():
        wording.take(mention.start, mention.end)
    for quoted in re.finditer(r"[\"“`][^\"”`]*[\"”`]", text):
        wording.take(*quoted.span())
    for what, pattern in REFUSED:
        found = wording.find(pattern)
        if found:
            return f'I cannot {what} ("{text[found.start() : found.end()]}")'
    return None


def shortened(request: str) -> str:
    """Return a request on one line, at most 200 characters."""
    line = " ".join(request.split())
    return line if len(line) <= _MAX_QUOTED else line[: _MAX_QUOTED - 1] + "…"


def _understand(files: RequestFiles, wording: Wording, *, exact: bool) -> Intent:
    listed = take_listed(wording)
    figures = take_clause_words(wording)
    is_split = wording.has(_SHEETS)
    if wording.has(_FILES) and not wording.has(BOOK):
        raise UnclearError("I make sheets of one workbook, not a file for each value")
    names_kind = wording.has(RESULT) or files.target is not None
    question, converts = wording.has(_QUESTION), wording.has(_CONVERT)
    # Clauses take words that also tell the kind of the result, so it is asked of a whole text.
    whole = Wording(files.text)
    # Sorting first, or its "by" would be read as the beginning of a key.
    order = take_order(wording)
    conditions, any_of = take_conditions(wording)
    selection = RowSelection(files.source, conditions, any_of, files.sheet, exact)
    keys = take_keys(wording)
    asks_figures = bool(figures) or _asks_for_figures(wording)
    if listed and (asks_figures or keys):
        names = " and ".join(f'"{column.name}"' for column in listed)
        raise UnclearError(f"it chooses the columns {names} and asks for figures or groups, too")
    if is_split and keys:
        return _split(files, wording, selection, keys, order, figures)
    if asks_figures:
        figures += take_figures(wording)
        measures = measures_of(figures, wording.columns)
        selection = msgspec.structs.replace(selection, counted=counted_columns(figures))
        ordered = tuple(_of_result(one, keys, measures) for one in order)
        ordered = ordered or take_figure_order(wording, measures)
        _check_rest(wording, files)
        # A question and a single figure are answered in words, unless a file is asked for.
        answers = (question or not keys) and not names_kind
        suffix = _suffix(files, whole, book_by_default=True)
        target = None if answers else target_for(files, "summary", suffix)
        return Grouped(selection, keys, measures, ordered, target)
    if keys:
        raise UnclearError("it groups by a column, but does not say what to work out")
    columns = listed or take_columns(wording)
    _check_rest(wording, files)
    # "To parquet" or the name of a result is enough; of a sheet, whatever says into what.
    leads = whole.has(LEADS_TO_RESULT) or files.target is not None
    is_converted = names_kind and (converts or leads or bool(files.sheet))
    if not (conditions or order or columns or is_converted):
        raise UnclearError("I found nothing in it that I can do with a table")
    name = split_suffix(files.source)[0].rpartition("/")[2]
    ending = "-filtered" if conditions else "-sorted" if order else "-selected" if columns else ""
    suffix = _suffix(files, whole, book_by_default=False)
    target = target_for(files, name + ending, suffix)
    _check_order(order, wording.columns)
    is_whole = not (conditions or order or columns)
    # A copy of the whole is one with its totals.
    selection = msgspec.structs.replace(selection, keeps_totals=is_whole)
    return RowsIntent(selection, columns or wording.columns, order, target, is_whole=is_whole)


def _split(
    files: RequestFiles,
    wording: Wording,
    selection: RowSelection,
    keys: tuple[Key, ...],
    order: tuple[SortOrder, ...],
    figures: list[FigureClause],
) -> Split:
    if len(keys) > 1:
        raise UnclearError(_ONE_KEY)
    while again := take_keys(wording):  # "… and a summary with totals per category"
        if again != keys:
            raise UnclearError(_ONE_KEY)
    wants_totals = bool(figures) or wording.has(_TOTALS) or _asks_for_figures(wording)
    columns = take_columns(wording) or wording.columns
    take_plain_totals(wording)
    figures = [*figures, *take_figures(wording)]
    _check_rest(wording, files)
    if wording.has(NOT_SHEETS):
        raise UnclearError("sheets need a workbook: name the result with .xlsx")
    _check_order(order, wording.columns)
    measures: tuple[Measure, ...] = ()
    if wants_totals:
        numbers = countable(columns)
        named = [figure for figure in figures if figure.column or figure.function != "total"]
        # Plain "totals" are those of every column of numbers that the sheets show.
        totals = tuple(Measure("total", column) for column in numbers)
        measures = measures_of(named, columns) if named else totals
        if not named:
            selection = msgspec.structs.replace(selection, notes=_not_summed(columns))
        # Rows, so that the count agrees with the sheet that it tells of.
        selection = msgspec.structs.replace(selection, counted=counted_columns(named))
        counted = Measure("count")
        measures = (counted, *(one for one in measures if one.function != "count"))
    target = target_for(files, "summary", BOOK_SUFFIX)
    if split_suffix(target)[1] != BOOK_SUFFIX:
        raise UnclearError("sheets need a workbook: name the result with .xlsx")
    return Split(selection, keys[0], tuple(columns), order, measures, target)


def _check_rest(wording: Wording, files: RequestFiles) -> None:
    """Check that nothing is left that may matter, nor a kind of file that is not written."""
    check_written(wording)
    wording.check_rest(HARMLESS, [files.source])


def _not_summed(columns: Sequence[ColumnIntent]) -> tuple[str, ...]:
    """Return the notes on numbers that totals were not made of: no figures, or not all of them."""
    notes = []
    if left := [column for column in columns if column.is_number and column.role]:
        named = ", ".join(f"{column.name} ({column.role})" for column in left)
        same = f'say "total {left[0].name}" to have its sum all the same'
        notes.append(f"Not summed: {named}; {same}")
    texts = [column for column in columns if not column.is_number and _NUMBERS in column.why_text]
    notes += [f"Not summed: {column.name}: {column.why_text}" for column in texts[:_MAX_TEXTS]]
    if (more := len(texts) - _MAX_TEXTS) > 0:
        notes.append(f"Not summed, as they hold texts among numbers: {more} more columns")
    return tuple(notes)


_NUMBERS = "number"
"""What stands in the reason why numbers are kept as texts."""

_MAX_TEXTS = 5


def _asks_for_figures(wording: Wording) -> bool:
    words = "|".join(FUNCTION_WORDS)
    asked = re.finditer(rf"\b(?:{words})s?\b|\bhow\s+m(?:any|uch)\b", wording.folded)
    return any(not wording.is_quoted(one.start()) for one in asked)


def _suffix(files: RequestFiles, wording: Wording, *, book_by_default: bool) -> str:
    """Return the suffix of the result."""
    suffix = requested_suffix(wording)
    if suffix is not None:
        return suffix
    if files.target is not None and split_suffix(files.target)[1]:
        return split_suffix(files.target)[1]
    is_book = book_by_default or bool(files.sheet) or wording.has(BOOK)
    return BOOK_SUFFIX if is_book else ".csv"


def _of_result(order: SortOrder, keys: Sequence[Key], measures: Sequence[Measure]) -> SortOrder:
    """Return an order in terms of the columns of a grouped result."""
    for measure in measures:
        named = measure.column is not None and measure.column.name == order.column
        if order.column == f"@{measure.function}" or named:
            return SortOrder(measure.label, order.descending)
    for key in keys:
        if key.column.name == order.column:
            return SortOrder(key.label, order.descending)
    msg = f'the result has no column "{order.column.lstrip("@")}" to sort by'
    raise UnclearError(msg)


def _check_order(orders: Sequence[SortOrder], columns: Sequence[ColumnIntent]) -> None:
    for order in orders:
        if order.column not in {column.name for column in columns}:
            raise UnclearError(f'there is no column "{order.column.lstrip("@")}" to sort by')
