"""Values and formulas as operations give them, checked, and as a file holds them.

Nothing is cut and nothing changes its type by accident: what a cell cannot hold is refused. Dates
become days since the workbook's first day.

A formula that programs cannot parse makes them call the whole file damaged, so what is plainly
malformed is refused.
"""

import datetime as dt
import re
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd_xlsx.calculation.functions import SPILLING
from kbd_xlsx.operations import Scalar, ValueType
from kbd_xlsx.parts.cells import Content
from kbd_xlsx.stored_formulas import OPAQUE, spelled

__all__ = [
    "CellValue",
    "cell_value",
    "checked_formula",
    "checked_text",
    "content_of",
    "date_value",
    "datetime_value",
    "looks_like_formula",
    "reach_of",
    "spills",
    "stored_text",
]

MAX_FORMULA = 8_192
"""Characters that a formula may have."""

MAX_LITERAL = 255
"""Characters that a text within a formula may have."""

MAX_ARGUMENTS = 255
"""Arguments that a function may have."""

MAX_NESTED = 64
"""Functions that may be within one another."""

# What XML 1.0 cannot hold (section 2.2): such a part would be no XML.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_STRING = re.compile(r'"(?:[^"]|"")*"')
_UNSTORED = re.compile(r"(?<![\w.)])@|\)#")
_UNNAMED_ROW = re.compile(r"(?<![\w.\]'])\[\s*@")
_FUNCTION = re.compile(r"(?<![\w.])([A-Za-z][A-Za-z0-9.]*)\(")
_PREFIX = re.compile(r"_xl(?:fn|ws)\.", re.IGNORECASE)
_PAIRS = {")": "(", "}": "{"}

# They reach out of the workbook: to the network, to other files, to programs (reliability, 5.4).
_REACH = re.compile(
    r"\b(?:WEBSERVICE|FILTERXML|RTD|DDE|CALL|REGISTER(?:\.ID)?|EXEC|HYPERLINK|IMAGE|STOCKHISTORY"
    r"|IMPORT\w+)\s*(?=\()|\[\d+\](?=[^\[\]]*!)|\[[^\[\]]*\.\w{2,4}\]|\|[^\"]*!|\\\\|\b\w+://",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b\w+://|\\\\")
_INNER_LINK = re.compile(r'HYPERLINK\(\s*"#[^"]*"\s*(?:,|\))', re.IGNORECASE)

_TEXT_LIKE_FORMULA = re.compile(r"=.|[-+@]\s*[A-Za-z_'\"(].*[(!|]", re.DOTALL)


def checked_formula(text: str, place: str) -> str:
    """Return a formula as files spell it, without its equals sign.

    Args:
        text: With or without "=" at its beginning.
        place: Where it goes, for messages.

    Raises:
        ValidationFailed: It is too long or malformed.
    """
    body = text.strip().removeprefix("=").strip()
    if not body:
        raise ValidationFailed(f"{place}: a formula is a text like =SUM(B2:B9)")
    if _ILLEGAL.search(body):
        raise ValidationFailed(f"{place}: the formula has a control character")
    _check_form(body, place)
    spelt = spelled(body)
    if len(spelt) > MAX_FORMULA:
        raise ValidationFailed(f"{place}: the formula is longer than {MAX_FORMULA:,} characters")
    return spelt


def reach_of(formula: str) -> str | None:
    """Return what of a formula reaches out of its workbook, None if nothing does."""
    if _REACH.search(formula) is None and _ADDRESS.search(formula) is None:
        return None  # Nearly all of them, and books have a million.
    # HYPERLINK("#Sheet2!A1") leads to a place in the workbook itself.
    inner = _INNER_LINK.sub("", formula)
    # A function name in a text calls nothing, but an address in a text is still an address.
    code = _STRING.sub('""', inner)
    found = _REACH.search(code) or _ADDRESS.search(inner)
    return None if found is None else found.group().strip()


def spills(formula: str) -> str | None:
    """Return the function of a formula whose result is more than one cell, None without one."""
    names: list[str] = _FUNCTION.findall(_PREFIX.sub("", OPAQUE.sub("", formula)))
    return next((name.upper() for name in names if name.upper() in SPILLING), None)


def looks_like_formula(text: str) -> bool:
    """Tell whether a text could be meant, or taken, for a formula."""
    return _TEXT_LIKE_FORMULA.match(text) is not None


def _check_form(body: str, place: str) -> None:
    """Refuse what no program can parse: open quotes and brackets, wrong separators."""
    code = OPAQUE.sub("x", body)
    if '"' in code or "'" in code:
        raise ValidationFailed(f"{place}: a quote in the formula is not closed")
    if "[" in code or "]" in code:
        raise ValidationFailed(f"{place}: the square brackets of the formula do not match")
    opened: list[str] = []
    for sign in code:
        if sign in "({":
            opened.append(sign)
        elif sign in _PAIRS and (not opened or opened.pop() != _PAIRS[sign]):
            raise ValidationFailed(f"{place}: the brackets of the formula do not match")
        elif sign == ";" and "{" not in opened:
            raise ValidationFailed(
                f"{place}: arguments of a formula are separated by commas, not semicolons"
            )
    if opened:
        raise ValidationFailed(f"{place}: the brackets of the formula do not match")
    if code.rstrip()[-1] in "+-*/^&=<>,":
        raise ValidationFailed(f"{place}: the formula ends with {code.rstrip()[-1]}")
    _check_limits(body, code, place)


def _check_limits(body: str, code: str, place: str) -> None:
    """Refuse what is well-formed, but makes programs call the file damaged."""
    if any(len(text) > MAX_LITERAL + 2 for text in _STRING.findall(body)):
        raise ValidationFailed(
            f"{place}: a text in the formula is longer than {MAX_LITERAL} characters; join "
            "shorter ones with &"
        )
    if _UNSTORED.search(code) or _UNNAMED_ROW.search(_STRING.sub("", body)):
        raise ValidationFailed(
            f"{place}: files have no @ before a range or column and no # behind a function; name "
            "the table as in Table1[@Price], and the cells that are meant"
        )
    # For each open bracket, whether it is a function's, and the commas in it so far.
    opened: list[tuple[bool, int]] = []
    for at, sign in enumerate(code):
        if sign in "({":
            is_call = sign == "(" and at > 0 and code[at - 1].isalnum()
            opened.append((is_call, 0))
        elif sign in ")}":
            opened.pop()
        elif sign == "," and opened:
            opened[-1] = (opened[-1][0], opened[-1][1] + 1)
            if opened[-1][0] and opened[-1][1] >= MAX_ARGUMENTS:
                raise ValidationFailed(
                    f"{place}: a function has more than {MAX_ARGUMENTS} arguments; give a range"
                )
        if len(opened) > MAX_NESTED and sum(is_call for is_call, _ in opened) > MAX_NESTED:
            raise ValidationFailed(
                f"{place}: more than {MAX_NESTED} functions are nested; put steps into cells"
            )


MAX_TEXT = 32_767
"""Characters a cell can hold."""

_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_FIRST_DAY = dt.date(1900, 1, 1)

Held = str | int | float | bool | dt.date | dt.datetime | None


class CellValue(msgspec.Struct, frozen=True):
    """Checked value of a cell: `kind` is openpyxl's letter for it (n, s, b, d, f)."""

    held: Held
    kind: str


_BLANK = CellValue(None, "n")


def cell_value(value: Scalar, type_: ValueType | None, place: str) -> CellValue:
    """Check a value and type it.

    Args:
        value: As given.
        type_: What it is meant to be; None decides by the value.
        place: Where it goes, for messages.

    Raises:
        ValidationFailed: It is not of its type, or no cell can hold it.
    """
    match type_ or _natural(value):
        case "blank":
            return _BLANK
        case "string":
            return CellValue(
                checked_text(value if isinstance(value, str) else _word(value), place), "s"
            )
        case "number":
            return CellValue(_number(value, place), "n")
        case "boolean":
            return CellValue(_boolean(value, place), "b")
        case "date":
            return CellValue(date_value(value, place), "d")
        case "datetime":
            return CellValue(datetime_value(value, place), "d")
        case "formula":
            return CellValue(_formula(value, place), "f")
        case other:
            assert_never(other)


def _natural(value: Scalar) -> ValueType:
    match value:
        case None:
            return "blank"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "formula" if value.startswith("=") and len(value) > 1 else "string"
        case other:
            assert_never(other)


def _word(value: Scalar) -> str:
    if value is None:
        return ""
    return ("FALSE", "TRUE")[value] if isinstance(value, bool) else str(value)


def checked_text(text: str, place: str) -> str:
    """Return a text as it is stored; raises ValidationFailed for what no cell can hold."""
    _check_length(text, place)
    if text.isascii() and text.isprintable() and "_x" not in text:
        return text
    if bad := _ILLEGAL.search(text):
        raise ValidationFailed(f"{place}: the text has the character U+{ord(bad[0]):04X}")
    # "_x0041_" is read as the character A, so an underscore that begins such a form is escaped.
    return _ESCAPE.sub("_x005F_", text)


def stored_text(text: str, place: str) -> str:
    """Return a text as it is stored, control characters as the format escapes them.

    Raises:
        ValidationFailed: It is longer than a cell holds.
    """
    if not _ILLEGAL.search(text):
        return checked_text(text, place)
    _check_length(text, place)
    return _ILLEGAL.sub(_escaped, _ESCAPE.sub("_x005F_", text))


def _check_length(text: str, place: str) -> None:
    # Refused, not cut: openpyxl cuts such a text without a word.
    if len(text) > MAX_TEXT:
        raise ValidationFailed(
            f"{place}: the text has {len(text):,} characters; a cell holds {MAX_TEXT:,}"
        )


def _escaped(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):04X}_"


def _number(value: Scalar, place: str) -> int | float:
    if isinstance(value, str):
        try:
            # Plain digits stay an integer: a float would change numbers past 2**53.
            value = int(value) if re.fullmatch(r"[-+]?\d+", value.strip()) else float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or value is None or not isinstance(value, int | float):
        raise ValidationFailed(f"{place}: the value is not a number")
    # Only NaN differs from itself; comparing also works for integers that no float can hold.
    if value != value or abs(value) > 1.7976931348623157e308:
        raise ValidationFailed(f"{place}: the number is not finite")
    return value


def _boolean(value: Scalar, place: str) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("true", "false"):
        return word == "true"
    raise ValidationFailed(f"{place}: the value is not true or false")


def date_value(value: Scalar, place: str) -> dt.date:
    """Return the date of an ISO text; raises ValidationFailed."""
    moment = datetime_value(value, place)
    if moment.time() != dt.time(0):
        raise ValidationFailed(f"{place}: {value!r} has a time; its type is datetime")
    return moment.date()


def datetime_value(value: Scalar, place: str) -> dt.datetime:
    """Return the moment of an ISO text; raises ValidationFailed, also for one with a time zone."""
    try:
        moment = dt.datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
    except ValueError:
        raise ValidationFailed(
            f"{place}: {value!r} is not an ISO date like 2024-01-31 or 2024-01-31T10:00:00"
        ) from None
    if moment.tzinfo is not None:
        raise ValidationFailed(f"{place}: {value!r} has a time zone, which a cell cannot hold")
    if moment.date() < _FIRST_DAY:
        raise ValidationFailed(f"{place}: {value!r} is before 1900, where sheets have no dates")
    return moment


def _formula(value: Scalar, place: str) -> str:
    if not isinstance(value, str):
        raise ValidationFailed(f"{place}: a formula is a text like =SUM(B2:B9)")
    return f"={checked_formula(value, place)}"


# The format counts 1900 as a leap year, so that its days from March 1900 on are one too high.
_DAY_ZERO = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no zone
_DAY_ZERO_1904 = dt.datetime(1904, 1, 1)  # noqa: DTZ001 - cells have no zone
_LEAP_MISTAKE = 60

_MOMENT = re.compile(
    r"(TODAY|NOW|DATE|EDATE|EOMONTH|WORKDAY(?:\.INTL)?|DATEVALUE)\((?:[^()]|\([^()]*\))*\)"
    r"(?:[+-]\d+)?",
    re.IGNORECASE,
)
"""Formulas that come to a day or a moment, which programs show as one."""

_BLANK_CONTENT = Content("blank")


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
            return _BLANK_CONTENT
        case bool():
            return Content("boolean", "1" if held else "0")
        case int() | float():
            return Content("number", repr(held))
        # A datetime is also a date and a bool is also an int, so those two cases come first.
        case dt.datetime():
            return Content("number", _serial(held, from_1904=from_1904), "datetime")
        case dt.date():
            moment = dt.datetime.combine(held, dt.time())
            return Content("number", _serial(moment, from_1904=from_1904), "date")
        case str():
            if value.kind == "f":
                text = held.removeprefix("=")
                found = _MOMENT.fullmatch(text)
                show = "" if found is None else "datetime" if found[1].upper() == "NOW" else "date"
                return Content("formula", text, show)
            return Content("text", held)
        case other:
            assert_never(other)


def _serial(moment: dt.datetime, *, from_1904: bool) -> str:
    """Return a moment as days, a fraction of a day for its time to the microsecond."""
    if from_1904 and moment < _DAY_ZERO_1904:
        raise ValidationFailed(f"{moment.date()} is before 1904, where this workbook's dates begin")
    since = moment - (_DAY_ZERO_1904 if from_1904 else _DAY_ZERO)
    days = since.days
    if not from_1904 and days <= _LEAP_MISTAKE:
        days -= 1
    seconds = since.seconds + since.microseconds / 1_000_000
    return repr(days + seconds / 86_400) if seconds else str(days)
