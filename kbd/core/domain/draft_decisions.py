"""Decisions about the draft: discarding, confirming deletions, publishing."""

import msgspec

from kbd.core.domain.commands import AbortPublish, CompletePublish, ConfirmDeletions, IntendPublish
from kbd.core.domain.decision import Decision
from kbd.core.domain.rewind_decisions import published_files
from kbd.core.domain.workbench_state import Draft, WorkbenchState
from kbd.errors import ConflictPublishedChanged, NotFound, ValidationFailed
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DeletionConfirmed,
    DraftDiscarded,
    PlannedFile,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.workbenches import ConversationRewound, FileThen
from kbd.types import FileName

__all__ = ["abort", "complete", "confirm", "discard", "intend"]


def _open_draft(state: WorkbenchState) -> Draft:
    if state.draft is None:
        msg = "draft not found: there is nothing to review, publish or discard"
        raise ValidationFailed(msg)
    run = state.active_run()
    if run is not None:
        run_id = state.run_id(run.number)
        msg = f"run {run_id} is still working on the draft: wait for it, or cancel it"
        raise ValidationFailed(msg, retryable=True, detail={"run_id": run_id})
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)
    return state.draft


def discard(state: WorkbenchState) -> Decision:
    """Discard the draft; its bytes stay recoverable.

    Raises:
        ValidationFailed: There is no draft, or a run or a publish is working on it.
    """
    return Decision((DraftDiscarded(_open_draft(state).draft_id),))


def confirm(state: WorkbenchState, command: ConfirmDeletions) -> Decision:
    """Record which deletions may be published.

    Raises:
        ValidationFailed: There is no draft, or a run or a publish is working on it.
        NotFound: The draft does not delete one of the files.
    """
    draft = _open_draft(state)
    for name in command.names:
        drafted = draft.files.get(name)
        if drafted is None or drafted.blob is not None:
            msg = f"the draft does not delete {name!r}"
            raise NotFound(msg)
    return Decision((DeletionConfirmed(command.names),))


def intend(state: WorkbenchState, command: IntendPublish) -> Decision:
    """Plan a publish: which files it writes and deletes.

    Raises:
        ValidationFailed: There is no draft, a run works on it, a deletion is not confirmed, or a
            file with external references is not accepted.
        NotFound: A name is not in the draft.
        ConflictPublishedChanged: Published files are not what the draft started from.
    """
    draft = _open_draft(state)
    names = _chosen_files(draft, command.names)
    _check_deletions(draft, names)
    _check_warnings(draft, names, accepted=command.accept_external)
    conflicts = [name for name in names if command.found.get(name) != draft.files[name].base]
    deletions = any(draft.files[name].blob is None for name in conflicts)
    # Of a deletion there are no two versions to keep: what somebody changed is not deleted.
    if conflicts and (deletions or not command.keep_both):
        listed = ", ".join(conflicts)
        msg = (
            f"changed in published/ since the draft began: {listed}. Nothing was published. "
            "Publish the other files by name, or keep both versions."
        )
        raise ConflictPublishedChanged(msg, detail={"files": conflicts})
    planned: list[PlannedFile] = []
    kept: list[tuple[FileName, FileName]] = []
    for name in names:
        drafted = draft.files[name]
        if name in conflicts:
            free = command.free_names[name]
            kept.append((name, free))
            planned.append(PlannedFile(free, None, drafted.blob, drafted.size_bytes))
        else:
            planned.append(PlannedFile(name, drafted.base, drafted.blob, drafted.size_bytes))
    return Decision((PublishIntended(command.publish_id, tuple(planned), tuple(kept)),))


def _chosen_files(draft: Draft, names: tuple[FileName, ...] | None) -> list[FileName]:
    if names is None:
        return sorted(draft.files)
    for name in names:
        if name not in draft.files:
            msg = f"{name!r} is not changed in the draft"
            raise NotFound(msg)
    return sorted(set(names))


def _check_deletions(draft: Draft, names: list[FileName]) -> None:
    unconfirmed = [
        name for name in names if draft.files[name].blob is None and name not in draft.confirmed
    ]
    if unconfirmed:
        msg = f"these would be deleted; confirm that first: {', '.join(unconfirmed)}"
        raise ValidationFailed(
            msg,
            actions=("confirm the deletions, or publish the other files by name",),
            detail={"unconfirmed_deletions": unconfirmed},
        )


def _check_warnings(draft: Draft, names: list[FileName], *, accepted: bool) -> None:
    warned = {name: draft.files[name].warnings for name in names if draft.files[name].warnings}
    if warned and not accepted:
        msg = "these files got external references: " + "; ".join(
            f"{name}: {', '.join(texts)}" for name, texts in warned.items()
        )
        raise ValidationFailed(msg, actions=("publish again with accept_external true",))


def complete(state: WorkbenchState, command: CompletePublish) -> Decision:
    """Record the checkpoint of what was published before, the publish, and what it was for.

    Raises:
        ValidationFailed: No publish is under way.
    """
    if state.publish is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    intended = state.publish
    reason, description = _checkpoint_reason(intended)
    checkpoint = CheckpointCreated(
        checkpoint_id=command.checkpoint_id,
        reason=reason,
        description=description,
        files=published_files(state),
    )
    done = PublishCompleted(intended.publish_id, command.checkpoint_id, command.conflicted)
    if intended.rewind is not None:
        return Decision((checkpoint, done, _completed_rewind(state, intended.rewind, command)))
    if intended.restores:
        restored = CheckpointRestored(intended.restores, command.checkpoint_id)
        return Decision((checkpoint, done, restored))
    return Decision((checkpoint, done))


def _checkpoint_reason(intended: PublishIntended) -> tuple[str, str]:
    """Return why there is a checkpoint, for programs and for people."""
    if intended.rewind is not None:
        back = intended.rewind
        verb = "regenerating after" if back.reason == "regenerate" else "undoing to"
        return back.reason, f"before {verb} message {back.message_id}"
    if intended.restores:
        return "pre_restore", f"before restoring checkpoint {intended.restores}"
    return "publish", f"before publishing {len(intended.files)} file(s)"


def _completed_rewind(
    state: WorkbenchState, back: ConversationRewound, command: CompletePublish
) -> ConversationRewound:
    """Return a rewind as it was carried out: with the files that somebody changed meanwhile.

    Such a file stays, as kbd knew it; what was to take its place lies beside it.
    """
    given_to = dict(command.conflicted)
    files: list[FileThen] = []
    for file in back.files:
        given = given_to.get(file.name, file.name)
        files.append(msgspec.structs.replace(file, name=given))
    for name in given_to:
        now = state.files.get(name)
        if now is not None:
            files.append(
                FileThen(
                    name, now.blob, now.size_bytes, now.added_at_us, now.modified_at_us, now.origin
                )
            )
    return msgspec.structs.replace(back, files=tuple(files), checkpoint_id=command.checkpoint_id)


def abort(state: WorkbenchState, command: AbortPublish) -> Decision:
    """Record that a publish was given up.

    Raises:
        ValidationFailed: No publish is under way.
    """
    if state.publish is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    return Decision((PublishAborted(state.publish.publish_id, command.reason),))
