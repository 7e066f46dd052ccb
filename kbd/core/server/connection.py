"""One client: its requests in, the answers and what it should be told out."""

import socket
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal, assert_never

import anyio
import msgspec
import structlog
from anyio.abc import TaskGroup

from kbd.core.server.answering import (
    cancelled_line,
    duplicate_line,
    failed_line,
    refused_line,
)
from kbd.core.server.crew import Crew, Job
from kbd.core.server.dispatch import Route
from kbd.core.server.hub import Hub
from kbd.core.server.limits import ServerLimits
from kbd.core.server.outbox import Outbox
from kbd.core.server.stream import Stream
from kbd.core.server.subscriptions import feed
from kbd.core.server.wire import Wire
from kbd.errors import ValidationFailed
from kbd.requests.base import Notification, Request
from kbd.requests.notifications import ConnectionDropped
from kbd.rpc import (
    Batch,
    Call,
    Cancel,
    Code,
    Framer,
    FramingError,
    Parser,
    Refusal,
    answer,
    batch,
    notification,
    refusal,
)
from kbd.types import Seq, WorkbenchId

__all__ = ["Connection"]

_CHUNK_BYTES = 64 * 1024
"""How much is read at once: some hundred requests, answered before anybody else is served."""

_ID_LENGTH = 16
"""Of a workbench id, and of its part of a run id."""

log = structlog.get_logger()


class Connection:
    """A client that is connected; what its requests are given as their session.

    Args:
        wire: The client.
        routes: How each request is answered.
        parser: Reads messages.
        hub: Tells of workbenches.
        limits: What the client may ask.
    """

    def __init__(
        self,
        wire: Wire,
        routes: Mapping[type[Request], Route],
        parser: Parser,
        hub: Hub,
        limits: ServerLimits,
    ) -> None:
        self._wire = wire
        self._routes = routes
        self._parser = parser
        self._hub = hub
        self._limits = limits
        self._framer = Framer(limits.message_bytes)
        self._whole = anyio.CancelScope()
        self._tasks: TaskGroup = anyio.create_task_group()
        self._outbox = Outbox(wire, limits, self._framer.frame, self._whole.cancel)
        self._crew = Crew(self._tasks, limits.in_flight, self._finish_one)
        self._names: set[str] = set()
        self._subscriptions: dict[str, anyio.CancelScope] = {}
        self._is_closing = False
        self._is_dropped = False

    async def run(self) -> None:
        """Serve the client until it leaves, is dropped, or is told to go."""
        try:
            with self._whole:
                async with self._tasks:
                    self._tasks.start_soon(self._outbox.write_when_woken)
                    await self._read()
                    self._is_closing = True
                    await self._finish()
                    self._whole.cancel()
        finally:
            self._is_closing = True
            for workbench_id in self._names:
                self._hub.leave(workbench_id, self)

    def stop(self) -> None:
        """Read no more; end what is in flight, then close."""
        self._is_closing = True
        self._crew.close()
        # The reader sees the end of the stream at once; no wait for a byte is left to cancel.
        try:
            self._wire.socket.shutdown(socket.SHUT_RD)
        except OSError:
            pass  # the client has gone already

    # What a handler may do: `Session`.

    def name(self, workbench_id: WorkbenchId) -> None:
        """From now on, tell this client of the workbench."""
        if workbench_id not in self._names and len(self._names) < self._limits.names:
            self._names.add(workbench_id)
            self._hub.join(workbench_id, self)

    def notify(self, record: Notification) -> None:
        """Tell this client alone."""
        self.push(notification(record))

    def subscribe(self, subscription: str, stream: Stream, cursors: Mapping[str, Seq]) -> None:
        """Send this client a stream of events after the answer.

        Raises:
            ValidationFailed: There is a subscription of that name.
        """
        if subscription in self._subscriptions:
            raise ValidationFailed(f"already subscribed to {subscription}")
        self._subscriptions[subscription] = anyio.CancelScope()
        self._outbox.begin(subscription, dict(cursors))
        self._tasks.start_soon(self._feed, subscription, stream)

    def unsubscribe(self, subscription: str) -> bool:
        """End a subscription; False if there was none."""
        scope = self._subscriptions.get(subscription)
        if scope is None:
            return False
        self._forget(subscription, scope)
        scope.cancel()
        return True

    # What the hub does.

    def push(self, line: bytes) -> None:
        """Queue a message, or drop the client if too much waits for it already."""
        if not self._outbox.push(line):
            self._drop("slow_consumer")

    # Reading.

    async def _read(self) -> None:
        """Answer what arrives until the client has said its last word."""
        while not self._is_closing:
            chunk = await self._receive()
            if chunk is None:
                return
            try:
                messages = self._framer.feed(chunk)
            except FramingError as error:
                self._outbox.put(refusal(None, Code.PARSE, f"parse error: {error}"))
                return
            for message in messages:
                # The hot path: a call and two tests here are a tenth of a fast request.
                parsed = self._parser.parse(message)
                if isinstance(parsed, Call):
                    route = self._routes[type(parsed.params)]
                    if route.waits:
                        await self._begin(parsed, route)
                    elif (line := self._answer_now(parsed, route)) is not None:
                        self._outbox.put(line)
                elif parsed is not None and message.strip():
                    await self._take_other(parsed)
                if self._is_closing:
                    return
                if self._outbox.is_full:
                    await self._outbox.settle()
            await self._outbox.settle()

    async def _receive(self) -> bytes | None:
        """Return the next bytes, or None at the end or where a message takes too long to end."""
        try:
            if not self._framer.is_midway:
                return await self._wire.receive(_CHUNK_BYTES)
            with anyio.move_on_after(self._limits.partial_s):
                return await self._wire.receive(_CHUNK_BYTES)
            self._outbox.put(refusal(None, Code.PARSE, "parse error: a message was not finished"))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the client is gone, or we are to go
        return None

    async def _finish(self) -> None:
        """Let what is in flight end, within its time, and the client take what waits for it."""
        self._crew.close()
        self._outbox.wake()
        with anyio.move_on_after(self._limits.grace_s):
            await self._crew.all_ended()
        with anyio.move_on_after(self._limits.stall_s):
            await self._outbox.drain()

    # Answering.

    async def _take_other(self, parsed: Batch | Cancel | Refusal) -> None:
        """Answer what is not a single request."""
        match parsed:
            case Refusal():
                self._outbox.put(refused_line(parsed))
            case Cancel():
                self._crew.cancel(parsed.id)
            case Batch():
                await self._slot()
                work = partial(self._answer_batch, parsed)
                self._crew.begin(Job(object(), work, lambda: None))
            case _:
                assert_never(parsed)

    async def _begin(self, call: Call, route: Route) -> None:
        """Answer a request in a task, when there is a place; its id must not be in flight."""
        if call.id in self._crew:
            self._outbox.put(duplicate_line(call))
            return
        await self._slot()
        key = object() if call.id is msgspec.UNSET else call.id
        work = partial(self._answer_later, call, route)
        self._crew.begin(Job(key, work, partial(cancelled_line, call)))

    async def _slot(self) -> None:
        """Wait while too many requests are in flight."""
        while self._crew.is_full:
            await self._outbox.flush()
            await self._crew.next_end()

    async def _finish_one(self, line: bytes | None) -> None:
        if line is None:
            return
        self._outbox.put(line)
        if self._crew.is_idle:
            await self._outbox.flush()
        else:
            # Answers to other requests may be ready in this turn: one send for all of them.
            self._outbox.wake()

    async def _answer_batch(self, parts: Batch) -> bytes | None:
        """Return the line that answers a batch, part after part."""
        lines = [await self._answer_part(part) for part in parts.parts]
        told = [line for line in lines if line is not None]
        return batch(told) if told else None

    async def _answer_part(self, part: Call | Cancel | Refusal) -> bytes | None:
        match part:
            case Cancel():
                self._crew.cancel(part.id)
                return None
            case Refusal():
                return refused_line(part)
            case Call():
                route = self._routes[type(part.params)]
                if not route.waits:
                    return self._answer_now(part, route)
                return await self._answer_within(part, route)
            case _:
                assert_never(part)

    def _answer_now(self, call: Call, route: Route) -> bytes | None:
        """Return the line that answers a request of a fast handler."""
        try:
            if route.names is not None:
                self._note_names(call.params, route)
            result = route.handler(call.params, self)
            return None if call.id is msgspec.UNSET else answer(call.id, result)
        except Exception as error:  # noqa: BLE001 - a handler's fault is an answer, not our end
            return failed_line(call, route, error)

    async def _answer_later(self, call: Call, route: Route) -> bytes | None:
        """Return the line that answers a request of a handler that waits."""
        try:
            self._note_names(call.params, route)
            result = await route.handler(call.params, self)
            return None if call.id is msgspec.UNSET else answer(call.id, result)
        except Exception as error:  # noqa: BLE001 - as above
            return failed_line(call, route, error)

    async def _answer_within(self, call: Call, route: Route) -> bytes | None:
        """Do the same for a part of a batch, which can be cancelled alone."""
        if call.id in self._crew:
            return duplicate_line(call)
        key = object() if call.id is msgspec.UNSET else call.id
        try:
            with self._crew.enter(key):
                return await self._answer_later(call, route)
        finally:
            self._crew.leave(key)
        return cancelled_line(call)

    def _note_names(self, params: Any, route: Route) -> None:
        """Tell this client of the workbench that the request names from now on."""
        if route.names == "workbench_id":
            named = params.workbench_id
        elif route.names == "run_id":
            named = params.run_id
        else:
            return
        # "daemon" and "*" are shorter; a parameter that was left out is no text.
        if isinstance(named, str) and len(named) >= _ID_LENGTH:
            self.name(WorkbenchId(named[:_ID_LENGTH]))

    # Subscriptions, and the end of a client that does not keep up.

    async def _feed(self, subscription: str, stream: Stream) -> None:
        scope = self._subscriptions[subscription]
        try:
            with scope:
                if not await feed(subscription, stream, self._outbox):
                    self._drop("slow_consumer")
        except Exception as error:
            log.error("subscription failed", subscription=subscription, exc_info=error)
            self._drop("subscription_failed")
        finally:
            self._forget(subscription, scope)

    def _forget(self, subscription: str, scope: anyio.CancelScope) -> None:
        if self._subscriptions.get(subscription) is scope:
            del self._subscriptions[subscription]
            self._outbox.end(subscription)

    def _drop(self, reason: Literal["slow_consumer", "subscription_failed"]) -> None:
        """Replace what waits by a last message that says how to resume, and close."""
        if self._is_dropped:
            return
        self._is_dropped = self._is_closing = True
        last = ConnectionDropped(reason=reason, cursors=self._outbox.cursors())
        log.info("client dropped", reason=reason, cursors=last.cursors)
        self._outbox.replace_with(notification(last))
        for workbench_id in self._names:
            self._hub.leave(workbench_id, self)
        self._whole.deadline = anyio.current_time() + self._limits.stall_s
