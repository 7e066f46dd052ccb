"""What a durable append costs: `python benchmarks/append.py [rounds]`.

Events of about 200 bytes, 1, 8 and 64 at a time, each commit durable when it returns:

    raw            one write and one fdatasync of the same number of bytes
    EventLog       EventLog.append of the records
    eventsourcing  Application.save of an aggregate with so many events, on SQLite

and the processor time of a commit on tmpfs, where syncing costs nothing. The disk and the
scheduler are not ours, so the gates are ratios in the same run, and counts.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

from benchmarks._measure import gate, interleave, table
from kbd.events import EventLog
from kbd.events.base import Recorded
from kbd.events.codec import encode, wrap_event
from kbd.events.disk import Disk
from kbd.events.runs import ToolReturned
from kbd.types import CallId

BATCHES = (1, 8, 64)
SLICE_SECONDS = 0.25
SHOWN = "the rows that a tool returned to the model, as it sees them; " * 2


class Counting(Disk):
    """A disk that counts what it syncs."""

    def __init__(self) -> None:
        self.syncs = 0

    def fdatasync(self, fd: int) -> None:
        """Sync, and count."""
        self.syncs += 1
        super().fdatasync(fd)


def records(count: int) -> list[Recorded]:
    """So many new records of about 200 bytes."""
    now_us = time.time_ns() // 1000
    return [
        wrap_event(ToolReturned(CallId(f"call_{n:08}"), n, ok=True, shown=SHOWN), now_us, 1)
        for n in range(count)
    ]


def rate(commit: Callable[[], object], events: int) -> float:
    """Events a second over a slice of commits."""
    commits, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < SLICE_SECONDS:
        commit()
        commits += 1
    return commits * events / spent


def raw(folder: Path, batch: int) -> Callable[[], object]:
    """The raw limit: the same bytes, one write, one fdatasync."""
    data = encode(records(batch))
    fd = os.open(folder / f"raw-{batch}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def commit() -> None:
        os.write(fd, data)
        os.fdatasync(fd)

    return commit


def event_log(folder: Path, batch: int) -> Callable[[], object]:
    """An append of new records."""
    log = EventLog.open(folder / f"log-{batch}")
    return lambda: log.append(records(batch))


class Run(Aggregate):
    """A run as eventsourcing's users would write it."""

    @event("Started")
    def __init__(self) -> None:
        self.shown = ""

    @event("ToolReturned")
    def tool_returned(self, call_id: str, entry_id: int, shown: str) -> None:
        """A tool returned."""
        self.shown = shown
        self.last = (call_id, entry_id)


def eventsourcing(folder: Path, batch: int) -> Callable[[], object]:
    """A save of so many events."""
    name = str(folder / f"es-{batch}.db")
    app = Application[Any](
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": name}
    )
    run = Run()
    app.save(run)

    def commit() -> None:
        for n in range(batch):
            run.tool_returned(call_id=f"call_{n:08}", entry_id=n, shown=SHOWN)
        app.save(run)

    return commit


CANDIDATES = {"raw": raw, "EventLog": event_log, "eventsourcing": eventsourcing}


def durable(folder: Path, rounds: int) -> None:
    """Commits on the disk."""
    ratios: dict[int, dict[str, float]] = {}
    for batch in BATCHES:
        commits = {name: make(folder, batch) for name, make in CANDIDATES.items()}
        slices = {name: partial(rate, commit, batch) for name, commit in commits.items()}
        found = interleave(slices, rounds)
        table(f"durable append, {batch} in flight", "events/s", found, "raw")
        log = found["EventLog"]
        ratios[batch] = {name: log / figure for name, figure in found.items()}
    print()
    gate("EventLog against raw, 1 in flight", ratios[1]["raw"], least=0.85)
    gate("EventLog against eventsourcing, 1 in flight", ratios[1]["eventsourcing"], least=1.5)
    gate("EventLog against eventsourcing, 64 in flight", ratios[64]["eventsourcing"], least=3)


def processor(rounds: int) -> None:
    """Commits on tmpfs, by processor time."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        log, made = EventLog.open(Path(name) / "log"), records(1)
        commits = {"raw": raw(Path(name), 1), "EventLog": lambda: log.append(made)}

        def spent(commit: Callable[[], object]) -> float:
            start = time.process_time()
            for _ in range(500):
                commit()
            return (time.process_time() - start) / 500 * 1e6

        slices = {key: partial(spent, commit) for key, commit in commits.items()}
        found = interleave(slices, 5 * rounds)
        table("processor time of a commit on tmpfs", "us", found, "raw")
        print()
        gate("EventLog against raw, processor time", found["EventLog"] / found["raw"], most=4)


def counts(folder: Path) -> None:
    """Syncs for 64 events that were issued together."""
    disk = Counting()
    log = EventLog.open(folder / "counted", disk=disk)
    before = disk.syncs
    log.append(records(64))
    gate("fdatasync calls for 64 events together", disk.syncs - before, most=2)
    log.close()


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        durable(Path(name), rounds)
        counts(Path(name))
    if Path("/dev/shm").is_dir():
        processor(rounds)


if __name__ == "__main__":
    main()
