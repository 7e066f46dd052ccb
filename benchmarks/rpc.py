"""JSON-RPC over the socket against echoes, FastAPI and grpcio; events pushed together or singly.

    python benchmarks/rpc.py [--rounds 5] [--starts 4]

Each server runs in a process of its own, all at once, in short slices in random order; all are
started anew several times, for one process may be a quarter slower than the next for as long as it
lives. Of a slice's round trips the median counts; of the slices the one that a quarter of them
beat, for all candidates alike: what else the machine does makes a slice slower, never quicker. The
client is one blocking socket, but for grpcio its own (benchmarks/_peers.py). Prints ratios, and
ends with 1 if a gate is missed.
"""

import argparse
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import msgspec

from benchmarks import _peers, _rpc_servers
from benchmarks._rpc_servers import EVENTS
from kbd.client.blocking import Client

SERIAL = 300
PIPELINED = 5_000
WINDOWS = {"pipelined": 64, "pipelined by 500": 500}
"""How many are on their way at a time: as many as in the other benchmarks; and more, to look at.
An echo reads and sends at once whatever has come, so the more there is the less each one costs it.
"""

SUBSCRIBERS = 10

PARAMS = {"number": 1, "text": "a"}
FAST = b'{"jsonrpc":"2.0","id":1,"method":"Fast","params":{"number":1,"text":"a"}}\n'
WAITS = b'{"jsonrpc":"2.0","id":1,"method":"Waits","params":{"number":1,"text":"a"}}\n'
SUBSCRIBE = (
    b'{"jsonrpc":"2.0","id":1,"method":"EventsSubscribe",'
    b'"params":{"workbench_id":"00000000000000aa","after":0}}\n'
)
COUNT = b'{"jsonrpc":"2.0","id":2,"method":"PluginsList"}\n'


@contextmanager
def served(command: Sequence[str], path: str) -> Iterator[str]:
    """Run a server in a process, for as long as the block lasts; gives its socket."""
    process = subprocess.Popen([sys.executable, *command, path])
    try:
        while not _answers(path):
            time.sleep(0.01)
            if process.poll() is not None:
                sys.exit(f"nothing serves {path}")
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


def exchange(client: socket.socket, line: bytes) -> None:
    """Send a line and wait for the line that answers it."""
    client.sendall(line)
    while not client.recv(65_536).endswith(b"\n"):
        pass


def serial(call: Callable[[], object]) -> float:
    """Return the median time of one round trip, in microseconds."""
    taken = []
    for _ in range(SERIAL):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken) * 1e6


def pipelined(client: socket.socket, line: bytes, window: int) -> float:
    """Return round trips a second, so many on their way at a time."""
    lines = b"".join(line.replace(b'"id":1', b'"id":%d' % n) for n in range(window))
    turns = PIPELINED // window
    begun = time.perf_counter()
    for _ in range(turns):
        client.sendall(lines)
        missing = window
        while missing:
            missing -= client.recv(262_144).count(b"\n")
    return turns * window / (time.perf_counter() - begun)


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


def compared(paths: dict[str, str], stack: ExitStack) -> dict[str, Callable[[], float]]:
    """Connect the peers' clients, and kbd's own; return what measures each."""
    http = _peers.HttpClient(paths["fastapi"])
    call = stack.enter_context(_peers.grpc_call(paths["grpcio"]))
    client = stack.enter_context(Client(paths["kbd"]))
    return {
        "kbd client serial": lambda: serial(partial(client.send, "Fast", PARAMS)),
        "fastapi serial": lambda: serial(http.call),
        "fastapi pipelined": http.pipelined,
        "grpcio serial": lambda: serial(call),
    }


def measure(
    paths: dict[str, str], rounds: int, stack: ExitStack, found: dict[str, list[float]]
) -> None:
    """Add some slices of each measurement; what must be closed goes to the stack."""
    jobs: dict[str, Any] = compared(paths, stack)
    clients = {name: connect(paths[name]) for name in _rpc_servers.COMMANDS if name != "one by one"}
    for name, client in clients.items():
        lines = {"fast": FAST, "waits": WAITS} if name.startswith("kbd") else {"": FAST}
        for kind, line in lines.items():
            jobs[f"{name} {kind} serial"] = lambda c=client, m=line: serial(partial(exchange, c, m))
            for how, window in WINDOWS.items():
                jobs[f"{name} {kind} {how}"] = partial(pipelined, client, line, window)
    for name in ("kbd", "kbd on trio", "one by one"):
        jobs[f"{name} pushed"] = lambda p=paths[name]: pushed(p)
    for _ in range(rounds):
        for name in random.sample(list(jobs), len(jobs)):
            found.setdefault(" ".join(name.split()), []).append(jobs[name]())
    found.setdefault("sends per event", []).append(sends_per_event(paths["kbd"]))


def quarter(name: str, slices: list[float]) -> float:
    """Return what a quarter of the slices beat: times are better low, rates high."""
    return statistics.quantiles(slices, n=4)[
        2 if name.endswith(("pipelined", "500", "pushed")) else 0
    ]


def gates(m: dict[str, float]) -> list[tuple[str, float, str, float]]:
    """Return each ratio with what it must be (facts/performance.md C).

    Judged against the echo of chunks, the harder one; beside the echo of lines, for information.
    """
    found = [
        (
            f"serial, {kind} method / {echo}",
            m[f"kbd {kind} serial"] / m[f"{echo} serial"],
            sign,
            top,
        )
        for echo, sign in (("chunk echo", "<="), ("line echo", ""))
        for kind, top in (("fast", 1.3), ("waits", 2.2))
    ]
    found += [
        (f"{how}, {kind} method / {echo}", m[f"kbd {kind} {how}"] / m[f"{echo} {how}"], sign, least)
        for echo, how, sign in (
            ("chunk echo", "pipelined", ">="),
            ("chunk echo", "pipelined by 500", ""),
            ("line echo", "pipelined", ""),
        )
        for kind, least in (("fast", 0.25), ("waits", 0.04))
    ]
    return [
        *found,
        ("serial, fast method / anyio echo", m["kbd fast serial"] / m["anyio echo serial"], "", 0),
        (
            "serial, fast method / anyio echo, on trio",
            m["kbd on trio fast serial"] / m["anyio echo on trio serial"],
            "",
            0,
        ),
        ("serial, fast / FastAPI", m["kbd fast serial"] / m["fastapi serial"], "<=", 1 / 2),
        ("pipelined, fast / FastAPI", m["kbd fast pipelined"] / m["fastapi pipelined"], ">=", 8),
        ("serial, fast / grpcio", m["kbd fast serial"] / m["grpcio serial"], "<=", 1 / 4),
        ("serial, kbd's client / grpcio's", m["kbd client serial"] / m["grpcio serial"], "", 0),
        ("serial, trio / asyncio", m["kbd on trio fast serial"] / m["kbd fast serial"], "<=", 1.35),
        ("push to 10, together / one by one", m["kbd pushed"] / m["one by one pushed"], ">=", 8),
        ("sends per event under backlog", m["sends per event"], "<=", 1 / 8),
    ]


def main() -> int:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of slices, for each start")
    parser.add_argument("--starts", type=int, default=4, help="of all servers")
    arguments = parser.parse_args()
    # One core for all: on two, waking the other one costs more than a round trip, or nothing, as
    # the scheduler pleases; so it is work that is compared.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    slices: dict[str, list[float]] = {}
    for _ in range(arguments.starts):
        with tempfile.TemporaryDirectory(prefix="kbd-") as folder, ExitStack() as servers:
            os.chmod(folder, 0o700)
            paths = {
                name: servers.enter_context(served(command, f"{folder}/{name.replace(' ', '-')}"))
                for name, command in (_rpc_servers.COMMANDS | _peers.COMMANDS).items()
            }
            measure(paths, arguments.rounds, servers, slices)
    found = {name: quarter(name, each) for name, each in sorted(slices.items())}
    for name, value in found.items():
        unit = "us" if name.endswith("serial") else ("" if "per" in name else "/s")
        print(f"  {name:36} {value:12,.2f} {unit}")
    missed = 0
    for what, ratio, sign, bound in gates(found):
        holds = not sign or (ratio <= bound if sign == "<=" else ratio >= bound)
        missed += not holds
        verdict = f"{'met' if holds else 'MISSED'} (gate {sign} {bound:.3g})" if sign else ""
        print(f"{what:42} {ratio:8.3f}  {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
