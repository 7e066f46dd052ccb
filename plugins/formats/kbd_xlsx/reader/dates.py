"""Dates, times and durations of numbers whose format shows them as such.

A workbook stores days since its first day. All is as the reader of values that is used for most
sheets gives it, so that one workbook reads alike whoever reads it.
"""

import datetime as dt
import math
import re
from typing import Literal

from kbd_xlsx.parts.numberformats import shows_date
from kbd_xlsx.reader.blocks import Raw

__all__ = ["Meaning", "meaning_of", "moment", "of_iso"]

Meaning = Literal["number", "moment", "duration"]

# A duration has its unit in brackets, [h], before any other unit; quoted text and escaped signs
# are no units.
_DURATION = re.compile(
    r'(?:"[^"]*+"?|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*+\]|[^"\\_*\[dmhys])*+\[[hms]',
    re.IGNORECASE | re.DOTALL,
)
_FIRST_DAY = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no zone
_DAYS_TO_1904 = 1462
_LEAP_DAY = 60
"""The 29th of February 1900 has a number, but there was no such day: all before are one off."""

_LAST_DAY = 2_958_465
"""The last day of the year 9999."""

_DAY_MS = 86_400_000
_ISO = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)(?P<time>T\d\d:\d\d:\d\d(?:\.\d+)?)?|\d\d:\d\d(?::\d\d(?:\.\d+)?)?",
    re.ASCII,
)


def meaning_of(number: int, code: str | None) -> Meaning:
    """Return what a number format shows.

    Args:
        number: The format's number.
        code: Its code as the file gives it, None where it gives none.
    """
    if not shows_date(number, code):
        return "number"
    # Of the formats that every program knows, 46 alone is of durations.
    is_duration = number == 46 if code is None else _DURATION.match(code) is not None
    return "duration" if is_duration else "moment"


def moment(value: float, meaning: Meaning, *, from_1904: bool) -> Raw:
    """Return what a number means; the number itself where no calendar has such a day.

    A time without a day, as which every number below 1 counts, is a time; a whole number is a day.
    Times are to the millisecond.
    """
    if meaning == "number":
        return value
    try:
        if meaning == "duration":
            return dt.timedelta(milliseconds=_whole(value * _DAY_MS))
        if value < 1:
            return (_FIRST_DAY + dt.timedelta(milliseconds=_whole(value % 1 * _DAY_MS))).time()
        days = value + _DAYS_TO_1904 if from_1904 else value
        if days >= _LAST_DAY + 1:
            return value
        days += days < _LEAP_DAY
        found = _FIRST_DAY + dt.timedelta(milliseconds=_whole(days * _DAY_MS))
    except (OverflowError, ValueError):
        return value
    return found.date() if value.is_integer() else found


def of_iso(text: str) -> Raw:
    """Return the day, moment or time that a text names; the text itself if it names none."""
    found = _ISO.fullmatch(text)
    try:
        match found and (found["day"], found["time"]):
            case None:
                return text
            case None, _:
                return dt.time.fromisoformat(text)
            case _, None:
                return dt.date.fromisoformat(text)
            case _:
                return dt.datetime.fromisoformat(text)
    except ValueError:
        return text


def _whole(value: float) -> int:
    return math.floor(value + 0.5)
