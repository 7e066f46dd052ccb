"""Rules for figures, what they are by, orders, shares, columns across. Pure."""

from collections.abc import Sequence

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    AcrossClause,
    FigureClause,
    Flag,
    KeyClause,
    LooseClause,
    OrderClause,
    Part,
    RunningClause,
    ShareClause,
)
from kbd_offline.mentions import PART, STEM
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import UnclearError
from kbd_offline.terminals import NamedColumn
from kbd_offline.time_rules import moment_of

__all__ = ["FIGURE_RULES"]

_FUNCTIONS: dict[str, Aggregate] = {
    "sum": "sum", "average": "average", "median": "median", "minimum": "minimum",
    "maximum": "maximum",
}  # fmt: skip


def _function(span: RequestSpan, concept: str) -> Aggregate | None:
    scan = span.scan
    if span.end > span.start + 1 and scan.is_column(span.end - 1):
        # "Total sum" where a column is called Sum.
        return None
    if scan.is_column(span.start) and scan.column(scan.behind_det(span.end)) is None:
        # "Total Sum" where a column is called Sum.
        return None
    return _FUNCTIONS[concept]


def _of_columns(
    span: RequestSpan, functions: Sequence[Aggregate], columns: Sequence[NamedColumn]
) -> tuple[FigureClause, ...] | None:
    """Read "total and average amount"; of the least and the greatest days will do, too."""
    found = []
    for named in columns:
        for function in functions:
            column = named.column
            if column.is_moment and function not in ("minimum", "maximum"):
                return None
            if function == "sum" and not column.adds_up and named.level > PART:
                return None
            found.append(FigureClause(function, column, place=named.start))
    del span
    return tuple(found)


def _columns_of(
    span: RequestSpan, columns: Sequence[NamedColumn], functions: Sequence[Aggregate]
) -> tuple[FigureClause, ...] | None:
    """Read "net sum": the column before the word for the figure."""
    return _of_columns(span, functions, columns)


def _of_default(span: RequestSpan, functions: Sequence[Aggregate]) -> tuple[FigureClause, ...]:
    place = span.scan.skip(span.start, "det")
    return tuple(FigureClause(one, None, place=place) for one in functions)


def _counted_rows(span: RequestSpan, how: str, noun: int) -> tuple[FigureClause, ...] | None:
    """Read "how many orders"; "how many hours" of a file of hours asks for that column."""
    mention = span.scan.column(noun)
    columns = () if mention is None or mention.level > STEM else mention.columns
    return None if any(one.adds_up for one in columns) else _rows(span, how)


def _how_much(span: RequestSpan) -> tuple[FigureClause, ...] | None:
    """Read "how much" alone; "wie viel" may be a number of rows as well."""
    is_either = span.scan.at(span.start, "how_many")
    return _rows(span) if is_either else _of_default(span, ("sum",))


def _rows(span: RequestSpan, *_: object) -> tuple[FigureClause, ...]:
    return (FigureClause("count", of_rows=True, place=span.start),)


def _counted(span: RequestSpan, _how: str, thing: NamedColumn) -> tuple[FigureClause, ...] | None:
    """Read "number of customers": of rows, or of different values if these differ."""
    column, scan = thing.column, span.scan
    if scan.is_noun(thing.start) and thing.level > STEM:
        return None
    if column.adds_up or scan.value(thing.start) is not None:
        return None
    return (FigureClause("count", of_rows=True, place=thing.start, subject=column),)


def _pieces(span: RequestSpan, _how: str, amount: NamedColumn) -> tuple[FigureClause, ...] | None:
    """Read "how many units", "how much revenue": of a column of numbers its sum."""
    if not amount.column.adds_up or (span.scan.is_noun(amount.start) and amount.level > STEM):
        return None
    return (FigureClause("sum", amount.column, place=amount.start),)


def _people(_: RequestSpan, amount: NamedColumn) -> tuple[FigureClause, ...] | None:
    """Read "how many people attended" of a column of numbers called so."""
    if amount.level > STEM or not amount.column.adds_up:
        return None
    return (FigureClause("sum", amount.column, place=amount.start),)


def _different(_: RequestSpan, columns: Sequence[NamedColumn]) -> tuple[FigureClause, ...]:
    return tuple(FigureClause("distinct", one.column, place=one.start) for one in columns)


def _joined(
    _: RequestSpan, first: tuple[FigureClause, ...], others: tuple[FigureClause, ...]
) -> tuple[FigureClause, ...]:
    return (*first, *others)


def _figures(_: RequestSpan, found: Sequence[tuple[FigureClause, ...]]) -> tuple[FigureClause, ...]:
    return tuple(one for some in found for one in some)


def _key(span: RequestSpan, named: NamedColumn) -> KeyClause | None:
    column = named.column
    if column.adds_up and (named.level > STEM or column.type == "float"):
        return None
    if column.adds_up and column.distinct > _MAX_GROUPS and (
        span.scan.word(span.start - 1) in ("per", "pro", "je")
    ):  # fmt: skip
        raise UnclearError(f'I do not group by the amounts of "{column.name}"')
    if column.type == "float" and named.level > STEM:
        raise UnclearError(f'I do not group by "{column.name}", whose name only has that word')
    if span.scan.is_noun(named.start) and named.level > STEM and column.is_moment:
        return None
    return KeyClause(column, "", named.start)


def _part(_: RequestSpan, concept: str) -> str:
    return concept


def _part_key(span: RequestSpan, part: Part, named: NamedColumn | None = None) -> KeyClause:
    return KeyClause(named.column if named else None, part, span.start)


def _key_part(span: RequestSpan, named: NamedColumn, part: Part) -> KeyClause | None:
    return None if part == "day" else KeyClause(named.column, part, span.start)


_MAX_GROUPS = 12
"""Different whole numbers that rows may be grouped by: more of them are amounts."""
_ADVERBS: dict[str, Part] = {
    "yearly": "year", "quarterly": "quarter", "monthly": "month", "weekly": "week", "daily": "day",
}  # fmt: skip


def _adverb(span: RequestSpan, concept: str) -> tuple[KeyClause, ...]:
    return (KeyClause(None, _ADVERBS[concept], span.start),)


def _keys(_: RequestSpan, found: Sequence[KeyClause | AcrossClause]) -> tuple[object, ...]:
    return tuple(found)


def _across(_: RequestSpan, key: KeyClause) -> AcrossClause:
    return AcrossClause(key)


def _only_across(_: RequestSpan, key: KeyClause) -> tuple[AcrossClause, ...]:
    return (AcrossClause(key),)


def _same(_: RequestSpan, *values: object) -> object:
    return values[0]


def _tuple(_: RequestSpan, value: object) -> tuple[object, ...]:
    return (value,)


def _crossed(span: RequestSpan, rows: NamedColumn, key: KeyClause) -> tuple[object, ...] | None:
    """Read "status by country", "Mitarbeiter x Projekt": a table of both."""
    column = rows.column
    scan = span.scan
    if scan.at(span.start - 1, "sum", "average", "count", "median", "minimum", "maximum"):
        return None
    if rows.level > STEM or column.adds_up or column.is_moment or span.scan.is_noun(rows.start):
        return None
    if key.column is not None and key.column.adds_up:
        return None
    return (Flag("pivot"), KeyClause(column, "", rows.start), AcrossClause(key))


def _down(_: RequestSpan, key: KeyClause) -> tuple[object, ...]:
    return (key,)


_WAYS = {"descending": True, "newest_first": True, "ascending": False, "oldest_first": False}


def _way(_: RequestSpan, concept: str) -> bool:
    return _WAYS[concept]


def _ordered(_: RequestSpan, named: NamedColumn, way: bool | None) -> OrderClause:  # noqa: FBT001 - a value
    return OrderClause(named.column, way)


def _ordered_figure(
    span: RequestSpan,
    figures: tuple[FigureClause, ...],
    way: bool | None,  # noqa: FBT001 - a value
) -> OrderClause | None:
    if len(figures) != 1:
        return None
    del span
    return OrderClause(figure=figures[0], descending=way)


def _ordered_part(_: RequestSpan, part: Part, way: bool | None) -> OrderClause:  # noqa: FBT001 - a value
    return OrderClause(part=part, descending=way)


def _sorted(
    span: RequestSpan, _noun: int | None, before: bool | None,  # noqa: FBT001 - a value
    orders: Sequence[OrderClause],
) -> tuple[OrderClause, ...]:  # fmt: skip
    del span
    if before is None:
        return tuple(orders)
    return tuple(
        one if one.descending is not None else msgspec.structs.replace(one, descending=before)
        for one in orders
    )


def _ordered_by(span: RequestSpan, order: OrderClause) -> tuple[OrderClause, ...] | None:
    """Read "by revenue descending", which sorts and does not group."""
    has_comma = any(span.scan.is_sign(at) for at in range(span.start, span.end))
    return None if order.descending is None or has_comma else (order,)


def _ordered_last(
    _: RequestSpan,
    order: OrderClause,
    way: bool | None,  # noqa: FBT001 - a value
) -> tuple[OrderClause, ...]:
    return (order if way is None else msgspec.structs.replace(order, descending=way),)


def _first(_: RequestSpan, concept: str, named: NamedColumn) -> tuple[OrderClause, ...]:
    """Read "highest rent first"."""
    return (OrderClause(named.column, concept in ("maximum", "largest", "newest")),)


def _way_alone(span: RequestSpan, concept: str) -> tuple[OrderClause, ...]:
    if concept in ("newest_first", "oldest_first"):
        return (OrderClause(moment_of(span.scan), _WAYS[concept]),)
    return (OrderClause(None, _WAYS[concept]),)


def _share(span: RequestSpan) -> ShareClause:
    return ShareClause(span.start)


def _share_of(span: RequestSpan, amount: NamedColumn) -> tuple[object, ...] | None:
    if not amount.column.adds_up:
        return None
    return (ShareClause(span.start), FigureClause("sum", amount.column, place=amount.start))


def _share_rows(span: RequestSpan, noun: int) -> tuple[object, ...]:
    return (ShareClause(span.start), FigureClause("count", of_rows=True, place=noun))


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
    of = () if amount is None else (FigureClause("sum", amount.column, place=amount.start),)
    return (ShareClause(span.start), KeyClause(column, "", key.start), *of)


def _running(span: RequestSpan, amount: NamedColumn | None) -> tuple[object, ...]:
    return (RunningClause(amount.column if amount else None, span.start),)


def _loose(_: RequestSpan, named: NamedColumn) -> LooseClause:
    return LooseClause(named)


_HOW = ":(count|how_many)"
_PARTS = ":(weekday|quarter|month|week|year|day)"
_BY = "(by|'in'|'vs'|'x'|'×'|'gegen'|'versus'|'against')"
_SORT_BY = "sort (by|'nach'|'by')?"

FIGURE_RULES: tuple[Production, ...] = (
    Production("function", ":(sum|average|median|minimum|maximum)", _function),
    Production("figure", "function+ sum? ANYNUMBER+", _of_columns, -0.4),
    Production("figure", "function+ DAYS+", _of_columns, -0.2),
    Production("figure", "function+ EXACT", lambda s, f, c: _of_columns(s, f, (c,)), 0.1),
    Production("figure", "ANYNUMBER function", lambda s, c, f: _columns_of(s, (c,), (f,)), 0.1),
    Production("figure", "function+", _of_default, 0.8),
    Production("figure", f"{_HOW} NOUN", _counted_rows, -0.2),
    Production("figure", f"{_HOW} sum? NOUN?", _rows, 0.8),
    Production("figure", "sum count NOUN?", _rows, 0.1),
    Production("figure", "how_much", _how_much, -0.6),
    Production("figure", f"{_HOW} THING", _counted),
    Production("figure", ":(how_many|how_much|count) AMOUNT", _pieces, -0.1),
    Production("figure", "how_many ('people'|'persons'|'personen'|'leute') ANYNUMBER",
         _people, -0.4),
    Production("figure", "count? distinct COLUMN+", _different, -0.2),
    Production("figures", "figure+", _figures),
    Production("part", _PARTS, _part),
    Production("key", "KEY", _key),
    Production("key", "part", _part_key, 0.1),
    Production("key", "part ('of'|'von'|'der'|'des') DAYS", _part_key),
    Production("key", "DAYS part", _key_part, -0.1),
    Production("key", "count NUMERIC", lambda s, c: KeyClause(c.column, "", s.start), 0.0),
    Production("key", "NOUN key", lambda _, __, key: key, 0.2),
    Production("by_key", "key down?", _same),
    Production("by_key", "key across", _across, -0.1),
    Production("by_clause", "by by_key+", _keys, -0.2),
    Production("by_clause", "('by'|'per'|'je'|'nach'|'pro') by_key+", _keys, -0.1),
    Production("by_clause", ":(yearly|quarterly|monthly|weekly|daily)", _adverb),
    Production("by_clause", "('one'|'a'|'eine') ('column'|'spalte') by key",
         _only_across, -0.4),
    Production("by_clause", "key across", _only_across, -0.1),
    Production("by_clause", "key down", _down, -0.1),
    Production("cross_clause", f"EXACT {_BY} key", _crossed, 0.1),
    Production("pivot_clause", "pivot", lambda _: (Flag("pivot"),)),
    Production("way", "','? '('? :(descending|newest_first|ascending|oldest_first) ')'?", _way),
    Production("order", "COLUMN way?", _ordered),
    Production("order", "figure way?", _ordered_figure, 0.9),
    Production("order", "part way?", _ordered_part, 0.2),
    Production("orders", "order+", _keys),
    Production("orders", "order (',' then_by|and then_by|then_by) orders",
         lambda _, one, others: (one, *others), -0.2),
    Production("sort_clause", f"{_SORT_BY} NOUN? det* way? (by|'nach'|'by')? orders",
         _sorted, -0.3),
    Production("sort_clause", "way ('nach'|'by'|sort)+ orders sort?",
         lambda s, way, orders: _sorted(s, None, way, orders), -0.1),
    Production("sort_clause", "('by'|'nach') order", _ordered_by, -0.1),
    Production("sort_clause", "('by'|'nach') order sort way?", _ordered_last, -0.2),
    Production("sort_clause", ":(maximum|largest|newest|minimum|smallest|oldest) COLUMN"
         " ('first'|'zuerst')", _first, -0.4),
    Production("sort_clause", "sort? :(descending|newest_first|ascending|oldest_first)",
         _way_alone, 0.3),
    Production("share_clause", "share sum?", lambda s: (_share(s),), 0.4),
    Production("share_clause", "share sum? AMOUNT", _share_of),
    Production("share_clause", "share NOUN", _share_rows),
    Production("share_clause", "by? EXACT share sum? AMOUNT", _share_groups, -0.4),
    Production("share_clause", "share KEY share?", _share_groups, 0.1),
    Production("share_clause", "share KEY ('am'|'an'|'of'|'in'|'vom') sum? AMOUNT share?",
         _share_groups),
    Production("running_clause", "running sum? AMOUNT?", _running, -0.2),
)  # fmt: skip
"""Rules of the clauses `figures`, `by`, `cross`, `pivot`, `sort`, `share` and `running`."""
