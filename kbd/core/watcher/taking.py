"""The copy of a file that landed: whole, hashed while it was made, and only that is worked on.

A file is whole if nobody has it open for writing and it is the same before and after the copy. The
first is asked by a read lease (fcntl(2)), which the system refuses with EAGAIN while somebody has;
it is given back at once. Where leases mean nothing — another user's file, a network disk — the
quiet time before must do. Blocking.
"""

import errno
import fcntl
import hashlib
import os
import signal

import msgspec

from kbd.core.watcher.mounts import is_remote
from kbd.core.watcher.tree import Tree, signature_of
from kbd.errors import FileReadFailed, NotFound, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.types import BlobHash

__all__ = ["Taken", "Unsettled", "digest", "take"]


class Unsettled(Exception):
    """The file is still written, or was changed, replaced or removed under the copy."""


class Taken(msgspec.Struct, frozen=True):
    """A file that was copied whole.

    Args:
        sha256: The hash of the copy, which is durable.
        size_bytes: Its size.
        signature: What the file looked like before and after.
    """

    sha256: BlobHash
    size_bytes: int
    signature: str


def take(tree: Tree, path: str, store: BlobStore, limit_bytes: int) -> Taken:
    """Copy a file into a store.

    What was copied before it turned out not to be whole stays there: a sweep removes it.

    Args:
        tree: The watched folder.
        path: The file's raw path below it.
        store: Where the copy goes.
        limit_bytes: The largest file that is taken.

    Raises:
        Unsettled: Try again later.
        ValidationFailed: It is larger than the limit.
        FileReadFailed: It cannot be read; `retryable` if that may be gone later.
        DiskFull: No space is left for the copy.
        LogPoisoned: The disk does not make the copy durable.
    """
    try:
        with tree.open(path) as fd:
            before = os.fstat(fd)
            if _is_written(fd, f"{tree.folder}/{path}"):
                raise Unsettled
            if before.st_size > limit_bytes:
                msg = (
                    f"the file has {before.st_size:,} bytes, and {limit_bytes:,} are allowed "
                    "(limits.file_bytes)"
                )
                raise ValidationFailed(msg)
            try:
                sha256, size_bytes = store.put_open(fd, path, before.st_size)
            except FileReadFailed as failed:
                raise FileReadFailed(failed.message, retryable=True) from failed
            signature = signature_of(before)
            if signature_of(os.fstat(fd)) != signature:
                raise Unsettled
    except NotFound:
        raise Unsettled from None
    there = tree.look(path)
    if there is None or there.signature != signature or size_bytes != before.st_size:
        raise Unsettled
    return Taken(sha256, size_bytes, signature)


def digest(tree: Tree, path: str) -> str:
    """Return the hash of a file as it is now, without a copy; "" if it is not there.

    Raises:
        FileReadFailed: It cannot be read.
    """
    try:
        with tree.open(path) as fd, open(fd, "rb", closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except NotFound:
        return ""
    except OSError as error:
        raise FileReadFailed(f"{path} cannot be read: {error.strerror}", retryable=True) from error


def _is_written(fd: int, path: str) -> bool:
    """Tell whether somebody has a file open for writing; False also where nobody can tell."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        # Whoever opens it for writing in this moment would have us sent a signal that kills: one
        # that is ignored by default is sent instead.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        # A network disk refuses a lease with the same error where it has none to give.
        return error.errno == errno.EAGAIN and not is_remote(path)
    return False
