"""Values of cells, and the forms in which they are shown.

Dates and times are ISO text with a word for what they are, so that nothing is made of them twice.
Values are shown in the plain form of tables, in a reading, or as typed ones.
"""

import msgspec

from kbd.formats import CellValue

__all__ = ["Stamp", "Value", "plain_number", "plain_text", "plain_value", "shown"]


class Stamp(msgspec.Struct, frozen=True):
    """A date, datetime, time or duration: its kind and its text (ISO; a duration as 27:30:00)."""

    kind: str
    text: str


Value = bool | int | float | str | Stamp
"""Value of a cell; "" is none."""


def plain_number(value: float) -> str:
    """Return a number as people write it: 4, 1234.5; past 1e21 as programs do."""
    # Whole numbers are stored as floats; past 2**53 they are not exact anyway.
    if value % 1 == 0 and abs(value) < 1e21:
        return str(int(value))
    return repr(value)


def plain_text(value: Value) -> str:
    """Return a value as the plain form of tables has it: 1234.5, true, 2024-01-31, text."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return plain_number(value)
        case str():
            return value
        case Stamp():
            return value.text


def plain_value(value: Value) -> CellValue:
    """Return a value as `Reading.rows` has it; nothing is None."""
    match value:
        case "":
            return None
        case Stamp():
            return {value.kind: value.text}
        # Numbers are read as floats, which from 2**53 on are not exact; an integer would look so.
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case _:
            return value


def shown(value: Value) -> str:
    """Return a value as readings show it: on one line, ambiguous text in quotes."""
    text = plain_text(value)
    if not isinstance(value, str):
        return text
    line = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")
    return f'"{line}"' if _looks_typed(line) else line


def _looks_typed(text: str) -> bool:
    """Tell whether a text could be taken for a number, a boolean, a date or a formula.

    A text that is in quotes itself could be taken for one of those.
    """
    if not text:
        return False
    if text[0] == text[-1] == '"':
        return True
    if text[0] in "0123456789.+-" and text[-1].isdigit():
        return True
    return text[0] == "=" or text.lower() in ("true", "false") or text != text.strip()
