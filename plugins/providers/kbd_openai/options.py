"""What is asked of a server beyond messages and tools, and how it says that it does not take it.

Servers say it in many ways: a `param`, a code of OpenAI's, the path of a field in the words of a
validator, or prose. So an option counts as refused if the request had it and the refusal names it.
"""

import re
from collections.abc import Mapping
from typing import Any

from kbd.providers import OPTIONS, ModelRequest, Option, ToolSchema

__all__ = ["effort_of", "is_sent", "is_strict", "refused_option"]

REFUSING = frozenset({400, 404, 422, 501})
"""A bad request; no endpoint that offers it; a validator's; "not implemented"."""

MOST_READ = 20_000
"""A refusal may quote the whole request; what it says stands at its beginning."""

_NAMES: Mapping[Option, re.Pattern[str]] = {
    "strict": re.compile(
        r"(?i)\bstrict\b|invalid_function_parameters|invalid schema for function"
        r"|additionalProperties|tools\[\d+\]\S*parameters|json.?schema|\bgrammar\b"
    ),
    "tool_choice": re.compile(r"(?i)tool[_ -]?choice"),
    "effort": re.compile(r"(?i)\breasoning|\beffort\b"),
    "usage": re.compile(r"(?i)stream_options|include_usage"),
    "max_output_tokens": re.compile(r"(?i)\bmax_(?:completion_|output_)?tokens\b"),
}

_LOCATION = re.compile(r"""['"]loc['"]:\s*[\[(]([^\])]*)""")
"""Where a validator (pydantic's, of many servers) says that the fault is."""

_REQUIRED = re.compile(r"""['"`]required['"`]""")


def is_sent(option: Option, request: ModelRequest) -> bool:
    """Return whether a request asks for an option."""
    if option in request.without:
        return False
    match option:
        case "tool_choice":
            return bool(request.tools)
        case "strict":
            return any(tool.strict is not None for tool in request.tools)
        case "effort":
            return bool(request.effort)
        case "usage":
            return True
        case "max_output_tokens":
            return request.max_output_tokens is not None


def is_strict(tool: ToolSchema, request: ModelRequest) -> bool:
    """Return whether a model is to be held to a tool's schema."""
    return tool.strict is not None and is_sent("strict", request)


def effort_of(request: ModelRequest) -> str:
    """Return how hard the model is told to think; "" if it is not told."""
    return request.effort if is_sent("effort", request) else ""


def refused_option(status: int, fields: Mapping[str, Any], request: ModelRequest) -> Option | None:
    """Return the option that a refusal is about, or None.

    Args:
        status: The HTTP status.
        fields: The server's error object.
        request: What was asked.
    """
    if status not in REFUSING:
        return None
    sent = [option for option in OPTIONS if is_sent(option, request)]
    said = str(fields.get("message") or fields.get("detail") or fields)[:MOST_READ]
    places = (str(fields.get("param") or ""), *_LOCATION.findall(said))
    for told in (*places, str(fields.get("code") or ""), said):
        found = {option: match.start() for option in sent if (match := _NAMES[option].search(told))}
        if found:
            return min(found, key=found.__getitem__)
    if "tool_choice" in sent and request.tool_choice == "required" and _REQUIRED.search(said):
        return "tool_choice"
    return None
