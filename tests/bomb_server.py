"""A model server that answers with bombs: a program of its own, so that its memory is not kbd's.

The name of the model that is asked for picks the bomb; what names no model gets the one that was
set last with `POST /set/NAME`. Each bomb is of a size: bytes on the wire or, of what is compressed,
bytes that it would inflate to. `healthy` answers as a server should.

    python tests/bomb_server.py BYTES      prints its port, and serves until its input ends
"""

import json
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import BinaryIO

__all__ = ["BOMBS", "BombServer", "bomb_server"]

BLOCK = 1 << 18
"""What is sent at once, about."""

DRIP_S = 0.02
"""Between two bytes of a drip."""

Send = Callable[[bytes], object]
Bomb = Callable[[Send, int], None]

_STREAM = b"content-type: text/event-stream\r\n"


def _head(send: Send, *lines: bytes, status: bytes = b"200 OK") -> None:
    given = b"".join(line + b"\r\n" for line in lines)
    send(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\n" + given + b"\r\n")


def _repeat(send: Send, unit: bytes, size: int) -> None:
    """Send a unit again and again, until so many bytes are sent."""
    block = unit * max(1, BLOCK // len(unit))
    for _ in range(0, size, len(block)):
        send(block)


@cache
def _zeros(size: int, window: int) -> bytes:
    """Return what inflates to so many zeros, made once: it takes a second."""
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    block = bytes(1 << 20)
    packed = [packer.compress(block) for _ in range(max(1, size // len(block)))]
    return b"".join((*packed, packer.flush()))


def _packed(encoding: bytes, window: int, status: bytes = b"200 OK") -> Bomb:
    def bomb(send: Send, size: int) -> None:
        _head(send, _STREAM.strip(), b"content-encoding: " + encoding, status=status)
        send(_zeros(size, window))

    return bomb


def _streamed(begin: bytes, unit: bytes) -> Bomb:
    """Return a bomb of events: a beginning, and then a unit without end."""

    def bomb(send: Send, size: int) -> None:
        _head(send, _STREAM.strip())
        send(begin)
        _repeat(send, unit, size)

    return bomb


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _delta(finish_reason: str | None = None, **delta: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}


def _said(value: object, finish_reason: str = "stop", usage: object = None) -> Bomb:
    """Return a whole answer of one event, with an end and usage."""

    def bomb(send: Send, size: int) -> None:
        del size
        _head(send, _STREAM.strip())
        send(_event(value) + _event(_delta(finish_reason)))
        send(_event({"choices": [], "usage": usage}) + b"data: [DONE]\n\n")

    return bomb


def _calls(send: Send, size: int) -> None:
    """Send ever more calls, each under an index of its own."""
    _head(send, _STREAM.strip())
    sent = number = 0
    while sent < size:
        pieces = []
        for _ in range(1000):
            number += 1
            function = {"name": "list_files", "arguments": "{}"}
            call = {"index": number, "id": f"c{number}", "function": function}
            pieces.append(_event(_delta(tool_calls=[call])))
        sent += len(block := b"".join(pieces))
        send(block)


def _places(send: Send, size: int) -> None:
    """Send texts of the Responses API, each in an item of its own."""
    _head(send, _STREAM.strip())
    sent = number = 0
    while sent < size:
        pieces = []
        for _ in range(1000):
            number += 1
            kind = "response.output_text.delta"
            pieces.append(_event({"type": kind, "item_id": f"i{number}", "delta": "a"}))
        sent += len(block := b"".join(pieces))
        send(block)


def _drip(send: Send, size: int) -> None:
    """Send a byte of a comment now and then; it has no end but the client's."""
    del size
    _head(send, _STREAM.strip())
    while True:
        send(b":")
        time.sleep(DRIP_S)


def _head_drip(send: Send, size: int) -> None:
    del size
    send(b"HTTP/1.1 200 OK\r\n")
    while True:
        send(b"x: y\r\n")
        time.sleep(DRIP_S)


def _headers(send: Send, size: int) -> None:
    send(b"HTTP/1.1 200 OK\r\n")
    _repeat(send, b"x-header: " + b"a" * 90 + b"\r\n", size)


def _heads(send: Send, size: int) -> None:
    _repeat(send, b"HTTP/1.1 103 \r\n\r\n", size)


def _chunked(unit: bytes) -> Bomb:
    def bomb(send: Send, size: int) -> None:
        _head(send, _STREAM.strip(), b"transfer-encoding: chunked")
        _repeat(send, unit, size)

    return bomb


def _trailers(send: Send, size: int) -> None:
    _head(send, _STREAM.strip(), b"transfer-encoding: chunked")
    send(b"0\r\n")
    _repeat(send, b"x-trailer: " + b"a" * 90 + b"\r\n", size)


def _refused(status: bytes, kind: bytes, unit: bytes) -> Bomb:
    def bomb(send: Send, size: int) -> None:
        _head(send, b"content-type: " + kind, status=status)
        _repeat(send, unit, size)

    return bomb


def _whole(begin: bytes, unit: bytes) -> Bomb:
    """Return a bomb of one JSON document, as lists and vectors are sent."""

    def bomb(send: Send, size: int) -> None:
        _head(send, b"content-type: application/json")
        send(begin)
        _repeat(send, unit, size)

    return bomb


_WIDE = _event(_delta(content="\U0001f600" + "a" * 4000))
_PIECE = {"index": 0, "id": "c1", "function": {"name": "list_files", "arguments": "x" * 4000}}
_NAMED = {"index": 0, "id": "c" * 9000, "function": {"name": "n" * 9000}}
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5}
_OPEN = b'data: {"choices":['

BOMBS: dict[str, Bomb] = {
    "gzip": _packed(b"gzip", 31),
    "deflate": _packed(b"deflate", 15),
    "br": _packed(b"br", 15),
    "gzip_of_gzip": _packed(b"gzip, gzip", 31),
    "error_gzip": _packed(b"gzip", 31, b"500 No"),
    "error_body": _refused(b"500 No", b"application/json", b"[1],"),
    "error_line": _refused(b"429 No", b"text/plain", b"a"),
    "error_charset": _refused(b"500 No", b"text/plain; charset=punycode", b"ab-"),
    "redirect": _refused(b"307 No\r\nlocation: /v1/elsewhere", b"text/html", b"<p>"),
    "one_line": _streamed(b"data: ", b"a"),
    "comments": _streamed(b"", b": keep-alive\n\n"),
    "comment_line": _streamed(b":", b"a"),
    "data_lines": _streamed(b"", b"data:\n"),
    "blank_lines": _streamed(b"", b"\n"),
    "deltas": _streamed(b"", _event(_delta(content="a"))),
    "large_deltas": _streamed(b"", _event(_delta(content="a" * 4000))),
    "wide_deltas": _streamed(b"", _WIDE),
    "thoughts": _streamed(b"", _event(_delta(reasoning_content="a" * 200))),
    "arguments": _streamed(b"", _event(_delta(tool_calls=[_PIECE]))),
    "calls": _calls,
    "places": _places,
    "ids": _streamed(b"", _event(_delta(tool_calls=[_NAMED]))),
    "objects": _streamed(_OPEN, b"{},"),
    "depth": _streamed(_OPEN, b"["),
    "drip": _drip,
    "head_drip": _head_drip,
    "headers": _headers,
    "heads": _heads,
    "small_chunks": _chunked(b"1\r\n:\r\n"),
    "chunk_extension": _chunked(b"1;" + b"e" * 60_000 + b"\r\n:\r\n"),
    "chunk_size": _chunked(b"0" * 40_000),
    "trailers": _trailers,
    "empty_lists": _whole(b'{"data":[', b"[],"),
    "numbers": _whole(b'{"data":[{"embedding":[', b"0,"),
    "models": _whole(b'{"object":"list","data":[', b'{"id":"m"},'),
    "negative_usage": _said(_delta(content="ok"), usage=_USAGE | {"prompt_tokens": -5}),
    "healthy": _said(_delta(content="ok"), usage=_USAGE),
}  # fmt: skip
"""All of them, by name."""


class _Handler(StreamRequestHandler):
    def handle(self) -> None:
        """Answer one request with the bomb that it names; the client hangs up when it will."""
        with suppress(OSError, ValueError):
            first = self.rfile.readline().decode().split(" ")
            size = 0
            while line := self.rfile.readline().strip():
                name, _, value = line.lower().partition(b":")
                size = int(value) if name == b"content-length" else size
            body = self.rfile.read(size)
            server = self.server
            assert isinstance(server, _Server)
            if first[1].startswith("/set/"):
                server.chosen = first[1].removeprefix("/set/")
                self.wfile.write(b"HTTP/1.1 204 OK\r\nconnection: close\r\n\r\n")
                return
            asked = str(json.loads(body or b"{}").get("model"))
            bomb = BOMBS.get(asked) or BOMBS[server.chosen]
            bomb(self.wfile.write, server.size)


class _Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, size: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.size, self.chosen = size, "healthy"


class BombServer:
    """The program, from outside.

    Attributes:
        port: Where it listens on 127.0.0.1.
        base_url: For `OPENAI_BASE_URL`.
    """

    def __init__(self, port: int) -> None:
        self.port, self.base_url = port, f"http://127.0.0.1:{port}/v1"

    def choose(self, name: str) -> None:
        """Choose the bomb of requests that name no model."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("POST", f"/set/{name}")
        connection.getresponse()
        connection.close()


@contextmanager
def bomb_server(size: int) -> Iterator[BombServer]:
    """Run the program until the block is left."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__)), str(size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield BombServer(int(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


def _serve(size: int, until: BinaryIO) -> None:
    server = _Server(size)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    print(server.server_address[1], flush=True)
    until.read()


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.stdin.buffer)
