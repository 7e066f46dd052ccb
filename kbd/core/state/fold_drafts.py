"""How events change the draft and what is published."""

from kbd.core.state.drafts import Draft, DraftFile
from kbd.core.state.runs import Run
from kbd.core.state.workbench import FileEntry, WorkbenchState
from kbd.events.base import Recorded
from kbd.events.drafts import DeletionConfirmed, DraftOpened, FileChanged, PublishCompleted
from kbd.types import FileName, Seq

__all__ = ["change_file", "complete_publish", "confirm_deletion", "discard", "open_draft"]


def open_draft(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Open an empty draft; the change that follows in the same frame fills it."""
    data: DraftOpened = record.data
    state.draft = Draft(draft_id=data.draft_id, created_at_us=record.ts_us, run=record.run)


def change_file(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Make a change the draft's version of a file; a draft without a difference is closed."""
    data: FileChanged = record.data
    draft = state.draft
    if draft is None:
        draft = state.draft = Draft(draft_id="", created_at_us=record.ts_us, run=record.run)
    entry = state.files.get(data.name)
    drafted = draft.files.get(data.name)
    if drafted is None:
        base, base_size = (entry.blob, entry.size_bytes) if entry else (None, 0)
        drafted = DraftFile(base=base, blob=None, base_size_bytes=base_size)
        draft.files[data.name] = drafted
    drafted.blob, drafted.size_bytes = data.after, data.size_bytes
    drafted.run, drafted.warnings = record.run, list(data.warnings)
    drafted.notes = list(data.notes)
    if record.run:
        run = state.run(record.run)
        if data.cause == "edit":
            run.attempt_changes.append(data)
            if run.item and run.item not in drafted.items:
                drafted.items.append(run.item)
        else:
            _roll_back(run, data.name)
            if run.item in drafted.items:
                drafted.items.remove(run.item)
    if drafted.blob == drafted.base:
        del draft.files[data.name]
    if data.after is not None and data.name in draft.confirmed:
        draft.confirmed.remove(data.name)
    if not draft.files:
        state.draft = None


def _roll_back(run: Run, name: FileName) -> None:
    """Remember that the open item's attempt failed and its change to a file was undone."""
    items = run.plan.items if run.plan is not None else []
    if 0 < run.item <= len(items) and name not in items[run.item - 1].rolled_back:
        items[run.item - 1].rolled_back.append(name)


def discard(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Drop the draft, and with it what the runs since it was opened made."""
    del record
    opened_by = state.draft.run if state.draft is not None else 0
    for run in state.runs[(opened_by or len(state.runs)) - 1 :]:
        run.discarded = True
    state.draft = None
    state.current = 0


def confirm_deletion(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Remember which deletions a person confirmed; the newest list counts."""
    data: DeletionConfirmed = record.data
    if state.draft is not None:
        state.draft.confirmed = list(data.names)


def complete_publish(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Make the intended files the published ones and take them out of the draft."""
    intended, draft = state.publish, state.draft
    state.publish = None
    # Of a rewind, the event that follows says all; the draft is not what was published.
    if intended is None or intended.rewind is not None:
        return
    data: PublishCompleted = record.data
    drafted_as = {given: name for name, given in intended.kept_both}
    moved = dict(data.conflicted)
    for planned in intended.files:
        name = moved.get(planned.name, planned.name)
        if planned.new is None:
            if planned.name not in moved:
                state.files.pop(name, None)
        else:
            before = state.files.get(name)
            state.removed.pop(name, None)
            state.files[name] = FileEntry(
                blob=planned.new,
                size_bytes=planned.size_bytes,
                added_at_us=before.added_at_us if before else record.ts_us,
                modified_at_us=record.ts_us,
                # What a checkpoint held, nobody knows whose it was: consent is asked about it.
                origin=planned.new if intended.restores else before.origin if before else None,
            )
        if draft is not None:
            draft.files.pop(drafted_as.get(planned.name, planned.name), None)
    if draft is not None and not draft.files:
        state.draft = None
