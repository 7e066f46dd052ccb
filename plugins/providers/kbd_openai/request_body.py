"""Body of a request: the options that a server may refuse, and a conversation as it may be sent.

Servers refuse an option in many ways: a `param`, a code of OpenAI's, the path of a field in the
words of a validator, or prose. So an option counts as refused if the request had it and the refusal
names it.

Servers parse the history, and some answer 500 for ever once it holds a call that was cut, or 400 if
a call has no answer. So, whatever a conversation holds:

    arguments that are no JSON object     `{}`
    a call without a result               answered: there is none
    a result without a call               left out
    an id that is missing, used already,
    too long or of strange characters     another one, the same each time, in call and result
    a name of strange characters          those replaced
    an assistant's turn of nothing        said in words, for templates want turns to alternate
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from kbd.messages import Message, ToolCall
from kbd.providers import OPTIONS, ModelRequest, Option, ToolSchema
from kbd.types import CallId

__all__ = ["effort_of", "is_sent", "is_strict", "refused_option", "repaired_history"]

REFUSING = frozenset({400, 404, 422, 501})
"""A bad request; no endpoint that offers it; a validator's; "not implemented"."""

MAX_READ_CHARACTERS = 20_000
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
    message = str(fields.get("message") or fields.get("detail") or fields)[:MAX_READ_CHARACTERS]
    places = (str(fields.get("param") or ""), *_LOCATION.findall(message))
    # From the surest on: prose may name several options, `param` only the one that is refused.
    for text in (*places, str(fields.get("code") or ""), message):
        found = {option: match.start() for option in sent if (match := _NAMES[option].search(text))}
        if found:
            return min(found, key=found.__getitem__)
    if "tool_choice" in sent and request.tool_choice == "required" and _REQUIRED.search(message):
        return "tool_choice"
    return None


_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What every server takes: OpenAI's longest id of a call was 40 characters for a long time."""

_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
MAX_NAME_CHARACTERS = 64

NO_RESULT = "No result of this call was kept."
NOTHING = "(an empty answer)"


def repaired_history(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the conversation as it may be sent; one that is well-formed comes back as it is."""
    taken: set[CallId] = set()
    sent: list[Message] = []
    open_calls: list[tuple[CallId, CallId]] = []
    for message in messages:
        if message.role == "tool":
            asked = next((pair for pair in open_calls if pair[0] == message.tool_call_id), None)
            if asked is not None:
                open_calls.remove(asked)
                sent.append(msgspec.structs.replace(message, tool_call_id=asked[1]))
            continue
        # Results stand directly behind their calls: after another message none is to come.
        sent += _unanswered(open_calls)
        open_calls = []
        if message.role == "assistant":
            calls = tuple(_repaired_call(call, taken) for call in message.tool_calls)
            open_calls = [
                (given.id, call.id) for given, call in zip(message.tool_calls, calls, strict=True)
            ]
            text = message.text if message.text.strip() or calls else NOTHING
            message = msgspec.structs.replace(message, text=text, tool_calls=calls)
        sent.append(message)
    return (*sent, *_unanswered(open_calls))


def _unanswered(open_calls: Sequence[tuple[CallId, CallId]]) -> list[Message]:
    return [Message("tool", NO_RESULT, tool_call_id=call_id) for _, call_id in open_calls]


def _repaired_call(call: ToolCall, taken: set[CallId]) -> ToolCall:
    """Return a call as it may be sent, and take its id."""
    call_id = call.id
    if not _ID.fullmatch(call_id) or call_id in taken:
        made = sha256(f"{len(taken)}:{call.id}".encode("utf-8", "replace")).hexdigest()
        call_id = CallId(f"call_{made[:24]}")
    taken.add(call_id)
    name = _STRANGE.sub("_", call.name)[:MAX_NAME_CHARACTERS] or "unnamed"
    return ToolCall(call_id, name, _well_formed(call.arguments))


def _well_formed(arguments: str) -> str:
    try:
        parsed = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return "{}"
    return arguments if isinstance(parsed, dict) else "{}"
