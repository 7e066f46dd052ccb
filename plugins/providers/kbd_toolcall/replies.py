"""What a model said, as a turn: its text, its calls, and what cannot be taken as one."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from kbd.messages import UNREADABLE, ToolCall
from kbd.providers import ModelReply, ModelRequest
from kbd.toolcall import MalformedToolcall, Toolcall, parse_toolcalls
from kbd.types import CallId
from kbd_toolcall.protocol import known_name

__all__ = ["reply_of"]

_LONE = re.compile("[\ud800-\udfff]")

CUT_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
"""How servers say that an answer is not whole."""

TOO_LONG = (
    "the answer was cut off within this call, at the longest one that you can give. Nothing was "
    "done. Do it in smaller calls."
)

OUTSIDE = (
    "this call was not made, for it stands outside of the tags of a call: write it again within "
    "them, and nothing behind it."
)


def reply_of(said: ModelReply, request: ModelRequest) -> ModelReply:
    """Return a turn of text as a turn with calls.

    A block that cannot be read becomes a call that is refused with the reason, so that the model
    can mend it. Calls that the model made in its server's own way follow those of its text.

    Args:
        said: What the model said.
        request: What it was asked, for its tools, and for the names of calls.
    """
    parsed = parse_toolcalls(said.text)
    offered = frozenset(tool.name for tool in request.tools)
    found: list[ToolCall] = []
    for call in parsed.calls:
        match call:
            case Toolcall():
                name, arguments = known_name(call.name, offered), _json(call.arguments)
                found.append(ToolCall(CallId(""), name, arguments))
            case MalformedToolcall():
                is_too_long = call.is_cut and said.finish_reason in CUT_REASONS
                fault = TOO_LONG if is_too_long else call.reason
                name = known_name(call.name, offered)
                name = name if name in offered else UNREADABLE
                found.append(ToolCall(CallId(""), name, call.written, fault))
    if not found and (bare := _bare_call(parsed.text, offered)):
        found.append(ToolCall(CallId(""), bare, parsed.text, OUTSIDE))
    calls = (*_named(found, request), *said.tool_calls)
    return msgspec.structs.replace(said, text=parsed.text, tool_calls=calls)


def _bare_call(text: str, offered: frozenset[str]) -> str | None:
    """Return the tool that a text is a call of which stands outside of any block, or None."""
    if "{" not in text[:40]:
        return None
    whole = parse_toolcalls(f"<myPT_toolcall>{text}</myPT_toolcall>")
    match whole.parts:
        case (Toolcall(name=name),) if known_name(name, offered) in offered:
            return known_name(name, offered)
        case _:
            return None


def _json(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON text; half of a surrogate pair stays an escape."""
    text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(arguments) if _LONE.search(text) else text


def _named(calls: list[ToolCall], request: ModelRequest) -> list[ToolCall]:
    """Name calls by the conversation and their place, so that a repeated turn says the same."""
    conversation = sha256(msgspec.msgpack.encode(request.messages))
    named: list[ToolCall] = []
    for place, call in enumerate(calls):
        digest = conversation.copy()
        digest.update(str(place).encode())
        call_id = CallId(f"call_{digest.hexdigest()[:24]}")
        named.append(msgspec.structs.replace(call, id=call_id))
    return named
