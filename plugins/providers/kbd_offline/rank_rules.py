"""Rules for rankings: "top 10 customers by revenue", "who spent the most", "the 5 newest". Pure."""

from collections.abc import Sequence

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    FigureClause,
    KeyClause,
    OrderClause,
    RankClause,
    count_of_rows,
    sum_of,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.figure_rules import ordered
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import singular
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import (
    RequestScan,
    SeveralError,
    UnclearError,
    cued,
    extended,
    numbered,
    quoted,
)
from kbd_offline.terminals import NamedColumn
from kbd_offline.time_rules import moment_of

__all__ = ["RANK_RULES", "first_rewritten", "persons"]

_Found = tuple[object, ...]
_Thing = NamedColumn | int | None
_RISING = frozenset(["bottom", "smallest", "oldest", "cheap", "fewest", "minimum"])
_PLAIN = frozenset(["maximum", "minimum", "largest", "smallest", "most", "fewest"])
_EXTREMES = ("minimum", "maximum")
_BIRTHS = ("birth", "geb", "born")
_MEANT = ("newest", "oldest", "expensive", "cheap")


def _rows(
    span: RequestSpan, concept: str, count: int | None, second: str | None,
    conditions: _Found | None, thing: _Thing, keys: _Found | None, by: OrderClause | None,
) -> _Found | None:  # fmt: skip
    """Read "top 5 orders by amount", "die 5 kleinsten Bestellungen", "the largest order"."""
    named = second or concept
    scan, subject = span.scan, _column_of(thing)
    first = range(span.start, min(span.start + 4, span.end))
    if named in _PLAIN and any(scan.at(at, *_MEANT) for at in first):
        # "The latest" is no largest amount.
        return None
    columns = [key.column for key in keys or () if isinstance(key, KeyClause) and not key.part]
    if any(c and (c.is_moment or (c.is_number and c.role != "id")) for c in columns):
        # "By revenue" is what is ranked by.
        return None
    if count is None and thing is None and concept not in ("expensive", "cheap"):
        return None
    if count is None and by is None and subject is not None and concept in ("maximum", "minimum"):
        # "The highest amount" is a figure.
        return None
    if count and (scan.is_sign(span.end, "%") or scan.at(span.end, "share")):
        raise UnclearError("I rank by a number of rows, not by a percentage of them")
    if subject is not None and subject.is_moment and by is None:
        return None
    column = None if by is not None else _by_meaning(scan, named)
    if named in ("newest", "oldest") and _is_person(span, column):
        raise UnclearError("I do not see what tells the age")
    figure = _implied(span, named, subject) if by is None else None
    is_ranked = cued(scan, "ranked", span.start, min(span.start + 3, span.end))
    is_plain = concept in ("top", "bottom") and second is None and not is_ranked
    # The "bottom 3 largest" are the smallest of all.
    descending = (named not in _RISING) != (second is not None and concept == "bottom")
    rank = RankClause(
        count or 1, descending, subject, column, figure, span.start, is_plain=is_plain
    )
    return (rank if by is None else _by(scan, rank, by), *(conditions or ()), *(keys or ()))


def _column_of(thing: _Thing) -> KnownColumn | None:
    return thing.column if isinstance(thing, NamedColumn) else None


def _implied(span: RequestSpan, concept: str, subject: KnownColumn | None) -> FigureClause | None:
    """Return what the most frequent and the largest ones are ranked by where it is not said."""
    if concept == "most_frequent":
        return count_of_rows(span.start)
    sums = [one for one in span.scan.table.columns if one.adds_up]
    is_group = subject is not None and subject.distinct < span.scan.table.rows
    if not is_group or len(sums) != 1 or concept not in ("largest", "smallest"):
        return None
    return sum_of(sums[0], span.start)


def _by(scan: RequestScan, rank: RankClause, order: OrderClause) -> RankClause:
    """Return a ranking by what an order is by.

    Raises:
        SeveralError: Only a number of rows was said, and a column that has no first ones.
    """
    figure, subject = order.figure, rank.subject
    is_each = subject is None or subject.distinct == scan.table.rows
    if figure and figure.column and figure.function in _EXTREMES and rank.descending:
        if is_each:
            # "Top 5 days by the highest temperature": of a single row it is the only one.
            is_falling = figure.function == "maximum"
            order = OrderClause(
                figure.column, is_falling if order.descending is None else order.descending
            )
        elif figure.function == "minimum" and order.descending is None:
            raise SeveralError(
                f'the first ones by the minimum of "{figure.column.name}" may be its least or its'
                " greatest", [
                    *first_rewritten(scan, rank.place, ("bottom",)), extended(scan, " descending"),
                ],
            )  # fmt: skip
    descending = rank.descending if order.descending is None else order.descending
    if rank.is_plain and order.descending is None and order.column is not None:
        if not order.column.is_moment:
            raise SeveralError(
                f'it does not say which rows come first by "{order.column.name}"',
                first_rewritten(scan, rank.place, ("top", "bottom")),
            )
        # The first ones by a date are the earliest.
        descending = not rank.descending
    return msgspec.structs.replace(
        rank, descending=descending, by=order.column or rank.by,
        figure=order.figure or rank.figure, is_plain=False,
    )  # fmt: skip


def first_rewritten(scan: RequestScan, place: int, words: Sequence[str]) -> list[str]:
    """Return a request with other words in the place of its first "first" from a place on."""
    while not scan.at(place, "top", "bottom"):
        place += 1
    return [scan.rewritten(place, place + 1, word) for word in words]


def _one(
    span: RequestSpan, concept: str, subject: KnownColumn | None,
    by: KnownColumn | None = None, figure: FigureClause | None = None, count: int = 1,
) -> RankClause:  # fmt: skip
    return RankClause(count, concept not in _RISING, subject, by, figure, span.start)


def _amounts(
    span: RequestSpan, concept: str, count: int, second: str | None, amount: NamedColumn,
    keys: _Found | None,
) -> _Found | None:  # fmt: skip
    """Read "the 5 highest amounts", which are the rows with them."""
    if amount.column.role == "id":
        return None
    return (_one(span, second or concept, None, amount.column, count=count), *(keys or ()))


def _who_has(
    span: RequestSpan, thing: NamedColumn, concept: str, amount: NamedColumn
) -> RankClause | None:
    """Read "which customer has the highest revenue"."""
    column = amount.column
    if not column.is_number:
        return None
    if thing.column.distinct == span.scan.table.rows:
        return _one(span, concept, None, column)
    figure = sum_of(column, span.start)
    if not column.adds_up:
        extreme: Aggregate = "minimum" if concept in _RISING else "maximum"
        figure = msgspec.structs.replace(figure, function=extreme)
    return _one(span, concept, thing.column, None, figure)


def _who_has_rows(
    span: RequestSpan, subject: KnownColumn, concept: str, conditions: _Found | None, noun: int
) -> _Found:
    """Read "which region has the most open orders": their number."""
    count = count_of_rows(noun, numbered(span.scan, noun))
    return (_one(span, concept, subject, None, count), *(conditions or ()))


def _person_has_rows(
    span: RequestSpan, concept: str, conditions: _Found | None, noun: int
) -> _Found | None:
    people = [one for one in persons(span.scan) if not one.is_number]
    return _who_has_rows(span, people[0], concept, conditions, noun) if len(people) == 1 else None


def persons(scan: RequestScan) -> list[KnownColumn]:
    """Return the columns of persons."""
    return [c for c in scan.table.columns if scan.vocabulary.is_of(c, "person", "customer")]


def _spent(span: RequestSpan, thing: NamedColumn, *words: str) -> RankClause | None:
    """Read "which employee spent the most", "which member borrowed the most"."""
    is_taken = "take_verb" in words
    sums = [one for one in span.scan.table.columns if one.adds_up]
    if len(sums) > (0 if is_taken else 1):
        return None
    figure = sum_of(sums[0], span.start) if sums else count_of_rows(span.start)
    way = "fewest" if "fewest" in words else "most"
    return _one(span, way, thing.column, None, figure)


def _by_meaning(scan: RequestScan, concept: str) -> KnownColumn | None:
    if concept in ("newest", "oldest"):
        return moment_of(scan)
    if concept not in ("expensive", "cheap"):
        return None
    meaning = scan.vocabulary.meaning
    prices: Sequence[KnownColumn] = [c for c in scan.table.columns if c.role == "unit price"]
    prices = prices or meaning("unit_price") or meaning("money")
    amounts = [c for c in meaning("money", "revenue") if c.adds_up]
    if len(prices) == 1 and prices[0].role == "unit price" and amounts:
        way, columns = "top" if concept == "expensive" else "bottom", [prices[0], *amounts]
        names = " or ".join(f'"{column.name}"' for column in columns)
        raise SeveralError(
            f"what costs most may be that by {names}",
            [f"{way} 1 rows by {quoted(column.name)}" for column in columns],
        )
    return prices[0] if len(prices) == 1 else None


def _is_person(span: RequestSpan, column: KnownColumn | None) -> bool:
    """Tell whether the oldest are persons, of whom no birth is known."""
    if column is not None and any(one in column.name.casefold() for one in _BIRTHS):
        return False
    words = {*span.words, *map(singular, span.words)}
    return any(LEXICON.means(word, "person") for word in words)


def _measured(span: RequestSpan, by: object, way: bool | None) -> OrderClause | None:  # noqa: FBT001 - a value
    is_id = isinstance(by, NamedColumn) and by.column.role == "id"
    return None if is_id else ordered(span, by, way)


def _thing(span: RequestSpan, named: NamedColumn) -> NamedColumn | None:
    value = span.scan.value(named.start)
    is_value = value is not None and value.is_plain and value.end >= named.end
    return None if is_value else named


_FIRST = (
    ":(top|largest|newest|expensive|bottom|smallest|oldest|cheap|most_frequent|maximum|minimum)"
)
_RANK = f"{_FIRST[:-1]}|most|fewest)"
_HIGH = ":(most|largest|maximum|fewest|smallest|minimum|top|bottom)"
_HAS = "(filler|'with'|'mit'|'has'|'hat')*"

RANK_RULES: tuple[Production, ...] = (
    Production("ranked", "THING", _thing),
    Production("ranked", "NOUN", lambda _, place: place, 0.05),
    Production("ranked", "('days'|'tage'|'tagen')",
         lambda s: NamedColumn(moment_of(s.scan), s.start, s.end), 0.05),
    Production("measure", "ANYNUMBER way?|DAYS way?", _measured),
    Production("measure", "figure way?", _measured, 0.1),
    Production("by_measure", "'?'? '('? (by|sort|'nach')+ measure ')'?",
         lambda _, measure: measure, -0.2),
    Production("rank_clause",
         f"{_FIRST} COUNT? {_RANK}? conditions? ranked? by_clause? by_measure?", _rows, -0.2),
    Production("rank_clause", f"COUNT {_RANK} conditions? ranked? by_clause? by_measure?",
         lambda s, count, concept, *more: _rows(s, concept, count, None, *more), -0.2),
    Production("rank_clause", f"{_FIRST} COUNT {_RANK}? NUMERIC by_clause?", _amounts, -0.3),
    Production("rank_clause", f"COUNT {_RANK} NUMERIC by_clause?",
         lambda s, count, concept, *more: _amounts(s, concept, count, None, *more), -0.3),
    Production("rank_clause", f"COUNT ranked ('with'|'mit') det* {_HIGH} ('people'|'personen')?"
         " ANYNUMBER",
         lambda s, n, what, way, by: _one(s, way, _column_of(what), by.column, count=n), -0.4),
    Production("rank_clause", f"THING {_HAS} {_HIGH} ANYNUMBER", _who_has, -0.6),
    Production("rank_clause", f"THING {_HAS} {_HIGH} figure",
         lambda s, thing, way, of: _one(s, way, thing.column, None, of[0]), -0.6),
    Production("rank_clause", f"THING {_HAS} {_HIGH} conditions? NOUN",
         lambda s, thing, *more: _who_has_rows(s, thing.column, *more), -0.6),
    Production("rank_clause", f"('who'|'wer') {_HAS} {_HIGH} conditions? NOUN",
         _person_has_rows, -0.6),
    Production("rank_clause", "COUNT? THING filler* :(most_frequent)",
         lambda s, count, thing, way: _one(
             s, way, thing.column, None, count_of_rows(s.start), count or 1), -0.4),
    Production("rank_clause", "THING filler* :(spend_verb|take_verb) :(most|fewest)"
         "|THING filler* :(most|fewest) filler* :(spend_verb|take_verb)", _spent, -0.6),
)  # fmt: skip
"""Rules of `rank`."""
