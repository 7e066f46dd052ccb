"""What a worker call costs: `python benchmarks/workers.py`, or `make bench`.

Three ways to run one small function in another process, in slices of random order in one run:

    kbd       Workers.call: a fork of the plugin's zygote for each call, limits set, reaped
    pool      anyio.to_process.run_sync: a process that is kept, with pickle, and without limits
    fork      fork and a socketpair from a small, single-threaded process: the raw limit

and how long it takes to kill a call. The kept process is faster than any fork and shares its
state, its limits and its crashes with the next call; facts say what that costs. The gates are
ratios, for the machine's speed is not ours: against the raw fork, and against the pool with a
process that is as fresh as ours (a cold start each).
"""

import os
import random
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import anyio.to_process

from benchmarks._measure import gate
from benchmarks._plugin import MODULE, installed
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings
from kbd.tools import CallLimits

SLICES, CALLS = 12, 20


def echo(value: bytes) -> bytes:
    """Return what was given."""
    return value


def forked(value: bytes) -> None:
    """Fork, echo through a socketpair, reap: what no worker with a fresh process can beat."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        theirs.sendall(theirs.recv(1 << 16))
        os._exit(0)
    theirs.close()
    ours.sendall(value)
    ours.recv(1 << 16)
    ours.close()
    os.waitpid(pid, 0)


def fork_server(control: socket.socket) -> None:
    """Time calls of `forked` for whoever asks; in a small process of its own."""
    while control.recv(1):
        start = time.perf_counter()
        forked(b"x" * 200)
        control.sendall(f"{time.perf_counter() - start:.9f}".encode().ljust(16))


async def timed(call: Callable[[], Awaitable[object]]) -> float:
    """Return the seconds that one call takes."""
    start = time.perf_counter()
    await call()
    return time.perf_counter() - start


async def cold_pool() -> float:
    """Return the seconds of a first call of anyio's pool, in an interpreter of its own."""
    code = (
        "import anyio, anyio.to_process, time\n"
        "async def main():\n"
        "    start = time.perf_counter()\n"
        "    await anyio.to_process.run_sync(len, b'')\n"
        "    print(time.perf_counter() - start)\n"
        "anyio.run(main)\n"
    )
    done = await anyio.run_process([sys.executable, "-c", code])
    return float(done.stdout)


async def killed(workers: WorkerPool) -> float:
    """Return the seconds from cancelling a call to its process being reaped."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(workers.call, "bench", f"{MODULE}:sleep", {})
        await anyio.sleep(0.1)
        start = time.perf_counter()
        tasks.cancel_scope.cancel()
    return time.perf_counter() - start


async def measure(folder: Path, control: socket.socket) -> None:
    """Measure all ways side by side, and print."""
    plugins = installed(folder)
    value = b"x" * 200
    limits = CallLimits()

    async def by_fork() -> float:
        control.sendall(b"x")
        return float(control.recv(16))

    async with WorkerPool(plugins, Settings(), extra_paths=[folder]) as workers:
        call = {
            "kbd": lambda: timed(
                lambda: workers.call("bench", f"{MODULE}:echo", {"value": value}, limits)
            ),
            "pool": lambda: timed(lambda: anyio.to_process.run_sync(echo, value)),
            "fork": by_fork,
        }
        cold = await call["kbd"]()
        times: dict[str, list[float]] = {name: [] for name in call}
        order = list(call) * SLICES
        random.Random(1).shuffle(order)
        for name in order:
            times[name] += [await call[name]() for _ in range(CALLS)]
        kills = [await killed(workers) for _ in range(10)]
    pool_cold = statistics.median([await cold_pool() for _ in range(3)])
    report({name: statistics.median(found) for name, found in times.items()}, cold, pool_cold)
    gate("cancel to reaped, slowest of 10, ms", max(kills) * 1000, most=20)


def report(medians: dict[str, float], cold: float, pool_cold: float) -> None:
    """Print medians and ratios."""
    for name, seconds in medians.items():
        print(f"{name:>5}  warm call p50 {seconds * 1000:7.3f} ms")
    print(f"  kbd  first call    {cold * 1000:7.1f} ms, pool {pool_cold * 1000:.1f} ms")
    print(f"kbd / bare fork            {medians['kbd'] / medians['fork']:6.2f}")
    print(f"kbd / kept process (pool)  {medians['kbd'] / medians['pool']:6.2f}\n")
    gate("a call against a fresh process of the pool", medians["kbd"] / pool_cold, most=1)
    gate("the first call against the pool's", cold / pool_cold, most=0.5)


def main() -> None:
    """Start the fork server before any thread or loop exists, then measure."""
    control, theirs = socket.socketpair()
    if os.fork() == 0:
        control.close()
        fork_server(theirs)
        os._exit(0)
    theirs.close()
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, Path(folder), control)
    control.close()


if __name__ == "__main__":
    main()
