"""Periods that a request names: years, quarters, months, days, "last month". Pure.

A period runs from its first day to before a day. A month or quarter without a year is one of each
year until the data, or a year beside it, tell which.
"""

import calendar
import re
from datetime import date, timedelta

import msgspec

from kbd_offline.day_ranges import month_behind
from kbd_offline.lexicon import LEXICON
from kbd_offline.scan import RequestScan

__all__ = ["Period", "add_months", "count_at", "period_at", "years_between"]

_YEARS = range(1900, 2101)
_DAY_MONTH = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_QUARTER = re.compile(r"q([1-4])")
_HALF = re.compile(r"h([12])")
_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4,
    "erstes": 1, "erste": 1, "ersten": 1, "zweites": 2, "zweite": 2, "zweiten": 2, "drittes": 3,
    "dritte": 3, "dritten": 3, "viertes": 4, "vierte": 4, "vierten": 4,
}  # fmt: skip
_ORDINAL_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?")


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


def add_months(day: date, months: int) -> date:
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
    at = scan.skip(place, "det")
    return (
        _relative(scan, place)
        or _date(scan, at)
        or _year(scan, at)
        or _quarter(scan, at)
        or _half(scan, at)
        or _month(scan, at)
        or _day_of_month(scan, at)
    )


def _made(start: date, end: date, behind: int, text: str, kind: str) -> Period:
    return Period(start, end, behind, text, kind)


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
    today = scan.today
    if end := scan.at(place, "today"):
        return _made(today, today + timedelta(1), end, today.isoformat(), "day")
    if end := scan.at(place, "yesterday"):
        day = today - timedelta(1)
        return _made(day, today, end, day.isoformat(), "day")
    last = scan.skip(place, "det")
    starts = [
        (concept, scan.at(at, concept))
        for at in range(place, last + 1)
        for concept in ("last", "this")
    ]
    for concept, behind in starts:
        if not behind:
            continue
        count = count_at(scan, behind) if concept == "last" else None
        unit = _unit(scan, behind + (count is not None))
        if unit is None:
            continue
        kind, end = unit
        if (closing := _closing(scan, kind, end, concept)) and count is None:
            return closing
        if count is not None:
            return _last_units(today, count, kind, end)
        return _unit_around(today, kind, end, back=concept == "last")
    return None


def _closing(scan: RequestScan, kind: str, end: int, concept: str) -> Period | None:
    """Return "the last quarter of 2024", which goes by that year and not by today."""
    year = _year_number(scan, scan.skip(end, "det"))
    if year is None or concept != "last" or kind not in ("quarter", "month"):
        return None
    months = 3 if kind == "quarter" else 1
    text = f"Q4 {year}" if kind == "quarter" else f"December {year}"
    return _made(date(year, 13 - months, 1), date(year + 1, 1, 1), scan.skip(end, "det") + 1, text,
                 kind)  # fmt: skip


def _unit(scan: RequestScan, place: int) -> tuple[str, int] | None:
    for kind in ("year", "quarter", "month", "week", "day"):
        if end := scan.at(place, kind):
            return kind, end
    return None


def _unit_around(today: date, kind: str, end: int, *, back: bool) -> Period:
    match kind:
        case "year":
            start, length = date(today.year, 1, 1), 12
        case "quarter":
            start, length = date(today.year, (today.month - 1) // 3 * 3 + 1, 1), 3
        case "month":
            start, length = date(today.year, today.month, 1), 1
        case "week":
            monday = today - timedelta(today.weekday() + 7 * back)
            behind = monday + timedelta(7)
            return _made(monday, behind, end, f"the week from {monday.isoformat()}", kind)
        case _:
            day = today - timedelta(back)
            return _made(day, day + timedelta(1), end, day.isoformat(), "day")
    start = add_months(start, -length) if back else start
    text = {
        "year": f"{start.year}", "quarter": f"{start.year}-Q{(start.month + 2) // 3}",
        "month": f"{calendar.month_name[start.month]} {start.year}",
    }[kind]  # fmt: skip
    return _made(start, add_months(start, length), end, text, kind)


def _last_units(today: date, count: int, kind: str, end: int) -> Period:
    """Return the last days or weeks up to today, or the last whole months, quarters or years."""
    if kind in ("day", "week"):
        start = today - timedelta(count * (7 if kind == "week" else 1) - 1)
        return _made(start, today + timedelta(1), end, f"{start} to {today}", "span")
    length = {"month": 1, "quarter": 3, "year": 12}[kind]
    now = _unit_around(today, kind, end, back=False).start
    start = add_months(now, -length * count)
    return _made(start, now, end, f"{start} to {now - timedelta(1)}", "span")


def _date(scan: RequestScan, place: int) -> Period | None:
    if scan.kind(place) != "date":
        return None
    text = scan.word(place)
    if len(text) == 7 and text[4] == "-":
        start = date(int(text[:4]), int(text[5:]), 1)
        name = f"{calendar.month_name[start.month]} {start.year}"
        return _made(start, add_months(start, 1), place + 1, name, "month")
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
        try:
            days.append(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return list(dict.fromkeys(days))


def _year(scan: RequestScan, place: int) -> Period | None:
    at = scan.at(place, "year") or place
    year = _year_number(scan, at)
    if year is None:
        return None
    behind = at + 1
    # "2024 Q1" is the quarter.
    if _QUARTER.fullmatch(scan.word(behind)) or _HALF.fullmatch(scan.word(behind)):
        found = _quarter(scan, behind) or _half(scan, behind)
        return found.in_year(year) if found else None
    return _made(date(year, 1, 1), date(year + 1, 1, 1), behind, str(year), "year")


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


def _quarter(scan: RequestScan, place: int) -> Period | None:
    found = _QUARTER.fullmatch(scan.word(place))
    number, behind = (int(found[1]), place + 1) if found else (None, place)
    if number is None:
        number = _ORDINALS.get(scan.word(place)) or _ordinal_number(scan, place)
        at = place + 1 + scan.is_sign(place + 1, ".")
        behind = scan.at(at, "quarter") if number else 0
        if not number and (at := scan.at(place, "quarter")):
            number = count_at(scan, at)
            behind = at + 1 if number else 0
        if not number or number > 4 or not behind:
            return None
    return _with_year(scan, _months(3 * number - 2, 3, behind, f"Q{number}", "quarter"))


def _ordinal_number(scan: RequestScan, place: int) -> int | None:
    return count_at(scan, place) if scan.is_sign(place + 1, ".") else None


def _half(scan: RequestScan, place: int) -> Period | None:
    found = _HALF.fullmatch(scan.word(place))
    if found:
        return _with_year(
            scan, _months(6 * int(found[1]) - 5, 6, place + 1, f"H{found[1]}", "half")
        )
    number = _ORDINALS.get(scan.word(place)) or _ordinal_number(scan, place)
    behind = scan.at(place + 1 + scan.is_sign(place + 1, "."), "half") if number else 0
    if not behind or number is None or number > 2:
        return None
    behind = scan.at(scan.skip(behind, "det"), "year") or behind
    return _with_year(scan, _months(6 * number - 5, 6, behind, f"H{number}", "half"))


def _months(first: int, count: int, behind: int, text: str, kind: str) -> Period:
    start = date(_ANY, first, 1)
    return Period(start, add_months(start, count), behind, text, kind, has_year=False)


def _month(scan: RequestScan, place: int) -> Period | None:
    number = LEXICON.months.get(scan.word(place)) if scan.kind(place) == "word" else None
    if number is None:
        return None
    # "May" is a month and "may" is none; "mar" and "dec" are only with a year or a day.
    text = calendar.month_name[number]
    day = _day_number(scan, place + 1)
    if day is not None and _year_number(scan, place + 1) is None:
        return _with_year(scan, _one_day(number, day, place + 2))
    return _with_year(
        scan, _months(number, 1, place + 1 + scan.is_sign(place + 1, "."), text, "month")
    )


def _day_number(scan: RequestScan, place: int) -> int | None:
    found = (
        _ORDINAL_DAY.fullmatch(scan.word(place)) if scan.kind(place) in ("number", "word") else None
    )
    return int(found[1]) if found and 1 <= int(found[1]) <= 31 else None


def _one_day(month: int, day: int, behind: int) -> Period:
    start = _safe(_ANY, month, day)
    text = f"{calendar.month_name[month]} {day}"
    return Period(start, start + timedelta(1), behind, text, "day", has_year=False)


def _day_of_month(scan: RequestScan, place: int) -> Period | None:
    """Return a day that stands before its month: "5 March 2024", "5. März"."""
    day = _day_number(scan, place)
    if day is None:
        return None
    # "9 in May" may be an amount.
    at = month_behind(scan.tokens, place + 1)
    month = LEXICON.months.get(scan.word(at))
    if month is None:
        return None
    return _with_year(scan, _one_day(month, day, at + 1))
