"""Slots of worker calls: how many are under way at once, by their number and by their memory."""

import contextlib
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path

import anyio

__all__ = ["CallSlots", "find_memory"]

MEMORY_SHARE = 0.75
"""The part of the free memory that all calls together may use."""

_CGROUP_LIMITS = ("memory.max", "memory/memory.limit_in_bytes")
"""Where a container says how much memory it has (cgroup 2 and 1), below `/sys/fs/cgroup`."""


class CallSlots:
    """The calls that are under way, and those that wait: first come, first served.

    Args:
        calls: The most calls at once.
        memory_bytes: What they may use all together. A call that may use more runs alone.
    """

    def __init__(self, calls: int, memory_bytes: int) -> None:
        self._free_calls = calls
        self._memory_bytes = self._free_bytes = memory_bytes
        self._waiting: deque[tuple[int, anyio.Event]] = deque()

    @contextlib.asynccontextmanager
    async def hold(self, memory_bytes: int) -> AsyncIterator[None]:
        """Hold a slot for a call that may use so much memory; wait until it is free."""
        need = min(memory_bytes, self._memory_bytes)
        await self._take(need)
        try:
            yield
        finally:
            self._give_back(need)

    async def _take(self, need: int) -> None:
        ticket = (need, anyio.Event())
        self._waiting.append(ticket)
        self._admit()
        try:
            await ticket[1].wait()
        except BaseException:
            if ticket[1].is_set():
                self._give_back(need)
            else:
                self._waiting.remove(ticket)
                # It may have stood before one that needs less.
                self._admit()
            raise

    def _give_back(self, need: int) -> None:
        self._free_calls += 1
        self._free_bytes += need
        self._admit()

    def _admit(self) -> None:
        # Nobody overtakes: a call that needs much would wait for ever.
        while self._waiting and self._free_calls and self._waiting[0][0] <= self._free_bytes:
            need, admitted = self._waiting.popleft()
            self._free_calls -= 1
            self._free_bytes -= need
            admitted.set()


def find_memory() -> int:
    """Return how many bytes all calls together may use on this machine; it waits for the disk."""
    free = [_free_bytes()]
    for name in _CGROUP_LIMITS:
        # "max" where there is no limit.
        with contextlib.suppress(OSError, ValueError):
            free.append(int(Path("/sys/fs/cgroup", name).read_text(encoding="ascii")))
    return int(min(free) * MEMORY_SHARE)


def _free_bytes() -> int:
    """Return the free memory; where the system does not tell it, as much as nobody has."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    return 1 << 62
