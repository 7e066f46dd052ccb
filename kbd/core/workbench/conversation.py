"""Conversation of a workbench: messages, tool traffic, and what people did in between.

All that was ever said is a tree; the conversation is one branch of it. An undo makes an earlier
entry the last one, so the entries are kept as such a tree, too, and read from the last one back.

A page is read in two passes over the log: one for the branch, of which only numbers and types are
kept, and one for the entries of the page. So no more texts are in memory than the page has.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.base import Recorded, ReplyCall
from kbd.events.codec import format_time
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DraftDiscarded,
    DraftRebased,
    DraftRecovered,
)
from kbd.events.runs import ModelReplied, NoticeGiven, ToolRefused, ToolReturned
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ConversationRewound,
    UserMessageAdded,
    WorkbenchForked,
)
from kbd.requests.base import Unset
from kbd.requests.pages import page_of
from kbd.requests.workshop import (
    Conversation,
    ConversationCall,
    ConversationFunction,
    ConversationMessage,
    WorkshopGetConversation,
)
from kbd.types import Seq

__all__ = ["ConversationBranch", "conversation", "conversation_entry", "conversation_page"]

_PAGE = 1000

T = TypeVar("T")

_SHOWN_EVENTS = frozenset(
    {
        UserMessageAdded, AssistantMessageAdded, ModelReplied, ToolReturned, ToolRefused,
        CheckpointCreated, CheckpointRestored, DraftDiscarded, DraftRebased, DraftRecovered,
        ConversationRewound, NoticeGiven, WorkbenchForked,
    }
)  # fmt: skip


class ConversationBranch(Generic[T]):
    """The entries of a conversation, gathered from the log in order.

    Args:
        keep: What is kept of an entry: all of it, or what a page is chosen by.
    """

    def __init__(self, keep: Callable[[ConversationMessage], T]) -> None:
        self._keep = keep
        self._entries: list[T] = []
        # Of each entry the one before it, by place, and its event.
        self._before = array("q")
        self._seqs = array("q")
        self._last = -1

    def add(self, seq: Seq, record: Recorded) -> None:
        """Add an event to the tree of entries."""
        if isinstance(record.data, ConversationRewound):
            # Whatever is recorded goes behind the newest entry, and an undo is one itself: so the
            # newest of all after an event was the last of the conversation then.
            self._last = bisect_right(self._seqs, record.data.to_seq) - 1
        entry = conversation_entry(seq, record)
        if entry is None:
            return
        self._before.append(self._last)
        self._entries.append(self._keep(entry))
        self._last = len(self._entries) - 1
        self._seqs.append(seq)

    def entries(self) -> Sequence[T]:
        """Return what is kept of the entries of the current branch, oldest first."""
        found: list[T] = []
        place = self._last
        while place >= 0:
            found.append(self._entries[place])
            place = self._before[place]
        return found[::-1]


async def conversation(workbench: OpenWorkbench) -> Conversation:
    """Return the conversation with its tool traffic, from the log, oldest first.

    What was undone is not in it, nor is what clients call themselves, without a run.
    """
    branch = ConversationBranch(lambda entry: entry)
    await _read(workbench, branch.add)
    return Conversation(messages=tuple(branch.entries()))


async def conversation_page(
    workbench: OpenWorkbench, asked: WorkshopGetConversation
) -> Conversation:
    """Return a page of the conversation; with neither limit nor cursor all that match.

    After an undo to before its cursor, a page goes on behind the event of the cursor on the branch
    that there is now; descending, before it.

    Raises:
        ValidationFailed: The cursor is none of this conversation.
    """
    branch = ConversationBranch(lambda entry: (entry.seq, entry.type))
    await _read(workbench, branch.add)
    types = None if isinstance(asked.types, Unset) else sorted(set(asked.types))
    sign = -1 if asked.descending else 1
    # An entry is behind the one before it in the log, too, so the events rise along a branch.
    seqs = [seq for seq, kind in branch.entries() if types is None or kind in types][::sign]
    of = (asked.method, asked.workbench_id, types, asked.descending)
    page, next_cursor = page_of(
        seqs, lambda seq: (sign * seq,), (int,), of, asked.limit, asked.cursor
    )
    is_page = not (isinstance(asked.limit, Unset) and isinstance(asked.cursor, Unset))
    return Conversation(
        messages=await _read_entries(workbench, page),
        total=len(seqs) if is_page else msgspec.UNSET,
        next_cursor=next_cursor,
    )


async def _read_entries(
    workbench: OpenWorkbench, seqs: Sequence[Seq]
) -> tuple[ConversationMessage, ...]:
    """Return the entries of events, in the order of their numbers as given."""
    if not seqs:
        return ()
    found: dict[Seq, ConversationMessage] = {}
    wanted = frozenset(seqs)

    def take(seq: Seq, record: Recorded) -> None:
        if seq in wanted and (entry := conversation_entry(seq, record)) is not None:
            found[seq] = entry

    await _read(workbench, take, Seq(min(seqs) - 1), max(seqs))
    return tuple(found[seq] for seq in seqs)


async def _read(
    workbench: OpenWorkbench,
    take: Callable[[Seq, Recorded], None],
    after: Seq = Seq(0),  # noqa: B008
    until: Seq | None = None,
) -> None:
    """Pass the events behind `after` to `take`, up to `until` or all, so many at once."""
    while until is None or after < until:
        count = _PAGE if until is None else min(_PAGE, until - after)
        page = await workbench.keeper.journal.read(after, count)
        if not page:
            return
        for seq, record in page:
            take(seq, record)
        after = page[-1][0]


def conversation_entry(seq: Seq, record: Recorded) -> ConversationMessage | None:
    """Return the conversation entry of an event, or None if it has none."""
    data = record.data
    # Asked of every event that is recorded, and most are none of these.
    if type(data) not in _SHOWN_EVENTS:
        return None
    created = format_time(record.ts_us)
    match data:
        case UserMessageAdded() | AssistantMessageAdded():
            return _message_entry(seq, record.ts_us, data)
        case ModelReplied(text=text, calls=calls) if calls:
            return ConversationMessage(
                type="assistant_message", message_id=f"m{seq}", role="assistant", text=text,
                created_at=created, seq=seq, tool_calls=tuple(_call_row(call) for call in calls),
            )  # fmt: skip
        case (
            ToolReturned(call_id=call_id, shown=shown) | ToolRefused(call_id=call_id, shown=shown)
        ) if record.run:
            return ConversationMessage(
                type="tool_result", message_id=f"m{seq}", role="tool", text=shown,
                created_at=created, seq=seq, tool_call_id=call_id, content=shown,
            )  # fmt: skip
        case _:
            entry = _system_event(data)
            return _system_entry(seq, created, *entry) if entry is not None else None


def _message_entry(
    seq: Seq, ts_us: int, data: UserMessageAdded | AssistantMessageAdded
) -> ConversationMessage:
    is_asked = isinstance(data, UserMessageAdded)
    return ConversationMessage(
        type="user_message" if is_asked else "assistant_message",
        message_id=data.message_id,
        role="user" if is_asked else "assistant",
        text=data.text,
        created_at=format_time(data.said_at_us or ts_us),
        seq=seq,
    )


def _system_event(data: Any) -> tuple[str, dict[str, Any]] | None:
    """Return kind and metadata of a system entry: what people did, or should know of."""
    match data:
        # Those before a restore, and those of a fork's source, are told of with it.
        case CheckpointCreated(made_at_us=0, reason=reason) if reason != "pre_restore":
            return f"checkpoint_{reason}", {"checkpoint_id": data.checkpoint_id, "reason": reason}
        case CheckpointRestored():
            return "checkpoint_restore", {
                "checkpoint_id": data.checkpoint_id,
                "pre_restore_checkpoint_id": data.pre_restore_checkpoint_id,
                "reason": "restore",
            }
        case DraftDiscarded(draft_id=draft_id):
            return "draft_discarded", {"draft_id": draft_id}
        case DraftRecovered(draft=draft, is_whole=is_whole):
            return "draft_recovered", {"draft_id": draft.draft_id, "is_whole": is_whole}
        case DraftRebased(draft_id=draft_id):
            return "draft_rebased", {"draft_id": draft_id, "paths": data.files}
        case ConversationRewound(message_id=message_id, reason=reason):
            fields = {"message_id": message_id, "to_seq": data.to_seq}
            checkpoint = {"checkpoint_id": data.checkpoint_id} if data.checkpoint_id else {}
            return reason, {**fields, **checkpoint}
        case NoticeGiven(code=code, message=message):
            return "notice", {"error_code": code, "message": message}
        case WorkbenchForked():
            named = {"from_message_id": data.from_message_id} if data.from_message_id else {}
            return "forked", {
                "source_workbench_id": data.source_workbench_id,
                "mode": data.mode,
                "source_seq": data.source_seq,
                **named,
            }
        case _:
            return None


def _call_row(call: ReplyCall) -> ConversationCall:
    function = ConversationFunction(name=call.name, arguments=call.arguments)
    return ConversationCall(id=call.id, function=function)


def _system_entry(
    seq: Seq, created: str, text: str, metadata: dict[str, Any]
) -> ConversationMessage:
    return ConversationMessage(
        type="system_event", message_id=f"m{seq}", role="system", text=text, created_at=created,
        seq=seq, metadata={"kind": text, **metadata},
    )  # fmt: skip
