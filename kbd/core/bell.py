"""Waking who waits, at next to no cost where nobody does."""

import asyncio

import anyio

from kbd.core.readiness import asyncio_loop

__all__ = ["Bell"]


class Bell:
    """Rung when something has changed; whoever waits looks again.

    An event of anyio is set once and then replaced, and to make one takes longer than to record
    what it tells of. A bell makes nothing before somebody waits; on asyncio, a bare future then.

    Attributes:
        rings: How often it was rung.
    """

    __slots__ = ("_event", "_futures", "rings")

    def __init__(self) -> None:
        self.rings = 0
        self._event: anyio.Event | None = None
        # One for each who waits: a task that is cancelled takes its future with it.
        self._futures: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Wake all who wait."""
        self.rings += 1
        if self._futures:
            woken, self._futures = self._futures, []
            for future in woken:
                if not future.done():
                    future.set_result(None)
        elif self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self, after: int | None = None) -> None:
        """Wait for the next ring, or for none if it was rung more than `after` times already."""
        if after is not None and self.rings > after:
            return
        loop = asyncio_loop()
        if loop is not None:
            future = loop.create_future()
            self._futures.append(future)
            try:
                await future
            except BaseException:
                if future in self._futures:
                    self._futures.remove(future)
                raise
            return
        if self._event is None:
            self._event = anyio.Event()
        await self._event.wait()
