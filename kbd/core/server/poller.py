"""Selector loop over all clients' sockets: all that are ready are served in one turn.

To wait for each socket in a task of its own costs two changes of the event loop's selector and a
task's turn a message, some ten times what a short request takes to answer. So the sockets have a
selector of their own, whose descriptor is the only one that the event loop looks after: what has
arrived from any number of clients is read and answered in one turn.
"""

import select
import socket
import time
from typing import Protocol

import anyio

from kbd.core.runtime.event_loop import Notifier, serve_readable

__all__ = ["PollCallbacks", "PolledSocket", "Poller"]

_TURN_S = 0.002
"""How long clients are served before the event loop's other tasks get their turn."""

_MAX_READY = 64
"""How many ready clients are asked for at once."""

_DEADLINE_CHECK_S = 0.5
"""How late somebody may be told that time has passed."""


class PollCallbacks(Protocol):
    """Callbacks of a polled client; each returns at once and never raises."""

    def readable(self) -> None:
        """Handle bytes that have arrived, or the end."""

    def writable(self) -> None:
        """Handle room for more bytes."""

    def overdue(self) -> None:
        """Handle the deadline that has passed."""


class PolledSocket:
    """Events that one socket is polled for: none, at first.

    Args:
        poller: Who watches.
        sock: The socket, connected and not blocking.

    Attributes:
        served: Who is told; set before anything is watched for.
    """

    def __init__(self, poller: "Poller", sock: socket.socket) -> None:
        self.served: PollCallbacks
        self._poller = poller
        self._fd = sock.fileno()
        self._events = 0

    def read(self, *, wanted: bool) -> None:
        """Be told of bytes that arrive, or no more."""
        self._change(select.EPOLLIN, wanted=wanted)

    def write(self, *, wanted: bool) -> None:
        """Be told of room to send, or no more."""
        self._change(select.EPOLLOUT, wanted=wanted)

    def expect(self, within_s: float | None) -> None:
        """Be told when so many seconds have passed; None for no more."""
        self._poller.expect(self, within_s)

    def happened(self, events: int) -> None:
        """Tell of what happened, as far as it is still wanted; an error or an end is both."""
        if self._events & select.EPOLLOUT and events & ~select.EPOLLIN:
            self.served.writable()
        if self._events & select.EPOLLIN and events & ~select.EPOLLOUT:
            self.served.readable()

    def _change(self, event: int, *, wanted: bool) -> None:
        before = self._events
        self._events = before | event if wanted else before & ~event
        if before != self._events:
            self._poller.watch(self, self._fd, before, self._events)


class Poller:
    """Polls the sockets of all clients, by epoll."""

    def __init__(self) -> None:
        # Not `selectors`, which takes longer than the system to say who is ready.
        self._epoll = select.epoll()
        self._watches: dict[int, PolledSocket] = {}
        self._ready: list[tuple[int, int]] = []
        self._deadlines: dict[PolledSocket, float] = {}
        self._expected = Notifier()

    async def run(self) -> None:
        """Serve for ever."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_overdue)
            await serve_readable(self._epoll.fileno(), self._turn)

    def close(self) -> None:
        """Close the selector."""
        self._watches.clear()
        self._epoll.close()

    def watch(self, watch: PolledSocket, fd: int, before: int, events: int) -> None:
        """Register a socket for other events than before; 0 for none."""
        if not before:
            self._epoll.register(fd, events)
            self._watches[fd] = watch
        elif events:
            self._epoll.modify(fd, events)
        else:
            self._epoll.unregister(fd)
            del self._watches[fd]

    def expect(self, watch: PolledSocket, within_s: float | None) -> None:
        """Tell a watch when so many seconds have passed; None for no more."""
        if within_s is None:
            self._deadlines.pop(watch, None)
        else:
            self._deadlines[watch] = time.monotonic() + within_s
            self._expected.ring()

    def _turn(self) -> None:
        """Serve those who are ready; who is left when time is up is served first in the next turn.

        The system would name those first again that have been served.
        """
        until = time.monotonic() + _TURN_S
        if not self._ready:
            self._ready = self._epoll.poll(0, _MAX_READY)[::-1]
        while self._ready:
            fd, events = self._ready.pop()
            # Whoever has the descriptor by now is asked, and may find that nothing is there.
            watch = self._watches.get(fd)
            if watch is not None:
                watch.happened(events)
            if time.monotonic() > until:
                return

    async def _tell_overdue(self) -> None:
        while True:
            while not self._deadlines:
                await self._expected.wait()
            left_s = min(self._deadlines.values()) - time.monotonic()
            # Not longer than a look: a nearer one may come meanwhile.
            await anyio.sleep(min(max(left_s, 0.0), _DEADLINE_CHECK_S))
            now = time.monotonic()
            for watch in [watch for watch, at in self._deadlines.items() if at <= now]:
                del self._deadlines[watch]
                watch.served.overdue()
