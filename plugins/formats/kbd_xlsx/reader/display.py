"""Display of a cell's value: in the plain form of tables, in a reading, over the wire."""

from kbd.formats import CellValue
from kbd_xlsx.reader.blocks import Stamp, Value

__all__ = ["plain_number", "plain_text", "plain_value", "shown"]


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
        case float() if value.is_integer() and abs(value) < 2**53:
            return int(value)
        case _:
            return value


def shown(value: Value) -> str:
    """Return a value as readings show it: on one line, text that looks typed in quotes."""
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
