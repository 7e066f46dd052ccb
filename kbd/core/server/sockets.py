"""The Unix socket: where it lies, who may use it, what becomes of a stale one."""

import os
import socket
import stat
import struct
from pathlib import Path

from kbd.errors import ValidationFailed

__all__ = ["bound_socket", "peer_uid", "remove_socket"]

_LONGEST_PATH = 107
"""Bytes that `sun_path` holds on Linux, without the closing NUL."""

_BACKLOG = 128


def bound_socket(path: Path) -> socket.socket:
    """Return a listening socket at this path, for this user only.

    The caller holds the lock of the home, so a socket that nobody answers on is stale and replaced.

    Raises:
        ValidationFailed: The path is too long or taken, its folder is open to others, or a daemon
            answers there.
    """
    _check_path(path)
    _remove_stale(path)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        made.bind(os.fspath(path))
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise ValidationFailed(f"the socket cannot be made: {error.strerror}") from error
    finally:
        os.umask(before)
    made.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return made


def remove_socket(path: Path, inode: int) -> None:
    """Remove the socket if it is still the one that was made."""
    try:
        if path.lstat().st_ino == inode:
            path.unlink()
    except FileNotFoundError:
        pass  # somebody tidied up before us


def peer_uid(connected: socket.socket) -> int:
    """Return the user at the other end, as the kernel knows it."""
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack(
        "3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return int(uid)


def _check_path(path: Path) -> None:
    length = len(os.fsencode(path))
    if length > _LONGEST_PATH:
        message = f"the socket's path has {length} bytes; {_LONGEST_PATH} is the longest possible"
        raise ValidationFailed(message, actions=("set KBD_SOCKET to a shorter path",))
    try:
        folder = path.parent.lstat()
    except FileNotFoundError:
        raise ValidationFailed("the socket's folder does not exist") from None
    if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != os.geteuid() or folder.st_mode & 0o077:
        message = "the socket's folder must be a folder of yours that nobody else may enter (0700)"
        raise ValidationFailed(message)


def _remove_stale(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise ValidationFailed("there is something at the socket's path that is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(os.fspath(path))
        except (ConnectionRefusedError, FileNotFoundError):
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            raise ValidationFailed(f"the socket is in use: {error.strerror}") from error
    raise ValidationFailed("another daemon answers on this socket")
