"""What the core gives the server: a handler for each request; and what a handler is given.

What a subscription is fed from: batches of events, a mark where history ends, batches again.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from kbd.requests.base import Notification, Request
from kbd.types import Seq, WorkbenchId

__all__ = [
    "EventBatch",
    "Follow",
    "Handler",
    "Handlers",
    "Route",
    "Session",
    "Stream",
    "Synced",
    "routes",
]


class EventBatch(NamedTuple):
    """Events of one log, in order, without a gap to the batch before.

    Args:
        workbench_id: The log: a workbench's id, or "daemon".
        first_seq: The place of the first event.
        events: Each as the JSON of an `EventRow`; encoded once, shared by all who follow.
    """

    workbench_id: str
    first_seq: int
    events: tuple[bytes, ...]


class Synced(NamedTuple):
    """All that was recorded when the stream began has been given; by log, up to where."""

    cursors: Mapping[str, Seq]


Stream = AsyncGenerator[EventBatch | Synced, None]
"""History after the cursors, one `Synced`, then what is recorded, as it gathers.

It is pulled: while a client is slow it is not asked, and the log is the buffer. It ends when its
log is deleted, and raises `KbdError` where the log cannot be read on.
"""


class Follow(Protocol):
    """Opens a stream: what the core gives the server for `EventsSubscribe`."""

    async def __call__(self, subscription: str, cursors: Mapping[str, Seq], /) -> Stream:
        """Open a stream.

        Args:
            subscription: A workbench's id, "daemon", or "*" for all logs.
            cursors: The last event that the client has, by log; a log that is not named starts at
                its beginning.

        Raises:
            NotFound: There is no such log.
            ValidationFailed: A cursor is past the end of its log.
            LogCorrupt: The log cannot be read.
        """


class Session(Protocol):
    """The connection that a request came over."""

    def name(self, workbench_id: WorkbenchId) -> None:
        """From now on, tell this client of the workbench (a request that names it does that)."""

    def notify(self, notification: Notification) -> None:
        """Tell this client alone; returns at once."""

    def subscribe(self, subscription: str, stream: Stream, cursors: Mapping[str, Seq]) -> None:
        """Send this client a stream of events after the answer; the stream is closed with it.

        Args:
            subscription: Its name: a log's, or "*".
            stream: The events.
            cursors: The last event, by log, that the client has.

        Raises:
            ValidationFailed: There is a subscription of that name.
        """

    def unsubscribe(self, subscription: str) -> bool:
        """End a subscription; False if there was none."""


Handler = Callable[[Any, Session], Any] | Callable[[Any, Session], Awaitable[Any]]
"""Answers a request's record with its answer's record, or with ready-made JSON (`msgspec.Raw`).

A plain function is fast: it answers from memory, is called in turn, and holds everybody up while it
runs. It may return a `Deferred` instead, and then has done nothing yet: while too much is in flight
it is called once more. A coroutine function runs in a task of its own; it may be cancelled wherever
it waits, so what must not be left half done belongs to somebody else's task. All raise `KbdError`s;
anything else is answered as an internal error.
"""

Handlers = Mapping[type[Request], Handler]
"""The handler of each request. What has none is not a method."""


class Route(NamedTuple):
    """How one method is answered.

    Args:
        kind: The request's record.
        handler: What answers it.
        waits: Whether it is a coroutine function.
        names: Which of its parameters names a workbench, if one does.
    """

    kind: type[Request]
    handler: Handler
    waits: bool
    names: Literal["workbench_id", "run_id"] | None


def routes(handlers: Handlers) -> dict[type[Request], Route]:
    """Return how each request is answered."""
    table = {}
    for kind, handler in handlers.items():
        fields = {field.name for field in msgspec.structs.fields(kind)}
        names: Literal["workbench_id", "run_id"] | None = None
        if "workbench_id" in fields:
            names = "workbench_id"
        elif "run_id" in fields:
            names = "run_id"
        table[kind] = Route(kind, handler, iscoroutinefunction(handler), names)
    return table
