"""Event-loop primitives: readable descriptors, wakeups from threads, a condition, late answers.

`serve_readable` and `Wakeup` tell the event loop that something is there to be done. anyio has
`wait_readable` for both, which on asyncio costs two turns of the loop and two changes of its
selector each time: as much as all the rest of a short request (measured: 40 us, of which 30 are
saved here). So asyncio's own loop is asked, whose callbacks stay; and trio without a detour.

`Notifier` wakes whoever waits, at next to no cost where nobody does. `Deferred` is an answer that
comes later, told to a callback or waited for in a task.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Generic, NamedTuple, TypeVar

import anyio

__all__ = [
    "Deferred",
    "Notifier",
    "Settle",
    "Wakeup",
    "asyncio_loop",
    "loop_clock",
    "serve_readable",
]


async def serve_readable(fd: int, turn: Callable[[], None]) -> None:
    """Call `turn` in the event loop for ever, whenever the descriptor has something to read.

    Args:
        fd: The descriptor; nobody else waits for it.
        turn: Reads what is there; returns soon and never raises.
    """
    loop = asyncio_loop()
    if loop is None:
        wait_readable = _trio_wait_readable()
        while True:
            await wait_readable(fd)
            turn()
    loop.add_reader(fd, turn)
    try:
        await anyio.sleep_forever()
    finally:
        loop.remove_reader(fd)


class Wakeup:
    """Wakeup of the one task that waits, by a thread; used again and again, in turn.

    Raises:
        OSError: There are no descriptors left.
    """

    def __init__(self) -> None:
        # A counter of the kernel's: to add to it wakes a sleeper sooner than asyncio's own pipe.
        self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._loop = asyncio_loop()
        self._rung: asyncio.Future[None] | None = None
        if self._loop is not None:
            self._loop.add_reader(self._fd, self._ring_here)
        else:
            self._wait_readable = _trio_wait_readable()

    def ring(self) -> None:
        """Wake the task, from any thread."""
        os.eventfd_write(self._fd, 1)

    async def wait(self, begin: Callable[[], None]) -> None:
        """Begin what will ring, and wait until it does.

        Args:
            begin: Called at the last moment, so that the thread finds the interpreter free.
        """
        if self._loop is None:
            begin()
            await self._wait_readable(self._fd)
            os.eventfd_read(self._fd)
            return
        self._rung = self._loop.create_future()
        begin()
        await self._rung

    def close(self) -> None:
        """Close the descriptor, from any thread; it must not be rung or awaited any more."""
        if self._loop is not None:
            try:
                # In the loop: a descriptor that is closed while its selector watches it may soon be
                # another file.
                self._loop.call_soon_threadsafe(self._close_here, self._loop)
            except RuntimeError:
                pass  # the loop was closed, so it looks at nothing any more
            else:
                return
        os.close(self._fd)

    def _close_here(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_reader(self._fd)
        os.close(self._fd)

    def _ring_here(self) -> None:
        os.eventfd_read(self._fd)
        if self._rung is not None and not self._rung.done():
            self._rung.set_result(None)


def asyncio_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs if it is asyncio's own."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def loop_clock() -> Callable[[], float]:
    """Return the clock that the deadlines of the loop that runs go by, for its callbacks, too.

    It stands while the process is stopped, and anyio tells it to tasks alone.
    """
    loop = asyncio_loop()
    if loop is not None:
        return loop.time
    from trio import current_time  # noqa: PLC0415 - as below

    return current_time


def _trio_wait_readable() -> Callable[[int], Awaitable[None]]:
    from trio.lowlevel import wait_readable  # noqa: PLC0415 - 139 ms, which asyncio does without

    return wait_readable


class Notifier:
    """Condition that is rung when something has changed; whoever waits looks again.

    An event of anyio is set once and then replaced, and to make one takes longer than to record
    what it tells of. This makes nothing before somebody waits; on asyncio, a bare future then.

    Attributes:
        rings: How often it was rung.
    """

    __slots__ = ("_event", "_futures", "rings")

    def __init__(self) -> None:
        self.rings = 0
        self._event: anyio.Event | None = None
        # One for each who waits: a task that is canceled takes its future with it.
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


T = TypeVar("T")

Settle = Callable[[T | Exception], None]
"""Takes an answer, or the error in its place; returns at once and never raises."""


class Deferred(NamedTuple, Generic[T]):
    """An answer that comes later; nothing is done for it before one of the two is called, once.

    A command waits for nothing but the disk; a task of its own would cost more than all the rest.
    So what `begin` can do needs none.

    Args:
        wait: Does the work and returns the answer, or raises; may be canceled where it waits.
        begin: Begins the work and returns, or raises; settles once, when the answer or its error is
            there, and not before it has returned. None if only a task can do the work.
    """

    wait: Callable[[], Awaitable[T]]
    begin: Callable[[Settle[T]], None] | None = None
