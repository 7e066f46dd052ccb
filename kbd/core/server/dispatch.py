"""Dispatch of requests: the handler of each, what it is given, limits, and `rpc.discover`.

The core gives the server a handler for each request, and streams of events for subscriptions:
batches of events, a mark where history ends, batches again.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.events.base import Actor
from kbd.requests.base import Notification, Request
from kbd.requests.daemon import RpcDiscover
from kbd.requests.openrpc import WireError, openrpc_document
from kbd.rpc import MESSAGE_BYTES, ErrorData
from kbd.rpc.parsing import BATCH_MESSAGES, MAX_NESTING, MAX_PARTS, MAX_VALUES, Code
from kbd.types import Seq, WorkbenchId

__all__ = [
    "Discovery",
    "EventBatch",
    "Follow",
    "Handler",
    "Handlers",
    "Route",
    "ServerLimits",
    "Session",
    "Stream",
    "Synced",
    "routes",
]


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of the socket (contract 1, reliability.md 4); each can be set.

    Args:
        message_bytes: The longest message of a client.
        nesting: The deepest nesting in it.
        parts: The most arrays and objects in it.
        values: The most commas between its values.
        batch: The most messages in a batch.
        connections: How many clients at a time.
        in_flight: How many unanswered requests one client may have; past it, it is not read.
        names: How many workbenches one client is told of.
        long_bytes: How many bytes of messages over 64 KiB are held at once, of all clients, from
            when they gather until they are answered.
        outbound_bytes: How much may wait for a client to read it before it is read no more, and of
            notifications before it is dropped.
        outbound_messages: The same in messages. Deltas are small, so this is the one that a client
            meets first; one batch of commits may announce hundreds at once.
        backlog_bytes: How much may wait for all clients that do not take it, together.
        send_bytes: How much is handed to the socket at once.
        stall_s: Seconds after which a client is dropped for which something waits and that takes
            nothing, and for which it may still take its last message.
        partial_s: Seconds in which a message that has begun must be complete.
        grace_s: Seconds that requests in flight get to end when the client has said its last word
            or the daemon stops.
    """

    message_bytes: int = MESSAGE_BYTES
    nesting: int = MAX_NESTING
    parts: int = MAX_PARTS
    values: int = MAX_VALUES
    batch: int = BATCH_MESSAGES
    connections: int = 1000
    in_flight: int = 32
    names: int = 10_000
    outbound_bytes: int = 1024 * 1024
    outbound_messages: int = 4096
    long_bytes: int = 64 * 1024 * 1024
    backlog_bytes: int = 128 * 1024 * 1024
    send_bytes: int = 256 * 1024
    stall_s: float = 5.0
    partial_s: float = 10.0
    grace_s: float = 5.0


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

    @property
    def actor(self) -> Actor:
        """The client, as it named itself; what it causes is recorded with it."""

    def identify(self, client: str, version: str, host: str) -> None:
        """Set what the client is called from now on; the connection keeps its number."""

    def name(self, workbench_id: WorkbenchId) -> None:
        """Subscribe this client to a workbench's notifications, as a request that names it does."""

    def notify(self, notification: Notification) -> None:
        """Send a notification to this client alone; returns at once."""

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
it is called once more. A coroutine function runs in a task of its own; it may be canceled wherever
it waits, so what must not be left half done belongs to somebody else's task. All raise `KbdError`s;
anything else is answered as an internal error.
"""

Handlers = Mapping[type[Request], Handler]
"""The handler of each request. What has none is not a method."""


class Route(NamedTuple):
    """Route of a method: its handler, and how that is called.

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
    """Return the route of each request."""
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


_ERRORS = (
    WireError(
        name="ParseError",
        code=Code.PARSE,
        message="The message is not JSON, or too long or too deep to be read.",
        is_of_methods=False,
    ),
    WireError(
        name="InvalidRequest",
        code=Code.INVALID_REQUEST,
        message="It is not a request, its id is in flight, or its api_version is another.",
    ),
    WireError(
        name="MethodNotFound",
        code=Code.METHOD_NOT_FOUND,
        message="There is no such method.",
        is_of_methods=False,
    ),
    WireError(
        name="InvalidParams",
        code=Code.INVALID_PARAMS,
        message="The parameters are not the method's; the message names the one that is wrong.",
    ),
    WireError(
        name="InternalError",
        code=Code.INTERNAL,
        message="kbd failed inside; its own log says how, under the reference in data.",
    ),
    WireError(
        name="ApplicationError",
        code=Code.APPLICATION,
        message="The request was understood and cannot be carried out; data says why.",
        data=ErrorData,
    ),
    WireError(
        name="Overloaded",
        code=Code.OVERLOADED,
        message="There are too many connections; try again later.",
        is_of_methods=False,
    ),
    WireError(
        name="RequestCancelled",
        code=Code.CANCELLED,
        message="The client cancelled the request with $/cancelRequest.",
    ),
)


class Discovery:
    """Answers `rpc.discover` with the OpenRPC document.

    Args:
        methods: The record of each method that is served.
    """

    def __init__(self, methods: Mapping[str, type[Request]]) -> None:
        self._methods = methods
        self._document: msgspec.Raw | None = None

    async def answer(self, _request: RpcDiscover, _session: Session) -> msgspec.Raw:
        """Return the document; it is made when it is asked for first, in a thread.

        Made at every start it would cost each start some 40 ms.
        """
        if self._document is None:
            self._document = await run_sync(partial(_encode, self._methods))
        return self._document


def _encode(methods: Mapping[str, type[Request]]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(openrpc_document(methods, __version__, _ERRORS)))
