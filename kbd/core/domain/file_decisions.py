"""Decisions about files and consent."""

from kbd.core.domain.commands import AddFiles, GrantConsent, RemoveFiles
from kbd.core.domain.decision import Decision, refuse_while_rewinding
from kbd.core.domain.workbench_state import WorkbenchState, folded_name
from kbd.errors import NotFound, ValidationFailed
from kbd.events.drafts import FileChanged
from kbd.events.vocabulary import Event
from kbd.events.workbenches import FileAdded, FileRemoved

__all__ = ["add_files", "grant_consent", "remove_files"]


def add_files(state: WorkbenchState, command: AddFiles) -> Decision:
    """Add the files whose names are free; refuse a batch over the workbench's limit whole.

    Raises:
        ValidationFailed: There would be too many files, or an undo is under way.
    """
    refuse_while_rewinding(state)
    taken = {folded_name(seen.name) for seen in state.all_seen()}
    taken.update(folded_name(name) for name in state.files)
    added: list[FileAdded] = []
    for file in command.files:
        key = folded_name(file.name)
        if key not in taken:
            taken.add(key)
            added.append(file)
    total = sum(1 for _ in state.all_seen()) + len(added)
    if total > command.max_files:
        msg = (
            f"{total} files would be in this workbench; at most {command.max_files} may be. "
            "No file was added."
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
    events: list[Event] = []
    for name in dict.fromkeys(command.names):
        seen = state.seen(name)
        if seen is None:
            msg = f"there is no file {name!r} in this workbench"
            raise NotFound(msg)
        if state.draft is None:
            events.append(FileRemoved(name))
        else:
            events.append(FileChanged(name, before=seen.blob, after=None, cause="removal"))
    return Decision(tuple(events))


def grant_consent(command: GrantConsent) -> Decision:
    """Record a consent.

    Raises:
        ValidationFailed: It is for other files or contents than there are now.
    """
    if command.consent.scope_hash != command.current_scope:
        msg = "the files have changed since consent was asked: ask again with the new scope_hash"
        raise ValidationFailed(msg, detail={"scope_hash": command.current_scope})
    return Decision((command.consent,))
