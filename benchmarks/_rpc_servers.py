"""The servers of benchmarks/rpc.py: kbd's own, echoes, and one that pushes event by event.

`python -m benchmarks._rpc_servers NAME PATH` serves one on a Unix socket.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import anyio
import msgspec

from kbd.core.server import Hub, subscription_handlers
from kbd.core.server.connection import Connection
from kbd.core.server.dispatch import EventBatch, Handlers, ServerLimits, Session, Stream, Synced
from kbd.core.server.listener import Server
from kbd.requests.base import Answer, Request
from kbd.requests.daemon import PluginsList
from kbd.types import Seq, WorkbenchId

__all__ = ["COMMANDS", "EVENTS"]

EVENTS = 5_000
WORKBENCH = WorkbenchId("00000000000000aa")
EVENT = [
    msgspec.json.encode(
        {"seq": n, "type": "ToolCalled", "data": {"call_id": "c", "text": "x" * 60}}
    )
    for n in range(1, EVENTS + 1)
]


class Sum(Answer):
    """What both methods answer."""

    number: int


class Fast(Request):
    """A method that is answered in turn."""

    answer: ClassVar[type[Any]] = Sum

    number: int
    text: str


class Waits(Request):
    """A method that is answered in a task."""

    answer: ClassVar[type[Any]] = Sum

    number: int
    text: str


async def serve_kbd(path: str) -> None:
    """Serve kbd's own server with a fast and a waiting method, and a log in memory."""

    def fast(request: Fast, _session: Session) -> Sum:
        return Sum(number=request.number + 1)

    async def waits(request: Waits, _session: Session) -> Sum:
        return Sum(number=request.number + 1)

    def sends(_request: PluginsList, session: Session) -> msgspec.Raw:
        assert isinstance(session, Connection)
        return msgspec.Raw(b"%d" % session.outbox.sends)

    async def follow(_name: str, _cursors: Mapping[str, Seq]) -> Stream:
        return stream()

    async def stream() -> AsyncGenerator[EventBatch | Synced, None]:
        for start in range(0, EVENTS, 256):
            yield EventBatch(WORKBENCH, start + 1, tuple(EVENT[start : start + 256]))
        yield Synced({WORKBENCH: Seq(EVENTS)})

    handlers: Handlers = {
        Fast: fast,
        Waits: waits,
        PluginsList: sends,
        **subscription_handlers(follow),
    }
    server = Server(Path(path), handlers, Hub(), ServerLimits(stall_s=60))
    await server.serve()


async def serve_anyio_echo(path: str) -> None:
    """Echo with anyio whatever arrives, lines or not."""

    async def echo(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            async for chunk in stream:
                await stream.send(chunk)

    async with await anyio.create_unix_listener(path) as listener:
        await listener.serve(echo)


async def serve_chunk_echo(path: str) -> None:
    """Echo with the streams of asyncio whatever arrives, unread: no server does less."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65_536):
            writer.write(chunk)
            await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(echo, path) as server:
        await server.serve_forever()


async def serve_line_echo(path: str) -> None:
    """Echo line by line with the streams of asyncio: the usual way to serve a protocol of lines."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
            await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(echo, path) as server:
        await server.serve_forever()


async def serve_one_by_one(path: str) -> None:
    """Push the same events to whoever subscribes, a send an event."""

    async def push(stream: anyio.abc.SocketStream) -> None:
        head = b'{"jsonrpc":"2.0","method":"EventsAppended","params":{"events":['
        async with stream:
            async for _request in stream:
                for event in EVENT:
                    await stream.send(b"%b%b]}}\n" % (head, event))
                await stream.send(b'{"jsonrpc":"2.0","method":"EventsSynced"}\n')

    async with await anyio.create_unix_listener(path) as listener:
        await listener.serve(push)


SERVERS = {
    "kbd": (serve_kbd, "asyncio"),
    "kbd on trio": (serve_kbd, "trio"),
    "anyio echo": (serve_anyio_echo, "asyncio"),
    "anyio echo on trio": (serve_anyio_echo, "trio"),
    "chunk echo": (serve_chunk_echo, "asyncio"),
    "line echo": (serve_line_echo, "asyncio"),
    "one by one": (serve_one_by_one, "asyncio"),
}

COMMANDS = {name: ["-m", "benchmarks._rpc_servers", name] for name in SERVERS}
"""What Python is to run, with the path of the socket behind it, to serve; by the server's name."""


def main() -> None:
    """Serve until the process is ended."""
    name, path = sys.argv[1:]
    serve, backend = SERVERS[name]
    try:
        anyio.run(serve, path, backend=backend)
    except KeyboardInterrupt:
        pass  # Whoever stops the benchmark stops its servers, too.


if __name__ == "__main__":
    main()
