"""The clauses of a request: sorting, grouping, columns, figures. Pure.

Each function takes its clause out of the wording and returns what it says, or raises
`UnclearError`.
"""

import difflib
import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from kbd_offline.intents import (
    ColumnIntent,
    Function,
    Key,
    Measure,
    Part,
    SortOrder,
)
from kbd_offline.names import fold, singular
from kbd_offline.request_text import (
    FUNCTION_WORDS,
    TAKEN,
    UnclearError,
    Wording,
)

__all__ = [
    "FigureClause",
    "columns_at",
    "countable",
    "counted_columns",
    "measures_of",
    "no_column",
    "take_clause_words",
    "take_columns",
    "take_figure_order",
    "take_figures",
    "take_keys",
    "take_listed",
    "take_order",
    "take_plain_totals",
]

# The word nearest to "by" counts: in "Order Date and Amount sorted by" the first is of a name.
_SORT = (
    r"\b(?:sort|sorted|sorting|order|ordered|ordering)\b"
    r"(?:\s+(?!(?:sort|sorted|sorting|ordered|ordering)\b)[^\W_]+){0,6}?\s+(?:by|on)\b"
)
_DOWN = (
    r"\s*[,(]?\s*(?:in\s+)?"
    r"(?:desc(?:ending)?\b|(?:new|lat|larg|high|bigg)est\s+first\b|z\s*-\s*a\b)"
)
_UP = r"\s*[,(]?\s*(?:in\s+)?(?:asc(?:ending)?\b|(?:old|earli|small|low)est\s+first\b|a\s*-\s*z\b)"
_ENDING = r"(?:\s*order\b)?\)?"
_THEN = r"[\"'”’`]*\s*(?:,\s*(?:and\s+)?(?:then\s+)?|and\s+(?:then\s+)?|then\s+)(?:by\s+)?"
_KEY = (
    r"\b(?:for\s+each|for\s+every|of\s+each|in\s+each|(?:grouped|group|split|broken\s+down)\s+by"
    r"|split\s+on|per|by|each|every|across)\b"
)
_ARTICLES = (
    r"(?:\s+(?:the|different|distinct|unique|single|individual|column|values?|of|in|its|their)\b)*"
)
_AND_KEY = re.compile(r"[\"'”’`]*\s*(?:,\s*|and\s+|&\s*)(?:(?:by|per)\s+)?(?:the\s+)?")
_PARTS: dict[str, Part] = {
    "month": "month", "monthly": "month", "quarter": "quarter", "quarterly": "quarter",
    "year": "year", "yearly": "year", "annual": "year",
}  # fmt: skip
# What may stand between a figure and its column: "total of the …", "how much did we spend".
_FILLER = re.compile(r"(?:\s+(up|of|the|all|in|for|did|do|have|we|you|i|they)\b)*")
_DIFFERENT = re.compile(
    r"\s+(?:(?:of|the|all)\s+)*(?:different|distinct|unique)\s+(?:values?\s+(?:of|in)\s+)?(?:the\s+)?"
)
_OF_DATE = re.compile(r"\s+(?:of|in|from)\s+(?:(?:the|each|its)\s+)?")
_LIST = (
    r"\b(?P<lead>with|showing|containing|including|columns?|select|keep|show|list|only)\b"
    r"(?:\s+(?:only|just|the|columns?|fields?|following|these)\b)*\s*:?"
)
_COMMA = r"[\"'”’`]*\s*(?:,\s*(?:and\s+)?|and\s+|&\s*|plus\s+)(?:the\s+)?"
# A list of columns may run into the next clause (", and save it …"): these words begin one, so
# they are not refused as columns that are not there.
_NO_COLUMN = {
    "a", "an", "another", "also", "average", "convert", "count", "each", "export", "filter", "in",
    "into", "it", "its", "keep", "make", "mean", "number", "one", "only", "order", "put", "save",
    "sheet", "sort", "sorted", "sum", "summary", "the", "them", "then", "total", "totals", "use",
    "with", "write", "where", "grand", "overview", "name", "call", "create", "add", "as", "to",
    "remove", "drop", "delete",
}  # fmt: skip


class FigureClause(NamedTuple):
    """A figure as it is asked for, with its column if one is named."""

    function: Function
    column: ColumnIntent | None


def take_order(wording: Wording) -> tuple[SortOrder, ...]:
    """Return what to sort by; a figure of a grouped result is named by its function."""
    clause = wording.find(_SORT)
    if clause is None:
        return ()
    orders: list[SortOrder] = []
    end = clause.end()
    while True:
        name, end = _sort_key(wording, end)
        down, up = (re.compile(way + _ENDING).match(wording.folded, end) for way in (_DOWN, _UP))
        # "Sort descending by Date, Name": a direction before "by" is the first key's alone.
        is_down = down is not None or (not orders and "descending" in clause.group())
        orders.append(SortOrder(name, descending=is_down))
        direction = down or up
        end = direction.end() if direction else end
        # A comma or an "and" may as well lead to the next clause; then the sorting ends here.
        more = re.compile(_THEN).match(wording.folded, end)
        if more is None or not _is_sort_key(wording, more.end()):
            break
        end = more.end()
    wording.take(clause.start(), end)
    return tuple(orders)


def take_figure_order(wording: Wording, measures: Sequence[Measure]) -> tuple[SortOrder, ...]:
    """Return the order of a grouped result by its first figure ("largest first"), if it is said."""
    clause = wording.find(
        r"[,(]?\s*\b(?:(?P<down>largest|highest|biggest|greatest)|smallest|lowest)\s+first\b\)?"
    )
    if clause is None:
        return ()
    wording.take(*clause.span())
    return (SortOrder(measures[0].label, descending=clause["down"] is not None),)


def take_keys(wording: Wording) -> tuple[Key, ...]:
    """Return what to group by: the columns after "per", "by", "for each"."""
    unknown = ""
    start = 0
    while (clause := wording.find(_KEY, start)) is not None:
        start = clause.end()
        if wording.is_quoted(clause.start()):
            continue  # a column that is called so
        place = re.compile(_ARTICLES).match(wording.folded, start)
        # A name may begin with such a word: "by unique carrier".
        named = wording.column_at(start, exact=True) is not None
        first = start if named or place is None else place.end()
        keys, end = _keys_at(wording, first)
        if keys:
            wording.take(clause.start(), end)
            return keys
        word = wording.word_at(first)
        # "Each sheet" and "every row" name no key. Another word is refused only at the end, for a
        # later "per" may still have a column behind it.
        if word and word.group() not in ("sheet", "file", "row", "one"):
            unknown = unknown or wording.original[word.start() : word.end()]
    adverb = wording.find(r"\b(?:monthly|quarterly|yearly|annual)\b")
    if adverb:
        wording.take(*adverb.span())
        return (Key(_only_date(wording), _PARTS[adverb.group()]),)
    if unknown:
        raise no_column(wording, unknown)
    return ()


def take_columns(wording: Wording) -> tuple[ColumnIntent, ...]:
    """Return the columns that a list names ("with Date, Description and Amount")."""
    start = 0
    while (clause := wording.find(_LIST, start)) is not None:
        start = clause.end()
        # A column may be called "The" or "Only", as what leads to a list goes on.
        called_so = wording.column_at(clause.end("lead"), exact=True) is not None
        first = wording.word_at(start)
        if first and first.group() in _PLURALS and not wording.is_quoted(first.start()):
            continue  # "with totals", although a column is called "Total"
        columns, end = columns_at(wording, clause.end("lead") if called_so else start)
        if columns:
            wording.take(clause.start(), end)
            return columns
    return ()


def take_listed(wording: Wording) -> tuple[ColumnIntent, ...]:
    """Take a list of columns of which one is called as a figure or clause is; before all clauses.

    "Only Count and Name" asks for no count.
    """
    start = 0
    while (clause := wording.find(_PLAIN_LIST, start)) is not None:
        start = clause.end()
        if wording.column_at(start, exact=True) is None:
            continue
        columns, end = columns_at(wording, start)
        names = {singular(fold(column.name)) for column in columns}
        if len(columns) > 1 and names & {*FUNCTION_WORDS, *_CLAUSE_WORDS}:
            wording.take(clause.start(), end)
            return columns
    return ()


def columns_at(wording: Wording, start: int) -> tuple[tuple[ColumnIntent, ...], int]:
    """Return the columns that a list at a place names, and where it ends; none if it is no list.

    Raises:
        UnclearError: It goes on with something that should be a column and is none, or a name in
            it may be that of several.
    """
    first = wording.column_at(start)
    if first is None:
        return (), start
    columns, end = [first.only()], first.end
    while (comma := re.compile(_COMMA).match(wording.folded, end)) is not None:
        mention = wording.column_at(comma.end())
        if mention is None:
            _check_end_of_list(wording, comma.end())
            break
        columns.append(mention.only())
        end = mention.end
    return tuple(dict.fromkeys(columns)), end


_PLURALS = ("totals", "sums", "averages", "counts", "subtotals")
_PLAIN_LIST = r"\b(?:only|select|keep|columns?)\b(?:\s+(?:the|columns?)\b)*\s*:?"
# Names of columns that are words of clauses, too: "total Order by Item" sorts nothing.
_CLAUSE_WORDS = ("order", "group", "sort", "sheet", "tab", "split", "by", "per", "each", "every")


def take_clause_words(wording: Wording) -> list[FigureClause]:
    """Take figures of columns that are called as a clause begins; before all clauses."""
    found = []
    functions, names = "|".join(FUNCTION_WORDS), "|".join(_CLAUSE_WORDS)
    start = 0
    clause = rf"(?<!\bby )(?<!\bper )\b({functions})\s+(?:of\s+)?(?:the\s+)?({names})s?\b"
    while (figure := wording.find(clause, start)) is not None:
        start = figure.end()
        mention = wording.column_at(figure.start(2), exact=True)
        if mention is not None:
            found.append(FigureClause(FUNCTION_WORDS[figure.group(1)], mention.only()))
            wording.take(figure.start(), mention.end)
    return found


def take_plain_totals(wording: Wording) -> None:
    """Take "totals" that stand for those of all numbers, although a column is called "Total"."""
    start = 0
    while (word := wording.find(r"\b(?:totals|subtotals|sums)\b", start)) is not None:
        start = word.end()
        filler = _FILLER.match(wording.folded, word.end())
        is_named = any(fold(column.name) == word.group() for column in wording.columns)
        of_column = filler is not None and wording.column_at(filler.end()) is not None
        if not is_named and not of_column and not wording.is_quoted(word.start()):
            wording.take(*word.span())


def take_figures(wording: Wording) -> list[FigureClause]:
    """Return the figures that are asked for, each with its column if one is named."""
    found: list[FigureClause] = []
    for word in re.finditer(r"[^\W_]+", wording.folded):
        if wording.folded[word.start()] == TAKEN or wording.is_quoted(word.start()):
            continue  # taken as part of an earlier figure, or the name of a column
        function = FUNCTION_WORDS.get(singular(word.group()))
        if function and not _is_of_count(wording, word, function):
            found.append(_figure(wording, word, function))
    asked = wording.find(r"\bhow\s+(?:many|much)\b")
    if asked:
        function = "count" if asked.group().endswith("many") else "total"
        found.append(_figure(wording, asked, function))
    return found


def measures_of(
    figures: Sequence[FigureClause], columns: Sequence[ColumnIntent]
) -> tuple[Measure, ...]:
    """Return figures with their columns; one without a column takes its neighbor's.

    Args:
        figures: What was asked for.
        columns: The columns that may be meant where none is named.
    """
    named = [one.column for one in figures if one.column and one.function not in _COUNTS]
    measures = []
    for function, column in figures:
        if function == "count":
            measures.append(Measure("count"))
        elif function == "distinct":
            measures.append(Measure("distinct", column))
        elif column or named:
            measures.append(_measure(function, column or named[0]))
        else:
            measures.append(_measure(function, _only_number(columns, function)))
    return tuple(dict.fromkeys(measures))


_COUNTS = ("count", "distinct")
_COUNT_WORDS = r"(?:number|count)s?"


def counted_columns(figures: Sequence[FigureClause]) -> tuple[ColumnIntent, ...]:
    """Return the columns whose values a count may be of, rather than of the rows."""
    found = (one.column for one in figures if one.function == "count" and one.column is not None)
    return tuple(dict.fromkeys(one for one in found if not one.is_number or one.role == "id"))


def _is_of_count(wording: Wording, word: re.Match[str], function: Function) -> bool:
    """Tell whether a word asks for a count beside another word that does: "total number of rows".

    Raises:
        UnclearError: It asks for another figure of a count.
    """
    if function == "count" or wording.column_at(word.start(), exact=True) is not None:
        return False
    behind = re.compile(rf"\s+(?:of\s+)?(?:the\s+)?({_COUNT_WORDS})\b").match(
        wording.folded, word.end()
    )
    if behind is not None and wording.column_at(behind.start(1), exact=True) is None:
        if function != "total":
            raise UnclearError(f"I do not make the {function} of a count")
        wording.take(*word.span())
        return True
    before = re.search(
        r"\bcount\s+(?:of\s+)?(?:the\s+)?\Z", wording.original[: word.start()].lower()
    )
    if before is None or function != "total" or wording.column_at(word.end()) is not None:
        return False
    wording.take(*word.span())
    return True


def _figure(wording: Wording, word: re.Match[str], function: Function) -> FigureClause:
    different = _DIFFERENT.match(wording.folded, word.end()) if function == "count" else None
    unlike = wording.column_at(different.end()) if different else None
    if unlike is not None:
        wording.take(word.start(), unlike.end)
        return FigureClause("distinct", unlike.only())
    whole = wording.column_at(word.start(), exact=True)
    filler = _FILLER.match(wording.folded, word.end())
    end = filler.end() if filler else word.end()
    # A column may be called "In", too: as the first of such words, or as the last ("sum of In").
    mention = wording.column_at(end) or wording.column_at(word.end(), exact=True)
    last = filler.start(1) if filler and filler[1] else end
    mention = mention or wording.column_at(last, exact=True)
    # "Total amount" is the name of a column; of one called "Total" it asks for another figure, as
    # does total "amount".
    ends = whole is not None and whole.end <= word.end()
    is_figure = mention is not None and (ends or wording.is_quoted(mention.start))
    if whole and not is_figure:
        wording.take(whole.start, whole.end)
        # "Count by Name" counts rows, although a column is called "Count".
        return FigureClause(function, whole.only() if function != "count" else None)
    wording.take(word.start(), mention.end if mention else word.end())
    return FigureClause(function, mention.only() if mention else None)


def _measure(function: Function, column: ColumnIntent) -> Measure:
    if function in ("average", "total") and not column.is_number:
        why = f" ({column.why_text})" if column.why_text else ""
        raise UnclearError(
            f'"{column.name}" holds {column.type} values{why}, so it has no {function}'
        )
    return Measure(function, column)


def _only_number(columns: Sequence[ColumnIntent], function: Function) -> ColumnIntent:
    numbers = countable(columns, function)
    if len(numbers) == 1:
        return numbers[0]
    if not numbers:
        raise UnclearError(
            f"there is no column of numbers to make a {function} of{_others(columns)}"
            f"{_texts(columns)}"
        )
    names = ", ".join(f'"{column.name}"' for column in numbers)
    raise UnclearError(f"the {function} may be of {names}; say of which column")


def _others(columns: Sequence[ColumnIntent]) -> str:
    """Return which numbers do not add up, and how their sum is had all the same."""
    others = [column for column in columns if column.is_number and column.role]
    if not others:
        return ""
    named = ", ".join(f'"{column.name}" ({column.role})' for column in others)
    return f": {named} does not add up; name the column to have its figure all the same"


def _texts(columns: Sequence[ColumnIntent]) -> str:
    """Return why columns hold texts."""
    told = [f'"{column.name}": {column.why_text}' for column in columns if column.why_text]
    return f" ({'; '.join(told[:_MAX_NAMED])})" if told else ""


def countable(
    columns: Sequence[ColumnIntent], function: Function = "total"
) -> tuple[ColumnIntent, ...]:
    """Return the columns of numbers that may be meant where a figure names none.

    A total is of what adds up; an average, a least or a greatest value of what is no name or date.
    """
    left_out = _NAMING if function != "total" else None
    return tuple(
        column
        for column in columns
        if column.is_number and (column.role not in left_out if left_out else not column.role)
    )


_MAX_NAMED = 3
_NAMING = ("id", "year", "period")


def _sort_key(wording: Wording, start: int) -> tuple[str, int]:
    mention = wording.column_at(start)
    if mention:
        return mention.only().name, mention.end
    word = wording.word_at(start)
    function = FUNCTION_WORDS.get(singular(word.group())) if word else None
    if word is None or function is None:
        found_text = wording.original[word.start() : word.end()] if word else "nothing"
        raise UnclearError(f'it shall be sorted by "{found_text}", which is no column')
    # The sign keeps a figure apart from a column that is called "total".
    return f"@{function}", word.end()


def _is_sort_key(wording: Wording, start: int) -> bool:
    mention = wording.column_at(start, exact=True)
    word = wording.word_at(start)
    return mention is not None and word is not None and word.group() not in _NO_COLUMN


def _keys_at(wording: Wording, start: int) -> tuple[tuple[Key, ...], int]:
    keys: list[Key] = []
    end, following = start, start
    while True:
        # Behind a comma only a whole name goes on with the keys: a part of one could be any word of
        # the clause that follows.
        mention = wording.column_at(following, exact=bool(keys))
        word = wording.word_at(following)
        if mention:
            keys.append(Key(mention.only()))
            end = mention.end
        elif word and word.group() in _PARTS:
            column, end = _date_of_part(wording, word.end())
            keys.append(Key(column, _PARTS[word.group()]))
        else:
            return tuple(keys), end
        more = _AND_KEY.match(wording.folded, end)
        if more is None:
            return tuple(keys), end
        following = more.end()


def _date_of_part(wording: Wording, start: int) -> tuple[ColumnIntent, int]:
    """Return the dates that a month or year is of, named behind it ("month of the date") or not."""
    of = _OF_DATE.match(wording.folded, start)
    mention = wording.column_at(of.end()) if of else None
    # Only dates have months: of the columns that a word like "order" may mean, the others are out.
    dates = tuple(column for column in mention.columns if column.is_moment) if mention else ()
    if mention is None or not dates:
        return _only_date(wording), start
    return msgspec.structs.replace(mention, columns=dates).only(), mention.end


def _only_date(wording: Wording) -> ColumnIntent:
    dates = [column for column in wording.columns if column.is_moment]
    if len(dates) == 1:
        return dates[0]
    if not dates:
        texts = [column for column in wording.columns if "date" in column.why_text]
        raise UnclearError(f"there is no column of dates{_texts(texts)}")
    names = " or ".join(f'"{column.name}"' for column in dates)
    raise UnclearError(f"it can be read in two ways: by {names}; say by which column")


def _check_end_of_list(wording: Wording, start: int) -> None:
    """Raise `UnclearError` if a list goes on with something that should be a column and is none."""
    word = wording.word_at(start)
    if word and word.group() not in _NO_COLUMN and singular(word.group()) not in FUNCTION_WORDS:
        raise no_column(wording, wording.original[word.start() : word.end()])


def no_column(wording: Wording, word: str) -> UnclearError:
    """Return the refusal of a word that should be a column, with the one that is nearest."""
    names = {column.name.casefold(): column.name for column in wording.columns}
    near = difflib.get_close_matches(word.casefold(), names, 1)
    hint = f'; did you mean "{names[near[0]]}"?' if near else ""
    return UnclearError(f'there is no column "{word}"{hint}')
