"""Reader of a log by its outline: from the end, by type, run and time, without reading all of it.

All blocks; any thread may read. The outline is brought up to date when it is asked for, so that to
record an event costs nothing more.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from kbd.core.domain.event_context import ContextFold, EventContext
from kbd.core.domain.log_outline import BLOCK_EVENTS, EventQuery, LogOutline
from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.log import EventLog
from kbd.types import Seq

__all__ = ["LogReader", "StoredEvent", "decode_records"]

MAX_READ_BLOCKS = 32
"""Blocks that one search reads at most: a quarter of a second for what no outline tells apart."""

T = TypeVar("T")


class StoredEvent(NamedTuple):
    """An event as it is stored, and decoded.

    Args:
        seq: Its number.
        item: As it is stored; see `codec.decode_plain`.
        record: Decoded; None where this kbd cannot read the frame.
        context: Its context; None without `record`.
    """

    seq: Seq
    item: Sequence[Any]
    record: Recorded | None
    context: EventContext | None


class LogReader:
    """Reader of one log.

    Args:
        log: The log.
        outline: Its outline, as far as it is known; the reader's own from here on.
    """

    def __init__(self, log: EventLog, outline: LogOutline | None = None) -> None:
        self._log = log
        self._outline = outline if outline is not None else LogOutline()
        self._lock = threading.Lock()

    def outline(self) -> LogOutline:
        """Return the outline, brought up to the last durable event, or to where damage begins."""
        outline = self._outline
        if outline.seq < self._log.seq:
            with self._lock:
                try:
                    for place, body in self._log.located_frames(outline.seq, outline.last):
                        if (records := decode_records(body)) is not None:
                            outline.add(place, records)
                        else:
                            outline.add_plain(place, codec.decode_plain(body))
                except LogCorrupt:
                    pass  # Whoever reads there is told.
        return outline

    def frames(self, after: Seq) -> Iterator[tuple[Seq, bytes]]:
        """Yield the frames that hold an event behind one; see `EventLog.frames`."""
        for place, body in self._log.located_frames(after, self._outline.near(after + 1)):
            yield Seq(place.seq), body

    def read(self, after: Seq, until: Seq) -> Iterator[tuple[Seq, Recorded]]:
        """Yield the events behind one up to another.

        Raises:
            LogCorrupt: Damage was met, or what cannot be decoded.
        """
        if until <= after:
            return
        for first, body in self.frames(after):
            for seq, record in enumerate(codec.decode(body), first):
                if after < seq <= until:
                    yield Seq(seq), record
                if seq >= until:
                    return

    def page(self, after: Seq, limit: int) -> list[tuple[Seq, Recorded]]:
        """Return up to `limit` events behind one; see `EventLog.read`."""
        return self._log.read(after, limit, self._outline.near(after + 1))

    def context_after(self, seq: Seq) -> ContextFold:
        """Return a context fold of all events up to one; it is the caller's."""
        outline = self.outline()
        number = seq // BLOCK_EVENTS
        with self._lock:
            # The next event begins a block, or there is none yet.
            if number >= len(outline.starts):
                return outline.context.copy()
        fold = outline.context_before(number)
        try:
            for _, record in self.read(Seq(number * BLOCK_EVENTS), seq):
                fold.add(record)
        except LogCorrupt:
            return ContextFold()  # What can be read is told all the same.
        return fold

    def find(
        self,
        query: EventQuery,
        after: Seq,
        before: Seq,
        render: Callable[[StoredEvent], T],
        *,
        descending: bool = False,
    ) -> Iterator[tuple[Seq, list[T]]]:
        """Yield, block by block, the events between two that are asked for.

        Each block comes with the event up to which all was looked at: its last one, or descending
        its first one.

        Args:
            query: What is asked for.
            after: The event before the first.
            before: The event behind the last.
            render: Makes what is yielded of an event.
            descending: Whether the newest come first.

        Raises:
            LogCorrupt: Damage was met.
        """
        outline, read = self.outline(), 0
        if before <= after + 1:
            return
        numbers = range(outline.block_of(after + 1), outline.block_of(before - 1) + 1)
        for number in reversed(numbers) if descending else numbers:
            low = Seq(max(after, number * BLOCK_EVENTS))
            high = Seq(min(before - 1, (number + 1) * BLOCK_EVENTS))
            found: list[T] = []
            # Behind the last block that is known there is damage, which is told when it is read.
            if number >= len(outline.starts) or outline.block(number).may_have(query):
                found = self._find_in(number, query, (low, high), render)
                read += 1
            yield (Seq(low + 1), found[::-1]) if descending else (high, found)
            if read >= MAX_READ_BLOCKS:
                return

    def _find_in(
        self,
        number: int,
        query: EventQuery,
        between: tuple[Seq, Seq],
        render: Callable[[StoredEvent], T],
    ) -> list[T]:
        """Return the events of a block, behind one up to another, that are asked for."""
        after, until = between
        start = number * BLOCK_EVENTS
        frames: list[tuple[Seq, bytes, list[list[Any]]]] = []
        last = 0
        for first, body in self.frames(Seq(start)):
            if first > until:
                break
            items = codec.decode_plain(body)
            frames.append((first, body, items))
            wanted = (
                seq
                for seq, item in enumerate(items, first)
                if after < seq <= until and query.matches(item[0], item[3], item[4])
            )
            last = max(wanted, default=last)
        # Decoded only where there is one, and only up to the last of them.
        fold = self._outline.context_before(number) if last else ContextFold()
        found: list[T] = []
        for event in _told(frames, fold, start, last):
            kind, _, _, ts_us, run, *_ = event.item
            if after < event.seq <= until and query.matches(kind, ts_us, run):
                found.append(render(event))
        return found


def _told(
    frames: Sequence[tuple[Seq, bytes, list[list[Any]]]], fold: ContextFold, after: int, until: int
) -> Iterator[StoredEvent]:
    """Yield events behind one up to another with their contexts."""
    for first, body, items in frames:
        if first > until:
            return
        records = decode_records(body)
        for seq, item in enumerate(items, first):
            if after < seq <= until:
                record = records[seq - first] if records is not None else None
                context = fold.add(record) if record is not None else None
                yield StoredEvent(Seq(seq), item, record, context)


def decode_records(body: bytes) -> list[Recorded] | None:
    """Decode the events of a frame; None if this kbd cannot: they are shown as they are stored."""
    try:
        return codec.decode(body)
    except LogCorrupt:
        return None
