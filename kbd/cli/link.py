"""Connection to the daemon: finds its socket, connects, calls, and turns errors into exit codes.

Home and socket come from the command line, else from the environment, by the same rules as the
daemon's own. The rules stand here a second time, so that a client does not import the core.
"""

import argparse
import os
from collections.abc import Iterator
from itertools import chain

from kbd.cli.exits import UNREACHABLE, USAGE, RequestRefused, Stop
from kbd.cli.terminal import line
from kbd.client.blocking import Client, default_home, default_socket
from kbd.client.errors import ConnectionLostError, NoAnswerError, RemoteError

__all__ = [
    "MAX_SOCKET_PATH_BYTES",
    "call",
    "client_name",
    "connect",
    "connection_lost",
    "is_text",
    "listen",
    "request_refused",
    "resolve_home",
    "resolve_socket",
]

MAX_SOCKET_PATH_BYTES = 107
"""What fits into sun_path on Linux, less the final NUL."""


def resolve_home(given: str | None) -> str:
    """Return the absolute path of the home: `--home`, `$KBD_HOME`, or the user's data folder."""
    return os.path.abspath(os.path.expanduser(given)) if given else default_home()


def resolve_socket(given: str | None, home: str | None) -> str:
    """Return the absolute path of the socket: `--socket`, `$KBD_SOCKET`, or in the home.

    `--home` on the command line goes before `$KBD_SOCKET`: who names a home means its socket.

    Raises:
        Stop: The path is too long for a Unix socket.
    """
    path = given or (os.path.join(resolve_home(home), "kbd.sock") if home else default_socket())
    path = os.path.abspath(os.path.expanduser(path))
    length = len(os.fsencode(path))
    if length > MAX_SOCKET_PATH_BYTES:
        msg = (
            f"the socket's path has {length} bytes and {MAX_SOCKET_PATH_BYTES} is the most; "
            "choose a shorter one with --socket or KBD_SOCKET"
        )
        raise Stop(msg, USAGE)
    return path


# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs `kbd status`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


QUERY_TIMEOUT_S = 30.0
"""How long a call may take unless it says otherwise; a daemon that is alive answers far sooner."""

SLOW_TIMEOUT_S = 600.0
"""For what reads or writes whole files."""

# What helps beyond what the daemon's own message says, by error code.
_ADVICE = {
    "PROVIDER_NOT_CONFIGURED": "the daemon reads the environment when it starts: `kbd stop`, then"
    " again",
}


def connect(arguments: argparse.Namespace) -> Client:
    """Connect to the daemon of `--home` and `--socket`.

    Raises:
        Stop: None answers there.
    """
    path = resolve_socket(arguments.socket, arguments.home)
    try:
        return Client(path, client=client_name(arguments))
    except ConnectionLostError as error:
        msg = f"kbd is not running: nothing answers at {path}; start it with `kbd up`"
        raise Stop(msg, UNREACHABLE) from error


def client_name(arguments: argparse.Namespace) -> str:
    """Return what the log calls a command: `kbd publish`."""
    return f"kbd {getattr(arguments, 'command', '')}".rstrip()


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
        RequestRefused: The daemon answered with an error.
        Stop: The connection broke, no answer came in time, or a parameter is no Unicode text.
    """
    for text in _texts(params):
        if not is_text(text):
            msg = f"{line(text)} is no Unicode text, which nothing can be called by: rename it"
            raise Stop(msg, USAGE)
    timeout = None if endless else SLOW_TIMEOUT_S if slow else QUERY_TIMEOUT_S
    try:
        return client.send(method, params, timeout)
    except RemoteError as error:
        raise request_refused(error) from error
    except NoAnswerError as error:
        raise Stop(f"kbd did not answer {method} in time", UNREACHABLE) from error
    except ConnectionLostError as error:
        raise connection_lost(error) from error


def is_text(given: str) -> bool:
    """Tell whether what was typed, such as the name of a file, is text that can be sent."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return False
    return True


def _texts(value: "Any") -> Iterator[str]:
    """Yield the texts in parameters."""
    match value:
        case str():
            yield value
        case dict():
            yield from chain.from_iterable(map(_texts, value.values()))
        case list() | tuple():
            yield from chain.from_iterable(map(_texts, value))


def listen(client: Client, seconds: float) -> bool:
    """Wait for a notification, which goes to `client.on_notification`; False if none came.

    Raises:
        Stop: The connection broke.
    """
    try:
        return client.wait(seconds)
    except ConnectionLostError as error:
        raise connection_lost(error) from error


def connection_lost(error: ConnectionLostError) -> Stop:
    """Return the error for a connection that ended."""
    msg = f"the connection to kbd broke ({error}); what was recorded is safe: `kbd up`, and go on"
    return Stop(msg, UNREACHABLE)


def request_refused(error: RemoteError) -> RequestRefused:
    """Return the error for a refusal of the daemon."""
    data = error.data if isinstance(error.data, dict) else {}
    code = str(data.get("error_code") or error.code)
    actions = [str(action) for action in data.get("actions") or ()]
    # A daemon that says what helps knows better: a restart enables no provider.
    if code in _ADVICE and not actions:
        actions.append(_ADVICE[code])
    return RequestRefused(code, error.message, tuple(actions), data.get("detail") or {})
