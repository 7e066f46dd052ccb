"""Messages between daemon, zygotes and calls, as msgpack records on their channels.

`Order` goes from the daemon to a zygote, `Report` back. A call gets its `CallReach`, by which it
confines itself, then its `Request`; `Answer` comes back.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kbd.core.plugins.confinement.layers import Layers
from kbd.tools import CallLimits

__all__ = [
    "ERROR_BYTES",
    "LENGTH_BYTES",
    "PACKET_BYTES",
    "Answer",
    "Begun",
    "Call",
    "Crashed",
    "Ended",
    "Exceeded",
    "Kill",
    "Order",
    "Raised",
    "Ready",
    "Report",
    "Request",
    "Returned",
    "Start",
    "StartFailed",
    "encode",
]

LENGTH_BYTES = 4
PACKET_BYTES = 65536
"""The largest packet on a control channel; they hold names, never data."""


ERROR_BYTES = 65536
"""The largest answer that holds no value: an error with its facts, or with its trace."""


# Never pickle, by which a worker that a file has taken over could run code in the daemon.
class _Packet(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The root of all records here."""


class Start(_Packet, frozen=True):
    """Look in the paths first, import the modules, be ready; no call reads what is `private`."""

    paths: tuple[str, ...]
    preload: tuple[str, ...]
    private: str


class Call(_Packet, frozen=True):
    """Fork for a call; the packet carries the child's end of its channel.

    `spawns` says that it can start processes, of which some may be left when it has ended.
    """

    id: int
    limits: CallLimits
    layers: Layers
    spawns: bool


class Kill(_Packet, frozen=True):
    """Kill a call's process group; nothing happens if it has ended."""

    id: int


class Ready(_Packet, frozen=True):
    """The modules are imported. More than one thread makes forking unsafe, and is reported."""

    threads: int


class StartFailed(_Packet, frozen=True):
    """A module could not be imported."""

    kind: str
    message: str
    trace: str


class Begun(_Packet, frozen=True):
    """Report that a call is about to be forked; it must not go to another zygote any more."""

    id: int


class Ended(_Packet, frozen=True):
    """A call's process was reaped.

    `status` is that of `waitpid`, or minus the system's error if it was never born; `peak_bytes` is
    the most memory that it had at once, what it shares with the zygote included.
    """

    id: int
    status: int
    peak_bytes: int


class Request(_Packet, frozen=True):
    """Request of a call: `module:qualname` in the plugin's package, and its arguments."""

    function: str
    arguments: dict[str, Any]


class Returned(_Packet, frozen=True):
    """The function's value, as plain values."""

    value: Any


class Raised(_Packet, frozen=True):
    """The function raised a `KbdError`."""

    code: str
    message: str
    retryable: bool
    actions: tuple[str, ...]
    detail: dict[str, Any]


class Exceeded(_Packet, frozen=True):
    """A limit was passed: "memory", "file" or "result"."""

    limit: str


class Crashed(_Packet, frozen=True):
    """The function raised anything else. The trace is for the daemon's own log only."""

    kind: str
    message: str
    trace: str


Order = Start | Call | Kill
Report = Ready | StartFailed | Begun | Ended
Answer = Returned | Raised | Exceeded | Crashed


def encode(record: Any, place: Callable[[Any], str] = str) -> bytes:
    """Return a record as msgpack; a path becomes its text.

    Args:
        record: The record.
        place: Returns the text that a path is sent as.

    Raises:
        TypeError: A value in it has no form in msgpack.
        OverflowError: An integer has more than 64 bits.
        RecursionError: It is nested too deeply.
    """

    def text_of(value: Any) -> str:
        # Paths are the one kind beside plain values and records that both sides use.
        if hasattr(value, "__fspath__"):
            return place(value)
        msg = f"{type(value).__name__} cannot be sent between processes"
        raise TypeError(msg)

    return msgspec.msgpack.encode(record, enc_hook=text_of)
