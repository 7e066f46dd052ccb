"""The requests of one client that are not answered yet, and the tasks that answer them."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
from anyio.abc import TaskGroup

__all__ = ["Crew", "Job"]


class Job(NamedTuple):
    """A request to be answered.

    Args:
        key: What it is known by.
        work: Returns the line that answers it, or None for none.
        given_up: The same if it is cancelled.
    """

    key: object
    work: Callable[[], Awaitable[bytes | None]]
    given_up: Callable[[], bytes | None]


class _Worker:
    """A task that answers one request after the other; cancelling one ends it."""

    __slots__ = ("called", "job", "scope")

    def __init__(self, job: Job) -> None:
        self.job: Job | None = job
        self.scope = anyio.CancelScope()
        self.called = anyio.Event()


class Crew:
    """Answers the requests of one client, so many at a time.

    A task that has answered waits for the next request: to start one costs more than to answer.

    Args:
        tasks: The client's tasks.
        limit: How many requests may be in flight.
        finish: Sends the line that answers a request.
    """

    def __init__(
        self, tasks: TaskGroup, limit: int, finish: Callable[[bytes | None], Awaitable[None]]
    ) -> None:
        self._tasks = tasks
        self._limit = limit
        self._finish = finish
        self._scopes: dict[object, anyio.CancelScope] = {}
        self._idle: list[_Worker] = []
        self._ended: anyio.Event | None = None
        self._is_closed = False

    def __contains__(self, key: object) -> bool:
        return key in self._scopes

    @property
    def is_full(self) -> bool:
        """Whether another request must wait."""
        return len(self._scopes) >= self._limit and not self._is_closed

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight."""
        return not self._scopes

    def begin(self, job: Job) -> None:
        """Answer a request as soon as the caller waits for something."""
        if self._idle:
            worker = self._idle.pop()
            worker.job = job
            worker.called.set()
        else:
            worker = _Worker(job)
            self._tasks.start_soon(self._work, worker)
        self._scopes[job.key] = worker.scope

    def enter(self, key: object) -> anyio.CancelScope:
        """Note a part of a batch; what answers it runs within the scope that is returned."""
        scope = self._scopes[key] = anyio.CancelScope()
        return scope

    def leave(self, key: object) -> None:
        """Forget a request that has ended."""
        self._scopes.pop(key, None)
        self._tell()

    def cancel(self, key: object) -> None:
        """Cancel a request; one that has ended, or another client's, is not found."""
        scope = self._scopes.get(key)
        if scope is not None:
            scope.cancel()

    async def next_end(self) -> None:
        """Wait until a request ends, or there is no point in waiting."""
        if self._ended is None:
            self._ended = anyio.Event()
        await self._ended.wait()

    async def all_ended(self) -> None:
        """Wait until nothing is in flight."""
        while self._scopes:
            await self.next_end()

    def close(self) -> None:
        """Let nobody wait for a place any more: no further request will be taken."""
        self._is_closed = True
        self._tell()

    def _tell(self) -> None:
        if self._ended is not None:
            self._ended.set()
            self._ended = None

    async def _work(self, worker: _Worker) -> None:
        line = None
        with worker.scope:
            while worker.job is not None:
                line = await worker.job.work()
                self.leave(worker.job.key)
                worker.job = None
                if worker.scope.cancel_called:
                    break  # too late; but a cancelled send would leave half a line
                await self._finish(line)
                worker.called = anyio.Event()
                self._idle.append(worker)
                await worker.called.wait()
        if worker.job is not None:
            self.leave(worker.job.key)
            line = worker.job.given_up()
        await self._finish(line)
