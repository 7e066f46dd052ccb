"""Decisions about what a workbench holds: its files, context items and draft, and a fork of it.

Pure: no bytes are copied here, and a publish is only intended; `kbd.core.workbench` carries it out.
"""

from collections.abc import Iterator

import msgspec

from kbd.core.domain.approval_decisions import (
    accept_deletions,
    accept_published,
    decline_draft,
    settle_consent,
    waiting_approval,
)
from kbd.core.domain.commands import (
    AbortPublish,
    AddFiles,
    ChooseReading,
    CompletePublish,
    ConfirmDeletions,
    GrantConsent,
    IntendPublish,
    RemoveContext,
    RemoveFiles,
    SetContext,
)
from kbd.core.domain.decision import (
    Decision,
    order_changes,
    refuse_while_rewinding,
    refuse_while_running,
)
from kbd.core.domain.rewind_decisions import find_message, published_files
from kbd.core.domain.workbench_state import Draft, WorkbenchState, folded_name
from kbd.errors import ConflictPublishedChanged, NotFound, ValidationFailed
from kbd.events.base import RecordedReadAs
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DeletionConfirmed,
    DraftDiscarded,
    FileChanged,
    PlannedFile,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ContextRemoved,
    ContextSet,
    ConversationRewound,
    FileAdded,
    FileRemoved,
    FileThen,
    ModelChosen,
    ReadingChosen,
    UserMessageAdded,
    WorkbenchForked,
)
from kbd.types import ContextCategory, FileName, ReadAs, Seq

__all__ = [
    "abort_publish",
    "add_files",
    "check_forkable",
    "complete_publish",
    "confirm_deletions",
    "discard_draft",
    "fork_events",
    "fork_point",
    "grant_consent",
    "intend_publish",
    "parse_category",
    "remove_context",
    "remove_files",
    "set_context",
]


def add_files(state: WorkbenchState, command: AddFiles) -> Decision:
    """Add the files whose names are free; refuse a batch over the workbench's limit whole.

    Raises:
        ValidationFailed: There would be too many files, or an undo is under way.
    """
    refuse_while_rewinding(state)
    taken = {folded_name(seen.name) for seen in state.current_files()}
    # A file that the draft deletes stays in published/ until the publish, and its name with it.
    taken.update(folded_name(name) for name in state.files)
    added: list[FileAdded] = []
    for file in command.files:
        # Folded: two names that differ in case alone are one file elsewhere (reliability, A28).
        key = folded_name(file.name)
        if key not in taken:
            taken.add(key)
            added.append(file)
    total = sum(1 for _ in state.current_files()) + len(added)
    if total > command.max_files:
        msg = (
            f"{total} files would be in this workbench, and at most {command.max_files} may be; "
            "no file was added"
        )
        raise ValidationFailed(msg, detail={"max_files": command.max_files})
    return Decision(tuple(added))


def remove_files(state: WorkbenchState, command: RemoveFiles) -> Decision:
    """Remove files; with a draft open, as deletions that the review shows.

    Raises:
        NotFound: One of them does not exist; nothing is removed.
        ValidationFailed: An undo is under way.
    """
    refuse_while_rewinding(state)
    removed: list[FileRemoved] = []
    deleted: list[FileChanged] = []
    # All are checked on the same state, so a name given twice would be removed twice.
    for name in dict.fromkeys(command.names):
        seen = state.current_file(name)
        if seen is None:
            msg = f"there is no file {name!r} in this workbench"
            raise NotFound(msg)
        if state.draft is None:
            removed.append(FileRemoved(name))
        else:
            deleted.append(
                FileChanged(
                    name,
                    before=seen.blob,
                    after=None,
                    before_size_bytes=seen.size_bytes,
                    cause="removal",
                    before_warnings=seen.warnings,
                    before_notes=seen.notes,
                    before_focus=seen.focus,
                )
            )
    return Decision((*removed, *order_changes(state, deleted)))


def grant_consent(state: WorkbenchState, command: GrantConsent) -> Decision:
    """Record a consent, and with it that what waited for it is accepted.

    Raises:
        ValidationFailed: It is for other files or contents than there are now.
    """
    if command.consent.scope_hash != command.current_scope:
        msg = "the files have changed since consent was asked: ask again with the new scope_hash"
        raise ValidationFailed(msg, detail={"scope_hash": command.current_scope})
    return Decision((*settle_consent(state, command.consent), command.consent))


def parse_category(name: str) -> ContextCategory:
    """Return a category by its name.

    Raises:
        ValidationFailed: There is none of that name.
    """
    try:
        return ContextCategory(name)
    except ValueError:
        msg = f"there is no category {name[:80]!r}; there are: {', '.join(ContextCategory)}"
        raise ValidationFailed(msg) from None


def choose_reading(state: WorkbenchState, command: ChooseReading) -> Decision:
    """Take what is said about a file's tables; a run under way sees it at its next call.

    Raises:
        NotFound: There is no such file.
    """
    if state.current_file(command.name) is None:
        msg = f"there is no file {command.name!r} in this workbench"
        raise NotFound(msg)
    if state.readings.get(command.name, ReadAs()) == command.read_as:
        return Decision()
    return Decision((ReadingChosen(command.name, RecordedReadAs.of(command.read_as)),))


def set_context(state: WorkbenchState, command: SetContext) -> Decision:
    """Set an item; an open draft does not matter, for it changes no file.

    Raises:
        ValidationFailed: There is no such category, the text is blank or too long, or a run is
            under way, which would not see it.
    """
    category = parse_category(command.category)
    refuse_while_running(state)
    text = command.text.strip()
    if not text:
        msg = "the text is blank: ContextDelete takes an item out"
        raise ValidationFailed(msg)
    if len(text) > command.limit:
        msg = (
            f"the text has {len(text):,} characters; an item has at most {command.limit:,}"
            " (setting limits.context_characters)"
        )
        detail = {"characters": len(text), "most": command.limit}
        raise ValidationFailed(msg, detail=detail)
    return Decision((ContextSet(category.value, text, command.source_name),))


def remove_context(state: WorkbenchState, command: RemoveContext) -> Decision:
    """Remove an item; of one that is not set, nothing need be recorded.

    Raises:
        ValidationFailed: There is no such category, or a run is under way.
    """
    category = parse_category(command.category)
    refuse_while_running(state)
    if category.value not in state.context:
        return Decision()
    return Decision((ContextRemoved(category.value),))


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


def discard_draft(state: WorkbenchState) -> Decision:
    """Discard the draft; its bytes stay recoverable.

    Raises:
        ValidationFailed: There is no draft, or a run or a publish is working on it.
    """
    draft = _open_draft(state)
    return Decision((*decline_draft(state), DraftDiscarded(draft.draft_id)))


def confirm_deletions(state: WorkbenchState, command: ConfirmDeletions) -> Decision:
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
    return Decision((*accept_deletions(state, command.names), DeletionConfirmed(command.names)))


def intend_publish(state: WorkbenchState, command: IntendPublish) -> Decision:
    """Plan a publish: which files it writes and deletes.

    Raises:
        ValidationFailed: There is no draft, no file is named, a run works on it, a deletion is not
            confirmed, a file with new active content is not accepted, the plan is not the one that
            was staged, or the approval is decided or about something else.
        NotFound: A name is not in the draft.
        ConflictPublishedChanged: Published files are not what the draft started from.
    """
    if command.approval_id:
        # First of all: who decides second is told who was first.
        asked = waiting_approval(state, command.approval_id)
        about = {file.name for file in asked.files}
        if asked.kind != "publish" or command.names is None or set(command.names) != about:
            msg = f"approval {command.approval_id} is about something else than this publish"
            raise ValidationFailed(msg)
    draft = _open_draft(state)
    names = _chosen_files(draft, command.names)
    _check_deletions(draft, names)
    accepted = _check_warnings(draft, names, accepted=command.accept_external)
    # By hashes of what is on disk: changes made beside kbd are found (reliability, R8).
    conflicts = [name for name in names if command.found.get(name) != draft.files[name].base]
    deletions = any(draft.files[name].blob is None for name in conflicts)
    # Of a deletion there are no two versions to keep: what somebody changed is not deleted.
    if conflicts and (deletions or not command.keep_both):
        listed = ", ".join(conflicts)
        ways = "publish the other files by name, rebase the draft, or keep both versions"
        if deletions:
            ways = "publish the other files by name, for what would be deleted is another file now"
        msg = (
            f"changed in published/ since the draft began: {listed} (nothing was published); {ways}"
        )
        actions = ("rebase the draft: `kbd rebase` applies its edits to what is published now",)
        raise ConflictPublishedChanged(msg, actions=actions, detail={"files": conflicts})
    planned: list[PlannedFile] = []
    both: list[tuple[FileName, FileName]] = []
    for name in names:
        drafted = draft.files[name]
        if name in conflicts:
            free = command.free_names[name]
            both.append((name, free))
            planned.append(PlannedFile(free, None, drafted.blob, drafted.size_bytes))
        else:
            planned.append(PlannedFile(name, drafted.base, drafted.blob, drafted.size_bytes))
    # Between the plan and this decision a run may have come and gone.
    if command.staged not in (None, tuple(planned)):
        msg = "the draft changed meanwhile; nothing was published, try again"
        raise ValidationFailed(msg, retryable=True)
    intended = PublishIntended(command.publish_id, tuple(planned), tuple(both), accepted=accepted)
    return Decision((*accept_published(state, names), intended))


def _chosen_files(draft: Draft, names: tuple[FileName, ...] | None) -> list[FileName]:
    if names is None:
        return sorted(draft.files)
    if not names:
        msg = "no file is named: name some of the draft, or leave the paths out for all"
        raise ValidationFailed(msg)
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


def _check_warnings(
    draft: Draft, names: list[FileName], *, accepted: bool
) -> tuple[tuple[FileName, tuple[str, ...]], ...]:
    """Return the files that got active content, with it, if it was accepted."""
    warned = {name: draft.files[name].warnings for name in names if draft.files[name].warnings}
    open_ones = [name for name in warned if not (accepted or draft.files[name].is_accepted)]
    if open_ones:
        msg = "these files got external references or other active content: " + "; ".join(
            f"{name}: {', '.join(warned[name])}" for name in open_ones
        )
        raise ValidationFailed(msg, actions=("publish again with accept_external true",))
    return tuple((name, tuple(texts)) for name, texts in warned.items())


def complete_publish(state: WorkbenchState, command: CompletePublish) -> Decision:
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
        # Still what was published before: the publish is folded only when these events are durable.
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


def abort_publish(state: WorkbenchState, command: AbortPublish) -> Decision:
    """Record an aborted publish.

    Raises:
        ValidationFailed: No publish is under way.
    """
    if state.publish is None:
        msg = "no publish is under way"
        raise ValidationFailed(msg)
    return Decision((PublishAborted(state.publish.publish_id, command.reason),))


_WITH_CONTEXT = ("clone_all", "clone_files_and_context_no_chat")


def check_forkable(state: WorkbenchState) -> None:
    """Refuse to fork a workbench in which work is under way.

    Raises:
        ValidationFailed: A draft is open, or a run or a publish is under way.
    """
    run = state.active_run()
    if run is not None:
        msg = "a run is under way in this workbench: wait for it, or cancel it"
        raise ValidationFailed(msg, retryable=True, detail={"run_id": state.run_id(run.number)})
    if state.draft is not None:
        msg = "a draft is open in this workbench: publish or discard it first"
        raise ValidationFailed(msg)
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)


def fork_point(state: WorkbenchState, message_id: str | None, seq: Seq | None) -> Seq:
    """Return the event up to which a fork takes a workbench over; the last one if none is named.

    Raises:
        NotFound: There is no such message.
        ValidationFailed: Both are named, it is no message, or there is no such event.
    """
    if message_id is not None and seq is not None:
        msg = "name from_message_id or from_seq, not both"
        raise ValidationFailed(msg)
    if message_id is not None:
        return find_message(state, message_id).seq
    if seq is None:
        return state.seq
    if not 1 <= seq <= state.seq:
        msg = f"from_seq must be 1 to {state.seq}, the last event that can be read"
        raise ValidationFailed(msg, detail={"last_seq": state.seq})
    return seq


def fork_events(then: WorkbenchState, forked: WorkbenchForked) -> tuple[Event, ...]:
    """Return the events of a fork: that it is one, then what it holds from the start.

    Neither draft nor consent nor runs are taken over.

    Args:
        then: The other workbench, at the event up to which it is taken over.
        forked: From which, and how much.
    """
    facts: list[Event] = [forked]
    facts += (
        # As if a person had added it: the fold makes these bytes its origin, about which consent
        # asks.
        FileAdded(name, entry.blob, entry.size_bytes, modified_at_us=entry.modified_at_us)
        for name, entry in sorted(then.files.items())
    )
    facts += (
        ReadingChosen(name, RecordedReadAs.of(read_as))
        for name, read_as in sorted(then.readings.items())
        if name in then.files
    )
    if forked.mode in _WITH_CONTEXT:
        facts += (
            ContextSet(category, item.text, item.source_name)
            for category, item in sorted(then.context.items())
        )
    if forked.mode == "clone_all":
        facts += _conversation(then)
    return tuple(facts)


def _conversation(then: WorkbenchState) -> Iterator[Event]:
    if then.model_id is not None:
        yield ModelChosen(then.model_id)
    for message in then.said:
        named = (message.message_id, message.text, message.created_at_us)
        if message.role == "user":
            yield UserMessageAdded(*named, message.model_id, message.document)
        else:
            yield AssistantMessageAdded(*named)
    for each in then.checkpoints:
        yield CheckpointCreated(
            each.checkpoint_id, each.reason, each.description, each.files, each.created_at_us
        )
