"""Those who wait for what the asynchronous client reads."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import anyio

from kbd.client.blocking import KEPT
from kbd.client.following import Followed

__all__ = ["Follower", "Found", "Notices", "Params", "Pending"]

Params = dict[str, Any]

EVENTS_AHEAD = 1000
"""Events that are held for one who follows; what comes past them is asked for again."""

_Item = TypeVar("_Item")


class Pending:
    """A request whose answer is awaited.

    Attributes:
        arrived: Set when the answer is there, or none will come.
        message: The answer.
    """

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.message: Params | None = None


class _Listener:
    """Somebody who takes what comes, when there is something to take."""

    def __init__(self) -> None:
        self._stirred = anyio.Event()

    def stir(self) -> None:
        """Have the one who waits look again."""
        self._stirred.set()

    async def stirred(self) -> None:
        """Wait until there is a reason to look."""
        self._stirred = anyio.Event()
        await self._stirred.wait()


class Follower(_Listener):
    """One who follows.

    Attributes:
        followed: What was read for him.
        is_behind: Whether more was passed over meanwhile.
    """

    def __init__(self, followed: Followed) -> None:
        super().__init__()
        self.followed = followed
        self.is_behind = False

    def take(self, log: str, events: list[Params]) -> None:
        """Take events, unless too many wait already: the log itself keeps them."""
        if not self.is_behind:
            self.followed.take(log, events)
            self.is_behind = len(self.followed) >= EVENTS_AHEAD
        self.stir()


class Notices(_Listener):
    """Notifications for one who listens.

    Attributes:
        told: They; past their most the oldest are forgotten.
    """

    def __init__(self) -> None:
        super().__init__()
        self.told: deque[tuple[str, Params]] = deque(maxlen=KEPT)


class Found(Generic[_Item]):
    """Gives what a function finds next until that is None.

    Not a generator: one that is left half-way must be closed, which nobody thinks of.
    """

    def __init__(self, find: Callable[[], Awaitable[_Item | None]]) -> None:
        self._find = find

    def __aiter__(self) -> "Found[_Item]":
        return self

    async def __anext__(self) -> _Item:
        item = await self._find()
        if item is None:
            raise StopAsyncIteration
        return item
