"""Ingest of files that landed: each is copied whole and hashed, and only the copy is worked on.

A file is whole if nobody has it open for writing and it is the same before and after the copy. The
first is asked by a read lease (fcntl(2)), which the system refuses with EAGAIN while somebody has;
it is given back at once. Where leases mean nothing — another user's file, a network disk — the
quiet time before must do. Blocking.

Copies are kept while a landing needs them, and swept then. A copy is durable before its landing is
recorded, so for a moment nothing says that it is needed: `LandedCopies.copying` blocks sweeping
meanwhile.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.watch.hints import is_remote
from kbd.core.watch.tree import WatchedTree, signature_of
from kbd.errors import FileReadFailed, NotFound, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.shortages import raise_shortage
from kbd.types import BlobHash

__all__ = [
    "Ingested",
    "LandedCopies",
    "Unsettled",
    "hash_file",
    "ingest_file",
    "remove_folders",
    "unknown_folders",
]


class Unsettled(Exception):
    """The file is still written, or was changed, replaced or removed under the copy."""


class Ingested(msgspec.Struct, frozen=True):
    """A file that was copied whole.

    Args:
        sha256: The hash of the copy, which is durable.
        size_bytes: Its size.
        signature: What the file looked like before and after.
    """

    sha256: BlobHash
    size_bytes: int
    signature: str


def ingest_file(tree: WatchedTree, path: str, store: BlobStore, limit_bytes: int) -> Ingested:
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
            if _is_open_for_writing(fd, f"{tree.folder}/{path}"):
                raise Unsettled
            # Before a byte is read: a file of holes may have terabytes (reliability, A42).
            if before.st_size > limit_bytes:
                msg = (
                    f"the file has {before.st_size:,} bytes, and {limit_bytes:,} are allowed "
                    "(limits.file_bytes)"
                )
                raise ValidationFailed(msg)
            try:
                # No more than was there at first: a file that grows for ever would fill the disk.
                sha256, size_bytes = store.put_open(fd, path, before.st_size)
            except FileReadFailed as failed:
                raise FileReadFailed(failed.message, retryable=True) from failed
            signature = signature_of(before)
            if signature_of(os.fstat(fd)) != signature:
                raise Unsettled
    except NotFound:
        raise Unsettled from None
    # The descriptor stays with its inode: only the path shows that another file took its place.
    there = tree.look(path)
    if there is None or there.signature != signature or size_bytes != before.st_size:
        raise Unsettled
    return Ingested(sha256, size_bytes, signature)


def hash_file(tree: WatchedTree, path: str) -> str:
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
        raise_shortage(error)
        raise FileReadFailed(f"{path} cannot be read: {error.strerror}", retryable=True) from error


def _is_open_for_writing(fd: int, path: str) -> bool:
    """Return whether somebody has a file open for writing; False also where that is unknown."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        # Whoever opens it for writing in this moment would have us sent a signal that kills: one
        # that is ignored by default is sent instead.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        # At once: whoever opens it for writing has to wait while a lease is held (fcntl(2)).
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        # A network disk refuses a lease with the same error where it has none to give.
        return error.errno == errno.EAGAIN and not is_remote(path)
    return False


class LandedCopies:
    """Copies of what landed in one watch; one object for each, as long as anything uses them.

    Args:
        folder: Where they lie.

    Attributes:
        store: The copies.
    """

    def __init__(self, folder: Path) -> None:
        self.store = BlobStore(folder)
        self._folder = folder
        self._lock = anyio.Lock()
        self._copying = 0

    @asynccontextmanager
    async def copying(self) -> AsyncIterator[BlobStore]:
        """Block sweeping while a copy is made and its landing recorded; several may hold this."""
        async with self._lock:
            self._copying += 1
        try:
            yield self.store
        finally:
            self._copying -= 1

    async def sweep(self, needed: Callable[[], AbstractSet[str]]) -> bool:
        """Remove all copies but the needed ones, and what a process that died was making.

        Args:
            needed: Returns the hashes of those; asked while nothing is taken.

        Returns:
            Whether that was done. It is not while copies are taken: that may take as long as a
            disk that hangs, and no other file is to wait for it.
        """
        async with self._lock:
            if self._copying:
                return False
            await run_sync(self._sweep, frozenset(needed()))
            return True

    def _sweep(self, needed: frozenset[str]) -> None:
        if not needed:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        self.store.sweep()
        for path in self.store.stored_paths():
            if path.name not in needed:
                path.unlink(missing_ok=True)


def unknown_folders(landings: Path, known: AbstractSet[str]) -> tuple[Path, ...]:
    """Return the folders of copies that belong to no known watch. Blocking."""
    return tuple(path for path in landings.glob("*") if path.name not in known)


def remove_folders(folders: Iterable[Path]) -> None:
    """Remove folders of copies. Blocking."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
