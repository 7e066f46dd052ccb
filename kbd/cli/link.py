"""The command line's end of the socket: connect, call, and turn an error into words and a code."""

import argparse

from kbd.cli.exits import UNREACHABLE, Refused, Stop
from kbd.cli.place import socket_of
from kbd.client.blocking import Client
from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["broken", "call", "connect", "listen", "refusal"]

QUERY_TIMEOUT_S = 30.0
"""How long a call may take unless it says otherwise; a daemon that is alive answers far sooner."""

SLOW_TIMEOUT_S = 600.0
"""For what reads or writes whole files."""

# What helps beyond what the daemon's own message says, by error code.
_ADVICE = {
    "PROVIDER_NOT_CONFIGURED": "The daemon reads the environment when it starts: `kbd stop`, then"
    " again.",
    "CONFLICT_PUBLISHED_CHANGED": "`kbd publish WB --keep-both` keeps both versions.",
}


def connect(arguments: argparse.Namespace) -> Client:
    """Connect to the daemon of `--home` and `--socket`.

    Raises:
        Stop: None answers there.
    """
    path = socket_of(arguments.socket, arguments.home)
    try:
        return Client(path)
    except ConnectionLostError as error:
        msg = f"kbd is not running: nothing answers at {path}.\nStart it with `kbd up`."
        raise Stop(msg, UNREACHABLE) from error


def call(
    client: Client,
    method: str,
    params: "dict[str, Any] | None" = None,
    *,
    slow: bool = False,
    endless: bool = False,
) -> "Any":
    """Call a method and return its result.

    Args:
        client: The connection.
        method: Which.
        params: Its parameters.
        slow: Whether it reads or writes whole files.
        endless: Whether it takes as long as it takes.

    Raises:
        Refused: The daemon answered with an error.
        Stop: The connection broke, or no answer came in time.
    """
    timeout = None if endless else SLOW_TIMEOUT_S if slow else QUERY_TIMEOUT_S
    try:
        return client.send(method, params, timeout)
    except RemoteError as error:
        raise refusal(error) from error
    except NoAnswerError as error:
        raise Stop(f"kbd did not answer {method} in time.", UNREACHABLE) from error
    except ConnectionLostError as error:
        raise broken(error) from error


def listen(client: Client, seconds: float) -> bool:
    """Wait for a notification, which goes to `client.on_notification`; False if none came.

    Raises:
        Stop: The connection broke.
    """
    try:
        return client.wait(seconds)
    except ConnectionLostError as error:
        raise broken(error) from error


def broken(error: ConnectionLostError) -> Stop:
    """Return what to tell a person when the connection ended."""
    msg = f"The connection to kbd broke ({error}). What was recorded is safe: `kbd up`, and go on."
    return Stop(msg, UNREACHABLE)


def refusal(error: RemoteError) -> Refused:
    """Return what to tell a person about an error of the daemon."""
    data = error.data if isinstance(error.data, dict) else {}
    code = str(data.get("error_code") or error.code)
    actions = [str(action) for action in data.get("actions") or ()]
    if code in _ADVICE:
        actions.append(_ADVICE[code])
    return Refused(code, error.message, tuple(actions), data.get("detail") or {})
