"""Journal: the log as the event loop sees it, appended and read in a thread, never polled.

One journal has one writer, its Keeper. Whoever follows gets every event once and in order: first
from the log, then as they are recorded. The log is the buffer: a slow follower costs nothing.

What is durable waits for the disk in a thread, or the event loop would stand still. The usual way
to a thread and back takes longer than many a disk takes to sync (measured here: 0.25 to 0.4 ms for
`anyio.to_thread`, 0.05 to 0.1 ms for `WriterThread`), and every command pays it. So a log has a
thread of its own, which sleeps on a queue.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.log_outline import LogOutline
from kbd.core.runtime.event_loop import Notifier, Wakeup
from kbd.core.store.log_reader import LogReader
from kbd.errors import KbdError, TooManyOpenFiles, TooManyProcesses
from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.log import EventLog
from kbd.events.shortages import SYSTEM_FAILURES, told_error
from kbd.types import Seq

__all__ = ["Journal", "WriterThread"]


T = TypeVar("T")

_IDLE_S = 5.0
"""How long the thread waits for the next call before it ends; the next call starts another."""


class _Call(Generic[T]):
    """A queued call, with its result or its error."""

    __slots__ = ("error", "result", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None


class _CallQueue(Generic[T]):
    """The queue of one thread's calls, and the wakeup for when one is done."""

    __slots__ = ("calls", "done")

    def __init__(self) -> None:
        self.calls: SimpleQueue[_Call[T] | threading.Event | None] = SimpleQueue()
        self.done = Wakeup()


class WriterThread(Generic[T]):
    """Thread for blocking calls, one after the other; it lives while there is work.

    Args:
        rest: Called in it when there was no call for a while, before it ends; what it raises is
            the next call's to meet again.
    """

    def __init__(self, rest: Callable[[], None] | None = None) -> None:
        self._rest = rest
        # Held while a thread is started or takes its leave, so that no call is left lying.
        self._lock = threading.Lock()
        self._queue: _CallQueue[T] | None = None
        self._is_awaited = False

    async def call(self, work: Callable[[], T]) -> T:
        """Make a call and return its result; once begun it is waited for, even if canceled.

        One call at a time: a log has one writer.

        Raises:
            TooManyProcesses: No thread can be started; nothing was called.
            TooManyOpenFiles: There is no descriptor for one; likewise.
            BaseException: What the call raised.
        """
        call = _Call(work)
        with self._lock:
            if self._is_awaited:
                raise RuntimeError("the writer thread is called again before it has answered")
            queue = self._queue = self._queue or self._start()
            self._is_awaited = True
        # A write that has begun cannot be taken back, so its outcome is waited for.
        with anyio.CancelScope(shield=True):
            await queue.done.wait(partial(queue.calls.put, call))
        self._is_awaited = False
        if call.error is not None:
            raise call.error
        return call.result  # type: ignore[return-value]  # a call that raised nothing has returned

    def probe(self) -> threading.Event:
        """Ask the thread for a sign of life: an event that it sets after what was called before.

        Raises:
            KbdError: There are no threads or descriptors left.
        """
        answered = threading.Event()
        with self._lock:
            self._queue = self._queue or self._start()
            self._queue.calls.put(answered)
        return answered

    def close(self) -> None:
        """End the thread at once; a later call starts another."""
        with self._lock:
            if self._queue is not None and not self._is_awaited:
                self._queue.calls.put(None)
                self._release(self._queue)

    def _start(self) -> _CallQueue[T]:
        """Start a thread; return its queue."""
        try:
            queue: _CallQueue[T] = _CallQueue()
            try:
                # Daemonic: a thread that hangs in the disk must not keep the process from ending.
                threading.Thread(target=self._work, args=(queue,), daemon=True).start()
            except RuntimeError:
                queue.done.close()
                raise
        except SYSTEM_FAILURES as error:
            raise told_error(error) from error
        return queue

    def _release(self, queue: _CallQueue[T]) -> None:
        self._queue = None
        queue.done.close()

    def _work(self, queue: _CallQueue[T]) -> None:
        is_resting = self._rest is None
        while True:
            try:
                call = queue.calls.get(timeout=_IDLE_S)
            except Empty:
                # Without the lock: a call that comes meanwhile waits in the queue, and not the
                # event loop for a disk.
                if not is_resting and self._rest is not None:
                    is_resting = True
                    # A thread that died of it would leave the next call without an answer.
                    with suppress(KbdError, *SYSTEM_FAILURES):
                        self._rest()
                    continue
                with self._lock:
                    # Not while somebody is still to hear of the last call, or has just probed.
                    is_done = not self._is_awaited and queue.calls.empty()
                    if self._queue is queue and is_done:
                        self._release(queue)
                        return
                continue
            if call is None:
                return
            if isinstance(call, threading.Event):
                call.set()
                continue
            is_resting = self._rest is None
            try:
                call.result = call.work()
            except BaseException as error:  # noqa: BLE001 - raised where the call came from
                call.error = error
            queue.done.ring()
            # It holds the records, which the sleeping thread would keep alive.
            del call


class Journal:
    """An `EventLog` with its blocking calls in threads.

    Args:
        log: The log, open. The journal closes it.
        outline: Its outline, as far as a snapshot has it.
        rests: Whether the log holds no descriptor while nothing is appended to it.

    Attributes:
        reader: Finds events without reading all of the log.
        copying: Held while a readable copy is written.
    """

    def __init__(
        self, log: EventLog, outline: LogOutline | None = None, *, rests: bool = False
    ) -> None:
        self._log = log
        self.reader = LogReader(log, outline)
        self.copying = anyio.Lock()
        self._writer: WriterThread[object] = WriterThread(log.rest if rests else None)
        self._grown = Notifier()
        self._closed = False
        self._withheld_at: Seq | None = None

    @property
    def log(self) -> EventLog:
        """The log itself, for what it knows without I/O (`seq`, `head`, `damage`)."""
        return self._log

    @property
    def seq(self) -> Seq:
        """The last durable event."""
        return self._log.seq

    @property
    def announced(self) -> Seq:
        """The last durable event that followers get."""
        return self._log.seq if self._withheld_at is None else self._withheld_at

    @contextmanager
    def withheld(self) -> Iterator[None]:
        """Withhold from followers what is appended inside; they get it at the end of this."""
        self._withheld_at = self._log.seq
        try:
            yield
        finally:
            self._withheld_at = None
            self._grown.ring()

    async def append(self, records: Sequence[Recorded]) -> Seq:
        """Record events as one frame and return the last one's number; durable on return.

        Once begun it is waited for, even if the caller is canceled.

        Raises:
            DiskFull: No space is left; nothing was recorded.
            LogCorrupt: The log is damaged and read-only.
            LogPoisoned: The disk failed to sync; the daemon must stop.
        """
        await self._writer.call(partial(self._log.append, records))
        # Followers read from the log, so they are woken only when it has the events.
        if self._withheld_at is None:
            self._grown.ring()
        return self._log.seq

    def probe(self) -> threading.Event:
        """Ask the thread that appends for a sign of life, as `WriterThread.probe` does."""
        return self._writer.probe()

    async def read(self, after: Seq, limit: int) -> list[tuple[Seq, Recorded]]:
        """Return at most `limit` events after a number, in order."""
        return await run_sync(self.reader.page, after, limit)

    async def replay(self, apply: Callable[[int, Recorded], None], after: Seq) -> None:
        """Call `apply` with every event after a number, in a thread."""
        await run_sync(self._log.replay, apply, after)

    async def read_plain(self, after: Seq, limit: int) -> list[tuple[Seq, list[Any]]]:
        """Return at most `limit` events after a number as stored, unknown fields and all."""
        return await run_sync(self._read_plain, after, limit)

    def _read_plain(self, after: Seq, limit: int) -> list[tuple[Seq, list[Any]]]:
        found: list[tuple[Seq, list[Any]]] = []
        for first, body in self.reader.frames(after):
            for seq, item in enumerate(codec.decode_plain(body), first):
                if seq > after:
                    found.append((Seq(seq), item))
                    if len(found) == limit:
                        return found
        return found

    async def grown(self, after: Seq) -> bool:
        """Wait until there is an event after a number; False if the log was closed instead."""
        while self.announced <= after:
            if self._closed:
                return False
            await self._grown.wait()
        return True

    async def aclose(self) -> None:
        """Close the log in an orderly way, and end its followers."""
        # Set before the ring: a follower that is woken must find it.
        self._closed = True
        self._grown.ring()
        try:
            await self._writer.call(self._log.close)
        except (TooManyOpenFiles, TooManyProcesses):
            # Its own descriptors are given back, whatever that takes: others wait for them.
            self._log.close()
        self._writer.close()
