"""How events change the conversation: what is said, rewound and forked, and what runs shall know.

What was ever said is a tree, kept in `heard`; the conversation is the branch that ends in the
newest message. Rewinding chooses another end of a branch, so nothing that was said is lost.
"""

from collections.abc import Callable
from typing import Any

from kbd.core.state.drafts import Draft, DraftFile
from kbd.core.state.workbench import ContextItem, FileEntry, Parent, Said, WorkbenchState
from kbd.events.base import Recorded
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ContextRemoved,
    ContextSet,
    ConversationRewound,
    DraftThen,
    UserMessageAdded,
    WorkbenchForked,
)
from kbd.types import Seq

__all__ = ["CONVERSATION_FOLDS"]


def _forked(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: WorkbenchForked = record.data
    state.parent = Parent(
        data.source_workbench_id,
        data.mode,
        Seq(data.source_seq),
        data.from_message_id,
        record.ts_us,
    )


def _asked(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: UserMessageAdded = record.data
    _say(state, seq, record, data, "user")
    state.current = 0


def _answered(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    _say(state, seq, record, record.data, "assistant")


def _say(
    state: WorkbenchState,
    seq: Seq,
    record: Recorded,
    data: UserMessageAdded | AssistantMessageAdded,
    role: str,
) -> None:
    said = Said(
        message_id=data.message_id,
        role=role,
        text=data.text,
        created_at_us=data.said_at_us or record.ts_us,
        run=record.run,
        after=state.said[-1].message_id if state.said else "",
        seq=seq,
    )
    state.said.append(said)
    state.heard[said.message_id] = said


def _rewound(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ConversationRewound = record.data
    head = state.heard.get(data.message_id)
    branch: list[Said] = []
    said = head
    while said is not None:
        branch.append(said)
        said = state.heard.get(said.after)
    state.said = branch[::-1]
    then = data.runs
    for run in state.runs:
        run.undone = run.number > then.count or run.number in then.undone
        run.discarded = run.number in then.discarded
    state.current = then.current
    files = {
        file.name: FileEntry(
            file.blob, file.size_bytes, file.added_at_us, file.modified_at_us, file.origin
        )
        for file in data.files
    }
    # What is not among them is off the disk already: that came before this was recorded.
    for name in files:
        state.removed.pop(name, None)
    state.files = files
    state.draft = _draft_then(data.draft) if data.draft is not None else None


def _draft_then(then: DraftThen) -> Draft:
    files = {
        file.name: DraftFile(
            base=file.base,
            blob=file.blob,
            size_bytes=file.size_bytes,
            base_size_bytes=file.base_size_bytes,
            run=file.run,
            items=list(file.items),
            warnings=list(file.warnings),
            notes=list(file.notes),
        )
        for file in then.files
    }
    return Draft(then.draft_id, then.created_at_us, then.run, files, list(then.confirmed))


def _context_set(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ContextSet = record.data
    before = state.context.get(data.category)
    state.context[data.category] = ContextItem(
        data.text, data.source_name, record.ts_us, before.revision + 1 if before else 1
    )


def _context_removed(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ContextRemoved = record.data
    state.context.pop(data.category, None)


CONVERSATION_FOLDS: dict[type, Callable[[WorkbenchState, Seq, Any], None]] = {
    WorkbenchForked: _forked,
    UserMessageAdded: _asked,
    AssistantMessageAdded: _answered,
    ConversationRewound: _rewound,
    ContextSet: _context_set,
    ContextRemoved: _context_removed,
}
"""What each event of the conversation changes."""
