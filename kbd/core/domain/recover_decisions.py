"""Decisions about recovering a draft that ended without being published."""

from collections.abc import Iterable

import msgspec

from kbd.core.domain.commands import RecoverDraft
from kbd.core.domain.decision import Decision, refuse_while_running
from kbd.core.domain.rewind_decisions import distrusted
from kbd.core.domain.workbench_state import EndedDraft, WorkbenchState, folded_name
from kbd.errors import NotFound, ValidationFailed
from kbd.events.drafts import DraftRecovered
from kbd.events.workbenches import DraftedThen, DraftThen
from kbd.types import FileName, Seq

__all__ = ["choose_files", "find_ended", "recover_draft", "refuse_recovery"]


def find_ended(state: WorkbenchState, draft_id: str | None, seq: Seq | None) -> EndedDraft:
    """Return a draft that can be recovered: the newest that is meant.

    Args:
        state: The workbench.
        draft_id: Its name, or None for any.
        seq: The event that ended it, or None for any: a draft that was recovered in part or brought
            back by an undo can end more than once.

    Raises:
        NotFound: There is none.
    """
    for each in reversed(state.ended_drafts):
        if draft_id in (None, each.draft_id) and seq in (None, each.seq):
            return each
    meant = f" {draft_id!r}" if draft_id is not None else ""
    ended = f" that event {seq} ended" if seq is not None else ""
    msg = f"there is no discarded draft{meant}{ended} in this workbench"
    raise NotFound(msg, actions=("list them with DraftListDiscarded",))


def choose_files(draft: DraftThen, names: tuple[FileName, ...] | None) -> tuple[DraftedThen, ...]:
    """Return the files of a draft that are named; all if None.

    Raises:
        ValidationFailed: None is named.
        NotFound: One is not in it.
    """
    if names is None:
        return draft.files
    if not names:
        msg = "no file of the draft is named; without names all are meant"
        raise ValidationFailed(msg)
    held = {file.name: file for file in draft.files}
    for name in names:
        if name not in held:
            msg = f"{name!r} was not changed in draft {draft.draft_id}"
            raise NotFound(msg)
    return tuple(held[name] for name in sorted(set(names)))


def refuse_recovery(state: WorkbenchState) -> None:
    """Refuse to make another draft the open one while work is under way.

    Raises:
        ValidationFailed: A draft is open, or a run or a publish is under way.
    """
    refuse_while_running(state)
    if state.publish is not None:
        msg = "a publish is under way"
        raise ValidationFailed(msg, retryable=True)
    if state.draft is not None:
        msg = "a draft is open in this workbench: publish or discard it first"
        raise ValidationFailed(msg, actions=("recover the files into a folder instead",))


def recover_draft(state: WorkbenchState, command: RecoverDraft) -> Decision:
    """Make a draft that had ended the draft again.

    Its files keep the versions that they began from, so that a publish finds what changed since.
    What is published as it was drafted falls away. That a deletion was confirmed then does not
    count.

    Raises:
        ValidationFailed: A draft is open, a run or a publish is under way, a name would collide
            with that of another file, or nothing would differ from what is published.
        NotFound: There is no such draft, or a file is not in it.
    """
    refuse_recovery(state)
    ended = find_ended(state, None, command.ended_seq)
    chosen = choose_files(command.draft, command.names)
    files = tuple(file for file in chosen if not _is_published(state, file))
    if not files:
        msg = f"draft {ended.draft_id} has nothing that is not published already"
        raise ValidationFailed(msg)
    _refuse_collisions(state, files)
    authors = {number for file in files for number in file.runs}
    draft = msgspec.structs.replace(command.draft, files=files, confirmed=())
    draft = distrusted(state, draft, ended.seq)
    event = DraftRecovered(
        draft=draft,
        ended_seq=ended.seq,
        is_whole=len(chosen) == len(command.draft.files),
        runs=tuple(sorted(n for n in authors if state.run(n).discarded)),
    )
    return Decision((event,))


def _is_published(state: WorkbenchState, file: DraftedThen) -> bool:
    entry = state.files.get(file.name)
    return file.blob == (entry.blob if entry is not None else None)


def _refuse_collisions(state: WorkbenchState, files: Iterable[DraftedThen]) -> None:
    """Refuse names that published/ cannot hold beside those that came since.

    A file that now has the very name is no such case: a publish finds that it changed.
    """
    deleted = {file.name for file in files if file.blob is None}
    taken = {folded_name(name): name for name in state.files if name not in deleted}
    folders = {above: name for key, name in taken.items() for above in _folders(key)}
    clashes: list[str] = []
    for file in files:
        if file.blob is None or file.name in state.files:
            continue
        key = folded_name(file.name)
        other = taken.get(key) or folders.get(key)
        other = other or next((taken[above] for above in _folders(key) if above in taken), None)
        if other is not None:
            clashes.append(f"{file.name} with {other}")
    if clashes:
        msg = (
            f"these names collide with files that came since: {', '.join(clashes)}; "
            "choose the other files by name, or recover into a folder"
        )
        raise ValidationFailed(msg)


def _folders(key: str) -> list[str]:
    """Return the folders above a name, as names."""
    parts = key.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
