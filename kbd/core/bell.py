"""Waking who waits, at next to no cost where nobody does."""

import anyio

__all__ = ["Bell"]


class Bell:
    """Rung when something has changed; whoever waits looks again.

    An event of anyio is set once and then replaced, and to make one takes longer than to record
    what it tells of. A bell makes one only when somebody waits.

    Attributes:
        rings: How often it was rung.
    """

    __slots__ = ("_event", "rings")

    def __init__(self) -> None:
        self.rings = 0
        self._event: anyio.Event | None = None

    def ring(self) -> None:
        """Wake all who wait."""
        self.rings += 1
        if self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self, after: int | None = None) -> None:
        """Wait for the next ring, or for none if it was rung more than `after` times already."""
        if after is not None and self.rings > after:
            return
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()
