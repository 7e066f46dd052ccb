"""Slots of worker calls: how many are under way at once, by their number and by their memory."""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path, PurePosixPath

import anyio

__all__ = ["CallSlots", "find_memory"]

MEMORY_SHARE = 0.75
"""The part of the free memory that all calls together may use."""

_PROC, _CGROUPS = Path("/proc"), Path("/sys/fs/cgroup")


class CallSlots:
    """The calls that are under way, and those that wait: first come, first served.

    Args:
        calls: The most calls at once.
        memory_bytes: What they may use all together. A call that may use more runs alone.
    """

    def __init__(self, calls: int, memory_bytes: int) -> None:
        self._free_calls = calls
        # Of nothing each call would need nothing, and all would run at once.
        self._memory_bytes = self._free_bytes = max(1, memory_bytes)
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


def find_memory(proc: Path = _PROC, cgroups: Path = _CGROUPS) -> int:
    """Return how many bytes all calls together may use on this machine; it waits for the disk.

    A container or a service may have less than is free: what is left to its control group, or to
    one above.

    Args:
        proc: Where the system tells of memory and processes.
        cgroups: Where its control groups are.
    """
    return int(min(_free_bytes(proc), *_left_to_groups(proc, cgroups), _UNKNOWN) * MEMORY_SHARE)


_UNKNOWN = 1 << 62
"""As much as nobody has."""


def _free_bytes(proc: Path) -> int:
    """Return the free memory, if the system tells it."""
    with contextlib.suppress(OSError, ValueError):
        for line in (proc / "meminfo").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    return _UNKNOWN


_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
"""Where a group tells its limit and what is used, and what of that it can give back at once."""


def _left_to_groups(proc: Path, cgroups: Path) -> Iterator[int]:
    """Yield what is left to each control group that this process is in (`cgroups(7)`)."""
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = (proc / "self" / "cgroup").read_text(errors="replace").splitlines()
    for line in lines:
        # "0::/path" of version 2, "4:memory:/path" of version 1.
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            root, names = cgroups, _VERSION_2
        elif "memory" in controllers.split(","):
            root, names = cgroups / "memory", _VERSION_1
        else:
            continue
        group = PurePosixPath(path)
        for each in (group, *group.parents):
            # "max" where there is no limit. In a container the path may be that of the machine.
            with contextlib.suppress(OSError, ValueError):
                yield _left_to(root / str(each).lstrip("/"), *names)


def _left_to(group: Path, limit: str, used: str, cached: str) -> int:
    most = int((group / limit).read_text(encoding="ascii"))
    taken = 0
    with contextlib.suppress(OSError, ValueError):
        taken = int((group / used).read_text(encoding="ascii"))
        for line in (group / "memory.stat").read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == cached:
                taken -= int(value)
    return max(0, most - max(0, taken))
