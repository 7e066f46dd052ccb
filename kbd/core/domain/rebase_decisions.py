"""Decision of a rebase: the draft's changes, applied again to what is published now.

Pure: what was found in published/, and what came of the changes there, the command brings along.
"""

import msgspec

from kbd.core.domain.commands import RecordRebase
from kbd.core.domain.decision import Decision
from kbd.core.domain.run_decisions import CHANGED_MEANWHILE, refuse_client
from kbd.core.domain.workbench_state import Draft, WorkbenchState
from kbd.errors import NotFound, ValidationFailed
from kbd.events.drafts import DraftRebased
from kbd.events.vocabulary import Event
from kbd.types import FileName

__all__ = ["files_to_rebase", "rebased_draft", "record_rebase"]


def rebased_draft(state: WorkbenchState) -> Draft:
    """Return the draft that may be rebased.

    Raises:
        ValidationFailed: There is none, or a run or a publish is under way.
    """
    refuse_client(state)
    if state.draft is None:
        msg = "draft not found: there is nothing to rebase"
        raise ValidationFailed(msg)
    return state.draft


def files_to_rebase(draft: Draft, names: tuple[FileName, ...] | None) -> tuple[FileName, ...]:
    """Return which of a draft's files are asked for, sorted; None is all.

    Raises:
        NotFound: One is not in the draft.
    """
    if names is None:
        return tuple(sorted(draft.files))
    for name in names:
        if name not in draft.files:
            msg = f"{name!r} is not in the draft"
            raise NotFound(msg)
    return tuple(sorted(set(names)))


def record_rebase(state: WorkbenchState, command: RecordRebase) -> Decision:
    """Record a rebase in one frame.

    Raises:
        ValidationFailed: There is no such draft any more, a run or a publish is under way, or a
            file of the draft changed since the rebase looked at it.
    """
    draft = rebased_draft(state)
    if draft.draft_id != command.from_draft_id:
        msg = "another draft was opened meanwhile: rebase that one"
        raise ValidationFailed(msg, retryable=True)
    events: list[Event] = []
    entry_id = state.next_entry
    for file in command.files:
        name = file.adopted.name
        drafted = draft.files.get(name)
        # Nothing lands on what the rebase did not see (reliability, R8).
        if drafted is None or (drafted.base, drafted.blob) != (file.base, file.drafted):
            msg = f"{name!r} {CHANGED_MEANWHILE}"
            raise ValidationFailed(msg, retryable=True)
        events.append(file.adopted)
        for call in file.calls:
            called = msgspec.structs.replace(call.called, entry_id=entry_id)
            returned = msgspec.structs.replace(call.returned, entry_id=entry_id)
            events += (called, call.change, returned)
            entry_id += 1
    names = tuple(file.adopted.name for file in command.files)
    # Last: it closes what the events before it opened.
    events.append(DraftRebased(command.draft_id, draft.draft_id, names))
    return Decision(tuple(events))
