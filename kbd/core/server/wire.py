"""A client's socket, read and written directly.

anyio's own stream turns the event loop once more before it sends, and has asyncio describe the
socket in words at each wait; with all that follows, half the time of a short request that waits for
something. Here sending tries first, because nearly always there is room.
"""

import anyio
from anyio.abc import SocketAttribute, SocketStream

__all__ = ["Wire"]


class Wire:
    """A connected socket whose stream somebody else closes.

    Args:
        stream: The client.
    """

    def __init__(self, stream: SocketStream) -> None:
        self.socket = stream.extra(SocketAttribute.raw_socket)
        # The number, not the object: asyncio's selector puts an object's repr into a KeyError.
        self._fd = self.socket.fileno()

    async def receive(self, max_bytes: int) -> bytes:
        """Return bytes as soon as there are some; others always go on before.

        Raises:
            EndOfStream: The client has said its last word.
            BrokenResourceError: The connection broke.
        """
        await anyio.lowlevel.checkpoint()
        while True:
            try:
                data = self.socket.recv(max_bytes)
            except BlockingIOError:
                await anyio.wait_readable(self._fd)
            except OSError as error:
                raise anyio.BrokenResourceError from error
            else:
                if not data:
                    raise anyio.EndOfStream
                return data

    async def send(self, data: bytes) -> None:
        """Send all of it; waits only where the client does not read.

        Raises:
            BrokenResourceError: The connection broke.
        """
        left = memoryview(data)
        while left:
            try:
                left = left[self.socket.send(left) :]
            except BlockingIOError:
                await anyio.wait_writable(self._fd)
            except OSError as error:
                raise anyio.BrokenResourceError from error
