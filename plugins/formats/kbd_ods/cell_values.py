"""Value of a cell as its attributes say it: OpenDocument 1.3, part 3, 19.383 to 19.390.

Dates and times are written out in the file; a moment on the day that it counts from is a time of
day, of which a program shows no date. A number past 2**53 that is written in all its digits is kept
as a whole number.
"""

import datetime as dt
import math
import re
from collections.abc import Mapping

from kbd.office.open_document import OFFICE
from kbd.sheets.table_columns import MAX_EXACT
from kbd.sheets.values import Stamp, Value

__all__ = ["CALC_TYPE", "NULL_DATE", "VALUE_TYPE", "cell_error", "cell_value"]

VALUE_TYPE = f"{OFFICE}value-type"
CALC_TYPE = "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}value-type"

NULL_DATE = "1899-12-30"
"""The day that numbers of dates count from, in a file that names none (9.4.3)."""

# In the language of the program: #WERT!, #¿NOMBRE?; no number is shown so.
_ERROR = re.compile(r"#[^\s#!?]{2,20}(?: [^\s#!?]{1,20})?[!?]|#N/[AD]|#NV|[A-Z][a-z]{2,8}:5\d\d")
_DIGITS = re.compile(r"-?\d{16,40}")
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|[+-]\d\d:\d\d)?)?"
)
_DURATION = re.compile(
    r"(-?)P(?:(\d{1,7})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})(?:[.,](\d{1,9}))?S)?)?"
)
_SECONDS_OF_DAY = 86_400


def cell_error(attributes: Mapping[str, str], text: str, *, is_formula: bool) -> str:
    """Return the error that a cell shows, "" for none.

    Programs say that it is one, or write it as the text of a formula whose stored value is 0, or
    an empty text.
    """
    if attributes.get(CALC_TYPE) == "error":
        return text or "#VALUE!"
    is_said = attributes.get(CALC_TYPE) == "string" or attributes.get(VALUE_TYPE) == "boolean"
    return text if is_formula and not is_said and _ERROR.fullmatch(text) else ""


def cell_value(attributes: Mapping[str, str], text: str, null_date: str = NULL_DATE) -> Value:
    """Return what a cell holds; what is not what its type says is its text.

    Args:
        attributes: Those of the cell.
        text: What it shows.
        null_date: The day that the file counts from, as YYYY-MM-DD.
    """
    match attributes.get(VALUE_TYPE, ""):
        case "float" | "percentage" | "currency":
            number = _number(attributes.get(f"{OFFICE}value", ""))
            return text if number is None else number
        case "date":
            return _moment(attributes.get(f"{OFFICE}date-value", ""), null_date) or text
        case "time":
            return _time(attributes.get(f"{OFFICE}time-value", "")) or text
        case "boolean":
            said = attributes.get(f"{OFFICE}boolean-value", "")
            if said in ("true", "false"):
                return said == "true"
            # LibreOffice writes the numbers so that it shows as TRUE, for their format is that.
            number = _number(said)
            return text if number is None else number
        case "string":
            return attributes.get(f"{OFFICE}string-value", text)
        case _:
            return text


def _number(text: str) -> int | float | None:
    text = text.strip()
    if _DIGITS.fullmatch(text) and abs(int(text)) > MAX_EXACT:
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    # Python reads 1_000 as well, which is no number in a file.
    return number if math.isfinite(number) and "_" not in text else None


def _moment(text: str, null_date: str) -> Stamp | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction = found.groups()
    try:
        date = dt.date(int(year), int(month), int(day))
        if hour is None:
            return Stamp("date", date.isoformat())
        time = dt.time(int(hour), int(minute), int(second or 0), _micros(fraction))
    except ValueError:
        return None
    if date.isoformat() == null_date:
        return Stamp("time", time.isoformat())
    return Stamp("datetime", f"{date.isoformat()}T{time.isoformat()}")


def _time(text: str) -> Stamp | None:
    """Return a time of day, or a duration if it is none: negative, or a day and more."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or text.strip().endswith(("P", "T")):
        return None
    sign, *parts, fraction = found.groups()
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    total = days * _SECONDS_OF_DAY + hours * 3600 + minutes * 60 + seconds
    micros = _micros(fraction)
    if not sign and total < _SECONDS_OF_DAY:
        hour, rest = divmod(total, 3600)
        time = dt.time(hour, rest // 60, rest % 60, micros)
        return Stamp("time", time.isoformat())
    total += micros >= 500_000
    return Stamp("duration", f"{sign}{total // 3600}:{total // 60 % 60:02}:{total % 60:02}")


def _micros(fraction: str | None) -> int:
    return int((fraction or "0")[:6].ljust(6, "0"))
