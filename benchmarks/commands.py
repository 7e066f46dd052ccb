"""What a durable command costs over the socket: `python benchmarks/commands.py [rounds]`.

A person's message of about 200 bytes as an event, from 1, 8 or 64 connections that each wait for
their answer before they go on; answered only when it is on the disk. Each server runs in a process
of its own, and all are driven by the same client:

    kbd                    the daemon as `kbd daemon` runs it, on both event loops:
                           WorkshopSendUserMessage
    eventsourcing          a bare JSON-RPC loop of anyio that saves in a thread: like the daemon, it
                           reads and answers others while the disk syncs
    eventsourcing, inline  the same without the hop to a thread: its event loop stands still instead

and beside them the raw limit, so many events in one write and one fdatasync. The disk and the
scheduler are not ours, so the gates are ratios in the same run: to the peer that keeps the same
promise. The other is there to see what the hop costs.
"""

import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from benchmarks._measure import gate, interleave, table
from benchmarks.append import rate, raw
from benchmarks.durable import (
    BACKENDS,
    IN_FLIGHT,
    SLICE_SECONDS,
    TEXT,
    Latencies,
    percentiles,
    saver,
    tell_latencies,
)
from kbd.client.blocking import Client, ConnectionLostError

START_SECONDS = 40.0
PEER, INLINE = "eventsourcing", "eventsourcing, inline"
GATES = {1: 1.2, 8: 3.0, 64: 6.0}
"""By how many are in flight, how many times the peer's rate the daemon's must be."""


# The servers.


async def serve_peer(name: str, path: str, database: str) -> None:
    """Serve a peer: a line in, a save, a line out."""
    save_here, one = saver(Path(database)), anyio.CapacityLimiter(1)

    async def save_inline(text: str) -> None:
        save_here(text)

    async def save_in_thread(text: str) -> None:
        await run_sync(save_here, text, limiter=one)

    save: Callable[[str], Awaitable[None]] = save_inline if name == INLINE else save_in_thread

    async def serve(stream: anyio.abc.SocketStream) -> None:
        tail = b""
        async with stream:
            async for chunk in stream:
                *lines, tail = (tail + chunk).split(b"\n")
                for line in lines:
                    call = msgspec.json.decode(line)
                    await save(call["params"]["text"])
                    answer = {"jsonrpc": "2.0", "id": call["id"], "result": {"message_id": "u"}}
                    await stream.send(msgspec.json.encode(answer) + b"\n")

    async with await anyio.create_unix_listener(path) as listener:
        await listener.serve(serve)


@contextmanager
def started(arguments: list[str], path: str) -> Iterator[str]:
    """Run a server in a process for as long as the block lasts; gives its socket."""
    process = subprocess.Popen([sys.executable, *arguments], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS
    try:
        while not answers(path):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{arguments} did not start")
            time.sleep(0.02)
        yield path
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def answers(path: str) -> bool:
    """Whether somebody listens there."""
    try:
        Client(path).close()
    except ConnectionLostError:
        return False
    return True


# The client.


def request(workbench_id: str) -> bytes:
    """The line that sends a message."""
    params = {"workbench_id": workbench_id, "text": TEXT}
    call = {"jsonrpc": "2.0", "id": 1, "method": "WorkshopSendUserMessage", "params": params}
    return msgspec.json.encode(call) + b"\n"


def drive(path: str, in_flight: int, taken: list[float], *, is_kbd: bool) -> float:
    """Have so many connections send a message each as soon as the one before is answered.

    The first message of each goes before: its answer waits until the connection is accepted.

    Returns:
        Commands a second.
    """
    workbench_id = ""
    if is_kbd:
        with Client(path) as client:
            workbench_id = client.send("WorkbenchCreate", {"name": "bench"})["workbench_id"]
    line, clock = request(workbench_id), time.perf_counter
    with selectors.DefaultSelector() as selector, ExitStack() as opened:
        connections = [opened.enter_context(connected(path)) for _ in range(in_flight)]
        for each in connections:
            selector.register(each, selectors.EVENT_READ)
            each.sendall(line)
        for each in connections:
            check(each.recv(65_536))
        begun: dict[socket.socket, float] = {}
        for each in connections:
            begun[each] = clock()
            each.sendall(line)
        start, answered, waiting = clock(), 0, in_flight
        until = start + SLICE_SECONDS
        while waiting:
            for key, _ in selector.select():
                ready = key.fileobj
                assert isinstance(ready, socket.socket)
                check(ready.recv(65_536))
                now = clock()
                taken.append(now - begun[ready])
                answered += 1
                if now < until:
                    begun[ready] = now
                    ready.sendall(line)
                else:
                    waiting -= 1
        return answered / (clock() - start)


def check(answer: bytes) -> None:
    """An answer is one line, and no error: refusals would be quick."""
    if b'"result"' not in answer or not answer.endswith(b"\n"):
        sys.exit(f"not an answer: {answer!r}")


@contextmanager
def connected(path: str) -> Iterator[socket.socket]:
    """A connection to a server."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect(path)
        yield client


@contextmanager
def servers(folder: Path) -> Iterator[Mapping[str, str]]:
    """Run all servers: homes and databases in the folder, sockets where paths are short."""
    with tempfile.TemporaryDirectory(prefix="kbd-") as short, ExitStack() as running:
        paths = {}
        for backend in BACKENDS:
            path = f"{short}/{backend}.sock"
            place = ("--home", str(folder / f"home-{backend}"), "--socket", path)
            command = ["-m", "kbd", *place, "daemon", "--backend", backend]
            paths[f"kbd, {backend}"] = running.enter_context(started(command, path))
        for number, name in enumerate((PEER, INLINE)):
            path = f"{short}/peer-{number}.sock"
            command = [__file__, "--peer", name, path, str(folder / f"peer-{number}.db")]
            paths[name] = running.enter_context(started(command, path))
        yield paths


def over_socket(folder: Path, rounds: int) -> None:
    """Compare the daemon with the peer behind a socket, and with the raw limit."""
    found: dict[int, dict[str, float]] = {}
    tails: dict[int, dict[str, float]] = {}
    with servers(folder) as paths:
        for n in IN_FLIGHT:
            taken: Latencies = {name: [] for name in paths}
            slices: dict[str, Callable[[], float]] = {"raw": partial(rate, raw(folder, n), n)}
            for name, path in paths.items():
                is_kbd = name.startswith("kbd")
                slices[name] = partial(drive, path, n, taken[name], is_kbd=is_kbd)
            found[n] = interleave(slices, rounds)
            table(f"durable commands over the socket, {n} in flight", "events/s", found[n], "raw")
            tell_latencies(taken)
            ends = {name: percentiles(each) for name, each in taken.items()}
            tails[n] = {name: p99 / p50 for name, (p50, p99) in ends.items()}
    print()
    for backend in BACKENDS:
        name = f"kbd, {backend}"
        for n, least in GATES.items():
            rate_here = found[n][name]
            gate(f"{name} against {PEER}, {n} in flight", rate_here / found[n][PEER], least=least)
            print(f"         and against the inline one: {rate_here / found[n][INLINE]:.2f}")
        gate(f"{name}, p99 against p50, 64 in flight", tails[64][name], most=5)


def main() -> None:
    """Measure and print; or serve a peer."""
    if sys.argv[1:2] == ["--peer"]:
        name, path, database = sys.argv[2:5]
        anyio.run(serve_peer, name, path, database)
        return
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        over_socket(Path(folder), rounds)


if __name__ == "__main__":
    main()
