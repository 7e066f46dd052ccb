"""Journal: the log as the event loop sees it, appended and read in a thread, never polled.

One journal has one writer, its Keeper. Whoever follows gets every event once and in order: first
from the log, then as they are recorded. The log is the buffer: a slow follower costs nothing.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from anyio.to_thread import run_sync

from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.writer_thread import WriterThread
from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.log import EventLog
from kbd.types import Seq

__all__ = ["Journal"]


class Journal:
    """An `EventLog` with its blocking calls in threads.

    Args:
        log: The log, open. The journal closes it.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._scribe: WriterThread[object] = WriterThread()
        self._grown = Notifier()
        self._closed = False

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

        Once begun it is waited for, even if the caller is canceled.

        Raises:
            DiskFull: No space is left; nothing was recorded.
            LogCorrupt: The log is damaged and read-only.
            LogPoisoned: The disk failed to sync; the daemon must stop.
        """
        await self._scribe.call(partial(self._log.append, records))
        # Followers read from the log, so they are woken only when it has the events.
        self._grown.ring()
        return self._log.seq

    async def read(self, after: Seq, limit: int) -> list[tuple[Seq, Recorded]]:
        """Return at most `limit` events after a number, in order."""
        return await run_sync(self._log.read, after, limit)

    async def replay(self, apply: Callable[[int, Recorded], None], after: Seq) -> None:
        """Call `apply` with every event after a number, in a thread."""
        await run_sync(self._log.replay, apply, after)

    async def read_plain(self, after: Seq, limit: int) -> list[tuple[Seq, list[Any]]]:
        """Return at most `limit` events after a number as stored, unknown fields and all."""
        return await run_sync(self._read_plain, after, limit)

    def _read_plain(self, after: Seq, limit: int) -> list[tuple[Seq, list[Any]]]:
        found: list[tuple[Seq, list[Any]]] = []
        for first, body in self._log.frames(after):
            for seq, item in enumerate(codec.decode_plain(body), first):
                if seq > after:
                    found.append((Seq(seq), item))
                    if len(found) == limit:
                        return found
        return found

    async def grown(self, after: Seq) -> bool:
        """Wait until there is an event after a number; False if the log was closed instead."""
        while self._log.seq <= after:
            if self._closed:
                return False
            await self._grown.wait()
        return True

    async def aclose(self) -> None:
        """Close the log in an orderly way; who follows it comes to an end."""
        # Set before the ring: a follower that is woken must find it.
        self._closed = True
        self._grown.ring()
        await self._scribe.call(self._log.close)
        self._scribe.close()
