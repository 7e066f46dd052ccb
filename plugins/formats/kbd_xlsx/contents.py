"""Checked values as a file holds them: dates as days since the workbook's first day."""

import datetime as dt
from typing import assert_never

from kbd.errors import ValidationFailed
from kbd_xlsx.parts.cells import Content
from kbd_xlsx.values import CellValue

__all__ = ["content_of"]

# The format counts 1900 as a leap year, so that its days from March 1900 on are one too high.
_FIRST_DAY = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no zone
_FIRST_DAY_1904 = dt.datetime(1904, 1, 1)  # noqa: DTZ001 - cells have no zone
_LEAP_MISTAKE = 60

_BLANK = Content("blank")


def content_of(value: CellValue, *, from_1904: bool = False) -> Content:
    """Return what is written for a value.

    Args:
        value: As `values.cell_value` gives it.
        from_1904: Whether the workbook counts days from 1904.

    Raises:
        ValidationFailed: It is a date before the first day of the workbook.
    """
    held = value.held
    match held:
        case None:
            return _BLANK
        case bool():
            return Content("boolean", "1" if held else "0")
        case int() | float():
            return Content("number", repr(held))
        case dt.datetime():
            return Content("number", _serial(held, from_1904=from_1904), "datetime")
        case dt.date():
            moment = dt.datetime.combine(held, dt.time())
            return Content("number", _serial(moment, from_1904=from_1904), "date")
        case str():
            if value.kind == "f":
                return Content("formula", held.removeprefix("="))
            return Content("text", held)
        case other:
            assert_never(other)


def _serial(moment: dt.datetime, *, from_1904: bool) -> str:
    """Return a moment as days, a fraction of a day for its time to the microsecond."""
    if from_1904 and moment < _FIRST_DAY_1904:
        raise ValidationFailed(
            f"{moment.date()} is before 1904, where this workbook's dates begin."
        )
    since = moment - (_FIRST_DAY_1904 if from_1904 else _FIRST_DAY)
    days = since.days
    if not from_1904 and days <= _LEAP_MISTAKE:
        days -= 1
    seconds = since.seconds + since.microseconds / 1_000_000
    return repr(days + seconds / 86_400) if seconds else str(days)
