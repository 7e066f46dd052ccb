"""Publish-subscribe: the hub of notifications, by workbench, and subscriptions to events.

A notification is pushed to the connections that named its workbench. Events are pulled from the log
as fast as one client takes them.
"""

from collections.abc import Iterator
from contextlib import aclosing
from typing import Protocol, assert_never

from kbd.core.server.dispatch import EventBatch, Follow, Handlers, Session, Stream, Synced
from kbd.core.server.sockets import Outbox, SentCursor
from kbd.errors import ValidationFailed
from kbd.requests.base import Notification, Unset
from kbd.requests.events import (
    EVERY_LOG,
    EventsSubscribe,
    EventsSubscribed,
    EventsUnsubscribe,
    EventsUnsubscribed,
)
from kbd.requests.notifications import EventsSynced
from kbd.rpc import encode_notification
from kbd.types import Seq

__all__ = ["Hub", "Listener", "encode_lines", "send_stream", "subscription_handlers"]


class Listener(Protocol):
    """Subscriber of the hub: a connection."""

    def push(self, line: bytes) -> None:
        """Queue a message to send; returns at once."""


class Hub:
    """Publishes each workbench's notifications to the connections that named it."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = {}

    def announce(self, record: Notification) -> None:
        """Publish a notification; it is encoded once, and nobody is waited for."""
        listeners = self._listeners.get(record.workbench_id)
        if listeners:
            line = encode_notification(record)
            # A copy: a listener that is too slow leaves while it is told.
            for listener in tuple(listeners):
                listener.push(line)

    def join(self, workbench_id: str, listener: Listener) -> None:
        """Subscribe a listener to a workbench."""
        self._listeners.setdefault(workbench_id, set()).add(listener)

    def leave(self, workbench_id: str, listener: Listener) -> None:
        """Unsubscribe a listener from a workbench."""
        listeners = self._listeners.get(workbench_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(workbench_id, None)


_APPENDED = (
    b'{"jsonrpc":"2.0","method":"EventsAppended",'
    b'"params":{"workbench_id":"%b","events":[%b],"last_seq":%d}}\n'
)
"""EventsAppended around events that are JSON already."""

_LINE_BYTES = 128 * 1024
"""About how long one EventsAppended becomes: small enough to interleave with other messages."""


async def send_stream(subscription: str, stream: Stream, outbox: Outbox) -> bool:
    """Send a stream as fast as the client takes it; False if that is too slow.

    Raises:
        KbdError: The log cannot be read on.
    """
    # An open stream counts as a follower, for which its log is kept open.
    async with aclosing(stream):
        async for item in stream:
            for line, mark in encode_lines(subscription, item):
                if not await outbox.room(len(line)):
                    return False
                outbox.push(line, mark)
    return True


def encode_lines(
    subscription: str, item: EventBatch | Synced
) -> Iterator[tuple[bytes, SentCursor | None]]:
    """Yield the notifications of one item of a stream, each with the cursor that it brings."""
    match item:
        case EventBatch(workbench_id, first_seq, events):
            start = 0
            while start < len(events):
                end = _line_end(events, start)
                last_seq = Seq(first_seq + end - 1)
                # The events are JSON already, shared by all who follow; an id is hex digits, or
                # "daemon", and needs no escapes.
                line = _APPENDED % (workbench_id.encode(), b",".join(events[start:end]), last_seq)
                yield line, SentCursor(subscription, workbench_id, last_seq)
                start = end
        case Synced(cursors) if subscription == EVERY_LOG:
            yield (
                encode_notification(EventsSynced(workbench_id=EVERY_LOG, cursors=dict(cursors))),
                None,
            )
        case Synced(cursors):
            synced = EventsSynced(workbench_id=subscription, seq=cursors[subscription])
            yield encode_notification(synced), None
        case _:
            assert_never(item)


def _line_end(events: tuple[bytes, ...], start: int) -> int:
    """Return where a line that begins with this event should end: at one event at least."""
    size = 0
    for index in range(start, len(events)):
        size += len(events[index])
        if size > _LINE_BYTES and index > start:
            return index
    return len(events)


def subscription_handlers(follow: Follow) -> Handlers:
    """Return the handlers of EventsSubscribe and EventsUnsubscribe over the core's streams."""

    async def subscribe(request: EventsSubscribe, session: Session) -> EventsSubscribed:
        cursors = _parse_cursors(request)
        stream = await follow(request.workbench_id, cursors)
        try:
            session.subscribe(request.workbench_id, stream, cursors)
        except ValidationFailed:
            await stream.aclose()
            raise
        return EventsSubscribed(workbench_id=request.workbench_id)

    def unsubscribe(request: EventsUnsubscribe, session: Session) -> EventsUnsubscribed:
        return EventsUnsubscribed(unsubscribed=session.unsubscribe(request.workbench_id))

    return {EventsSubscribe: subscribe, EventsUnsubscribe: unsubscribe}


def _parse_cursors(request: EventsSubscribe) -> dict[str, Seq]:
    """Return the last event that the client has, by log."""
    after = Seq(0) if isinstance(request.after, Unset) else request.after
    cursors = {} if isinstance(request.cursors, Unset) else dict(request.cursors)
    if request.workbench_id != EVERY_LOG:
        if cursors:
            raise ValidationFailed('cursors go with "*"; a single log takes after')
        return {request.workbench_id: after}
    if after:
        raise ValidationFailed('"*" takes cursors; after goes with a single log')
    return cursors
