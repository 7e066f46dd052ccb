"""The log as the event loop sees it: append and read in a thread, follow without polling.

One journal has one writer, its Keeper. Whoever follows gets every event once and in order: first
from the log, then as they are recorded. The log is the buffer: a slow follower costs nothing.
"""

from collections.abc import AsyncIterator, Callable, Sequence

import anyio
from anyio.to_thread import run_sync

from kbd.events.base import Recorded
from kbd.events.log import EventLog
from kbd.types import Seq

__all__ = ["FOLLOW_BATCH", "Journal"]

FOLLOW_BATCH = 256
"""How many events a follower gets at most at a time."""


class Journal:
    """An `EventLog` with its blocking calls in threads.

    Args:
        log: The log, open. The journal closes it.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._writing = anyio.CapacityLimiter(1)
        self._grown = anyio.Event()

    @property
    def log(self) -> EventLog:
        """The log itself, for what it knows without I/O (`seq`, `head`, `damage`)."""
        return self._log

    @property
    def seq(self) -> Seq:
        """The last durable event."""
        return self._log.seq

    async def append(self, records: Sequence[Recorded]) -> Seq:
        """Record events as one frame and return the last one's number; durable on return.

        Raises:
            DiskFull: No space is left; nothing was recorded.
            LogCorrupt: The log is damaged and read-only.
            LogPoisoned: The disk failed to sync; the daemon must stop.
        """
        seq = await run_sync(self._log.append, records, limiter=self._writing)
        self._grown.set()
        self._grown = anyio.Event()
        return seq

    async def read(self, after: Seq, limit: int) -> list[tuple[Seq, Recorded]]:
        """Return at most `limit` events after a number, in order."""
        return await run_sync(self._log.read, after, limit)

    async def replay(self, apply: Callable[[Seq, Recorded], None], after: Seq) -> None:
        """Call `apply` with every event after a number, in a thread."""
        await run_sync(self._log.replay, apply, after)

    async def follow(self, after: Seq) -> AsyncIterator[list[tuple[Seq, Recorded]]]:
        """Yield batches of events after a number, for ever; each batch is not empty."""
        while True:
            grown = self._grown
            if self._log.seq <= after:
                await grown.wait()
                continue
            batch = await self.read(after, FOLLOW_BATCH)
            if batch:
                after = batch[-1][0]
                yield batch

    async def aclose(self) -> None:
        """Close the log in an orderly way."""
        with anyio.CancelScope(shield=True):
            await run_sync(self._log.close, limiter=self._writing)
