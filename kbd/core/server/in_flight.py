"""In-flight requests of one client, and the tasks that answer them."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
from anyio.abc import TaskGroup

from kbd.core.runtime.event_loop import Notifier

__all__ = ["InFlight", "InFlightRequest"]


class InFlightRequest(NamedTuple):
    """Request that waits for its answer.

    Args:
        key: What it is known by.
        work: Returns the line that answers it, or None for none.
        given_up: The same if it is cancelled.
    """

    key: object
    work: Callable[[], Awaitable[bytes | None]]
    given_up: Callable[[], bytes | None]


class InFlight:
    """In-flight requests of one client, answered by a pool of tasks, so many at a time.

    A task that has answered takes the next request, or waits to be called: to start a task, or only
    to wake one, costs more than to answer. So one task is called for all that is to be answered; it
    has another called before it begins with one of several, in case that one waits for something.
    If it does not, the other finds nothing left.

    Args:
        tasks: The client's tasks.
        limit: How many requests may be in flight.
        finish: Sends the line that answers a request.
    """

    def __init__(
        self, tasks: TaskGroup, limit: int, finish: Callable[[bytes | None], None]
    ) -> None:
        self._tasks = tasks
        self._limit = limit
        self._finish = finish
        # What is in flight, and where it can be cancelled; None until a task has taken it.
        self._scopes: dict[object, anyio.CancelScope | None] = {}
        self._untaken: deque[InFlightRequest] = deque()
        self._unwanted: set[object] = set()
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
        return len(self._scopes) >= self._limit and not self._is_closed

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._scopes

    def begin(self, job: InFlightRequest) -> None:
        """Answer a request as soon as the caller waits for something."""
        self._scopes[job.key] = None
        self._untaken.append(job)
        self._call()

    def note(self, key: object) -> None:
        """Note a request that no task answers; `leave` forgets it. It cannot be cancelled."""
        self._scopes[key] = None

    def expect(self, key: object) -> None:
        """Note a part of a batch that must wait for the parts before it; it can be cancelled."""
        self._expected.add(key)

    def enter(self, key: object) -> anyio.CancelScope | None:
        """Note a part of a batch whose turn has come.

        Returns:
            The scope that what answers it runs in, or None if it was cancelled while it waited.
        """
        self._expected.discard(key)
        if key in self._unwanted:
            self._unwanted.discard(key)
            return None
        scope = self._scopes[key] = anyio.CancelScope()
        return scope

    def leave(self, key: object) -> None:
        """Forget a request that has ended."""
        self._scopes.pop(key, None)
        self._unwanted.discard(key)
        self._ended.ring()

    def cancel(self, key: object) -> None:
        """Cancel a request; one that has ended, or another client's, is not found."""
        if key not in self:
            return
        scope = self._scopes.get(key)
        if scope is None:
            self._unwanted.add(key)
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
        """Close the pool: no further request is taken, so nobody waits for a place any more."""
        self._is_closed = True
        self._ended.ring()

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
                if not self._untaken:
                    self._idle.append(called)
                    await called.wait()
                    self._is_called = False
                    continue
                job = self._take(scope)
                line = job.given_up() if job.key in self._unwanted else await job.work()
                self.leave(job.key)
                job = None
                # If it was cancelled too late: a cancelled send would leave half a line.
                if not scope.cancel_called:
                    self._finish(line)
                    line = None
        if job is not None:
            self.leave(job.key)
            line = job.given_up()
        self._finish(line)

    def _take(self, scope: anyio.CancelScope) -> InFlightRequest:
        """Take the oldest request; the others must not wait for it."""
        job = self._untaken.popleft()
        self._scopes[job.key] = scope
        if self._untaken:
            self._call()
        return job
