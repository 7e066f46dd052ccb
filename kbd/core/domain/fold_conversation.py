"""Fold of the conversation, of its context, and of what was said about files.

The conversation is a branch: what was ever said is a tree, kept in `heard`, and the branch that
ends in the newest message counts. Rewinding chooses another end of a branch, so nothing that was
said is lost.
"""

from collections.abc import Callable
from typing import Any

from kbd.core.domain.workbench_state import (
    ContextItem,
    Draft,
    DraftFile,
    EndedDraft,
    FileEntry,
    Parent,
    Said,
    WorkbenchState,
)
from kbd.events.base import Recorded
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ContextRemoved,
    ContextSet,
    ConversationRewound,
    DraftThen,
    ReadingChosen,
    UserMessageAdded,
    WorkbenchForked,
)
from kbd.types import ReadAs, Seq

__all__ = ["CONVERSATION_FOLDS", "draft_from"]


def _forked(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: WorkbenchForked = record.data
    state.parent = Parent(
        data.source_workbench_id,
        data.mode,
        Seq(data.source_seq),
        data.from_message_id,
        record.ts_us,
    )


def _user_message(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: UserMessageAdded = record.data
    _add_message(state, seq, record, data, "user")
    # The run on an older message is not resumed any more: what it had planned is set aside.
    state.current = 0


def _assistant_message(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    _add_message(state, seq, record, record.data, "assistant")


def _add_message(
    state: WorkbenchState,
    seq: Seq,
    record: Recorded,
    data: UserMessageAdded | AssistantMessageAdded,
    role: str,
) -> None:
    last = state.said.last
    message = Said(
        message_id=data.message_id,
        role=role,
        text=data.text,
        created_at_us=data.said_at_us or record.ts_us,
        run=record.run,
        # The end of the branch, not the newest message of all: after a rewind the tree forks here.
        after=last.message_id if last is not None else "",
        seq=seq,
        model_id=data.model_id if isinstance(data, UserMessageAdded) else "",
        document=data.document if isinstance(data, UserMessageAdded) else "",
        before=state.said_last,
        depth=last.depth + 1 if last is not None else 1,
    )
    state.said_last = state.heard.add(message.message_id, message)


def _rewound(state: WorkbenchState, seq: Seq, record: Recorded) -> None:
    data: ConversationRewound = record.data
    if record.actor is not None:
        state.seen_by = "person"
    head = state.heard.place_of(data.message_id)
    state.said_last = -1 if head is None else head
    then = data.runs
    # A rewind to a message that was cut off brings its runs back. Only those are looked at that are
    # marked otherwise then, for there may be very many.
    count = len(state.runs)
    undone = {*range(then.count + 1, count + 1), *(n for n in then.undone if n <= count)}
    for number in undone ^ state.undone:
        state.changed_run(number).undone = number in undone
    state.undone = undone
    discarded = {n for n in then.discarded if n <= count}
    state.mark_discarded(state.discarded - discarded, discarded=False)
    state.mark_discarded(discarded - state.discarded, discarded=True)
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
    before = state.draft
    state.draft = draft_from(data.draft) if data.draft is not None else None
    if before is not None and not _is_same_draft(before, state.draft):
        state.ended_drafts.append(EndedDraft(before.draft_id, seq, record.ts_us, data.reason))


def _is_same_draft(one: Draft, other: Draft | None) -> bool:
    """Return whether two drafts hold the same changes, confirmed or not."""
    return other is not None and (one.draft_id, one.files) == (other.draft_id, other.files)


def draft_from(then: DraftThen) -> Draft:
    """Return a draft as an event noted it when it ended or was set back."""
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
            focus=file.focus,
            # Before each author was recorded, the last one was.
            runs=list(file.runs or ((file.run,) if file.run else ())),
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


def _reading_chosen(state: WorkbenchState, _seq: Seq, record: Recorded) -> None:
    data: ReadingChosen = record.data
    said = data.read_as.said()
    if said == ReadAs():
        state.readings.pop(data.name, None)
    else:
        state.readings[data.name] = said


CONVERSATION_FOLDS: dict[type, Callable[[WorkbenchState, Seq, Any], None]] = {
    WorkbenchForked: _forked,
    UserMessageAdded: _user_message,
    AssistantMessageAdded: _assistant_message,
    ConversationRewound: _rewound,
    ReadingChosen: _reading_chosen,
    ContextSet: _context_set,
    ContextRemoved: _context_removed,
}
"""What each event of the conversation changes."""
