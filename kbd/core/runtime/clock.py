"""Clock and source of fresh ids, as an interface, so that tests decide both."""

import secrets
import time
from typing import Protocol

__all__ = ["Clock", "SystemClock"]


class Clock(Protocol):
    """Source of the time and of new identifiers."""

    def now_us(self) -> int:
        """Return microseconds since 1970 UTC; it may jump, so it never orders anything."""

    def monotonic_s(self) -> float:
        """Return seconds on a clock that never goes back, for durations."""

    def new_id(self) -> str:
        """Return a new identifier of 16 lower-case hex digits."""


class SystemClock:
    """The machine's clocks and its randomness."""

    def now_us(self) -> int:
        """Return microseconds since 1970 UTC."""
        return time.time_ns() // 1000

    def monotonic_s(self) -> float:
        """Return seconds on the monotonic clock."""
        return time.monotonic()

    def new_id(self) -> str:
        """Return 64 random bits as hex digits."""
        return secrets.token_hex(8)
