"""The notification socket of a service manager, for tests of what it is told."""

import socket

__all__ = ["Manager"]


class Manager:
    """A service manager that listens.

    Args:
        address: A path, or "@" and an abstract name.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address.replace("@", "\0", 1))

    def receive(self, timeout_s: float = 30.0) -> str | None:
        """Return the next message; None if none comes in time."""
        self._socket.settimeout(timeout_s)
        try:
            return self._socket.recv(4096).decode()
        except TimeoutError:
            return None

    def drain(self) -> None:
        """Take what has come."""
        while self.receive(0.001):
            pass

    def close(self) -> None:
        """Be gone."""
        self._socket.close()
