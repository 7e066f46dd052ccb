"""Recovery of workbenches: opens and folds a log, finishes what a stopped daemon had begun."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import anyio
from anyio.to_thread import run_sync

from kbd.core.agent.readable_copies import (
    clear_unfinished,
    copy_texts,
    has_tool_log,
    write_copies,
    write_tool_log,
)
from kbd.core.domain.commands import Command, InterruptRun, RecordFacts
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench
from kbd.core.domain.decide import decide
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.state_text import collection_error
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.derived_cache import drop_derived
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.runtime.private_files import tighten
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.store.redaction import Redaction
from kbd.core.store.snapshots import workbench_snapshots
from kbd.core.store.snapshotting import renew_far
from kbd.core.workbench.extraction import close_unfinished_effects
from kbd.core.workbench.file_store import Blobs, FileStore
from kbd.core.workbench.publish import carry_out
from kbd.core.workbench.workbench import OpenWorkbench, draft_view
from kbd.errors import DiskFull, FileWriteFailed, KbdError, LogCorrupt
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK, Disk, SyncError, is_full
from kbd.events.restores import WorkbenchRestored
from kbd.events.shortages import SYSTEM_FAILURES, raise_shortage
from kbd.events.workbenches import WorkbenchCreated, WorkbenchDeleted
from kbd.types import BlobHash, Seq, WorkbenchId

__all__ = [
    "close_workbench",
    "marked_open",
    "open_workbench",
    "recover_workbench",
    "sweep_workbenches",
    "translate_disk_errors",
]

SMALL_BYTES = 64 * 1024
"""What is derived from files of so many bytes is not kept when a workbench is closed: it would take
several times as much of the disk as they, and to make it again takes a few milliseconds."""

_log = get_logger(__name__)


def marked_open(home: Home, ids: Sequence[WorkbenchId]) -> list[WorkbenchId]:
    """Return which workbenches were open when the daemon died. Blocks."""
    return [each for each in ids if home.workbench(each).open_mark.exists()]


async def sweep_workbenches(home: Home, daemon: Keeper[DaemonState, DaemonCommand]) -> None:
    """Remove what is left of deleted workbenches, and of forks that did not come to be.

    Args:
        home: The home.
        daemon: The Keeper of the daemon's own log, which is whole.
    """
    left = set(await run_sync(home.workbench_ids)) - set(daemon.state.workbenches)
    if not left:
        return
    deleted: set[WorkbenchId] = set()

    def note(_seq: int, record: Recorded) -> None:
        if isinstance(record.data, WorkbenchDeleted):
            deleted.add(record.data.workbench_id)

    # Only what the log says: another folder that it does not know is somebody's.
    await daemon.journal.replay(note, Seq(0))
    for workbench_id in left:
        folders = home.workbench(workbench_id)
        if workbench_id in deleted or await run_sync(folders.fork_mark.exists):
            await run_sync(remove_tree, folders.root)


async def open_workbench(
    folders: WorkbenchFolders, clock: Clock, redaction: Redaction, disk: Disk = DISK
) -> OpenWorkbench:
    """Open a workbench's log and fold it; nothing is changed but a torn end.

    Args:
        folders: Where it lies.
        clock: Tells the time that its events carry.
        redaction: Keeps known keys out of its log and its conversation.
        disk: What writes its log, its blobs and its files.

    Raises:
        DiskFull: There is no space for what recovery must write.
        FileWriteFailed: The workbench's folder cannot be written.
        TooManyOpenFiles: No descriptor is left; none is held.
        LogPoisoned: The disk does not make the log durable.
    """
    with translate_disk_errors():
        await run_sync(_prepare_folders, folders)
    snapshots = workbench_snapshots(folders.log, folders.snap)
    await renew_far(snapshots)
    log, fold = await run_sync(snapshots.open, disk)
    keeper: Keeper[WorkbenchState, Command] = Keeper(
        Journal(log, fold.outline if fold is not None else None, rests=True),
        blank=WorkbenchState,
        fold=fold_workbench,
        decide=decide,
        clock=clock,
        redact=redaction.event,
        document_of=WorkbenchState.document_of,
    )
    store = BlobStore(folders.blobs, disk)
    store.explain_missing(lambda blob: _collection_error(keeper.state, blob))
    try:
        with translate_disk_errors():
            # One that is only read needs none of what it was opened with.
            await run_sync(log.rest)
            await _load(keeper, fold.state if fold is not None else None)
            places = folders.published, folders.draft, folders.stage
            files = await run_sync(FileStore, *places, store, disk)
    except BaseException:
        # Else each try would take descriptors away, until none was left for any.
        with anyio.CancelScope(shield=True):
            await keeper.journal.aclose()
        raise
    return OpenWorkbench(
        folders=folders,
        keeper=keeper,
        blobs=Blobs(store, redaction.data, keeper.poison),
        files=files,
        snapshots=snapshots,
    )


def _collection_error(state: WorkbenchState, blob: BlobHash) -> KbdError | None:
    """Return the error for bytes that were removed on purpose; None if they were not."""
    note = state.collected.get(blob)
    return collection_error(blob, note) if note is not None else None


async def _load(keeper: Keeper[WorkbenchState, Command], snapshot: WorkbenchState | None) -> None:
    """Fold a log into its Keeper, as far as it can be read."""
    try:
        await keeper.load(snapshot)
    except LogCorrupt:
        pass  # The log has it as its damage; what came before is folded and can be read.


async def recover_workbench(workbench: OpenWorkbench, clock: Clock, known: KnownWorkbench) -> None:
    """Finish or abort the operations that a stopped daemon left open; the Keeper is running.

    A workbench whose log is damaged is left as it is, for reading.

    Args:
        workbench: The workbench.
        clock: Names what is completed.
        known: The workbench as the daemon's log knows it.

    Raises:
        KbdError: The disk is full or fails.
    """
    if workbench.damage is not None:
        return
    with translate_disk_errors():
        await _recover_steps(workbench, clock, known)


async def _recover_steps(workbench: OpenWorkbench, clock: Clock, known: KnownWorkbench) -> None:
    # The daemon's log names a workbench first: a crash right after it leaves this one empty.
    if workbench.state.seq == 0:
        # From here on what no event names and is not marked is nobody's.
        await run_sync(workbench.blobs.store.kept.add, ())
        created = WorkbenchCreated(known.workbench_id, known.name)
        await workbench.keeper.submit(RecordFacts((created,)), known.actor)
    # Before anything is done in it: what people had agreed to in a backup is not in force.
    if known.restore_id and workbench.state.restore_id != known.restore_id:
        await workbench.keeper.submit(RecordFacts((WorkbenchRestored(known.restore_id),)))
    if workbench.keeper.journal.log.repairs:
        await workbench.keeper.submit(RecordFacts(workbench.keeper.journal.log.repairs))
    # No task works on it any more, and a run that counts as running cannot be resumed.
    await workbench.keeper.submit(InterruptRun("the daemon stopped meanwhile"))
    await _complete_publish(workbench, clock)
    await run_sync(workbench.blobs.store.sweep)
    await close_unfinished_effects(workbench)
    await run_sync(workbench.files.remove_leftovers, dict(workbench.state.removed))
    published = {name: entry.blob for name, entry in workbench.state.files.items()}
    await run_sync(workbench.files.restore_missing, published)
    await run_sync(workbench.files.show_draft, draft_view(workbench.state))
    workshop = workbench.folders.workshop
    await run_sync(clear_unfinished, workshop)
    await write_copies(workshop, copy_texts(workbench.state))
    # Only where it is gone: writing it reads the whole log, which a start must not cost.
    if workbench.state.entries and not await run_sync(has_tool_log, workshop):
        await write_tool_log(workshop, workbench.keeper.journal)


async def _complete_publish(workbench: OpenWorkbench, clock: Clock) -> None:
    """Complete what was being published, or bring it back; empty the stage of all else."""
    intended = workbench.state.publish
    if intended is None:
        await run_sync(workbench.files.clear_stage, None)
        return
    transaction = workbench.files.transaction(intended.publish_id, intended.files)
    await run_sync(workbench.files.clear_stage, transaction)
    # A durable intent is the commit point: whoever opens the log next completes it (reliability,
    # 2.5).
    try:
        await carry_out(workbench, clock, transaction=transaction)
    except KbdError as fault:
        # Brought back: the draft is there, and the next publish says what is wrong.
        if workbench.state.publish is not None:
            raise
        _log.warning("publish_given_up", workbench=workbench.id, error=fault.message)


async def close_workbench(workbench: OpenWorkbench, disk: Disk = DISK) -> None:
    """Close a workbench whose Keeper has stopped; write a snapshot if much came since the last.

    What of it is empty, or quickly made again, is not kept.
    """
    with anyio.CancelScope(shield=True):
        if workbench.damage is None:
            journal = workbench.keeper.journal
            save = partial(workbench.snapshots.save_last, workbench.state, journal.reader.outline)
            await run_sync(save, journal.log.head)
        await workbench.keeper.journal.aclose()
        workbench.files.close()
        await run_sync(_tidy, workbench, disk)
        # Last: until the log is closed, the mark tells the next start to recover this workbench.
        try:
            await run_sync(_mark_closed, workbench.folders)
        # The next start recovers it once more, which changes nothing.
        except SYSTEM_FAILURES as fault:
            _log.warning("mark_not_removed", workbench=workbench.id, exc_info=fault)


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Translate the system's errors on a workbench's folder to errors that clients know.

    A log that cannot be made durable stays what it is: the daemon stops for it.
    """
    try:
        yield
    except SyncError:
        raise
    except OSError as error:
        if is_full(error):
            raise DiskFull("no space is left to open the workbench") from error
        raise_shortage(error)
        reason = os.strerror(error.errno or 0)
        raise FileWriteFailed(f"the workbench cannot be opened: {reason}") from error


def _prepare_folders(folders: WorkbenchFolders) -> None:
    folders.create()
    tighten(folders.log, folders.root)
    # A mark that is left says that the daemon died: the next start recovers this workbench.
    folders.open_mark.touch(mode=0o600)


def _tidy(workbench: OpenWorkbench, disk: Disk) -> None:
    """Remove what a closed workbench has no use for. Blocks; what cannot be removed stays."""
    files = workbench.state.current_files()
    if sum(each.size_bytes for each in files) <= SMALL_BYTES:
        drop_derived(workbench.folders.cache)
    workbench.folders.remove_empty(disk)


def _mark_closed(folders: WorkbenchFolders) -> None:
    folders.open_mark.unlink(missing_ok=True)
