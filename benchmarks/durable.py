"""What a durable command costs: `python benchmarks/durable.py [rounds]`.

A person's message of about 200 bytes as an event, from 1, 8 or 64 issuers that each wait for their
answer before they go on; answered only when it is on the disk. All in one process:

    raw            a loop of one write and one fdatasync; so many events in one write
    EventLog       a loop of EventLog.append of so many new records: what the Keeper adds to is this
    Keeper         Keeper.submit on a real EventLog, on both event loops
    eventsourcing  Application.save on SQLite, an event a commit, one after the other: its writers
                   exclude each other, so that threads would only make it slower

The disk and the scheduler are not ours, so the gates are ratios in the same run, and counts.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from benchmarks._measure import gate, interleave, table
from benchmarks.append import Counting, event_log, rate, raw
from kbd.core.domain.commands import Command, SendMessage
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import SystemClock
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.events import EventLog

IN_FLIGHT = (1, 8, 64)
BACKENDS = ("asyncio", "trio")
SLICE_SECONDS = 0.3
TEXT = "what a person asks for, in some words that are neither few nor many; " * 2

Latencies = dict[str, list[float]]
"""By candidate, how long each of its commands took, in seconds, over all slices."""


# In one process.


def keeper_of(log: EventLog) -> Keeper[WorkbenchState, Command]:
    """The Keeper of a workbench, as the daemon makes it."""
    return Keeper(
        Journal(log), blank=WorkbenchState, fold=fold_workbench, decide=decide, clock=SystemClock()
    )


async def issue(
    log: EventLog, in_flight: int, taken: list[float], seconds: float = SLICE_SECONDS
) -> float:
    """Submit commands for a while; returns commands a second."""
    keeper, clock = keeper_of(log), time.perf_counter
    before = len(taken)

    async def issuer(until: float) -> None:
        while (begun := clock()) < until:
            await keeper.submit(SendMessage("u0123456789abcdef", TEXT))
            taken.append(clock() - begun)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        await keeper.submit(SendMessage("u0123456789abcdef", TEXT))
        start = clock()
        async with anyio.create_task_group() as issuers:
            for _ in range(in_flight):
                issuers.start_soon(issuer, start + seconds)
        spent = clock() - start
        tasks.cancel_scope.cancel()
    return (len(taken) - before) / spent


def kept(folder: Path, names: Iterator[int], backend: str, in_flight: int, t: list[float]) -> float:
    """A slice through the Keeper, on a new log."""
    log = EventLog.open(folder / f"log-{next(names)}")
    found = anyio.run(issue, log, in_flight, t, backend=backend)
    log.close()
    return found


class Conversation(Aggregate):
    """A conversation as eventsourcing's users would write it."""

    @event("Opened")
    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    @event("UserMessageAdded")
    def ask(self, message_id: str, text: str) -> None:
        """A person asked for something."""
        self.said.append((message_id, text))


def saver(path: Path) -> Callable[[str], None]:
    """The peer: makes a message durable before it returns."""
    app = Application[Any](
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path)}
    )
    conversation = Conversation()
    app.save(conversation)

    def save(text: str) -> None:
        conversation.ask(message_id="u0123456789abcdef", text=text)
        app.save(conversation)

    return save


def in_process(folder: Path, rounds: int) -> None:
    """Compare the Keeper with the raw limit and with the peer."""
    names, save = count(), saver(folder / "es.db")
    rates: dict[int, dict[str, float]] = {}
    for n in IN_FLIGHT:
        taken: Latencies = {f"Keeper, {backend}": [] for backend in BACKENDS}
        slices: dict[str, Callable[[], float]] = {
            "raw": partial(rate, raw(folder, n), n),
            "EventLog": partial(rate, event_log(folder, n), n),
            **{
                f"Keeper, {backend}": partial(
                    kept, folder, names, backend, n, taken[f"Keeper, {backend}"]
                )
                for backend in BACKENDS
            },
            "eventsourcing": partial(rate, partial(save, TEXT), 1),
        }
        rates[n] = interleave(slices, rounds)
        table(f"durable commands in one process, {n} in flight", "events/s", rates[n], "raw")
        tell_latencies(taken)
    print()
    for backend in BACKENDS:
        name = f"Keeper, {backend}"
        for n, least in zip(IN_FLIGHT, (0.4, 0.35, 0.3), strict=True):
            share = rates[n][name] / rates[n]["EventLog"]
            gate(f"{name} against EventLog, {n} in flight", share, least=least)
        gain = rates[64][name] / rates[1][name]
        gate(f"{name}, 64 in flight against 1", gain, least=10)
        gain = rates[64][name] / rates[64]["eventsourcing"]
        gate(f"{name} against eventsourcing, 64 in flight", gain, least=3)


def tell_latencies(taken: Latencies) -> None:
    """Print how long commands took."""
    for name, found in taken.items():
        p50, p99 = percentiles(found)
        print(f"  {name:<34} p50 {p50 * 1000:8.3f} ms   p99 {p99 * 1000:8.3f} ms")


def percentiles(found: list[float]) -> tuple[float, float]:
    """The median, and what 99 of 100 do not pass."""
    return statistics.median(found), statistics.quantiles(found, n=100)[98]


# Counts and stalls.


async def count_commits(folder: Path, backend: str) -> None:
    """Count syncs and frames of 64 commands that are issued together."""
    disk = Counting()
    log = EventLog.open(folder / f"counted-{backend}", disk=disk)
    keeper = keeper_of(log)
    before = disk.syncs
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        async with anyio.create_task_group() as issuers:
            for _ in range(64):
                issuers.start_soon(keeper.submit, SendMessage("u0123456789abcdef", TEXT))
        tasks.cancel_scope.cancel()
    frames = sum(1 for _ in log.frames())
    gate(f"{backend}: fdatasync calls for 64 issued together", disk.syncs - before, most=2)
    gate(f"{backend}: frames for 64 issued together", frames, most=2)
    log.close()


async def stalls(folder: Path, backend: str) -> None:
    """Compare how late a timer of 1 ms is while 64 commit and while nothing happens."""
    log = EventLog.open(folder / f"stalls-{backend}")

    seconds = 5 * SLICE_SECONDS

    async def late() -> float:
        found = []
        until = time.perf_counter() + seconds
        while (begun := time.perf_counter()) < until:
            await anyio.sleep(0.001)
            found.append(time.perf_counter() - begun)
        return percentiles(found)[1]

    idle = await late()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(issue, log, 64, [], seconds)
        busy = await late()
    gate(f"{backend}: a timer of 1 ms, p99 while 64 commit against idle", busy / idle, most=5)
    log.close()


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        in_process(folder, rounds)
        for backend in BACKENDS:
            anyio.run(count_commits, folder, backend, backend=backend)
            anyio.run(stalls, folder, backend, backend=backend)


if __name__ == "__main__":
    main()
