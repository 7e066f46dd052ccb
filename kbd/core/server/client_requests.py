"""Requests of one client: read with backpressure, and in flight until they are answered.

Reading stops while something has to wait: for a place among the requests in flight, or for room in
the outbox.
"""

import socket
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, NamedTuple

import anyio
from anyio.abc import TaskGroup

from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.server.dispatch import ServerLimits
from kbd.core.server.sockets import Outbox, PolledSocket
from kbd.rpc import Framer, FramingError, encode_refusal
from kbd.rpc.parsing import Code

__all__ = [
    "LONG_BYTES",
    "InFlight",
    "InFlightRequest",
    "InboundBudget",
    "Intake",
    "WaitingMessages",
]

LONG_BYTES = 64 * 1024
"""A longer message counts by its bytes: while it gathers, and until it is answered."""


class InboundBudget:
    """How many bytes of long messages the daemon holds at once, of all clients together.

    Who begins one reserves the longest there may be, in the order of asking, so that each message
    that was begun can end. Once it is whole only its own length counts, until it is answered.

    Args:
        total: The most bytes; the longest message always fits.
        longest: The longest message.
    """

    def __init__(self, total: int, longest: int) -> None:
        self._free = max(total, longest)
        self._longest = longest
        self._waiting: deque[Callable[[], None]] = deque()

    def reserve(self, granted: Callable[[], None]) -> bool:
        """Reserve the longest message; False if there is no room, and `granted` is called then."""
        if not self._waiting and self._free >= self._longest:
            self._free -= self._longest
            return True
        self._waiting.append(granted)
        return False

    def withdraw(self, granted: Callable[[], None]) -> None:
        """Wait no more."""
        if granted in self._waiting:
            self._waiting.remove(granted)
            self._grant()

    def unreserve(self) -> None:
        """Give back what was reserved."""
        self.release(self._longest)

    def charge(self, size: int) -> None:
        """Count a message that is whole; nobody waits for that, as it was reserved before."""
        self._free -= size

    def release(self, size: int) -> None:
        """Count so many bytes no more."""
        self._free += size
        self._grant()

    def _grant(self) -> None:
        while self._waiting and self._free >= self._longest:
            self._free -= self._longest
            self._waiting.popleft()()


class InFlightRequest(NamedTuple):
    """Request that waits for its answer.

    Args:
        key: What it is known by.
        work: Returns the line that answers it, or None for none.
        on_cancel: The same if it is canceled.
    """

    key: object
    work: Callable[[], Awaitable[bytes | None]]
    on_cancel: Callable[[], bytes | None]


class InFlight:
    """In-flight requests of one client, answered by a pool of tasks, so many at a time.

    A task that has answered takes the next request, or waits to be called: to start a task, or only
    to wake one, costs more than to answer. So one task is called for all that is to be answered; it
    has another called before it begins with one of several, in case that one waits for something.
    If it does not, the other finds nothing left.

    Args:
        tasks: The client's tasks.
        limits: How many requests may be in flight, and of how many bytes.
        budget: Told of the long ones.
        finish: Sends the line that answers a request.

    Attributes:
        next_size: The bytes of the request that begins next, if it is long; else 0.
    """

    def __init__(
        self,
        tasks: TaskGroup,
        limits: ServerLimits,
        budget: InboundBudget,
        finish: Callable[[bytes | None], None],
    ) -> None:
        self._tasks = tasks
        self._limit, self._most_bytes = limits.in_flight, limits.message_bytes
        self._budget = budget
        self._finish = finish
        self.next_size = 0
        self._sizes: dict[object, int] = {}
        # What is in flight, and where it can be canceled; None until a task has taken it.
        self._scopes: dict[object, anyio.CancelScope | None] = {}
        self._queued: deque[InFlightRequest] = deque()
        self._canceled: set[object] = set()
        self._expected: set[object] = set()
        self._idle: list[Notifier] = []
        self._is_called = False
        self._ended = Notifier()
        self._is_closed = False

    def __contains__(self, key: object) -> bool:
        return key in self._scopes or key in self._expected

    @property
    def is_full(self) -> bool:
        """Whether another request must wait."""
        # Long requests are few: mostly there is nothing to add up.
        is_full = len(self._scopes) >= self._limit or (
            bool(self._sizes) and sum(self._sizes.values()) + self.next_size > self._most_bytes
        )
        return is_full and not self._is_closed

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._scopes

    def begin(self, job: InFlightRequest) -> None:
        """Answer a request as soon as the caller waits for something."""
        self.note(job.key)
        self._queued.append(job)
        self._call()

    def note(self, key: object) -> None:
        """Add a request that no task answers; `leave` removes it. It cannot be canceled."""
        self._scopes[key] = None
        if self.next_size:
            self._sizes[key] = self.next_size
            self._budget.charge(self.next_size)
            self.next_size = 0

    def expect(self, key: object) -> None:
        """Add a part of a batch that must wait for the parts before it; it can be canceled."""
        self._expected.add(key)

    def enter(self, key: object) -> anyio.CancelScope | None:
        """Start a part of a batch whose turn has come.

        Returns:
            The scope that what answers it runs in, or None if it was canceled while it waited.
        """
        self._expected.discard(key)
        if key in self._canceled:
            self._canceled.discard(key)
            return None
        scope = self._scopes[key] = anyio.CancelScope()
        return scope

    def leave(self, key: object) -> None:
        """Remove a request that has ended."""
        self._scopes.pop(key, None)
        if key in self._sizes:
            self._budget.release(self._sizes.pop(key))
        self._canceled.discard(key)
        self._ended.ring()

    def cancel(self, key: object) -> None:
        """Cancel a request; one that has ended, or another client's, is not found."""
        if key not in self:
            return
        scope = self._scopes.get(key)
        if scope is None:
            # No task has it yet: it is answered as canceled when its turn comes.
            self._canceled.add(key)
        else:
            scope.cancel()

    async def next_end(self) -> None:
        """Wait until a request ends, or there is no point in waiting."""
        await self._ended.wait()

    async def all_ended(self) -> None:
        """Wait until nothing is in flight."""
        while self._scopes:
            await self.next_end()

    def close(self) -> None:
        """Close the pool: no further request is accepted, so nobody waits for a place any more."""
        self._is_closed = True
        self._ended.ring()

    def abandon(self) -> None:
        """Count nothing any more: the client is gone, and so are all tasks."""
        for size in self._sizes.values():
            self._budget.release(size)
        self._sizes.clear()

    def _call(self) -> None:
        """Wake or start a task for the queue, unless one is on its way."""
        if self._is_called:
            return
        self._is_called = True
        if self._idle:
            self._idle.pop().ring()
        else:
            self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        """Answer one request after the other; cancelling one ends the task."""
        self._is_called = False
        scope, called = anyio.CancelScope(), Notifier()
        job = line = None
        with scope:
            while not scope.cancel_called:
                if not self._queued:
                    self._idle.append(called)
                    await called.wait()
                    self._is_called = False
                    continue
                job = self._take(scope)
                line = job.on_cancel() if job.key in self._canceled else await job.work()
                self.leave(job.key)
                job = None
                # If it was canceled too late: a canceled send would leave half a line.
                if not scope.cancel_called:
                    self._finish(line)
                    line = None
        if job is not None:
            self.leave(job.key)
            line = job.on_cancel()
        self._finish(line)

    def _take(self, scope: anyio.CancelScope) -> InFlightRequest:
        """Dequeue the oldest request; the others must not wait for it."""
        job = self._queued.popleft()
        self._scopes[job.key] = scope
        if self._queued:
            self._call()
        return job


_CHUNK_BYTES = 64 * 1024
"""How much is read at once: some hundred requests, or thousands of lines that are none."""

log = get_logger()


class WaitingMessages(NamedTuple):
    """Messages that must wait.

    Args:
        messages: They, in order.
        wants: For what: a place among the requests in flight, room in the outbox, or their turn,
            because others are served first.
    """

    messages: Sequence[bytes]
    wants: Literal["place", "room", "turn"]


class Intake:
    """Reads the requests of one client; while something has to wait, nothing more is read.

    Args:
        sock: The client.
        framer: Cuts what arrives into messages.
        limits: How long a message may take to end.
        watch: Tells when bytes have arrived; not yet taken.
        outbox: Where answers are put.
        in_flight: The requests that are in flight.
        budget: Has room for long messages, or has the client wait.
        serve: Answers messages, or begins to; returns those that must wait.

    Attributes:
        is_closing: Whether no message is to be taken any more.
    """

    def __init__(
        self,
        sock: socket.socket,
        framer: Framer,
        limits: ServerLimits,
        watch: PolledSocket,
        outbox: Outbox,
        in_flight: InFlight,
        budget: InboundBudget,
        serve: Callable[[Sequence[bytes]], WaitingMessages | None],
    ) -> None:
        self.is_closing = False
        self._socket = sock
        self._framer = framer
        self._limits = limits
        self._watch = watch
        self._outbox = outbox
        self._in_flight = in_flight
        self._budget = budget
        self._serve = serve
        self._waiting: WaitingMessages | None = None
        self._is_midway = False
        # Of a long message: whether there is room for it, or the client waits for that.
        self._is_reserved = self._is_queued = False
        self._has_ended = False
        self._wakeup = anyio.Event()
        watch.served = self

    async def run(self) -> None:
        """Serve what arrives until the client has sent its last message."""
        while not self.is_closing:
            if self._waiting is not None and self._waiting.wants != "turn":
                await self._turn(self._waiting)
                messages, self._waiting = self._waiting.messages, None
                self._take(messages)
            elif self._has_ended and self._waiting is None:
                break
            else:
                self._wakeup = anyio.Event()
                if self._waiting is None and not self._is_queued:
                    self._update_deadline(has_ended_one=False)
                    self._watch.poll_readable(wanted=True)
                await self._wakeup.wait()
        self.is_closing = True

    def close(self) -> None:
        """Stop reading requests."""
        self.is_closing = True
        self._outbox.wake()
        self._end()

    def readable(self) -> None:
        """Read what has arrived and answer it, as far as nothing has to wait."""
        self._guard(self._receive)

    def writable(self) -> None:
        """Send what waits in the outbox."""
        self._guard(self._outbox.send)

    def proceed(self) -> None:
        """Answer on where others had their turn."""
        self._guard(self._proceed)

    def overdue(self) -> None:
        """Refuse a message that takes too long to end."""
        self._refuse(Code.PARSE, "parse error: a message was not finished")

    def crowded(self) -> None:
        """Refuse a message for which there was no room in time."""
        self._refuse(Code.OVERLOADED, "too many long messages at once; try again later")

    def admitted(self) -> None:
        """Read on: there is room for a long message now."""
        self._is_queued, self._is_reserved = False, True
        self._watch.set_deadline(self.crowded, None)
        if self._waiting is None:
            self._watch.set_deadline(self.overdue, self._limits.partial_s)
            self._watch.poll_readable(wanted=True)

    def _guard(self, serve: Callable[[], None]) -> None:
        """Call in the turn of the poller, which all share: a client's fault ends this one alone."""
        try:
            serve()
        except Exception as error:
            log.error("connection failed", exc_info=error)
            self.close()

    def _receive(self) -> None:
        try:
            # Not recvmsg: descriptors that a client sends along are closed by the kernel.
            chunk = self._socket.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""  # the client is gone
        # The end of the stream: what was asked before is still answered.
        if not chunk:
            self._end()
            return
        try:
            messages = self._framer.feed(chunk)
        except FramingError as error:
            self._refuse(Code.PARSE, f"parse error: {error}")
            return
        if self._framer.is_midway or self._is_midway:
            self._update_deadline(has_ended_one=bool(messages))
        self._take(messages)
        if self._framer.held > LONG_BYTES and not (self._is_reserved or self._has_ended):
            self._reserve()

    def _reserve(self) -> None:
        """Reserve room for a message that turns out to be long; until there is, do not read."""
        self._is_reserved = self._budget.reserve(self.admitted)
        self._is_queued = not self._is_reserved
        if self._is_queued:
            self._watch.poll_readable(wanted=False)
            # Its time begins when it is read again.
            self._watch.set_deadline(self.overdue, None)
            self._watch.set_deadline(self.crowded, self._limits.partial_s)

    def _unreserve(self) -> None:
        if self._is_queued:
            self._is_queued = False
            self._budget.withdraw(self.admitted)
            self._watch.set_deadline(self.crowded, None)
        if self._is_reserved:
            self._is_reserved = False
            self._budget.unreserve()

    def _proceed(self) -> None:
        waiting = self._waiting
        if waiting is not None and not self.is_closing:
            self._waiting = None
            self._take(waiting.messages)
            if self._waiting is None:
                self._wakeup.set()

    def _take(self, messages: Sequence[bytes]) -> None:
        rest = self._serve(messages)
        if rest is not None:
            self._waiting, self._is_midway = rest, False
            self._pause()
            if rest.wants == "turn":
                self._watch.yield_turn()
        elif self._is_reserved and self._framer.held <= LONG_BYTES:
            # What was long is whole, and counts by itself while it is in flight.
            self._unreserve()
        if not self._outbox.is_idle:
            self._outbox.send()

    async def _turn(self, rest: WaitingMessages) -> None:
        """Wait until what had to wait can be served."""
        while rest.wants == "place" and self._in_flight.is_full:
            await self._in_flight.next_end()
        while self._outbox.is_full and not self.is_closing:
            await self._outbox.wait_progress()

    def _refuse(self, code: Code, reason: str) -> None:
        """Answer what cannot be cut into messages; nothing behind it can be understood."""
        self._outbox.put(encode_refusal(None, code, reason))
        self._end()

    def _end(self) -> None:
        """Read no more at all."""
        self._has_ended = True
        self._unreserve()
        self._framer.discard()
        self._pause()

    def _pause(self) -> None:
        """Read no more until `run` has seen to it."""
        self._watch.poll_readable(wanted=False)
        self._watch.set_deadline(self.overdue, None)
        self._wakeup.set()

    def _update_deadline(self, *, has_ended_one: bool) -> None:
        """Set the deadline of a message that has begun, or clear it."""
        is_midway = self._framer.is_midway
        if not is_midway:
            self._watch.set_deadline(self.overdue, None)
        # Once a message and not at each byte, or who sends one a second would never be late.
        elif has_ended_one or not self._is_midway:
            self._watch.set_deadline(self.overdue, self._limits.partial_s)
        self._is_midway = is_midway
