"""Events of a log as JSON rows for clients, and the requests that left this machine.

A row holds what is stored, unknown fields and all, and is encoded once for all who read it. Beside
that stand the event's title and its place, which follow from the events before it. The requests
are complete, for each was recorded before it left.
"""

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kbd.core.domain.event_context import ContextFold, event_place
from kbd.core.domain.event_text import event_text
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.store.journal import Journal
from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.codec import format_time, plain_record
from kbd.events.log import EventLog
from kbd.events.workbenches import RequestSent, TraceSent
from kbd.requests.base import UNSET
from kbd.requests.egress import EgressEvents, EgressRow
from kbd.requests.events import EventPlace
from kbd.types import RunId, Seq

__all__ = ["FOLLOW_BATCH", "MAX_CACHED_EVENTS", "EventRows", "sent_requests"]

FOLLOW_BATCH = 256
"""How many events a follower gets at most at a time."""

MAX_CACHED_EVENTS = 2048
"""Cached encoded events, for followers that are nearly up to date."""

CHECKPOINT_EVENTS = 1000
"""Distance of the context folds that are kept: once the log was read so far, a read anywhere folds
at most so many events."""

MAX_CACHED_ENDS = 16
"""How many readers can go on where they were without folding anything again."""

MAX_READ_BYTES = 8 * 1024 * 1024
"""An answer to `EventsRead` ends with the event that makes it so long, and is asked on from there:
a thousand of the longest messages would be a gigabyte."""


_NO_PLACE = EventPlace()


class EventRows:
    """Reader of one log's events as JSON rows.

    Args:
        log_id: The workbench's id, or "daemon".
        journal: The log.
    """

    def __init__(self, log_id: str, journal: Journal) -> None:
        self._log_id, self._journal = log_id, journal
        self._encode = msgspec.json.Encoder().encode
        self._kept: OrderedDict[Seq, bytes] = OrderedDict()
        self._followers = 0
        self._contexts = _ContextCache(journal.log)

    @property
    def seq(self) -> Seq:
        """The last durable event."""
        return self._journal.seq

    @property
    def is_followed(self) -> bool:
        """Whether the log has followers."""
        return self._followers > 0

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Count as a follower while inside, so that the log stays open."""
        self._followers += 1
        try:
            yield
        finally:
            self._followers -= 1

    async def read(self, after: Seq, limit: int) -> tuple[bytes, ...]:
        """Return at most `limit` events after a number as JSON texts, with titles and places.

        Fewer where these take `MAX_READ_BYTES` or more.
        """
        if after >= self._journal.seq:
            return ()
        return tuple(await read_in_turn(self._read, after, limit))

    async def rows(self, after: Seq, limit: int) -> tuple[bytes, ...]:
        """Return the same rows without titles and places, for followers: a third of the time."""
        wanted = range(after + 1, min(after + limit, self._journal.seq) + 1)
        cached = [self._kept[Seq(seq)] for seq in wanted if seq in self._kept]
        if len(cached) == len(wanted):
            return tuple(cached)
        stored = await self._journal.read_plain(after, limit)
        return tuple(self._encoded(seq, item) for seq, item in stored)

    async def follow(self, after: Seq) -> AsyncIterator[tuple[Seq, tuple[bytes, ...]]]:
        """Yield batches after a number until the log closes, each with its last number."""
        while await self._journal.grown(after):
            limit = min(FOLLOW_BATCH, self._journal.announced - after)
            batch = await self.rows(after, limit)
            after = Seq(after + len(batch))
            yield after, batch

    def _encoded(self, seq: Seq, item: list[Any]) -> bytes:
        cached = self._kept.get(seq)
        if cached is None:
            cached = self._kept[seq] = self._encode(plain_record(item, seq, self._log_id))
            if len(self._kept) > MAX_CACHED_EVENTS:
                self._kept.popitem(last=False)
        return cached

    def _read(self, after: Seq, limit: int) -> list[bytes]:
        """Read events, add titles and places, encode them; blocking."""
        fold = self._contexts.after(after)
        rows: list[bytes] = []
        size = 0
        for first, body in self._journal.log.frames(after):
            items, records = codec.decode_plain(body), _decode_records(body)
            for seq in range(max(first, after + 1), first + len(items)):
                event = plain_record(items[seq - first], Seq(seq), self._log_id)
                if records:
                    event |= _title_and_place(fold, records[seq - first])
                    self._contexts.mark(Seq(seq), fold)
                row = self._encode(event)
                rows.append(row)
                size += len(row)
                if len(rows) == limit or size >= MAX_READ_BYTES:
                    self._contexts.store(Seq(seq), fold)
                    return rows
        self._contexts.store(Seq(after + len(rows)), fold)
        return rows


class _ContextCache:
    """Cache of context folds of a log, by the event that each has reached; thread-safe.

    Args:
        log: The log.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._marks: dict[Seq, ContextFold] = {Seq(0): ContextFold()}
        self._ends: OrderedDict[Seq, ContextFold] = OrderedDict()

    def after(self, seq: Seq) -> ContextFold:
        """Return a fold that has reached an event; it belongs to the caller alone."""
        with self._lock:
            # Taken out, for its reader changes it.
            if (end := self._ends.pop(seq, None)) is not None:
                return end
            near = max(mark for mark in self._marks if mark <= seq)
            fold = self._marks[near].copy()
        try:
            # Outside the lock: a long fold holds up no other reader.
            return self._folded(fold, near, seq) if near < seq else fold
        except LogCorrupt:
            return ContextFold()  # What can be read is told all the same, without what was before.

    def store(self, seq: Seq, fold: ContextFold) -> None:
        """Store a fold that has reached an event, for a reader that continues there."""
        with self._lock:
            self._ends[seq] = fold
            if len(self._ends) > MAX_CACHED_ENDS:
                self._ends.popitem(last=False)

    def mark(self, seq: Seq, fold: ContextFold) -> None:
        """Keep a copy of a fold at every `CHECKPOINT_EVENTS`th event."""
        if seq % CHECKPOINT_EVENTS == 0 and seq not in self._marks:
            mark = fold.copy()
            with self._lock:
                self._marks[seq] = mark

    def _folded(self, fold: ContextFold, after: Seq, until: Seq) -> ContextFold:
        for first, body in self._log.frames(after):
            for seq, record in enumerate(codec.decode(body), first):
                if seq > after:
                    fold.add(record)
                    self.mark(Seq(seq), fold)
                if seq == until:
                    return fold
        return fold


def _decode_records(body: bytes) -> list[Recorded]:
    """Decode the events of a frame; none if they cannot be decoded, for they are shown anyway."""
    try:
        return codec.decode(body)
    except LogCorrupt:
        return []


def _title_and_place(fold: ContextFold, record: Recorded) -> dict[str, Any]:
    """Return an event's title, and its place if it has one."""
    context = fold.add(record)
    place = event_place(record.data, context)
    title = {"title": event_text(record.data, context)}
    return {**title, "place": place} if place != _NO_PLACE else title


MAX_SCANNED_EVENTS = 20_000
"""Events that one answer looks through at most: a fraction of a second."""

_PAGE_EVENTS = 2000


async def sent_requests(log_id: str, journal: Journal, after: Seq, limit: int) -> EgressEvents:
    """Return the requests that left this machine, from a log behind a position, oldest first.

    Args:
        log_id: The workbench's id, or "daemon".
        journal: The log.
        after: The position.
        limit: The most to return.
    """
    found: list[EgressRow] = []
    seq = min(after, journal.seq)
    end = min(journal.seq, seq + MAX_SCANNED_EVENTS)
    while seq < end and len(found) < limit:
        read = await journal.read(Seq(seq), min(_PAGE_EVENTS, end - seq))
        if not read:
            break
        for number, record in read:
            seq = number
            if isinstance(record.data, RequestSent | TraceSent):
                found.append(_request_row(log_id, number, record.ts_us, record.run, record.data))
                if len(found) == limit:
                    break
    return EgressEvents(events=tuple(found), last_seq=Seq(seq), has_more=seq < journal.seq)


def _request_row(
    log_id: str, seq: Seq, ts_us: int, run: int, sent: RequestSent | TraceSent
) -> EgressRow:
    if isinstance(sent, TraceSent):
        return EgressRow(
            seq=seq,
            ts=format_time(ts_us),
            run_id=RunId(f"{sent.workbench_id}-{sent.run}"),
            provider_id="",
            model_id="",
            endpoint=sent.endpoint,
            method="POST",
            path=sent.path,
            bytes_out=sent.bytes_out,
            purpose="trace",
        )
    return EgressRow(
        seq=seq,
        ts=format_time(ts_us),
        run_id=RunId(f"{log_id}-{run}") if run else UNSET,
        provider_id=sent.provider_id,
        model_id=sent.model_id,
        endpoint=sent.endpoint,
        method=sent.method,
        path=sent.path,
        bytes_out=sent.bytes_out,
        purpose=sent.purpose,
    )
