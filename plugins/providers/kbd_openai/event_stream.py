"""Server-sent events of an answer: their data, and its JSON as records. Pure.

The client library puts no limit on a line or an event, and makes Python values of whatever comes,
twenty bytes of memory for each byte; so events are taken from the bytes here. Each byte is looked
at once. An event is decoded into the fields that are used, and what nobody reads is passed over;
a field that may be anything stays as it came (`msgspec.Raw`).

    a line that ends in LF, CR or CRLF    the end of a line
    several lines of data                 joined by LF
    comments, `event`, `id`, `retry`      passed over
    no blank line at the end              an event that did not come to its end: passed over
    half of a surrogate pair              U+FFFD: servers cut texts anywhere
"""

import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from kbd.messages import Usage
from kbd.providers import MalformedReply

__all__ = [
    "DONE",
    "MAX_EVENT_BYTES",
    "NO_EVENT",
    "EventDecoder",
    "decoded_event",
    "is_told",
    "read_usage",
    "small_value",
]

T = TypeVar("T")

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""Of a whole turn of today's largest models, escaped, some ten times as much as there is."""

MAX_OBJECTS = 100_000
"""Objects in one event, counted by their brackets, those within texts included: each one costs
twenty times the memory that it takes in JSON."""

MAX_SMALL_BYTES = 64 * 1024
"""What may be anything is made Python values only up to this size."""

DONE = b"[DONE]"
"""Data of the mark after the last event."""

NO_EVENT = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised by `decoded_event` for data that is no JSON."""

_NOTHING = frozenset({b"", b"null", b"false", b'""', b"[]", b"{}", b"0"})

_ESCAPE = re.compile(rb"\\(?:u(?:[dD][89abAB]..\\u[dD][c-fC-F]..|([dD][89a-fA-F]..))|.)")
"""An escape of JSON; the group is half of a surrogate pair without the other half."""


class EventDecoder:
    """Decoder of a stream of server-sent events, piece by piece.

    Args:
        max_bytes: The longest line, and the longest event.
    """

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._line, self._data = bytearray(), bytearray()
        self._after_cr = False

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Yield the data of the events that come to their end in a piece.

        Raises:
            MalformedReply: A line or an event is longer than it may be.
        """
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]
        # An empty piece says nothing of what follows.
        self._after_cr = piece.endswith(b"\r") if piece else self._after_cr
        for part in piece.splitlines(keepends=True):
            self._line += part
            self._check(self._line)
            if part.endswith((b"\n", b"\r")):
                line = bytes(self._line).rstrip(b"\r\n")
                self._line.clear()
                if line:
                    self._take(line)
                elif self._data:
                    data = bytes(self._data[:-1])
                    self._data.clear()
                    yield data

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data += value.removeprefix(b" ") + b"\n"
            self._check(self._data)

    def _check(self, buffer: bytearray) -> None:
        if len(buffer) > self._max_bytes:
            msg = f"an event of the answer is longer than {self._max_bytes:,} bytes"
            raise MalformedReply(msg)


def decoded_event(data: bytes, kind: type[T]) -> T:
    """Return the data of an event as a record.

    Raises:
        MalformedReply: It has another shape, or far too many objects.
        msgspec.DecodeError: It is no JSON; as are the others of `NO_EVENT`.
    """
    if data.count(b"{") > MAX_OBJECTS:
        raise MalformedReply("an event of the answer holds far too many objects")
    try:
        return _decoded(data, kind)
    except msgspec.ValidationError as error:
        msg = f"the answer has a shape that makes no sense ({error})"
        raise MalformedReply(msg) from None


def _decoded(data: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if len(data) > MAX_SMALL_BYTES or b"\\ud" not in data.lower():
            raise
    return msgspec.json.decode(_ESCAPE.sub(_whole_escape, data), type=kind)


def _whole_escape(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if escape[1] else escape[0]


def is_told(field: msgspec.Raw) -> bool:
    """Return whether a field that may be anything says something."""
    return bytes(field) not in _NOTHING


def small_value(field: msgspec.Raw | bytes) -> Any:
    """Return a field that may be anything as Python values; None if it is too large for that."""
    data = bytes(field)
    try:
        return msgspec.json.decode(data) if 0 < len(data) <= MAX_SMALL_BYTES else None
    except NO_EVENT:
        return None


def read_usage(field: msgspec.Raw, sent: str, received: str) -> Usage | None:
    """Return what a server says that a turn consumed; None if it says nothing that can be.

    Args:
        field: What it says.
        sent: The name of the number of tokens that it was sent.
        received: Of those that it sent.
    """
    fields = small_value(field) if len(bytes(field)) <= MAX_SMALL_BYTES else None
    if not isinstance(fields, dict):
        return None
    numbers = [fields.get(name) for name in (sent, received)]
    if numbers == [None, None]:
        return None
    usage = Usage(*(0 if number is None else number for number in numbers))
    return usage if usage.is_plausible else None
