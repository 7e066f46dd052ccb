"""JSON-RPC over the socket against bare echoes, and pushing events together against one by one.

    python benchmarks/rpc.py [--rounds 15]

Each server runs in a process of its own, all at once; short slices in random order, medians, so
that whatever else the machine does meets all alike. The client is one blocking socket. Prints
ratios, and ends with 1 if a gate is missed.
"""

import argparse
import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import anyio
import msgspec

from kbd.core.server import (
    Batch,
    Handlers,
    Hub,
    Server,
    ServerLimits,
    Session,
    Stream,
    Synced,
    subscription_handlers,
)
from kbd.core.server.connection import Connection
from kbd.requests.base import Answer, Request
from kbd.requests.daemon import PluginsList
from kbd.types import Seq, WorkbenchId

SERIAL = 300
PIPELINED = 5_000
WINDOW = 500
EVENTS = 5_000
SUBSCRIBERS = 10
WORKBENCH = WorkbenchId("00000000000000aa")

FAST = b'{"jsonrpc":"2.0","id":1,"method":"Fast","params":{"number":1,"text":"a"}}\n'
WAITS = b'{"jsonrpc":"2.0","id":1,"method":"Waits","params":{"number":1,"text":"a"}}\n'
SUBSCRIBE = (
    b'{"jsonrpc":"2.0","id":1,"method":"EventsSubscribe",'
    b'"params":{"workbench_id":"00000000000000aa","after":0}}\n'
)
COUNT = b'{"jsonrpc":"2.0","id":2,"method":"PluginsList"}\n'
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


# Servers, each in a process of its own.


async def serve_kbd(path: str) -> None:
    """Serve kbd's own server with a fast and a waiting method, and a log in memory."""

    def fast(request: Fast, _session: Session) -> Sum:
        return Sum(number=request.number + 1)

    async def waits(request: Waits, _session: Session) -> Sum:
        return Sum(number=request.number + 1)

    def sends(_request: PluginsList, session: Session) -> msgspec.Raw:
        assert isinstance(session, Connection)
        return msgspec.Raw(b"%d" % session._outbox._sends)  # noqa: SLF001 - what is counted

    async def follow(_name: str, _cursors: Mapping[str, Seq]) -> Stream:
        return stream()

    async def stream() -> AsyncGenerator[Batch | Synced, None]:
        for start in range(0, EVENTS, 256):
            yield Batch(WORKBENCH, start + 1, tuple(EVENT[start : start + 256]))
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
    "chunk echo": (serve_chunk_echo, "asyncio"),
    "line echo": (serve_line_echo, "asyncio"),
    "one by one": (serve_one_by_one, "asyncio"),
}


@contextmanager
def served(name: str, folder: Path) -> Iterator[str]:
    """Run a server in a process, for as long as the block lasts; gives its socket."""
    path = str(folder / name.replace(" ", "-"))
    process = subprocess.Popen([sys.executable, __file__, "--serve", name, path])
    try:
        while not _answers(path):
            time.sleep(0.01)
            if process.poll() is not None:
                sys.exit(f"{name} did not start")
        yield path
    finally:
        process.terminate()
        process.wait()


def _answers(path: str) -> bool:
    try:
        connect(path).close()
    except OSError:
        return False
    return True


# The client.


def connect(path: str) -> socket.socket:
    """Connect to a server."""
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(path)
    return client


def serial(client: socket.socket, line: bytes) -> float:
    """Return the median time of one round trip, in microseconds."""
    taken = []
    for _ in range(SERIAL):
        begun = time.perf_counter()
        client.sendall(line)
        while not client.recv(65_536).endswith(b"\n"):
            pass
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1e6


def pipelined(client: socket.socket, line: bytes) -> float:
    """Return round trips a second, many on their way at a time."""
    lines = b"".join(line.replace(b'"id":1', b'"id":%d' % n) for n in range(WINDOW))
    begun = time.perf_counter()
    for _ in range(PIPELINED // WINDOW):
        client.sendall(lines)
        missing = WINDOW
        while missing:
            missing -= client.recv(262_144).count(b"\n")
    return PIPELINED / (time.perf_counter() - begun)


def pushed(path: str) -> float:
    """Return events delivered a second, to several subscribers together."""

    def read(client: socket.socket) -> None:
        tail = b""
        while b"EventsSynced" not in tail:
            tail = tail[-64:] + client.recv(262_144)

    clients = [connect(path) for _ in range(SUBSCRIBERS)]
    threads = [threading.Thread(target=read, args=(client,)) for client in clients]
    begun = time.perf_counter()
    for client, thread in zip(clients, threads, strict=True):
        thread.start()
        client.sendall(SUBSCRIBE)
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - begun
    for client in clients:
        client.close()
    return SUBSCRIBERS * EVENTS / taken


def sends_per_event(path: str) -> float:
    """Return how many sends one subscriber's events cost, by event."""
    with connect(path) as client:
        client.sendall(SUBSCRIBE)
        found = b""
        while b"EventsSynced" not in found[-200:]:
            found += client.recv(262_144)
        client.sendall(COUNT)
        answer = client.recv(65_536)
    return int(msgspec.json.decode(answer)["result"]) / EVENTS


# What is measured, and what must hold.


def measure(paths: dict[str, str], rounds: int) -> dict[str, float]:
    """Return the median of each measurement."""
    clients = {name: connect(path) for name, path in paths.items() if name != "one by one"}
    jobs: dict[str, Any] = {}
    for name, client in clients.items():
        lines = {"fast": FAST, "waits": WAITS} if name.startswith("kbd") else {"": FAST}
        for kind, line in lines.items():
            jobs[f"{name} {kind} serial"] = lambda c=client, m=line: serial(c, m)
            jobs[f"{name} {kind} pipelined"] = lambda c=client, m=line: pipelined(c, m)
    for name in ("kbd", "kbd on trio", "one by one"):
        jobs[f"{name} pushed"] = lambda p=paths[name]: pushed(p)
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name in random.sample(list(jobs), len(jobs)):
            found[name].append(jobs[name]())
    medians = {" ".join(name.split()): statistics.median(all_) for name, all_ in found.items()}
    medians["sends per event"] = sends_per_event(paths["kbd"])
    return medians


def gates(m: dict[str, float]) -> list[tuple[str, float, str, float]]:
    """Return each ratio with what it must be (facts/performance.md C).

    Judged against the echo of chunks, the harder one; beside the echo of lines, for information.
    """
    found = []
    for echo, is_judged in (("chunk echo", True), ("line echo", False)):
        serial, pipelined = m[f"{echo} serial"], m[f"{echo} pipelined"]
        found += [
            (f"{what} / {echo}", ratio, sign if is_judged else "", bound)
            for what, ratio, sign, bound in (
                ("serial, fast method", m["kbd fast serial"] / serial, "<=", 1.3),
                ("serial, waiting method", m["kbd waits serial"] / serial, "<=", 2.2),
                ("pipelined, fast method", m["kbd fast pipelined"] / pipelined, ">=", 0.25),
                ("pipelined, waiting method", m["kbd waits pipelined"] / pipelined, ">=", 0.04),
            )
        ]
    return [
        *found,
        ("serial, fast method / anyio echo", m["kbd fast serial"] / m["anyio echo serial"], "", 0),
        ("serial, trio / asyncio", m["kbd on trio fast serial"] / m["kbd fast serial"], "<=", 1.35),
        ("push to 10, together / one by one", m["kbd pushed"] / m["one by one pushed"], ">=", 8),
        ("sends per event under backlog", m["sends per event"], "<=", 1 / 8),
    ]


def main() -> int:
    """Run a server, or all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", nargs=2, metavar=("NAME", "PATH"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        name, path = arguments.serve
        serve, backend = SERVERS[name]
        try:
            anyio.run(serve, path, backend=backend)
        except KeyboardInterrupt:
            pass
        return 0
    # One core for all: on two, waking the other one costs more than a round trip, or nothing, as
    # the scheduler pleases; so it is work that is compared.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="kbd-") as folder, ExitStack() as servers:
        os.chmod(folder, 0o700)
        paths = {name: servers.enter_context(served(name, Path(folder))) for name in SERVERS}
        medians = measure(paths, arguments.rounds)
    for name, value in medians.items():
        unit = "us" if name.endswith("serial") else ("" if "per" in name else "/s")
        print(f"  {name:36} {value:12,.2f} {unit}")
    missed = 0
    for what, ratio, sign, bound in gates(medians):
        holds = not sign or (ratio <= bound if sign == "<=" else ratio >= bound)
        missed += not holds
        verdict = f"{'met' if holds else 'MISSED'} (gate {sign} {bound:.3g})" if sign else ""
        print(f"{what:42} {ratio:8.3f}  {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
