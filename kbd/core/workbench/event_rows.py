"""Events of a log as JSON rows for clients, and the requests that left this machine.

A row holds what is stored, unknown fields and all, and is encoded once for all who read it. Beside
that stand the event's title and its place, which follow from the events before it. The requests
are complete, for each was recorded before it left.
"""

import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import msgspec

from kbd.core.domain.event_context import ContextFold, event_place
from kbd.core.domain.event_text import event_text
from kbd.core.domain.log_outline import EventQuery
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.store.journal import Journal
from kbd.core.store.log_reader import LogReader, StoredEvent, decode_records
from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.codec import format_time, plain_record
from kbd.events.workbenches import RequestSent, TraceSent
from kbd.requests.base import UNSET
from kbd.requests.egress import EgressEvents, EgressRow
from kbd.requests.events import EventPlace
from kbd.types import RunId, Seq

__all__ = ["FOLLOW_BATCH", "MAX_CACHED_EVENTS", "EventRows", "FoundRows", "sent_requests"]

FOLLOW_BATCH = 256
"""How many events a follower gets at most at a time."""

MAX_CACHED_EVENTS = 2048
"""Cached encoded events, for followers that are nearly up to date."""

MAX_CACHED_ENDS = 16
"""How many readers can go on where they were without folding anything again."""

MAX_READ_BYTES = 8 * 1024 * 1024
"""An answer to `EventsRead` ends with the event that makes it so long, and is asked on from there:
a thousand of the longest messages would be a gigabyte."""


_NO_PLACE = EventPlace()


class FoundRows(NamedTuple):
    """Found events as JSON texts, and the event up to which all were looked at."""

    rows: tuple[bytes, ...]
    read_to: Seq


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
        self._contexts = _ContextCache(journal.reader)

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

    async def find(
        self, query: EventQuery, after: Seq, before: Seq, limit: int, *, descending: bool
    ) -> FoundRows:
        """Return events between two that are asked for, as `read` does.

        Args:
            query: What is asked for.
            after: The event before the first.
            before: The event behind the last.
            limit: The most to return.
            descending: Whether the newest come first.

        Raises:
            LogCorrupt: Damage was met before anything was found.
        """
        search = partial(self._find, query, (after, before), limit, descending=descending)
        return await read_in_turn(search)

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
        for first, body in self._journal.reader.frames(after):
            items, records = codec.decode_plain(body), decode_records(body)
            for seq in range(max(first, after + 1), first + len(items)):
                record = records[seq - first] if records is not None else None
                context = fold.add(record) if record is not None else None
                row = self._row(StoredEvent(Seq(seq), items[seq - first], record, context))
                rows.append(row)
                size += len(row)
                if len(rows) == limit or size >= MAX_READ_BYTES:
                    self._contexts.store(Seq(seq), fold)
                    return rows
        self._contexts.store(Seq(after + len(rows)), fold)
        return rows

    def _find(
        self, query: EventQuery, between: tuple[Seq, Seq], limit: int, *, descending: bool
    ) -> FoundRows:
        """Search block by block; blocking."""
        rows: list[bytes] = []
        size, read_to = 0, between[descending]
        pages = self._journal.reader.find(query, *between, self._numbered, descending=descending)
        try:
            for looked_to, found in pages:
                for seq, row in found:
                    rows.append(row)
                    size += len(row)
                    if len(rows) == limit or size >= MAX_READ_BYTES:
                        return FoundRows(tuple(rows), seq)
                read_to = looked_to
        except LogCorrupt:
            # What was found is told; who goes on from there is told of the damage.
            if not rows:
                raise
        return FoundRows(tuple(rows), read_to)

    def _numbered(self, event: StoredEvent) -> tuple[Seq, bytes]:
        return event.seq, self._row(event)

    def _row(self, event: StoredEvent) -> bytes:
        """Encode an event with its title, and its place if it has one."""
        plain = plain_record(list(event.item), event.seq, self._log_id)
        if event.record is not None and event.context is not None:
            place = event_place(event.record.data, event.context)
            plain["title"] = event_text(event.record.data, event.context)
            if place != _NO_PLACE:
                plain["place"] = place
        return self._encode(plain)


class _ContextCache:
    """Cache of context folds of a log, by the event that each has reached; thread-safe.

    Args:
        reader: The log's.
    """

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._ends: OrderedDict[Seq, ContextFold] = OrderedDict()

    def after(self, seq: Seq) -> ContextFold:
        """Return a fold that has reached an event; it belongs to the caller alone."""
        with self._lock:
            # Taken out, for its reader changes it.
            if (end := self._ends.pop(seq, None)) is not None:
                return end
        return self._reader.context_after(seq)

    def store(self, seq: Seq, fold: ContextFold) -> None:
        """Store a fold that has reached an event, for a reader that continues there."""
        with self._lock:
            self._ends[seq] = fold
            if len(self._ends) > MAX_CACHED_ENDS:
                self._ends.popitem(last=False)


async def sent_requests(log_id: str, journal: Journal, after: Seq, limit: int) -> EgressEvents:
    """Return the requests that left this machine, from a log behind a position, oldest first.

    Args:
        log_id: The workbench's id, or "daemon".
        journal: The log.
        after: The position.
        limit: The most to return.
    """
    seq = Seq(min(after, journal.seq))
    return await read_in_turn(_sent_requests, log_id, journal, seq, limit)


_SENT = EventQuery(types=frozenset({RequestSent.__name__, TraceSent.__name__}))


def _sent_requests(log_id: str, journal: Journal, after: Seq, limit: int) -> EgressEvents:
    found: list[EgressRow] = []

    def render(event: StoredEvent) -> EgressRow | None:
        record = event.record
        if record is None:
            return None
        return _request_row(log_id, event.seq, record.ts_us, record.run, record.data)

    end, read_to = journal.seq, after
    for looked_to, rows in journal.reader.find(_SENT, after, Seq(end + 1), render):
        found += [row for row in rows if row is not None]
        if len(found) >= limit:
            found = found[:limit]
            read_to = found[-1].seq
            break
        read_to = looked_to
    return EgressEvents(events=tuple(found), last_seq=read_to, has_more=read_to < end)


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
