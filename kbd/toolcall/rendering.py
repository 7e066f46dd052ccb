"""Calls and results as text that holds no tag but its own. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any

from kbd.toolcall.objects import MOST_NESTING, nesting_of, parts_of_call
from kbd.toolcall.tags import CALL, RESULT, escape_tags

__all__ = ["render_toolcall", "render_toolresult", "wrap_toolresult"]

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
