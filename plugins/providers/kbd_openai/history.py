"""A conversation as it may be sent, whatever was recorded of it. Pure.

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
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from kbd.messages import Message, ToolCall
from kbd.types import CallId

__all__ = ["mended"]

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What every server takes: OpenAI's longest id of a call was 40 characters for a long time."""

_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
MOST_NAME_CHARACTERS = 64

NO_RESULT = "No result of this call was kept."
NOTHING = "(an empty answer)"


def mended(messages: Sequence[Message]) -> tuple[Message, ...]:
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
        sent += _unanswered(open_calls)
        open_calls = []
        if message.role == "assistant":
            calls = tuple(_mended_call(call, taken) for call in message.tool_calls)
            open_calls = [
                (given.id, call.id) for given, call in zip(message.tool_calls, calls, strict=True)
            ]
            text = message.text if message.text.strip() or calls else NOTHING
            message = msgspec.structs.replace(message, text=text, tool_calls=calls)
        sent.append(message)
    return (*sent, *_unanswered(open_calls))


def _unanswered(open_calls: Sequence[tuple[CallId, CallId]]) -> list[Message]:
    return [Message("tool", NO_RESULT, tool_call_id=call_id) for _, call_id in open_calls]


def _mended_call(call: ToolCall, taken: set[CallId]) -> ToolCall:
    """Return a call as it may be sent, and take its id."""
    call_id = call.id
    if not _ID.fullmatch(call_id) or call_id in taken:
        made = sha256(f"{len(taken)}:{call.id}".encode("utf-8", "replace")).hexdigest()
        call_id = CallId(f"call_{made[:24]}")
    taken.add(call_id)
    name = _STRANGE.sub("_", call.name)[:MOST_NAME_CHARACTERS] or "unnamed"
    return ToolCall(call_id, name, _well_formed(call.arguments))


def _well_formed(arguments: str) -> str:
    try:
        parsed = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return "{}"
    return arguments if isinstance(parsed, dict) else "{}"
