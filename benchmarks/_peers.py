"""FastAPI and grpcio as peers of kbd's server: how to start them, and the client of each.

`python -m benchmarks._peers PATH` serves grpcio on a Unix socket.

Both take the request of benchmarks/rpc.py, a number and a text, validate it and answer a number, in
a process of their own. What is left to choose favours the peer:

    FastAPI  pydantic models in and out, uvicorn with uvloop and httptools, no access log. The
             client sends a prepared request and only counts the bytes of the answers. uvicorn reads
             many requests ahead on one connection and answers in order, so it is pipelined, too.
    grpcio   generic handlers with msgspec, where its users have protobuf: no build step, still
             validated, under 1 us of a call. A pool of one thread, the fastest here of the ways to
             serve (1 or 10 threads, asyncio, uvloop). The client is its own blocking channel:
             nobody speaks HTTP/2 by hand, so its cost counts.
"""

import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import msgspec

__all__ = ["COMMANDS", "HttpClient", "grpc_call"]

COMMANDS = {
    "fastapi": [
        *("-m", "uvicorn", "benchmarks._fastapi_peer:app", "--loop", "uvloop"),
        *("--http", "httptools", "--no-access-log", "--log-level", "warning"),
        # The default of 5 s would close the connection between two slices.
        *("--timeout-keep-alive", "600", "--uds"),
    ],
    "grpcio": ["-m", "benchmarks._peers"],
}
"""What Python is to run, with the path of the socket behind it, to serve; by the peer's name."""

BODY = b'{"number":1,"text":"a"}'
HTTP_REQUEST = (
    b"POST /fast HTTP/1.1\r\nHost: kbd\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
)
PIPELINED = 500
WINDOW = 100
"""Of 1 to 500 requests on their way at a time, what uvicorn is fastest with."""

SERVICE, METHOD = "kbd.Peer", "Fast"


class Fast(msgspec.Struct):
    """What grpcio is asked."""

    number: int
    text: str


class Sum(msgspec.Struct):
    """What grpcio answers."""

    number: int


class HttpClient:
    """One kept connection to FastAPI, on which the same request goes out again and again.

    All its answers have one length, as the date in them does: from the second on bytes are counted,
    and no client does less.

    Raises:
        ValueError: It is not answered as it must be.
    """

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._socket.sendall(HTTP_REQUEST)
        answer = b""
        while not answer.endswith(b'\r\n\r\n{"number":2}'):
            chunk = self._socket.recv(65_536)
            answer += chunk
            if not chunk or not answer.startswith(b"HTTP/1.1 200"):
                raise ValueError(f"FastAPI answered {answer!r}")
        self._answer_bytes = len(answer)

    def call(self, requests: bytes = HTTP_REQUEST, count: int = 1) -> None:
        """Send so many requests together, and wait for all their answers."""
        self._socket.sendall(requests)
        missing = count * self._answer_bytes
        while missing > 0:
            received = len(self._socket.recv(262_144))
            if not received:
                raise ValueError("FastAPI closed the connection")
            missing -= received
        if missing:
            raise ValueError("FastAPI gave other answers than at first")

    def pipelined(self) -> float:
        """Return round trips a second, many on their way at a time."""
        requests = HTTP_REQUEST * WINDOW
        begun = time.perf_counter()
        for _ in range(PIPELINED // WINDOW):
            self.call(requests, WINDOW)
        return PIPELINED / (time.perf_counter() - begun)


@contextmanager
def grpc_call(path: str) -> Iterator[Callable[[], Any]]:
    """Keep a channel to grpcio for as long as the block lasts; gives what makes one call.

    Raises:
        ValueError: The first call is not answered as it must be.
        grpc.RpcError: It is not answered at all.
    """
    with grpc.insecure_channel(f"unix:{path}") as channel:
        send = channel.unary_unary(
            f"/{SERVICE}/{METHOD}",
            request_serializer=msgspec.msgpack.Encoder().encode,
            response_deserializer=msgspec.msgpack.Decoder(Sum).decode,
        )
        request = Fast(number=1, text="a")
        answer = send(request, wait_for_ready=True, timeout=30)
        if answer != Sum(number=2):
            raise ValueError(f"grpcio answered {answer!r}")
        yield lambda: send(request)


def serve_grpc(path: str) -> None:
    """Serve with grpcio until the process is ended."""

    def fast(request: Fast, _context: grpc.ServicerContext) -> Sum:
        return Sum(number=request.number + 1)

    handler = grpc.unary_unary_rpc_method_handler(
        fast,
        request_deserializer=msgspec.msgpack.Decoder(Fast).decode,
        response_serializer=msgspec.msgpack.Encoder().encode,
    )
    server = grpc.server(ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler}),)
    )
    server.add_insecure_port(f"unix:{path}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    serve_grpc(sys.argv[1])
