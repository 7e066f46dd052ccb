"""All clients' sockets behind one wait: who can be read or written now is served in one turn.

To wait for each socket in a task of its own costs two changes of the event loop's selector and a
task's turn a message, some ten times what a short request takes to answer. So the sockets have a
selector of their own, whose descriptor is the only one that the event loop looks after: what has
arrived from any number of clients is read and answered in one turn.
"""

import selectors
import socket
import time
from typing import Protocol

import anyio

from kbd.core.bell import Bell
from kbd.core.readiness import serve_readable

__all__ = ["Poller", "Served", "Watch"]

_TURN_S = 0.002
"""How long clients are served before the event loop's other tasks get their turn."""

_LOOK_S = 0.5
"""How late somebody may be told that time has passed."""


class Served(Protocol):
    """A client, as the poller knows it. What it does returns at once and never raises."""

    def readable(self) -> None:
        """Bytes have arrived, or the end."""

    def writable(self) -> None:
        """There is room for more bytes."""

    def overdue(self) -> None:
        """The time that was given has passed."""


class Watch:
    """What one socket is watched for: nothing, at first.

    Args:
        poller: Who watches.
        sock: The socket, connected and not blocking.

    Attributes:
        served: Who is told; set before anything is watched for.
    """

    def __init__(self, poller: "Poller", sock: socket.socket) -> None:
        self.served: Served
        self._poller = poller
        # The number, not the object: a selector puts an object's repr into a KeyError.
        self._fd = sock.fileno()
        self._events = 0

    def read(self, *, wanted: bool) -> None:
        """Be told of bytes that arrive, or no more."""
        self._change(selectors.EVENT_READ, wanted=wanted)

    def write(self, *, wanted: bool) -> None:
        """Be told of room to send, or no more."""
        self._change(selectors.EVENT_WRITE, wanted=wanted)

    def expect(self, within_s: float | None) -> None:
        """Be told when so many seconds have passed; None for no more."""
        self._poller.expect(self, within_s)

    def _change(self, event: int, *, wanted: bool) -> None:
        self._set(self._events | event if wanted else self._events & ~event)

    def _set(self, events: int) -> None:
        before, self._events = self._events, events
        selector = self._poller.selector
        if not before and events:
            selector.register(self._fd, events, self)
        elif before and not events:
            selector.unregister(self._fd)
        elif before != events:
            selector.modify(self._fd, events, self)

    def happened(self, events: int) -> None:
        """Tell of what happened, unless it is not wanted any more since it was looked up."""
        if events & self._events & selectors.EVENT_WRITE:
            self.served.writable()
        if events & self._events & selectors.EVENT_READ:
            self.served.readable()


class Poller:
    """Watches the sockets of all clients.

    Attributes:
        selector: The sockets that are watched.
    """

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self._deadlines: dict[Watch, float] = {}
        self._expected = Bell()

    async def run(self) -> None:
        """Serve for ever."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._tell_overdue)
            await serve_readable(self.selector.fileno(), self._turn)

    def close(self) -> None:
        """Watch nobody any more."""
        self.selector.close()

    def expect(self, watch: Watch, within_s: float | None) -> None:
        """Tell a watch when so many seconds have passed; None for no more."""
        if within_s is None:
            self._deadlines.pop(watch, None)
        else:
            self._deadlines[watch] = time.monotonic() + within_s
            self._expected.ring()

    def _turn(self) -> None:
        """Serve those who are ready; who is left when time is up is ready in the next turn."""
        until = time.monotonic() + _TURN_S
        for key, events in self.selector.select(0):
            watch: Watch = key.data
            watch.happened(events)
            if time.monotonic() > until:
                return

    async def _tell_overdue(self) -> None:
        while True:
            while not self._deadlines:
                await self._expected.wait()
            left_s = min(self._deadlines.values()) - time.monotonic()
            # Not longer than a look: a nearer one may come meanwhile.
            await anyio.sleep(min(max(left_s, 0.0), _LOOK_S))
            now = time.monotonic()
            for watch in [watch for watch, at in self._deadlines.items() if at <= now]:
                del self._deadlines[watch]
                watch.served.overdue()
