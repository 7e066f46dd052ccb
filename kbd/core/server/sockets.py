"""Sockets of all clients: a selector loop that serves those that are ready, and send queues.

To wait for each socket in a task of its own costs two changes of the event loop's selector and a
task's turn a message, some ten times what a short request takes to answer. So the sockets have a
selector of their own, whose descriptor is the only one that the event loop looks after: what has
arrived from any number of clients is read and answered in one turn.

What is sent to a client waits in its outbox, which is bounded, and written in as few writes as
possible.
"""

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast

import anyio

from kbd.core.runtime.event_loop import Notifier, loop_clock, serve_readable
from kbd.core.server.dispatch import ServerLimits
from kbd.rpc import Framer
from kbd.types import Seq

__all__ = ["Backlogs", "Outbox", "PollCallbacks", "PolledSocket", "Poller", "Post", "SentCursor"]


_TURN_S = 0.002
"""How long clients are served before the event loop's other tasks get their turn."""

_MIN_SERVED = 16
"""How many are served in a turn at least: on a machine that is busy with something else the time
may be over before the first one is, and a thousand clients would take a thousand turns."""

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

    def proceed(self) -> None:
        """Go on with what was left when others had their turn."""


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

    def poll_readable(self, *, wanted: bool) -> None:
        """Poll for bytes that arrive, or stop that."""
        self._change(select.EPOLLIN, wanted=wanted)

    def poll_writable(self, *, wanted: bool) -> None:
        """Poll for room to send, or stop that."""
        self._change(select.EPOLLOUT, wanted=wanted)

    def set_deadline(self, overdue: Callable[[], None], within_s: float | None) -> None:
        """Have a method called so many seconds from now; None clears that."""
        self._poller.set_deadline(overdue, within_s)

    def yield_turn(self) -> None:
        """Have `proceed` called once the others that are ready have had their turn."""
        self._poller.enqueue(self)

    def dispatch(self, events: int) -> None:
        """Dispatch events that are still polled for; an error or an end counts as both kinds."""
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
    """Polls the sockets of all clients, by epoll.

    Attributes:
        clock: Seconds that deadlines go by. A clock that is set drops no client, nor does a stop of
            the daemon.
    """

    def __init__(self) -> None:
        self.clock = loop_clock()
        # Not `selectors`, which takes longer than the system to say who is ready.
        self._epoll = select.epoll()
        self._watches: dict[int, PolledSocket] = {}
        self._ready: list[tuple[int, int]] = []
        self._unfinished: deque[PolledSocket] = deque()
        # Always readable, and polled for while somebody is unfinished: the loop calls again then.
        self._again = os.eventfd(1, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._epoll.register(self._again, 0)
        self._deadlines: dict[Callable[[], None], float] = {}
        self._deadline_set = Notifier()

    async def run(self) -> None:
        """Run the selector loop for ever."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._check_deadlines)
            await serve_readable(self._epoll.fileno(), self._turn)

    def close(self) -> None:
        """Close the selector."""
        self._watches.clear()
        self._epoll.close()
        os.close(self._again)

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

    def set_deadline(self, overdue: Callable[[], None], within_s: float | None) -> None:
        """Have a method called so many seconds from now; None clears that."""
        if within_s is None:
            self._deadlines.pop(overdue, None)
        else:
            self._deadlines[overdue] = self.clock() + within_s
            self._deadline_set.ring()

    def enqueue(self, watch: PolledSocket) -> None:
        """Queue a client that is unfinished behind the others."""
        self._unfinished.append(watch)
        if len(self._unfinished) == 1:
            self._epoll.modify(self._again, select.EPOLLIN)

    def _turn(self) -> None:
        """Serve ready sockets; those left when time is up are served first in the next turn.

        The system would name those first again that have been served. However many clients are
        unfinished, one of them goes on before the others and the rest after them.
        """
        until = time.monotonic() + _TURN_S
        self._proceed_one()
        if not self._ready:
            # Reversed, for they are taken from the end.
            self._ready = self._epoll.poll(0, _MAX_READY)[::-1]
        served = 0
        while self._ready:
            fd, events = self._ready.pop()
            served += 1
            # Whoever has the descriptor by now is asked, and may find that nothing is there.
            watch = self._watches.get(fd)
            if watch is not None:
                watch.dispatch(events)
            if served >= _MIN_SERVED and time.monotonic() > until:
                return
        while self._unfinished and time.monotonic() < until:
            self._proceed_one()

    def _proceed_one(self) -> None:
        if self._unfinished:
            watch = self._unfinished.popleft()
            if not self._unfinished:
                self._epoll.modify(self._again, 0)
            watch.served.proceed()

    async def _check_deadlines(self) -> None:
        while True:
            while not self._deadlines:
                await self._deadline_set.wait()
            left_s = min(self._deadlines.values()) - self.clock()
            # Not longer than a look: a nearer one may come meanwhile.
            await anyio.sleep(min(max(left_s, 0.0), _DEADLINE_CHECK_S))
            now = self.clock()
            for overdue in [overdue for overdue, at in self._deadlines.items() if at <= now]:
                # Unless one that was called before it has cleared it.
                if self._deadlines.pop(overdue, None) is not None:
                    overdue()


class SentCursor(NamedTuple):
    """Cursor of a subscription once a queued line is sent."""

    subscription: str
    workbench_id: str
    seq: Seq


class _PushedLine(NamedTuple):
    """Queued notification: a line that is no answer."""

    line: bytes
    mark: SentCursor | None


class Outbox:
    """Send queue of one client: its lines on their way to the socket.

    Sending tries first, because nearly always there is room; what finds none waits until the poller
    says that there is. A line that was begun is always ended, unless the connection breaks.

    Args:
        sock: The client's socket, not blocking.
        framer: Makes of a line what goes over the wire.
        limits: How much may wait.
        watch: Has `send` called when there is room again.
        post: Has `send` called soon.
        backlogs: Told of what waits for a client that does not read.
        drop: Called when the client takes nothing, or too little.
        give_up: Called when nothing can or should be sent any more.

    Attributes:
        progress_at: When something was last handed to the socket, by the loop's clock.
    """

    def __init__(
        self,
        sock: socket.socket,
        framer: Framer,
        limits: ServerLimits,
        watch: PolledSocket,
        post: "Post",
        backlogs: "Backlogs",
        drop: Callable[[], None],
        give_up: Callable[[], None],
    ) -> None:
        self._socket = sock
        self._framer = framer
        self._limits = limits
        self._most_bytes, self._most_lines = limits.outbound_bytes, limits.outbound_messages
        self._watch = watch
        self._post = post
        self._backlogs = backlogs
        self._drop = drop
        self._give_up = give_up
        self.progress_at = 0.0
        # Answers are plain bytes: they are made by the hundred thousand.
        self._queue: deque[bytes | _PushedLine] = deque()
        self._begun: bytes | memoryview = b""
        self._bytes = 0
        self._pushed = 0
        self._pushed_bytes = 0
        self._sends = 0
        self._is_waiting = False
        self._is_last = False
        self._progress = Notifier()
        self._cursors: dict[str, dict[str, Seq]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether all that was put has been handed to the socket."""
        return not self._queue and not self._begun

    @property
    def is_full(self) -> bool:
        """Whether so much waits that the client's requests should not be read."""
        return self._bytes > self._most_bytes or len(self._queue) > self._most_lines

    @property
    def waiting_bytes(self) -> int:
        """How much waits: what is queued, and the rest of what is begun."""
        return self._bytes + len(self._begun)

    @property
    def sends(self) -> int:
        """Number of successful sends."""
        return self._sends

    def put(self, line: bytes) -> None:
        """Queue an answer; the caller sends, or posts."""
        if not self._is_last:
            framed = self._framer.frame(line) if self._framer.uses_headers else line
            self._queue.append(framed)
            self._bytes += len(framed)
            if self._is_waiting:
                self._backlogs.note(self)

    def push(self, line: bytes, mark: SentCursor | None = None) -> bool:
        """Queue a notification; False if more of them wait than may.

        Answers do not count here: a client may ask for much at once, and reads it as it comes. One
        that does not is dropped by `stall_s` and by the backlog of all clients. One notification
        alone may be of any length, or a long one would drop whoever keeps up.
        """
        if not self._is_last:
            framed = self._framer.frame(line)
            self._queue.append(_PushedLine(framed, mark))
            self._bytes += len(framed)
            self._pushed += 1
            self._pushed_bytes += len(framed)
            self.post()
        limits = self._limits
        return self._pushed <= min(1, limits.outbound_messages) or (
            self._pushed <= limits.outbound_messages and self._pushed_bytes <= limits.outbound_bytes
        )

    def post(self) -> None:
        """Schedule a flush of the queue, together with what else gathers until then."""
        self._post.call(self)

    def send(self) -> None:
        """Send what waits, as far as there is room."""
        sent = self._sends
        try:
            while self._begun or self._queue:
                # Kept until the kernel has all of it: behind half a line the client understands
                # nothing.
                data = self._begun = self._begun or self._take()
                taken = self._socket.send(data)
                self._begun = memoryview(data)[taken:] if taken < len(data) else b""
                self._sends += 1
        except BlockingIOError:
            self._stall(has_progress=self._sends > sent)
        except OSError:
            self.close()
            self._give_up()
        else:
            self._wait(waits=False)
            if self._is_last:
                self._give_up()
        if self._sends > sent or self.is_idle:
            self.wake()

    def wake(self) -> None:
        """Wake the tasks that wait for something to be sent."""
        self._progress.ring()

    async def wait_progress(self) -> None:
        """Wait until something is sent."""
        await self._progress.wait()

    async def drain(self) -> None:
        """Wait until all that waits is handed to the socket."""
        while not self.is_idle:
            await self.wait_progress()

    async def room(self, size: int) -> bool:
        """Wait until `size` bytes may be put by a subscription; False if the client is too slow.

        A subscription uses half of the queue, so that notifications find the other half.
        """
        limits = self._limits
        # An empty queue has room for a line of any length, or a long one could never go.
        while self._queue and (
            2 * (self._bytes + size) > limits.outbound_bytes
            or 2 * len(self._queue) > limits.outbound_messages
        ):
            before = self._sends
            with anyio.move_on_after(limits.stall_s):
                await self.wait_progress()
            if self._sends == before:
                return False
        return True

    def replace_with(self, line: bytes) -> None:
        """Discard what waits, but for a line that is begun, and make this the last message."""
        self._clear()
        self.put(line)
        self._is_last = True
        self.post()

    def drop(self) -> None:
        """Drop the client, which does not keep up."""
        self._drop()

    def close(self) -> None:
        """Close the queue: discard what waits, and accept nothing more."""
        self._wait(waits=False)
        self._clear()
        self._begun = b""
        self._is_last = True

    def begin(self, subscription: str, cursors: dict[str, Seq]) -> None:
        """Track a subscription's cursors, from these on."""
        self._cursors[subscription] = cursors

    def end(self, subscription: str) -> None:
        """Stop tracking a subscription's cursors."""
        self._cursors.pop(subscription, None)

    def cursors(self) -> dict[str, Seq]:
        """Return, by workbench, the last event that was handed to the socket."""
        merged: dict[str, Seq] = {}
        for cursors in self._cursors.values():
            for workbench_id, seq in cursors.items():
                # The smaller one: who resumes there may get events twice, but misses none.
                merged[workbench_id] = min(seq, merged.get(workbench_id, seq))
        return merged

    def _clear(self) -> None:
        self._queue.clear()
        self._bytes = self._pushed = self._pushed_bytes = 0

    def _stall(self, *, has_progress: bool) -> None:
        """Wait for room, and for the client to take something in time."""
        if has_progress or not self._is_waiting:
            self.progress_at = self._backlogs.clock()
            self._watch.set_deadline(self._drop, self._limits.stall_s)
        self._wait(waits=True)
        self._backlogs.note(self)

    def _wait(self, *, waits: bool) -> None:
        if waits != self._is_waiting:
            self._is_waiting = waits
            self._watch.poll_writable(wanted=waits)
            if not waits:
                self._watch.set_deadline(self._drop, None)
                self._backlogs.forget(self)

    def _take(self) -> bytes:
        """Return the next bytes to send: what waits, joined, up to the size of one send."""
        queue, taken, size = self._queue, [], 0
        if not self._pushed and self._bytes <= self._limits.send_bytes:
            # Answers alone, made by the hundred thousand: no need to look at each.
            data = b"".join(cast("deque[bytes]", queue))
            queue.clear()
            self._bytes = 0
            return data
        while queue and size < self._limits.send_bytes:
            queued = queue.popleft()
            if isinstance(queued, _PushedLine):
                line, mark = queued
                self._pushed -= 1
                self._pushed_bytes -= len(line)
                # Now, for what is taken is sent to its end, to a client that is dropped as well.
                if mark is not None and mark.subscription in self._cursors:
                    self._cursors[mark.subscription][mark.workbench_id] = mark.seq
            else:
                line = queued
            size += len(line)
            taken.append(line)
        self._bytes -= size
        return b"".join(taken)


_RECENT_S = 1.0
"""A client that has taken something within this time is reading."""


class Backlogs:
    """What waits for clients that do not keep up, over all of them, and its bound.

    Past the bound those who have taken nothing for longest are dropped; past twice the bound also
    who takes a little now and then.

    Args:
        limits: How much may wait, for one client and for all.
        clock: Seconds of the loop.

    Attributes:
        clock: The same.
    """

    def __init__(self, limits: ServerLimits, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._one_bytes, self._all_bytes = limits.outbound_bytes, limits.backlog_bytes
        self._sizes: dict[Outbox, int] = {}
        self._total = 0

    def note(self, outbox: Outbox) -> None:
        """Count what waits in an outbox whose client takes nothing right now."""
        size = outbox.waiting_bytes
        self._total += size - self._sizes.get(outbox, 0)
        self._sizes[outbox] = size
        if self._total > self._all_bytes:
            self._relieve()

    def forget(self, outbox: Outbox) -> None:
        """Count an outbox no more."""
        self._total -= self._sizes.pop(outbox, 0)

    def _relieve(self) -> None:
        """Drop clients until what waits is within the bound, or all that are left are reading."""
        now = self.clock()
        for outbox in sorted(self._sizes, key=lambda each: each.progress_at):
            if self._total <= self._all_bytes:
                return
            is_reading = now - outbox.progress_at < _RECENT_S
            if is_reading and self._total <= 2 * self._all_bytes:
                return
            if self._sizes.get(outbox, 0) > self._one_bytes:
                outbox.drop()


# Within the turn one send serves all that was posted: coalesced pushes are 29 times as fast to 10
# clients as one send an event (facts/performance.md C).
class Post:
    """Flushes, in one turn of the event loop, the outboxes of any number of clients."""

    def __init__(self) -> None:
        self._due: set[Outbox] = set()
        self._called = Notifier()

    def call(self, outbox: Outbox) -> None:
        """Schedule a flush of an outbox."""
        self._due.add(outbox)
        self._called.ring()

    async def run(self) -> None:
        """Flush outboxes as they are posted, for ever."""
        while True:
            while not self._due:
                await self._called.wait()
            due, self._due = self._due, set()
            for outbox in due:
                outbox.send()
