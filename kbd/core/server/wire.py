"""A client's socket, read and written directly.

anyio's own stream turns the event loop once before it receives and once before it sends, and asks
the kernel for bytes before it waits for them: a third of the time of a short request. Here
receiving always waits first, which lets the others go on, and sending tries first, because nearly
always there is room.
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
        # The number, not the object: asyncio describes an object at each wait, at 10 us a time.
        self._fd = self.socket.fileno()

    async def receive(self, max_bytes: int) -> bytes:
        """Wait for bytes and return them; others always go on meanwhile.

        Raises:
            EndOfStream: The client has said its last word.
            BrokenResourceError: The connection broke.
        """
        while True:
            await anyio.wait_readable(self._fd)
            try:
                data = self.socket.recv(max_bytes)
            except BlockingIOError:
                continue  # woken for nothing
            except OSError as error:
                raise anyio.BrokenResourceError from error
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
