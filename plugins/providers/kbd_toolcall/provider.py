"""Provider `toolcall`: one turn of a model that can only write text.

Text before the first block is shown as it comes, the rest at the end. A block is never shown, nor
what may become one: where it ends is certain only when all has come. The whole text is then read as
a turn: its text, its calls, and blocks that cannot be read as one.
"""

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

import anyio.to_thread
import msgspec

from kbd.errors import ProviderNotConfigured
from kbd.messages import UNREADABLE, ToolCall
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
    ToolSchema,
)
from kbd.toolcall import MalformedToolcall, Toolcall, parse_toolcalls
from kbd.toolcall.blocks import shown_length
from kbd.types import CallId
from kbd_toolcall.protocol import in_protocol, known_name, protocol_text, tools_text

__all__ = ["TextStream", "ToolcallProvider", "reply_of"]

_LONE = re.compile("[\ud800-\udfff]")

CUT_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
"""Finish reasons of an answer that was cut off."""

TOO_LONG = (
    "the answer was cut off within this call, at the longest one that you can give. Nothing was "
    "done. Do it in smaller calls."
)

OUTSIDE = (
    "this call was not made, for it stands outside of the tags of a call: write it again within "
    "them, and nothing behind it."
)


def reply_of(reply: ModelReply, request: ModelRequest) -> ModelReply:
    """Return a turn of text as a turn with calls.

    A block that cannot be read becomes a call that is refused with the reason, so that the model
    can mend it. Calls that the model made in its server's own way follow those of its text.

    Args:
        reply: The model's reply in text.
        request: The request, for its tools, and for the names of calls.
    """
    parsed = parse_toolcalls(reply.text)
    offered = frozenset(tool.name for tool in request.tools)
    found: list[ToolCall] = []
    for call in parsed.calls:
        match call:
            case Toolcall():
                name, arguments = known_name(call.name, offered), _json(call.arguments)
                found.append(ToolCall(CallId(""), name, arguments))
            case MalformedToolcall():
                is_too_long = call.is_cut and reply.finish_reason in CUT_REASONS
                fault = TOO_LONG if is_too_long else call.reason
                name = known_name(call.name, offered)
                # The fault is told for the tool that was meant; a name that is not offered may be
                # any text.
                name = name if name in offered else UNREADABLE
                found.append(ToolCall(CallId(""), name, call.written, fault))
    if not found and (bare := _bare_call(parsed.text, offered)):
        found.append(ToolCall(CallId(""), bare, parsed.text, OUTSIDE))
    calls = (*_named(found, request), *reply.tool_calls)
    return msgspec.structs.replace(reply, text=parsed.text, tool_calls=calls)


def _bare_call(text: str, offered: frozenset[str]) -> str | None:
    """Return the tool that a text is a call of which stands outside of any block, or None."""
    # Most answers are prose: only what begins like JSON is worth a second parse.
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
        # The conversation may be long, so it is hashed once for all calls.
        digest = conversation.copy()
        digest.update(str(place).encode())
        call_id = CallId(f"call_{digest.hexdigest()[:24]}")
        named.append(msgspec.structs.replace(call, id=call_id))
    return named


class TextStream:
    """Stream of a reply's text that passes on what is no block.

    Args:
        emit: Takes what may be shown.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting = ""
        self._shown = 0
        self._is_over = False

    def __call__(self, piece: str) -> None:
        """Add a piece."""
        if self._is_over:
            return
        waiting = self._waiting + piece
        length = shown_length(waiting)
        self._show(waiting[:length])
        self._waiting = waiting[length:]
        # What waits longer than any beginning of a tag is one.
        self._is_over = len(self._waiting) > MAX_WAITING

    def finish(self, text: str) -> None:
        """Pass on what is left of the reply's text: no more comes."""
        self._show(text[self._shown :])

    def _show(self, text: str) -> None:
        if text:
            self._shown += len(text)
            self._emit(text)


MAX_WAITING = 64
"""More characters than the beginning of a tag can have."""


LONG_CHARACTERS = 256 * 1024
"""A longer reply is read in a thread: it may take longer than the event loop should wait."""


class ToolcallProvider(Provider):
    """Models of other providers that call no functions, driven by blocks of text.

    What it sends has no tools, so a server that knows none takes it. A request without tools whose
    conversation has no calls is passed on as it is.

    Args:
        is_brief: Whether descriptions of tools are cut to their beginning, for a small window.
    """

    name: ClassVar[str] = "toolcall"
    takes_any_model: ClassVar[bool] = True
    wraps: ClassVar[bool] = True
    prompt_tokens: ClassVar[int] = 400

    def __init__(self, *, is_brief: bool = False) -> None:
        self._is_brief = is_brief
        # Cache of one: tools stay the same through a chain, and their text takes time to write.
        self._tools_text: tuple[tuple[ToolSchema, ...], str] = ((), "")

    def models(self) -> Sequence[ModelInfo]:
        """Return none: whatever another provider has can be wrapped."""
        return ()

    def status(self) -> ProviderStatus:
        """Return that it is ready; what is missing is missing of the provider that it wraps."""
        return ProviderStatus(configured=True, leaves_machine=False)

    def told_bytes(self, tools: Sequence[ToolSchema]) -> int | None:
        """Return the size of the tools' text in bytes."""
        return len(self._cached_tools_text(tuple(tools)).encode())

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn; see `Provider.complete` for what it raises."""
        if access.ask is None:
            raise ProviderNotConfigured("a model to wrap is named: toolcall:provider:model")
        if not request.tools and not any(message.tool_calls for message in request.messages):
            return await access.ask(request, emit)
        instructions = (
            protocol_text(self._cached_tools_text(request.tools)) if request.tools else ""
        )
        asked = msgspec.structs.replace(
            request, messages=in_protocol(request, instructions), tools=(), tool_choice="none"
        )
        stream = TextStream(emit)
        answer = await access.ask(asked, stream)
        if len(answer.text) > LONG_CHARACTERS:
            reply = await anyio.to_thread.run_sync(reply_of, answer, request)
        else:
            reply = reply_of(answer, request)
        stream.finish(reply.text)
        return reply

    def _cached_tools_text(self, tools: tuple[ToolSchema, ...]) -> str:
        if self._tools_text[0] != tools:
            self._tools_text = tools, tools_text(tools, is_brief=self._is_brief)
        return self._tools_text[1]
