"""Connection of one client: parses its requests, answers them, and sends it notifications.

A request that could not be carried out is answered by an error line.
"""

import socket
import time
from collections.abc import Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import Any, Literal, NamedTuple, assert_never

import anyio
import msgspec
from anyio.abc import TaskGroup

from kbd.core.metrics.meters import RequestMeter
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Deferred
from kbd.core.runtime.fairness import serve_for
from kbd.core.server.client_requests import (
    LONG_BYTES,
    InboundBudget,
    InFlight,
    InFlightRequest,
    Intake,
    WaitingMessages,
)
from kbd.core.server.dispatch import Route, ServerLimits, Stream
from kbd.core.server.sockets import Backlogs, Outbox, PolledSocket, Poller, Post
from kbd.core.server.subscriptions import Hub, send_stream
from kbd.errors import KbdError, ValidationFailed
from kbd.events.base import Actor
from kbd.events.shortages import known_error
from kbd.requests.base import Notification, Request
from kbd.requests.notifications import ConnectionDropped, EventsEnded
from kbd.rpc import (
    Framer,
    encode_answer,
    encode_batch,
    encode_failure,
    encode_notification,
    encode_refusal,
)
from kbd.rpc.parsing import Batch, Cancel, Code, Parser, Refusal, RpcCall
from kbd.types import Seq, WorkbenchId

__all__ = [
    "UNNAMED",
    "Connection",
    "SharedParts",
    "canceled_line",
    "duplicate_line",
    "failed_line",
    "refused_line",
]

log = get_logger()


def refused_line(refused: Refusal) -> bytes:
    """Return the line for a message that is no valid request."""
    return encode_refusal(refused.id, refused.code, refused.message, refused.data)


def duplicate_line(call: RpcCall) -> bytes:
    """Return the line for a request whose id is in flight already."""
    return encode_refusal(
        _request_id(call), Code.INVALID_REQUEST, "a request with this id is in flight"
    )


def canceled_line(call: RpcCall) -> bytes | None:
    """Return the line for a request that its client canceled; None if it wants no answer."""
    message_id = _request_id(call)
    if message_id is None:
        return None
    return encode_refusal(message_id, Code.CANCELLED, "request cancelled")


def failed_line(call: RpcCall, route: Route, error: Exception) -> bytes | None:
    """Return the line for a request whose handler raised; None if it wants no answer.

    What is no KbdError stays in the daemon's own log, under the reference that the client gets. Of
    what has run out, a disk that fails, or a file of kbd's own that may not be used, the client is
    told that much.
    """
    message_id = _request_id(call)
    if isinstance(error, KbdError):
        line = encode_failure(message_id, error, route.kind.subject)
    else:
        # An exception's own text may hold paths or keys, so the client gets no word of it.
        reference = token_hex(6)
        log.error("request failed", method=route.kind.method, reference=reference, exc_info=error)
        known = known_error(error)
        if known is not None:
            known.detail["reference"] = reference
            line = encode_failure(message_id, known, route.kind.subject)
        else:
            told = {"reference": reference}
            line = encode_refusal(message_id, Code.INTERNAL, "internal error", told)
    return None if message_id is None else line


def _request_id(call: RpcCall) -> int | str | None:
    return None if isinstance(call.id, msgspec.UnsetType) else call.id


UNNAMED = "unknown"
"""What a client is called that did not name itself."""

_SLICE_S = 0.0005
"""How long one client is served before the others that are ready: some hundred requests."""

_SLICE_MESSAGES = 32
"""After how many messages the clock is looked at."""

_ID_CHARACTERS = 16
"""Of a workbench id, and of its part of a run id."""

_UNSET = msgspec.UNSET


class SharedParts(NamedTuple):
    """What all connections of a server share.

    Args:
        poller: Tells when a client can be read or written.
        post: Sends what does not answer at once.
        budget: Room for long messages.
        backlogs: What waits for clients that do not read.
        meter: Counts requests.
    """

    poller: Poller
    post: Post
    budget: InboundBudget
    backlogs: Backlogs
    meter: RequestMeter


class Connection:
    """Connection of a client, and the session that its requests are given.

    Args:
        sock: The client; somebody else closes it.
        shared: What all connections share.
        routes: How each request is answered.
        parser: Reads messages.
        hub: Tells of workbenches.
        limits: What the client may ask.
        number: Its own, unique while the daemon runs.

    Attributes:
        actor: The client, as it named itself.
    """

    def __init__(
        self,
        sock: socket.socket,
        shared: SharedParts,
        routes: Mapping[type[Request], Route],
        parser: Parser,
        hub: Hub,
        limits: ServerLimits,
        number: int,
    ) -> None:
        self.actor = Actor(UNNAMED, number)
        self._routes, self._meter = routes, shared.meter
        self._parser = parser
        self._hub = hub
        self._limits = limits
        self._scope = anyio.CancelScope()
        self._tasks: TaskGroup = anyio.create_task_group()
        framer, watch = Framer(limits.message_bytes), PolledSocket(shared.poller, sock)
        self.outbox = Outbox(
            sock,
            framer,
            limits,
            watch,
            shared.post,
            shared.backlogs,
            partial(self._drop, "slow_consumer"),
            self._scope.cancel,
        )
        budget = shared.budget
        self._in_flight = InFlight(self._tasks, limits, budget, self._send)
        self._intake = Intake(
            sock, framer, limits, watch, self.outbox, self._in_flight, budget, self._serve
        )
        self._names: set[str] = set()
        self._subscriptions: dict[str, anyio.CancelScope] = {}
        self._is_dropped = False

    async def run(self) -> None:
        """Serve the client until it leaves, is dropped, or the server stops."""
        try:
            with self._scope:
                async with self._tasks:
                    try:
                        await self._intake.run()
                        await self._finish()
                    finally:
                        # Nothing that arrives may ask for a task any more.
                        self._intake.close()
                    # Subscriptions do not end by themselves.
                    self._scope.cancel()
        finally:
            self.outbox.close()
            self._in_flight.abandon()
            for workbench_id in self._names:
                self._hub.leave(workbench_id, self)

    def stop(self) -> None:
        """Read no more; end what is in flight, then close."""
        self._in_flight.close()
        self._intake.close()

    # What a handler may do: `Session`.

    def identify(self, client: str, version: str, host: str) -> None:
        """Set what the client is called from now on."""
        self.actor = Actor(client, self.actor.connection, version, host)

    def name(self, workbench_id: WorkbenchId) -> None:
        """Subscribe this client to the notifications of a workbench."""
        # Bounded: ids are taken from requests unseen, and a client could make up new ones for ever.
        if workbench_id not in self._names and len(self._names) < self._limits.names:
            self._names.add(workbench_id)
            self._hub.join(workbench_id, self)

    def notify(self, record: Notification) -> None:
        """Send a notification to this client alone."""
        self.push(encode_notification(record))

    def subscribe(self, subscription: str, stream: Stream, cursors: Mapping[str, Seq]) -> None:
        """Send this client a stream of events after the answer.

        Raises:
            ValidationFailed: There is a subscription of that name.
        """
        if subscription in self._subscriptions:
            raise ValidationFailed(f"already subscribed to {subscription}")
        self._subscriptions[subscription] = anyio.CancelScope()
        self._meter.followers += 1
        self.outbox.begin(subscription, dict(cursors))
        # A task begins after this turn, when the answer is in the outbox already.
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
        if not self.outbox.push(line):
            self._drop("slow_consumer")

    # Answering.

    def _serve(self, messages: Sequence[bytes]) -> WaitingMessages | None:
        """Answer messages, or begin to, up to the first that must wait; return those that wait."""
        # The hot path: a call and two tests here are a tenth of a fast request.
        parse, routes, outbox, intake = self._parser.parse, self._routes, self.outbox, self._intake
        in_flight, until = self._in_flight, time.monotonic() + _SLICE_S
        for place, message in enumerate(messages):
            if place % _SLICE_MESSAGES == _SLICE_MESSAGES - 1 and time.monotonic() > until:
                return WaitingMessages(messages[place:], wants="turn")
            # An empty line between two messages is passed over.
            if not message or message.isspace():
                continue
            if len(message) > LONG_BYTES:
                in_flight.next_size = len(message)
            parsed = parse(message)
            if isinstance(parsed, RpcCall):
                route = routes[type(parsed.params)]
                is_taken = (self._begin if route.waits else self._answer_now)(parsed, route)
            else:
                is_taken = parsed is None or self._take_other(parsed)
            in_flight.next_size = 0
            if intake.is_closing:
                return None
            if not is_taken or outbox.is_full:
                rest = messages[place + is_taken :]
                return WaitingMessages(rest, wants="room" if is_taken else "place")
        return None

    async def _finish(self) -> None:
        """Wait for requests in flight to end and for the outbox to drain, each within its time."""
        self._in_flight.close()
        self.outbox.send()
        with anyio.move_on_after(self._limits.grace_s):
            await self._in_flight.all_ended()
        with anyio.move_on_after(self._limits.stall_s):
            await self.outbox.drain()

    def _take_other(self, parsed: Batch | Cancel | Refusal) -> bool:
        """Answer what is not a single request; False if there is no place for it yet."""
        match parsed:
            case Refusal():
                self._meter.refused(parsed.code)
                self.outbox.put(refused_line(parsed))
            case Cancel():
                self._in_flight.cancel(parsed.id)
            case Batch():
                if self._in_flight.is_full:
                    return False
                work = partial(self._answer_batch, self._expected(parsed))
                self._in_flight.begin(InFlightRequest(object(), work, lambda: None))
            case _:
                assert_never(parsed)
        return True

    def _answer_now(self, call: RpcCall, route: Route) -> bool:
        """Answer a request of a fast handler; False if it is not, and there is no place yet."""
        begun_s = time.perf_counter()
        try:
            if route.names is not None:
                self._note_names(call.params, route)
            result: Any = route.handler(call.params, self)
            if type(result) is Deferred:
                return self._begin(call, route, result)
            if call.id is not _UNSET:
                self.outbox.put(encode_answer(call.id, result))
            self._meter.answered(route.kind.method, begun_s)
        except Exception as error:  # noqa: BLE001 - a handler's fault is an answer, not our end
            self._meter.answered(route.kind.method, begun_s, error)
            self._put(failed_line(call, route, error))
        return True

    def _begin(self, call: RpcCall, route: Route, result: Deferred[Any] | None = None) -> bool:
        """Begin to answer a request that waits; False if there is no place yet.

        Its id must not be in flight.
        """
        # Two answers with one id could not be told apart.
        if call.id in self._in_flight:
            self.outbox.put(duplicate_line(call))
            return True
        if self._in_flight.is_full:
            return False
        # Without an id nobody can cancel it; it still counts among those in flight.
        key = object() if call.id is msgspec.UNSET else call.id
        if result is not None and result.begin is not None:
            begun_s = time.perf_counter()
            result.begin(partial(self._send_deferred, key, call, route, begun_s))
            # After it has begun: what raises was never in flight, and none settles before it has
            # returned.
            self._in_flight.note(key)
        else:
            work = partial(self._answer_later, call, route, result)
            self._in_flight.begin(InFlightRequest(key, work, partial(canceled_line, call)))
        return True

    def _send_deferred(
        self, key: object, call: RpcCall, route: Route, begun_s: float, result: Any
    ) -> None:
        """Send the answer of a deferred result, or the error in its place."""
        self._in_flight.leave(key)
        error = result if isinstance(result, Exception) else None
        self._meter.answered(route.kind.method, begun_s, error)
        self._send(_answer_line(call, route, result))

    def _put(self, line: bytes | None) -> None:
        if line is not None:
            self.outbox.put(line)

    def _send(self, line: bytes | None) -> None:
        """Send a line at once, unless answers to other requests may be ready in this turn."""
        self._put(line)
        if self._in_flight.is_idle:
            self.outbox.send()
        else:
            self.outbox.post()

    def _expected(self, parts: Batch) -> list[RpcCall | bytes]:
        """Register the calls of a batch, and cancel at once what it cancels.

        Returns:
            Its calls, and the lines that answer what is none.
        """
        found: list[RpcCall | bytes] = []
        for part in parts.parts:
            match part:
                case Cancel():
                    self._in_flight.cancel(part.id)
                case Refusal():
                    self._meter.refused(part.code)
                    found.append(refused_line(part))
                case RpcCall() if part.id in self._in_flight:
                    found.append(duplicate_line(part))
                case RpcCall():
                    if part.id is not _UNSET:
                        self._in_flight.expect(part.id)
                    found.append(part)
                case _:
                    assert_never(part)
        return found

    async def _answer_batch(self, parts: list[RpcCall | bytes]) -> bytes | None:
        """Return the line that answers a batch; its calls are carried out one after the other.

        Once the answers together are as long as a message may be, those that are left are refused:
        a hundred of the longest answers would be a gigabyte, which nobody else gets past.
        """
        lines: list[bytes] = []
        size, until = 0, time.monotonic() + _SLICE_S
        for part in parts:
            if isinstance(part, bytes):
                line: bytes | None = part
            elif size > self._limits.message_bytes:
                line = self._refuse_within(part)
            else:
                line = await self._answer_within(part)
            if line is not None:
                lines.append(line)
                size += len(line)
            # Calls that wait for nothing would follow each other without anybody else's turn.
            if time.monotonic() > until:
                await anyio.lowlevel.checkpoint()
                until = time.monotonic() + _SLICE_S
        return encode_batch(lines) if lines else None

    async def _answer_later(
        self, call: RpcCall, route: Route, begun: Deferred[Any] | None = None
    ) -> bytes | None:
        """Return the line that answers a request, whatever kind of handler it has."""
        method, begun_s = route.kind.method, time.perf_counter()
        activity = self._meter.activity
        activity.begin()
        try:
            # What it does counts as this client's: it takes turns with the others.
            serve_for(self.actor.connection)
            if begun is None:
                # Before the handler: what it announces while it works reaches this client, too.
                self._note_names(call.params, route)
                result = route.handler(call.params, self)
            else:
                result = begun
            if isinstance(result, Deferred):
                result = await result.wait()
            elif route.waits:
                result = await result
        except BaseException as error:
            self._meter.answered(method, begun_s, error)
            if isinstance(error, Exception):
                return failed_line(call, route, error)
            raise  # it was canceled
        finally:
            activity.end()
        self._meter.answered(method, begun_s)
        return _answer_line(call, route, result)

    async def _answer_within(self, call: RpcCall) -> bytes | None:
        """Return the line that answers a part of a batch, which can be canceled alone."""
        key = object() if call.id is _UNSET else call.id
        scope = self._in_flight.enter(key)
        if scope is not None:
            try:
                with scope:
                    return await self._answer_later(call, self._routes[type(call.params)])
            finally:
                self._in_flight.leave(key)
        return canceled_line(call)

    def _refuse_within(self, call: RpcCall) -> bytes | None:
        """Return the line that refuses a part of a batch; nothing of it is done."""
        if call.id is _UNSET:
            return None
        is_canceled = self._in_flight.enter(call.id) is None
        self._in_flight.leave(call.id)
        if is_canceled:
            return canceled_line(call)
        reason = "the answers to this batch are too long together; ask for this one alone"
        return encode_refusal(call.id, Code.OVERLOADED, reason)

    def _note_names(self, params: Any, route: Route) -> None:
        """Subscribe this client to the workbench that the request names."""
        if route.names == "workbench_id":
            named = params.workbench_id
        elif route.names == "run_id":
            named = params.run_id
        else:
            return
        # "*" is no name; a parameter that was left out is no text.
        if isinstance(named, str) and (len(named) >= _ID_CHARACTERS or named == "daemon"):
            self.name(WorkbenchId(named[:_ID_CHARACTERS]))

    # Subscriptions, and the end of a client that does not keep up.

    async def _feed(self, subscription: str, stream: Stream) -> None:
        scope = self._subscriptions[subscription]
        try:
            with scope:
                if not await send_stream(subscription, stream, self.outbox):
                    self._drop("slow_consumer")
                elif self._subscriptions.get(subscription) is scope:
                    self.notify(EventsEnded(workbench_id=subscription))
        except Exception as error:
            log.error("subscription failed", subscription=subscription, exc_info=error)
            self._drop("subscription_failed")
        finally:
            self._forget(subscription, scope)

    def _forget(self, subscription: str, scope: anyio.CancelScope) -> None:
        # The client may have left, and subscribed under the same name again, meanwhile.
        if self._subscriptions.get(subscription) is scope:
            del self._subscriptions[subscription]
            self._meter.followers -= 1
            self.outbox.end(subscription)

    def _drop(self, reason: Literal["slow_consumer", "subscription_failed"]) -> None:
        """Replace what waits by a last message that says how to resume, and close."""
        if self._is_dropped:
            return
        self._is_dropped = True
        self._meter.dropped(reason)
        self._intake.close()
        last = ConnectionDropped(reason=reason, cursors=self.outbox.cursors())
        log.info("client dropped", reason=reason, cursors=last.cursors)
        self.outbox.replace_with(encode_notification(last))
        for workbench_id in self._names:
            self._hub.leave(workbench_id, self)
        # It may take its last message, but not wait with it for ever.
        self._scope.deadline = anyio.current_time() + self._limits.stall_s


def _answer_line(call: RpcCall, route: Route, result: Any) -> bytes | None:
    """Return the line for an answer, or for the error in its place."""
    if isinstance(result, Exception):
        return failed_line(call, route, result)
    try:
        return None if call.id is msgspec.UNSET else encode_answer(call.id, result)
    except Exception as error:  # noqa: BLE001 - what cannot be said is the handler's fault
        return failed_line(call, route, error)
