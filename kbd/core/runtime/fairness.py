"""Fair use of what all clients share: whose work it is, and a limit that they take in turn.

A limiter that serves in the order of asking belongs to who asks most: one client with 32 requests
in flight has each of the others wait for 28 of them. Here the clients take turns, however much each
asks for, and one alone never has all there is.
"""

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.lowlevel
from anyio.to_thread import run_sync

__all__ = ["FairLimiter", "read_in_turn", "serve_for"]

_client: ContextVar[int] = ContextVar("_client", default=0)
"""Whose work the task does: a connection's number; 0 for the daemon's own."""

_SHARED_FROM = 4
"""From so many places on, one is kept from who has all the others."""


def serve_for(client: int) -> None:
    """Have what this task does from here on, and what it starts, count as a client's."""
    _client.set(client)


class FairLimiter:
    """Limit of how much is done at once, taken in turn by the clients that it is done for.

    Args:
        total: How many places there are.
    """

    def __init__(self, total: int) -> None:
        self._free = total
        # Small pools are not divided: half of two processors would lie idle for a single client.
        self._share = total if total < _SHARED_FROM else total - 1
        self._held: Counter[int] = Counter()
        # By client, in the order in which they get a place; none without anybody waiting.
        self._waiting: dict[int, deque[anyio.Event]] = {}

    @property
    def free(self) -> int:
        """How many places are free."""
        return self._free

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place while inside."""
        client = _client.get()
        await self._take(client)
        try:
            yield
        finally:
            self._give_back(client)

    async def _take(self, client: int) -> None:
        await anyio.lowlevel.checkpoint()
        queue = self._waiting.setdefault(client, deque())
        turn = anyio.Event()
        queue.append(turn)
        self._hand_out()
        try:
            await turn.wait()
        except BaseException:
            if turn.is_set():
                # The place came together with the cancellation.
                self._give_back(client)
            else:
                queue.remove(turn)
                if not queue:
                    del self._waiting[client]
            raise

    def _give_back(self, client: int) -> None:
        self._free += 1
        self._held[client] -= 1
        if not self._held[client]:
            del self._held[client]
        self._hand_out()

    def _hand_out(self) -> None:
        """Give free places to those that wait, one each in turn, none beyond its share."""
        while self._free:
            client = next((each for each in self._waiting if self._held[each] < self._share), None)
            if client is None:
                return
            # To the end of the line, if it has more to do.
            queue = self._waiting.pop(client)
            queue.popleft().set()
            if queue:
                self._waiting[client] = queue
            self._free -= 1
            self._held[client] += 1


_T = TypeVar("_T")
_Given = TypeVarTuple("_Given")

_MAX_READERS = 4
"""How many threads read for clients at once. Each that computes has the event loop wait for the
interpreter a while: beside 32 of them a short request took a second."""

_readers: anyio.lowlevel.RunVar[FairLimiter] = anyio.lowlevel.RunVar("_readers")


async def read_in_turn(work: Callable[[*_Given], _T], *given: *_Given) -> _T:
    """Return what a function returns that reads or computes for a client, run in a thread.

    A few at once, the clients in turn; what a command writes does not wait for them.
    """
    try:
        readers = _readers.get()
    except LookupError:
        readers = FairLimiter(_MAX_READERS)
        _readers.set(readers)
    async with readers.place():
        return await run_sync(work, *given)
