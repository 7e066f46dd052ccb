"""Rules for rankings: "top 10 customers by revenue", "who spent the most", "the 5 newest". Pure."""

from collections.abc import Sequence

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    FigureClause,
    KeyClause,
    OrderClause,
    RankClause,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.terminals import NamedColumn
from kbd_offline.time_rules import moment_of

__all__ = ["RANK_RULES"]

_RISING = frozenset(["bottom", "smallest", "oldest", "cheap", "fewest", "minimum"])
_Conditions = tuple[object, ...] | None


def _rows(
    span: RequestSpan, concept: str, count: int | None, second: str | None, conditions: _Conditions,
    thing: NamedColumn | int | None, keys: tuple[object, ...] | None, by: OrderClause | None,
) -> tuple[object, ...] | None:  # fmt: skip
    """Read "top 5 orders by amount", "die 5 kleinsten Bestellungen", "the largest order"."""
    named = second or concept
    scan, first = span.scan, range(span.start, min(span.start + 4, span.end))
    if named in _PLAIN and any(scan.at(at, *_MEANT) for at in first):
        # "The latest" is no largest amount.
        return None
    columns = [key.column for key in keys or () if isinstance(key, KeyClause) and not key.part]
    if any(c and (c.is_moment or (c.is_number and c.role != "id")) for c in columns):
        # "By revenue" is what is ranked by.
        return None
    if count is None and thing is None and concept not in ("expensive", "cheap"):
        return None
    # The "bottom 3 largest" are the smallest of all.
    descending = (named not in _RISING) != (second is not None and concept == "bottom")
    is_extreme = concept in ("maximum", "minimum") and isinstance(thing, NamedColumn)
    if count is None and by is None and is_extreme:
        # "The highest amount" is a figure.
        return None
    if count and (scan.is_sign(span.end, "%") or scan.at(span.end, "share")):
        raise UnclearError("I rank by a number of rows, not by a percentage of them")
    subject = thing.column if isinstance(thing, NamedColumn) else None
    if subject is not None and subject.is_moment and by is None:
        return None
    column = None if by is not None else _by_meaning(scan, named)
    if named in ("newest", "oldest") and _is_person(span, column):
        raise UnclearError("I do not see what tells the age")
    figure = _implied(span, named, subject) if by is None else None
    is_plain = (
        concept in ("top", "bottom")
        and second is None
        and not any(
            scan.word(at) in _RANKED for at in range(span.start, min(span.start + 3, span.end))
        )
    )
    rank = RankClause(count or 1, descending, subject, column, figure, span.start,
                      is_plain=is_plain)  # fmt: skip
    if by is not None:
        rank = _by(span, rank, by)
    return (rank, *(conditions or ()), *(keys or ()))


def _implied(span: RequestSpan, concept: str, subject: KnownColumn | None) -> FigureClause | None:
    """Return what the most frequent and the largest ones are ranked by where it is not said."""
    if concept == "most_frequent":
        return FigureClause("count", of_rows=True, place=span.start)
    sums = [one for one in span.scan.table.columns if one.adds_up]
    is_group = subject is not None and subject.distinct < span.scan.table.rows
    if not is_group or len(sums) != 1 or concept not in ("largest", "smallest"):
        return None
    return FigureClause("sum", sums[0], place=span.start)


_PLAIN = frozenset(["maximum", "minimum", "largest", "smallest", "most", "fewest"])
_MEANT = ("newest", "oldest", "expensive", "cheap")
_RANKED = frozenset(
    ["top", "bottom", "best", "worst", "flop", "beste", "besten", "schlechtesten", "leading"]
)


def _counted_first(
    span: RequestSpan, count: int, concept: str, conditions: _Conditions,
    thing: NamedColumn | int | None, keys: tuple[object, ...] | None, by: OrderClause | None,
) -> tuple[object, ...] | None:  # fmt: skip
    return _rows(span, concept, count, None, conditions, thing, keys, by)


def _by(span: RequestSpan, rank: RankClause, order: OrderClause) -> RankClause:
    """Return a ranking by what an order is by.

    Raises:
        SeveralError: Only a number of rows was said, and a column that has no first ones.
    """
    descending = rank.descending if order.descending is None else order.descending
    if rank.is_plain and order.descending is None and order.column is not None:
        if not order.column.is_moment:
            at = span.start
            while not span.scan.at(at, "top", "bottom"):
                at += 1
            raise SeveralError(
                f'it does not say which rows come first by "{order.column.name}"',
                [span.scan.rewritten(at, at + 1, word) for word in ("top", "bottom")],
            )
        # The first ones by a date are the earliest.
        descending = not rank.descending
    return RankClause(
        rank.count, descending, rank.subject, order.column or rank.by, order.figure or rank.figure,
        rank.place, rank.ties,
    )  # fmt: skip


def _amounts(
    span: RequestSpan, concept: str, count: int | None, second: str | None, amount: NamedColumn,
    keys: tuple[object, ...] | None,
) -> tuple[object, ...] | None:  # fmt: skip
    """Read "the 5 highest amounts", which are the rows with them."""
    if count is None or amount.column.role == "id":
        return None
    named = second or concept
    rank = RankClause(count, named not in _RISING, None, amount.column, None, span.start)
    return (rank, *(keys or ()))


def _amounts_counted(
    span: RequestSpan,
    count: int,
    concept: str,
    amount: NamedColumn,
    keys: tuple[object, ...] | None,
) -> tuple[object, ...] | None:
    return _amounts(span, concept, count, None, amount, keys)


def _with_measure(
    span: RequestSpan, count: int, thing: NamedColumn | int, concept: str, amount: NamedColumn
) -> tuple[object, ...]:
    """Read "the four projects with the biggest budget"."""
    subject = thing.column if isinstance(thing, NamedColumn) else None
    return (RankClause(count, concept not in _RISING, subject, amount.column, None, span.start),)


def _who_has(
    span: RequestSpan, thing: NamedColumn, concept: str, amount: NamedColumn
) -> tuple[object, ...] | None:
    """Read "which customer has the highest revenue"."""
    column, descending = amount.column, concept not in _RISING
    if not column.is_number:
        return None
    if thing.column.distinct == span.scan.table.rows:
        return (RankClause(1, descending, None, column, None, span.start),)
    function: Aggregate = "sum" if column.adds_up else "maximum" if descending else "minimum"
    figure = FigureClause(function, column, place=span.start)
    return (RankClause(1, descending, thing.column, None, figure, span.start),)


def _who_has_figure(
    span: RequestSpan, thing: NamedColumn, concept: str, figure: tuple[FigureClause, ...]
) -> tuple[object, ...]:
    return (RankClause(1, concept not in _RISING, thing.column, None, figure[0], span.start),)


def _who_has_rows(
    span: RequestSpan, thing: NamedColumn, concept: str, conditions: _Conditions, _noun: int
) -> tuple[object, ...]:
    """Read "which region has the most open orders": their number."""
    counted = FigureClause("count", of_rows=True, place=span.start)
    rank = RankClause(1, concept not in _RISING, thing.column, None, counted, span.start)
    return (rank, *(conditions or ()))


def _person_has_rows(
    span: RequestSpan, concept: str, conditions: _Conditions, noun: int
) -> tuple[object, ...] | None:
    scan = span.scan
    people = [c for c in scan.table.columns if scan.vocabulary.is_of(c, "person", "customer")
              and not c.is_number]  # fmt: skip
    if len(people) != 1:
        return None
    return _who_has_rows(
        span, NamedColumn(people[0], span.start, span.start), concept, conditions, noun
    )


def _spent(span: RequestSpan, thing: NamedColumn, *words: str | None) -> tuple[object, ...] | None:
    """Read "which employee spent the most", "which member borrowed the most"."""
    concepts = [word for word in words if word]
    is_taken = "take_verb" in concepts
    sums = [one for one in span.scan.table.columns if one.adds_up]
    if (is_taken and sums) or len(sums) > 1 or not ({"take_verb", "spend_verb"} & set(concepts)):
        return None
    is_counted = is_taken or not sums
    figure = FigureClause(
        "count" if is_counted else "sum", None if is_counted else sums[0], is_counted, span.start
    )
    return (RankClause(1, "fewest" not in concepts, thing.column, None, figure, span.start),)


def _by_meaning(scan: RequestScan, concept: str) -> KnownColumn | None:
    if concept in ("newest", "oldest"):
        return moment_of(scan)
    if concept in ("expensive", "cheap"):
        prices: Sequence[KnownColumn] = [c for c in scan.table.columns if c.role == "unit price"]
        prices = (prices or scan.vocabulary.meaning("unit_price")
                  or scan.vocabulary.meaning("money"))  # fmt: skip
        amounts = [c for c in scan.vocabulary.meaning("money", "revenue") if c.adds_up]
        if len(prices) == 1 and prices[0].role == "unit price" and amounts:
            raise _price_or_amount(concept, [prices[0], *amounts])
        return prices[0] if len(prices) == 1 else None
    return None


def _price_or_amount(concept: str, columns: Sequence[KnownColumn]) -> SeveralError:
    way = "top" if concept == "expensive" else "bottom"
    names = " or ".join(f'"{column.name}"' for column in columns)
    return SeveralError(
        f"what costs most may be that by {names}",
        [f"{way} 1 rows by {quoted(column.name)}" for column in columns],
    )


def _is_person(span: RequestSpan, column: KnownColumn | None) -> bool:
    """Tell whether the oldest are persons, of whom no birth is known."""
    scan = span.scan
    is_born = column is not None and any(
        one in column.name.casefold() for one in ("birth", "geb", "born")
    )
    words = {scan.word(at) for at in range(span.start, span.end)}
    means = any(scan.means(word, "person") for word in words)
    return means and not is_born


def _check(_: RequestSpan, measure: OrderClause) -> OrderClause:
    return measure


def _measured(_: RequestSpan, named: NamedColumn, way: bool | None) -> OrderClause | None:  # noqa: FBT001
    column = named.column
    fits = (column.is_number and column.role != "id") or column.is_moment
    return OrderClause(column, way) if fits else None


def _measured_figure(
    _: RequestSpan,
    figures: tuple[FigureClause, ...],
    way: bool | None,  # noqa: FBT001 - a value
) -> OrderClause | None:
    return OrderClause(figure=figures[0], descending=way) if len(figures) == 1 else None


def _days(span: RequestSpan) -> NamedColumn:
    return NamedColumn(moment_of(span.scan), span.start, span.end)


def _thing(span: RequestSpan, named: NamedColumn) -> NamedColumn | None:
    value = span.scan.value(named.start)
    if value is not None and value.is_plain and value.end >= named.end:
        return None
    return named


_FIRST = (
    ":(top|largest|newest|expensive|bottom|smallest|oldest|cheap|most_frequent|maximum|minimum)"
)
_RANK = (
    ":(top|largest|newest|expensive|most|bottom|smallest|oldest|cheap|fewest|most_frequent|maximum"
    "|minimum)"
)
_HIGH = ":(most|largest|maximum|fewest|smallest|minimum|top|bottom)"
_HAS = "(filler|'with'|'mit'|'has'|'hat')*"

RANK_RULES: tuple[Production, ...] = (
    Production("ranked", "THING", _thing),
    Production("ranked", "NOUN", lambda _, place: place, 0.05),
    Production("ranked", "('days'|'tage'|'tagen')", _days, 0.05),
    Production("measure", "ANYNUMBER way?", _measured),
    Production("measure", "DAYS way?", _measured),
    Production("measure", "figure way?", _measured_figure, 0.1),
    Production("by_measure", "'?'? '('? (by|sort|'nach')+ measure ')'?", _check, -0.2),
    Production("rank_clause", f"{_FIRST} COUNT? {_RANK}? conditions? ranked? by_clause?"
         f" by_measure?",
         _rows, -0.2),
    Production("rank_clause", f"COUNT {_RANK} conditions? ranked? by_clause? by_measure?",
         _counted_first, -0.2),
    Production("rank_clause", f"{_FIRST} COUNT {_RANK}? NUMERIC by_clause?", _amounts, -0.3),
    Production("rank_clause", f"COUNT {_RANK} NUMERIC by_clause?", _amounts_counted, -0.3),
    Production("rank_clause", f"COUNT ranked ('with'|'mit') det* {_HIGH} ('people'|'personen')?"
         " ANYNUMBER",
         _with_measure, -0.4),
    Production("rank_clause", f"THING {_HAS} {_HIGH} ANYNUMBER", _who_has, -0.6),
    Production("rank_clause", f"THING {_HAS} {_HIGH} figure", _who_has_figure, -0.6),
    Production("rank_clause", f"THING {_HAS} {_HIGH} conditions? NOUN", _who_has_rows, -0.6),
    Production("rank_clause", f"('who'|'wer') {_HAS} {_HIGH} conditions? NOUN",
         _person_has_rows, -0.6),
    Production("rank_clause", "THING filler* :(spend_verb|take_verb) :(most|fewest)", _spent, -0.6),
    Production("rank_clause", "THING filler* :(most|fewest) filler* :(spend_verb|take_verb)",
         _spent, -0.6),
)  # fmt: skip
"""Rules of `rank`."""
