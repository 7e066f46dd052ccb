"""Events as clients see them: what is stored, unknown fields and all, encoded once for all.

What left this machine, from the log: every request was recorded before it did.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kbd.core.store.journal import Journal
from kbd.events.plain_form import shown, shown_time
from kbd.events.workbenches import RequestSent
from kbd.requests.base import UNSET
from kbd.requests.egress import EgressEvents, EgressRow
from kbd.types import RunId, Seq

__all__ = ["ENCODED_KEPT", "FOLLOW_BATCH", "EventWire", "sent_requests"]

FOLLOW_BATCH = 256
"""How many events a follower gets at most at a time."""

ENCODED_KEPT = 2048
"""How many encoded events are kept for followers that are nearly up to date."""


class EventWire:
    """The events of one log, as JSON.

    Args:
        log_id: The workbench's id, or "daemon".
        journal: The log.
    """

    def __init__(self, log_id: str, journal: Journal) -> None:
        self._log_id, self._journal = log_id, journal
        self._encode = msgspec.json.Encoder().encode
        self._kept: OrderedDict[Seq, bytes] = OrderedDict()
        self._followers = 0

    @property
    def seq(self) -> Seq:
        """The last durable event."""
        return self._journal.seq

    @property
    def is_followed(self) -> bool:
        """Whether somebody reads it on and on."""
        return self._followers > 0

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Tell that somebody reads it on and on while inside, so that the log stays open."""
        self._followers += 1
        try:
            yield
        finally:
            self._followers -= 1

    async def read(self, after: Seq, limit: int) -> tuple[bytes, ...]:
        """Return at most `limit` events after a number as JSON texts."""
        wanted = range(after + 1, min(after + limit, self._journal.seq) + 1)
        kept = [self._kept[Seq(seq)] for seq in wanted if seq in self._kept]
        if len(kept) == len(wanted):
            return tuple(kept)
        stored = await self._journal.read_plain(after, limit)
        return tuple(self._encoded(seq, item) for seq, item in stored)

    async def follow(self, after: Seq) -> AsyncIterator[tuple[Seq, tuple[bytes, ...]]]:
        """Yield batches after a number until the log closes, each with its last number."""
        while await self._journal.grown(after):
            batch = await self.read(after, FOLLOW_BATCH)
            after = Seq(after + len(batch))
            yield after, batch

    def _encoded(self, seq: Seq, item: list[Any]) -> bytes:
        kept = self._kept.get(seq)
        if kept is None:
            kept = self._kept[seq] = self._encode(shown(item, seq, self._log_id))
            if len(self._kept) > ENCODED_KEPT:
                self._kept.popitem(last=False)
        return kept


LOOKED_AT = 20_000
"""Events that one answer looks through at most: a fraction of a second."""

_AT_A_TIME = 2000


async def sent_requests(log_id: str, journal: Journal, after: Seq, limit: int) -> EgressEvents:
    """Return the requests that a log tells of behind a place, oldest first.

    Args:
        log_id: The workbench's id, or "daemon".
        journal: The log.
        after: The place.
        limit: The most to return.
    """
    found: list[EgressRow] = []
    seq = min(after, journal.seq)
    end = min(journal.seq, seq + LOOKED_AT)
    while seq < end and len(found) < limit:
        read = await journal.read(Seq(seq), min(_AT_A_TIME, end - seq))
        if not read:
            break
        for number, record in read:
            seq = number
            if isinstance(record.data, RequestSent):
                found.append(_row(log_id, number, record.ts_us, record.run, record.data))
                if len(found) == limit:
                    break
    return EgressEvents(events=tuple(found), last_seq=Seq(seq), has_more=seq < journal.seq)


def _row(log_id: str, seq: Seq, ts_us: int, run: int, sent: RequestSent) -> EgressRow:
    return EgressRow(
        seq=seq,
        ts=shown_time(ts_us),
        run_id=RunId(f"{log_id}-{run}") if run else UNSET,
        provider_id=sent.provider_id,
        model_id=sent.model_id,
        endpoint=sent.endpoint,
        method=sent.method,
        path=sent.path,
        bytes_out=sent.bytes_out,
        purpose=sent.purpose,
    )
