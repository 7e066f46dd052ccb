"""Rules for figures, what they are by, orders, shares, columns across. Pure."""

from collections.abc import Sequence

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    FieldClause,
    FigureClause,
    KeyClause,
    OrderClause,
    Part,
    count_of_rows,
    sum_of,
)
from kbd_offline.mentions import PART, STEM
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import SeveralError, UnclearError, numbered, quoted
from kbd_offline.terminals import NamedColumn
from kbd_offline.time_rules import moment_of

__all__ = ["FIGURE_RULES", "ordered"]

_Figures = tuple[FigureClause, ...]
_MANY_ROWS = 20
"""Rows of which each has another whole number: it may be what they are numbered by."""
_MAX_GROUPS = 12
"""Different whole numbers that rows may be grouped by: more of them are amounts."""
_ADVERBS: dict[str, Part] = {
    "yearly": "year", "quarterly": "quarter", "monthly": "month", "weekly": "week", "daily": "day",
}  # fmt: skip
_FUNCTIONS: tuple[Aggregate, ...] = ("sum", "average", "median", "minimum", "maximum")
_FALLING = ("maximum", "largest", "newest")
_WAYS = {"descending": True, "newest_first": True, "ascending": False, "oldest_first": False}


def _function(span: RequestSpan, concept: str) -> str | None:
    scan = span.scan
    # "Total sum" and "total Sum" where a column is called Sum.
    ends_with = span.end > span.start + 1 and scan.is_column(span.end - 1)
    is_name = scan.is_column(span.start) and scan.column(scan.behind_det(span.end)) is None
    return None if ends_with or is_name else concept


def _told_by_name(span: RequestSpan, named: NamedColumn) -> _Figures | None:
    """Read "average temperature" of a column that is called so: what of it is asked for, too."""
    scan, column = span.scan, named.column
    if named.end == named.start + 1 or not column.is_number:
        return None
    for function in _FUNCTIONS:
        if scan.is_word(named.start, function) and (column.adds_up or function != "sum"):
            return (FigureClause(function, column, place=named.start),)
    return None


def _of_columns(
    span: RequestSpan, functions: Sequence[Aggregate], columns: Sequence[NamedColumn]
) -> _Figures | None:
    """Read "total and average amount"; of the least and the greatest days will do, too."""
    pairs = [(function, one) for one in columns for function in functions]
    for function, one in pairs:
        if one.column.is_moment and function not in ("minimum", "maximum"):
            return None
        if function == "sum" and not one.column.adds_up and one.level > PART:
            return None
        if function in ("minimum", "maximum") and one.level >= PART and (
            span.scan.is_noun(one.start) and one.end == one.start + 1
        ):  # fmt: skip
            # "The largest order" is no largest Order Count.
            return None
    return tuple(FigureClause(function, one.column, place=one.start) for function, one in pairs)


def _of_default(span: RequestSpan, functions: Sequence[Aggregate]) -> _Figures:
    place = span.scan.skip(span.start, "det")
    return tuple(FigureClause(one, None, place=place) for one in functions)


def _counted_rows(span: RequestSpan, how: str, noun: int) -> _Figures | None:
    """Read "how many orders"; "how many hours" of a file of hours asks for that column."""
    mention = span.scan.column(noun)
    columns = () if mention is None or mention.level > STEM else mention.columns
    return None if any(one.adds_up for one in columns) else _rows(span, how, noun)


def _how_much(span: RequestSpan) -> _Figures:
    """Read "how much" alone; "wie viel" may be a number of rows as well."""
    is_either = span.scan.at(span.start, "how_many")
    return _rows(span) if is_either else _of_default(span, ("sum",))


def _rows(span: RequestSpan, *values: object) -> _Figures:
    noun = next((one for one in values if isinstance(one, int)), None)
    if noun is None:
        return (count_of_rows(span.start),)
    return (count_of_rows(noun, numbered(span.scan, noun)),)


def _counted(span: RequestSpan, _how: str, thing: NamedColumn) -> _Figures | None:
    """Read "number of customers": of rows, or of different values if these differ."""
    column, scan = thing.column, span.scan
    is_row = scan.is_noun(thing.start) and thing.level > STEM
    if is_row or column.adds_up or scan.value(thing.start) is not None:
        return None
    return (FigureClause("count", of_rows=True, place=thing.start, subject=column),)


def _pieces(span: RequestSpan, amount: NamedColumn, *, is_exact: bool) -> _Figures | None:
    """Read "how many units", "how many people attended": of a column of numbers its sum."""
    scan, column = span.scan, amount.column
    is_far = amount.level > STEM and (is_exact or scan.is_noun(amount.start))
    if is_far or not column.adds_up:
        return None
    if column.type == "integer" and column.distinct == scan.table.rows >= _MANY_ROWS:
        raise SeveralError(
            f'"{span.text}" may be how many rows there are, or the sum of "{column.name}"',
            [span.rewritten("count rows"), span.rewritten(f"total {quoted(column.name)}")],
        )
    return (sum_of(column, amount.start),)


def _different(_: RequestSpan, columns: Sequence[NamedColumn]) -> _Figures:
    return tuple(FigureClause("distinct", one.column, place=one.start) for one in columns)


def _key(span: RequestSpan, named: NamedColumn) -> KeyClause | None:
    column, is_far = named.column, named.level > STEM
    if column.adds_up and (is_far or column.type == "float"):
        return None
    if column.adds_up and column.distinct > _MAX_GROUPS and (
        span.scan.word(span.start - 1) in ("per", "pro", "je")
    ):  # fmt: skip
        raise UnclearError(f'I do not group by the amounts of "{column.name}"')
    if column.type == "float" and is_far:
        raise UnclearError(f'I do not group by "{column.name}", whose name only has that word')
    if span.scan.is_noun(named.start) and is_far and column.is_moment:
        return None
    return KeyClause(column, "", named.start)


def _part_key(span: RequestSpan, part: Part, named: NamedColumn | None = None) -> KeyClause:
    return KeyClause(named.column if named else None, part, span.start)


def _across(_: RequestSpan, key: KeyClause) -> FieldClause:
    return FieldClause("across", (key,))


def _same(_: RequestSpan, value: object) -> object:
    """Tell what a part of the pattern tells."""
    return value


def _crossed(span: RequestSpan, rows: NamedColumn, key: KeyClause) -> tuple[object, ...] | None:
    """Read "status by country", "Mitarbeiter x Projekt": a table of both."""
    column, scan = rows.column, span.scan
    if scan.at(span.start - 1, "sum", "average", "count", "median", "minimum", "maximum"):
        return None
    if rows.level > STEM or column.adds_up or column.is_moment or scan.is_noun(rows.start):
        return None
    is_amount = column.is_number and column.role != "id" and column.distinct > _MAX_GROUPS
    if is_amount or column.type == "float" or _told_by_name(span, rows):
        return None
    # "Varieties per supplier", each of which is there once, are no rows of a table.
    hardly_repeats = column.distinct * 2 > scan.table.rows > 0
    if hardly_repeats or (key.column is not None and key.column.adds_up):
        return None
    return (FieldClause("is_pivot"), KeyClause(column, "", rows.start), _across(span, key))


def ordered(_: RequestSpan, by: object, way: bool | None) -> OrderClause | None:  # noqa: FBT001 - a value
    """Read "amount descending", "count", "month": a column, the only figure, or a part of dates."""
    match by:
        case NamedColumn():
            return OrderClause(by.column, way)
        case str():
            return OrderClause(part=by, descending=way)  # type: ignore[arg-type]
        case (FigureClause() as figure,):
            return OrderClause(figure=figure, descending=way)
    return None


def _sorted(
    _: RequestSpan, way: bool | None, orders: Sequence[OrderClause],  # noqa: FBT001 - a value
) -> tuple[OrderClause, ...]:  # fmt: skip
    """Give orders the way that is said for all of them, where they have none of their own."""
    return tuple(
        one if one.descending is not None else msgspec.structs.replace(one, descending=way)
        for one in orders
    )


def _ordered_by(span: RequestSpan, order: OrderClause) -> OrderClause | None:
    """Read "by revenue descending", which sorts and does not group."""
    has_comma = any(span.scan.is_sign(at) for at in range(span.start, span.end))
    return None if order.descending is None or has_comma else order


def _way_alone(span: RequestSpan, concept: str) -> OrderClause:
    is_of_days = concept in ("newest_first", "oldest_first")
    return OrderClause(moment_of(span.scan) if is_of_days else None, _WAYS[concept])


def _share(span: RequestSpan, *of: object) -> tuple[object, ...]:
    return (FieldClause("share", span.start), *of)


def _share_of(span: RequestSpan, amount: NamedColumn) -> tuple[object, ...] | None:
    is_sum = amount.column.adds_up
    return _share(span, sum_of(amount.column, amount.start)) if is_sum else None


def _share_rows(span: RequestSpan, noun: int) -> tuple[object, ...]:
    return _share(span, count_of_rows(noun, numbered(span.scan, noun)))


def _share_groups(
    span: RequestSpan, key: NamedColumn, amount: NamedColumn | None = None
) -> tuple[object, ...] | None:
    """Read "share of each gender", "Anteil der Regionen am Umsatz": of which groups."""
    column = key.column
    if amount is None and column.distinct == span.scan.table.rows and span.scan.at(span.end, "by"):
        # "Percentage of bookings by room type" is of rows, of which each is one.
        return _share_rows(span, key.start)
    if not (column.is_text or column.yes) or span.scan.value(key.start) is not None:
        return None
    if column.yes and not span.scan.at(key.start - 1, "by"):
        # "Share of organic varieties per supplier" may be that of those that are.
        raise UnclearError(
            f'it may be the share of those whose "{column.name}" is {column.yes}, or of each: say'
            f' "share where {column.name} is {column.yes}" or "share of each {column.name}"'
        )
    of = () if amount is None else (sum_of(amount.column, amount.start),)
    return _share(span, KeyClause(column, "", key.start), *of)


def _running(span: RequestSpan, amount: NamedColumn | None) -> tuple[object, ...]:
    runs = (FieldClause("runs", (amount.column,)),) if amount else ()
    return (FieldClause("running", span.start), *runs)


_HOW = ":(count|how_many)"
_PARTS = ":(weekday|quarter|month|week|year|day)"
_BY = "(by|'in'|'vs'|'x'|'×'|'gegen'|'versus'|'against')"
_SORT_BY = "sort (by|'nach'|'by')?"

FIGURE_RULES: tuple[Production, ...] = (
    Production("function", f":({'|'.join(_FUNCTIONS)})", _function),
    Production("figure", "function+ sum? ANYNUMBER+", _of_columns, -0.4),
    Production("figure", "function+ DAYS+", _of_columns, -0.2),
    Production("figure", "function+ EXACT", lambda s, f, c: _of_columns(s, f, (c,)), 0.1),
    Production("figure", "ANYNUMBER function", lambda s, c, f: _of_columns(s, (f,), (c,)), 0.1),
    Production("figure", "EXACT", _told_by_name, 0.5),
    Production("figure", "function+", _of_default, 0.8),
    Production("figure", f"{_HOW} NOUN", _counted_rows, -0.2),
    Production("figure", f"{_HOW} sum? NOUN?", _rows, 0.8),
    Production("figure", "sum count NOUN?", _rows, 0.1),
    Production("figure", "how_much", _how_much, -0.6),
    Production("figure", f"{_HOW} THING", _counted),
    Production("figure", "(how_many|how_much|count) AMOUNT",
         lambda s, one: _pieces(s, one, is_exact=False), -0.1),
    Production("figure", "how_many ('people'|'persons'|'personen'|'leute') ANYNUMBER",
         lambda s, one: _pieces(s, one, is_exact=True), -0.4),
    Production("figure", "count? distinct COLUMN+", _different, -0.2),
    Production("figures", "figure+", lambda _, found: tuple(one for some in found for one in some)),
    Production("part", _PARTS, _same),
    Production("key", "KEY", _key),
    Production("key", "part", _part_key, 0.1),
    Production("key", "part ('of'|'von'|'der'|'des') DAYS", _part_key),
    Production("key", "DAYS part",
         lambda s, one, part: None if part == "day" else _part_key(s, part, one), -0.1),
    Production("key", "count NUMERIC", lambda s, c: KeyClause(c.column, "", s.start), 0.0),
    Production("key", "NOUN key", lambda _, __, key: key, 0.2),
    Production("by_key", "key down?", _same),
    Production("by_key", "key across", _across, -0.1),
    Production("by_clause", "by by_key+", _same, -0.2),
    Production("by_clause", "('by'|'per'|'je'|'nach'|'pro') by_key+", _same, -0.1),
    Production("by_clause", f":({'|'.join(_ADVERBS)})",
         lambda s, one: (KeyClause(None, _ADVERBS[one], s.start),)),
    Production("by_clause", "('one'|'a'|'eine') ('column'|'spalte') by key",
         lambda s, key: (_across(s, key),), -0.4),
    Production("by_clause", "key across", lambda s, key: (_across(s, key),), -0.1),
    Production("by_clause", "key down", lambda _, key: (key,), -0.1),
    Production("cross_clause", f"EXACT {_BY} key", _crossed, 0.1),
    Production("pivot_clause", "pivot", lambda _: FieldClause("is_pivot")),
    Production("way", "','? '('? :(descending|newest_first|ascending|oldest_first) ')'?",
         lambda _, concept: _WAYS[concept]),
    Production("order", "COLUMN way?", ordered),
    Production("order", "figure way?", ordered, 0.9),
    Production("order", "part way?", ordered, 0.2),
    Production("orders", "order+", _same),
    Production("orders", "order (',' then_by|and then_by|then_by) orders",
         lambda _, one, others: (one, *others), -0.2),
    Production("sort_clause", f"{_SORT_BY} NOUN? det* way? (by|'nach'|'by')? orders",
         lambda s, _, way, orders: _sorted(s, way, orders), -0.3),
    Production("sort_clause", "way ('nach'|'by'|sort)+ orders sort?", _sorted, -0.1),
    Production("sort_clause", "('by'|'nach') order", _ordered_by, -0.1),
    Production("sort_clause", "('by'|'nach') order sort way?",
         lambda _, one, way: one if way is None else OrderClause(
             one.column, way, one.figure, one.part), -0.2),
    Production("sort_clause", ":(maximum|largest|newest|minimum|smallest|oldest) COLUMN"
         " ('first'|'zuerst')",
         lambda _, way, one: OrderClause(one.column, way in _FALLING), -0.4),
    Production("sort_clause", "sort? :(descending|newest_first|ascending|oldest_first)",
         _way_alone, 0.3),
    Production("sort_clause", "sort END", lambda _, __: FieldClause("is_sorted"), 0.3),
    Production("share_clause", "share sum?", _share, 0.4),
    Production("share_clause", "share sum? AMOUNT", _share_of),
    Production("share_clause", "share NOUN", _share_rows),
    Production("share_clause", "by? EXACT share sum? AMOUNT", _share_groups, -0.4),
    Production("share_clause", "share KEY share?", _share_groups, 0.1),
    Production("share_clause", "share KEY ('am'|'an'|'of'|'in'|'vom') sum? AMOUNT share?",
         _share_groups),
    Production("running_clause", "running sum? AMOUNT?", _running, -0.2),
)  # fmt: skip
"""Rules of the clauses `figures`, `by`, `cross`, `pivot`, `sort`, `share` and `running`."""
