"""Rules for days: "in March 2024", "since May", "from June to August", "2023 vs 2024". Pure."""

from collections.abc import Sequence
from datetime import date

import msgspec

from kbd_offline import expressions
from kbd_offline.clauses import ConditionClause, FieldClause, KeyClause, condition_on
from kbd_offline.facts import KnownColumn
from kbd_offline.names import slug
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.periods import Period, years_between
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, cued, extended, quoted
from kbd_offline.terminals import NamedColumn

__all__ = ["TIME_RULES", "moment_of"]


def moment_of(scan: RequestScan) -> KnownColumn:
    """Return the column of dates that a request is about where it names none.

    Raises:
        SeveralError: There are several.
        UnclearError: There is none.
    """
    if scan.moment is not None:
        return scan.moment
    moments = [column for column in scan.table.columns if column.is_moment]
    if not moments:
        mixed = [one for one in scan.table.columns if "date" in one.why_text]
        why = "".join(f'; "{column.name}": {column.why_text}' for column in mixed)
        raise UnclearError(f"{scan.table.label} has no column of dates{why}")
    if len(moments) > 1:
        names = " or ".join(f'"{column.name}"' for column in moments)
        raise SeveralError(
            f"the date can be read in {'two' if len(moments) == 2 else 'several'} ways: by {names}",
            [extended(scan, f", by the date {quoted(column.name)}") for column in moments],
        )
    return moments[0]


class _Days(msgspec.Struct, frozen=True):
    """Days that are spoken of, before it is known which column is meant.

    Args:
        periods: They; of a range its first and last.
        way: How they bound: inside, range, since, before, after, until.
        start, end: Where they stand.
        every_year: Whether those of each year are meant.
    """

    periods: tuple[Period, ...]
    way: str
    start: int
    end: int
    every_year: bool = False


def _inside(span: RequestSpan, periods: Sequence[Period], every: str | None) -> _Days | None:
    scan, first = span.scan, periods[0]
    bounds = ("more", "less", "at_least", "at_most")
    is_amount = scan.is_sign(span.start - 1, "€$£") or scan.at(span.start - 1, *bounds)
    if first.kind == "year" and is_amount:
        return None
    if any(one.kind != first.kind for one in periods):
        return None
    known = [one for one in periods if one.has_year]
    if len(known) == 1 and known[0] == periods[-1] and len(periods) > 1:
        periods = [one.in_year(known[0].start.year) for one in periods]
    return _Days(tuple(periods), "inside", span.start, span.end, every is not None)


def _range(span: RequestSpan, first: Period, last: Period, every: str | None) -> _Days:
    if "span" in (first.kind, last.kind):
        raise UnclearError("I do not know which days are meant")
    if last.has_year and not first.has_year:
        first = first.in_year(last.start.year)
    if first.has_year and not last.has_year:
        last = last.in_year(first.start.year)
    return _Days((first, last), "range", span.start, span.end, every is not None)


def _bounded(span: RequestSpan, way: str, period: Period) -> _Days | None:
    # "From March" alone may be the month or its beginning; so may "from 2024".
    if span.scan.word(span.start) in ("from", "von", "vom") and period.kind != "day":
        return None
    return _Days((period,), way, span.start, span.end)


def _condition(span: RequestSpan, days: _Days, named: NamedColumn | None = None) -> ConditionClause:
    scan = span.scan
    years = [one for one in scan.table.columns if one.role == "year"]
    if named is not None:
        column = named.column
    elif years and not any(one.is_moment for one in scan.table.columns):
        column = years[0]
    else:
        column = moment_of(scan)
    if column.role == "year":
        return _of_years(column, days)
    if days.every_year and not days.periods[0].has_year:
        return _of_every_year(column, days)
    if days.way in ("inside", "range"):
        return _within(scan, column, days)
    return _until(scan, column, days)


def _before(span: RequestSpan, named: NamedColumn, days: _Days) -> ConditionClause:
    for way in ("since", "until"):
        if days.way == "inside" and span.scan.at(named.end - 1, way) == named.end:
            # "Customer since 2020" of a column that is called so.
            days = msgspec.structs.replace(days, way=way)
    return _condition(span, days, named)


def _of_years(column: KnownColumn, days: _Days) -> ConditionClause:
    years = [str(one.start.year) for one in days.periods]
    name = expressions.column(column.name)
    if days.way == "inside":
        expression = expressions.one_of(column, years, exact=True)
        return condition_on(column, expression, f"is {' or '.join(years)}", "-".join(years))
    if days.way == "range":
        first, last = years
        expression = f"{name} >= {first} and {name} <= {last}"
        return condition_on(column, expression, f"is from {first} to {last}", f"{first}-to-{last}")
    operator, words = _BOUNDS[days.way]
    expression = f"{name} {operator} {years[0]}"
    return condition_on(column, expression, f"is {words} {years[0]}", f"{days.way}-{years[0]}")


def _of_every_year(column: KnownColumn, days: _Days) -> ConditionClause:
    is_range = days.way == "range"
    spans = [(one.start, one.end) for one in days.periods]
    spans = [(spans[0][0], spans[-1][1])] if is_range else spans
    months = [m for start, end in spans for m in range(start.month, (end.month - 2) % 12 + 2)]
    texts = (" to " if is_range else " and ").join(one.text for one in days.periods)
    listed = ", ".join(map(str, months))
    operator = f"= {listed}" if len(months) == 1 else f"in ({listed})"
    text = f"{texts} of every year"
    expression = f"month({expressions.column(column.name)}) {operator}"
    return condition_on(column, expression, f"is in {text}", slug(text))


def _within(scan: RequestScan, column: KnownColumn, days: _Days) -> ConditionClause:
    periods = days.periods
    if days.way == "range":
        first, last = periods
        text = f"{first.text} to {last.text}"
        periods = (Period(first.start, last.end, days.end, text, "range", first.has_year),)
    known = [_in_year(scan, one, column, days) for one in periods]
    for one in (*days.periods, *known):
        _check_readings(scan, one, days)
    latest = date.fromisoformat(column.maximum[:10]) if column.maximum else date.max
    if all(one.start > max(latest, scan.today) for one in known):
        # "What will we earn next year?" asks for more than is there.
        at = known[0].text
        raise UnclearError(f"no row has a {column.name} in {at}: the last one is {latest}")
    parts = [expressions.within(column.name, one.start, one.end) for one in known]
    text = " or ".join(one.text for one in known)
    return condition_on(column, expressions.alternatives(parts), f"is in {text}", slug(text))


_BOUNDS = {
    "since": (">=", "from"), "before": ("<", "before"), "after": (">", "after"),
    "until": ("<=", "up to the end of"),
}  # fmt: skip
"""How days bound: as a comparison of years, and in words."""


def _until(scan: RequestScan, column: KnownColumn, days: _Days) -> ConditionClause:
    known = _in_year(scan, days.periods[0], column, days)
    _check_readings(scan, known, days)
    is_whole = cued(scan, "whole", days.start, days.end)
    if days.way in ("after", "until") and known.kind == "year" and not is_whole:
        word, year = "since" if days.way == "after" else "before", known.start.year
        raise SeveralError(
            f'"{scan.text(days.start, days.end)}" may be with {known.text} or without it',
            [scan.rewritten(days.start, days.end, f"{word} {one}") for one in (year, year + 1)],
        )
    bound = known.start if days.way in ("since", "before") else known.end
    limits = (bound, None) if days.way in ("since", "after") else (None, bound)
    expression = expressions.within(column.name, *limits)
    text = f"is {_BOUNDS[days.way][1]} {known.text}"
    return condition_on(column, expression, text, slug(f"{days.way} {known.text}"))


def _in_year(scan: RequestScan, period: Period, column: KnownColumn, days: _Days) -> Period:
    """Return a period in the only year that the data have it in.

    Raises:
        SeveralError: They have it in several.
        UnclearError: They have it in none.
    """
    if period.has_year:
        return period
    if not column.minimum or not column.maximum:
        raise UnclearError(f'which year is meant by "{period.text}"?')
    first, last = (date.fromisoformat(one[:10]) for one in (column.minimum, column.maximum))
    years = years_between(period, first, last)
    if not years:
        raise UnclearError(
            f"no row has a {column.name} in {period.text}: they run from {first} to {last}"
        )
    if len(years) > 1:
        text = scan.text(days.start, days.end)
        options = [f"{text} {year}" for year in years[-3:]] + [f"{text} of every year"]
        raise SeveralError(
            f'"{text}" is there in {len(years)} years ({years[0]} to {years[-1]})',
            [scan.rewritten(days.start, days.end, one) for one in options],
        )
    return period.in_year(years[0])


def _check_readings(scan: RequestScan, period: Period, days: _Days) -> None:
    if not period.readings:
        return
    at = next(i for i in range(days.start, len(scan)) if scan.kind(i) == "date")
    raise SeveralError(
        f'"{scan.text(at, at + 1)}" may be {" or ".join(period.readings)}',
        [scan.rewritten(at, at + 1, one) for one in period.readings],
    )


def _versus(
    span: RequestSpan, first: Period, second: Period, named: NamedColumn | None
) -> tuple[object, ...] | None:
    """Read "2023 vs 2024", which puts years or months beside each other."""
    if first.kind != second.kind or first.kind not in ("year", "quarter", "month"):
        return None
    days = _inside(span, (first, second), None)
    if days is None:
        return None
    condition = _condition(span, days, named)
    column = condition.columns[0]
    part = "" if column.role == "year" else first.kind
    key = msgspec.convert({"column": column, "part": part, "place": span.start}, KeyClause)
    return (condition, FieldClause("across", (key,)))


_IN = "('in'|'on'|'during'|'im'|'am'|'of'|'for'|'from'|'vom'|'von'|'fur'|'aus'|'to')*"
_TO = "('to'|'through'|'thru'|'until'|'till'|'bis'|'-'|'–')"
_BY = "(by|'nach')? ('date'|'datum')? '('? DAYS ')'?"

TIME_RULES: tuple[Production, ...] = (
    Production("days", f"{_IN} PERIOD~ :(of_every_year)?", _inside),
    Production("days", "between PERIOD (and|range_to) PERIOD :(of_every_year)?", _range, -0.2),
    Production("days", f"{_IN} since? PERIOD {_TO} PERIOD :(of_every_year)?", _range, -0.1),
    Production("days", ":(since|before|after|until) PERIOD", _bounded),
    Production("condition", "days", _condition),
    Production("condition", f"days DAYVERB|days {_BY}", _condition, -0.1),
    Production("condition", "DAYS (is|'of')? '('? days ')'?|DAYVERB days", _before, -0.1),
    Production("versus_clause", f"{_IN} PERIOD versus PERIOD DAYS?", _versus),
    # An answer to "which date?", of which the scan knows already.
    Production("hint_clause", "by ('date'|'datum') DAYS", lambda *_: ()),
)  # fmt: skip
"""Rules of `condition` on days, of years beside each other, and of which date is meant."""
