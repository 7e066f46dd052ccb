"""A server of models whose answers are scripted: by the name of the model asked for.

A request that names no model is answered by the last part of its path.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.abc

Answer = Callable[["Connection"], Awaitable[None]]


class Connection:
    """The server's side of one request."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream

    async def send(self, data: bytes) -> None:
        """Send raw bytes."""
        await self._stream.send(data)

    async def head(self, status: str = "200 OK", **headers: str) -> None:
        """Send a head; the body ends with the connection unless headers say otherwise."""
        headers = {"content-type": "text/event-stream", "connection": "close", **headers}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode())

    async def whole(self, status: str, body: object, **headers: str) -> None:
        """Send a complete answer: an object as JSON, text as HTML."""
        is_text = isinstance(body, str)
        data = str(body).encode() if is_text else json.dumps(body).encode()
        kind = "text/html" if is_text else "application/json"
        await self.head(status, content_type=kind, content_length=str(len(data)), **headers)
        await self.send(data)

    async def forever(self) -> None:
        """Send nothing more, until the client hangs up."""
        while True:
            await self._stream.receive()

    async def part(self, data: bytes) -> None:
        """Send one piece of a chunked body."""
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def event(self, value: object) -> None:
        """Send one server-sent event."""
        await self.part(b"data: " + json.dumps(value).encode() + b"\n\n")

    async def delta(self, finish_reason: str | None = None, **delta: Any) -> None:
        """Send one chunk of a turn."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        await self.event({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})

    async def done(self) -> None:
        """Send the end mark."""
        await self.part(b"data: [DONE]\n\n")

    async def end(self) -> None:
        """End a chunked body cleanly."""
        await self.send(b"0\r\n\r\n")


def streamed(script: Answer) -> Answer:
    """Wrap a script in the head and the clean end of a chunked stream."""

    async def answer(connection: Connection) -> None:
        await connection.head(transfer_encoding="chunked")
        await script(connection)
        await connection.end()

    return answer


def deltas(pieces: Sequence[Mapping[str, Any]], finish_reason: str = "stop") -> Answer:
    """Return an answer of these deltas, its finish reason and the end mark."""

    async def script(connection: Connection) -> None:
        for piece in pieces:
            await connection.delta(**piece)
        await connection.delta(finish_reason)
        await connection.done()

    return streamed(script)


async def listing(connection: Connection) -> None:
    """List no models."""
    await connection.whole("200 OK", {"object": "list", "data": []})


class ScriptedServer:
    """What was asked, and where to ask.

    Attributes:
        answers: What it answers, by model.
        port: Where it listens on 127.0.0.1.
        requests: The bodies received, in order.
        paths: Where they went.
        headers: Their heads as lower-case names and values.
        hung_up: Set when a client closed the connection in the middle of an answer.
    """

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = dict(answers)
        self.port = 0
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.hung_up = anyio.Event()

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        """Answer one request and close."""
        async with stream:
            try:
                request = await self._receive(stream)
                named = request.get("model") or self.paths[-1].split("/")[-1]
                await self.answers[named](Connection(stream))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
                self.hung_up.set()

    async def _receive(self, stream: anyio.abc.SocketStream) -> dict[str, Any]:
        received = b""
        while b"\r\n\r\n" not in received:
            received += await stream.receive()
        head, _, body = received.partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        path = first.split(" ")[1]
        headers = {
            name.lower(): value for name, _, value in (line.partition(": ") for line in rest)
        }
        while len(body) < int(headers.get("content-length", 0)):
            body += await stream.receive()
        request: dict[str, Any] = json.loads(body or b"{}")
        self.requests.append(request)
        self.paths.append(path)
        self.headers.append(headers)
        return request


@asynccontextmanager
async def serving(**answers: Answer) -> AsyncIterator[ScriptedServer]:
    """Serve scripts by model name until the block is left."""
    server = ScriptedServer(answers)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        server.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, server.serve)
            yield server
            tasks.cancel_scope.cancel()
