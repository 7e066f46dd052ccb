"""Lock of a home: one daemon or one repair has it alone, and checks share it.

Nobody writes a log of a home without holding it (reliability, R12).
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from kbd.core.runtime.paths import Home

__all__ = ["HomeLockedError", "lock_home", "share_home"]


class HomeLockedError(Exception):
    """Error of a home that somebody else has locked; the message names its process if known."""


@contextmanager
def lock_home(home: Home) -> Iterator[None]:
    """Hold the lock of the home alone; a second one fails with the process id of the first.

    Raises:
        HomeLockedError: Another daemon or a repair has it, or a check is reading it.
    """
    # O_CLOEXEC: a child that inherits the descriptor would hold the lock after we are gone
    # (reliability, R12).
    held = os.open(home.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            # Not lockf, which lets the same process lock a file twice (reliability, R12).
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HomeLockedError(_held_by(held)) from None
        # Only with the lock: before that the file names the process that has it.
        os.ftruncate(held, 0)
        os.pwrite(held, str(os.getpid()).encode(), 0)
        yield
    finally:
        # The file stays: were it removed, two daemons could each lock a file of that name.
        os.close(held)


@contextmanager
def share_home(home: Home) -> Iterator[None]:
    """Keep daemons and repairs out of a home while it is read; nothing is written.

    A home without a lock file was never a daemon's, and there is nothing to hold.

    Raises:
        HomeLockedError: A daemon or a repair has it.
        OSError: The lock file cannot be opened.
    """
    try:
        held = os.open(home.lock_file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        yield
        return
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HomeLockedError(_held_by(held)) from None
        yield
    finally:
        os.close(held)


def _held_by(held: int) -> str:
    """Say who has the lock of an open lock file."""
    try:
        # Granted beside other readers, and to nobody beside a writer. The file names the last
        # writer, which a reader is not.
        fcntl.flock(held, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(held, 32, 0).decode(errors="replace").strip()
        return f"another daemon (process {owner or 'unknown'}) has this home already"
    return "this home is being checked by `kbd verify`: try again when it is done"
