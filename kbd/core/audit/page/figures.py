"""Formatting of times, sizes and numbers for people."""

from datetime import UTC, datetime

__all__ = ["clock", "count", "duration", "parse_time_ms", "size"]


def parse_time_ms(ts: str) -> float:
    """Return a time of the wire (ISO 8601, UTC) in milliseconds since 1970."""
    return datetime.fromisoformat(ts).timestamp() * 1000


def clock(ts: str) -> str:
    """Return a time of the wire to the millisecond, without the day."""
    return datetime.fromisoformat(ts).astimezone(UTC).strftime("%H:%M:%S.%f")[:-3]


def duration(ms: float) -> str:
    """Return a duration in the two units that matter."""
    seconds = ms / 1000
    if seconds < 0.9995:
        return f"{ms:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.0f} s" if seconds >= 9.95 or seconds.is_integer() else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(size_bytes: int) -> str:
    """Return a number of bytes."""
    amount = float(size_bytes)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Return a number with its thousands apart, and its noun if one is given."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
