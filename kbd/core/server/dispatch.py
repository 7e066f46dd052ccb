"""What the core gives the server: a handler for each request; and what a handler is given."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from kbd.core.server.stream import Stream
from kbd.requests.base import Notification, Request
from kbd.types import Seq, WorkbenchId

__all__ = ["Handler", "Handlers", "Route", "Session", "routes"]


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
runs. A coroutine function runs in a task of its own; it may be cancelled wherever it waits, so what
must not be left half done belongs to somebody else's task. Both raise `KbdError`s; anything else is
answered as an internal error.
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
