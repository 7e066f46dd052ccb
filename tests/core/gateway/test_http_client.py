"""The one HTTP client: where it goes, what it tells before, and what it never does."""

import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.lowlevel
import httpx2
import pytest
from anyio import BrokenResourceError
from anyio.abc import SocketAttribute, SocketStream

from backends import on_asyncio, on_trio
from kbd.core.gateway.connection_pool import ConnectionPool
from kbd.core.gateway.http_client import ConfinedClient, OutboundRequest
from kbd.core.runtime.hosts import Host, parse_host
from kbd.core.runtime.settings import EgressSettings
from kbd.errors import DiskFull, EgressBlockedByPolicy, ValidationFailed


class Counting:
    """A server that counts every byte that comes and answers each connection once.

    Attributes:
        port: Its port.
        received: What came, a connection each.
    """

    def __init__(self, family: socket.AddressFamily, address: str, answer: bytes) -> None:
        self._listening = socket.socket(family)
        self._listening.bind((address, 0))
        self._listening.listen()
        self.port: int = self._listening.getsockname()[1]
        self.received: list[bytes] = []
        self._answer = answer
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def stop(self) -> None:
        """Serve no more."""
        # Closing alone does not wake a thread that waits in `accept`.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                self.received.append(_whole(connection))
                connection.sendall(self._answer)


def _whole(connection: socket.socket) -> bytes:
    """Read one request to its end."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@pytest.fixture
def server() -> Iterator[Counting]:
    """The provider, at 127.0.0.1."""
    counting = Counting(socket.AF_INET, "127.0.0.1", OK)
    yield counting
    counting.stop()


LIMITS = EgressSettings()


@asynccontextmanager
async def crossing(
    endpoint: str,
    told: list[OutboundRequest],
    *hosts: str,
    fails: bool = False,
    timeout_s: float = 5.0,
    limits: EgressSettings = LIMITS,
) -> AsyncIterator[ConfinedClient]:
    """Lend a client for one call."""

    async def record(leaving: OutboundRequest) -> None:
        if fails:
            raise DiskFull("no space is left")
        told.append(leaving)

    # Less the certificates, which take 80 ms to read.
    pool = ConnectionPool(limits.answer_bytes, ssl.create_default_context())
    allowed = [parse_host(host) for host in hosts]
    lent = ConfinedClient(pool, endpoint, allowed, record, timeout_s, limits)
    try:
        yield lent
    finally:
        await lent.client.aclose()
        await pool.aclose()


@pytest.mark.anyio
async def test_what_leaves_is_told_before_to_the_byte(server: Counting) -> None:
    """Host and port, method, path without its query, and as many bytes as then come."""
    told: list[OutboundRequest] = []
    at = f"127.0.0.1:{server.port}"
    async with crossing(at, told) as lent:
        await lent.client.post(f"http://{at}/v1/chat?key=1", json={"text": "ä" * 1000})

    (left,) = told
    assert left == OutboundRequest(at, "POST", "/v1/chat", len(server.received[0]))


@on_trio
@pytest.mark.anyio
async def test_a_body_in_pieces_is_counted_and_sent_whole(server: Counting) -> None:
    """A plugin that streams its body hides nothing of it."""
    told: list[OutboundRequest] = []
    at = f"127.0.0.1:{server.port}"

    async def pieces() -> AsyncIterator[bytes]:
        yield b"a" * 500
        yield b"b" * 500

    async with crossing(at, told) as lent:
        await lent.client.post(f"http://{at}/", content=pieces())

    assert server.received[0].endswith(b"a" * 500 + b"b" * 500)
    assert told[0].bytes_out == len(server.received[0])


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{other}/x",
        "http://localhost:{port}/x",
        "http://127.0.0.1/x",
        "https://127.0.0.1:{other}/x",
        "http://127.0.0.1.example.org:{port}/x",
        "http://127.0.0.1:{port}@example.org/x",
        "http://example.org:{port}/127.0.0.1:{port}",
        "http://127.0.0.2:{port}/x",
        "http://[::1]:{port}/x",
        "http://[::ffff:127.0.0.1]:{port}/x",
        "http://2130706433:{port}/x",
        "http://0x7f.1:{port}/x",
        "http://127.1:{port}/x",
    ],
)
@on_asyncio
@pytest.mark.anyio
async def test_another_address_is_refused_unsent(url: str, server: Counting) -> None:
    """Another host, port, version or spelling of an address: refused, told to nobody, 0 bytes."""
    told: list[OutboundRequest] = []
    async with crossing(f"127.0.0.1:{server.port}", told) as lent:
        with pytest.raises(EgressBlockedByPolicy, match="refused"):
            await lent.client.get(url.format(port=server.port, other=server.port + 1))

        assert isinstance(lent.refusal, EgressBlockedByPolicy)
    assert (told, server.received) == ([], [])


@on_trio
@pytest.mark.anyio
async def test_case_and_a_last_dot_make_no_difference() -> None:
    """The provider's own address in another spelling is the provider's."""
    told: list[OutboundRequest] = []
    counting = Counting(socket.AF_INET, "127.0.0.1", OK)
    async with crossing(f"LocalHost.:{counting.port}", told) as lent:
        await lent.client.get(f"http://LOCALHOST:{counting.port}/")
    counting.stop()

    assert len(counting.received) == len(told) == 1


@on_asyncio
@pytest.mark.anyio
async def test_version_six_addresses_are_compared_as_addresses() -> None:
    """A provider at `[::1]` is reached however that is written, and its other ports are not."""
    try:
        counting = Counting(socket.AF_INET6, "::1", OK)
    except OSError:
        pytest.skip("this machine has no IP version 6")
    told: list[OutboundRequest] = []
    async with crossing(f"[::1]:{counting.port}", told) as lent:
        await lent.client.get(f"http://[0:0:0:0:0:0:0:1]:{counting.port}/")
        with pytest.raises(EgressBlockedByPolicy):
            await lent.client.get(f"http://[::1]:{counting.port + 1}/")
    counting.stop()

    assert len(counting.received) == len(told) == 1


@on_trio
@pytest.mark.anyio
async def test_nothing_else_says_where_a_request_goes(server: Counting) -> None:
    """A Host header of another host is refused; a target or a name for TLS beside it is dropped."""
    told: list[OutboundRequest] = []
    at = f"127.0.0.1:{server.port}"
    async with crossing(at, told) as lent:
        for host in ("example.org", f"127.0.0.1:{server.port + 1}", "127.0.0.1 example.org"):
            with pytest.raises(EgressBlockedByPolicy):
                await lent.client.get(f"http://{at}/", headers={"host": host})
        assert server.received == []
        tricks = {"target": b"http://example.org/", "sni_hostname": "example.org"}
        answer = await lent.client.get(f"http://{at}/here", extensions=tricks)

    assert server.received[0].startswith(b"GET /here HTTP/1.1\r\n")
    assert "network_stream" not in answer.extensions


@on_asyncio
@pytest.mark.anyio
async def test_a_redirect_is_an_answer_and_no_order(server: Counting) -> None:
    """It is handed back; followed on demand, the next address is bound by the same rule."""
    # It says that it closes, or the second request might go out on what is closed by then.
    away = (
        b"HTTP/1.1 307 No\r\nlocation: http://%s/\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    )
    redirecting = Counting(socket.AF_INET, "127.0.0.1", away % f"127.0.0.1:{server.port}".encode())
    told: list[OutboundRequest] = []
    at = f"127.0.0.1:{redirecting.port}"
    async with crossing(at, told) as lent:
        assert (await lent.client.post(f"http://{at}/", content=b"x")).status_code == 307
        with pytest.raises(EgressBlockedByPolicy):
            await lent.client.post(f"http://{at}/", content=b"x", follow_redirects=True)
    redirecting.stop()

    assert server.received == []
    assert len(redirecting.received) == len(told) == 2


@on_trio
@pytest.mark.anyio
async def test_the_environment_sends_nothing_elsewhere(
    server: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its proxies are not used, whatever they are set for; nor are its passwords."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    told: list[OutboundRequest] = []
    at = f"127.0.0.1:{server.port}"
    async with crossing(at, told) as lent:
        assert (await lent.client.get(f"http://{at}/")).status_code == 200


@on_asyncio
@pytest.mark.anyio
async def test_settings_may_forbid_what_a_provider_names(server: Counting) -> None:
    """With hosts named, only they are reached, on the port that stands there if there is one."""
    at = f"127.0.0.1:{server.port}"
    for hosts in (("example.org",), (f"127.0.0.1:{server.port + 1}",)):
        async with crossing(at, [], *hosts) as lent:
            with pytest.raises(EgressBlockedByPolicy, match=r"egress\.hosts"):
                await lent.client.get(f"http://{at}/")
    assert server.received == []
    async with crossing(at, [], "example.org", "127.0.0.1") as lent:
        await lent.client.get(f"http://{at}/")
    assert len(server.received) == 1


@on_trio
@pytest.mark.anyio
async def test_what_cannot_be_recorded_is_not_sent(server: Counting) -> None:
    """A full disk keeps a request in; the reason is kept for who lent the client."""
    at = f"127.0.0.1:{server.port}"
    async with crossing(at, [], fails=True) as lent:
        with pytest.raises(DiskFull):
            await lent.client.get(f"http://{at}/")

        assert isinstance(lent.refusal, DiskFull)
    assert server.received == []


@on_asyncio
@pytest.mark.anyio
async def test_what_was_lent_ends_with_the_call(server: Counting) -> None:
    """A plugin that keeps its client cannot send with it later."""
    at = f"127.0.0.1:{server.port}"
    async with crossing(at, []) as lent:
        pass

    with pytest.raises(RuntimeError):
        await lent.client.get(f"http://{at}/")
    assert server.received == []


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("API.example.org:443", Host("api.example.org", 443)),
        ("example.org.", Host("example.org")),
        ("127.0.0.1:8080", Host("127.0.0.1", 8080)),
        ("[0:0::1]:80", Host("::1", 80)),
        ("::1", Host("::1")),
        ("bücher.example:1", Host("xn--bcher-kva.example", 1)),
    ],
)
def test_hosts_have_one_spelling(text: str, host: Host) -> None:
    """However one is written; and what is shown of it means the same again."""
    assert parse_host(text) == host
    assert parse_host(str(host)) == host


@pytest.mark.parametrize(
    "text", ["", "https://a.b", "a:b", "a:0", "a:70000", "a@b", "a/b", "[::1", "[::1]x", "*.a b"]
)
def test_what_is_no_host_is_refused(text: str) -> None:
    """An address with a scheme, a path or a user is not a host, nor is an empty text."""
    with pytest.raises(ValidationFailed):
        parse_host(text)


@asynccontextmanager
async def answering(answer: Callable[[SocketStream], Awaitable[None]]) -> AsyncIterator[str]:
    """Answer each connection; yield host and port."""
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        yield f"127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tasks.cancel_scope.cancel()


REFUSAL = b"HTTP/1.1 500 no\r\nContent-Length: 9999\r\n\r\n"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("begin", "then"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX-A: ", b"a", id="head"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="heads before it"),
        pytest.param(REFUSAL, b"a", id="refusal"),
        pytest.param(REFUSAL.replace(b"500 no", b"302 there"), b"a", id="redirect"),
    ],
)
async def test_what_trickles_without_an_answer_ends(begin: bytes, then: bytes) -> None:
    """Each byte comes within the time for one, and all of them never: it ends as silence does."""

    async def answer(connection: SocketStream) -> None:
        async with connection:
            with suppress(BrokenResourceError):
                await connection.send(begin)
                while True:
                    await connection.send(then)
                    await anyio.sleep(0.02)

    told: list[OutboundRequest] = []
    async with answering(answer) as at, crossing(at, told, timeout_s=0.6) as lent:
        with pytest.raises(httpx2.ReadTimeout):
            await lent.client.post(f"http://{at}/", content=b"x")


@pytest.mark.anyio
async def test_a_refusal_that_comes_in_pieces_is_read_whole() -> None:
    """The limit is of what does not end."""
    body = b"the reason, in pieces"

    async def answer(connection: SocketStream) -> None:
        async with connection:
            head = f"HTTP/1.1 400 no\r\nContent-Length: {len(body)}\r\n\r\n"
            await connection.send(head.encode())
            for at in range(len(body)):
                await connection.send(body[at : at + 1])
                await anyio.lowlevel.checkpoint()

    told: list[OutboundRequest] = []
    async with answering(answer) as at, crossing(at, told) as lent:
        found = await lent.client.post(f"http://{at}/", content=b"x")
    assert (found.status_code, found.content) == (400, body)
