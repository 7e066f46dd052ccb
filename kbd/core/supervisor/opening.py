"""From a folder on disk to a live workbench: open the log, fold it, finish what was begun."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.core.agent import write_copies
from kbd.core.bench import Bench, draft_view
from kbd.core.clock import Clock
from kbd.core.decisions import Command, InterruptRun, Record, decide
from kbd.core.draft import Blobs, FileStore
from kbd.core.journal import Journal
from kbd.core.keeper import Keeper
from kbd.core.paths import WorkbenchFolders
from kbd.core.review import carry_out, forget_effects
from kbd.core.state import WorkbenchState, fold_workbench
from kbd.errors import DiskFull, FileWriteFailed, LogCorrupt
from kbd.events import snapshots
from kbd.events.blobs import BlobStore
from kbd.events.disk import SyncError, is_full
from kbd.events.log import EventLog
from kbd.events.workbenches import WorkbenchCreated
from kbd.types import Seq, WorkbenchId

__all__ = ["close_bench", "open_bench", "recover"]

SNAPSHOT_EVENTS = 2000
"""A snapshot is taken at close when so many events came since the last one (4 ms of replay)."""


async def open_bench(folders: WorkbenchFolders, clock: Clock) -> Bench:
    """Open a workbench's log and fold it; nothing is changed but a torn end.

    Raises:
        DiskFull: There is no space for what recovery must write.
        FileWriteFailed: The workbench's folder cannot be written.
        LogPoisoned: The disk does not make the log durable.
    """
    with _told_as_ours():
        await run_sync(_prepare, folders)
    snapshot = await run_sync(snapshots.load, folders.snap, _schema())
    trusted = snapshot.seq if snapshot else Seq(0)
    log = await run_sync(partial(EventLog.open, folders.log, trusted=trusted))
    keeper: Keeper[WorkbenchState, Command] = Keeper(
        Journal(log),
        blank=WorkbenchState,
        fold=fold_workbench,
        decide=decide,
        clock=clock,
    )
    copies = None
    if snapshot is not None and await run_sync(log.chain_at, snapshot.seq) == snapshot.head:
        copies = await run_sync(_copies, snapshot.payload)
    try:
        await keeper.load(copies)
    except LogCorrupt:
        pass  # The log has it as its damage; what came before is folded and can be read.
    store = BlobStore(folders.blobs)
    files = await run_sync(FileStore, folders.published, folders.draft, folders.stage, store)
    return Bench(folders=folders, keeper=keeper, blobs=Blobs(store), files=files)


async def recover(bench: Bench, clock: Clock, workbench_id: WorkbenchId, name: str) -> None:
    """Finish or close what a stopped daemon had begun; its Keeper is running.

    A workbench whose log is damaged is left as it is, for reading.

    Raises:
        KbdError: The disk is full or fails.
    """
    if bench.damage is not None:
        return
    with _told_as_ours():
        await _recover(bench, clock, workbench_id, name)


async def _recover(bench: Bench, clock: Clock, workbench_id: WorkbenchId, name: str) -> None:
    if bench.state.seq == 0:
        await bench.keeper.submit(Record((WorkbenchCreated(workbench_id, name),)))
    if bench.keeper.journal.log.repairs:
        await bench.keeper.submit(Record(bench.keeper.journal.log.repairs))
    await bench.keeper.submit(InterruptRun("the daemon stopped meanwhile"))
    await run_sync(bench.files.clear_stage)
    await run_sync(bench.blobs.store.sweep)
    if bench.state.publish is not None:
        await carry_out(bench, clock)
    await forget_effects(bench)
    await run_sync(bench.files.remove_leftovers, dict(bench.state.removed))
    published = {name: entry.blob for name, entry in bench.state.files.items()}
    await run_sync(bench.files.restore_missing, published)
    await run_sync(bench.files.show_draft, draft_view(bench.state))
    await write_copies(bench.folders.workshop, bench.state, anew=True)


async def close_bench(bench: Bench, loaded: Seq) -> None:
    """Close a workbench whose Keeper has stopped; take a snapshot if much came since `loaded`."""
    with anyio.CancelScope(shield=True):
        state, log = bench.state, bench.keeper.journal.log
        if bench.damage is None and state.seq - loaded >= SNAPSHOT_EVENTS:
            payload = await run_sync(msgspec.msgpack.encode, state)
            await run_sync(
                snapshots.save, bench.folders.snap, state.seq, log.head, _schema(), payload
            )
        await bench.keeper.journal.aclose()
        bench.files.close()
        await run_sync(_mark_closed, bench.folders)


@contextmanager
def _told_as_ours() -> Iterator[None]:
    """Raise what the system says of a workbench's folder as an error that clients know.

    A log that cannot be made durable stays what it is: the daemon stops for it.
    """
    try:
        yield
    except SyncError:
        raise
    except OSError as error:
        if is_full(error):
            raise DiskFull("no space is left to open the workbench") from error
        reason = os.strerror(error.errno or 0)
        raise FileWriteFailed(f"the workbench cannot be opened: {reason}") from error


def _prepare(folders: WorkbenchFolders) -> None:
    folders.create()
    folders.open_mark.touch(mode=0o600)


def _mark_closed(folders: WorkbenchFolders) -> None:
    folders.open_mark.unlink(missing_ok=True)


def _copies(payload: bytes) -> tuple[WorkbenchState, WorkbenchState]:
    decoder = msgspec.msgpack.Decoder(WorkbenchState)
    return decoder.decode(payload), decoder.decode(payload)


@lru_cache(maxsize=1)
def _schema() -> str:
    """Name the shape of the state: another shape, or another kbd, and snapshots are not used."""
    shape = msgspec.json.encode(msgspec.json.schema(WorkbenchState))
    return f"{__version__}-{hashlib.sha256(shape).hexdigest()[:16]}"
