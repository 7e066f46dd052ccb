"""How each event changes the state of a workbench: a table by type, and nothing else changes it.

A fold never refuses: what was decided and recorded is true. It uses nothing but its arguments, so
the same log always gives the same state.
"""

from collections.abc import Callable
from typing import Any

from kbd.core.state.drafts import Checkpoint
from kbd.core.state.fold_conversation import CONVERSATION_FOLDS
from kbd.core.state.fold_drafts import (
    change_file,
    complete_publish,
    confirm_deletion,
    discard,
    open_draft,
)
from kbd.core.state.fold_runs import RUN_FOLDS
from kbd.core.state.fold_watches import WATCH_FOLDS
from kbd.core.state.workbench import Consent, Delivered, FileEntry, WorkbenchState
from kbd.events.base import Recorded
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DeletionConfirmed,
    DraftDiscarded,
    DraftOpened,
    EffectAborted,
    EffectDone,
    EffectIntended,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
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
    PluginLeftOut,
    PluginLoaded,
    RequestSent,
    SettingChanged,
    WorkbenchCreated,
    WorkbenchDeleted,
)
from kbd.types import Seq

__all__ = ["FOLDS", "fold_workbench"]

Fold = Callable[[WorkbenchState, Seq, Any], None]


def _created(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: WorkbenchCreated = record.data
    state.workbench_id, state.name = data.workbench_id, data.name
    state.created_at_us = record.ts_us


def _file_added(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: FileAdded = record.data
    state.removed.pop(data.name, None)
    state.files[data.name] = FileEntry(
        blob=data.blob,
        size_bytes=data.size_bytes,
        added_at_us=record.ts_us,
        modified_at_us=data.modified_at_us or record.ts_us,
        origin=data.blob,
    )


def _file_removed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: FileRemoved = record.data
    entry = state.files.pop(data.name, None)
    if entry is not None:
        state.removed[data.name] = entry.blob


def _consented(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ConsentGranted = record.data
    state.consents.append(
        Consent(
            data.provider_id,
            data.model_id,
            data.scope_hash,
            data.persist,
            len(state.runs),
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


def _publish_intended(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    state.publish = record.data


def _publish_aborted(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    del record
    state.publish = None


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


def _nothing(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    """Change nothing: the fact is for readers of the log."""


FOLDS: dict[type, Fold] = {
    WorkbenchCreated: _created,
    WorkbenchDeleted: _nothing,
    FileAdded: _file_added,
    FileRemoved: _file_removed,
    ConsentGranted: _consented,
    ModelChosen: _model_chosen,
    DraftOpened: open_draft,
    FileChanged: change_file,
    DraftDiscarded: discard,
    DeletionConfirmed: confirm_deletion,
    PublishIntended: _publish_intended,
    PublishCompleted: complete_publish,
    PublishAborted: _publish_aborted,
    CheckpointCreated: _checkpoint,
    EffectIntended: _effect_intended,
    EffectDone: _effect_done,
    EffectAborted: _effect_aborted,
    DaemonStarted: _nothing,
    DaemonStopped: _nothing,
    PluginLoaded: _nothing,
    PluginLeftOut: _nothing,
    LogRepaired: _nothing,
    RequestSent: _nothing,
    SettingChanged: _nothing,
    BudgetReserved: _nothing,
    BudgetCharged: _nothing,
    CheckpointRestored: _nothing,
    **RUN_FOLDS,
    **CONVERSATION_FOLDS,
    **dict.fromkeys(WATCH_FOLDS, _nothing),
}
"""What each event changes. A test proves that no type of the vocabulary is missing."""


def fold_workbench(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    """Change the state as an event says; a type from a newer kbd changes nothing."""
    fold = FOLDS.get(type(record.data))
    if fold is not None:
        fold(state, seq, record)
    state.seq = seq
    state.updated_at_us = record.ts_us
