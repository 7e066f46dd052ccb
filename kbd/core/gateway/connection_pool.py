"""Connections of one provider, which count what arrives; imported with the HTTP client.

Everything that comes over a connection counts, not bodies alone: a head has no end of its own when
others come before it, a piece of a body may carry sixty kilobytes of extensions, and what frames it
costs as much to read as what it frames.
"""

import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

import anyio
import httpcore2
import httpx2

from kbd.providers import MalformedReply

__all__ = ["ConnectionPool"]


READ_BYTES = 8 * 1024
"""As much is read at once. The event loop has a turn between two reads and not before: 64 KiB of
empty heads or lines are 50 ms of work (2 cores, 2026)."""


UNHURRIED_BYTES = 128 * 1024
REST_S = 0.002
"""Behind its first 128 KiB an answer is read with a rest before each read: a flood that is all
work (empty heads, empty lines) leaves the event loop to others, and 4 MB/s are more than any model
writes."""


class ConnectionPool(httpx2.AsyncBaseTransport):
    """Pool of connections, for all calls of one provider; close it with `aclose`.

    HTTP/1.1 alone: a connection carries one answer at a time, so what arrives belongs to that.

    Args:
        answer_bytes: As much may arrive from the end of a request until the next one.
        tls: How servers are verified; the machine's certificates if None, which takes 80 ms.
    """

    def __init__(self, answer_bytes: int, tls: ssl.SSLContext | None = None) -> None:
        # Without retries of its own: each attempt is kbd's, and an event.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls or httpx2.create_ssl_context(trust_env=False),
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            retries=0,
            network_backend=_CountingBackend(answer_bytes),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its answer, as `httpx2.AsyncHTTPTransport` does.

        Raises:
            MalformedReply: More arrived than may.
            httpx2.TransportError: No connection could be made, or it broke.
        """
        address = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        plain = httpcore2.Request(
            method=request.method,
            url=address,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _told_as_httpx2():
            answer = await self._pool.handle_async_request(plain)
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    """Body of an answer."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield its pieces; raises as `handle_async_request`."""
        with _told_as_httpx2():
            async with aclosing(aiter(self._stream)) as pieces:
                async for piece in pieces:
                    yield piece

    async def aclose(self) -> None:
        """Close the body, and the connection if it was not read to its end."""
        await self._stream.aclose()


class _CountingBackend(httpcore2.AsyncNetworkBackend):
    """Network whose connections count what arrives."""

    def __init__(self, limit_bytes: int) -> None:
        self._network, self._limit_bytes = httpcore2.AnyIOBackend(), limit_bytes

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - theirs
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect, and count from then on."""
        stream = await self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        return _CountingStream(stream, self._limit_bytes)


class _CountingStream(httpcore2.AsyncNetworkStream):
    """Connection that reads so many bytes after each write and no more."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, limit_bytes: int) -> None:
        self._stream, self._limit_bytes, self._received = stream, limit_bytes, 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Read what is there; raises MalformedReply past the limit."""
        if self._received > UNHURRIED_BYTES:
            await anyio.sleep(REST_S)
        data = await self._stream.read(min(max_bytes, READ_BYTES), timeout)
        self._received += len(data)
        if self._received > self._limit_bytes:
            msg = (
                f"the answer does not end: more than {self._limit_bytes:,} bytes of it came "
                "(setting egress.answer_bytes)"
            )
            raise MalformedReply(msg)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Write a part of a request; what arrives next is of another answer."""
        self._received = 0
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - theirs
    ) -> httpcore2.AsyncNetworkStream:
        """Encrypt from here on; what is counted is then what was encrypted."""
        stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _CountingStream(stream, self._limit_bytes)

    def get_extra_info(self, info: str) -> Any:
        """Return what the connection knows of itself."""
        return self._stream.get_extra_info(info)


_ERRORS: tuple[tuple[type[Exception], type[httpx2.TransportError]], ...] = (
    # In this order: the later ones are the roots of the earlier ones.
    (httpcore2.ConnectTimeout, httpx2.ConnectTimeout),
    (httpcore2.ReadTimeout, httpx2.ReadTimeout),
    (httpcore2.WriteTimeout, httpx2.WriteTimeout),
    (httpcore2.PoolTimeout, httpx2.PoolTimeout),
    (httpcore2.ConnectError, httpx2.ConnectError),
    (httpcore2.ReadError, httpx2.ReadError),
    (httpcore2.WriteError, httpx2.WriteError),
    (httpcore2.LocalProtocolError, httpx2.LocalProtocolError),
    (httpcore2.UnsupportedProtocol, httpx2.UnsupportedProtocol),
    (httpcore2.ProtocolError, httpx2.RemoteProtocolError),
    (httpcore2.TimeoutException, httpx2.TimeoutException),
    (httpcore2.NetworkError, httpx2.NetworkError),
)


@contextmanager
def _told_as_httpx2() -> Iterator[None]:
    """Raise errors of the connections as those of the client, which its users know."""
    try:
        yield
    except tuple(theirs for theirs, _ in _ERRORS) as error:
        kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
        raise kind(str(error)) from error
