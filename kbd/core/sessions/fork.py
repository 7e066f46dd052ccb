"""Fork of a workbench: its bytes and log are durable before the new one is announced.

The commit point is the daemon's log, as for every workbench. What a crash leaves before it is a
folder with a mark, which the next start removes.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.workbench_decisions import check_forkable, fork_events, fork_point
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.recovery import translate_disk_errors
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileReadFailed, NotFound, SandboxViolation
from kbd.events.base import Actor
from kbd.events.blobs import BlobStore
from kbd.events.codec import wrap_event
from kbd.events.disk import DISK
from kbd.events.log import EventLog
from kbd.events.vocabulary import Event, named_blobs
from kbd.events.workbenches import WorkbenchCreated, WorkbenchForked
from kbd.types import BlobHash, ForkMode, Seq, WorkbenchId

__all__ = ["fork_workbench"]


async def fork_workbench(
    context: ApiContext,
    workbenches: Workbenches,
    source_id: WorkbenchId,
    mode: ForkMode,
    name: str,
    *,
    message_id: str | None = None,
    seq: Seq | None = None,
    actor: Actor | None = None,
) -> WorkbenchId:
    """Fork a workbench, as it is or as it was at a point, and return the fork's id.

    Args:
        context: The daemon's.
        workbenches: All workbenches.
        source_id: The other one.
        mode: How much of it.
        name: For people.
        message_id: The message after which it stood so, or None.
        seq: The event after which it did, or None; the last one if neither is named.
        actor: The client that asks, if one does.

    Raises:
        NotFound: There is no such workbench or message.
        ValidationFailed: A draft is open in it, a run or a publish under way; or the point is none.
        LogCorrupt: Its log is damaged before the point; if none is named, anywhere.
        FileReadFailed: Bytes of it are damaged or missing.
        DiskFull: No space is left; there is no fork.
    """
    source = await workbenches.open(source_id)
    if source.damage is None:
        check_forkable(source.state)
    elif message_id is None and seq is None:
        raise source.damage.with_traceback(None)
    point = fork_point(source.state, message_id, seq)
    then = await run_sync(source.state_at, point)
    forked = WorkbenchForked(source.id, mode, point, message_id or "")
    workbench_id = WorkbenchId(context.clock.new_id())
    folders = context.home.workbench(workbench_id)
    try:
        with translate_disk_errors():
            await _prepare(folders, context, source, name, fork_events(then, forked), actor)
        # The commit point: from here on a start keeps the folder, mark or none.
        await workbenches.create(name, workbench_id, actor=actor)
    except BaseException:
        if workbench_id not in workbenches.ids():
            # Shielded: what a canceled call leaves would lie there until the next start.
            with anyio.CancelScope(shield=True):
                await run_sync(_remove_folder, folders.root)
        raise
    await run_sync(folders.fork_mark.unlink)
    return workbench_id


async def _prepare(
    folders: WorkbenchFolders,
    context: ApiContext,
    source: OpenWorkbench,
    name: str,
    facts: Sequence[Event],
    actor: Actor | None,
) -> None:
    """Make the folder with its blobs and its log, all durable."""
    await run_sync(_create, folders)
    store = BlobStore(folders.blobs, context.usage.disk)
    await run_sync(store.kept.add, ())
    for blob in dict.fromkeys(blob for fact in facts for blob in named_blobs(fact)):
        await run_sync(_copy_blobs, source.blobs.store, store, blob)
    await run_sync(_write_log, folders, context.clock.now_us(), name, facts, actor)


def _create(folders: WorkbenchFolders) -> None:
    folders.root.mkdir(mode=0o700)
    # The mark before the contents: a start removes an unknown folder only if it has the mark.
    folders.fork_mark.touch(mode=0o600)
    folders.create()


def _copy_blobs(source: BlobStore, target: BlobStore, blob: BlobHash) -> None:
    """Copy bytes; those of a link to them would be damaged with them."""
    try:
        copied, _ = target.put_file(source.path(blob))
    except (NotFound, SandboxViolation, FileReadFailed):
        copied = BlobHash("")
    if copied != blob:
        msg = "bytes of that workbench are damaged or missing: see `kbd verify`; nothing was forked"
        raise FileReadFailed(msg, detail={"blob": blob})


def _write_log(
    folders: WorkbenchFolders,
    now_us: int,
    name: str,
    facts: Sequence[Event],
    actor: Actor | None,
) -> None:
    log = EventLog.open(folders.log)
    try:
        for frame in ([WorkbenchCreated(folders.id, name)], facts):
            log.append([wrap_event(fact, now_us, actor=actor) for fact in frame])
    finally:
        log.close()
    # The names, too, are durable before the daemon's log names the fork.
    for folder in (folders.root, folders.root.parent):
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        DISK.fsync(held)
    finally:
        os.close(held)


def _remove_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
