"""Logs of workbenches as they grow in use, written as fast as the disk takes them."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from kbd.events import BlobStore, Event, EventLog, codec
from kbd.events.base import PluginUsed, Recorded, ReplyCall
from kbd.events.disk import Disk
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.events.runs import (
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from kbd.events.workbenches import UserMessageAdded, WorkbenchCreated
from kbd.messages import Usage
from kbd.types import BlobHash, CallId, FileName, Phase, WorkbenchId

__all__ = ["BENCH", "COMMIT", "EVENTS_A_VERSION", "Unsynced", "history", "keep_blobs", "make"]

BENCH = WorkbenchId("00112233445566ff")
COMMIT = 8
"""Events a frame: what gathers while the disk syncs."""

RUN_EVENTS = 1000
CALLS_A_VERSION = 100
EVENTS_A_VERSION = 4 * CALLS_A_VERSION
"""About how many events lie between two versions of the file that runs write."""

FIRST_US = 1_763_750_000_000_000
OPENING = b'[{"role":"user","content":"one sheet per category"}]'
TEXT = "what the model said, or what it was shown, in some words; " * 2
TABLES = PluginUsed("kbd_tables", "0.1.0", "f" * 64)


class Unsynced(Disk):
    """A disk that syncs nothing: the log is only made to be read."""

    def fsync(self, fd: int) -> None:
        """Do nothing."""

    def fdatasync(self, fd: int) -> None:
        """Do nothing."""


def content(version: int) -> bytes:
    """The bytes of a version of the file that a run writes."""
    return hashlib.sha256(b"%d" % version).digest() * 640


def blob(version: int) -> BlobHash:
    """The hash of such a version."""
    return BlobHash(hashlib.sha256(content(version)).hexdigest())


def keep_blobs(store: BlobStore, versions: int) -> None:
    """Keep what the first runs' events name: 20 KB a version, and the opening messages."""
    store.put_bytes(OPENING)
    for version in range(versions):
        store.put_bytes(content(version))


def history(events: int, run_events: int = RUN_EVENTS) -> Iterator[Recorded]:
    """The events of a workbench: runs of so many, one behind the other, that call and write.

    Every hundredth call writes a new version of a file; the first one opens the draft.
    """
    opening, shown = BlobHash(hashlib.sha256(OPENING).hexdigest()), '{"rows":12}' + TEXT
    run, calls, turn = 0, 0, 0

    def record(event: Event) -> Recorded:
        return codec.wrap_event(event, FIRST_US + seq * 1000, run, seq if run else 0)

    seq = 1
    yield record(WorkbenchCreated(BENCH, "bench"))
    while seq < events:
        run += 1
        made: list[Event] = [UserMessageAdded(f"m{run}", TEXT), RunStarted(f"m{run}", "p:m")]
        made += [PhaseStarted(Phase.IMPLEMENT)]
        while len(made) < run_events - 5:
            turn, calls = turn + 1, calls + 1
            call = ReplyCall(CallId(f"c{calls}"), "table_query", '{"query":"select 1"}')
            made.append(ModelRequested("p:m", turn, opening, "auto", ("table_query",)))
            made.append(ModelReplied(TEXT, (call,), "tool_calls", Usage(1200, 300)))
            made.append(ToolCalled(call.id, calls, call.name, "kbd_tables 0.1.0"))
            if not calls % CALLS_A_VERSION:
                version, name = calls // CALLS_A_VERSION, FileName("out.xlsx")
                if version == 1:
                    made.append(DraftOpened("d1"))
                    made.append(FileChanged(name, None, blob(1), 20480, 0, call.id))
                else:
                    before, after = blob(version - 1), blob(version)
                    made.append(FileChanged(name, before, after, 20480, 20480, call.id))
            made.append(
                ToolReturned(
                    call.id,
                    calls,
                    ok=True,
                    shown=shown,
                    size_bytes=len(shown),
                    duration_ms=12,
                    fingerprint="f" * 16,
                    saw=seq + len(made) - 1,
                    worked=(TABLES,),
                )
            )
        made.append(RunFinished(has_draft=False))
        # Cut at the end: the last run is still under way.
        for event in made[: events - seq]:
            seq += 1
            yield record(event)


def make(directory: Path, events: int, run_events: int = RUN_EVENTS) -> None:
    """Write such a log."""
    log = EventLog.open(directory, disk=Unsynced())
    batch: list[Recorded] = []
    for record in history(events, run_events):
        batch.append(record)
        if len(batch) == COMMIT:
            log.append(batch)
            batch = []
    if batch:
        log.append(batch)
    log.close()
    os.sync()
