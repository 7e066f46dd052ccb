"""Tags of tool calls and results, as models write them, and their escaping. Pure.

A text is kept from holding a tag, and a call or a result becomes a text that holds no tag but its
own.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from kbd.toolcall.json_objects import MOST_NESTING, nesting_of, parts_of_call

__all__ = [
    "CALL",
    "RESULT",
    "TAG",
    "escape_tags",
    "render_toolcall",
    "render_toolresult",
    "shown_length",
    "wrap_toolresult",
]

CALL = "myPT_toolcall"
RESULT = "myPT_toolresult"

TAG = re.compile(
    r"(?P<open><|&lt;)\s{0,4}(?P<end>/?)\s{0,4}mypt_tool(?P<kind>call|result)\b"
    r"(?:[^<>{&]{0,40}(?:>|&gt;))?",
    re.IGNORECASE | re.ASCII,
)
"""A tag: in any case, with blanks, HTML-escaped, with attributes or without its `>`."""

MOST_TAG_CHARACTERS = 32
"""No tag is longer up to the end of its name."""

_NAME = re.compile(r"(mypt)_(?=tool(?:call|result))", re.IGNORECASE | re.ASCII)


def escape_tags(text: str) -> str:
    r"""Return a text that holds no tag: the `_` of each tag's name is written `\u005f`.

    In the strings of JSON that means the same, so JSON text stays JSON and keeps its meaning.
    """
    return _NAME.sub(r"\1\\u005f", text)


def shown_length(text: str) -> int:
    """Return how much of a text that is still coming surely stands before its first tag.

    Args:
        text: What came so far, from any point before the first tag.
    """
    found = TAG.search(text)
    if found is not None:
        return found.start()
    start = max(0, len(text) - MOST_TAG_CHARACTERS)
    for place in range(start, len(text)):
        if text[place] in "<&" and _may_become_tag(text[place:]):
            return place
    return len(text)


def _may_become_tag(tail: str) -> bool:
    """Tell whether the end of a text may be the beginning of a tag."""
    if "&lt;".startswith(tail):
        return True
    written = "".join(tail.lower().replace("&lt;", "<", 1).split()).replace("/", "", 1)
    return any(f"<{name}".lower().startswith(written) for name in (CALL, RESULT))


_LEFT_OUT = "\0..."
_LONE = re.compile("[\ud800-\udfff]")


def render_toolcall(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a model writes it; `find_toolcall` finds the same in it.

    Args:
        name: The tool's name.
        arguments: Its arguments, values of JSON.

    Raises:
        ValueError: The arguments are no JSON, or nested too deeply.
        TypeError: They hold what JSON has no word for.
    """
    written = {"name": name, **arguments}
    # Flat, unless that would be read as something else.
    if "name" in arguments or parts_of_call(written) != (name, dict(arguments)):
        written = {"name": name, "arguments": dict(arguments)}
    return f"<{CALL}>{_json(written)}</{CALL}>"


def render_toolresult(value: Any) -> str:
    """Return a result as a model is told it.

    Args:
        value: What the tool returned, a value of JSON. Python's `...`, which stands in examples for
            what is left out, is written as it is.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
        TypeError: It holds what JSON has no word for.
    """
    return f"<{RESULT}>{_json(value)}</{RESULT}>"


def wrap_toolresult(text: str) -> str:
    """Return a result that is text already, JSON or not, as a model is told it."""
    return f"<{RESULT}>{escape_tags(text)}</{RESULT}>"


def _json(value: Any) -> str:
    if nesting_of(value) > MOST_NESTING:
        msg = f"the value is nested deeper than {MOST_NESTING}"
        raise ValueError(msg)
    left_out: list[Any] = []

    def other(inner: Any) -> str:
        if inner is not ...:
            raise TypeError(f"JSON has no word for {type(inner).__name__}")
        left_out.append(inner)
        return _LEFT_OUT

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=other)
    if left_out:
        text = text.replace(json.dumps(_LEFT_OUT), "...")
    # Half of a surrogate pair cannot be sent as UTF-8.
    text = _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return escape_tags(text)
