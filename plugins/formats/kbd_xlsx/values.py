"""Values as operations give them, checked and turned into what a cell holds.

Nothing is cut and nothing changes its type by accident: what a cell cannot hold is refused.
"""

import datetime as dt
import re
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd_xlsx.formulatext import checked_formula
from kbd_xlsx.operations import Scalar, ValueType

__all__ = ["CellValue", "cell_value", "checked_text", "date_value", "datetime_value", "stored_text"]

MAX_TEXT = 32_767
"""Characters a cell can hold."""

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_FIRST_DAY = dt.date(1900, 1, 1)

Held = str | int | float | bool | dt.date | dt.datetime | None


class CellValue(msgspec.Struct, frozen=True):
    """What goes into a cell: `kind` is openpyxl's letter for it (n, s, b, d, f)."""

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
        raise ValidationFailed(f"{place}: the text has the character U+{ord(bad[0]):04X}.")
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
    if len(text) > MAX_TEXT:
        raise ValidationFailed(
            f"{place}: the text has {len(text):,} characters; a cell holds {MAX_TEXT:,}."
        )


def _escaped(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):04X}_"


def _number(value: Scalar, place: str) -> int | float:
    if isinstance(value, str):
        try:
            value = int(value) if re.fullmatch(r"[-+]?\d+", value.strip()) else float(value)
        except ValueError:
            value = None
    if isinstance(value, bool) or value is None or not isinstance(value, int | float):
        raise ValidationFailed(f"{place}: the value is not a number.")
    if value != value or abs(value) > 1.7976931348623157e308:
        raise ValidationFailed(f"{place}: the number is not finite.")
    return value


def _boolean(value: Scalar, place: str) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("true", "false"):
        return word == "true"
    raise ValidationFailed(f"{place}: the value is not true or false.")


def date_value(value: Scalar, place: str) -> dt.date:
    """Return the date of an ISO text; raises ValidationFailed."""
    moment = datetime_value(value, place)
    if moment.time() != dt.time(0):
        raise ValidationFailed(f"{place}: {value!r} has a time; its type is datetime.")
    return moment.date()


def datetime_value(value: Scalar, place: str) -> dt.datetime:
    """Return the moment of an ISO text; raises ValidationFailed, also for one with a time zone."""
    try:
        moment = dt.datetime.fromisoformat(value.strip() if isinstance(value, str) else "")
    except ValueError:
        raise ValidationFailed(
            f"{place}: {value!r} is not an ISO date like 2024-01-31 or 2024-01-31T10:00:00."
        ) from None
    if moment.tzinfo is not None:
        raise ValidationFailed(f"{place}: {value!r} has a time zone, which a cell cannot hold.")
    if moment.date() < _FIRST_DAY:
        raise ValidationFailed(f"{place}: {value!r} is before 1900, where sheets have no dates.")
    return moment


def _formula(value: Scalar, place: str) -> str:
    if not isinstance(value, str):
        raise ValidationFailed(f"{place}: a formula is a text like =SUM(B2:B9).")
    return f"={checked_formula(value, place)}"
