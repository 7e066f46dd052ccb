"""What a long log costs at a start and in a check: `python benchmarks/starting.py [rounds]`.

By processor time, on a workbench of 100,000 and of 1,000,000 events in runs of a thousand:

    opened, replayed      open_workbench as the daemon calls it, with no snapshot
    opened, snapshot      the same with a snapshot from a thousand events before the end
    hand-written loop     the files at once, checksums, links, typed decoding, the same two folds
    raw read              all bytes of the log, and nothing done with them

and, of the same bytes, the check that `kbd verify` makes, of the log and of the blobs that it
names, against a loop that computes checksums and hashes, decodes, and asks nothing.
"""

import gc
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio

from benchmarks._history import BENCH, EVENTS_A_VERSION, Unsynced, keep_blobs, make
from benchmarks._measure import gate, interleave, table
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.runtime.secrets import Secrets
from kbd.core.sessions.recovery import open_workbench
from kbd.core.store.redaction import Redaction
from kbd.core.store.snapshots import workbench_snapshots
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events import BlobStore, codec
from kbd.events.frame import BODY_AT, HEADER_BYTES, SEGMENT_BYTES
from kbd.events.segment import open_segment
from kbd.events.verification import verify_log
from kbd.types import Seq

SIZES = (100_000, 1_000_000)
TAIL = 1_000
NO_KEYS = Redaction(Secrets(Home(Path("/nowhere"), Path("/nowhere/s")), {}))
LEAST = {100_000: 6.0, 1_000_000: 20.0}
"""By how many events, how many times as long a start without a snapshot must take."""


async def _opened(folders: WorkbenchFolders) -> OpenWorkbench:
    bench = await open_workbench(folders, SystemClock(), NO_KEYS)
    await bench.keeper.journal.aclose()
    bench.files.close()
    return bench


def started(folders: WorkbenchFolders, events: int) -> WorkbenchState:
    """Open a workbench and close it as it was."""
    bench = anyio.run(_opened, folders)
    assert bench.state.seq == events
    return bench.state


def started_anew(folders: WorkbenchFolders, events: int) -> WorkbenchState:
    """Do the same with its snapshots out of the way."""
    aside = folders.root / "aside"
    folders.snap.rename(aside)
    try:
        return started(folders, events)
    finally:
        folders.snap.rmdir()
        aside.rename(folders.snap)


def files(folders: WorkbenchFolders) -> list[Path]:
    """The segments, in order."""
    return sorted(folders.log.glob("*.kbl"))


def by_hand(folders: WorkbenchFolders) -> WorkbenchState:
    """Two copies of the state, by one loop over the files' bytes; the second one is thrown away."""
    first, second = WorkbenchState(), WorkbenchState()
    unpack, crc32 = struct.Struct("<IIIIQ").unpack_from, _crc32()
    seq = 0
    gc.disable()
    for path in files(folders):
        header = open_segment(path).header
        previous, seed, data = header.checksum, header.seed, path.read_bytes()
        view, at, end = memoryview(data), SEGMENT_BYTES, len(data)
        while at < end:
            _, checksum, length, before, _ = unpack(view, at)
            stop = at + HEADER_BYTES + length
            if crc32(view[at + 8 : stop], seed) != checksum or before != previous:
                raise ValueError(at)
            for record in codec.decode_current(view[at + BODY_AT : stop]):
                seq += 1
                fold_workbench(first, Seq(seq), record)
                fold_workbench(second, Seq(seq), record)
            previous, at = checksum, stop
    gc.enable()
    return first


def hashed(folders: WorkbenchFolders) -> int:
    """Checksums, hashes and records of all frames, and the blobs' hashes; returns how many."""
    unpack, crc32, frames, chain = struct.Struct("<IIIIQ").unpack_from, _crc32(), 0, bytes(32)
    for path in files(folders):
        seed, data = open_segment(path).header.seed, path.read_bytes()
        view, at, end = memoryview(data), SEGMENT_BYTES, len(data)
        while at < end:
            _, checksum, length, _, _ = unpack(view, at)
            stop = at + HEADER_BYTES + length
            hasher = sha256(chain)
            hasher.update(view[at + BODY_AT : stop])
            chain = hasher.digest()
            if crc32(view[at + 8 : stop], seed) != checksum:
                raise ValueError(at)
            codec.decode_current(view[at + BODY_AT : stop])
            frames, at = frames + 1, stop
    for path in folders.blobs.glob("*/*"):
        if sha256(path.read_bytes()).hexdigest() != path.name:
            raise ValueError(path)
    return frames


def _crc32() -> Callable[[memoryview, int], int]:
    """The log's own: both sides compute it as fast."""
    from isal.isal_zlib import crc32  # noqa: PLC0415 - untyped, and only here

    found: Callable[[memoryview, int], int] = crc32
    return found


def read(folders: WorkbenchFolders) -> int:
    """All bytes of the log."""
    return sum(len(path.read_bytes()) for path in files(folders))


def spent(work: Callable[[], object]) -> float:
    """Processor time, in milliseconds."""
    gc.collect()
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def prepared(folder: Path, events: int) -> WorkbenchFolders:
    """A workbench with so many events, and a snapshot from near their end."""
    folders = WorkbenchFolders(id=BENCH, root=folder / str(events))
    folders.create()
    make(folders.log, events)
    keep_blobs(BlobStore(folders.blobs, Unsynced()), events // EVENTS_A_VERSION + 2)
    assert workbench_snapshots(folders.log, folders.snap).renew(Seq(events - TAIL))
    return folders


def measure(folder: Path, events: int, rounds: int) -> None:
    """Open and check a workbench of so many events."""
    folders = prepared(folder, events)
    assert started(folders, events) == started_anew(folders, events) == by_hand(folders)
    found = interleave(
        {
            "opened, replayed": partial(spent, partial(started_anew, folders, events)),
            "opened, snapshot": partial(spent, partial(started, folders, events)),
            "hand-written loop": partial(spent, partial(by_hand, folders)),
            "raw read": partial(spent, partial(read, folders)),
        },
        rounds,
    )
    size = read(folders)
    table(f"start: {events:,} events, {size / 1e6:.0f} MB", "ms", found, "hand-written loop")
    whole, short = found["opened, replayed"], found["opened, snapshot"]
    gate("hand-written loop against a start without", found["hand-written loop"] / whole, least=0.8)
    gate("a start without a snapshot against one with", whole / short, least=LEAST[events])

    store = BlobStore(folders.blobs)
    checked = verify_log(folders.log, store)
    assert checked.is_whole
    assert checked.frames == hashed(folders)
    found = interleave(
        {
            "verify": partial(spent, partial(verify_log, folders.log, store)),
            "hashes, checksums, records": partial(spent, partial(hashed, folders)),
            "raw read": partial(spent, partial(read, folders)),
        },
        rounds,
    )
    title = f"verify: {events:,} events, {checked.blobs_checked:,} blobs"
    table(title, "ms", found, "hashes, checksums, records")
    ratio = found["hashes, checksums, records"] / found["verify"]
    gate("bare hashing and decoding against verify", ratio, least=0.45)


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        for events in SIZES:
            measure(Path(name), events, rounds if events < SIZES[-1] else min(rounds, 3))


if __name__ == "__main__":
    main()
