"""An answer goes on as long as more of it comes: what only keeps a connection open is no more."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
import trio
from trio.testing import MockClock

from kbd.errors import KbdError, ProviderUnavailable
from kbd.providers import ModelReply
from kbd_openai import OpenAIProvider
from kbd_openai.provider import load_caller
from providers.openai.lent import Lent, asking, lending
from providers.openai.protocols import PROTOCOLS, Protocol
from providers.openai.scripted_server import Connection, serving, streamed

LIMIT_S = 120.0

COMMENT, BLANK = b": keep-alive\n\n", b"\n\n"


def event(value: object) -> bytes:
    """Return a server-sent event."""
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def delta(finish_reason: str | None = None, **fields: Any) -> bytes:
    """Return a chunk of chat completions."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]})


def told(kind: str, **fields: Any) -> bytes:
    """Return an event of the Responses API."""
    return event({"type": f"response.{kind}", "output_index": 0, **fields})


def arguments(text: str, **fields: Any) -> bytes:
    """Return a chunk with a piece of a call's arguments."""
    return delta(tool_calls=[{"index": 0, "function": {"arguments": text}, **fields}])


CALL = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "read", "arguments": ""}}])
TEXT, END = delta(content="x"), delta("stop")
SAID, DONE = told("output_text.delta", delta="x"), told("completed", response={"output": []})
ITEM = told(
    "output_item.added",
    item={"type": "function_call", "id": "r", "call_id": "a", "name": "read", "arguments": ""},
)

EMPTY = {
    "chat": (
        COMMENT, BLANK, delta(), delta(content=""), delta(role="assistant"),
        delta(content=None, tool_calls=[], reasoning_content="", reasoning=None), CALL,
        arguments(""), event({"choices": []}), event({}),
        event({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
    ),
    "responses": (
        COMMENT, BLANK, event({"type": "keepalive", "sequence_number": 3}),
        told("in_progress", response={}), told("output_text.delta", delta=""), ITEM,
        told("function_call_arguments.delta", delta=""),
        told("reasoning_summary_text.delta", delta=""),
    ),
}  # fmt: skip
"""What carries nothing of an answer, or nothing that was not told."""

PARTS = {
    "chat": (
        TEXT, delta(refusal="no"), arguments("1"), delta(reasoning_content="hm"),
        delta(reasoning="hm"), delta(thinking="hm"), delta(reasoning_details=[{"text": "hm"}]),
    ),
    "responses": (
        SAID, told("refusal.delta", delta="no"), told("function_call_arguments.delta", delta="1"),
        told("reasoning_summary_text.delta", delta="hm"), told("reasoning_text.delta", delta="hm"),
    ),
}  # fmt: skip
"""What carries a part of an answer, or of what a model thinks before it."""


class Paced(httpx2.AsyncByteStream):
    """A body whose pieces come after pauses, in a time that only the test's clock counts.

    Args:
        pieces: Pauses in seconds with what follows each; the last goes on and on if `is_endless`.
    """

    def __init__(self, pieces: Sequence[tuple[float, bytes]], *, is_endless: bool) -> None:
        self._pieces, self._is_endless = pieces, is_endless

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Send."""
        for pause_s, piece in self._pieces:
            await anyio.sleep(pause_s)
            yield piece
        while self._is_endless:
            await anyio.sleep(self._pieces[-1][0])
            yield self._pieces[-1][1]


def paced(
    api: str, *pieces: tuple[float, bytes], is_endless: bool = False
) -> tuple[ModelReply | KbdError, float]:
    """Return what such a body leads to, and when, by a clock that passes while all wait."""

    async def answer(_: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=Paced(pieces, is_endless=is_endless))

    async def turn() -> tuple[ModelReply | KbdError, float]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
            caller = load_caller(Lent(client, "http://127.0.0.1:9/v1", timeout_s=LIMIT_S))
            make = caller.respond if api == "responses" else caller.chat
            begun_s = trio.current_time()
            try:
                found: ModelReply | KbdError = await make(asking("m"), lambda _: None)
            except KbdError as error:
                found = error
            return found, trio.current_time() - begun_s

    return trio.run(turn, clock=MockClock(autojump_threshold=0))


@pytest.mark.parametrize(("api", "end"), [("chat", END), ("responses", DONE)])
def test_slow_progress_is_progress(api: str, end: bytes) -> None:
    """Pauses below the limit end nothing, however long it takes in all and whatever comes."""
    for part in PARTS[api]:
        begun = (1.0, CALL) if api == "chat" else (1.0, ITEM)
        found, took_s = paced(api, begun, *[(119.0, part)] * 9, (119.0, end))

        assert isinstance(found, ModelReply) or "without naming it" in str(found), part
        assert took_s == 1.0 + 10 * 119.0


@pytest.mark.parametrize(("api", "text", "end"), [("chat", TEXT, END), ("responses", SAID, DONE)])
def test_what_carries_nothing_does_not_prolong_a_pause(api: str, text: bytes, end: bytes) -> None:
    """The limit counts from the last piece of the answer; below it what lies between is nothing."""
    begun = (1.0, CALL) if api == "chat" else (1.0, ITEM)
    for empty in EMPTY[api]:
        found, took_s = paced(api, begun, (50.0, text), (10.0, empty), is_endless=True)
        assert isinstance(found, ProviderUnavailable), empty
        assert "sent nothing of an answer for 120 s (setting run.provider_s)" in found.message
        assert found.retryable
        assert took_s == 1.0 + 50.0 + LIMIT_S
        found, _ = paced(api, (1.0, text), *[(10.0, empty)] * 11, (9.0, text), (119.0, end))
        assert isinstance(found, ModelReply) or "without naming it" in str(found), empty


def test_a_server_that_never_begins_is_ended() -> None:
    """Comments alone, from the first byte on."""
    found, took_s = paced("chat", (10.0, COMMENT), is_endless=True)

    assert isinstance(found, ProviderUnavailable)
    assert took_s == LIMIT_S


@pytest.mark.parametrize(("api", "text", "end"), [("chat", TEXT, END), ("responses", SAID, DONE)])
def test_a_whole_answer_stands(api: str, text: bytes, end: bytes) -> None:
    """Where its end was told, a connection that is only kept open takes nothing back."""
    for after in (COMMENT, end):
        found, took_s = paced(api, (1.0, text), (1.0, end), (10.0, after), is_endless=True)

        assert isinstance(found, ModelReply)
        assert (found.text, found.finish_reason) == ("x", "stop")
        assert took_s == 2.0 + LIMIT_S


@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.parametrize("kind", PROTOCOLS)
@pytest.mark.parametrize("begins", [False, True])
async def test_a_server_that_only_keeps_the_connection_open(
    anyio_backend: str, kind: type[Protocol], begins: bool
) -> None:
    """It is left, with and without a beginning of an answer; what came was heard."""
    heard: list[str] = []

    @streamed
    async def answer(connection: Connection) -> None:
        if begins:
            await kind().say(connection, "one")
        while True:
            await connection.part(COMMENT)
            await connection.part(BLANK)
            await anyio.sleep(0.01)

    with anyio.fail_after(30):
        async with serving(m=answer) as server, lending(server.port, 0.3) as access:
            with pytest.raises(ProviderUnavailable) as caught:
                await OpenAIProvider({"api": kind.api}).complete(asking("m"), access, heard.append)
            await server.hung_up.wait()

    assert caught.value.retryable
    assert heard == (["one"] if begins else [])
