"""Numbers of a request, in the notation of the request or of the file. Pure."""

import re

from kbd_offline.day_ranges import is_day_before_month
from kbd_offline.facts import KnownColumn
from kbd_offline.scan import RequestScan, SeveralError, UnclearError

__all__ = ["UNITS", "number_at"]

_UNITS_TEXT = "eur euro euros usd dollar dollars chf gbp pound pounds € $ £ ¥ franken yen kr"
UNITS = frozenset(_UNITS_TEXT.split())

# With either decimal mark, the other one between thousands.
_MARKED = {
    ".": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?"),
    ",": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}


_OTHER = {".": ",", ",": "."}


def number_at(scan: RequestScan, place: int, column: KnownColumn | None) -> tuple[str, int] | None:
    """Return the number at a place as expressions have it, and where it ends with its unit.

    Raises:
        SeveralError: It has two readings.
        UnclearError: It may be one number or two.
    """
    at = place + 1 if scan.word(place) in UNITS else place
    sign = scan.word(at) if scan.is_sign(at, "-+") else ""
    at += bool(sign)
    if scan.kind(at) != "number" or (not sign and is_day_before_month(scan.tokens, at)):
        return None
    value = _value_of(scan, at, column)
    behind = at + 1
    if scan.is_sign(behind, "%"):
        behind += 1
        is_share = column is not None and column.maximum and abs(float(column.maximum)) <= 1
        value = f"{float(value) / 100:.12g}" if is_share else value
    if scan.word(behind) in UNITS:
        behind += 1
    return (f"-{value}" if sign == "-" else value), behind


def _value_of(scan: RequestScan, place: int, column: KnownColumn | None) -> str:
    """Return a number as an expression has it.

    Where both marks give a number and nothing says which is meant, that is a question: "1.500" is
    one and a half or fifteen hundred.
    """
    text = scan.tokens[place].text
    if text.endswith(("k", "K")):
        return f"{float(text[:-1].replace(',', '.')) * 1000:.12g}"
    mark = "" if column is None else column.decimal
    name = "it" if column is None else f'"{column.name}"'
    found = {
        one: text.replace(_OTHER[one], "").replace(one, ".")
        for one, pattern in _MARKED.items()
        if pattern.fullmatch(text)
    }
    if len(set(found.values())) > 1:
        # A point before three digits is a decimal one only where the file has such.
        if mark == "," or ("," not in text and mark != "."):
            either = [_shortest(value) for value in found.values()]
            raise SeveralError(
                f"{name} is compared with {text}: say {' or '.join(either)}",
                [scan.rewritten(place, place + 1, value) for value in either],
            )
        return found["."]
    if found and ("." in found or "." in text or mark == ","):
        return next(iter(found.values()))
    raise UnclearError(f"{name} is compared with {text}, which may be one number or two")


def _shortest(value: str) -> str:
    return value.rstrip("0").rstrip(".") if "." in value else value
