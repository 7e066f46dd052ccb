"""Shortages of the machine, and other errors of the system, as errors that clients know.

Descriptors, processes, memory and disk space run out wherever something is opened or started, and
come as an `OSError`, a `MemoryError`, or within a group of the tasks that failed together.
"""

import errno
import os
from collections.abc import Iterator

from kbd.errors import (
    DiskFull,
    FileReadFailed,
    KbdError,
    OutOfMemory,
    ToolWorkerUnavailable,
    TooManyOpenFiles,
    TooManyProcesses,
)
from kbd.events.disk import SyncError, is_full

__all__ = [
    "SYSTEM_FAILURES",
    "known_error",
    "raise_shortage",
    "shortage_of",
    "told_error",
]

SYSTEM_FAILURES = (OSError, MemoryError, RuntimeError)
"""What Python raises where the system refuses something; a thread it refuses is a RuntimeError."""


def shortage_of(fault: BaseException) -> KbdError | None:
    """Return the error for a failure by which the machine says that something has run out.

    Of a failed sync nothing is known but that data may be lost: it is no shortage.

    Returns:
        Of a group, that of the first in it; None for every other failure.
    """
    return next((error for each in _causes(fault) if (error := _shortage(each)) is not None), None)


def raise_shortage(error: OSError) -> None:
    """Raise the error for what has run out, if an error of the system says that; else return.

    It says nothing of the file that was to be opened, read or written.

    Raises:
        KbdError: As `shortage_of` returns it.
    """
    shortage = shortage_of(error)
    if shortage is not None:
        raise shortage from error


def _shortage(fault: BaseException) -> KbdError | None:
    if isinstance(fault, MemoryError):
        return _out_of_memory()
    # What Python says where the system refuses a thread (threading.Thread.start).
    if isinstance(fault, RuntimeError) and "start new thread" in str(fault):
        return _too_many_processes()
    if not isinstance(fault, OSError) or isinstance(fault, SyncError):
        return None
    if is_full(fault):
        return DiskFull("no space is left on the device: free some space, then try again")
    match fault.errno:
        case errno.EMFILE:
            return TooManyOpenFiles(
                "kbd has as many files open as it may: close clients that are not needed, or start "
                "the daemon with a higher limit (ulimit -n), then try again"
            )
        case errno.ENFILE:
            return TooManyOpenFiles(
                "the machine has as many files open as it can: end programs that are not needed, "
                "then try again"
            )
        # fork(2) and pthread_create(3) past the limits of processes. Channels that are not ready
        # say the same, and whoever has such a channel asks it again.
        case errno.EAGAIN:
            return _too_many_processes()
        case errno.ENOMEM:
            return _out_of_memory()
    return None


def known_error(fault: BaseException) -> KbdError | None:
    """Return the error that clients know for a failure that nobody expected, by its true cause.

    Of a group, its first error of kbd's, else its first shortage, else its first error of the
    system's, of which only the kind is told: its own text may hold a path.

    Returns:
        None where there is none of them: it is a fault of kbd's own.
    """
    causes = tuple(_causes(fault))
    known = (each for each in causes if isinstance(each, KbdError))
    refused = (
        FileReadFailed(f"a file of kbd's own cannot be used: {os.strerror(each.errno)}")
        for each in causes
        if isinstance(each, OSError) and each.errno in _DISK_ERRORS
    )
    return next(known, None) or shortage_of(fault) or next(refused, None)


def told_error(fault: BaseException) -> KbdError:
    """Return what is told of a failure that ends a task, whatever it is.

    Of a fault of kbd's own only its kind is told: its text may hold paths or contents.
    """
    kind = type(next(_causes(fault))).__name__
    return known_error(fault) or ToolWorkerUnavailable(f"kbd failed inside ({kind})")


def _causes(fault: BaseException) -> Iterator[BaseException]:
    """Yield what a group of failures is made of, in order; of another failure itself."""
    if isinstance(fault, BaseExceptionGroup):
        for each in fault.exceptions:
            yield from _causes(each)
    else:
        yield fault


_DISK_ERRORS = frozenset({errno.EACCES, errno.EPERM, errno.EIO, errno.EROFS, errno.ESTALE})
"""What the system says of a disk that fails, and of files that may not be used."""


def _out_of_memory() -> OutOfMemory:
    return OutOfMemory("the machine has no memory left: end programs, then try again")


def _too_many_processes() -> TooManyProcesses:
    return TooManyProcesses(
        "the system starts no further process or thread: end some that are not needed, or raise "
        "the limit (ulimit -u), then try again"
    )
