"""Peers of the socket: who connected, and whether the daemon has started them itself.

A worker that a hostile file has taken over is this user's process like any other, and the socket
could do for it whatever the user can: so what the daemon has started is refused, but for commands
that the user gave (`on_outcome` of a watch).
"""

import os
import select
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.process_tree import find_parent
from kbd.events.shortages import raise_shortage

__all__ = ["MAX_LOOKS", "ChildGate", "PeerProcess", "peer_process"]

_SO_PEERPIDFD = 77
"""`SO_PEERPIDFD` of asm-generic/socket.h, since Linux 6.5; Python 3.11 has no name for it."""

MAX_LOOKS = 512
"""How many processes are looked at for one peer. Real chains of parents have some ten; one that is
longer, or changes all the time, counts as hidden, and holds up nobody else."""


class PeerProcess(NamedTuple):
    """Who connected, as the kernel noted it then: pid (0 for none of this system's) and user."""

    pid: int
    uid: int


def peer_process(connected: socket.socket) -> PeerProcess:
    """Return who connected."""
    # `struct ucred` of unix(7): pid, uid, gid.
    size = struct.calcsize("3i")
    pid, uid, _ = struct.unpack(
        "3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return PeerProcess(int(pid), int(uid))


class _HiddenError(Exception):
    """A process of the chain cannot be looked at."""


class ChildGate:
    """Refuses peers that this process has started, by the chain of their parents in /proc.

    What it cannot see: a process whose parents below the daemon have all ended is somebody else's
    child by then (init's, or a subreaper's), and passes. Zygotes adopt what their calls leave
    behind, so that of a worker there is no such process while its zygote lives. Without /proc
    nobody is refused.

    Args:
        looks: How many processes are looked at for one peer; with more it is refused.
    """

    def __init__(self, looks: int = MAX_LOOKS) -> None:
        self._own, self._looks = os.getpid(), looks
        self._commands: set[int] = set()
        self._starting = 0
        self._changed = Notifier()
        self._thread = CapacityLimiter(1)

    @asynccontextmanager
    async def starting(self) -> AsyncIterator[None]:
        """Start a command inside: until it is admitted, a child that connects has to wait."""
        self._starting += 1
        try:
            yield
        finally:
            self._starting -= 1
            self._changed.ring()

    def admit(self, pid: int) -> None:
        """Admit a command that runs, and what it starts."""
        self._commands.add(pid)

    def forget(self, pid: int) -> None:
        """Admit a command no more: it has ended, and its number may become another's."""
        self._commands.discard(pid)

    async def admits(self, connected: socket.socket) -> bool:
        """Return whether a peer is no process of this one's, or one that is admitted.

        One that has ended since it connected is refused as well: nothing can be told of it, and
        another may hold its end of the connection.

        Raises:
            KbdError: The machine lacks what it takes to look.
        """
        pid = peer_process(connected).pid
        # 0: it is outside of this process's namespace of pids, where no child of ours can be.
        if pid in (0, self._own):
            return True
        with _pinned(connected) as pinned:
            while True:
                rings = self._changed.rings
                try:
                    # In a thread: a long chain is some tens of files.
                    child = await run_sync(self._child_above, pid, limiter=self._thread)
                except _HiddenError:
                    return False
                if child is None or child in self._commands:
                    # The number that was looked up was the peer's only if it still is.
                    return not _has_ended(pinned)
                if not self._starting:
                    return False
                await self._changed.wait(rings)

    def _child_above(self, pid: int) -> int | None:
        """Return the child of ours that a process is or descends from; None if there is none.

        Raises:
            _HiddenError: The peer, or a process of this user's above it, cannot be looked at.
        """
        if not os.path.exists("/proc/self/stat"):
            return None
        below = pid
        for _ in range(self._looks):
            parent = find_parent(below)
            if parent == self._own:
                return below
            if parent is not None:
                if parent <= 1:
                    return None
                below = parent
                continue
            if below == pid:
                raise _HiddenError
            if _is_others(below):
                # /proc may hide other users' processes (hidepid); no child of ours is one.
                return None
            # It ended while we looked: whose child that makes the one below is looked up anew.
            below = pid
        raise _HiddenError


def _is_others(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        pass
    return False


@contextmanager
def _pinned(connected: socket.socket) -> Iterator[int | None]:
    """Hold a descriptor of the peer's process, which stays its own; None on older kernels."""
    size = struct.calcsize("i")
    try:
        (pidfd,) = struct.unpack("i", connected.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD, size))
    except OSError as error:
        # Without a descriptor the process is not held, as on an older kernel it cannot be.
        raise_shortage(error)
        yield None
        return
    try:
        yield pidfd
    finally:
        os.close(pidfd)


def _has_ended(pidfd: int | None) -> bool:
    if pidfd is None:
        return False
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))
