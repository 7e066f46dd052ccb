"""Methods of drafts and checkpoints: review, publish, discard, recover; list, make, restore.

A checkpoint is what was published at some moment, kept to be restored.
"""

import msgspec
from anyio.to_thread import run_sync

from kbd.core.api.commands import record
from kbd.core.domain.commands import ConfirmDeletions, CreateCheckpoint
from kbd.core.domain.rewind_decisions import find_checkpoint
from kbd.core.domain.workbench_state import Checkpoint
from kbd.core.runtime.event_loop import Deferred
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.rebase import rebase_draft
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.change_set import change_set, deletion_confirmations
from kbd.core.workbench.destination import resolve_destination
from kbd.core.workbench.draft_recovery import (
    draft_versions,
    extract_draft,
    find_draft,
    list_ended,
    recover_draft,
)
from kbd.core.workbench.extraction import record_planned_writes
from kbd.core.workbench.publish import discard, publish
from kbd.core.workbench.rewind import restore_checkpoint
from kbd.core.workbench.sandbox import file_name
from kbd.events.codec import format_time
from kbd.requests import drafts as wire
from kbd.requests.base import Request, Unset
from kbd.requests.notifications import DraftPublishProgress, PublishPhase
from kbd.requests.pages import page_of

__all__ = ["CheckpointMethods", "DraftMethods"]


class DraftMethods:
    """Handlers of the draft: show, publish, discard, recover."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.DraftGetState: self.state,
            wire.DraftPublish: self.publish,
            wire.DraftRebase: self.rebase,
            wire.DraftDiscard: self.discard,
            wire.DraftListDiscarded: self.list_discarded,
            wire.WorkbenchRecover: self.recover,
            wire.ReviewGetChangeSet: self.changes,
            wire.ReviewSetDeletionConfirmations: self.confirm,
            wire.ReviewGetDeletionConfirmations: self.confirmations,
        }

    async def state(self, request: wire.DraftGetState, session: Session) -> wire.DraftState:
        """Return whether there is a draft, and its source."""
        del session
        state = (await self._workbenches.open(request.workbench_id)).state
        draft = state.draft
        if draft is None:
            return wire.DraftState(has_draft=False)
        kind, ref = ("run", state.run_id(draft.run)) if draft.run else ("client", "")
        return wire.DraftState(
            has_draft=True,
            draft_id=draft.draft_id,
            created_at=format_time(draft.created_at_us),
            source=wire.DraftSource(kind=kind, ref=ref),
        )

    async def publish(self, request: wire.DraftPublish, session: Session) -> wire.DraftPublished:
        """Publish the draft, or some of its files."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        paths = request.paths

        def progress(phase: PublishPhase) -> None:
            notification = DraftPublishProgress(workbench_id=workbench.id, phase=phase)
            self._context.notify(notification)

        names = None
        if not isinstance(paths, msgspec.UnsetType):
            names = tuple(file_name(path) for path in paths)
        return await publish(
            workbench,
            self._context.clock,
            names=names,
            keep_both=request.on_conflict == "keep_both",
            accept_external=request.accept_external,
            progress=progress,
        )

    async def rebase(self, request: wire.DraftRebase, session: Session) -> wire.DraftRebased:
        """Apply the draft's edits to what is published now.

        Raises:
            KbdError: As for `rebase_draft`.
        """
        opened = await self._workbenches.open(request.workbench_id)
        names = None
        if not isinstance(request.paths, msgspec.UnsetType):
            names = tuple(file_name(path) for path in request.paths)
        return await rebase_draft(self._context, opened.acting(session.actor), names)

    async def discard(self, request: wire.DraftDiscard, session: Session) -> wire.DraftDiscarded:
        """Discard the draft.

        Raises:
            KbdError: As for `kbd.core.workbench.publish.discard`.
        """
        opened = await self._workbenches.open(request.workbench_id)
        await discard(opened.acting(session.actor))
        return wire.DraftDiscarded(discarded=True)

    async def list_discarded(
        self, request: wire.DraftListDiscarded, session: Session
    ) -> wire.DiscardedDraftsFound:
        """List the drafts that can be recovered, newest first."""
        del session
        return await list_ended(await self._workbenches.open(request.workbench_id), request.limit)

    async def recover(
        self, request: wire.WorkbenchRecover, session: Session
    ) -> wire.DraftRecovered:
        """Make a draft that ended the draft again, or write its files to a folder.

        Raises:
            KbdError: As for `recover_draft` and `extract_draft`.
        """
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        names = None
        if not isinstance(request.paths, msgspec.UnsetType):
            names = tuple(file_name(path) for path in request.paths)
        found = await find_draft(workbench, request.draft_id or None, request.ended_seq or None)
        directory = request.destination_dir
        if isinstance(directory, msgspec.UnsetType):
            return await recover_draft(workbench, found, names)
        destination = await run_sync(resolve_destination, directory, self._context.home.folder)
        # Before the first copy: a watched folder must not see one that kbd did not say is its own.
        files = draft_versions(found.draft, names)
        await record_planned_writes(
            self._workbenches.daemon, destination.real, files, actor=session.actor
        )
        return await extract_draft(workbench, self._context.clock, found, destination, names)

    async def changes(self, request: wire.ReviewGetChangeSet, session: Session) -> wire.ChangeSet:
        """Return the change set of the draft."""
        del session
        return change_set(await self._workbenches.open(request.workbench_id), self._context.catalog)

    def confirm(
        self, request: wire.ReviewSetDeletionConfirmations, session: Session
    ) -> Deferred[wire.DeletionConfirmations]:
        """Confirm deletions, so that a publish may carry them out."""
        names = tuple(file_name(path) for path in request.paths)
        return record(
            self._workbenches,
            request.workbench_id,
            lambda _: ConfirmDeletions(names),
            lambda workbench, _: deletion_confirmations(workbench.state),
            session.actor,
        )

    async def confirmations(
        self, request: wire.ReviewGetDeletionConfirmations, session: Session
    ) -> wire.DeletionConfirmations:
        """Return the confirmed deletions."""
        del session
        return deletion_confirmations((await self._workbenches.open(request.workbench_id)).state)


class CheckpointMethods:
    """Handlers of checkpoints: list, create, restore."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.CheckpointsList: self.list,
            wire.CheckpointGet: self.get,
            wire.CheckpointCreate: self.create,
            wire.CheckpointRestore: self.restore,
        }

    async def list(self, request: wire.CheckpointsList, session: Session) -> wire.CheckpointsFound:
        """List the checkpoints, all or a page of them.

        Raises:
            ValidationFailed: The cursor is none of this list.
        """
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        # No event removes a checkpoint and each new one is appended, an undo's own, too. So its
        # number in the whole list is its for ever, whatever filter it is listed with.
        sign = -1 if request.descending else 1
        rows = [
            (sign * number, each)
            for number, each in enumerate(workbench.state.checkpoints, 1)
            if request.reason in (each.reason, msgspec.UNSET)
        ][::sign]
        of = (request.method, request.workbench_id, request.reason or "", request.descending)
        page, next_cursor = page_of(
            rows, lambda row: (row[0],), (int,), of, request.limit, request.cursor
        )
        is_page = not (isinstance(request.limit, Unset) and isinstance(request.cursor, Unset))
        return wire.CheckpointsFound(
            checkpoints=tuple(_render_checkpoint(checkpoint) for _, checkpoint in page),
            total=len(rows) if is_page else msgspec.UNSET,
            next_cursor=next_cursor,
        )

    async def get(self, request: wire.CheckpointGet, session: Session) -> wire.CheckpointFound:
        """Describe a checkpoint with its files."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        found = find_checkpoint(workbench.state, request.checkpoint_id)
        files = tuple(
            wire.CheckpointFile(path=file.name, size_bytes=file.size_bytes, hash=file.blob)
            for file in found.files
        )
        return wire.CheckpointFound(checkpoint=_render_checkpoint(found), files=files)

    def create(
        self, request: wire.CheckpointCreate, session: Session
    ) -> Deferred[wire.CheckpointMade]:
        """Create a checkpoint of the published files."""
        checkpoint_id = f"c{self._context.clock.new_id()}"
        return record(
            self._workbenches,
            request.workbench_id,
            lambda _: CreateCheckpoint(checkpoint_id, request.description),
            lambda _workbench, _outcome: wire.CheckpointMade(checkpoint_id=checkpoint_id),
            session.actor,
        )

    async def restore(
        self, request: wire.CheckpointRestore, session: Session
    ) -> wire.CheckpointRestored:
        """Bring what is published back to a checkpoint.

        Raises:
            KbdError: As for `restore_checkpoint`; nothing was done, but of a disk that fails.
        """
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        done = await restore_checkpoint(workbench, self._context.clock, request.checkpoint_id)
        return wire.CheckpointRestored(
            checkpoint_id=request.checkpoint_id,
            pre_restore_checkpoint_id=done.checkpoint_id,
            files_changed=done.files,
        )


def _render_checkpoint(checkpoint: Checkpoint) -> wire.CheckpointRow:
    total = sum(file.size_bytes for file in checkpoint.files)
    return wire.CheckpointRow(
        checkpoint_id=checkpoint.checkpoint_id,
        created_at=format_time(checkpoint.created_at_us),
        reason=checkpoint.reason,
        description=checkpoint.description,
        stats=wire.CheckpointStats(files=len(checkpoint.files), total_bytes=total),
    )
