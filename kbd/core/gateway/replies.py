"""Replies of providers' plugins, checked before they are used: what comes back may be anything."""

from typing import TypeVar

import msgspec

from kbd.messages import Decline, ToolCall, Usage
from kbd.providers import Embeddings, MalformedReply, ModelReply, ModelRequest

__all__ = ["checked_reply", "checked_vectors"]

MAX_REPLY_CHARACTERS = 10 * 1024 * 1024
"""Of a reply, its calls included; ten times what a model can write in one turn (2026)."""

MAX_CALLS = 1_000
"""Of one reply; dozens are real."""

MAX_SUGGESTIONS = 10
"""Of what could be asked instead of what was refused; more are left out."""

MAX_REFUSAL_CHARACTERS = 500
"""Of each of the texts of a refusal, which people are shown in a line."""

MAX_REASON_CHARACTERS = 100
"""Of the reason why a turn ended, which is recorded; those of real servers are a word."""

CHARACTERS_PER_TOKEN = 4
"""The usual rule of thumb for English text, used only where nothing was counted."""

T = TypeVar("T")


def checked_reply(reply: object, request: ModelRequest, name: str) -> ModelReply:
    """Return what a provider returned, if it is a reply.

    Usage that cannot be (below zero, no whole number, more than any model holds) is none: it is
    estimated instead.

    Args:
        reply: What it returned.
        request: What it was asked.
        name: The provider's.

    Raises:
        MalformedReply: It is no reply, or far too long.
    """
    made = _expected(reply, ModelReply, name)
    text, calls = _expected(made.text, str, name), _expected(made.tool_calls, tuple, name)
    written = [text]
    for call in calls:
        _expected(call, ToolCall, name)
        written += [
            _expected(part, str, name) for part in (call.id, call.name, call.arguments, call.fault)
        ]
    size = sum(map(len, written))
    if size > MAX_REPLY_CHARACTERS or len(calls) > MAX_CALLS:
        msg = (
            f"the answer does not end: {name} returned {size:,} characters and {len(calls):,} "
            f"calls; at most {MAX_REPLY_CHARACTERS:,} and {MAX_CALLS:,} are taken"
        )
        raise MalformedReply(msg)
    reason = _expected(made.finish_reason, str, name)[:MAX_REASON_CHARACTERS]
    made = msgspec.structs.replace(made, refusal=_checked_refusal(made.refusal, name))
    if isinstance(made.usage, Usage) and made.usage.is_plausible:
        return msgspec.structs.replace(made, finish_reason=reason)
    estimate = Usage(_tokens(_sent_characters(request)), _tokens(size))
    return msgspec.structs.replace(
        made, finish_reason=reason, usage=estimate, usage_is_estimate=True
    )


def _checked_refusal(made: object, name: str) -> Decline | None:
    """Return a refusal with texts that can be recorded and shown in a line each."""
    if made is None:
        return None
    refusal = _expected(made, Decline, name)
    suggestions = _expected(refusal.suggestions, tuple, name)[:MAX_SUGGESTIONS]
    return Decline(
        _line(refusal.reason, name),
        _line(refusal.understood, name),
        tuple(_line(text, name) for text in suggestions),
    )


def _line(text: object, name: str) -> str:
    whole = " ".join(_expected(text, str, name).split())
    return whole.encode(errors="replace").decode()[:MAX_REFUSAL_CHARACTERS]


def checked_vectors(made: object, count: int, name: str) -> Embeddings:
    """Return what an embedder returned, if it is so many vectors; usage as for `checked_reply`.

    Raises:
        MalformedReply: It is something else.
    """
    vectors = _expected(made, Embeddings, name)
    size, data = _expected(vectors.size, int, name), _expected(vectors.data, bytes, name)
    # Four bytes a number.
    if size < 1 or len(data) != 4 * size * count:
        msg = f"{name} returned other vectors than were asked for"
        raise MalformedReply(msg)
    if isinstance(vectors.usage, Usage) and vectors.usage.is_plausible:
        return vectors
    return msgspec.structs.replace(vectors, usage=Usage())


def _expected(value: object, kind: type[T], name: str) -> T:
    if not isinstance(value, kind):
        msg = f"{name} returned {type(value).__name__} where {kind.__name__} is due"
        raise MalformedReply(msg)
    return value


def _sent_characters(request: ModelRequest) -> int:
    return sum(
        len(message.text) + sum(len(call.arguments) for call in message.tool_calls)
        for message in request.messages
    )


def _tokens(characters: int) -> int:
    return characters // CHARACTERS_PER_TOKEN + 1
