"""Numbers of a request, which may be written with either decimal mark. Pure."""

import re

from kbd_offline.intents import ColumnIntent
from kbd_offline.request_text import UnclearError

__all__ = ["NUMERAL", "read_numeral"]

NUMERAL = re.compile(r"\s*[€$£]?\s*([-+]?\d+(?:[.,]\d+)*)(?![.,]?\w|-)\s*[€$£]?")
"""A number with its sign of a currency; "10k" and "2024-01" are none."""

# With either decimal mark, the other one between thousands.
_MARKED = {
    ".": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?"),
    ",": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}
_OTHER = {".": ",", ",": "."}


def read_numeral(text: str, column: ColumnIntent) -> str:
    """Return a number that a column is compared with as SQL has it: a sign, digits and a point.

    Requests are English, files need not be. Where both marks give a number and nothing says which
    is meant, that is a question: "1.500" is one and a half or fifteen hundred.

    Raises:
        UnclearError: It has two readings, or none.
    """
    found = {
        mark: text.replace(_OTHER[mark], "").replace(mark, ".")
        for mark, pattern in _MARKED.items()
        if pattern.fullmatch(text)
    }
    if len(set(found.values())) > 1:
        # A point before three digits is a decimal one only where the file has such.
        if column.decimal == "," or ("," not in text and column.decimal != "."):
            # Without zeros behind the point, for as it stands it would be asked about again.
            either = " or ".join(_shortest(value) for value in found.values())
            raise UnclearError(f'"{column.name}" is compared with {text}: say {either}')
        return found["."]
    # "1,5" may be two numbers where the file has no decimal commas.
    if found and ("." in found or "." in text or column.decimal == ","):
        return next(iter(found.values()))
    raise UnclearError(f'"{column.name}" is compared with {text}, which may be one number or two')


def _shortest(value: str) -> str:
    return value.rstrip("0").rstrip(".") if "." in value else value
