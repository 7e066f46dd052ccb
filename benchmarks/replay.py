"""What reading a log costs: `python benchmarks/replay.py [rounds]`.

A log of mixed events with an average size of about 200 bytes, 1 or 8 events a commit; the state
is folded by a table by type. By processor time:

    EventLog.replay  as the daemon does it: blocks, checksums, links, typed decoding, fold
    hand-written     the whole file at once, one loop, the same checks and fold, nothing else
    eventsourcing    repository.get of an aggregate with so many events, on SQLite

and the survey that recovery and `kbd verify` make, against a bare walk from header to header.
"""

import gc
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union
from zlib import crc32

import msgspec
from eventsourcing.application import Application

from benchmarks._measure import gate, interleave, table
from benchmarks.append import Run
from kbd.events import EventLog, codec
from kbd.events.base import Recorded
from kbd.events.disk import Disk
from kbd.events.drafts import FileChanged
from kbd.events.frame import BODY_AT, HEADER_BYTES, SEGMENT_BYTES
from kbd.events.runs import ItemStarted, ModelReplied, ModelRequested, ToolCalled, ToolReturned
from kbd.events.scan import survey_log
from kbd.events.segment import open_segment
from kbd.messages import Usage
from kbd.types import BlobHash, CallId, FileName, Seq

EVENTS = 20_000
PEER_EVENTS = 2_000
SEGMENT = 1 << 30
"""One segment, so that the hand-written loop needs no second file."""


class Unsynced(Disk):
    """A disk that syncs nothing: the log is only made to be read."""

    def fsync(self, fd: int) -> None:
        """Do nothing."""

    def fdatasync(self, fd: int) -> None:
        """Do nothing."""


def event(n: int) -> Recorded:
    """The n-th event of a run as runs look: mostly calls, results and turns."""
    blob, call = BlobHash("a" * 64), CallId(f"call_{n:08}")
    text = "what the model said, or what it was shown, in some words; " * 2
    match n % 8:
        case 0 | 1:
            data: Any = ToolCalled(call, n, "table_query", "kbd_tables 0.1.0")
        case 2 | 3:
            data = ToolReturned(call, n, ok=True, shown=text, duration_ms=12, fingerprint="f" * 16)
        case 4:
            data = ModelRequested(
                "openai:some-model", n, blob, "auto", ("read_file", "table_query")
            )
        case 5:
            data = ModelReplied(text, (), "stop", Usage(1200, 300))
        case 6:
            data = FileChanged(FileName(f"out/{n % 50}.xlsx"), None, blob, n)
        case _:
            data = ItemStarted(n % 40)
    return codec.wrap_event(data, 1_763_750_000_000_000 + n, n // 500, n)


def make(directory: Path, batch: int) -> None:
    """Write the log."""
    log = EventLog.open(directory, segment_bytes=SEGMENT, disk=Unsynced())
    for n in range(0, EVENTS, batch):
        log.append([event(n + k) for k in range(batch)])
    log.close()


class State:
    """What is folded: a few counts and maps for each run."""

    def __init__(self) -> None:
        self.calls: dict[int, int] = {}
        self.open: dict[int, CallId | None] = {}
        self.tokens = 0
        self.files: dict[FileName, BlobHash | None] = {}
        self.item = 0
        self.turn = 0

    def called(self, record: Recorded) -> None:
        """A call is open."""
        self.calls[record.run] = self.calls.get(record.run, 0) + 1
        self.open[record.run] = record.data.call_id

    def returned(self, record: Recorded) -> None:
        """No call is open."""
        self.open[record.run] = None

    def requested(self, record: Recorded) -> None:
        """A turn began."""
        self.turn = record.data.turn

    def replied(self, record: Recorded) -> None:
        """Tokens were spent."""
        usage = record.data.usage
        self.tokens += usage.input_tokens + usage.output_tokens

    def changed(self, record: Recorded) -> None:
        """A file is another."""
        self.files[record.data.name] = record.data.after

    def item_started(self, record: Recorded) -> None:
        """An item began."""
        self.item = record.data.item


def folds(state: State) -> dict[type, Callable[[Recorded], None]]:
    """The fold of each type."""
    return {
        ToolCalled: state.called,
        ToolReturned: state.returned,
        ModelRequested: state.requested,
        ModelReplied: state.replied,
        FileChanged: state.changed,
        ItemStarted: state.item_started,
    }


def replayed(log: EventLog) -> State:
    """The state, by `EventLog.replay`."""
    state = State()
    table_by_type = folds(state)

    def apply(_: Seq, record: Recorded) -> None:
        table_by_type[type(record.data)](record)

    log.replay(apply)
    return state


def decoder() -> msgspec.msgpack.Decoder[list[Any]]:
    """A typed decoder of a body, made of the classes that the codec makes."""
    kinds = {type(event(n)) for n in range(8)}
    return msgspec.msgpack.Decoder(list[Union[tuple(kinds)]])  # type: ignore[misc]  # noqa: UP007


def by_hand(path: Path, decode: Callable[[memoryview], list[Any]]) -> State:
    """The state, by one loop over the file's bytes."""
    state = State()
    table_by_type = folds(state)
    header = open_segment(path).header
    unpack, previous, seed = struct.Struct("<IIIIQ").unpack_from, header.checksum, header.seed
    gc.disable()
    view, at = memoryview(path.read_bytes()), SEGMENT_BYTES
    end = len(view)
    while at < end:
        _, checksum, length, before, _ = unpack(view, at)
        stop = at + HEADER_BYTES + length
        if crc32(view[at + 8 : stop], seed) != checksum or before != previous:
            raise ValueError(at)
        for record in decode(view[at + BODY_AT : stop]):
            table_by_type[type(record.data)](record)
        previous, at = checksum, stop
    gc.enable()
    return state


def walked(path: Path) -> int:
    """The number of frames, by their headers alone."""
    unpack = struct.Struct("<IIIIQ").unpack_from
    view, at, frames = memoryview(path.read_bytes()), SEGMENT_BYTES, 0
    end = len(view)
    while at < end:
        at += HEADER_BYTES + unpack(view, at)[2]
        frames += 1
    return frames


def peer(folder: Path) -> Callable[[], object]:
    """A reconstruction by eventsourcing."""
    name = str(folder / "es.db")
    app = Application[Any](
        env={"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": name}
    )
    run = Run()
    for n in range(PEER_EVENTS):
        run.tool_returned(call_id=f"call_{n:08}", entry_id=n, shown="x" * 110)
        if n % 500 == 0:
            app.save(run)
    app.save(run)
    return lambda: app.repository.get(run.id)


def spent(work: Callable[[], object], events: int) -> float:
    """Processor time an event, in microseconds."""
    gc.collect()
    start = time.process_time()
    work()
    return (time.process_time() - start) / events * 1e6


def measure(folder: Path, batch: int, rebuild: Callable[[], object], rounds: int) -> None:
    """Replay and survey a log of commits of so many events."""
    directory = folder / f"log-{batch}"
    make(directory, batch)
    log = EventLog.open(directory)
    (path,) = directory.glob("*.kbl")
    decode = decoder().decode
    assert vars(replayed(log)) == vars(by_hand(path, decode))
    found = interleave(
        {
            "EventLog.replay": lambda: spent(lambda: replayed(log), EVENTS),
            "hand-written": lambda: spent(lambda: by_hand(path, decode), EVENTS),
            "eventsourcing": lambda: spent(rebuild, PEER_EVENTS),
            "survey": lambda: spent(lambda: survey_log(directory), EVENTS),
            "survey with chain": lambda: spent(lambda: survey_log(directory, chained=True), EVENTS),
            "bare walk": lambda: spent(lambda: walked(path), EVENTS),
        },
        rounds,
    )
    size = path.stat().st_size / EVENTS
    table(f"{EVENTS:,} events of {size:.0f} B, {batch} a commit", "us/event", found, "hand-written")
    print()
    replay = found["EventLog.replay"]
    gate("replay against hand-written", found["hand-written"] / replay, least=0.8)
    gate("replay against eventsourcing", found["eventsourcing"] / replay, least=9)
    gate("survey against bare walk", found["bare walk"] / found["survey"], least=0.5)
    log.close()


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    with tempfile.TemporaryDirectory() as name:
        rebuild = peer(Path(name))
        for batch in (1, 8):
            measure(Path(name), batch, rebuild, rounds)


if __name__ == "__main__":
    main()
