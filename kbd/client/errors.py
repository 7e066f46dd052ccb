"""Errors that the clients raise."""

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ConnectionLostError", "NoAnswerError", "RemoteError"]


class RemoteError(Exception):
    """The daemon answered a request with an error.

    Args:
        code: The JSON-RPC code: -32000 for an application's error, another for the protocol's.
        message: For people.
        data: Facts for programs; of an application's error with `error_code`.
    """

    def __init__(self, code: int, message: str, data: "Any" = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def error_code(self) -> str:
        """Code of an application's error, such as "NOT_FOUND"; "" for one of the protocol."""
        return str(self.data.get("error_code", "")) if isinstance(self.data, dict) else ""


class ConnectionLostError(ConnectionError):
    """The daemon could not be reached, or the connection ended.

    Args:
        message: For people.
        cursors: Where to follow on, by log: the last event that was given to who followed it.
    """

    def __init__(self, message: str, cursors: dict[str, int] | None = None) -> None:
        super().__init__(message)
        self.cursors = cursors or {}


class NoAnswerError(TimeoutError):
    """The daemon did not answer in time.

    The request was canceled, which ends the waiting and not always the work: a run goes on, and
    what had begun to be recorded is recorded.
    """
