"""Conditions on days: "in March 2024", "since May", "last month", "2023 vs 2024". Pure."""

from collections.abc import Sequence
from datetime import date

import msgspec

from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause, KeyClause
from kbd_offline.facts import KnownColumn
from kbd_offline.names import slug
from kbd_offline.periods import Period, period_at, period_list_at, years_between
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted

__all__ = ["moment_of", "time_condition", "versus"]


def moment_of(scan: RequestScan, clauses: Clauses) -> KnownColumn:
    """Return the column of dates that a request is about where it names none.

    Raises:
        SeveralError: There are several.
        UnclearError: There is none.
    """
    if clauses.moment is not None:
        return clauses.moment
    moments = [column for column in scan.table.columns if column.is_moment]
    if not moments:
        mixed = [one for one in scan.table.columns if "date" in one.why_text]
        why = "".join(f'; "{column.name}": {column.why_text}' for column in mixed)
        raise UnclearError(f"{scan.table.label} has no column of dates{why}")
    if len(moments) > 1:
        names = " or ".join(f'"{column.name}"' for column in moments)
        request = scan.request.rstrip(" .!?")
        raise SeveralError(
            f"the date can be read in {'two' if len(moments) == 2 else 'several'} ways: by {names}",
            [f"{request}, by the date {quoted(column.name)}" for column in moments],
        )
    return moments[0]


def time_condition(
    scan: RequestScan, clauses: Clauses, place: int, column: KnownColumn | None = None
) -> int:
    """Read a condition on days at a place; return where it ends, 0 where none is there.

    Args:
        scan: The request.
        clauses: What is understood so far.
        place: Where it may stand; a word such as "in" or "since" may come first.
        column: The column, where it is named before.

    Raises:
        UnclearError: It has no reading, or several.
    """
    if not any(c.is_moment or c.role == "year" for c in scan.table.columns):
        return 0
    at = scan.skip(place, "only", "det") if scan.at(place, "only") else place
    for read in (_range, _bound, _inside):
        end = read(scan, clauses, at, column)
        if end:
            return end
    return 0


def _range(scan: RequestScan, clauses: Clauses, place: int, column: KnownColumn | None) -> int:
    at = scan.at(place, "between", "since") or place
    first = period_at(scan, at)
    to = scan.at(first.end_token, "range_to") if first else 0
    if first is None or not to:
        return 0
    # "March and April" is a list, unless "between" stands before.
    if scan.at(first.end_token, "and") and not scan.at(place, "between"):
        return 0
    last = period_at(scan, to)
    if last is None:
        return 0
    if first.kind == "span" or last.kind == "span":
        raise UnclearError("I do not know which days are meant")
    if last.has_year and not first.has_year:
        first = first.in_year(last.start.year)
    if first.has_year and not last.has_year:
        last = last.in_year(first.start.year)
    end, column = _column_behind(scan, clauses, last.end_token, column)
    if scan.at(end, "of_every_year") and not first.has_year:
        months = range(first.start.month, last.start.month + 1)
        _add_months(clauses, column, list(months), f"{first.text} to {last.text} of every year")
        return scan.at(end, "of_every_year")
    both = Period(
        first.start, last.end, end, f"{first.text} to {last.text}", "range", first.has_year
    )
    known = _with_year(scan, both, column, place, end)
    _add(clauses, column, known.start, known.end, f"is in {known.text}", known.text)
    return end


def _bound(scan: RequestScan, clauses: Clauses, place: int, column: KnownColumn | None) -> int:
    for concept in ("since", "before", "after", "until"):
        at = scan.at(place, concept)
        period = period_at(scan, at) if at else None
        if period is None or scan.at(place, "at_most", "at_least") > at:
            continue
        # "From March" alone may be the month or its beginning; so may "from 2024".
        if scan.word(place) in ("from", "von", "vom") and period.kind != "day":
            return 0
        end, column = _column_behind(scan, clauses, period.end_token, column)
        if column.role == "year":
            _year_bound(clauses, column, concept, period.start.year)
            return end
        known = _with_year(scan, period, column, at, period.end_token)
        _check_readings(scan, known, at)
        if concept in ("after", "until") and period.kind == "year":
            words = ("since", "since") if concept == "after" else ("before", "before")
            years = (known.start.year, known.start.year + 1)
            raise SeveralError(
                f'"{scan.text(place, period.end_token)}" may be with {known.text} or without it',
                [
                    scan.rewritten(place, period.end_token, f"{word} {year}")
                    for word, year in zip(words, years, strict=True)
                ],
            )
        bounds: tuple[date | None, date | None]
        match concept:
            case "since":
                bounds = (known.start, None)
            case "before":
                bounds = (None, known.start)
            case "after":
                bounds = (known.end, None)
            case _:
                bounds = (None, known.end)
        start, stop = bounds
        _add(
            clauses,
            column,
            start,
            stop,
            f"is {_BOUNDS[concept]} {known.text}",
            f"{concept} {known.text}",
        )
        return end
    return 0


_BOUNDS = {"since": "from", "before": "before", "after": "after", "until": "up to the end of"}


def _year_bound(clauses: Clauses, column: KnownColumn, concept: str, year: int) -> None:
    operator = {"since": ">=", "before": "<", "after": ">", "until": "<="}[concept]
    _append(clauses, ConditionClause(
        expressions.compared(column.name, operator, str(year)),
        f"{column.name} is {_BOUNDS[concept]} {year}", (column,), slug=f"{concept}-{year}",
    ))  # fmt: skip


def _inside(scan: RequestScan, clauses: Clauses, place: int, column: KnownColumn | None) -> int:
    at = place
    is_negative = False
    if end := scan.at(place, "except"):
        is_negative, at = True, scan.skip(end, "det")
    leads = scan.at(at, "is", "filler", "det", "since", "where")
    periods = period_list_at(scan, at) or (period_list_at(scan, leads) if leads else [])
    if not periods:
        return 0
    if scan.kind(at) == "number" and not _is_period_word(scan, place, periods[0]):
        return 0
    end, column = _column_behind(scan, clauses, periods[-1].end_token, column)
    if column.role == "year":
        years = [str(period.start.year) for period in periods]
        plain = expressions.one_of(column, years, exact=True)
        text = " or ".join(years)
        _append(clauses, ConditionClause(
            expressions.negated(column, plain) if is_negative else plain,
            f"{column.name} is {'not ' * is_negative}{text}", (column,), slug="-".join(years),
        ))  # fmt: skip
        return end
    if not periods[0].has_year and (behind := scan.at(end, "of_every_year")):
        months = [m for p in periods for m in range(p.start.month, (p.end.month - 2) % 12 + 2)]
        text = " and ".join(period.text for period in periods)
        _add_months(clauses, column, months, f"{text} of every year")
        return behind
    start = next(i for i in range(place, end) if period_at(scan, i))
    known = [_with_year(scan, period, column, start, periods[-1].end_token) for period in periods]
    for period in known:
        _check_readings(scan, period, start)
    parts = [expressions.within(column.name, one.start, one.end) for one in known]
    joined = expressions.alternatives(parts)
    text = " or ".join(period.text for period in known)
    _append(clauses, ConditionClause(
        expressions.negated(column, joined) if is_negative else joined,
        f"{column.name} is {'not ' * is_negative}in {text}", (column,),
        slug=f"{'not-' * is_negative}{slug(text)}",
    ))  # fmt: skip
    return end


def _is_period_word(scan: RequestScan, place: int, period: Period) -> bool:
    """Tell whether a number that may be a year is one: "over 2000" and "10 5" are none."""
    if period.kind != "year":
        return True
    before = scan.word(place - 1)
    return not (
        scan.at(place - 1, "more", "less", "at_least", "at_most") or (before in "€$£" and before)
    )


def _column_behind(
    scan: RequestScan, clauses: Clauses, place: int, column: KnownColumn | None
) -> tuple[int, KnownColumn]:
    """Return where a condition ends and its column, which may stand behind it."""
    if column is not None:
        return place, column
    at = scan.skip(place, "det", "by") if scan.at(place, "det", "by") else place
    at = at + 1 if scan.word(at) == "(" else at
    mention = scan.column(at)
    if mention is not None and any(one.is_moment for one in mention.columns) and at != place:
        found = scan.only(mention, lambda one: one.is_moment)
        return mention.end + (scan.word(mention.end) == ")"), found
    if any(one.is_moment for one in scan.table.columns):
        return place, moment_of(scan, clauses)
    return place, next(one for one in scan.table.columns if one.role == "year")


def _with_year(
    scan: RequestScan, period: Period, column: KnownColumn, start: int, end: int
) -> Period:
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
        text = scan.text(start, end)
        shown = years[-3:]
        raise SeveralError(
            f'"{text}" is there in {len(years)} years ({years[0]} to {years[-1]})',
            [scan.rewritten(start, end, f"{text} {year}") for year in shown]
            + [scan.rewritten(start, end, f"{text} of every year")],
        )
    return period.in_year(years[0])


def _check_readings(scan: RequestScan, period: Period, place: int) -> None:
    if not period.readings:
        return
    at = next(i for i in range(place, len(scan)) if scan.kind(i) == "date")
    raise SeveralError(
        f'"{scan.text(at, at + 1)}" may be {" or ".join(period.readings)}',
        [scan.rewritten(at, at + 1, one) for one in period.readings],
    )


def _add_months(clauses: Clauses, column: KnownColumn, months: Sequence[int], text: str) -> None:
    name = f"month({expressions.column(column.name)})"
    listed = ", ".join(map(str, months))
    condition = f"{name} = {listed}" if len(months) == 1 else f"{name} in ({listed})"
    _append(
        clauses,
        ConditionClause(condition, f"{column.name} is in {text}", (column,), slug=slug(text)),
    )


def _add(
    clauses: Clauses,
    column: KnownColumn,
    start: date | None,
    end: date | None,
    text: str,
    name: str,
) -> None:
    condition = expressions.within(column.name, start, end)
    _append(
        clauses, ConditionClause(condition, f"{column.name} {text}", (column,), slug=slug(name))
    )


def _append(clauses: Clauses, condition: ConditionClause) -> None:
    # Days narrow a choice down, so that "or" between a value and a month is told, not guessed.
    joint = clauses.joint or "and"
    clauses.conditions.append(msgspec.structs.replace(condition, joint=joint))
    clauses.joint = ""


def versus(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "2023 vs 2024", which puts years or months beside each other."""
    at = scan.skip(place, "det", "filler")
    first = period_at(scan, at)
    if first is None:
        return 0
    behind = scan.at(first.end_token, "versus")
    second = period_at(scan, scan.skip(behind, "det")) if behind else None
    if second is None or second.kind != first.kind:
        return 0
    if second.has_year and not first.has_year:
        first = first.in_year(second.start.year)
    end, column = _column_behind(scan, clauses, second.end_token, None)
    if first.kind not in ("year", "quarter", "month"):
        raise UnclearError("I compare years, quarters or months")
    if column.role == "year":
        years = [str(first.start.year), str(second.start.year)]
        condition = expressions.one_of(column, years, exact=True)
        key = KeyClause(column, "", place)
    else:
        known = [_with_year(scan, one, column, at, first.end_token) for one in (first, second)]
        condition = expressions.alternatives(
            [expressions.within(column.name, one.start, one.end) for one in known]
        )
        part = {"year": "year", "quarter": "quarter", "month": "month"}[first.kind]
        key = msgspec.convert({"column": column, "part": part, "place": place}, KeyClause)
    text = f"{first.text} or {second.text}"
    _append(clauses, ConditionClause(
        condition, f"{column.name} is in {text}", (column,),
        slug=slug(f"{first.text} vs {second.text}"),
    ))  # fmt: skip
    clauses.across.append(key)
    return end
