"""Plain form of an event outside the log: on the wire, in `kbd log --json`, in an export.

On disk a record says its run as a number within the workbench and its cause as a sequence number
of the same log, both small integers with 0 for "none". Shown, the run is its id
`<workbench_id>-<n>`, an event is `<log>:<seq>`, and what is "none" is left out.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from kbd.types import Seq

__all__ = ["format_time", "plain_record", "utc_day"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_time(ts_us: int) -> str:
    """Return microseconds since 1970 UTC as `2026-01-31T09:30:00.123456Z`."""
    seconds, rest = divmod(ts_us, 1_000_000)
    return f"{_second(seconds)}.{rest:06}Z"


def utc_day(ts_us: int) -> str:
    """Return the day of a time, as `2026-01-31`."""
    return format_time(ts_us)[:10]


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    """Format a second, cached: what is shown together mostly happened in few of them."""
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


def plain_record(record: list[Any], seq: Seq, log: str) -> dict[str, Any]:
    """Convert a record to the plain form that clients see.

    Args:
        record: The record as `codec.decode_plain` gives it; fields of its data that this kbd does
            not know are shown as they are.
        seq: Its number.
        log: The workbench's id, or "daemon".
    """
    kind, version, data, ts_us, run, cause, *_ = record
    event = {
        "seq": int(seq),
        "id": f"{log}:{seq}",
        "type": kind,
        "version": version,
        "ts": format_time(ts_us),
        "data": data,
    }
    if run:
        event["run_id"] = f"{log}-{run}"
    if cause:
        event["causation_id"] = f"{log}:{cause}"
    return event
