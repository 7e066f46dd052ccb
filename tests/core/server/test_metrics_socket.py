"""The socket that answers Prometheus: by HTTP, in time, and without a fault of one client's."""

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from kbd.core.server import metrics_socket
from kbd.core.server.metrics_socket import HEAD_BYTES, serve_metrics
from kbd.errors import FileReadFailed, ValidationFailed

pytestmark = pytest.mark.anyio


async def metrics() -> str:
    """The metrics."""
    return "kbd_x 1\n"


@asynccontextmanager
async def served(folder: Path, answer: metrics_socket.Answer = metrics) -> AsyncIterator[Path]:
    """Serve them."""
    path = folder / "m"
    async with anyio.create_task_group() as tasks:
        await tasks.start(serve_metrics, path, answer)
        yield path
        tasks.cancel_scope.cancel()
    assert not path.exists()


async def ask(path: Path, request: bytes) -> tuple[str, str]:
    """Send a request; return the status line and the body."""
    async with await anyio.connect_unix(path) as client:
        await client.send(request)
        received = b""
        try:
            while True:
                received += await client.receive()
        except anyio.EndOfStream:
            pass
    head, _, body = received.decode().partition("\r\n\r\n")
    lines = head.split("\r\n")
    assert "Connection: close" in lines
    return lines[0], body


async def test_a_scraper_gets_the_metrics(short_dir: Path, anyio_backend: str) -> None:
    """By GET of /metrics, whatever else it says; to a socket that is its user's alone."""
    async with served(short_dir) as path:
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        for target in ("/metrics", "/metrics?x=1"):
            request = f"GET {target} HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n".encode()
            assert await ask(path, request) == ("HTTP/1.1 200 OK", "kbd_x 1\n")
        assert await ask(path, b"HEAD /metrics HTTP/1.0\r\n\r\n") == ("HTTP/1.1 200 OK", "")


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "405 Method Not Allowed"),
        (b'{"jsonrpc": "2.0"}\r\n\r\n', "400 Bad Request"),
        (b"\r\n\r\n", "400 Bad Request"),
        (b"GET /metrics HTTP/1.1\r\n" + b"x" * HEAD_BYTES, "431 Request Header Fields Too Large"),
    ],
)
async def test_what_is_no_such_request_is_refused(
    short_dir: Path, request_text: bytes, status: str, anyio_backend: str
) -> None:
    """With the status that says why."""
    async with served(short_dir) as path:
        assert (await ask(path, request_text))[0] == f"HTTP/1.1 {status}"


async def test_figures_that_cannot_be_read_are_an_answer(
    short_dir: Path, anyio_backend: str
) -> None:
    """And a fault inside ends its own connection only."""
    faults: list[Exception] = [ValueError("inside"), FileReadFailed("the index is away")]

    async def fail() -> str:
        raise faults.pop()

    async with served(short_dir, fail) as path:
        request = b"GET /metrics HTTP/1.1\r\n\r\n"
        status, body = await ask(path, request)
        assert (status, body) == (
            "HTTP/1.1 503 Service Unavailable", "FILE_READ_FAILED: the index is away\n"
        )  # fmt: skip
        async with await anyio.connect_unix(path) as client:
            await client.send(request)
            with pytest.raises(anyio.EndOfStream):
                await client.receive()
        assert (await ask(path, b"GET / HTTP/1.1\r\n\r\n"))[0] == "HTTP/1.1 404 Not Found"


async def test_who_asks_nothing_makes_nobody_wait_for_ever(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    """More idle clients than are answered at once are seen off, and the next one is answered."""
    monkeypatch.setattr(metrics_socket, "REQUEST_TIMEOUT_S", 0.1)
    async with served(short_dir) as path:
        idle = [await anyio.connect_unix(path) for _ in range(2 * metrics_socket.CLIENTS)]
        request = b"GET /metrics HTTP/1.1\r\n\r\n"
        assert await ask(path, request) == ("HTTP/1.1 200 OK", "kbd_x 1\n")
        for each in idle:
            await each.aclose()


async def test_something_else_in_its_place_is_left_alone(
    short_dir: Path, anyio_backend: str
) -> None:
    """A file there is refused, and stays."""
    (short_dir / "m").write_text("mine")
    with pytest.raises(ValidationFailed):
        await serve_metrics(short_dir / "m", metrics)
    assert (short_dir / "m").read_text() == "mine"
