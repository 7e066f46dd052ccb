"""Decisions about rewinds: undoing to a message, restoring a checkpoint."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from kbd.core.domain.commands import CreateCheckpoint, RestoreCheckpoint, Rewind
from kbd.core.domain.decision import Decision, refuse_while_running
from kbd.core.domain.workbench_state import (
    FROM_BACKUP,
    Checkpoint,
    Draft,
    Said,
    WorkbenchState,
)
from kbd.errors import ConflictPublishedChanged, NotFound, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.drafts import CheckpointCreated, PlannedFile, PublishIntended
from kbd.events.workbenches import (
    ConversationRewound,
    DraftedThen,
    DraftThen,
    FileThen,
    RunsThen,
)
from kbd.types import BlobHash, FileName, Seq

__all__ = [
    "create_checkpoint",
    "differences",
    "distrusted",
    "draft_then",
    "find_checkpoint",
    "find_exchange",
    "find_message",
    "published_files",
    "restore_checkpoint",
    "rewind",
    "rewind_event",
]

_OTHER_ENTRY = re.compile(r"m[0-9]+")
"""The ids that a conversation shows of entries that are not messages: their event's number."""


def find_message(state: WorkbenchState, message_id: str) -> Said:
    """Return a message of the person or an answer, cut off or not.

    Raises:
        ValidationFailed: It is an entry of the conversation, but none of those.
        NotFound: There is no such message.
    """
    message = state.heard.get(message_id)
    if message is not None:
        return message
    if _OTHER_ENTRY.fullmatch(message_id):
        msg = f"{message_id!r} is no message of the person and no answer: name one of those"
        raise ValidationFailed(msg)
    msg = f"there is no message {message_id!r} in this workbench"
    raise NotFound(msg)


def find_exchange(state: WorkbenchState, message_id: str | None) -> tuple[Said, Said]:
    """Return a user message and the answer to it that a new one will replace.

    Args:
        state: The workbench.
        message_id: Either of them; None for the newest answer of the conversation.

    Raises:
        ValidationFailed: There is no answer yet.
        NotFound: There is no such message.
    """
    if message_id is None:
        answer = next(
            (message for message in reversed(state.said) if message.role == "assistant"), None
        )
    else:
        named = find_message(state, message_id)
        answer = named if named.role == "assistant" else _answer_to(state, named)
    asked = answer
    while asked is not None and asked.role != "user":
        asked = state.heard.at(asked.before) if asked.before >= 0 else None
    if answer is None or asked is None:
        msg = "nothing was answered yet: run the agent, or undo to the message and run it then"
        raise ValidationFailed(msg)
    return asked, answer


def _answer_to(state: WorkbenchState, asked: Said) -> Said | None:
    """Return the answer that the conversation has to a message, or else the newest ever given."""
    # `heard` is in the order of the log, so the last match in it is the newest answer.
    heard = (message for _, message in state.heard.newest())
    for messages in (reversed(state.said), heard):
        for message in messages:
            if message.role == "assistant" and message.after == asked.message_id:
                return message
    return None


def rewind_event(
    then: WorkbenchState, message_id: str, reason: Literal["undo", "regenerate"] = "undo"
) -> ConversationRewound:
    """Return the event of a rewind: conversation, files, draft and runs restored.

    Args:
        then: The workbench after the message, or after the run that answered with it.
        message_id: The message.
        reason: "undo" or "regenerate".
    """
    files = tuple(
        FileThen(
            name, entry.blob, entry.size_bytes, entry.added_at_us, entry.modified_at_us,
            entry.origin,
        )
        for name, entry in sorted(then.files.items())
    )  # fmt: skip
    runs = RunsThen(
        count=len(then.runs),
        current=then.current,
        undone=tuple(sorted(then.undone)),
        discarded=tuple(sorted(then.discarded)),
    )
    return ConversationRewound(
        message_id=message_id,
        to_seq=then.seq,
        reason=reason,
        files=files,
        draft=draft_then(then.draft) if then.draft is not None else None,
        runs=runs,
    )


def draft_then(draft: Draft) -> DraftThen:
    """Return a draft as an event tells of it."""
    files = tuple(
        DraftedThen(
            name=name,
            base=file.base,
            blob=file.blob,
            size_bytes=file.size_bytes,
            base_size_bytes=file.base_size_bytes,
            run=file.run,
            items=tuple(file.items),
            warnings=tuple(file.warnings),
            notes=tuple(file.notes),
            focus=file.focus,
            runs=tuple(file.runs),
        )
        for name, file in sorted(draft.files.items())
    )
    return DraftThen(draft.draft_id, draft.created_at_us, draft.run, files, tuple(draft.confirmed))


def published_files(state: WorkbenchState) -> tuple[FileVersion, ...]:
    """Return the published files, by name."""
    return tuple(
        FileVersion(name, entry.blob, entry.size_bytes)
        for name, entry in sorted(state.files.items())
    )


def differences(
    state: WorkbenchState, wanted: Iterable[FileThen | FileVersion]
) -> tuple[PlannedFile, ...]:
    """Return what has to change in published/ for it to hold just these files, by name."""
    then = {file.name: file for file in wanted}
    planned: list[PlannedFile] = []
    for name in sorted({*state.files, *then}):
        now, file = state.files.get(name), then.get(name)
        old, new = (now.blob if now else None), (file.blob if file else None)
        if old != new:
            planned.append(PlannedFile(name, old, new, file.size_bytes if file else 0))
    return tuple(planned)


def rewind(state: WorkbenchState, command: Rewind) -> Decision:
    """Rewind conversation, files, draft and runs; carried out like a publish.

    Where published/ need not change it is done at once.

    Raises:
        NotFound: Nobody ever said that message here.
        ValidationFailed: A run or a publish is under way, or files changed meanwhile.
        ConflictPublishedChanged: Somebody changed a published file that would be replaced.
    """
    back = command.rewound
    if back.draft is not None:
        draft = distrusted(state, back.draft, Seq(back.to_seq))
        back = msgspec.structs.replace(back, draft=draft)
    find_message(state, back.message_id)
    _refuse_while_active(state)
    planned = differences(state, back.files)
    # With nothing to rename there is nothing that a crash could leave half done, so no intent.
    if not planned:
        return Decision((back,))
    _check_found(planned, command.found)
    return Decision((PublishIntended(command.publish_id, planned, rewind=back),))


def distrusted(state: WorkbenchState, draft: DraftThen, seq: Seq) -> DraftThen:
    """Return a draft of the past without what only the log of a backup vouches for.

    Deletions were confirmed there, and files looked into.

    Args:
        state: The workbench now.
        draft: The draft.
        seq: The event that it is told of.
    """
    if seq >= state.restored_seq:
        return draft
    files = tuple(
        file
        if file.blob is None
        else msgspec.structs.replace(
            file, warnings=tuple(dict.fromkeys((*file.warnings, FROM_BACKUP)))
        )
        for file in draft.files
    )
    return msgspec.structs.replace(draft, files=files, confirmed=())


def restore_checkpoint(state: WorkbenchState, command: RestoreCheckpoint) -> Decision:
    """Restore published/ to a checkpoint; carried out like a publish.

    Raises:
        NotFound: There is no such checkpoint.
        ValidationFailed: A draft is open, a run or a publish is under way, or files changed
            meanwhile.
        ConflictPublishedChanged: Somebody changed a published file that would be replaced.
    """
    found = find_checkpoint(state, command.checkpoint_id)
    _refuse_while_active(state)
    if state.draft is not None:
        msg = "a draft is open in this workbench: publish or discard it first"
        raise ValidationFailed(msg)
    planned = differences(state, found.files)
    _check_found(planned, command.found)
    restores = found.checkpoint_id
    return Decision((PublishIntended(command.publish_id, planned, restores=restores),))


def create_checkpoint(state: WorkbenchState, command: CreateCheckpoint) -> Decision:
    """Create a checkpoint of what published/ holds.

    Raises:
        ValidationFailed: A publish is under way.
    """
    _refuse_publish(state)
    created = CheckpointCreated(
        command.checkpoint_id, "manual", command.description, published_files(state)
    )
    return Decision((created,))


def find_checkpoint(state: WorkbenchState, checkpoint_id: str) -> Checkpoint:
    """Return a checkpoint.

    Raises:
        NotFound: There is none of this name.
    """
    for each in reversed(state.checkpoints):
        if each.checkpoint_id == checkpoint_id:
            return each
    msg = f"there is no checkpoint {checkpoint_id!r} in this workbench"
    raise NotFound(msg)


def _refuse_while_active(state: WorkbenchState) -> None:
    refuse_while_running(state)
    _refuse_publish(state)


def _refuse_publish(state: WorkbenchState) -> None:
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)


def _check_found(
    planned: tuple[PlannedFile, ...], found: Mapping[FileName, BlobHash | None]
) -> None:
    # The caller hashed the files before this was decided, by a state that may since have moved on.
    missing = [file.name for file in planned if file.name not in found]
    if missing:
        msg = f"changed meanwhile: {', '.join(missing)}; nothing was done, try again"
        raise ValidationFailed(msg, retryable=True)
    # What is there already need not be put there.
    conflicts = [file.name for file in planned if found[file.name] not in (file.old, file.new)]
    if conflicts:
        msg = (
            f"changed in published/ by somebody else than kbd: {', '.join(conflicts)} "
            "(nothing was done); add what was changed as another file, or put the file back"
        )
        raise ConflictPublishedChanged(msg, detail={"files": conflicts})
