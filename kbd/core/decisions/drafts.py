"""Decisions about the draft: discarding, confirming deletions, publishing."""

from kbd.core.decisions.commands import (
    AbortPublish,
    CompletePublish,
    ConfirmDeletions,
    IntendPublish,
)
from kbd.core.decisions.decision import Decision
from kbd.core.state import Draft, WorkbenchState
from kbd.errors import ConflictPublishedChanged, NotFound, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.drafts import (
    CheckpointCreated,
    DeletionConfirmed,
    DraftDiscarded,
    PlannedFile,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
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
    """Throw the draft away; its bytes stay recoverable.

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
    """Decide what a publish will do.

    Raises:
        ValidationFailed: There is no draft, a run works on it, a deletion is not confirmed, or a
            file with external references is not accepted.
        NotFound: A name is not in the draft.
        ConflictPublishedChanged: Published files are not what the draft started from.
    """
    draft = _open_draft(state)
    names = _chosen(draft, command.names)
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


def _chosen(draft: Draft, names: tuple[FileName, ...] | None) -> list[FileName]:
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
    """Record the checkpoint of what was published before, and the publish.

    Raises:
        ValidationFailed: No publish is under way.
    """
    if state.publish is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    before = tuple(
        FileVersion(name, entry.blob, entry.size_bytes)
        for name, entry in sorted(state.files.items())
    )
    checkpoint = CheckpointCreated(
        checkpoint_id=command.checkpoint_id,
        reason="publish",
        description=f"before publishing {len(state.publish.files)} file(s)",
        files=before,
    )
    done = PublishCompleted(state.publish.publish_id, command.checkpoint_id, command.conflicted)
    return Decision((checkpoint, done))


def abort(state: WorkbenchState, command: AbortPublish) -> Decision:
    """Record that a publish was given up.

    Raises:
        ValidationFailed: No publish is under way.
    """
    if state.publish is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    return Decision((PublishAborted(state.publish.publish_id, command.reason),))
