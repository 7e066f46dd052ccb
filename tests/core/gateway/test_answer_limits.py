"""What an answer of a provider may hold: each limit of the lent client, byte by byte."""

import gzip
import ssl
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise

import anyio
import httpx2
import pytest
from anyio import BrokenResourceError, ClosedResourceError
from anyio.abc import SocketAttribute, SocketStream

from kbd.core.gateway.answer_body import PIECES_A_REST
from kbd.core.gateway.connection_pool import ConnectionPool
from kbd.core.gateway.http_client import ConfinedClient, OutboundRequest
from kbd.core.runtime.settings import EgressSettings
from kbd.errors import KbdError, ProviderUnavailable
from kbd.providers import MalformedReply

pytestmark = [pytest.mark.anyio, pytest.mark.sampled(2)]

LIMITS = EgressSettings(answer_bytes=1 << 20, line_bytes=1 << 16, error_bytes=1000)

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"


class Sent:
    """What a server got and gave.

    Attributes:
        received: The heads of requests.
        sent: How many bytes it could send before its client hung up.
    """

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.sent = 0


@asynccontextmanager
async def answered_by(
    begin: bytes, then: bytes = b"", *, limits: EgressSettings = LIMITS
) -> AsyncIterator[tuple[ConfinedClient, str, Sent]]:
    """Lend a client whose provider sends a beginning and then, if anything, the rest for ever."""
    told = Sent()

    async def answer(connection: SocketStream) -> None:
        async with connection:
            with suppress(BrokenResourceError, ClosedResourceError):
                head = b""
                while b"\r\n\r\nx" not in head:
                    head += await connection.receive()
                told.received.append(head)
                await connection.send(begin)
                while then:
                    await connection.send(then)
                    told.sent += len(then)

    async def record(leaving: OutboundRequest) -> None:
        del leaving

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        at = f"127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        pool = ConnectionPool(limits.answer_bytes, ssl.create_default_context())
        lent = ConfinedClient(pool, at, (), record, 5.0, limits)
        try:
            yield lent, f"http://{at}/", told
        finally:
            await lent.client.aclose()
            await pool.aclose()
            tasks.cancel_scope.cancel()


async def read(lent: ConfinedClient, url: str) -> int:
    """Read an answer piece by piece and return how many bytes came."""
    count = 0
    async with lent.client.stream("POST", url, content=b"x") as response:
        async for piece in response.aiter_bytes():
            count += len(piece)
    return count


async def refused(lent: ConfinedClient, url: str, match: str) -> None:
    """An answer is refused, with a code that says to try again, and whoever lent it knows."""
    with pytest.raises(MalformedReply, match=match) as raised:
        await read(lent, url)
    assert (raised.value.code, raised.value.retryable) == (ProviderUnavailable.code, True)
    assert lent.refusal is raised.value


@pytest.mark.parametrize("encoding", [b"gzip", b"deflate", b"br", b"zstd", b"identity, gzip"])
async def test_nothing_is_inflated(encoding: bytes) -> None:
    """An answer with a content encoding is refused before its body, whatever that is."""
    body = gzip.compress(bytes(1 << 20)) if encoding.endswith(b"gzip") else zlib.compress(b"0" * 99)
    head = HEAD + b"content-encoding: " + encoding + b"\r\n\r\n"
    async with answered_by(head + body) as (lent, url, _):
        await refused(lent, url, "compressed")


async def test_none_is_asked_for() -> None:
    """Whatever a plugin asks for, kbd asks for a plain answer; one that says so is read."""
    plain = HEAD + b"content-encoding: identity\r\n\r\nplain"
    async with answered_by(plain) as (lent, url, told):
        found = await lent.client.post(url, content=b"x", headers={"accept-encoding": "gzip, br"})

    assert found.text == "plain"
    sent = [line for line in told.received[0].lower().split(b"\r\n") if b"accept-enc" in line]
    assert sent == [b"accept-encoding: identity"]


@pytest.mark.parametrize(
    ("begin", "then"),
    [
        pytest.param(HEAD + b"\r\n", b": keep-alive\n\n" * 1000, id="comments"),
        pytest.param(HEAD + b"content-length: 999999999999\r\n\r\n", b"a\n" * 9000, id="length"),
        pytest.param(b"", b"HTTP/1.1 103 \r\n\r\n" * 1000, id="heads before it"),
        pytest.param(
            HEAD + b"transfer-encoding: chunked\r\n\r\n",
            b"1\r\n\n\r\n" * 5000,
            id="small chunks",
            marks=pytest.mark.full,
        ),
        pytest.param(
            HEAD + b"transfer-encoding: chunked\r\n\r\n",
            b"1;" + b"e" * 9000 + b"\r\n\n\r\n",
            id="extensions of chunks",
        ),
    ],
)
async def test_an_answer_ends(begin: bytes, then: bytes) -> None:
    """What arrives counts, framing and heads as well, and past the limit nothing more is read."""
    async with answered_by(begin, then) as (lent, url, told):
        await refused(lent, url, r"egress\.answer_bytes")
        await lent.client.aclose()
    # What the two sockets hold is sent, too.
    assert told.sent < LIMITS.answer_bytes + 16 * 1024 * 1024


async def test_each_answer_has_the_whole_limit() -> None:
    """A connection that is used again begins to count anew."""
    body = b"a\n" * 150_000
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body

    async def serve_again(connection: SocketStream) -> None:
        async with connection:
            with suppress(anyio.EndOfStream, BrokenResourceError, ClosedResourceError):
                while True:
                    received = b""
                    while b"\r\n\r\nx" not in received:
                        received += await connection.receive()
                    await connection.send(answer)

    async def record(leaving: OutboundRequest) -> None:
        del leaving

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, serve_again)
        at = f"127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        pool = ConnectionPool(400_000, ssl.create_default_context())
        lent = ConfinedClient(pool, at, (), record, 5.0, LIMITS)
        counts = [await read(lent, f"http://{at}/") for _ in range(3)]
        await lent.client.aclose()
        await pool.aclose()
        tasks.cancel_scope.cancel()

    assert counts == [len(body)] * 3


@pytest.mark.parametrize("line", [b"a" * 3000, b"\xe4" * 3000])
async def test_a_line_ends(line: bytes) -> None:
    """A line that does not end is refused, and not what is as long in lines, however they end."""
    async with answered_by(HEAD + b"\r\n", line) as (lent, url, _):
        await refused(lent, url, r"egress\.line_bytes")
    for end in (b"\n", b"\r", b"\r\n"):
        whole = (line + end) * 100
        async with answered_by(HEAD + b"\r\n" + whole) as (lent, url, _):
            assert await read(lent, url) == len(whole)


@pytest.mark.parametrize("status", [b"500 no", b"429 no", b"307 there\r\nlocation: /"])
async def test_of_a_refusal_the_beginning_is_read(status: bytes) -> None:
    """Its status counts, as much of its body is read as may be, and nothing of it is inflated."""
    head = b"HTTP/1.1 " + status + b"\r\nconnection: close\r\n"
    async with answered_by(head + b"\r\n", b"why" * 1000) as (lent, url, _):
        found = await lent.client.post(url, content=b"x")
    assert (found.status_code, len(found.content)) == (int(status[:3]), LIMITS.error_bytes)

    packed = gzip.compress(bytes(1 << 20))
    async with answered_by(head + b"content-encoding: gzip\r\n\r\n" + packed) as (lent, url, _):
        found = await lent.client.post(url, content=b"x")
    assert found.status_code == int(status[:3])
    assert b"was not read" in found.content
    assert lent.refusal is None


async def test_a_head_says_no_more_than_it_must() -> None:
    """A charset that is slow to decode is not asked for, and no cookie is parsed or kept."""
    slow = b"ab-" * 300
    head = (
        b"HTTP/1.1 500 no\r\ncontent-type: text/plain; charset=punycode\r\n"
        b"set-cookie: a=b\r\nx-request-id: 7\r\nconnection: close\r\n\r\n"
    )
    async with answered_by(head + slow) as (lent, url, _):
        found = await lent.client.post(url, content=b"x")

    assert found.text == slow.decode()
    assert sorted(found.headers) == ["connection", "content-type", "x-request-id"]
    assert not list(lent.client.cookies)


async def test_others_have_their_turn() -> None:
    """A read that is full of pieces of one byte does not keep the event loop to itself."""
    small = HEAD + b"transfer-encoding: chunked\r\n\r\n" + b"1\r\n\n\r\n" * 9000 + b"0\r\n\r\n"
    turns: list[int] = []
    pieces = 0

    async def count_turns() -> None:
        while True:
            turns.append(pieces)
            await anyio.lowlevel.checkpoint()

    async with answered_by(small) as (lent, url, _), anyio.create_task_group() as tasks:
        tasks.start_soon(count_turns)
        async with lent.client.stream("POST", url, content=b"x") as response:
            async for _ in response.aiter_bytes():
                pieces += 1
        tasks.cancel_scope.cancel()

    assert pieces == 9000
    # Twice as many where the other task was passed over once.
    assert _longest_step(turns) <= 2 * PIECES_A_REST


def _longest_step(turns: Sequence[int]) -> int:
    return max(after - before for before, after in pairwise(turns))


async def test_what_a_plugin_hides_is_known() -> None:
    """A plugin that takes a refused answer for an empty one does not make it one."""
    async with answered_by(HEAD + b"\r\n", b"a" * 3000) as (lent, url, _):
        with suppress(KbdError, httpx2.HTTPError):
            await read(lent, url)
        assert isinstance(lent.refusal, MalformedReply)
