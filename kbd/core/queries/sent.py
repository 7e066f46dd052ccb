"""What left this machine, from the log: every request was recorded before it did."""

from kbd.core.store.journal import Journal
from kbd.events.shown import shown_time
from kbd.events.workbenches import RequestSent
from kbd.requests.base import UNSET
from kbd.requests.egress import EgressEvents, EgressRow
from kbd.types import RunId, Seq

__all__ = ["sent_requests"]

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
