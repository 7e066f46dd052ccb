"""Outline of a log: what its events are, block by block, so that a reader finds some of many.

Who wants the newest events of a type, a page of the conversation or the place of an event in its
run would else read the log from its first event on. The outline has, for each `BLOCK_EVENTS`
events, where they lie, how many there are of each type, of which runs and when, and the context of
the first. It is a fold of the log and is kept with the snapshots of the state; without one it is
made anew from the log.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kbd.core.domain.event_context import ContextFold
from kbd.core.domain.long_lists import PagedList
from kbd.events import drafts, runs, workbenches
from kbd.events.base import Recorded
from kbd.events.codec import Unknown
from kbd.events.frame import FrameLink
from kbd.types import Seq

__all__ = ["BLOCK_EVENTS", "BlockStart", "EventQuery", "LogOutline", "OutlineBlock", "entry_type"]

BLOCK_EVENTS = 1024
"""Events of a block: what a reader folds at most to tell the place of one (some 15 ms)."""

_SYSTEM_ENTRIES = frozenset(
    {
        drafts.CheckpointRestored,
        drafts.DraftDiscarded,
        drafts.DraftRebased,
        drafts.DraftRecovered,
        runs.NoticeGiven,
        workbenches.ConversationRewound,
        workbenches.WorkbenchForked,
    }
)


def entry_type(record: Recorded) -> str:
    """Return the type of the entry that an event is in the conversation; "" if it is none."""
    data = record.data
    kind = type(data)
    if kind is workbenches.UserMessageAdded:
        return "user_message"
    if kind is workbenches.AssistantMessageAdded:
        return "assistant_message"
    if kind is runs.ModelReplied:
        return "assistant_message" if data.calls else ""
    if kind is runs.ToolReturned or kind is runs.ToolRefused:
        return "tool_result" if record.run else ""
    if kind is drafts.CheckpointCreated:
        # Those before a restore, and those of a fork's source, are told of with it.
        return "" if data.made_at_us or data.reason == "pre_restore" else "system_event"
    return "system_event" if kind in _SYSTEM_ENTRIES else ""


class EventQuery(msgspec.Struct, frozen=True):
    """Query for events; an empty field asks for nothing.

    Args:
        types: Names of types, one of which it has.
        run: The number of its run.
        since_us: The first time that is not too early.
        until_us: The first time that is too late.
    """

    types: frozenset[str] = frozenset()
    run: int = 0
    since_us: int = 0
    until_us: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether it asks for all events."""
        return self == EventQuery()

    def matches(self, kind: str, ts_us: int, run: int) -> bool:
        """Return whether an event is asked for."""
        return (
            (not self.types or kind in self.types)
            and (not self.run or run == self.run)
            and (not self.since_us or ts_us >= self.since_us)
            and (not self.until_us or ts_us < self.until_us)
        )


class OutlineBlock(msgspec.Struct, array_like=True):
    """Outline of a block's events.

    Args:
        types: How many there are of each type.
        entries: How many are entries of the conversation, by their type.
        first_run: The lowest number of a run that one belongs to; 0 if none does.
        last_run: The highest.
        first_us: The earliest time of one.
        last_us: The latest.
        entries_before: How many entries of each type the blocks before it have.
        runs_before: The highest number of a run in the blocks before it.
    """

    types: dict[str, int] = {}
    entries: dict[str, int] = {}
    first_run: int = 0
    last_run: int = 0
    first_us: int = 0
    last_us: int = 0
    entries_before: dict[str, int] = {}
    runs_before: int = 0

    def add(self, kind: str, ts_us: int, run: int, entry: str) -> None:
        """Count an event in."""
        is_first = not self.types
        self.types[kind] = self.types.get(kind, 0) + 1
        if entry:
            self.entries[entry] = self.entries.get(entry, 0) + 1
        if run:
            self.first_run = min(self.first_run or run, run)
            self.last_run = max(self.last_run, run)
        # A clock may go back.
        self.first_us = ts_us if is_first else min(self.first_us, ts_us)
        self.last_us = ts_us if is_first else max(self.last_us, ts_us)

    @property
    def runs_through(self) -> int:
        """The highest number of a run up to its end."""
        return max(self.runs_before, self.last_run)

    def following(self) -> "OutlineBlock":
        """Return the block that follows it, empty."""
        before, here = self.entries_before, self.entries
        counts = {kind: before.get(kind, 0) + here.get(kind, 0) for kind in {*before, *here}}
        return OutlineBlock(entries_before=counts, runs_before=self.runs_through)

    def may_have(self, query: EventQuery) -> bool:
        """Return whether an event that is asked for may be in the block."""
        return (
            (not query.types or not query.types.isdisjoint(self.types))
            and (not query.run or self.first_run <= query.run <= self.last_run)
            and (not query.since_us or self.last_us >= query.since_us)
            and (not query.until_us or self.first_us < query.until_us)
        )


class BlockStart(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a block: the frame that has its first event, and the context before that.

    The context is encoded: most are never looked at.
    """

    place: FrameLink
    context: bytes


class LogOutline(msgspec.Struct):
    """Outline of a log up to the event `seq`.

    Args:
        seq: The last event that is folded in.
        last: The place of its frame.
        starts: Where blocks begin, the one that is not complete, too.
        blocks: Those that are complete.
        newest: The one that is not complete.
        rewinds: Each undo of the conversation: its event, and the event that it went back to.
        context: The context fold, as far as `seq`.
    """

    seq: Seq = Seq(0)
    last: FrameLink | None = None
    starts: PagedList[BlockStart] = msgspec.field(default_factory=PagedList)
    blocks: PagedList[OutlineBlock] = msgspec.field(default_factory=PagedList)
    newest: OutlineBlock = msgspec.field(default_factory=OutlineBlock)
    rewinds: PagedList[tuple[int, int]] = msgspec.field(default_factory=PagedList)
    context: ContextFold = msgspec.field(default_factory=ContextFold)

    def add(self, place: FrameLink, records: Sequence[Recorded]) -> None:
        """Fold the events of a frame in; those that are in already are passed over."""
        for seq, record in enumerate(records, place.seq):
            if seq > self.seq:
                self._begin(place, seq)
                data = record.data
                kind = data.type if type(data) is Unknown else type(data).__name__
                self.newest.add(kind, record.ts_us, record.run, entry_type(record))
                self.context.add(record)
                if type(data) is workbenches.ConversationRewound:
                    self.rewinds.append((seq, data.to_seq))
        self.last = place

    def add_plain(self, place: FrameLink, items: Sequence[Sequence[Any]]) -> None:
        """Fold the events of a frame in whose content this kbd cannot read, as they are stored."""
        for seq, (kind, _, _, ts_us, run, *_) in enumerate(items, place.seq):
            if seq > self.seq:
                self._begin(place, seq)
                self.newest.add(kind, ts_us, run, "")
        self.last = place

    def _begin(self, place: FrameLink, seq: int) -> None:
        if (seq - 1) % BLOCK_EVENTS == 0:
            if seq > 1:
                full = self.newest
                self.blocks.append(full)
                self.newest = full.following()
            self.starts.append(BlockStart(place, msgspec.msgpack.encode(self.context)))
        self.seq = Seq(seq)

    def block_of(self, seq: int) -> int:
        """Return the number of the block that has an event."""
        return max(seq - 1, 0) // BLOCK_EVENTS

    def block(self, number: int) -> OutlineBlock:
        """Return a block by its number."""
        return self.blocks[number] if number < len(self.blocks) else self.newest

    def before_run(self, run: int) -> Seq:
        """Return an event behind which all of a run come, and what clients did before it.

        Between them there is at least one event of the run before, if there is one.
        """
        blocks = range(len(self.blocks) + 1)
        number = bisect_left(blocks, run, key=lambda each: self.block(each).runs_through)
        number = min(number, len(self.blocks)) - 1
        while number > 0 and not self.block(number).last_run:
            number -= 1
        return Seq(max(number, 0) * BLOCK_EVENTS)

    def near(self, seq: int) -> FrameLink | None:
        """Return the place of a frame from which an event is ahead and near."""
        if not self.starts:
            return None
        return self.starts[min(self.block_of(seq), len(self.starts) - 1)].place

    def context_before(self, number: int) -> ContextFold:
        """Return a context fold of all events before a block; it is the caller's."""
        return msgspec.msgpack.decode(self.starts[number].context, type=ContextFold)

    def branch(self) -> Iterator[tuple[int, int]]:
        """Yield the first and last events of the stretches of the conversation, the newest first.

        An undo begins one: what was said between it and the event that it went back to is cut off.
        """
        end = int(self.seq)
        for seq, to_seq in reversed(self.rewinds):
            if seq <= end:
                yield seq, end
                end = to_seq
        if end:
            yield 1, end
