"""What waits for one client to read it: a bounded queue, sent in as few writes as possible."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import anyio

from kbd.core.server.limits import ServerLimits
from kbd.core.server.wire import Wire
from kbd.types import Seq

__all__ = ["Mark", "Outbox"]


class Mark(NamedTuple):
    """What a queued line brings a subscription to, once it is sent."""

    subscription: str
    workbench_id: str
    seq: Seq


class Outbox:
    """The lines on their way to one client.

    Whoever has put something flushes: one task at a time sends all there is, the others go on. A
    send is never cancelled before the connection is given up, for that would leave half a line.

    Args:
        wire: The client.
        limits: How much may wait.
        frame: Makes of a line what goes over the wire.
        give_up: Called once when nothing can or should be sent any more.
    """

    def __init__(
        self,
        wire: Wire,
        limits: ServerLimits,
        frame: Callable[[bytes], bytes],
        give_up: Callable[[], None],
    ) -> None:
        self._wire = wire
        self._limits = limits
        self._frame = frame
        self._give_up = give_up
        # Framed, with its mark, and whether it is a push; plain tuples, for they are made often.
        self._queue: deque[tuple[bytes, Mark | None, bool]] = deque()
        self._bytes = 0
        self._pushed = 0
        self._pushed_bytes = 0
        self._sends = 0
        self._is_sending = False
        self._is_last = False
        self._wake = anyio.Event()
        self._moved: anyio.Event | None = None
        self._cursors: dict[str, dict[str, Seq]] = {}

    @property
    def is_idle(self) -> bool:
        """Whether all that was put has been handed to the socket."""
        return not self._queue and not self._is_sending

    @property
    def is_full(self) -> bool:
        """Whether so much waits that the client's requests should not be read."""
        limits = self._limits
        return self._bytes > limits.outbound_bytes or len(self._queue) > limits.outbound_messages

    def put(self, line: bytes) -> None:
        """Queue an answer; the caller flushes, and settles before it reads on."""
        if not self._is_last:
            framed = self._frame(line)
            self._queue.append((framed, None, False))
            self._bytes += len(framed)

    def push(self, line: bytes, mark: Mark | None = None) -> bool:
        """Queue what was not asked for, for the writer; False if more of that waits than may.

        Answers do not count: a client may ask for much at once and read it in its time.
        """
        if not self._is_last:
            framed = self._frame(line)
            self._queue.append((framed, mark, True))
            self._bytes += len(framed)
            self._pushed += 1
            self._pushed_bytes += len(framed)
            self.wake()
        limits = self._limits
        return (
            self._pushed <= limits.outbound_messages and self._pushed_bytes <= limits.outbound_bytes
        )

    def wake(self) -> None:
        """Have the writer send what waits, together with what else gathers until then."""
        self._wake.set()

    async def write_when_woken(self) -> None:
        """Send what is put by those that do not wait; runs as long as the connection."""
        while True:
            await self._wake.wait()
            self._wake = anyio.Event()
            await self.flush()

    async def flush(self) -> None:
        """Send all that waits, unless another task is doing that."""
        if self._is_sending:
            return
        self._is_sending = True
        try:
            while self._queue:
                await self._wire.send(self._take())
                self._sends += 1
                self._tell_waiters()
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._queue.clear()
            self._is_last = True
        finally:
            self._is_sending = False
        if self._is_last:
            self._give_up()

    async def settle(self) -> None:
        """Flush, then wait while too much waits: who calls this reads no further meanwhile."""
        await self.flush()
        while self.is_full:
            await self._next_send()

    async def drain(self) -> None:
        """Wait until all that waits is handed to the socket."""
        await self.flush()
        while not self.is_idle:
            await self._next_send()

    async def room(self, size: int) -> bool:
        """Wait until `size` bytes may be put by a subscription; False if the client is too slow.

        A subscription uses half of the queue, so that notifications find the other half.
        """
        limits = self._limits
        while self._queue and (
            2 * (self._bytes + size) > limits.outbound_bytes
            or 2 * len(self._queue) > limits.outbound_messages
        ):
            before = self._sends
            self.wake()
            with anyio.move_on_after(limits.stall_s):
                await self._next_send()
            if self._sends == before:
                return False
        return True

    def replace_with(self, line: bytes) -> None:
        """Throw away what waits and make this the last message."""
        self._queue.clear()
        self._bytes = self._pushed = self._pushed_bytes = 0
        self.put(line)
        self._is_last = True
        self.wake()

    def begin(self, subscription: str, cursors: dict[str, Seq]) -> None:
        """Keep account of what a subscription has been sent, from these cursors on."""
        self._cursors[subscription] = cursors

    def end(self, subscription: str) -> None:
        """Keep no account of a subscription any more."""
        self._cursors.pop(subscription, None)

    def cursors(self) -> dict[str, Seq]:
        """Return, by workbench, the last event that was handed to the socket."""
        merged: dict[str, Seq] = {}
        for cursors in self._cursors.values():
            for workbench_id, seq in cursors.items():
                merged[workbench_id] = min(seq, merged.get(workbench_id, seq))
        return merged

    async def _next_send(self) -> None:
        if self._moved is None:
            self._moved = anyio.Event()
        await self._moved.wait()

    def _tell_waiters(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None

    def _take(self) -> bytes:
        """Return the next bytes to send: what waits, joined, up to the size of one send."""
        queue = self._queue
        taken = []
        size = 0
        while queue and size < self._limits.send_bytes:
            framed, mark, is_push = queue.popleft()
            size += len(framed)
            taken.append(framed)
            if is_push:
                self._pushed -= 1
                self._pushed_bytes -= len(framed)
            if mark is not None and mark.subscription in self._cursors:
                self._cursors[mark.subscription][mark.workbench_id] = mark.seq
        self._bytes -= size
        return taken[0] if len(taken) == 1 else b"".join(taken)
