"""The asynchronous client, on asyncio or trio: many requests at a time over one connection.

    async with connect("/run/user/1000/kbd/kbd.sock") as client:
        workbench_id = (await client.send("WorkbenchCreate", {"name": "March"}))["workbench_id"]
        async with client.follow(workbench_id) as events:
            async for event in events:
                print(event["seq"], event["type"])

It says the same as the blocking client, and does not wait for one answer before the next request.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import ByteStream
from anyio.streams.memory import MemoryObjectSendStream

from kbd.client.blocking import TIMEOUT_S
from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError

__all__ = ["AsyncClient", "connect"]

Notified = Callable[[str, dict[str, Any]], None]
"""Called with a notification's method and parameters; it returns at once."""

_CHUNK_BYTES = 256 * 1024
_EVENTS_AHEAD = 1000
"""Events that are held for one who follows; past them the connection is not read."""


class _Pending:
    """A request whose answer is awaited."""

    def __init__(self) -> None:
        self.arrived = anyio.Event()
        self.message: dict[str, Any] | None = None


@asynccontextmanager
async def connect(
    socket_path: str, *, on_notification: Notified | None = None
) -> AsyncIterator["AsyncClient"]:
    """Connect to the daemon, for as long as the block lasts.

    Args:
        socket_path: Where the daemon listens.
        on_notification: Is called with each notification as it comes.

    Raises:
        ConnectionLostError: Nobody listens there.
    """
    try:
        stream = await anyio.connect_unix(socket_path)
    except OSError as error:
        raise ConnectionLostError(f"no daemon answers: {error.strerror or error}") from error
    async with stream:
        client = AsyncClient(stream, on_notification)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.read)
            try:
                yield client
            finally:
                tasks.cancel_scope.cancel()


class AsyncClient:
    """One connection to the daemon; made by `connect`.

    Args:
        stream: The daemon.
        on_notification: Is called with each notification as it comes.
    """

    def __init__(self, stream: ByteStream, on_notification: Notified | None) -> None:
        self._stream = stream
        self._on_notification = on_notification
        self._last_id = 0
        self._pending: dict[int, _Pending] = {}
        self._followers: dict[str, MemoryObjectSendStream[dict[str, Any]]] = {}
        self._sending = anyio.Lock()
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
            NoAnswerError: It did not answer in time.
            ConnectionLostError: The connection broke.
        """
        self._last_id += 1
        wanted = self._last_id
        pending = self._pending[wanted] = _Pending()
        try:
            with anyio.fail_after(timeout):
                await self._write({"id": wanted, "method": method, "params": params or {}})
                await pending.arrived.wait()
        except TimeoutError:
            raise NoAnswerError("the daemon did not answer in time") from None
        finally:
            del self._pending[wanted]
            if not pending.arrived.is_set() and self._lost is None:
                await self._cancel(wanted)
        if pending.message is None:
            raise self._loss()
        error = pending.message.get("error")
        if error is not None:
            raise RemoteError(error["code"], error["message"], error.get("data"))
        return pending.message.get("result")

    @asynccontextmanager
    async def follow(self, workbench_id: str, after: int = 0) -> AsyncIterator[AsyncIterator[Any]]:
        """Follow a log after a cursor: gives an iterator of events, recorded ones, then live.

        The iterator ends when the connection does; `lost` says why, and where to follow on.

        Args:
            workbench_id: The log: a workbench's id, or "daemon".
            after: The last event that the caller has.

        Raises:
            RemoteError: There is no such log, or no such place in it.
            ConnectionLostError: The connection broke.
        """
        put, events = anyio.create_memory_object_stream[dict[str, Any]](_EVENTS_AHEAD)
        self._followers[workbench_id] = put
        async with put, events:
            try:
                await self.send("EventsSubscribe", {"workbench_id": workbench_id, "after": after})
                yield events
            finally:
                del self._followers[workbench_id]
        if self._lost is None:
            await self.send("EventsUnsubscribe", {"workbench_id": workbench_id})

    @property
    def lost(self) -> ConnectionLostError | None:
        """Why the connection ended, if it did; its `cursors` say where to follow on."""
        return self._lost

    async def read(self) -> None:
        """Hand out what the daemon sends, until it closes; run by `connect`."""
        rest = bytearray()
        try:
            while True:
                chunk = await self._stream.receive(_CHUNK_BYTES)
                start = len(rest)
                rest += chunk
                end = rest.rfind(b"\n", start)
                if end >= 0:
                    lines = bytes(rest[:end]).split(b"\n")
                    del rest[: end + 1]
                    for line in lines:
                        await self._hand_out(json.loads(line))
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # said to everybody who waits, below
        self._lost = self._loss()
        for pending in self._pending.values():
            pending.arrived.set()
        for follower in self._followers.values():
            follower.close()

    async def _hand_out(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._answer(message)
            return
        method, params = message["method"], message.get("params", {})
        if method == "ConnectionDropped":
            self._lost = ConnectionLostError("the daemon dropped this client", params["cursors"])
        follower = self._followers.get(params.get("workbench_id", ""))
        if method == "EventsAppended" and follower is not None:
            for event in params["events"]:
                try:
                    await follower.send(event)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # nobody follows any more
        elif self._on_notification is not None:
            self._on_notification(method, params)

    def _answer(self, message: dict[str, Any]) -> None:
        """Wake who waits for this answer; an error without an id is about everybody's."""
        wanted = message.get("id")
        told = list(self._pending.values()) if wanted is None else [self._pending.get(wanted)]
        for pending in told:
            if pending is not None:
                pending.message = message
                pending.arrived.set()

    async def _write(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"
        if self._lost is not None:
            raise self._loss()
        async with self._sending:
            # Half a line would make the rest unreadable.
            with anyio.CancelScope(shield=True):
                try:
                    await self._stream.send(line)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass  # it may have said why before it closed: the reader finds out

    async def _cancel(self, wanted: int) -> None:
        with anyio.move_on_after(1, shield=True):
            await self._write({"method": "$/cancelRequest", "params": {"id": wanted}})

    def _loss(self) -> ConnectionLostError:
        return self._lost or ConnectionLostError("the daemon closed the connection")
