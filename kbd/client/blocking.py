"""The blocking client: `socket` and `json`, nothing else.

    with Client("/run/user/1000/kbd/kbd.sock") as client:
        workbench_id = client.send("WorkbenchCreate", {"name": "March"})["workbench_id"]
        for event in client.follow(workbench_id, after=0):
            print(event["seq"], event["type"])

It imports nothing that takes longer than the request itself.
"""

import json
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from time import monotonic

from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    Params = dict[str, Any]

__all__ = ["Client", "ConnectionLostError", "NoAnswerError", "RemoteError"]

TIMEOUT_S = 30.0
"""How long an answer may take, if the request does not say."""

_CHUNK_BYTES = 256 * 1024


class Client:
    """One connection to the daemon. Not for several threads at a time.

    Attributes:
        on_notification: Called with the method and parameters of each notification that is read,
            between a request and its answer or by `wait`. While it is None they are kept.

    Args:
        socket_path: Where the daemon listens.
        timeout: How long it may take to connect, and to take what is sent, in seconds.

    Raises:
        ConnectionLostError: Nobody listens there.
    """

    def __init__(self, socket_path: str, *, timeout: float = TIMEOUT_S) -> None:
        self.on_notification: Callable[[str, Params], None] | None = None
        self._timeout = timeout
        self._kept: deque[tuple[str, Params]] = deque()
        self._rest = bytearray()
        self._searched = 0
        self._last_id = 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(socket_path)
        except OSError as error:
            self._socket.close()
            raise ConnectionLostError(f"no daemon answers: {error.strerror or error}") from error

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what runs in the daemon goes on."""
        self._socket.close()

    def send(
        self,
        method: str,
        params: "Mapping[str, Any] | None" = None,
        timeout: float | None = TIMEOUT_S,
    ) -> "Any":
        """Ask the daemon and return its answer.

        Args:
            method: The method's name.
            params: Its parameters.
            timeout: How long the answer may take, in seconds; None for as long as it takes.

        Raises:
            RemoteError: The daemon answered with an error.
            NoAnswerError: It did not answer in time; a late answer is thrown away.
            ConnectionLostError: The connection broke.
        """
        self._last_id += 1
        wanted = self._last_id
        deadline = _deadline(timeout)
        self._write(
            {"jsonrpc": "2.0", "id": wanted, "method": method, "params": dict(params or {})}
        )
        while True:
            message = self._read(deadline)
            if "method" in message:
                self._notified(message)
            # An error without an id is about the connection: too many of them, a broken message.
            elif message["id"] == wanted or (message["id"] is None and "error" in message):
                break
        if "error" in message:
            error = message["error"]
            raise RemoteError(error["code"], error["message"], error.get("data"))
        return message["result"]

    def wait(self, seconds: float | None = None) -> bool:
        """Read one notification for `on_notification`, if one comes in time; False if none did.

        Args:
            seconds: How long to wait; None for as long as it takes.

        Raises:
            ConnectionLostError: The connection ended; `cursors` says where to follow on.
        """
        if self._kept and self.on_notification is not None:
            self.on_notification(*self._kept.popleft())
            return True
        deadline = _deadline(seconds)
        while True:
            try:
                message = self._read(deadline)
            except NoAnswerError:
                return False
            if "method" in message:
                self._notified(message)
                return True

    def follow(self, workbench_id: str, after: int = 0) -> "Iterator[Params]":
        """Yield the events of a log after a cursor: what is recorded, then live, for ever.

        Other notifications still go to `on_notification`, or are kept.

        Args:
            workbench_id: The log: a workbench's id, or "daemon".
            after: The last event that the caller has.

        Raises:
            RemoteError: There is no such log, or no such place in it.
            ConnectionLostError: The connection ended; `cursors` says where to follow on.
        """
        events: deque[Params] = deque()
        before = self.on_notification

        def heard(method: str, params: "Params") -> None:
            if method == "EventsAppended" and params["workbench_id"] == workbench_id:
                events.extend(params["events"])
            elif before is not None:
                before(method, params)
            else:
                self._kept.append((method, params))

        self.on_notification = heard
        try:
            self.send("EventsSubscribe", {"workbench_id": workbench_id, "after": after})
            while True:
                while events:
                    yield events.popleft()
                message = self._read(None)
                if "method" in message:
                    self._notified(message)
        finally:
            self.on_notification = before

    def _notified(self, message: "Params") -> None:
        method, params = message["method"], message["params"]
        if method == "ConnectionDropped":
            raise ConnectionLostError("kbd dropped this client", params["cursors"])
        if self.on_notification is None:
            self._kept.append((method, params))
        else:
            self.on_notification(method, params)

    def _write(self, message: "Params") -> None:
        self._socket.settimeout(self._timeout)
        try:
            self._socket.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        except TimeoutError:
            raise NoAnswerError("the daemon does not read what it is sent") from None
        except OSError:
            pass  # it may have said why before it closed: that is read next

    def _read(self, deadline: float | None) -> "Params":
        """Return the next message."""
        rest = self._rest
        while True:
            # What was searched before has no line feed: searching it again would make one long
            # line cost the square of its length.
            end = rest.find(b"\n", self._searched)
            if end >= 0:
                message: Params = json.loads(rest[:end])
                del rest[: end + 1]
                self._searched = 0
                return message
            self._searched = len(rest)
            rest += self._receive(deadline)

    def _receive(self, deadline: float | None) -> bytes:
        # Zero would mean "do not wait at all", which raises another error.
        left = None if deadline is None else max(deadline - monotonic(), 0.001)
        self._socket.settimeout(left)
        try:
            chunk = self._socket.recv(_CHUNK_BYTES)
        except TimeoutError:
            raise NoAnswerError("the daemon did not answer in time") from None
        except OSError as error:
            message = f"the connection broke: {error.strerror or error}"
            raise ConnectionLostError(message) from error
        if not chunk:
            raise ConnectionLostError("the daemon closed the connection")
        return chunk


def _deadline(seconds: float | None) -> float | None:
    return None if seconds is None else monotonic() + seconds
