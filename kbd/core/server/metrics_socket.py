"""Metrics socket: a Unix socket that answers `GET /metrics`, for Prometheus and curl.

HTTP/1.1 as far as a scraper needs it: one request a connection, whose head ends in time.
"""

import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskStatus

from kbd.core.metrics.exposition import CONTENT_TYPE
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.peers import peer_process
from kbd.core.runtime.restarts import restart_on_failure
from kbd.core.server.listener import bind_socket, remove_socket
from kbd.errors import KbdError

__all__ = ["serve_metrics"]

HEAD_BYTES = 8192
"""The longest head of a request."""

CLIENTS = 8
"""How many are answered at once; the others wait."""

REQUEST_TIMEOUT_S = 5.0
"""How long a client may take to ask, and to take the answer."""

_log = get_logger(__name__)

Answer = Callable[[], Awaitable[str]]


async def serve_metrics(
    path: Path, answer: Answer, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Serve the metrics until canceled; started as soon as clients can connect.

    Args:
        path: Where the socket lies; its folder is there, 0700, and the home's lock is held.
        answer: Returns the metrics as text.
        task_status: Told when clients can connect.

    Raises:
        ValidationFailed: The socket cannot be made.
    """
    made = bind_socket(path)
    inode = os.lstat(path).st_ino
    limiter = anyio.CapacityLimiter(CLIENTS)

    async def serve(stream: SocketStream) -> None:
        async with stream, limiter:
            await _serve_client(stream, answer)

    try:
        async with await SocketListener.from_socket(made) as listener:
            task_status.started()
            # Without a descriptor left a client is not accepted, which must not end the daemon.
            await restart_on_failure("metrics_socket", partial(listener.serve, serve))
    finally:
        remove_socket(path, inode)


async def _serve_client(stream: SocketStream, answer: Answer) -> None:
    """Answer one request; a client's fault ends its connection alone."""
    try:
        # Beside the mode 0600, which somebody may have widened since.
        if peer_process(stream.extra(SocketAttribute.raw_socket)).uid != os.geteuid():
            return
        with anyio.move_on_after(REQUEST_TIMEOUT_S):
            await stream.send(await _respond(await _read_head(stream), answer))
    except (anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError, OSError):
        pass  # it is gone
    # Else one client's failure would end the daemon, which shares the group of tasks.
    except Exception as error:  # noqa: BLE001 - told in the log
        _log.error("metrics request failed", exc_info=error)


async def _read_head(stream: SocketStream) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) <= HEAD_BYTES:
        head += await stream.receive()
    return head


async def _respond(head: bytes, answer: Answer) -> bytes:
    """Return the response to a request."""
    match head.split(b"\r\n", 1)[0].split(b" "):
        case _ if b"\r\n\r\n" not in head:
            return _response("431 Request Header Fields Too Large", "the head is too long\n")
        case [b"GET" | b"HEAD" as method, target, b"HTTP/1.1" | b"HTTP/1.0"]:
            if target.partition(b"?")[0] != b"/metrics":
                return _response("404 Not Found", "there is /metrics\n")
            try:
                text = await answer()
            except KbdError as error:
                return _response("503 Service Unavailable", f"{error.code}: {error.message}\n")
            return _response("200 OK", text, is_head=method == b"HEAD")
        case [_, _, b"HTTP/1.1" | b"HTTP/1.0"]:
            return _response("405 Method Not Allowed", "GET or HEAD\n", "Allow: GET, HEAD\r\n")
        case _:
            return _response("400 Bad Request", "no request of HTTP/1.1\n")


def _response(status: str, text: str, more: str = "", *, is_head: bool = False) -> bytes:
    body = text.encode()
    kind = CONTENT_TYPE if status.startswith("200") else "text/plain; charset=utf-8"
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"{more}Connection: close\r\n\r\n"
    )
    return head.encode() + (b"" if is_head else body)
