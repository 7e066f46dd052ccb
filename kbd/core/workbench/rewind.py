"""Undo to a message, and restore of a checkpoint.

The earlier state is read by folding the log up to that event, from a snapshot on; what it takes in
published/ is carried out like a publish, so that a restart completes it from wherever a crash
stopped it.
"""

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RestoreCheckpoint, Rewind
from kbd.core.domain.rewind_decisions import (
    differences,
    find_checkpoint,
    find_message,
    rewind_event,
)
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.clock import Clock
from kbd.core.workbench.file_store import refuse_collected
from kbd.core.workbench.publish import carry_out, intend, published_hashes
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileWriteFailed, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.drafts import PlannedFile
from kbd.events.workbenches import ConversationRewound
from kbd.types import BlobHash, FileName

__all__ = ["RewindResult", "restore_checkpoint", "rewind_to"]


class RewindResult(msgspec.Struct, frozen=True):
    """Outcome of an undo or a restore.

    Args:
        files: The published files that changed.
        checkpoint_id: The checkpoint of what they were until now; "" if none changed.
    """

    files: tuple[FileName, ...] = ()
    checkpoint_id: str = ""


async def rewind_to(
    workbench: OpenWorkbench,
    clock: Clock,
    message_id: str,
    reason: Literal["undo", "regenerate"] = "undo",
    check: Callable[[WorkbenchState], None] = lambda _: None,
) -> RewindResult:
    """Undo to a message: conversation, files, draft and runs become what they were at it.

    Args:
        workbench: The workbench.
        clock: Names the publish that it may take.
        message_id: The message, of the person or an answer; it may be one that was cut off.
        reason: "undo" or "regenerate".
        check: Sees the workbench as it will stand, and may refuse; it may change what it sees.

    Raises:
        NotFound: There is no such message.
        ValidationFailed: It is no message, or a run or a publish is under way.
        ConflictPublishedChanged: Somebody changed a published file that would be replaced.
        BlobCollected: Bytes that would be needed were removed on purpose; nothing was done.
        FileWriteFailed: Bytes that would be needed are damaged or missing; nothing was done.
        KbdError: The disk is full or fails; the next start, or call, completes it.
    """
    message = find_message(workbench.state, message_id)
    then = await run_sync(workbench.state_at, message.seq)
    back = rewind_event(then, message_id, reason)
    check(then)
    async with _publish_lock(workbench, clock):
        planned = differences(workbench.state, back.files)
        # Before the intent: once that is recorded there is no way back.
        await run_sync(_check_blobs, workbench.blobs.store, _needed_blobs(planned, back))
        found = await run_sync(published_hashes, workbench, [file.name for file in planned])
        publish_id = clock.new_id()
        command = Rewind(back, publish_id, found)
        # With nothing to rename it is done when it is recorded.
        if not planned:
            await workbench.submit(command)
            return RewindResult()
        return await _carry_out_plan(workbench, clock, planned, publish_id, command)
    raise AssertionError  # A scope that nobody cancels swallows nothing.


async def restore_checkpoint(
    workbench: OpenWorkbench, clock: Clock, checkpoint_id: str
) -> RewindResult:
    """Restore the published files of a checkpoint.

    Args:
        workbench: The workbench.
        clock: Names the publish that it takes.
        checkpoint_id: Which.

    Raises:
        NotFound: There is no such checkpoint.
        ValidationFailed: A draft is open, or a run or a publish is under way.
        ConflictPublishedChanged: Somebody changed a published file that would be replaced.
        BlobCollected: Bytes that would be needed were removed on purpose; nothing was done.
        FileWriteFailed: Bytes that would be needed are damaged or missing; nothing was done.
        KbdError: The disk is full or fails; the next start, or call, completes it.
    """
    files = find_checkpoint(workbench.state, checkpoint_id).files
    async with _publish_lock(workbench, clock):
        planned = differences(workbench.state, files)
        await run_sync(_check_blobs, workbench.blobs.store, _needed_blobs(planned))
        found = await run_sync(published_hashes, workbench, [file.name for file in planned])
        publish_id = clock.new_id()
        command = RestoreCheckpoint(checkpoint_id, publish_id, found)
        return await _carry_out_plan(workbench, clock, planned, publish_id, command)
    raise AssertionError  # A scope that nobody cancels swallows nothing.


@asynccontextmanager
async def _publish_lock(workbench: OpenWorkbench, clock: Clock) -> AsyncIterator[None]:
    """Hold the publish lock, after completing what a full disk had stopped.

    Shielded: a client that goes away between intent and outcome must not leave it half done.
    """
    # Refused, not queued: the state that was looked at would be another one by then.
    if workbench.publishing.locked() and workbench.state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)
    with anyio.CancelScope(shield=True):
        async with workbench.publishing:
            if workbench.state.publish is not None:
                await carry_out(workbench, clock)
            yield


async def _carry_out_plan(
    workbench: OpenWorkbench,
    clock: Clock,
    planned: tuple[PlannedFile, ...],
    publish_id: str,
    command: Rewind | RestoreCheckpoint,
) -> RewindResult:
    """Stage what is planned, record the intent and carry it out."""
    transaction = workbench.files.transaction(publish_id, planned)
    await intend(workbench, transaction, command)
    done = await carry_out(workbench, clock, transaction=transaction)
    return RewindResult(done.published, done.checkpoint_id)


def _needed_blobs(
    planned: tuple[PlannedFile, ...], back: ConversationRewound | None = None
) -> list[tuple[FileName, BlobHash]]:
    """Return the blobs that a plan needs, each with its file's name."""
    needed = [(file.name, file.new) for file in planned if file.new is not None]
    if back is not None and back.draft is not None:
        needed += [(file.name, file.blob) for file in back.draft.files if file.blob is not None]
    return needed


def _check_blobs(store: BlobStore, needed: Collection[tuple[FileName, BlobHash]]) -> None:
    looked = store.verify({blob for _, blob in needed})
    refuse_collected(store, needed, looked.missing)
    harmed = {*looked.damaged, *looked.missing}
    if harmed:
        lost = ", ".join(sorted({name for name, blob in needed if blob in harmed}))
        msg = f"the bytes are damaged or missing of: {lost}; nothing was changed"
        raise FileWriteFailed(msg)
