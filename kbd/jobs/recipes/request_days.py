"""Days and periods that the words of a request name, in English and German.

    2024, March 2024, Q1 2024, first half of 2024, 3 March 2024, 03.03.2024, 2024-03-03
    March to May 2024, 2022 to 2024

Of a period its first day, its last one and the day behind it are named: "until March 2024" is
written as `< date '2024-04-01'`. A month without a year names no day: which one, the data told.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date, timedelta

import msgspec

__all__ = [
    "MONTH_NUMBERS", "WEEKDAY_NUMBERS", "NamedDays", "days_named", "relative_period",
    "without_days",
]  # fmt: skip

_MONTHS = (
    ("january", "jan", "januar", "jänner", "jaenner"), ("february", "feb", "februar"),
    ("march", "mar", "märz", "maerz", "mrz"), ("april", "apr"), ("may", "mai"),
    ("june", "jun", "juni"), ("july", "jul", "juli"), ("august", "aug"),
    ("september", "sep", "sept"), ("october", "oct", "oktober", "okt"), ("november", "nov"),
    ("december", "dec", "dezember", "dez"),
)  # fmt: skip
MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, 1) for name in names}
"""Numbers of months by their names and abbreviations, in small letters."""

WEEKDAY_NUMBERS = {
    name: number
    for number, names in enumerate((
        ("monday", "montag"), ("tuesday", "dienstag"), ("wednesday", "mittwoch"),
        ("thursday", "donnerstag"), ("friday", "freitag"), ("saturday", "samstag", "sonnabend"),
        ("sunday", "sonntag"),
    ), 1)
    for name in names
}  # fmt: skip
"""Numbers of weekdays by their names, Monday first, in small letters."""

_MONTH_TITLES = tuple(names[0].capitalize() for names in _MONTHS)
_DAY_TITLES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4,
    "erst": 1, "zweit": 2, "dritt": 3, "viert": 4, "letzt": 4,
}  # fmt: skip

_NAME = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_MONTH = re.compile(rf"(?<!\w)(?:{_NAME})(?!\w)")
_WEEKDAY = re.compile(rf"(?<!\w)({'|'.join(WEEKDAY_NUMBERS)})s?(?!\w)")
_YEAR = re.compile(r"(?<![\d.,])(?<!\d[./-])(?:fy ?)?((?:19|20)\d\d)(?![\d])(?![.,/-]\d)")
_CENTURY = r"(?:19|20)\d\d"
_AND = r"\s+(?:and|und)\s+"
_UNTIL = r"\s*(?:-|–|—|to|till?|until|through|thru|bis)\s*"
_MONTH_RANGE = re.compile(
    rf"(?<!\w)(?:(?:between|zwischen)\s+({_NAME}){_AND}|({_NAME})\.?(?:\s+\d{{4}})?{_UNTIL})({_NAME})"
    r"(?!\w)"
)
_YEAR_RANGE = re.compile(
    rf"(?<!\d)(?:(?:between|zwischen)\s+({_CENTURY}){_AND}|({_CENTURY}){_UNTIL})({_CENTURY})(?!\d)"
)
_QUARTER = re.compile(
    r"(?<!\w)(?:q ?([1-4])|([1-4])(?:st|nd|rd|th|\.)? ?(?:quarter|quartal))(?!\w)"
)
_HALF = re.compile(r"(?<!\w)(?:h ?([12])|([12])\.? ?(?:halbjahr))(?!\w)")
_ORDINAL_PART = re.compile(
    r"(?<!\w)(first|second|third|fourth|last|(?:erst|zweit|dritt|viert|letzt)(?:e[nrsm]?)?)\s+"
    r"(quarter|quartal|half|halbjahr)(?!\w)"
)
_ISO_DAY = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_ISO_MONTH = re.compile(
    r"(?<![\d-])(\d{4})-(\d{1,2})(?![\d-])|(?<![\d/.])(\d{1,2})[/.](\d{4})(?!\d)"
)
_FIGURES_DAY = re.compile(r"(?<![\d.])(\d{1,2})([./])(\d{1,2})\2(\d{4})(?!\d)")
_DAY_MONTH = re.compile(rf"(?<!\w)(\d{{1,2}})(?:st|nd|rd|th|\.)?\s*(?:of\s+)?({_NAME})(?!\w)")
_MONTH_DAY = re.compile(rf"(?<!\w)({_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?!\w)")
_RELATIVE = re.compile(
    r"(?<!\w)(?:(?:last|previous|past|prior|this|current|next|latest|recent|letzte[nrsm]?|vorige[nrsm]?"
    r"|vergangene[nrsm]?|diese[nrsm]?|aktuelle[nrsm]?|laufende[nrsm]?|nächste[nrsm]?)\s+"
    r"(?:(?:\d+|two|three|four|five|six|ten|twelve|zwei|drei|vier|fünf|sechs|zehn|zwölf|full|whole"
    r"|calendar|fiscal|business|couple of|few|volle[nrsm]?)\s+)?"
    r"(?:days?|weeks?|months?|quarters?|years?|tag(?:en?)?|woche[n]?|monat(?:en?|s)?"
    r"|quartal(?:en?|s)?|jahr(?:en?|es)?)"
    r"|today|yesterday|year to date|ytd|heute|gestern|vor(?:tag|monat|jahr|woche|quartal)e?s?)"
    r"(?!\w)"
)
_DAY = timedelta(1)


class NamedDays(msgspec.Struct, frozen=True):
    """What a request names of time.

    Args:
        years, months, quarters, weekdays: Numbers, of ranges all of them.
        days: Days, and those at the ends of periods.
        texts: Periods as functions of expressions write them: `2024-03`, `2024-Q1`, `March`.
    """

    years: frozenset[int]
    months: frozenset[int]
    quarters: frozenset[int]
    weekdays: frozenset[int]
    days: frozenset[date]
    texts: frozenset[str]


def days_named(text: str) -> NamedDays:
    """Return the days and periods that a text names; it is in small letters."""
    written = [*_written_days(text)]
    years = {int(each) for each in _YEAR.findall(text)} | _years_between(text)
    named_months = {MONTH_NUMBERS[name] for name in _MONTH.findall(text)} | _months_between(text)
    quarters = {int(one or other) for one, other in _QUARTER.findall(text)}
    halves = {int(one or other) for one, other in _HALF.findall(text)}
    for word, part in _ORDINAL_PART.findall(text):
        number = next(n for name, n in _ORDINALS.items() if word.startswith(name))
        if part.startswith("qua"):
            quarters.add(number)
        else:
            halves.add(min(number, 2))
    months = {*named_months}
    months.update(m for q in quarters for m in range(q * 3 - 2, q * 3 + 1))
    months.update(m for h in halves for m in range(h * 6 - 5, h * 6 + 1))
    spans = [(year, month, 1) for year in years for month in sorted(named_months)]
    spans += [(year, 1, 12) for year in years]
    spans += [(year, q * 3 - 2, 3) for year in years for q in quarters]
    spans += [(year, h * 6 - 5, 6) for year in years for h in halves]
    for year, month in _written_months(text):
        years.add(year)
        months.add(month)
        spans.append((year, month, 1))
    days = set(written)
    days.update(_days_of_months(text, years))
    around = {day + step for day in days if date.min < day < date.max for step in (-_DAY, _DAY)}
    for start, first, count in spans:
        behind = _month_start(start, first + count)
        days.update((date(start, first, 1), behind - _DAY, behind))
    years.update(day.year for day in written)
    texts = {f"{year}-{month:02d}" for year, month, count in spans if count == 1}
    texts |= {f"{year}-Q{quarter}" for year in years for quarter in quarters}
    texts |= {_MONTH_TITLES[month - 1] for month in named_months}
    weekdays = {WEEKDAY_NUMBERS[name] for name in _WEEKDAY.findall(text)}
    texts |= {_DAY_TITLES[number - 1] for number in weekdays}
    return NamedDays(
        frozenset(years), frozenset(months), frozenset(quarters), frozenset(weekdays),
        frozenset(days | around), frozenset(texts),
    )  # fmt: skip


def without_days(text: str) -> str:
    """Return a text without the figures of days and months, which are no numbers by themselves."""
    for pattern in (_ISO_DAY, _FIGURES_DAY, _ISO_MONTH, _DAY_MONTH, _MONTH_DAY, _QUARTER, _HALF):
        text = pattern.sub(" ", text)
    return text


def relative_period(text: str) -> str:
    """Return the words that name a period by the day on which they are said; "" for none."""
    found = _RELATIVE.search(text)
    return "" if found is None else found[0]


def _month_start(year: int, month: int) -> date:
    """Return the first day of a month, counted on from a year's January."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def _real(parts: Iterable[Sequence[int]]) -> Iterable[date]:
    """Yield the days that there are."""
    for year, month, day in parts:
        with suppress(ValueError):
            yield date(year, month, day)


def _written_days(text: str) -> Iterable[date]:
    """Yield the days that are written with figures; of 3/4/2024 both readings."""
    yield from _real([int(part) for part in found] for found in _ISO_DAY.findall(text))
    for one, sign, other, year in _FIGURES_DAY.findall(text):
        yield from _real([(int(year), int(other), int(one))])
        if sign == "/":
            yield from _real([(int(year), int(one), int(other))])


def _days_of_months(text: str, years: Iterable[int]) -> Iterable[date]:
    """Yield the days such as 3 March, in the years that are named."""
    pairs = [(MONTH_NUMBERS[name], int(day)) for day, name in _DAY_MONTH.findall(text)]
    pairs += [(MONTH_NUMBERS[name], int(day)) for name, day in _MONTH_DAY.findall(text)]
    yield from _real((year, month, day) for year in years for month, day in pairs)


def _written_months(text: str) -> Iterable[tuple[int, int]]:
    for year, month, other, its_year in _ISO_MONTH.findall(text):
        found = (int(year or its_year), int(month or other))
        if 1 <= found[1] <= 12 and 1900 <= found[0] <= 2099:
            yield found


def _months_between(text: str) -> set[int]:
    found: set[int] = set()
    for one, other, end in _MONTH_RANGE.findall(text):
        found.update(range(MONTH_NUMBERS[one or other], MONTH_NUMBERS[end] + 1))
    return found


def _years_between(text: str) -> set[int]:
    found: set[int] = set()
    for one, other, end in _YEAR_RANGE.findall(text):
        found.update(range(int(one or other), int(end) + 1))
    return found
