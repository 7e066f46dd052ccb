"""How the wire writes a time: ISO 8601, UTC, with microseconds."""

from datetime import UTC, datetime, timedelta

__all__ = ["wire_time"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wire_time(ts_us: int) -> str:
    """Return microseconds since 1970 UTC as `2026-01-31T09:30:00.123456Z`."""
    moment = _EPOCH + timedelta(microseconds=ts_us)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
