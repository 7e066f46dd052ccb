"""From a request and a table to an intent: the readings that the offline provider knows. Pure.

Nothing is passed over in silence: a word that no clause has taken and that is not plainly harmless
makes the request unclear, for it may be the one that matters.
"""

import re
from collections.abc import Sequence

from kbd_offline.clauses import (
    countable,
    measures_of,
    take_columns,
    take_conditions,
    take_figures,
    take_keys,
    take_order,
)
from kbd_offline.files import BOOK, BOOK_SUFFIX, RESULT, RequestFiles, said_suffix, target_for
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
from kbd_offline.names import split_suffix
from kbd_offline.request_text import FUNCTION_WORDS, UnclearError, Wording
from kbd_offline.vocabulary import HARMLESS, REFUSED

__all__ = ["refused", "shortened", "understand"]

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
_ONE_KEY = "a sheet is made for each value of one column, and it names several."
_MAX_QUOTED = 200


def understand(request: str, files: RequestFiles, columns: Sequence[ColumnIntent]) -> Intent:
    """Return what a request asks of a table, or why it is declined."""
    reason = refused(files.text, columns)
    if reason:
        return Declined(shortened(request), reason)
    try:
        return _understand(files, Wording(files.text, columns))
    except UnclearError as unclear:
        names = ", ".join(f'"{column.name}"' for column in columns)
        return Declined(shortened(request), f"{unclear} (The columns of {files.source}: {names}.)")


def refused(text: str, columns: Sequence[ColumnIntent] = ()) -> str | None:
    """Return why a request is declined by its words alone, or None."""
    wording = Wording(text, columns, has_synonyms=False)
    for mention in wording.mentions():
        wording.take(mention.start, mention.end)
    for quoted in re.finditer(r"[\"“`][^\"”`]*[\"”`]", text):
        wording.take(*quoted.span())
    for what, pattern in REFUSED:
        found = wording.find(pattern)
        if found:
            return f'I cannot {what} ("{text[found.start() : found.end()]}").'
    return None


def shortened(request: str) -> str:
    """Return a request on one line, at most 200 characters."""
    line = " ".join(request.split())
    return line if len(line) <= _MAX_QUOTED else line[: _MAX_QUOTED - 1] + "…"


def _understand(files: RequestFiles, wording: Wording) -> Intent:
    is_split = wording.has(_SHEETS)
    if wording.has(_FILES) and not wording.has(BOOK):
        raise UnclearError("I make sheets of one workbook, not a file for each value.")
    names_kind = wording.has(RESULT) or files.target is not None
    question, converts = wording.has(_QUESTION), wording.has(_CONVERT)
    whole = Wording(files.text)
    order = take_order(wording)
    conditions, any_of = take_conditions(wording)
    selection = RowSelection(files.source, conditions, any_of, files.sheet)
    keys = take_keys(wording)
    if is_split and keys:
        return _split(files, wording, selection, keys, order)
    if _asks_for_figures(wording):
        figures = take_figures(wording)
        measures = measures_of(figures, countable(wording.columns))
        wording.check_rest(HARMLESS, [files.source])
        ordered = tuple(_of_result(one, keys, measures) for one in order)
        answers = (question or not keys) and not names_kind
        suffix = _suffix(files, whole, book_by_default=True)
        target = None if answers else target_for(files, "summary", suffix)
        return Grouped(selection, keys, measures, ordered, target)
    if keys:
        raise UnclearError("it groups by a column, but does not say what to work out")
    columns = take_columns(wording)
    wording.check_rest(HARMLESS, [files.source])
    # Of a sheet it is enough to say into what: that it is a table was said already.
    is_converted = names_kind and (converts or bool(files.sheet))
    if not (conditions or order or columns or is_converted):
        raise UnclearError("I found nothing in it that I can do with a table.")
    name = split_suffix(files.source)[0].rpartition("/")[2]
    ending = "-filtered" if conditions else "-sorted" if order else "-selected" if columns else ""
    suffix = _suffix(files, whole, book_by_default=False)
    target = target_for(files, name + ending, suffix)
    _check_order(order, wording.columns)
    is_whole = not (conditions or order or columns)
    return RowsIntent(selection, columns or wording.columns, order, target, is_whole=is_whole)


def _split(
    files: RequestFiles,
    wording: Wording,
    selection: RowSelection,
    keys: tuple[Key, ...],
    order: tuple[SortOrder, ...],
) -> Split:
    if len(keys) > 1:
        raise UnclearError(_ONE_KEY)
    while again := take_keys(wording):  # "… and a summary with totals per category"
        if again != keys:
            raise UnclearError(_ONE_KEY)
    wants_totals = wording.has(_TOTALS) or _asks_for_figures(wording)
    columns = take_columns(wording) or wording.columns
    figures = take_figures(wording)
    wording.check_rest(HARMLESS, [files.source])
    _check_order(order, wording.columns)
    measures: tuple[Measure, ...] = ()
    if wants_totals:
        numbers = countable(columns)
        named = [figure for figure in figures if figure.column or figure.function != "total"]
        # Plain "totals" are those of every column of numbers that the sheets show.
        totals = tuple(Measure("total", column) for column in numbers)
        measures = measures_of(named, numbers) if named else totals
        # Rows, so that the count agrees with the sheet that it tells of.
        counted = Measure("count")
        measures = (counted, *(one for one in measures if one.function != "count"))
    target = target_for(files, "summary", BOOK_SUFFIX)
    if split_suffix(target)[1] != BOOK_SUFFIX:
        raise UnclearError("sheets need a workbook: name the result with .xlsx.")
    return Split(selection, keys[0], tuple(columns), order, measures, target)


def _asks_for_figures(wording: Wording) -> bool:
    words = "|".join(FUNCTION_WORDS)
    return wording.has(rf"\b(?:{words})s?\b|\bhow\s+m(?:any|uch)\b")


def _suffix(files: RequestFiles, wording: Wording, *, book_by_default: bool) -> str:
    """Return the suffix of the result."""
    said = said_suffix(wording)
    if said is not None:
        return said
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
