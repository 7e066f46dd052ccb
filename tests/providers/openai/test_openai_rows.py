"""What model servers and the network were seen to do, row by row, in both protocols.

The rows are those of the project's facts about its client library and about real servers, which
were found by experiment; each test's id or docstring names its row. Those about the loop (silence,
hanging up) run on both backends with both protocols, all others with one protocol a backend.
"""

from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest

from kbd.errors import (
    ContextExhausted,
    KbdError,
    NetworkUnavailable,
    ProviderAuthFailed,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.messages import Usage
from kbd.providers import MalformedReply, ModelReply
from kbd_openai import OpenAIProvider
from providers.openai.lent import Lent, asking, lending
from providers.openai.playing_both import Script, both, heard_of, one_each, playing
from providers.openai.protocols import Protocol
from providers.openai.scripted_server import (
    Answer,
    Connection,
    ScriptedServer,
    serving,
)

pytestmark = [
    pytest.mark.anyio,
    # The client library abandons its generators when a stream ends early; trio says so.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
]


def status(line: str, code: str | None = None, **headers: str) -> Callable[[Any], Answer]:
    """Return an answer with an HTTP status."""

    def made(kind: type[Protocol]) -> Answer:
        async def answer(connection: Connection) -> None:
            body = {"error": {"message": "the reason", "code": code}}
            await connection.whole(line, body, **headers)

        return answer

    return made


async def cut_in_a_chunk(connection: Connection, protocol: Protocol) -> None:
    """Say something, and break off without the end of the body."""
    await connection.head(transfer_encoding="chunked")
    await protocol.say(connection, "partial")


async def short_of_its_length(connection: Connection, protocol: Protocol) -> None:
    """Say less than was promised."""
    await connection.head(content_length="100000")
    await connection.send(b"data: {}\n\n")


async def portal(connection: Connection, protocol: Protocol) -> None:
    """Answer like a captive portal."""
    await connection.whole("200 OK", "<html>Please log in</html>")


def raw(script: Script) -> Callable[[type[Protocol]], Answer]:
    """Wrap a script that sends its own head."""

    def made(kind: type[Protocol]) -> Answer:
        return lambda connection: script(connection, kind())

    return made


def body(*sent: bytes | object, says: str = "") -> Callable[[type[Protocol]], Answer]:
    """Return an answer of some text, then bytes as they are or objects as events; no finish."""

    async def script(connection: Connection, protocol: Protocol) -> None:
        if says:
            await protocol.say(connection, says)
        for piece in sent:
            if isinstance(piece, bytes):
                await connection.part(piece)
            else:
                await connection.event(piece)

    return lambda kind: playing(kind, script)


def wrong_type(kind: type[Protocol]) -> Answer:
    """Send a number where text belongs."""
    return playing(kind, lambda connection, protocol: protocol.say(connection, 5))


FAILURES: dict[str, tuple[Callable[[type[Protocol]], Answer], type[KbdError], str]] = {
    "401": (status("401 Unauthorized", "invalid_api_key"), ProviderAuthFailed, ""),
    "429": (status("429 Too Many Requests", retry_after="120"), ProviderRateLimited, ""),
    "500": (status("500 Internal Server Error"), ProviderUnavailable, ""),
    "400 of the context": (
        status("400 Bad Request", "context_length_exceeded"), ContextExhausted, "",
    ),
    "400": (status("400 Bad Request"), ValidationFailed, ""),
    "TCP cut in chunked body": (raw(cut_in_a_chunk), NetworkUnavailable, "partial"),
    "content-length short": (raw(short_of_its_length), NetworkUnavailable, ""),
    "clean end with no finish_reason": (body(says="partial"), ProviderUnavailable, "partial"),
    "clean end with only the end mark": (
        body(b"data: [DONE]\n\n", says="partial"), ProviderUnavailable, "partial",
    ),
    "half an SSE event then end": (
        body(b'data: {"id": "x", "choi', says="a"), ProviderUnavailable, "a",
    ),
    "200 text/html": (raw(portal), ProviderUnavailable, ""),
    "not JSON": (body(b"data: {not json}\n\n", says="a"), MalformedReply, "a"),
    "not UTF-8": (body(b"data: \xff\xfe\n\n"), MalformedReply, ""),
    "error mid-stream": (
        body({"error": {"message": "overloaded", "code": 503}}, says="a"),
        ProviderUnavailable, "a",
    ),
    "a limit mid-stream": (
        body({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "slow"}}),
        ProviderRateLimited, "",
    ),
    "wrong shapes: no choices": (body({"foo": 1}, {"choices": None}), ProviderUnavailable, ""),
    "wrong shapes: a number for text": (wrong_type, MalformedReply, ""),
    "wrong shapes: an array": (body([1, 2]), MalformedReply, ""),
}  # fmt: skip


@pytest.mark.sampled(9)
@one_each
@pytest.mark.parametrize("row", FAILURES)
async def test_a_failure_is_told_by_its_error(kind: type[Protocol], row: str) -> None:
    """What had come is heard, the error says what happened, and it was asked once (`Retries`)."""
    made, expected, partial = FAILURES[row]
    found, heard, server = await heard_of(kind, made(kind))

    assert type(found) is expected
    assert partial == heard
    assert [kind.path] == server.paths
    if isinstance(found, ProviderRateLimited) and row == "429":
        assert found.retry_after_s == 120
    assert server.headers[0].get("x-stainless-retry-count", "0") == "0"


@one_each
async def test_refused_connection_and_bad_host(kind: type[Protocol]) -> None:
    """Rows `connection refused` and `bad host`: the network's fault."""
    async with serving() as server:
        port = server.port
    provider = OpenAIProvider({"api": kind.api})
    async with lending(port) as access:
        nowhere = Lent(access.http_client, "http://no-such-host.invalid/v1")
        for lent in (access, nowhere):
            with pytest.raises(NetworkUnavailable):
                await provider.complete(asking("m"), lent, lambda _: None)


@both
async def test_hang_before_headers_and_stall_mid_stream(kind: type[Protocol]) -> None:
    """Rows `hang before headers` and `stall mid-stream`: given up after the lent pause."""

    async def before(connection: Connection) -> None:
        await anyio.sleep_forever()

    async def within(connection: Connection) -> None:
        await connection.head(transfer_encoding="chunked")
        await kind().say(connection, "one")
        await anyio.sleep_forever()

    for answer, expected in ((before, ""), (within, "one")):
        found, heard, _ = await heard_of(kind, answer, timeout_s=0.2)
        assert type(found) is ProviderUnavailable
        assert "0.2 s" in found.message
        assert expected == heard


@both
async def test_an_endless_trickle_is_cancelled_and_the_client_still_works(
    kind: type[Protocol],
) -> None:
    """Rows `endless trickle` and `cancel`: the caller's deadline closes the connection."""

    async def trickle(connection: Connection) -> None:
        await connection.head(transfer_encoding="chunked")
        protocol = kind()
        while True:
            await protocol.say(connection, "t ")
            await anyio.sleep(0.01)

    async def fine(connection: Connection, protocol: Protocol) -> None:
        await protocol.say(connection, "hi")
        await protocol.finish(connection)

    answers = {"slow": trickle, "fast": playing(kind, fine)}
    provider, heard = OpenAIProvider({"api": kind.api}), anyio.Event()
    async with serving(**answers) as server, lending(server.port) as access:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(provider.complete, asking("slow"), access, lambda _: heard.set())
            await heard.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await server.hung_up.wait()
        reply = await provider.complete(asking("fast"), access, lambda _: None)

    assert reply.text == "hi"


@one_each
async def test_what_is_fine(kind: type[Protocol]) -> None:
    """Rows `finish_reason but no [DONE]` and `SSE comments`: a turn, with its usage."""

    async def script(connection: Connection, protocol: Protocol) -> None:
        await connection.part(b": OPENROUTER PROCESSING\n\n")
        await protocol.say(connection, "Good ")
        await protocol.say(connection, "day")
        await protocol.finish(connection)

    found, heard, _ = await heard_of(kind, playing(kind, script))

    assert found == ModelReply(text="Good day", usage=Usage(5, 7))
    assert heard == "Good day"


@one_each
async def test_what_breaks_after_the_end_is_whole(kind: type[Protocol]) -> None:
    """Row `TCP cut in chunked body`, but after the finish reason: the turn stands."""

    async def whole(connection: Connection, protocol: Protocol) -> None:
        await connection.head(transfer_encoding="chunked")
        await protocol.say(connection, "all")
        await protocol.finish(connection, usage=None)

    async def failed(connection: Connection, protocol: Protocol) -> None:
        await whole(connection, protocol)
        await connection.event({"error": {"message": "overloaded", "code": 503}})

    stands, _, _ = await heard_of(kind, raw(whole)(kind))
    falls, _, _ = await heard_of(kind, raw(failed)(kind))

    assert isinstance(stands, ModelReply)
    assert (stands.text, stands.usage_is_estimate) == ("all", True)
    assert type(falls) is ProviderUnavailable


@one_each
async def test_a_turn_over_a_unix_socket(kind: type[Protocol], short_dir: Any) -> None:
    """Row `UDS`: a lent client may reach its server through one."""

    async def script(connection: Connection, protocol: Protocol) -> None:
        await protocol.say(connection, "here")
        await protocol.finish(connection)

    server = ScriptedServer({"m": playing(kind, script)})
    path = str(short_dir / "model.sock")
    async with await anyio.create_unix_listener(path) as listener, anyio.create_task_group() as t:
        t.start_soon(listener.serve, server.serve)
        transport = httpx2.AsyncHTTPTransport(uds=path)
        async with httpx2.AsyncClient(transport=transport) as client:
            lent = Lent(client, "http://localhost/v1")
            provider = OpenAIProvider({"api": kind.api})
            reply = await provider.complete(asking("m"), lent, lambda _: None)
        t.cancel_scope.cancel()

    assert reply.text == "here"


@one_each
async def test_fifty_streams_at_once(kind: type[Protocol]) -> None:
    """Row `50 parallel streams`: turns on one lent client do not mix."""

    async def script(connection: Connection, protocol: Protocol) -> None:
        for word in ("a", "b", "c"):
            await protocol.say(connection, word)
            await anyio.sleep(0.01)
        await protocol.finish(connection)

    texts: list[str] = []
    provider = OpenAIProvider({"api": kind.api})

    async def ask(access: Any) -> None:
        texts.append((await provider.complete(asking("m"), access, lambda _: None)).text)

    async with (
        serving(m=playing(kind, script)) as server,
        lending(server.port) as access,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(50):
            tasks.start_soon(ask, access)

    assert texts == ["abc"] * 50
