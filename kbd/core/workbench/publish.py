"""Publishing a draft as a transaction: check, stage, record the intent, carry out, record.

The new bytes are staged before `PublishIntended` is recorded, so what comes after it are renames.
From then on the publish is completed, by this daemon or the next, from wherever it stopped; if it
cannot be, published/ is brought back whole and `PublishAborted` recorded. An undo that reaches
behind a publish, and a restore, are carried out in the same way.
"""

from collections.abc import Callable, Iterable

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.approval_decisions import waiting_approval
from kbd.core.domain.commands import (
    AbortPublish,
    Command,
    CompletePublish,
    DiscardDraft,
    IntendPublish,
)
from kbd.core.domain.workbench_decisions import intend_publish
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.store.keeper import Outcome
from kbd.core.workbench.transaction import PublishTransaction, conflict_name
from kbd.core.workbench.workbench import OpenWorkbench, draft_view
from kbd.errors import DiskFull, KbdError, SandboxViolation, ValidationFailed
from kbd.events.codec import format_time
from kbd.events.disk import LogPoisoned
from kbd.events.drafts import PublishIntended
from kbd.events.shortages import SYSTEM_FAILURES, told_error
from kbd.requests import drafts
from kbd.requests.notifications import PublishPhase
from kbd.types import BlobHash, FileName

__all__ = ["carry_out", "discard", "intend", "publish", "published_hashes"]

Progress = Callable[[PublishPhase], None]

_log = get_logger(__name__)


async def publish(
    workbench: OpenWorkbench,
    clock: Clock,
    *,
    names: tuple[FileName, ...] | None,
    keep_both: bool,
    accept_external: bool,
    progress: Progress,
    approval_id: str = "",
) -> drafts.DraftPublished:
    """Publish the draft, or some of its files.

    Args:
        workbench: The workbench.
        clock: Names the publish.
        names: Which files, or None for all.
        keep_both: Whether a file that changed in published/ meanwhile gets a second name.
        accept_external: Whether files with new active content may go.
        progress: Takes how far it is.
        approval_id: The pending approval that a person accepts by it, or "".

    Raises:
        NotFound: There is no such approval, or no such file in the draft.
        ValidationFailed: There is no draft, or a person has to confirm something first.
        ConflictPublishedChanged: Published files changed since the draft began.
        KbdError: The disk is full or fails, or stored bytes are damaged; nothing was published, or
            the error says that it will be completed.
    """
    # Shielded: a client that goes away between intent and outcome must not leave the draft held.
    with anyio.CancelScope(shield=True):
        async with workbench.publishing:
            pending = workbench.state.publish
            if pending is not None:  # Its end could not be recorded: the disk was full.
                completed = await carry_out(workbench, clock, progress)
                left = draft_view(workbench.state)
                is_back = pending.rewind is not None or bool(pending.restores)
                nothing_left = not left or (names is not None and left.keys().isdisjoint(names))
                if nothing_left and not is_back:
                    return completed
            transaction = await _stage_draft(
                workbench,
                clock,
                names=names,
                keep_both=keep_both,
                accept_external=accept_external,
                progress=progress,
                approval_id=approval_id,
            )
            progress("swap_directories")
            return await carry_out(workbench, clock, progress, transaction)
    raise AssertionError  # A scope that nobody cancels swallows nothing.


async def _stage_draft(
    workbench: OpenWorkbench,
    clock: Clock,
    *,
    names: tuple[FileName, ...] | None,
    keep_both: bool,
    accept_external: bool,
    progress: Progress,
    approval_id: str,
) -> PublishTransaction:
    """Stage what is to be published, and record the intent."""
    progress("validating")
    if approval_id:  # Who decides second is told so, though there may be no draft any more.
        waiting_approval(workbench.state, approval_id)
    drafted = tuple(draft_view(workbench.state))
    if not drafted:
        msg = "draft not found: there is nothing to publish"
        raise ValidationFailed(msg)
    progress("conflict_check")
    # Read anew from disk: people may have changed published/ with their own programs. What is not
    # asked for does not matter, whatever stands there.
    wanted = drafted if names is None else tuple(name for name in drafted if name in names)
    found = await run_sync(published_hashes, workbench, wanted)
    publish_id = clock.new_id()
    # Named before the intent, so that whoever completes it after a crash takes the same names.
    free = {name: conflict_name(name, publish_id) for name in drafted}
    command = IntendPublish(
        publish_id=publish_id,
        names=names,
        found=found,
        keep_both=keep_both,
        free_names=free,
        accept_external=accept_external,
        approval_id=approval_id,
    )
    planned = intend_publish(workbench.state, command).events
    (plan,) = (event for event in planned if isinstance(event, PublishIntended))
    progress("checkpoint_pre_publish")
    transaction = workbench.files.transaction(publish_id, plan.files)
    staged = msgspec.structs.replace(command, staged=plan.files)
    await intend(workbench, transaction, staged)
    return transaction


async def intend(
    workbench: OpenWorkbench, transaction: PublishTransaction, command: Command
) -> Outcome:
    """Stage a transaction, then record its intent; where that is refused nothing stays staged.

    Raises:
        KbdError: There is no space, stored bytes are damaged, or the command is refused; nothing
            was done.
        LogPoisoned: The disk does not make the stage durable; the daemon ends.
    """
    with workbench.fail_stop():
        await run_sync(transaction.stage)
    try:
        return await workbench.submit(command)
    except BaseException:
        await run_sync(transaction.clear)
        raise


async def carry_out(
    workbench: OpenWorkbench,
    clock: Clock,
    progress: Progress = lambda _: None,
    transaction: PublishTransaction | None = None,
) -> drafts.DraftPublished:
    """Complete the intended publish, from wherever it stopped; or bring all back.

    Args:
        workbench: The workbench.
        clock: Names the checkpoint.
        progress: Takes how far it is.
        transaction: The transaction, if this process staged it.

    Raises:
        ValidationFailed: No publish is under way.
        LogPoisoned: The disk does not make it durable; the daemon ends.
        KbdError: The disk is full or fails. All is as it was before the publish; or, if even that
            could not be recorded, the publish is still under way.
    """
    intended = workbench.state.publish
    if intended is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    if transaction is None:
        transaction = workbench.files.transaction(intended.publish_id, intended.files)
    try:
        conflicted = await run_sync(transaction.carry_out)
    except LogPoisoned as failed:
        # Whether the renames are durable nobody knows, and no second sync would tell (R11).
        workbench.keeper.poison(failed)
        raise
    except (KbdError, *SYSTEM_FAILURES) as fault:
        progress("rolling_back")
        raise await _roll_back(workbench, transaction, told_error(fault)) from None
    progress("finalizing")
    # Recorded last: until then the next start carries the same files out once more.
    checkpoint_id = f"c{clock.new_id()}"
    try:
        await workbench.submit(CompletePublish(checkpoint_id, conflicted))
    except DiskFull:
        msg = "the files are published, and there is no space to record it"
        raise DiskFull(msg, actions=(_WHEN_FULL,)) from None
    await run_sync(transaction.clear)
    return _publish_answer(workbench, intended, conflicted, checkpoint_id)


_WHEN_FULL = "free some space, then publish again to complete it, or discard the draft to undo it"


async def _roll_back(
    workbench: OpenWorkbench, transaction: PublishTransaction, fault: KbdError
) -> KbdError:
    """Bring published/ back and give the publish up; return what to raise."""
    try:
        await run_sync(transaction.roll_back)
        await workbench.submit(AbortPublish(fault.message))
    except LogPoisoned as failed:
        workbench.keeper.poison(failed)
        return failed
    except (KbdError, *SYSTEM_FAILURES) as second:
        error = told_error(second).message
        _log.error("publish_unfinished", workbench=workbench.id, error=error)
        fault.message = f"{fault.message}; the publish is still under way"
        fault.actions = (_WHEN_FULL,)
        return fault
    await run_sync(transaction.clear)
    fault.message = f"{fault.message}; nothing was published"
    return fault


async def discard(workbench: OpenWorkbench) -> None:
    """Discard the draft; a publish of it that could not be completed is brought back first.

    Raises:
        ValidationFailed: There is no draft, or a run or a publish is working on it.
        LogPoisoned: The disk does not make it durable; the daemon ends.
        KbdError: The disk is full or fails; the draft is still there.
    """
    pending = workbench.state.publish
    # One that somebody is carrying out at this moment is not waited for: it may take the draft.
    if pending is not None and not workbench.publishing.locked():
        with anyio.CancelScope(shield=True):
            async with workbench.publishing:
                await _give_up(workbench)
    await workbench.submit(DiscardDraft())


async def _give_up(workbench: OpenWorkbench) -> None:
    """Bring a publish of the draft back that is still under way; an undo or a restore goes on."""
    intended = workbench.state.publish
    if intended is None or intended.rewind is not None or intended.restores:
        return
    transaction = workbench.files.transaction(intended.publish_id, intended.files)
    with workbench.fail_stop():
        await run_sync(transaction.roll_back)
    await workbench.submit(AbortPublish("the draft is discarded"))
    await run_sync(transaction.clear)


def published_hashes(
    workbench: OpenWorkbench, names: Iterable[FileName]
) -> dict[FileName, BlobHash | None]:
    """Return what published/ holds now under some names. It reads the files: call it in a thread.

    Returns:
        The hash of each; None for no file, and what equals no version for what is no regular file.
    """
    found: dict[FileName, BlobHash | None] = {}
    for name in names:
        try:
            found[name] = workbench.files.published_hash(name)
        except SandboxViolation:
            # Somebody put a link or a folder there: that is theirs, and no version of the file.
            found[name] = _NO_VERSION
    return found


_NO_VERSION = BlobHash("")
"""What is found where no regular file stands, and something else does: it equals no version."""


def _publish_answer(
    workbench: OpenWorkbench,
    intended: PublishIntended,
    conflicted: tuple[tuple[FileName, FileName], ...],
    checkpoint_id: str,
) -> drafts.DraftPublished:
    moved = {name: given for name, given in conflicted if name != given}
    left = {name for name, given in conflicted if name == given}
    published = tuple(
        moved.get(planned.name, planned.name)
        for planned in intended.files
        if planned.name not in left
    )
    both = (*intended.kept_both, *moved.items())
    return drafts.DraftPublished(
        published_at=format_time(workbench.state.updated_at_us),
        checkpoint_id=checkpoint_id,
        published=published,
        kept_both=tuple(drafts.KeptBoth(path=name, published_as=given) for name, given in both),
    )
