"""What left, from a log: every request, in order, however the log is read in parts."""

from pathlib import Path

import pytest

from backends import on_asyncio
from kbd.core.domain.log_outline import BLOCK_EVENTS
from kbd.core.store.journal import Journal
from kbd.core.workbench import event_rows
from kbd.events.base import Recorded
from kbd.events.codec import wrap_event
from kbd.events.log import EventLog
from kbd.events.runs import ModelFailed
from kbd.events.workbenches import RequestSent
from kbd.types import Seq


def request(size_bytes: int) -> Recorded:
    """A request of a run."""
    sent = RequestSent("p", "p:m", "a.example:443", "POST", "/v1", size_bytes)
    return wrap_event(sent, 0, run=2)


@on_asyncio
@pytest.mark.anyio
@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("between", [3, BLOCK_EVENTS, 3 * BLOCK_EVENTS])
async def test_all_are_told_once_in_order(tmp_path: Path, limit: int, between: int) -> None:
    """Asked on from `last_seq` until there is no more; a part without any is empty, not the end."""
    other = wrap_event(ModelFailed("PROVIDER_UNAVAILABLE", "down"), 0, run=2)
    journal = Journal(EventLog.open(tmp_path / "log"))
    await journal.append([other, request(1), *[other] * between, request(2), request(3)])
    told: list[tuple[int, int, object]] = []
    after, has_more = Seq(0), True
    while has_more:
        found = await event_rows.sent_requests("bench", journal, after, limit)
        assert len(found.events) <= limit
        assert found.last_seq > after
        told += [(row.seq, row.bytes_out, row.run_id) for row in found.events]
        after, has_more = found.last_seq, found.has_more
    beyond = await event_rows.sent_requests("bench", journal, Seq(99_999), limit)
    await journal.aclose()

    last = between + 4
    assert told == [(2, 1, "bench-2"), (last - 1, 2, "bench-2"), (last, 3, "bench-2")]
    assert (beyond.events, beyond.has_more) == ((), False)
