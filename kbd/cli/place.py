"""Where the daemon is: its home and its socket, from the command line, else from the environment.

The same rules as the daemon's own, told twice so that a client does not import the core.
"""

import os

from kbd.cli.exits import USAGE, Stop
from kbd.client.places import default_home, default_socket

__all__ = ["MAX_SOCKET_PATH_BYTES", "home_of", "socket_of"]

MAX_SOCKET_PATH_BYTES = 107
"""What fits into sun_path on Linux, less the final NUL."""


def home_of(given: str | None) -> str:
    """Return the absolute path of the home: `--home`, `$KBD_HOME`, or the user's data folder."""
    return os.path.abspath(os.path.expanduser(given)) if given else default_home()


def socket_of(given: str | None, home: str | None) -> str:
    """Return the absolute path of the socket: `--socket`, `$KBD_SOCKET`, or in the home.

    `--home` on the command line goes before `$KBD_SOCKET`: who names a home means its socket.

    Raises:
        Stop: The path is too long for a Unix socket.
    """
    path = given or (os.path.join(home_of(home), "kbd.sock") if home else default_socket())
    path = os.path.abspath(os.path.expanduser(path))
    length = len(os.fsencode(path))
    if length > MAX_SOCKET_PATH_BYTES:
        msg = (
            f"The socket's path has {length} bytes; {MAX_SOCKET_PATH_BYTES} is the most.\n"
            "Choose a shorter one with --socket or KBD_SOCKET."
        )
        raise Stop(msg, USAGE)
    return path
