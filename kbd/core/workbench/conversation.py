"""Conversation of a workbench: messages, tool traffic, and what people did in between.

All that was ever said is a tree; the conversation is one branch of it. An undo makes an earlier
entry the last one, so the branch is stretches of the log, which its outline tells
(`LogOutline.branch`). A page is read from where it begins: neither the log before it nor the texts
behind it are looked at.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from kbd.core.domain.log_outline import BLOCK_EVENTS, entry_type
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.store.log_reader import LogReader
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
from kbd.requests.pages import decode_cursor, encode_cursor
from kbd.requests.workshop import (
    Conversation,
    ConversationCall,
    ConversationFunction,
    ConversationMessage,
    WorkshopGetConversation,
)
from kbd.types import Seq

__all__ = [
    "conversation",
    "conversation_entry",
    "conversation_page",
    "count_branch",
    "read_branch",
]


async def conversation(workbench: OpenWorkbench) -> Conversation:
    """Return the conversation with its tool traffic, from the log, oldest first.

    What was undone is not in it, nor is what clients call themselves, without a run.
    """
    reader = workbench.keeper.journal.reader
    return Conversation(messages=await read_in_turn(lambda: tuple(read_branch(reader))))


async def conversation_page(
    workbench: OpenWorkbench, asked: WorkshopGetConversation
) -> Conversation:
    """Return a page of the conversation; with neither limit nor cursor all that match.

    After an undo to before its cursor, a page goes on behind the event of the cursor on the branch
    that there is now; descending, before it.

    Raises:
        ValidationFailed: The cursor is none of this conversation.
    """
    return await read_in_turn(_page, workbench.keeper.journal.reader, asked)


def _page(reader: LogReader, asked: WorkshopGetConversation) -> Conversation:
    """Read a page; blocking."""
    types = None if isinstance(asked.types, Unset) else frozenset(asked.types)
    of = (asked.method, asked.workbench_id, types and sorted(types), asked.descending)
    sign = -1 if asked.descending else 1
    after: int | None = None
    if not isinstance(asked.cursor, Unset):
        (place,) = decode_cursor(asked.cursor, of, (int,))
        after = sign * int(place)
    found = read_branch(reader, types, after, descending=asked.descending)
    if isinstance(asked.limit, Unset):
        page, has_more = list(found), False
    else:
        page = list(islice(found, asked.limit))
        has_more = next(found, None) is not None
    is_page = not (isinstance(asked.limit, Unset) and isinstance(asked.cursor, Unset))
    return Conversation(
        messages=tuple(page),
        total=count_branch(reader, types) if is_page else msgspec.UNSET,
        next_cursor=encode_cursor(of, (sign * page[-1].seq,)) if has_more else msgspec.UNSET,
    )


def read_branch(
    reader: LogReader,
    types: frozenset[str] | None = None,
    after: int | None = None,
    *,
    descending: bool = False,
) -> Iterator[ConversationMessage]:
    """Yield the entries of the conversation as it stands; blocking.

    Args:
        reader: The workbench's log.
        types: Only entries of these types; None for all.
        after: Only those behind this event; descending, before it.
        descending: Whether the newest come first.

    Raises:
        LogCorrupt: Damage was met.
    """
    stretches = list(reader.outline().branch())
    for first, last in stretches if descending else reversed(stretches):
        if after is not None and descending:
            last = min(last, after - 1)
        elif after is not None:
            first = max(first, after + 1)
        yield from _read_stretch(reader, types, (first, last), descending=descending)


def _read_stretch(
    reader: LogReader,
    types: frozenset[str] | None,
    stretch: tuple[int, int],
    *,
    descending: bool,
) -> Iterator[ConversationMessage]:
    outline, (first, last) = reader.outline(), stretch
    if last < first:
        return
    numbers = range(outline.block_of(first), outline.block_of(last) + 1)
    for number in reversed(numbers) if descending else numbers:
        if not _count_types(outline.block(number).entries, types):
            continue
        low, high = max(first, number * BLOCK_EVENTS + 1), min(last, (number + 1) * BLOCK_EVENTS)
        entries = [
            entry
            for seq, record in reader.read(Seq(low - 1), Seq(high))
            if (types is None or entry_type(record) in types)
            and (entry := conversation_entry(seq, record)) is not None
        ]
        yield from reversed(entries) if descending else entries


def count_branch(reader: LogReader, types: frozenset[str] | None = None) -> int:
    """Return how many entries the conversation as it stands has; blocking.

    Args:
        reader: The workbench's log.
        types: Only entries of these types; None for all.

    Raises:
        LogCorrupt: Damage was met.
    """
    outline = reader.outline()
    return sum(_count_stretch(reader, types, first, last) for first, last in outline.branch())


def _count_stretch(reader: LogReader, types: frozenset[str] | None, first: int, last: int) -> int:
    outline = reader.outline()
    # Whole blocks are counted already; of what is around them the events are looked at.
    begin = min(outline.block_of(first + BLOCK_EVENTS - 1), len(outline.blocks))
    end = min(last // BLOCK_EVENTS, len(outline.blocks))
    if begin >= end:
        return _count_events(reader, types, first, last)
    between = (outline.block(number).entries_before for number in (begin, end))
    before, through = (_count_types(counts, types) for counts in between)
    around = (first, begin * BLOCK_EVENTS), (end * BLOCK_EVENTS + 1, last)
    return through - before + sum(_count_events(reader, types, *part) for part in around)


def _count_events(reader: LogReader, types: frozenset[str] | None, first: int, last: int) -> int:
    kinds = (entry_type(record) for _, record in reader.read(Seq(first - 1), Seq(last)))
    return sum(1 for kind in kinds if kind and (types is None or kind in types))


def _count_types(counts: Mapping[str, int], types: frozenset[str] | None) -> int:
    return sum(count for kind, count in counts.items() if types is None or kind in types)


def conversation_entry(seq: Seq, record: Recorded) -> ConversationMessage | None:
    """Return the conversation entry of an event, or None if it has none."""
    # Asked of every event that is recorded, and most are none of these.
    if not entry_type(record):
        return None
    data = record.data
    created = format_time(record.ts_us)
    match data:
        case UserMessageAdded() | AssistantMessageAdded():
            return _message_entry(seq, record.ts_us, data)
        case ModelReplied(text=text, calls=calls):
            return ConversationMessage(
                type="assistant_message", message_id=f"m{seq}", role="assistant", text=text,
                created_at=created, seq=seq, tool_calls=tuple(_call_row(call) for call in calls),
            )  # fmt: skip
        case ToolReturned(call_id=call_id, shown=shown) | ToolRefused(call_id=call_id, shown=shown):
            return ConversationMessage(
                type="tool_result", message_id=f"m{seq}", role="tool", text=shown,
                created_at=created, seq=seq, tool_call_id=call_id, content=shown,
            )  # fmt: skip
        case _:
            return _system_entry(seq, created, *_system_event(data))


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


def _system_event(data: Any) -> tuple[str, dict[str, Any]]:
    """Return kind and metadata of a system entry: what people did, or should know of."""
    match data:
        case CheckpointCreated(reason=reason):
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
            raise AssertionError(f"{type(data).__name__} is no entry of a conversation")


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
