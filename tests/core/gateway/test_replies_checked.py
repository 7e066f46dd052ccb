"""What plugins of providers and embedders return is checked before it is used."""

from typing import Any

import msgspec
import pytest

from kbd.core.gateway.replies import (
    MAX_CALLS,
    MAX_REFUSAL_CHARACTERS,
    MAX_REPLY_CHARACTERS,
    MAX_SUGGESTIONS,
    checked_reply,
    checked_vectors,
)
from kbd.messages import MAX_TOKENS, Decline, Message, ToolCall, Usage
from kbd.providers import Embeddings, MalformedReply, ModelReply, ModelRequest
from kbd.types import CallId

REQUEST = ModelRequest("m", (Message("user", "a" * 400),))

NO_USAGE: tuple[Any, ...] = (
    Usage(-1, 5),
    Usage(5, -1),
    Usage(MAX_TOKENS + 1, 0),
    Usage(10**30, 0),
    Usage(float("nan"), 0),  # type: ignore[arg-type]
    Usage("10", 5),  # type: ignore[arg-type]
    Usage(True, 5),
    None,
    {"input_tokens": 1},
)

ANY: Any = object()
CALL = ToolCall(CallId("a"), "look", "{}")
ODD: tuple[Any, ...] = (
    None,
    "a text",
    {"text": "ok"},
    ModelReply,
    ModelReply(text=None),  # type: ignore[arg-type]
    ModelReply(text=b"ok"),  # type: ignore[arg-type]
    ModelReply(tool_calls=[CALL]),  # type: ignore[arg-type]
    ModelReply(tool_calls=("look",)),  # type: ignore[arg-type]
    ModelReply(tool_calls=(msgspec.structs.replace(CALL, arguments={"a": 1}),)),
    ModelReply(tool_calls=(msgspec.structs.replace(CALL, name=None),)),
    ModelReply(finish_reason=7),  # type: ignore[arg-type]
    ModelReply(refusal="no"),  # type: ignore[arg-type]
    ModelReply(refusal=Decline(None)),  # type: ignore[arg-type]
    ModelReply(refusal=Decline(suggestions=["a"])),  # type: ignore[arg-type]
    ModelReply(refusal=Decline(suggestions=(b"a",))),  # type: ignore[arg-type]
    ModelReply(text="a" * (MAX_REPLY_CHARACTERS + 1)),
    ModelReply(tool_calls=(CALL,) * (MAX_CALLS + 1)),
)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_what_is_no_reply_is_refused(odd: object) -> None:
    """Whatever else comes is a typed error that says what came, and is asked for again."""
    with pytest.raises(MalformedReply, match="returned"):
        checked_reply(odd, REQUEST, "odd")


def test_a_refusal_fits_on_lines_that_can_be_recorded() -> None:
    """Texts become lines of a bounded length without lone surrogates; many suggestions a few."""
    refusal = Decline("no\n column\ud800", "total " * 1000, ("total\tby Size",) * 1000)

    checked = checked_reply(ModelReply(refusal=refusal), REQUEST, "far").refusal

    assert checked is not None
    assert checked.reason == "no column?"
    assert checked.understood == ("total " * 1000)[:MAX_REFUSAL_CHARACTERS]
    assert checked.suggestions == ("total by Size",) * MAX_SUGGESTIONS


@pytest.mark.parametrize("told", NO_USAGE, ids=range(len(NO_USAGE)))
def test_usage_that_cannot_be_is_estimated(told: Any) -> None:
    """It costs what it is likely to cost, and says that nobody counted."""
    reply = checked_reply(ModelReply(text="b" * 40, usage=told), REQUEST, "odd")

    assert (reply.usage, reply.usage_is_estimate) == (Usage(101, 11), True)


def test_a_reply_is_passed_on() -> None:
    """What is well-formed stays; a reason that is no word is cut."""
    reply = ModelReply("ok", (CALL,), "stop", Usage(1, 2))

    assert checked_reply(reply, REQUEST, "fine") == reply
    long = msgspec.structs.replace(reply, finish_reason="s" * 5000)
    assert checked_reply(long, REQUEST, "fine").finish_reason == "s" * 100


@pytest.mark.parametrize(
    "odd",
    [
        None,
        b"1234",
        Embeddings(b"12345678", 1),
        Embeddings(b"1234", 0),
        Embeddings("1234", 1),  # type: ignore[arg-type]
        Embeddings(b"1234", "1"),  # type: ignore[arg-type]
    ],
)
def test_what_are_no_vectors_is_refused(odd: object) -> None:
    """Another number of them, of no size, or of another type."""
    with pytest.raises(MalformedReply, match="returned"):
        checked_vectors(odd, 1, "odd")


def test_usage_of_vectors_that_cannot_be_is_none() -> None:
    """Nobody counted."""
    assert checked_vectors(Embeddings(b"1234", 1, Usage(-3, 0)), 1, "odd").usage == Usage()
