"""Messages between kbd and the process of the model, over one socket.

A frame is four bytes, big-endian, and as many bytes of msgpack.
"""

import socket

import msgspec

__all__ = ["Answer", "Failed", "Texts", "Vectors", "receive", "send"]

_MAX_BYTES = 1 << 30
"""A length beyond it means that the stream is out of step; its buffer would fill memory."""


class Texts(msgspec.Struct, frozen=True):
    """Texts to be made vectors; well-formed Unicode."""

    texts: tuple[str, ...]
    is_query: bool


class Vectors(msgspec.Struct, frozen=True, tag="vectors"):
    """The vectors, as `kbd.providers.Embeddings` has them."""

    data: bytes
    size: int


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """An error of `kbd.errors`, as its code and its message."""

    code: str
    message: str


Answer = Vectors | Failed
"""Message that answers texts."""


def send(end: socket.socket, record: Texts | Answer) -> None:
    """Send a frame; raises as `socket.sendall`."""
    body = msgspec.msgpack.encode(record)
    end.sendall(len(body).to_bytes(4) + body)


def receive(end: socket.socket) -> bytes:
    """Return the body of the next frame.

    Raises:
        EOFError: The other side has ended.
        OSError: As `socket.recv` raises, TimeoutError where nothing comes in time.
    """
    size = int.from_bytes(_exactly(end, 4))
    if size > _MAX_BYTES:
        raise EOFError
    return _exactly(end, size)


def _exactly(end: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        # By the megabyte: a length that lies takes memory only as fast as bytes come.
        data = end.recv(min(size - len(received), 1 << 20))
        if not data:
            raise EOFError
        received += data
    return bytes(received)
