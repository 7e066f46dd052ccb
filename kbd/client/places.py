"""Default paths of the daemon's home and socket, as this user's environment says."""

import os

__all__ = ["default_home", "default_socket"]


def default_home() -> str:
    """Return the absolute path of the home: `$KBD_HOME`, else in the user's data folder."""
    home = os.environ.get("KBD_HOME")
    if not home:
        data = os.environ.get("XDG_DATA_HOME") or os.path.join("~", ".local", "share")
        home = os.path.join(data, "kbd")
    return os.path.abspath(os.path.expanduser(home))


def default_socket() -> str:
    """Return the absolute path of the socket: `$KBD_SOCKET`, else in the home."""
    path = os.environ.get("KBD_SOCKET") or os.path.join(default_home(), "kbd.sock")
    return os.path.abspath(os.path.expanduser(path))
