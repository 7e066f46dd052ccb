"""Fold of a workbench's events into its state: a table by type, and nothing else changes it.

A fold never refuses: what was decided and recorded is true. It uses nothing but its arguments, so
the same log always gives the same state. The events of runs have a table of their own
(`fold_runs`), and so have those of the conversation (`fold_conversation`); those of the draft and
of what is published are folded here.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kbd.core.domain.approval_decisions import is_waiting
from kbd.core.domain.fold_conversation import CONVERSATION_FOLDS, draft_from
from kbd.core.domain.fold_runs import RUN_FOLDS
from kbd.core.domain.recipe_state import RECIPE_FOLDS
from kbd.core.domain.run_state import Run
from kbd.core.domain.watch_state import WATCH_FOLDS
from kbd.core.domain.workbench_state import (
    Approval,
    Checkpoint,
    CollectionNote,
    Consent,
    DecidedApproval,
    Delivered,
    Draft,
    DraftFile,
    EndedDraft,
    FileEntry,
    PublishNote,
    WorkbenchState,
)
from kbd.events.approvals import ApprovalDecided, ApprovalRequested
from kbd.events.base import Recorded
from kbd.events.damages import DamageFound, DamageMended
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DeletionConfirmed,
    DraftDiscarded,
    DraftOpened,
    DraftRebased,
    DraftRecovered,
    EffectAborted,
    EffectDone,
    EffectIntended,
    FileAdopted,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
    ReceiptMade,
)
from kbd.events.restores import HomeRestored, WorkbenchRestored
from kbd.events.retention import BlobsCollected, StorageReclaimed
from kbd.events.vocabulary import named_blobs
from kbd.events.workbenches import (
    BudgetCharged,
    BudgetReserved,
    ConsentGranted,
    DaemonStarted,
    DaemonStopped,
    FileAdded,
    FileRemoved,
    LogRepaired,
    ModelChosen,
    PluginEndedDaemon,
    PluginLeftOut,
    PluginLoaded,
    RequestSent,
    RetentionPlanned,
    SettingChanged,
    TraceSent,
    WorkbenchArchived,
    WorkbenchCreated,
    WorkbenchDeleted,
    WorkbenchUnarchived,
)
from kbd.types import FileName, Seq

__all__ = [
    "FOLDS",
    "adopt_file",
    "change_file",
    "complete_publish",
    "confirm_deletion",
    "discard",
    "fold_workbench",
    "open_draft",
    "rebase_draft",
    "recover",
]


def open_draft(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Open an empty draft; the change that follows in the same frame fills it."""
    data: DraftOpened = record.data
    state.draft = Draft(draft_id=data.draft_id, created_at_us=record.ts_us, run=record.run)


def change_file(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Make a change the draft's version of a file; a draft without a difference is closed."""
    data: FileChanged = record.data
    draft = state.draft
    if draft is None:
        # Of a log from before `order_changes`: a change earlier in the frame emptied the draft, and
        # thereby closed it.
        draft = state.draft = Draft(draft_id="", created_at_us=record.ts_us, run=record.run)
    _forget_reading(state, data.name)
    entry = state.files.get(data.name)
    drafted = draft.files.get(data.name)
    if drafted is None:
        # Taken when the draft first touches the file, for a publish to compare with what it finds.
        base, base_size = (entry.blob, entry.size_bytes) if entry else (None, 0)
        drafted = DraftFile(base=base, blob=None, base_size_bytes=base_size)
        draft.files[data.name] = drafted
    drafted.blob, drafted.size_bytes = data.after, data.size_bytes
    drafted.warnings = list(data.warnings)
    drafted.notes = list(data.notes)
    drafted.focus = data.focus
    # They were accepted of the bytes that were there then.
    drafted.is_accepted = False
    # Whose changes they are stays as it was, and what the draft is then, `rebase_draft` says.
    if data.cause == "rebase":
        return
    _note_author(state, drafted, record)
    if drafted.blob == drafted.base:
        del draft.files[data.name]
    # A deletion was confirmed, and not whatever becomes of the file later.
    if data.after is not None and data.name in draft.confirmed:
        draft.confirmed.remove(data.name)
    if not draft.files:
        state.draft = None


def _forget_reading(state: WorkbenchState, name: FileName) -> None:
    """Forget how tables were to be read of a name that no file has: what comes is another file.

    It is kept when a file goes, for a rewind, a recovery or a restore brings that very file back.
    """
    drafted = state.draft.files if state.draft is not None else {}
    if name not in state.files and name not in drafted:
        state.readings.pop(name, None)


def _note_author(state: WorkbenchState, drafted: DraftFile, record: Recorded) -> None:
    """Remember which run and item a drafted version is by."""
    data: FileChanged = record.data
    drafted.run = record.run
    if not record.run:
        return
    run = state.changed_run(record.run)
    if data.cause == "edit":
        run.attempt_changes.append(data)
        if record.run not in drafted.runs:
            drafted.runs.append(record.run)
        if run.item and run.item not in drafted.items:
            drafted.items.append(run.item)
    # A removal by a person belongs to no run, so this is a rollback.
    else:
        _roll_back(run, data.name)
        if run.item in drafted.items:
            drafted.items.remove(run.item)
        # What is left in it is no item's work, so not this run's.
        if not drafted.items and record.run in drafted.runs:
            drafted.runs.remove(record.run)


def _roll_back(run: Run, name: FileName) -> None:
    """Remember that the open item's attempt failed and its change to a file was undone."""
    items = run.plan.items if run.plan is not None else []
    if 0 < run.item <= len(items) and name not in items[run.item - 1].rolled_back:
        items[run.item - 1].rolled_back.append(name)


def discard(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    """Drop the draft, and with it what runs wrote into it; it can be recovered."""
    data: DraftDiscarded = record.data
    draft, state.draft = state.draft, None
    state.current = 0
    # A watch's retry discards what its run left before; nobody has looked at that.
    if record.actor is not None:
        state.seen_by = "person"
    if draft is None:
        return
    state.mark_discarded(draft.authors(), discarded=True)
    state.ended_drafts.append(EndedDraft(data.draft_id, seq, record.ts_us, "discard"))


def recover(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Make a draft that had ended the draft again."""
    data: DraftRecovered = record.data
    state.draft = draft_from(data.draft)
    state.mark_discarded(data.runs, discarded=False)
    # Of one that came back in part, the rest can still be recovered.
    if data.is_whole:
        state.ended_drafts = [each for each in state.ended_drafts if each.seq != data.ended_seq]


def adopt_file(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Take what somebody put into published/ for the published file, and for the draft's base."""
    data: FileAdopted = record.data
    _forget_reading(state, data.name)
    before = state.files.pop(data.name, None)
    if data.blob is not None:
        state.removed.pop(data.name, None)
        state.files[data.name] = FileEntry(
            blob=data.blob,
            size_bytes=data.size_bytes,
            added_at_us=before.added_at_us if before else record.ts_us,
            modified_at_us=record.ts_us,
            # A person made it: consent is asked about these bytes.
            origin=data.blob,
        )
    drafted = state.draft.files.get(data.name) if state.draft is not None else None
    if drafted is not None:
        drafted.base = drafted.blob = data.blob
        drafted.base_size_bytes = drafted.size_bytes = data.size_bytes
        drafted.warnings, drafted.notes, drafted.focus = [], [], None
        drafted.is_accepted = False


def rebase_draft(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Make the draft a new one, without the files that do not differ any more."""
    data: DraftRebased = record.data
    draft = state.draft
    if draft is None:
        return
    for name in data.files:
        drafted = draft.files.get(name)
        if drafted is not None and drafted.blob == drafted.base:
            del draft.files[name]
        if name in draft.confirmed:
            draft.confirmed.remove(name)
    draft.draft_id, draft.created_at_us = data.draft_id, record.ts_us
    if not draft.files:
        state.draft = None


def confirm_deletion(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Remember which deletions a person confirmed; the newest list counts."""
    data: DeletionConfirmed = record.data
    if state.draft is not None:
        state.draft.confirmed = list(data.names)


def complete_publish(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    """Make the intended files the published ones and take them out of the draft."""
    intended, draft = state.publish, state.draft
    state.publish, state.has_new_files = None, False
    state.seen_by = "person" if state.publish_is_asked else "rule"
    if intended is not None:
        state.publishes.add(record.data.checkpoint_id, PublishNote(state.publish_seq, seq))
    # Of a rewind, the event that follows says all; the draft is not what was published.
    if intended is None or intended.rewind is not None:
        return
    data: PublishCompleted = record.data
    # A file kept beside a changed one is planned under its new name, but drafted under its own.
    drafted_as = {given: name for name, given in intended.kept_both}
    moved = dict(data.conflicted)
    for planned in intended.files:
        name = moved.get(planned.name, planned.name)
        if planned.new is None:
            # A deletion among `conflicted` was not carried out: somebody had changed the file.
            if planned.name not in moved:
                state.files.pop(name, None)
        else:
            if not intended.restores:
                _forget_reading(state, name)
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


Fold = Callable[[WorkbenchState, Seq, Any], None]


def _created(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: WorkbenchCreated = record.data
    state.workbench_id, state.name = data.workbench_id, data.name
    state.created_at_us = record.ts_us


def _file_added(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: FileAdded = record.data
    _forget_reading(state, data.name)
    state.removed.pop(data.name, None)
    state.files[data.name] = FileEntry(
        blob=data.blob,
        size_bytes=data.size_bytes,
        added_at_us=record.ts_us,
        modified_at_us=data.modified_at_us or record.ts_us,
        origin=data.blob,
    )
    state.has_new_files = True


def _file_removed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: FileRemoved = record.data
    entry = state.files.pop(data.name, None)
    if entry is not None:
        state.removed[data.name] = entry.blob


def _consented(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ConsentGranted = record.data
    # Consent that is not to persist is for one run, and this number tells for which: the one behind
    # so many. Given while a run is under way it is that one's.
    run_count = len(state.runs) - (state.active_run() is not None)
    state.consents.append(
        Consent(
            data.provider_id,
            data.model_id,
            data.scope_hash,
            data.persist,
            run_count,
            data.endpoint,
        )
    )


def _model_chosen(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ModelChosen = record.data
    state.model_id = data.model_id


def _checkpoint(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: CheckpointCreated = record.data
    state.checkpoints.append(
        Checkpoint(
            data.checkpoint_id,
            data.made_at_us or record.ts_us,
            data.reason,
            data.description,
            data.files,
        )
    )


def _publish_intended(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    state.publish, state.publish_seq = record.data, seq
    # Of the intent: what a crash cut off is completed for nobody.
    state.publish_is_asked = record.actor is not None


def _publish_aborted(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    del record
    state.publish = None


def _receipt_made(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ReceiptMade = record.data
    place = state.publishes.place_of(data.checkpoint_id)
    if place is not None:
        note = state.publishes.at(place)
        made = msgspec.structs.replace(note, receipt=data.blob, receipt_bytes=data.size_bytes)
        state.publishes.replace(place, made)


def _effect_intended(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: EffectIntended = record.data
    state.effects[data.effect_id] = data


def _effect_done(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: EffectDone = record.data
    intended = state.effects.pop(data.effect_id, None)
    if intended is not None and intended.kind == "deliver":
        state.delivered.append(Delivered(intended, data.final_name))


def _effect_aborted(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: EffectAborted = record.data
    state.effects.pop(data.effect_id, None)


def _restored(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: WorkbenchRestored = record.data
    state.restore_id, state.restored_seq = data.restore_id, seq
    state.consents.clear()
    # Whom they would go to stands in them as the backup has it: a run that needs it asks anew.
    for name, each in tuple(state.approvals.items()):
        if each.request.kind in ("consent", "call"):
            del state.approvals[name]
    # Neither finished nor cleared up: both would touch folders that only the backup names.
    state.effects.clear()
    if state.draft is not None:
        state.draft.distrust()


def _collected(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: BlobsCollected = record.data
    state.collected.update(dict.fromkeys(data.blobs, CollectionNote(record.ts_us, data.reason)))


def _nothing(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Change nothing: the fact is for readers of the log."""


MAX_DECIDED = 100
"""How many decided approvals are remembered, so that who decides one again is told."""

MAX_ASKED = 200
"""How many approvals that nobody decided are kept; one that still waits is never dropped. Who asks
after each edit must not fill the state with questions about older drafts."""


def _approval_requested(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: ApprovalRequested = record.data
    state.approvals[data.approval_id] = Approval(data, seq, record.ts_us, record.run, record.actor)
    if len(state.approvals) > MAX_ASKED:
        passed = (
            name for name, each in state.approvals.items() if not is_waiting(state, each.request)
        )
        state.approvals.pop(next(passed, ""), None)


def _approval_decided(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ApprovalDecided = record.data
    asked = state.approvals.pop(data.approval_id, None)
    state.decided[data.approval_id] = DecidedApproval(data.decision, record.ts_us, record.actor)
    for oldest in list(state.decided)[:-MAX_DECIDED]:
        del state.decided[oldest]
    if asked is None or asked.request.kind != "external" or data.decision == "decline":
        return
    for file in asked.request.files:
        drafted = state.draft.files.get(file.name) if state.draft is not None else None
        if drafted is not None and drafted.blob == file.blob:
            drafted.is_accepted = True


FOLDS: dict[type, Fold] = {
    WorkbenchCreated: _created,
    WorkbenchDeleted: _nothing,
    WorkbenchArchived: _nothing,
    WorkbenchUnarchived: _nothing,
    FileAdded: _file_added,
    FileRemoved: _file_removed,
    ConsentGranted: _consented,
    ModelChosen: _model_chosen,
    DraftOpened: open_draft,
    FileChanged: change_file,
    DraftDiscarded: discard,
    DraftRecovered: recover,
    FileAdopted: adopt_file,
    DraftRebased: rebase_draft,
    DeletionConfirmed: confirm_deletion,
    PublishIntended: _publish_intended,
    PublishCompleted: complete_publish,
    PublishAborted: _publish_aborted,
    CheckpointCreated: _checkpoint,
    ReceiptMade: _receipt_made,
    ApprovalRequested: _approval_requested,
    ApprovalDecided: _approval_decided,
    EffectIntended: _effect_intended,
    EffectDone: _effect_done,
    EffectAborted: _effect_aborted,
    DaemonStarted: _nothing,
    DaemonStopped: _nothing,
    PluginLoaded: _nothing,
    PluginLeftOut: _nothing,
    PluginEndedDaemon: _nothing,
    LogRepaired: _nothing,
    RequestSent: _nothing,
    SettingChanged: _nothing,
    BudgetReserved: _nothing,
    BudgetCharged: _nothing,
    TraceSent: _nothing,
    RetentionPlanned: _nothing,
    CheckpointRestored: _nothing,
    WorkbenchRestored: _restored,
    HomeRestored: _nothing,
    BlobsCollected: _collected,
    StorageReclaimed: _nothing,
    **RUN_FOLDS,
    **CONVERSATION_FOLDS,
    # They stand in the daemon's log alone; here they only complete the table.
    **dict.fromkeys(WATCH_FOLDS, _nothing),
    **dict.fromkeys(RECIPE_FOLDS, _nothing),
    DamageFound: _nothing,
    DamageMended: _nothing,
}
"""What each event changes. A test proves that no type of the vocabulary is missing."""


def fold_workbench(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    """Change the state as an event says; a type from a newer kbd changes nothing."""
    fold = FOLDS.get(type(record.data))
    if fold is not None:
        fold(state, seq, record)
    # What is named again is there again. Seldom is anything collected: then this costs nothing.
    if state.collected:
        for blob in named_blobs(record.data):
            state.collected.pop(blob, None)
    # Also for a type that is not known: the next event, and a snapshot, are counted from here.
    state.seq = seq
    state.updated_at_us = record.ts_us
