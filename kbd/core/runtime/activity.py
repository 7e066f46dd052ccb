"""Activity of the daemon: whether it does something for somebody, and how long it has not.

What is done at leisure asks it before it begins, and is told at once when there is work again.
"""

import time

from kbd.core.runtime.event_loop import Notifier

__all__ = ["Activity"]


class Activity:
    """Activity of the daemon; told of each request and of each event as it is recorded.

    Attributes:
        begun: Rung when something begins, or has just been done.
    """

    __slots__ = ("_last_s", "_under_way", "begun")

    def __init__(self) -> None:
        self.begun = Notifier()
        self._under_way, self._last_s = 0, time.monotonic()

    def note(self) -> None:
        """Note that something was done."""
        # In the way of every request and event: less than a microsecond.
        self._last_s = time.monotonic()
        self.begun.ring()

    def begin(self) -> None:
        """Note that something begins that takes its time; `end` follows."""
        self._under_way += 1
        self.begun.ring()

    def end(self) -> None:
        """Note that it has ended."""
        self._under_way -= 1
        self._last_s = time.monotonic()

    def idle_s(self) -> float:
        """Return for how many seconds nothing was done; 0 while something is under way."""
        return 0.0 if self._under_way else time.monotonic() - self._last_s
