"""Server on a Unix socket: accepts clients, refuses strangers and crowds, stops in order.

The socket is for its own user only; a stale one is replaced, a live one never.
"""

import errno
import itertools
import os
import socket
import stat
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskStatus

from kbd.core.metrics.meters import RequestMeter
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.peers import ChildGate, peer_process
from kbd.core.server.client_requests import LONG_BYTES, InboundBudget
from kbd.core.server.connection import Connection, SharedParts
from kbd.core.server.dispatch import Discovery, Handlers, ServerLimits, routes
from kbd.core.server.sockets import Backlogs, Poller, Post
from kbd.core.server.subscriptions import Hub
from kbd.errors import KbdError, ValidationFailed
from kbd.requests import API_VERSION
from kbd.requests.base import Request
from kbd.requests.daemon import RpcDiscover
from kbd.rpc import Framer, FramingError, encode_refusal
from kbd.rpc.parsing import Code, Parser, RpcCall

__all__ = ["Server", "bind_socket", "remove_socket"]

_MAX_PATH_BYTES = 107
"""Bytes that `sun_path` holds on Linux, without the closing NUL."""

# The kernel queues one more; the connect after that gets EAGAIN (reliability 4).
_BACKLOG = 128


def bind_socket(path: Path) -> socket.socket:
    """Return a listening socket at this path, for this user only.

    The caller holds the lock of the home, so a socket that nobody answers on is stale and replaced.

    Raises:
        ValidationFailed: The path is too long or taken, its folder is open to others, or a daemon
            answers there.
    """
    _check_path(path)
    _remove_stale(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # Not a chmod behind bind: others could connect in between.
    before = os.umask(0o177)
    try:
        made.bind(os.fspath(path))
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise ValidationFailed(f"the socket cannot be made: {error.strerror}") from error
    finally:
        os.umask(before)
    made.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return made


def remove_socket(path: Path, inode: int) -> None:
    """Remove the socket if it is still the one that was made."""
    try:
        # The next daemon may have made its own by now.
        if path.lstat().st_ino == inode:
            path.unlink()
    except FileNotFoundError:
        pass  # somebody tidied up before us


def _check_path(path: Path) -> None:
    length = len(os.fsencode(path))
    if length > _MAX_PATH_BYTES:
        message = f"the socket's path has {length} bytes; {_MAX_PATH_BYTES} is the longest possible"
        raise ValidationFailed(message, actions=("set KBD_SOCKET to a shorter path",))
    try:
        folder = path.parent.lstat()
    except FileNotFoundError:
        raise ValidationFailed("the socket's folder does not exist") from None
    # Whoever may write the folder could put a socket of their own in this one's place.
    if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != os.geteuid() or folder.st_mode & 0o077:
        message = "the socket's folder must be a folder of yours that nobody else may enter (0700)"
        raise ValidationFailed(message)


def _remove_stale(path: Path) -> None:
    try:
        # Not followed: a link here is refused as any other file is.
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise ValidationFailed("there is something at the socket's path that is not a socket")
    # Only a connect tells a live socket, which is never unlinked, from a killed daemon's.
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise ValidationFailed(f"the socket is in use: {error.strerror}") from error
    raise ValidationFailed("another daemon answers on this socket")


_OUT_OF_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Failures of accept that pass when a client leaves."""

_ACCEPT_RETRY_S = 0.1
_ACCEPT_TRIES = 10
"""After so many a client is told that it cannot be served, where it would wait in vain."""

_REFUSE_TIMEOUT_S = 1.0

log = get_logger()


class ReservedDescriptor:
    """A descriptor that is held for the moment when no other one is left."""

    def __init__(self) -> None:
        self._fd: int | None = None

    def hold(self) -> None:
        """Take one, if it is not held and there is one."""
        if self._fd is None:
            with suppress(OSError):
                self._fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def release(self) -> None:
        """Give it back, if it is held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Server:
    """Serves the handlers on a Unix socket.

    Args:
        path: Where the socket lies; its folder is there, 0700, and the home's lock is held.
        handlers: What answers each request; `rpc.discover` is added.
        hub: Tells connections of workbenches.
        limits: What clients may ask.
        uid: The only user that is served; this process's if None.
        gate: Refuses processes that this one has started; all of the user's are served if None.
        meter: Counts clients and their requests; one of its own if None.
    """

    def __init__(
        self,
        path: Path,
        handlers: Handlers,
        hub: Hub,
        limits: ServerLimits | None = None,
        *,
        uid: int | None = None,
        gate: ChildGate | None = None,
        meter: RequestMeter | None = None,
    ) -> None:
        self._path, self._meter = path, meter or RequestMeter()
        self._hub = hub
        self._limits = limits or ServerLimits()
        self._uid = os.geteuid() if uid is None else uid
        self._gate = gate
        self._connections: set[Connection] = set()
        self._numbers = itertools.count(1)
        self._accepting = anyio.CancelScope()
        self._failed_accepts = 0
        self._reserve = ReservedDescriptor()
        kinds: list[type[Request]] = [*handlers, RpcDiscover]
        methods = {kind.method: kind for kind in kinds}
        self._routes = routes({**handlers, RpcDiscover: Discovery(methods).answer})
        self._parser = Parser(
            methods,
            api_version=API_VERSION,
            nesting=self._limits.nesting,
            parts=self._limits.parts,
            values=self._limits.values,
            batch=self._limits.batch,
        )

    async def serve(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`; started as soon as clients can connect.

        Raises:
            ValidationFailed: The socket cannot be made.
        """
        made = bind_socket(self._path)
        inode = self._path.lstat().st_ino
        self._reserve.hold()
        listener = await SocketListener.from_socket(made)
        poller, post, limits = Poller(), Post(), self._limits
        budget = InboundBudget(limits.long_bytes, limits.message_bytes)
        shared = SharedParts(poller, post, budget, Backlogs(limits, poller.clock), self._meter)
        try:
            async with anyio.create_task_group() as io_tasks:
                io_tasks.start_soon(poller.run)
                io_tasks.start_soon(post.run)
                await self._serve_clients(
                    listener, inode, partial(self._serve_client, shared), task_status
                )
                io_tasks.cancel_scope.cancel()
        finally:
            poller.close()
            self._reserve.release()

    async def _serve_clients(
        self,
        listener: SocketListener,
        inode: int,
        serve_client: Callable[[SocketStream], Coroutine[Any, Any, None]],
        task_status: TaskStatus[None],
    ) -> None:
        """Accept clients until `stop`, then let their connections end."""
        async with anyio.create_task_group() as tasks:
            try:
                # Closing the listener is what refuses newcomers: cancelling accept alone would
                # leave them waiting in the kernel's queue for ever.
                async with listener:
                    task_status.started()
                    with self._accepting:
                        while True:
                            stream = await self._accept(listener)
                            if stream is not None:
                                tasks.start_soon(serve_client, stream)
            finally:
                # Before the clients are seen off: who comes now finds no daemon, not one that is
                # leaving.
                remove_socket(self._path, inode)
            for connection in tuple(self._connections):
                connection.stop()

    def stop(self) -> None:
        """Stop: accept no more clients or requests, and end what is in flight within its time."""
        self._accepting.cancel()

    async def _accept(self, listener: SocketListener) -> SocketStream | None:
        """Accept a client; None where that cannot be, after a pause."""
        try:
            stream = await listener.accept()
        except (OSError, anyio.BrokenResourceError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            if not isinstance(cause, OSError) or cause.errno not in _OUT_OF_RESOURCES:
                raise
            self._failed_accepts += 1
            log.warning("no client can be accepted for now", reason=cause.strerror)
            if self._failed_accepts % _ACCEPT_TRIES == 0:
                await self._refuse_waiting(listener)
            await anyio.sleep(_ACCEPT_RETRY_S)
            return None
        self._failed_accepts = 0
        self._reserve.hold()
        return stream

    async def _refuse_waiting(self, listener: SocketListener) -> None:
        """Refuse who waits to be accepted, with the descriptor that is kept for it."""
        self._reserve.release()
        try:
            # A refused client may be gone by now, and nobody else be there.
            with anyio.move_on_after(_REFUSE_TIMEOUT_S):
                async with await listener.accept() as stream:
                    await self._refuse(stream, "too many open files; try again later")
        except (OSError, anyio.BrokenResourceError):
            pass  # somebody else has taken the descriptor
        finally:
            self._reserve.hold()

    async def _serve_client(self, shared: SharedParts, stream: SocketStream) -> None:
        """Serve one client; its failure is logged."""
        try:
            async with stream:
                await self._serve_stream(shared, stream)
        # Else one client's failure would cancel the others, which share the group of tasks.
        except Exception as error:
            log.error("connection failed", exc_info=error)

    async def _serve_stream(self, shared: SharedParts, stream: SocketStream) -> None:
        connected = stream.extra(SocketAttribute.raw_socket)
        found = peer_process(connected)
        # Beside the mode 0600, which somebody may have widened since.
        if found.uid != self._uid:
            log.warning("another user was refused", uid=found.uid)
            return
        try:
            is_admitted = self._gate is None or await self._gate.admits(connected)
        except KbdError as shortage:
            await self._refuse(stream, shortage.message)
            return
        if not is_admitted:
            log.warning("a process of kbd's own was refused", pid=found.pid)
            return
        if len(self._connections) >= self._limits.connections:
            await self._refuse(stream, "too many connections; try again later")
            return
        connection = Connection(
            connected,
            shared,
            self._routes,
            self._parser,
            self._hub,
            self._limits,
            next(self._numbers),
        )
        self._connections.add(connection)
        self._meter.clients += 1
        try:
            await connection.run()
        finally:
            self._meter.clients -= 1
            self._connections.discard(connection)

    async def _refuse(self, stream: SocketStream, reason: str) -> None:
        """Refuse a client in answer to its first request, in its own framing."""
        # It is given nothing to hold a long message in.
        framer, message_id = Framer(min(self._limits.message_bytes, LONG_BYTES)), None
        try:
            with anyio.move_on_after(_REFUSE_TIMEOUT_S):
                messages: list[bytes] = []
                while not messages:
                    messages = framer.feed(await stream.receive())
                first = self._parser.parse(messages[0])
                if isinstance(first, RpcCall) and not isinstance(first.id, msgspec.UnsetType):
                    message_id = first.id
        except (anyio.EndOfStream, anyio.BrokenResourceError, FramingError):
            pass  # it may still listen
        line = encode_refusal(message_id, Code.OVERLOADED, reason)
        with anyio.move_on_after(_REFUSE_TIMEOUT_S):
            try:
                await stream.send(framer.frame(line))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # it did not wait for the answer
