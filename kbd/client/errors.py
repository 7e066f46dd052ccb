"""What the clients raise."""

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ConnectionLostError", "NoAnswerError", "RemoteError"]


class RemoteError(Exception):
    """The daemon answered a request with an error.

    Args:
        code: The JSON-RPC code.
        message: For people.
        data: Facts for programs; of an application's error with `error_code`.
    """

    def __init__(self, code: int, message: str, data: "Any" = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ConnectionLostError(ConnectionError):
    """The daemon could not be reached, or closed the connection.

    Args:
        message: For people.
        cursors: Where to follow on, by log, if the daemon dropped a client that was too slow.
    """

    def __init__(self, message: str, cursors: dict[str, int] | None = None) -> None:
        super().__init__(message)
        self.cursors = cursors or {}


class NoAnswerError(TimeoutError):
    """The daemon did not answer in time; what was asked may still happen."""
