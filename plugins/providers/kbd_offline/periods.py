"""Periods that a request names: years, quarters, months, days, "last month". Pure.

A period runs from its first day to before a day. A month or quarter without a year is one of each
year until the data, or a year beside it, tell which.
"""

import calendar
import re
from contextlib import suppress
from datetime import date, timedelta

import msgspec

from kbd_offline.day_ranges import day_at, month_behind
from kbd_offline.lexicon import LEXICON
from kbd_offline.scan import RequestScan, UnclearError

__all__ = ["Period", "count_at", "period_at", "years_between"]

_YEARS = range(1900, 2101)
_DAY_MONTH = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_PART = re.compile(r"q([1-4])|h([12])")
_MONTHS_OF = {"month": 1, "quarter": 3, "half": 6}
_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4,
    "erstes": 1, "erste": 1, "ersten": 1, "zweites": 2, "zweite": 2, "zweiten": 2, "drittes": 3,
    "dritte": 3, "dritten": 3, "viertes": 4, "vierte": 4, "vierten": 4,
}  # fmt: skip


class Period(msgspec.Struct, frozen=True):
    """Days in a row.

    Args:
        start: The first; of a period of any year the day in the year 4.
        end: The day behind the last.
        end_token: Where it ends in the request.
        text: It in words.
        kind: What it is one of; a `day` is a date.
        has_year: Whether its year is known.
        readings: Where a date can be read in two ways, both as ISO dates.
    """

    start: date
    end: date
    end_token: int
    text: str
    kind: str
    has_year: bool = True
    readings: tuple[str, ...] = ()

    def in_year(self, year: int) -> "Period":
        """Return it in a year, where it has none."""
        if self.has_year:
            return self
        shift = self.end.year - self.start.year
        start = _safe(year, self.start.month, self.start.day)
        end = _safe(year + shift, self.end.month, self.end.day)
        text = f"{self.text} {year}"
        return msgspec.structs.replace(self, start=start, end=end, text=text, has_year=True)


def _safe(year: int, month: int, day: int) -> date:
    return date(year, month, min(day, calendar.monthrange(year, month)[1]))


_ANY = 4
"""The year of periods that have none; a leap year."""


def _add_months(day: date, months: int) -> date:
    """Return the day so many months later, at most the last one of its month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return _safe(year, month + 1, day.day)


def years_between(period: Period, first: date, last: date) -> list[int]:
    """Return the years in which a period without one overlaps with the days of the data."""
    found = []
    for year in range(first.year - 1, last.year + 1):
        one = period.in_year(year)
        if one.start <= last and one.end > first:
            found.append(year)
    return found


def period_at(scan: RequestScan, place: int) -> Period | None:
    """Return the period that is named at a place."""
    found = _relative(scan, place)
    at = scan.skip(place, "det")
    for read in (_date, _year, _part, _month, _day_of_month):
        found = found or read(scan, at)
    return found


def _nth(kind: str, number: int, behind: int, year: int | None = None) -> Period:
    """Return a month, quarter or half by its number; without a year it is one of any year."""
    length = _MONTHS_OF[kind]
    start = date(_ANY, (number - 1) * length + 1, 1)
    text = calendar.month_name[number] if kind == "month" else f"{kind[0].upper()}{number}"
    found = Period(start, _add_months(start, length), behind, text, kind, has_year=False)
    return found if year is None else found.in_year(year)


def _whole_year(year: int, behind: int) -> Period:
    return Period(date(year, 1, 1), date(year + 1, 1, 1), behind, str(year), "year")


def _one_day(month: int, day: int, behind: int) -> Period:
    start = _safe(_ANY, month, day)
    text = f"{calendar.month_name[month]} {day}"
    return Period(start, start + timedelta(1), behind, text, "day", has_year=False)


def count_at(scan: RequestScan, place: int) -> int | None:
    """Return the whole number at a place, in digits or as a word; None for none."""
    word = scan.word(place)
    if scan.kind(place) == "number" and word.isdigit():
        return int(word)
    return LEXICON.numerals.get(word) if scan.kind(place) == "word" else None


def _year_number(scan: RequestScan, place: int) -> int | None:
    word = scan.word(place)
    is_year = scan.kind(place) == "number" and len(word) == 4 and word.isdigit()
    return int(word) if is_year and int(word) in _YEARS else None


def _relative(scan: RequestScan, place: int) -> Period | None:
    for concept, shift in (("today", 0), ("yesterday", -1)):
        if end := scan.at(place, concept):
            return _unit_around(scan.today, "day", end, shift)
    for at in range(place, scan.skip(place, "det") + 1):
        for concept, shift in _SHIFTS.items():
            behind = scan.at(at, concept)
            count = count_at(scan, behind) if behind and shift else None
            unit = _unit(scan, behind + (count is not None)) if behind else None
            if unit is None:
                continue
            kind, end = unit
            if count is not None:
                units = _last_units if shift < 0 else _next_units
                return units(scan.today, count, kind, end)
            at_year = scan.skip(end, "det")
            year = _year_number(scan, at_year)
            if year is not None and concept == "last" and kind in ("quarter", "month"):
                # "The last quarter of 2024" goes by that year and not by today.
                return _nth(kind, 12 // _MONTHS_OF[kind], at_year + 1, year)
            return _unit_around(scan.today, kind, end, shift)
    return None


def _unit(scan: RequestScan, place: int) -> tuple[str, int] | None:
    for kind in ("year", "quarter", "month", "week", "day"):
        if end := scan.at(place, kind):
            return kind, end
    return None


_SHIFTS = {"last": -1, "this": 0, "next": 1}
"""Words for the unit that is so many after the one that today is in."""


def _unit_around(today: date, kind: str, end: int, shift: int) -> Period:
    if kind == "day":
        day = today + timedelta(shift)
        return Period(day, day + timedelta(1), end, day.isoformat(), kind)
    if kind == "week":
        monday = today - timedelta(today.weekday() - 7 * shift)
        text = f"the week from {monday.isoformat()}"
        return Period(monday, monday + timedelta(7), end, text, kind)
    if kind == "year":
        return _whole_year(today.year + shift, end)
    length = _MONTHS_OF[kind]
    year, number = divmod((today.year * 12 + today.month - 1) // length + shift, 12 // length)
    return _nth(kind, number + 1, end, year)


def _last_units(today: date, count: int, kind: str, end: int) -> Period:
    """Return the last days or weeks up to today, or the last whole months, quarters or years."""
    if kind in ("day", "week"):
        start = today - timedelta(count * (7 if kind == "week" else 1) - 1)
        return Period(start, today + timedelta(1), end, f"{start} to {today}", "span")
    now = _unit_around(today, kind, end, 0).start
    start = _add_months(now, -_MONTHS_OF.get(kind, 12) * count)
    return Period(start, now, end, f"{start} to {now - timedelta(1)}", "span")


def _next_units(today: date, count: int, kind: str, end: int) -> Period:
    """Return the days from today on to so many days or weeks later.

    Raises:
        UnclearError: It is of months or longer, which may begin today or with the next one.
    """
    if kind not in ("day", "week"):
        raise UnclearError(f"the next {count} {kind}s may begin today or later: say the days")
    last = today + timedelta(count * (7 if kind == "week" else 1))
    return Period(today, last + timedelta(1), end, f"{today} to {last}", "span")


def _date(scan: RequestScan, place: int) -> Period | None:
    if scan.kind(place) != "date":
        return None
    text = scan.word(place)
    if len(text) == 7 and text[4] == "-":
        return _nth("month", int(text[5:]), place + 1, int(text[:4]))
    if text.endswith("."):
        number, month = (int(part) for part in text[:-1].split("."))
        known = 1 <= number <= 31
        return _with_year(scan, _one_day(month, number, place + 1)) if known else None
    days = _days(text, scan.table.date_order)
    if not days:
        return None
    day = days[0]
    readings = tuple(one.isoformat() for one in days) if len(days) > 1 else ()
    return Period(day, day + timedelta(1), place + 1, day.isoformat(), "day", readings=readings)


def _days(text: str, order: str) -> list[date]:
    """Return the days that a date may be."""
    found = _DAY_MONTH.fullmatch(text)
    if found is None:
        parts = [text.split("-")]
    else:
        first, second, year = found.groups()
        dmy, mdy = [year, second, first], [year, first, second]
        # With points the day comes first, everywhere.
        parts = [dmy] if "." in text or order == "dmy" else [mdy] if order == "mdy" else [dmy, mdy]
    days = []
    for year, month, day in parts:
        with suppress(ValueError):
            days.append(date(int(year), int(month), int(day)))
    return list(dict.fromkeys(days))


def _year(scan: RequestScan, place: int) -> Period | None:
    at = scan.at(place, "year") or place
    year = _year_number(scan, at)
    if year is None:
        return None
    # "2024 Q1" is the quarter.
    is_part = _PART.fullmatch(scan.word(at + 1)) is not None
    part = _part(scan, at + 1) if is_part else None
    return part.in_year(year) if part else _whole_year(year, at + 1)


def _with_year(scan: RequestScan, period: Period) -> Period:
    """Return a period with the year that stands behind it, if any."""
    at = scan.skip(period.end_token, "det")
    if scan.is_sign(period.end_token):
        at = period.end_token + 1
    year = _year_number(scan, at)
    if year is not None:
        return msgspec.structs.replace(period.in_year(year), end_token=at + 1)
    relative = _relative(scan, period.end_token)
    if relative is not None and relative.kind == "year":
        found = period.in_year(relative.start.year)
        return msgspec.structs.replace(found, end_token=relative.end_token)
    return period


def _part(scan: RequestScan, place: int) -> Period | None:
    """Return a quarter or half: "Q1", "first quarter", "2. Halbjahr", "quarter 2"."""
    found = _PART.fullmatch(scan.word(place))
    if found:
        kind = "quarter" if found[1] else "half"
        return _with_year(scan, _nth(kind, int(found[1] or found[2]), place + 1))
    has_point = scan.is_sign(place + 1, ".")
    number = _ORDINALS.get(scan.word(place)) or (count_at(scan, place) if has_point else None)
    for kind, most in (("quarter", 4), ("half", 2)):
        behind = scan.at(place + 1 + has_point, kind) if number else 0
        if kind == "half" and behind:
            behind = scan.at(scan.skip(behind, "det"), "year") or behind
        elif not number and kind == "quarter" and (at := scan.at(place, kind)):
            number, behind = count_at(scan, at), at + 1
        if number and number <= most and behind:
            return _with_year(scan, _nth(kind, number, behind))
    return None


def _month(scan: RequestScan, place: int) -> Period | None:
    number = LEXICON.months.get(scan.word(place)) if scan.kind(place) == "word" else None
    if number is None:
        return None
    day = day_at(scan.tokens, place + 1)
    if day is not None and _year_number(scan, place + 1) is None:
        return _with_year(scan, _one_day(number, day, place + 2))
    return _with_year(scan, _nth("month", number, place + 1 + scan.is_sign(place + 1, ".")))


def _day_of_month(scan: RequestScan, place: int) -> Period | None:
    """Return a day that stands before its month: "5 March 2024", "5. März"."""
    day = day_at(scan.tokens, place)
    # "9 in May" may be an amount.
    at = month_behind(scan.tokens, place + 1)
    month = LEXICON.months.get(scan.word(at))
    return _with_year(scan, _one_day(month, day, at + 1)) if day and month else None
