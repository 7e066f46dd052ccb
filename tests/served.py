"""A server with small handlers and an in-memory log, for tests of the socket and of clients."""

import errno
import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec

from kbd.core.runtime.event_loop import Deferred, Settle
from kbd.core.runtime.peers import ChildGate
from kbd.core.server import Hub, subscription_handlers
from kbd.core.server.dispatch import EventBatch, Handlers, ServerLimits, Session, Stream, Synced
from kbd.core.server.listener import Server
from kbd.errors import NotFound, ValidationFailed
from kbd.requests.daemon import (
    DaemonShutdown,
    DaemonStopping,
    LogVerify,
    PluginRow,
    PluginsFound,
    PluginsList,
)
from kbd.requests.workbenches import (
    WorkbenchCreate,
    WorkbenchCreated,
    WorkbenchDelete,
    WorkbenchList,
    WorkbenchOpen,
)
from kbd.requests.workshop import (
    ActiveModel,
    CancelRequested,
    WorkshopCancelRun,
    WorkshopSetActiveModel,
)
from kbd.types import Seq, WorkbenchId

WORKBENCH = WorkbenchId("00000000000000aa")
OTHER = WorkbenchId("00000000000000bb")


class MemoryLogs:
    """Logs of JSON events in memory, followed as the real ones are."""

    def __init__(self) -> None:
        self.events: dict[str, list[bytes]] = {WORKBENCH: [], OTHER: []}
        self._grown = anyio.Event()

    def append(self, workbench_id: str, text: str, count: int = 1) -> None:
        """Record events that hold a text."""
        log = self.events[workbench_id]
        for _ in range(count):
            log.append(msgspec.json.encode({"seq": len(log) + 1, "data": text}))
        self._grown.set()
        self._grown = anyio.Event()

    def delete(self, workbench_id: str) -> None:
        """Delete a log."""
        del self.events[workbench_id]
        self._grown.set()
        self._grown = anyio.Event()

    async def follow(self, subscription: str, cursors: Mapping[str, Seq]) -> Stream:
        """Open a stream, as `Follow` promises."""
        names = list(self.events) if subscription == "*" else [subscription]
        places = {name: int(cursors.get(name, 0)) for name in names}
        for name, place in places.items():
            if name not in self.events:
                raise NotFound("there is no such workbench")
            if place > len(self.events[name]):
                raise ValidationFailed("the cursor is past the end")
        return self._stream(places)

    async def _stream(self, places: dict[str, int]) -> AsyncGenerator[EventBatch | Synced, None]:
        watermarks = {name: Seq(len(self.events[name])) for name in places}
        synced = False
        while places:
            grown = self._grown
            for name, place in places.items():
                batch = tuple(self.events[name][place : place + 256])
                if batch:
                    places[name] += len(batch)
                    yield EventBatch(name, place + 1, batch)
            if not synced and all(places[name] >= seq for name, seq in watermarks.items()):
                synced = True
                yield Synced(watermarks)
            if all(place == len(self.events[name]) for name, place in places.items()):
                await grown.wait()
            places = {name: place for name, place in places.items() if name in self.events}


class Served:
    """What a test holds of the server that it started."""

    def __init__(
        self, path: Path, limits: ServerLimits | None, uid: int | None, gate: ChildGate | None
    ) -> None:
        self.path = path
        self.hub = Hub()
        self.logs = MemoryLogs()
        self.gate = anyio.Event()
        self.waiting = self.slow = 0
        # Of answers that are told later: whom to tell.
        self.promised: list[Settle[Any]] = []
        self.server = Server(path, self._handlers(), self.hub, limits, uid=uid, gate=gate)

    def _choose(
        self, request: WorkshopSetActiveModel, _session: Session
    ) -> Deferred[ActiveModel] | ActiveModel:
        """Answer now, later, in a task of its own, or refuse, as the model's name says."""
        match request.model_id:
            case "a:later":
                return Deferred(self._wait_for_promise, self.promised.append)
            case "a:waiting":
                return Deferred(partial(self._choose_when_open, request))
            case "a:refused":
                return Deferred(_refused, _refuse)
        return ActiveModel(active_model_id=request.model_id)

    async def _wait_for_promise(self) -> Any:
        """Wait for what is told later, as who begins it is told."""
        told: list[Any] = []
        self.promised.append(told.append)
        await until(lambda: told)
        if isinstance(told[0], Exception):
            raise told[0]
        return told[0]

    async def _choose_when_open(self, request: WorkshopSetActiveModel) -> ActiveModel:
        await self.gate.wait()
        return ActiveModel(active_model_id=request.model_id)

    def _handlers(self) -> Handlers:
        async def create(request: WorkbenchCreate, _session: Session) -> WorkbenchCreated:
            """Wait for the gate if the name says so: what takes its time in the daemon."""
            if request.name == "wait":
                self.waiting += 1
                try:
                    await self.gate.wait()
                finally:
                    self.waiting -= 1
            await anyio.lowlevel.checkpoint()
            return WorkbenchCreated(workbench_id=WORKBENCH)

        def plugins(_request: PluginsList, _session: Session) -> PluginsFound:
            row = PluginRow(name="a", version="1", source="a", kind="tools", status="loaded")
            return PluginsFound(plugins=(row,))

        def find(_request: WorkbenchOpen, _session: Session) -> Any:
            raise NotFound("there is no such workbench", detail={"workbench_id": OTHER})

        def verify(_request: LogVerify, _session: Session) -> Any:
            raise RuntimeError("the secret is /home/user/secret")

        async def delete(request: WorkbenchDelete, _session: Session) -> Any:
            """Fail inside, or by the disk if it is about the other workbench."""
            if request.workbench_id == OTHER:
                raise OSError(errno.EIO, os.strerror(errno.EIO), "/home/user/secret")
            raise RuntimeError("the secret is /home/user/secret")

        def listed(_request: WorkbenchList, _session: Session) -> Any:
            return {"big": "x" * 100_000}

        def cancel(request: WorkshopCancelRun, _session: Session) -> CancelRequested:
            """Answer at once, or hold everybody up a little if it is about the other workbench."""
            if request.workbench_id == OTHER:
                time.sleep(0.00001)
                self.slow += 1
            return CancelRequested(cancel_requested=False)

        def shutdown(_request: DaemonShutdown, _session: Session) -> DaemonStopping:
            self.server.stop()
            return DaemonStopping()

        return {
            WorkbenchCreate: create,
            PluginsList: plugins,
            WorkbenchOpen: find,
            LogVerify: verify,
            WorkbenchDelete: delete,
            WorkbenchList: listed,
            WorkshopCancelRun: cancel,
            WorkshopSetActiveModel: self._choose,
            DaemonShutdown: shutdown,
            **subscription_handlers(self.logs.follow),
        }


def _refuse(_settle: Settle[ActiveModel]) -> None:
    raise ValidationFailed("not this one")


async def _refused() -> ActiveModel:
    raise ValidationFailed("not this one")


@asynccontextmanager
async def serving(
    folder: Path,
    limits: ServerLimits | None = None,
    *,
    uid: int | None = None,
    gate: ChildGate | None = None,
) -> AsyncIterator[Served]:
    """Serve in a folder, for as long as the block lasts."""
    served = Served(folder / "s", limits, uid, gate)
    async with anyio.create_task_group() as tasks:
        await tasks.start(served.server.serve)
        yield served
        served.gate.set()
        served.server.stop()


class Raw:
    """A client that sees lines: what it sends and gets is what goes over the wire."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self.stream = stream
        self._rest = b""

    async def write(self, raw: bytes) -> None:
        """Send bytes as they are."""
        await self.stream.send(raw)

    async def ask(self, method: str, message_id: Any = 1, **params: Any) -> None:
        """Send a request."""
        message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
        await self.write(msgspec.json.encode(message) + b"\n")

    async def line(self) -> Any:
        """Return the next message; fails where none comes."""
        with anyio.fail_after(20):
            while b"\n" not in self._rest:
                self._rest += await self.stream.receive()
        line, _, self._rest = self._rest.partition(b"\n")
        return msgspec.json.decode(line)

    def hang_up(self) -> None:
        """End both directions; who waits for either finds it ended.

        Tasks that send or receive are ended so, not by cancelling them: on asyncio, anyio (4.16)
        sets the result of a future that was canceled in the turn in which its socket got ready.
        """
        self.stream.extra(anyio.abc.SocketAttribute.raw_socket).shutdown(socket.SHUT_RDWR)

    async def lines_to_the_end(self) -> list[Any]:
        """Return all messages until the server closes."""
        found = []
        try:
            while True:
                found.append(await self.line())
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return found


@asynccontextmanager
async def connected(served: Served) -> AsyncIterator[Raw]:
    """Connect a raw client."""
    async with await anyio.connect_unix(str(served.path)) as stream:
        yield Raw(stream)


async def until(true: Any) -> None:
    """Wait until a condition holds; fails where it does not within 20 seconds."""
    with anyio.fail_after(20):
        while not true():  # noqa: ASYNC110 - what is waited for is the server's own state
            await anyio.sleep(0.005)
