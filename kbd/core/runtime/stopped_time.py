"""Clock of an event loop that stands while the process is stopped, and loops that go by it.

A process that is stopped by a signal or a freezer, or starved for long, finds on its return that
every deadline has passed: of model calls whose answer waits in the socket, of workers that are
done, of clients that did read. None of them had its time. So each wait of the loop is a second at
most while anything has a deadline, and what it took beyond that counts for nothing (reliability,
H10). While a machine sleeps the system's monotonic clock stands by itself.
"""

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any

__all__ = ["StoppedTime", "loop_options"]

_LOOK_S = 1.0
"""The longest wait while anything has a deadline: by so much a stop is held against it at most."""

_GRACE_S = 2.0
"""What a loop may be late for being busy: as long as a plugin may hold it up."""

_NEVER_S = 86_400.0
"""A wait of this length or more is for no deadline (trio's own longest one)."""


class StoppedTime:
    """Clock that does not count the time in which the loop did not run.

    It has the methods of a clock of trio, which knows such clocks by these alone.

    Args:
        clock: Seconds of the machine; they never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stopped_s = 0.0
        self._expected_s = clock()

    def current_time(self) -> float:
        """Return seconds; they never go back."""
        now_s = self._clock()
        if now_s - self._expected_s > _GRACE_S:
            self._stopped_s += now_s - self._expected_s
        self._expected_s = now_s
        return now_s - self._stopped_s

    def bounded(self, wait_s: float | None) -> float | None:
        """Return how long the loop may wait, and take that for no stop.

        Args:
            wait_s: How long it would wait if nothing happened; None for ever.
        """
        now_s = self._clock()
        if now_s - self._expected_s > _GRACE_S:
            self._stopped_s += now_s - self._expected_s
        if wait_s is None or wait_s >= _NEVER_S:
            self._expected_s = float("inf")
            return wait_s
        self._expected_s = now_s + min(wait_s, _LOOK_S)
        return min(wait_s, _LOOK_S)

    def start_clock(self) -> None:
        """Begin; nothing is to be done."""

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Return how long trio may wait for a deadline."""
        bounded = self.bounded(max(0.0, deadline - self.current_time()))
        return _NEVER_S if bounded is None else bounded


class _BoundedSelector(selectors.EpollSelector):
    """Selector whose waits are bounded."""

    def __init__(self, stopped: StoppedTime) -> None:
        super().__init__()
        self._stopped = stopped

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for descriptors, for less long than was asked."""
        return super().select(self._stopped.bounded(timeout))


class _StoppableLoop(asyncio.SelectorEventLoop):
    """Loop of asyncio whose clock stands while the process is stopped."""

    def __init__(self) -> None:
        self._stopped = StoppedTime()
        super().__init__(_BoundedSelector(self._stopped))

    def time(self) -> float:
        """Return the seconds that the loop's deadlines go by."""
        return self._stopped.current_time()


def loop_options(backend: str) -> dict[str, Any]:
    """Return what anyio is to start an event loop with.

    Args:
        backend: "asyncio" or "trio".
    """
    return {"clock": StoppedTime()} if backend == "trio" else {"loop_factory": _StoppableLoop}
