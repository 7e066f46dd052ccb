"""Notifications of recorded events: the one, if any, that clients get of an event.

`notification_of` does so for events of a workbench, `watch_notification` for those of the daemon's
log, which are about watched folders.
"""

import msgspec

from kbd.core.domain.approval_text import approval_title
from kbd.core.domain.run_state import item_label
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events import approvals, drafts, runs, watches, workbenches
from kbd.events.base import Recorded
from kbd.requests.base import Notification
from kbd.requests.notifications import (
    ApprovalDecided,
    ApprovalRequested,
    CheckpointCreated,
    CheckpointRestored,
    ContextChanged,
    DraftStateChanged,
    WatchFileLanded,
    WatchRunFinished,
    WorkbenchDraftStateChanged,
    WorkbenchFilesChanged,
    WorkshopAssistantMessageComplete,
    WorkshopImplementProgress,
    WorkshopModelChanged,
    WorkshopNotice,
    WorkshopPhaseCompleted,
    WorkshopPhaseStarted,
    WorkshopRegenerateCompleted,
    WorkshopRegenerateStarted,
    WorkshopRunCancelRequested,
    WorkshopRunFailed,
    WorkshopRunFinished,
    WorkshopRunStarted,
    WorkshopToolComplete,
    WorkshopUndoCompleted,
)
from kbd.requests.workshop import RunError
from kbd.types import RunId, Seq, WorkbenchId

__all__ = ["notification_of", "notifications_of", "watch_notification"]


def notifications_of(state: WorkbenchState, seq: Seq, record: Recorded) -> tuple[Notification, ...]:
    """Return all notifications of an event; the arguments are those of `notification_of`."""
    where = _Origin(state.workbench_id, record.run, seq)
    completed: list[Notification | None] = [notification_of(state, seq, record)]
    match record.data:
        case workbenches.ConversationRewound(checkpoint_id=checkpoint_id):
            completed += [
                _draft_state(state, where),
                _draft_state(state, where, WorkbenchDraftStateChanged),
                _files_changed(state, where, checkpoint_id),
            ]
        # Not of every change in it: for who shows workbenches, that is no news.
        case (
            drafts.DraftOpened()
            | drafts.DraftDiscarded()
            | drafts.DraftRebased()
            | drafts.DraftRecovered()
            | drafts.PublishCompleted()
        ):
            completed.append(_draft_state(state, where, WorkbenchDraftStateChanged))
        case drafts.FileChanged() if state.draft is None:
            completed.append(_draft_state(state, where, WorkbenchDraftStateChanged))
        case drafts.CheckpointRestored(pre_restore_checkpoint_id=checkpoint_id):
            completed.append(_files_changed(state, where, checkpoint_id))
        case runs.RunFinished() if state.run(record.run).regenerates:
            completed.append(_regenerate_completed(state, where))
    return tuple(each for each in completed if each is not None)


def notification_of(state: WorkbenchState, seq: Seq, record: Recorded) -> Notification | None:
    """Return the notification of an event itself, or None if it has none.

    Args:
        state: The workbench after the frame that the event is of.
        seq: The event's number.
        record: The event.
    """
    where = _Origin(state.workbench_id, record.run, seq)
    match record.data:
        case workbenches.FileAdded() | workbenches.FileRemoved() | drafts.FileAdopted() as file:
            return _file_change(where, file)
        case workbenches.ModelChosen(model_id=model_id):
            return where.notification(WorkshopModelChanged, model_id=model_id)
        case workbenches.AssistantMessageAdded(message_id=message_id, text=text):
            completed = WorkshopAssistantMessageComplete
            return where.notification(completed, message_id=message_id, text=text)
        case workbenches.ContextSet(category=category):
            item = state.context.get(category)
            action = "added" if item is not None and item.revision == 1 else "updated"
            return where.notification(ContextChanged, category=category, action=action)
        case workbenches.ContextRemoved(category=category):
            return where.notification(ContextChanged, category=category, action="deleted")
        case (
            drafts.DraftOpened()
            | drafts.DraftDiscarded()
            | drafts.DraftRebased()
            | drafts.DraftRecovered()
            | drafts.FileChanged()
            | drafts.PublishCompleted()
        ):
            return _draft_state(state, where)
        case workbenches.ConversationRewound(message_id=message_id, reason="regenerate"):
            return where.notification(WorkshopRegenerateStarted, message_id=message_id)
        case workbenches.ConversationRewound(message_id=message_id):
            has_draft = state.draft is not None
            undone = WorkshopUndoCompleted
            return where.notification(undone, message_id=message_id, has_draft=has_draft)
        case drafts.CheckpointRestored(checkpoint_id=checkpoint_id) as restored:
            before = restored.pre_restore_checkpoint_id
            back = CheckpointRestored
            return where.notification(
                back, checkpoint_id=checkpoint_id, pre_restore_checkpoint_id=before
            )
        case approvals.ApprovalRequested() | approvals.ApprovalDecided() as approval:
            return _approval(where, approval)
        case drafts.CheckpointCreated(checkpoint_id=checkpoint_id, reason=reason):
            return where.notification(CheckpointCreated, checkpoint_id=checkpoint_id, reason=reason)
        case _:
            return _run_notification(state, where, record)


def _approval(
    where: "_Origin", approval: approvals.ApprovalRequested | approvals.ApprovalDecided
) -> Notification:
    approval_id = approval.approval_id
    match approval:
        case approvals.ApprovalRequested(kind=kind):
            title = approval_title(approval)
            return where.notification(
                ApprovalRequested, approval_id=approval_id, kind=kind, title=title
            )
        case approvals.ApprovalDecided(decision=decision):
            return where.notification(ApprovalDecided, approval_id=approval_id, decision=decision)


def _run_notification(
    state: WorkbenchState, where: "_Origin", record: Recorded
) -> Notification | None:
    """Return the notification of a run's event, or None if it has none."""
    match record.data:
        case runs.NoticeGiven(code=code, message=message):
            return where.notification(WorkshopNotice, error_code=code, message=message)
        case runs.RunStarted(message_id=message_id, model_id=model_id):
            started = WorkshopRunStarted
            return where.notification(started, message_id=message_id, model_id=model_id)
        case runs.RunResumed(model_id=model_id):
            message_id = state.run(record.run).message_id
            started = WorkshopRunStarted
            return where.notification(
                started, message_id=message_id, model_id=model_id, resumed=True
            )
        case runs.RunFinished() | runs.RunCancelled() | runs.RunInterrupted() as ended:
            return _run_ended(state, where, ended)
        case runs.RunFailed(code=code, message=message, subphase=subphase, retryable=retryable):
            error = RunError(
                error_code=code, message=message, subphase=subphase, retryable=retryable
            )
            return where.notification(WorkshopRunFailed, error=error)
        case runs.RunCancelRequested():
            return where.notification(WorkshopRunCancelRequested)
        case runs.PhaseStarted(phase=phase):
            return where.notification(WorkshopPhaseStarted, phase=phase)
        case runs.PhaseCompleted(phase=phase):
            return where.notification(WorkshopPhaseCompleted, phase=phase)
        case runs.ItemStarted(item=item):
            return _run_progress(state, where, item)
        case runs.ToolReturned() | runs.ToolRefused() as ended:
            return _tool_ended(state, where, ended)
        case _:
            return None


class _Origin(msgspec.Struct, frozen=True):
    workbench_id: WorkbenchId
    run: int
    seq: Seq

    def notification(self, kind: type[Notification], /, **fields: object) -> Notification:
        run_id = RunId(f"{self.workbench_id}-{self.run}") if self.run else msgspec.UNSET
        return kind(workbench_id=self.workbench_id, run_id=run_id, seq=self.seq, **fields)


def _file_change(
    where: _Origin, file: workbenches.FileAdded | workbenches.FileRemoved | drafts.FileAdopted
) -> Notification:
    match file:
        case workbenches.FileAdded(name=name):
            return where.notification(WorkbenchFilesChanged, added=(name,))
        case workbenches.FileRemoved(name=name) | drafts.FileAdopted(name=name, blob=None):
            return where.notification(WorkbenchFilesChanged, removed=(name,))
        case drafts.FileAdopted(name=name):
            return where.notification(WorkbenchFilesChanged, updated=(name,))


def _draft_state(
    state: WorkbenchState, where: _Origin, kind: type[Notification] = DraftStateChanged
) -> Notification:
    draft_id = state.draft.draft_id if state.draft else msgspec.UNSET
    has_draft = state.draft is not None
    return where.notification(kind, has_draft=has_draft, draft_id=draft_id)


def _files_changed(
    state: WorkbenchState, where: _Origin, checkpoint_id: str
) -> Notification | None:
    """Return which published files differ from a checkpoint, or None if none do."""
    found = (each for each in reversed(state.checkpoints) if each.checkpoint_id == checkpoint_id)
    checkpoint = next(found, None)
    if checkpoint is None:
        return None
    before = {file.name: file.blob for file in checkpoint.files}
    now = {name: entry.blob for name, entry in state.files.items()}
    changes = {
        "added": tuple(sorted(now.keys() - before.keys())),
        "removed": tuple(sorted(before.keys() - now.keys())),
        "updated": tuple(sorted(n for n in now.keys() & before.keys() if now[n] != before[n])),
    }
    return where.notification(WorkbenchFilesChanged, **changes) if any(changes.values()) else None


def _regenerate_completed(state: WorkbenchState, where: _Origin) -> Notification | None:
    answer = state.said.last
    if answer is None or answer.run != where.run:
        return None
    return where.notification(
        WorkshopRegenerateCompleted,
        message_id=answer.message_id,
        regenerates=state.run(where.run).regenerates,
    )


def _run_ended(
    state: WorkbenchState,
    where: _Origin,
    ended: runs.RunFinished | runs.RunCancelled | runs.RunInterrupted,
) -> Notification:
    status = {
        runs.RunFinished: "finished",
        runs.RunCancelled: "cancelled",
        runs.RunInterrupted: "interrupted",
    }[type(ended)]
    has_draft, refusal = state.draft is not None, None
    if isinstance(ended, runs.RunFinished) and ended.refusal is not None:
        status, refusal = "declined", ended.refusal
    return where.notification(
        WorkshopRunFinished,
        status=status,
        has_draft=has_draft,
        reason=refusal.reason if refusal is not None else msgspec.UNSET,
        suggestions=refusal.suggestions if refusal is not None else msgspec.UNSET,
    )


def _run_progress(state: WorkbenchState, where: _Origin, item: int) -> Notification | None:
    plan = state.run(where.run).plan
    if plan is None or not 1 <= item <= len(plan.items):
        return None
    return where.notification(
        WorkshopImplementProgress,
        current_item=item,
        total_items=len(plan.items),
        item_label=item_label(plan.items[item - 1].text),
    )


def _tool_ended(
    state: WorkbenchState, where: _Origin, ended: runs.ToolReturned | runs.ToolRefused
) -> Notification | None:
    if not where.run:
        return None
    name = ended.tool if isinstance(ended, runs.ToolRefused) else ""
    # What ends is a call of the newest turn.
    for turn in state.run(where.run).chain.turns[-1:]:
        for call in turn.calls:
            if call.id == ended.call_id:
                name = call.name
    success = isinstance(ended, runs.ToolReturned) and ended.ok
    completed = WorkshopToolComplete
    return where.notification(
        completed, tool_name=name, tool_call_id=ended.call_id, success=success
    )


_LOG = "daemon"
"""The log that has the events: who names it, or follows it, is told."""


def watch_notification(seq: Seq, record: Recorded) -> Notification | None:
    """Return the notification of an event of the daemon's log, or None if it has none.

    Args:
        seq: The event's number.
        record: The event.
    """
    match record.data:
        case watches.FileLanded() as landed:
            return WatchFileLanded(
                workbench_id=_LOG,
                seq=seq,
                watch_id=landed.watch_id,
                landing_id=seq,
                path=landed.path,
                size_bytes=landed.size_bytes,
                outcome=landed.outcome,
            )
        case watches.WatchRunFinished() as finished:
            return WatchRunFinished(
                workbench_id=_LOG,
                seq=seq,
                watch_id=finished.watch_id,
                landing_ids=finished.landings,
                outcome=finished.outcome,
                run_workbench_id=finished.workbench_id,
                code=finished.code,
                message=finished.message,
                delivered=finished.delivered,
                retry=finished.retry_at_us > 0,
            )
        case _:
            return None
