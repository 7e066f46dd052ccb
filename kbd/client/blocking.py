"""Blocking client: `socket` and `json`, nothing else.

    from kbd.client.blocking import Client

    with Client() as client:
        bench = client.send("WorkbenchCreate", {"name": "March"})
        for event in client.follow(bench["workbench_id"]):
            print(event["seq"], event["type"])
            break

It imports nothing that takes longer than the request itself. A client is one thread's, but for
`close`, which any thread may call. Nothing is read while nobody calls it: a program that works for
seconds between two events may be dropped by the daemon, and then follows on where it was.

`default_socket` and `FollowedEvents` serve `kbd.client.aio` as well.
"""

# Not msgspec, whose import takes 29 ms where json takes 7 (facts/performance.md D).
import json
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from time import monotonic

from kbd import __version__
from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    Event = dict[str, Any]
    Params = dict[str, Any]

__all__ = [
    "EVERY_LOG",
    "Client",
    "ConnectionLostError",
    "FollowedEvents",
    "NoAnswerError",
    "RemoteError",
    "default_home",
    "default_socket",
    "identification",
]


def default_home() -> str:
    """Return the absolute path of the home: `$KBD_HOME`, else in the user's data folder."""
    home = os.environ.get("KBD_HOME")
    if not home:
        # `os.path`, for the import of pathlib costs 10 ms (facts/performance.md D).
        data = os.environ.get("XDG_DATA_HOME") or os.path.join("~", ".local", "share")
        home = os.path.join(data, "kbd")
    return os.path.abspath(os.path.expanduser(home))


def default_socket() -> str:
    """Return the absolute path of the socket: `$KBD_SOCKET`, else in the home."""
    path = os.environ.get("KBD_SOCKET") or os.path.join(default_home(), "kbd.sock")
    return os.path.abspath(os.path.expanduser(path))


DEFAULT_CLIENT = "kbd-client"
"""What a program is called that uses these clients and does not say its own name."""


def identification(client: str, version: str, host: str) -> "Params":
    """Return the message by which a client names itself; it has no id, so nobody answers.

    Daemons that do not know it pass it over.
    """
    given = {"client": client, "version": version, "host": host}
    params = {name: text for name, text in given.items() if text}
    return {"method": "ClientIdentify", "params": params}


EVERY_LOG = "*"
"""The name of the subscription to all logs."""


class FollowedEvents:
    """Event subscription of a client: events read and not yet delivered, and the cursors.

    A connection may be told of a log twice, by a subscription of its own and by the one to all. So
    an event counts only if it is the next of its log, which makes each count once, without a gap.

    Attributes:
        delivered: The last event that was given, by log.
        is_over: Whether no more will come, because the log was deleted.

    Args:
        log: A workbench's id, "daemon", or "*" for all logs.
        cursors: The last event that the caller has, by log.
        after: The same of each log that `cursors` does not name.
    """

    def __init__(self, log: str, cursors: dict[str, int], after: int = 0) -> None:
        self.log, self._after = log, after
        self.delivered = dict(cursors)
        self.is_over = False
        self._read = dict(cursors)
        self._events: deque[tuple[str, Event]] = deque()

    def __len__(self) -> int:
        return len(self._events)

    @classmethod
    def of(cls, log: str, after: int) -> "Self":
        """Return the subscription to a log, or with "*" to each, after an event."""
        # No log is called "*", so the cursor is none for the daemon: what each log has up to it is
        # passed over here. One that is shorter could not be asked for from there.
        return cls(log, {}, after) if log == EVERY_LOG else cls(log, {log: after})

    @property
    def subscription(self) -> "Event":
        """Parameters of EventsSubscribe that continue after what was read."""
        if self.log == EVERY_LOG:
            return {"workbench_id": EVERY_LOG, "cursors": self._read}
        return {"workbench_id": self.log, "after": self._read[self.log]}

    def follows(self, log: str) -> bool:
        """Return whether events of this log are wanted."""
        return self.log in (log, EVERY_LOG)

    def add(self, log: str, events: "list[Event]") -> None:
        """Add the events of an EventsAppended that are next in their log."""
        read = self._read.get(log, 0)
        if events and events[0]["seq"] <= read + 1:
            had, last = max(read, self._after), max(read, events[-1]["seq"])
            self._events.extend((log, event) for event in events if event["seq"] > had)
            self._read[log] = last
            if last <= self._after:
                self.delivered[log] = last

    def pop(self) -> "tuple[str, Event]":
        """Return the next event and its log; there must be one."""
        log, event = self._events.popleft()
        self.delivered[log] = event["seq"]
        return log, event


TIMEOUT_S = 30.0
"""How long an answer may take, if the request does not say."""

MAX_NOTIFICATIONS = 10_000
"""How many notifications are kept for who listens later; past them the oldest are forgotten."""

_CHUNK_BYTES = 256 * 1024
_LEAVE_S = 5.0
"""How long the end of a subscription may take; a daemon that answers at all needs less."""


class Client:
    """One connection to the daemon, of one thread at a time.

    Attributes:
        on_notification: Called with the method and parameters of each notification that is read,
            between a request and its answer or by `wait`. While it is None they are kept.

    Args:
        socket_path: Where the daemon listens; where the environment says if None.
        timeout: How long it may take to connect, and to take what is sent, in seconds.
        client: What the client calls itself; the log tells what it caused by this name.
        version: Its version.
        host: The program that it works for, where it is not its own.

    Raises:
        ConnectionLostError: Nobody listens there.
    """

    def __init__(
        self,
        socket_path: str | None = None,
        *,
        timeout: float = TIMEOUT_S,
        client: str = DEFAULT_CLIENT,
        version: str = __version__,
        host: str = "",
    ) -> None:
        self.on_notification: Callable[[str, Params], None] | None = None
        self._timeout = timeout
        self._notifications: deque[tuple[str, Params]] = deque(maxlen=MAX_NOTIFICATIONS)
        self._followed: list[FollowedEvents] = []
        self._rest = bytearray()
        self._searched = 0
        self._last_id = 0
        self._is_closed = False
        # Goes out with the first request, and wants no answer: who asks costs no round trip.
        self._unsent = _line(identification(client, version, host))
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(socket_path or default_socket())
        except OSError as error:
            self._socket.close()
            raise ConnectionLostError(f"no daemon answers: {error.strerror or error}") from error

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; what runs in the daemon goes on.

        Any thread may do so: what another one waits for here raises ConnectionLostError.
        """
        self._is_closed = True
        try:
            # This wakes a thread that waits; closing alone would leave it waiting.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the daemon closed it before
        self._socket.close()

    def send(
        self,
        method: str,
        params: "Mapping[str, Any] | None" = None,
        timeout: float | None = TIMEOUT_S,
    ) -> "Any":
        """Ask the daemon and return its answer.

            run = client.send("WorkshopRunAgent", bench, timeout=None)

        Args:
            method: The method's name.
            params: Its parameters.
            timeout: How long the answer may take, in seconds; None for as long as it takes.

        Raises:
            RemoteError: The daemon answered with an error.
            NoAnswerError: It did not answer in time; the request was canceled.
            ConnectionLostError: The connection ended; `cursors` says where to follow on.
        """
        self._last_id += 1
        wanted = self._last_id
        deadline = _deadline(timeout)
        self._write({"id": wanted, "method": method, "params": dict(params or {})})
        try:
            while True:
                message = self._read(deadline)
                if "method" in message:
                    self._notified(message)
                # An error without an id is about the connection: too many, a broken message.
                elif message["id"] == wanted or (message["id"] is None and "error" in message):
                    break
        except (NoAnswerError, KeyboardInterrupt):
            # Its answer is not waited for any more, here or there; if one comes, it is thrown away.
            self._write({"method": "$/cancelRequest", "params": {"id": wanted}})
            raise
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
        if self._notifications and self.on_notification is not None:
            self.on_notification(*self._notifications.popleft())
            return True
        message = self._next_notification(_deadline(seconds))
        if message is None:
            return False
        self._notified(message)
        return True

    def notifications(self, seconds: float | None = None) -> "Iterator[tuple[str, Params]]":
        """Yield the method and parameters of each notification: the buffered ones, then live.

            for method, params in client.notifications(seconds=60):
                print(method, params.get("phase", ""))

        It is for a client without `on_notification`. What is heard meanwhile, between a request and
        its answer, is kept and comes next.

        Args:
            seconds: Ends when none has come for so long; None for never.

        Raises:
            ConnectionLostError: The connection ended; `cursors` says where to follow on.
        """
        while True:
            while self._notifications:
                yield self._notifications.popleft()
            message = self._next_notification(_deadline(seconds))
            if message is None:
                return
            if not self._dispatch(message):
                yield message["method"], message["params"]

    def follow(self, workbench_id: str, after: int = 0) -> "Iterator[Params]":
        """Yield the events of a log after a cursor: what is recorded, then live.

        It ends when the log is deleted. Other notifications still go to `on_notification`, or are
        kept. Whoever stops early, with `break`, ends the subscription.

        Args:
            workbench_id: The log: a workbench's id, or "daemon"; "*" for all, whose events say by
                their `id` where they are from.
            after: The last event that the caller has; with "*" in each log.

        Raises:
            RemoteError: There is no such log, or no such place in it.
            ConnectionLostError: The connection ended; `cursors` says where to follow on.
        """
        for _, event in self._follow(FollowedEvents.of(workbench_id, after)):
            yield event

    def follow_all(
        self, cursors: "Mapping[str, int] | None" = None
    ) -> "Iterator[tuple[str, Params]]":
        """Yield the events of all logs, each with its log: what is recorded, then live.

        The order is each log's own. A workbench that is created later is followed from its start.

            for log, event in client.follow_all({"daemon": 0}):
                print(log, event["seq"], event["type"])
                break

        Args:
            cursors: The last event that the caller has, by log; a log that is not named is
                followed from its beginning.

        Raises:
            RemoteError: There is no such log, or no such place in it.
            ConnectionLostError: The connection ended; `cursors` says where to follow on.
        """
        yield from self._follow(FollowedEvents(EVERY_LOG, dict(cursors or {})))

    def _follow(self, followed: FollowedEvents) -> "Iterator[tuple[str, Params]]":
        self._followed.append(followed)
        try:
            self.send("EventsSubscribe", followed.subscription)
            try:
                yield from self._next_event(followed)
            finally:
                self._unsubscribe(followed)
        finally:
            self._followed.remove(followed)

    def _next_event(self, followed: FollowedEvents) -> "Iterator[tuple[str, Params]]":
        while True:
            while len(followed):
                yield followed.pop()
            if followed.is_over:
                return
            message = self._read(None)
            if "method" in message:
                self._notified(message)

    def _unsubscribe(self, followed: FollowedEvents) -> None:
        if followed.is_over or self._is_closed:
            return
        try:
            self.send("EventsUnsubscribe", {"workbench_id": followed.log}, _LEAVE_S)
        except (ConnectionLostError, NoAnswerError, RemoteError):
            pass  # there is nothing to leave any more; who follows hears why elsewhere

    def _next_notification(self, deadline: float | None) -> "Params | None":
        """Return the next notification, or None if none comes in time."""
        while True:
            try:
                message = self._read(deadline)
            except NoAnswerError:
                return None
            if "method" in message:
                return message

    def _notified(self, message: "Params") -> None:
        if self._dispatch(message):
            return
        notification = message["method"], message["params"]
        if self.on_notification is None:
            self._notifications.append(notification)
        else:
            self.on_notification(*notification)

    def _dispatch(self, message: "Params") -> bool:
        """Dispatch a notification to the followers; return whether it is for them."""
        method, params = message["method"], message["params"]
        if method == "ConnectionDropped":
            raise self._loss("the daemon dropped this client", params["cursors"])
        if method == "EventsAppended":
            log = params["workbench_id"]
            concerned = [each for each in self._followed if each.follows(log)]
            for each in concerned:
                each.add(log, params["events"])
            return bool(concerned)
        if method == "EventsEnded":
            concerned = [each for each in self._followed if each.log == params["workbench_id"]]
            for each in concerned:
                each.is_over = True
            return bool(concerned)
        return False

    def _loss(self, why: str, notification: dict[str, int] | None = None) -> ConnectionLostError:
        """Return what to raise; who follows has been given less than what was sent."""
        cursors = {
            log: seq
            for log, seq in (notification or {}).items()
            if not any(each.follows(log) for each in self._followed)
        }
        for each in self._followed:
            # What was given, not what was read: nobody has seen the events that still wait here.
            cursors.update(each.delivered)
        return ConnectionLostError(why, cursors)

    def _write(self, message: "Params") -> None:
        line, self._unsent = self._unsent + _line(message), b""
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(line)
        except TimeoutError:
            # Half a line may be sent: nothing that follows it would be understood.
            self.close()
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
        try:
            self._socket.settimeout(left)
            chunk = self._socket.recv(_CHUNK_BYTES)
        except TimeoutError:
            raise NoAnswerError("the daemon did not answer in time") from None
        except OSError as error:
            broke = f"the connection broke: {error.strerror or error}"
            raise self._loss("this client is closed" if self._is_closed else broke) from error
        if not chunk:
            closed = "this client is closed" if self._is_closed else "the daemon closed it"
            raise self._loss(f"the connection ended: {closed}")
        return chunk


def _line(message: "Params") -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode() + b"\n"


def _deadline(seconds: float | None) -> float | None:
    return None if seconds is None else monotonic() + seconds
