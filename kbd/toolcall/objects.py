"""JSON objects as models write them. Pure, in time linear to what is read.

JSON proper is read at the speed of the standard library; what is not is read once more, tolerantly
(`lenient`).
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from kbd.toolcall.lenient import MOST_NESTING, NotObject, Refused, lenient_object, unique

__all__ = ["MOST_NESTING", "NotObject", "nesting_of", "parts_of_call", "read_object"]

WINDOW_CHARACTERS = 64 * 1024
OUT_OF_RANGE = "a number in it is out of range"

BELOW = ("arguments", "parameters", "args")
"""Under which names models put the arguments that the protocol has beside the tool's name."""


def read_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Return the object that begins at a place of a text, and where it ends.

    Raises:
        NotObject: There is none; it says where and why.
    """
    if not text.startswith("{", start):
        raise NotObject(start, "a JSON object was expected")
    try:
        value, end = _strict(text, start)
    except json.JSONDecodeError:
        value, end = lenient_object(text, start)
    except RecursionError:
        raise NotObject(start, f"it is nested deeper than {MOST_NESTING}") from None
    except Refused as fault:
        raise NotObject(start, str(fault)) from None
    except ValueError:  # Python's own limit of the digits of a number.
        raise NotObject(start, OUT_OF_RANGE) from None
    if nesting_of(value) > MOST_NESTING:
        raise NotObject(start, f"it is nested deeper than {MOST_NESTING}")
    return value, end


def parts_of_call(written: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and the arguments of a call, or None for an object that is none."""
    name = written.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    arguments = {key: value for key, value in written.items() if key != "name"}
    if len(arguments) == 1:
        key, below = next(iter(arguments.items()))
        if key in BELOW and isinstance(below, str):
            below = _object_in(below)
        if key in BELOW and isinstance(below, dict):
            arguments = below
    return name.strip(), arguments


def nesting_of(value: Any) -> int:
    """Return how deep a value of JSON is nested: 0 for one that holds none; counted to a bound."""
    level, depth = [value], 0
    while depth <= MOST_NESTING:
        holding = [each for each in level if each and isinstance(each, _HOLDING)]
        if not holding:
            break
        level = [
            inner
            for outer in holding
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        depth += 1
    return depth


def _strict(text: str, start: int) -> tuple[dict[str, Any], int]:
    """Read JSON proper, in windows: an error of the library counts all lines before it.

    An error at the end of a window, or of a string without end, may be one of the window.
    """
    size = WINDOW_CHARACTERS
    while True:
        try:
            value, length = _STRICT.raw_decode(text[start : start + size])
            return value, start + length
        except json.JSONDecodeError as fault:
            is_inner = fault.pos < size - 16 and not fault.msg.startswith("Unterminated")
            if is_inner or start + size >= len(text):
                raise
        size *= 8


def _object_in(text: str) -> Any:
    """Return the object that a text is as a whole, or None."""
    stripped = text.strip()
    try:
        value, end = read_object(stripped, 0)
    except NotObject:
        return None
    return value if end == len(stripped) else None


_HOLDING = (dict, list, tuple)


def _refused(constant: str) -> Any:
    msg = f"{constant} is no number"
    raise Refused(msg)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise Refused(OUT_OF_RANGE)
    return number


_STRICT = json.JSONDecoder(
    strict=False,
    object_pairs_hook=unique,
    parse_constant=_refused,
    parse_float=_finite,
)
"""JSON with line breaks in strings, which mean what they are."""
