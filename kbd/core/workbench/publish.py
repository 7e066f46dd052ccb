"""Publishing a draft as a transaction: check, record the intent, carry out, record the outcome.

The bytes are blobs, durable long before. `PublishIntended` is the point of no return: from then on
the publish will be completed, by this daemon or the next, from wherever it stopped. Renames start
only after it. An undo that reaches behind a publish, and a restore, are carried out in the same
way.
"""

from collections.abc import Callable
from functools import partial

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.commands import CompletePublish, IntendPublish
from kbd.core.runtime.clock import Clock
from kbd.core.workbench.file_store import conflict_name
from kbd.core.workbench.workbench import OpenWorkbench, draft_view
from kbd.errors import ValidationFailed
from kbd.events.codec import format_time
from kbd.events.drafts import PublishIntended
from kbd.requests import drafts
from kbd.requests.notifications import PublishPhase
from kbd.types import BlobHash, FileName

__all__ = ["carry_out", "publish"]


async def publish(
    workbench: OpenWorkbench,
    clock: Clock,
    *,
    names: tuple[FileName, ...] | None,
    keep_both: bool,
    accept_external: bool,
    progress: Callable[[PublishPhase], None],
) -> drafts.DraftPublished:
    """Publish the draft, or some of its files.

    Args:
        workbench: The workbench.
        clock: Names the publish.
        names: Which files, or None for all.
        keep_both: Whether a file that changed in published/ meanwhile gets a second name.
        accept_external: Whether files with new external references may go.
        progress: Takes how far it is.

    Raises:
        ValidationFailed: There is no draft, or a person has to confirm something first.
        ConflictPublishedChanged: Published files changed since the draft began.
        KbdError: The disk is full or fails; the next start, or call, completes the publish.
    """
    # Shielded: a client that goes away between intent and outcome must not leave the draft held.
    with anyio.CancelScope(shield=True):
        async with workbench.publishing:
            pending = workbench.state.publish
            if pending is not None:  # The disk was full, or failed.
                completed = await carry_out(workbench, clock, progress)
                left = draft_view(workbench.state)
                is_back = pending.rewind is not None or bool(pending.restores)
                nothing_left = not left or (names is not None and left.keys().isdisjoint(names))
                if nothing_left and not is_back:
                    return completed
            await _submit_intent(
                workbench,
                clock,
                names=names,
                keep_both=keep_both,
                accept_external=accept_external,
                progress=progress,
            )
            progress("swap_directories")
            return await carry_out(workbench, clock, progress)
    raise AssertionError  # A scope that nobody cancels swallows nothing.


async def _submit_intent(
    workbench: OpenWorkbench,
    clock: Clock,
    *,
    names: tuple[FileName, ...] | None,
    keep_both: bool,
    accept_external: bool,
    progress: Callable[[PublishPhase], None],
) -> None:
    progress("validating")
    drafted = tuple(draft_view(workbench.state))
    if not drafted:
        msg = "draft not found: there is nothing to publish"
        raise ValidationFailed(msg)
    progress("conflict_check")
    # Read anew from disk: people may have changed published/ with their own programs.
    found = await run_sync(_published_hashes, workbench, drafted)
    publish_id = clock.new_id()
    # Named before the intent, so that whoever completes it after a crash takes the same names.
    free = {name: conflict_name(name, publish_id) for name in drafted}
    progress("checkpoint_pre_publish")
    await workbench.submit(
        IntendPublish(
            publish_id=publish_id,
            names=names,
            found=found,
            keep_both=keep_both,
            free_names=free,
            accept_external=accept_external,
        )
    )


async def carry_out(
    workbench: OpenWorkbench,
    clock: Clock,
    progress: Callable[[PublishPhase], None] = lambda _: None,
) -> drafts.DraftPublished:
    """Complete the intended publish, from wherever it stopped.

    Raises:
        ValidationFailed: No publish is under way.
        KbdError: The disk is full or fails; it can be carried out later.
    """
    intended = workbench.state.publish
    if intended is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    conflicted = await run_sync(
        partial(workbench.files.carry_out, intended.files, intended.publish_id)
    )
    progress("finalizing")
    # Recorded last: until then the next start carries the same files out once more.
    checkpoint_id = f"c{clock.new_id()}"
    await workbench.submit(CompletePublish(checkpoint_id, conflicted))
    return _publish_answer(workbench, intended, conflicted, checkpoint_id)


def _published_hashes(
    workbench: OpenWorkbench, names: tuple[FileName, ...]
) -> dict[FileName, BlobHash | None]:
    return {name: workbench.files.published_hash(name) for name in names}


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
