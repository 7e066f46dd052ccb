"""A call's own channel, seen from the daemon: one request, one answer, then nothing."""

import socket

import anyio

from kbd.core.workers.wire import LENGTH_BYTES

__all__ = ["exchange"]


async def exchange(channel: socket.socket, request: bytes, limit: int) -> bytes | None:
    """Send a request and return the answer, or None if the other side ends before it is whole."""
    message = memoryview(len(request).to_bytes(LENGTH_BYTES) + request)
    try:
        while message:
            try:
                message = message[channel.send(message) :]
            except BlockingIOError:
                await anyio.wait_writable(channel)
        header = await _receive(channel, LENGTH_BYTES)
        size = int.from_bytes(header)
        return await _receive(channel, size) if header and size <= limit else None
    except (BrokenPipeError, ConnectionResetError, EOFError):
        return None


async def _receive(channel: socket.socket, size: int) -> bytes:
    """Return exactly so many bytes.

    Raises:
        EOFError: The other side ended before.
    """
    received = bytearray()
    while len(received) < size:
        try:
            data = channel.recv(min(size - len(received), 1 << 20))
        except BlockingIOError:
            await anyio.wait_readable(channel)
            continue
        if not data:
            raise EOFError
        received += data
    return bytes(received)
