"""Asynchronous client, on asyncio or trio: many requests at a time over one connection.

    import anyio
    from kbd.client.aio import connect

    async def main():
        async with connect() as client:
            bench = await client.send("WorkbenchCreate", {"name": "March"})
            async with client.follow(bench["workbench_id"]) as events:
                async for event in events:
                    print(event["seq"], event["type"])
                    break

    anyio.run(main)

It says the same as the blocking client, and does not wait for one answer before the next request. A
client is one event loop's: any number of its tasks may use it, no other thread. A request that is
canceled here is canceled there, which ends the waiting and not always the work: a run goes on
until `WorkshopCancelRun` ends it.
"""

import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Generic, TypeVar

import anyio
from anyio.abc import ByteStream

from kbd import __version__
from kbd.client.blocking import (
    DEFAULT_CLIENT,
    EVERY_LOG,
    MAX_NOTIFICATIONS,
    TIMEOUT_S,
    FollowedEvents,
    default_socket,
    identification,
)
from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError

__all__ = [
    "AsyncClient",
    "Follower",
    "NotificationListener",
    "Params",
    "PendingRequest",
    "PolledIterator",
    "connect",
]

Params = dict[str, Any]

MAX_BUFFERED_EVENTS = 1000
"""Events that are held for one who follows; what comes past them is asked for again."""

_Item = TypeVar("_Item")


class PendingRequest:
    """A request whose answer is awaited.

    Attributes:
        arrived: Set when the answer is there, or none will come.
        message: The answer.
    """

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.message: Params | None = None


class _Listener:
    """Receiver that waits for what was read for it."""

    def __init__(self) -> None:
        self._notified = anyio.Event()

    def notify(self) -> None:
        """Wake the waiting task."""
        self._notified.set()

    async def wait(self) -> None:
        """Wait until `notify` is called."""
        self._notified = anyio.Event()
        await self._notified.wait()


class Follower(_Listener):
    """Follower of a log.

    Attributes:
        followed: What was read for him.
        is_behind: Whether more was passed over meanwhile.
    """

    def __init__(self, followed: FollowedEvents) -> None:
        super().__init__()
        self.followed = followed
        self.is_behind = False

    def add(self, log: str, events: list[Params]) -> None:
        """Take events, unless too many wait already: the log itself keeps them."""
        if not self.is_behind:
            self.followed.add(log, events)
            self.is_behind = len(self.followed) >= MAX_BUFFERED_EVENTS
        self.notify()


class NotificationListener(_Listener):
    """Notifications for one who listens.

    Attributes:
        notifications: They; past their most the oldest are forgotten.
    """

    def __init__(self) -> None:
        super().__init__()
        self.notifications: deque[tuple[str, Params]] = deque(maxlen=MAX_NOTIFICATIONS)


class PolledIterator(Generic[_Item]):
    """Gives what a function finds next until that is None.

    Not a generator: one that is left half-way must be closed, which nobody thinks of.
    """

    def __init__(self, find: Callable[[], Awaitable[_Item | None]]) -> None:
        self._find = find

    def __aiter__(self) -> "PolledIterator[_Item]":
        return self

    async def __anext__(self) -> _Item:
        item = await self._find()
        if item is None:
            raise StopAsyncIteration
        return item


Notified = Callable[[str, Params], None]
"""Called with a notification's method and parameters; it returns at once."""

_CHUNK_BYTES = 256 * 1024
_MAX_BUFFERED_LINES = 64
"""Requests that are on their way to the socket; past them, who asks waits."""


@asynccontextmanager
async def connect(
    socket_path: str | None = None,
    *,
    on_notification: Notified | None = None,
    client: str = DEFAULT_CLIENT,
    version: str = __version__,
    host: str = "",
) -> AsyncIterator["AsyncClient"]:
    """Connect to the daemon, for as long as the block lasts.

    What the block raises is raised as it is, never in a group. What runs in the daemon goes on.

    Args:
        socket_path: Where the daemon listens; where the environment says if None.
        on_notification: Is called with each notification as it comes; what it raises ends the
            connection and is raised here.
        client: What the client calls itself; the log tells what it caused by this name.
        version: Its version.
        host: The program that it works for, where it is not its own.

    Raises:
        ConnectionLostError: Nobody listens there.
    """
    try:
        stream = await anyio.connect_unix(socket_path or default_socket())
    except OSError as error:
        raise ConnectionLostError(f"no daemon answers: {error.strerror or error}") from error
    raised: list[Exception] = []
    async with stream, anyio.create_task_group() as tasks:
        connected = AsyncClient(
            stream, on_notification, _line(identification(client, version, host))
        )

        async def carry(work: Callable[[], Awaitable[None]]) -> None:
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - raised below
                raised.append(error)
                tasks.cancel_scope.cancel()

        tasks.start_soon(carry, connected.read)
        tasks.start_soon(carry, connected.write)
        try:
            yield connected
        except Exception as error:  # noqa: BLE001 - raised below
            raised.append(error)
        finally:
            tasks.cancel_scope.cancel()
    if raised:
        raise raised[0]


class AsyncClient:
    """One connection to the daemon; made by `connect`.

    Args:
        stream: The daemon.
        on_notification: Is called with each notification as it comes.
        greeting: The line that goes out with the first request.
    """

    def __init__(
        self, stream: ByteStream, on_notification: Notified | None, greeting: bytes = b""
    ) -> None:
        self._greeting = greeting
        self._stream = stream
        self._on_notification = on_notification
        self._last_id = 0
        self._pending: dict[int, PendingRequest] = {}
        self._followers: list[Follower] = []
        self._listening: list[NotificationListener] = []
        # A task of its own sends: a sender that is canceled half-way would leave half a line,
        # behind which the daemon understands nothing.
        self._put, self._lines = anyio.create_memory_object_stream[bytes](_MAX_BUFFERED_LINES)
        self._lost: ConnectionLostError | None = None

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        timeout: float | None = TIMEOUT_S,  # noqa: ASYNC109 - the same surface as the other client
    ) -> Any:
        """Ask the daemon and return its answer; cancelling this cancels the request there.

        Args:
            method: The method's name.
            params: Its parameters.
            timeout: How long the answer may take, in seconds; None for as long as it takes.

        Raises:
            RemoteError: The daemon answered with an error.
            NoAnswerError: It did not answer in time; the request was canceled.
            ConnectionLostError: The connection ended.
        """
        self._last_id += 1
        wanted = self._last_id
        # Before the request goes out: its answer may be read before the writer's task runs again.
        pending = self._pending[wanted] = PendingRequest()
        is_sent = False
        try:
            with anyio.fail_after(timeout):
                await self._write({"id": wanted, "method": method, "params": dict(params or {})})
                is_sent = True
                await pending.arrived.wait()
        except TimeoutError:
            raise NoAnswerError("the daemon did not answer in time") from None
        finally:
            del self._pending[wanted]
            # One that was never queued is unknown to the daemon, and needs no cancel.
            if is_sent and not pending.arrived.is_set():
                self._cancel(wanted)
        if pending.message is None:
            raise self._loss()
        error = pending.message.get("error")
        if error is not None:
            raise RemoteError(error["code"], error["message"], error.get("data"))
        return pending.message.get("result")

    @asynccontextmanager
    async def follow(
        self, workbench_id: str, after: int = 0
    ) -> AsyncIterator[AsyncIterator[Params]]:
        """Follow a log after a cursor: gives an iterator of events, recorded ones, then live.

        The iterator ends when the log is deleted or the connection ends; `lost` then says why, and
        where to follow on. Who takes events slowly holds up nobody, and misses none.

        Args:
            workbench_id: The log: a workbench's id, or "daemon"; "*" for all, whose events say by
                their `id` where they are from.
            after: The last event that the caller has; with "*" in each log.

        Raises:
            RemoteError: There is no such log, or no such place in it.
            ConnectionLostError: The connection ended.
        """
        follower = Follower(FollowedEvents.of(workbench_id, after))
        async with self._following(follower):
            yield PolledIterator(partial(self._next_event, follower))

    @asynccontextmanager
    async def follow_all(
        self, cursors: Mapping[str, int] | None = None
    ) -> AsyncIterator[AsyncIterator[tuple[str, Params]]]:
        """Follow all logs: gives an iterator of events, each with its log.

        The order is each log's own. A workbench that is created later is followed from its start.

        Args:
            cursors: The last event that the caller has, by log; a log that is not named is
                followed from its beginning.

        Raises:
            RemoteError: There is no such log, or no such place in it.
            ConnectionLostError: The connection ended.
        """
        follower = Follower(FollowedEvents(EVERY_LOG, dict(cursors or {})))
        async with self._following(follower):
            yield PolledIterator(partial(self._next_of_log, follower))

    @asynccontextmanager
    async def notifications(self) -> AsyncIterator[AsyncIterator[tuple[str, Params]]]:
        """Hear notifications: gives an iterator of methods and parameters, from now on.

        It ends when the connection does. At most 10,000 wait for who takes them; past them the
        oldest are forgotten. What was recorded can be followed instead, which misses nothing.
        """
        notices = NotificationListener()
        self._listening.append(notices)
        try:
            yield PolledIterator(partial(self._next_notification, notices))
        finally:
            self._listening.remove(notices)

    @property
    def lost(self) -> ConnectionLostError | None:
        """Error that ended the connection, if it ended; its `cursors` say where to continue."""
        return self._lost

    async def read(self) -> None:
        """Dispatch what the daemon sends, until it closes; run by `connect`."""
        rest = bytearray()
        why, cursors = "the daemon closed the connection", dict[str, int]()
        try:
            while True:
                chunk = await self._stream.receive(_CHUNK_BYTES)
                start = len(rest)
                rest += chunk
                # From where the new bytes begin: one long line searched whole each time costs the
                # square of its length.
                end = rest.rfind(b"\n", start)
                if end < 0:
                    continue
                lines = bytes(rest[:end]).split(b"\n")
                del rest[: end + 1]
                for message in map(json.loads, lines):
                    if message.get("method") == "ConnectionDropped":
                        why = "the daemon dropped this client"
                        cursors = message["params"]["cursors"]
                    elif "method" in message:
                        self._receive_notification(message["method"], message["params"])
                    else:
                        self._answer(message)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # said to everybody who waits, below
        finally:
            self._lose(why, cursors)

    async def write(self) -> None:
        """Send requests, each line to its end, whoever gives up; run by `connect`."""
        async with self._lines, self._put:
            async for line in self._lines:
                try:
                    # With the first request: who asks costs no round trip.
                    greeting, self._greeting = self._greeting, b""
                    await self._stream.send(greeting + line)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the daemon may have said why: the reader finds out

    @asynccontextmanager
    async def _following(self, follower: Follower) -> AsyncIterator[None]:
        followed = follower.followed
        self._followers.append(follower)
        try:
            try:
                await self.send("EventsSubscribe", followed.subscription)
            except RemoteError:
                followed.is_over = True
                raise
            yield
        finally:
            self._followers.remove(follower)
            if not followed.is_over:
                # Not awaited: this may be on its way out because it was canceled.
                self._send_notification("EventsUnsubscribe", {"workbench_id": followed.log})

    async def _next_event(self, follower: Follower) -> Params | None:
        found = await self._next_of_log(follower)
        return None if found is None else found[1]

    async def _next_of_log(self, follower: Follower) -> tuple[str, Params] | None:
        followed = follower.followed
        while not len(followed):
            if followed.is_over or self._lost is not None:
                return None
            if follower.is_behind:
                await self._catch_up(follower)
            else:
                await follower.wait()
        return followed.pop()

    async def _catch_up(self, follower: Follower) -> None:
        """Have the log tell again what was passed over."""
        try:
            await self.send("EventsUnsubscribe", {"workbench_id": follower.followed.log})
            # Between the two: what the new subscription tells must not be passed over again.
            follower.is_behind = False
            await self.send("EventsSubscribe", follower.followed.subscription)
        except ConnectionLostError:
            pass  # the iterator ends, and `lost` says why

    async def _next_notification(self, notices: NotificationListener) -> tuple[str, Params] | None:
        while not notices.notifications:
            if self._lost is not None:
                return None
            await notices.wait()
        return notices.notifications.popleft()

    def _receive_notification(self, method: str, params: Params) -> None:
        log = params.get("workbench_id", "")
        if method == "EventsAppended":
            concerned = [each for each in self._followers if each.followed.follows(log)]
            for each in concerned:
                each.add(log, params["events"])
        elif method == "EventsEnded":
            concerned = [each for each in self._followers if each.followed.log == log]
            for each in concerned:
                each.followed.is_over = True
                each.notify()
        else:
            concerned = []
        if concerned:
            return
        if self._on_notification is not None:
            self._on_notification(method, params)
        for notices in self._listening:
            notices.notifications.append((method, params))
            notices.notify()

    def _answer(self, message: Params) -> None:
        """Wake who waits for this answer; an error without an id is about everybody's."""
        wanted = message.get("id")
        waiting = list(self._pending.values()) if wanted is None else [self._pending.get(wanted)]
        for pending in waiting:
            if pending is not None:
                pending.message = message
                pending.arrived.set()

    def _lose(self, why: str, last_seqs: Mapping[str, int]) -> None:
        """Note that the connection ended; who follows has been given less than what was sent."""
        followed = [each.followed for each in self._followers]
        cursors = {
            log: seq for log, seq in last_seqs.items() if not any(f.follows(log) for f in followed)
        }
        for each in followed:
            # What was given, not what was read: nobody has seen the events that still wait here.
            cursors.update(each.delivered)
        self._lost = ConnectionLostError(why, cursors)
        for pending in self._pending.values():
            pending.arrived.set()
        for listener in (*self._followers, *self._listening):
            listener.notify()

    async def _write(self, message: Params) -> None:
        if self._lost is not None:
            raise self._loss()
        try:
            await self._put.send(_line(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise self._loss() from None

    def _send_notification(self, method: str, params: Params) -> None:
        """Send a message without waiting for an answer."""
        try:
            self._put.send_nowait(_line({"method": method, "params": params}))
        except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the daemon reads nothing now; what it is told no more, it need not know

    def _cancel(self, wanted: int) -> None:
        self._send_notification("$/cancelRequest", {"id": wanted})

    def _loss(self) -> ConnectionLostError:
        return self._lost or ConnectionLostError("the daemon closed the connection")


def _line(message: Params) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
