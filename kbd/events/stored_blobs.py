"""Stored blobs as the file system has them, and those that are kept for good.

What somebody put into a workbench beside kbd becomes a blob before anything takes its place, and no
event names it. So an empty file says that it is somebody's bytes: a collection, which removes what
no event names, leaves it alone. Blocking.
"""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from kbd.events.disk import Disk
from kbd.types import BlobHash

__all__ = ["KeptBlobs", "StoredBlob"]


class StoredBlob(msgspec.Struct, frozen=True):
    """A blob as the file system has it.

    Args:
        blob: Its hash.
        size_bytes: Its size.
        changed_s: When its file was last changed, by whatever (ctime), in seconds since 1970 UTC.
    """

    blob: BlobHash
    size_bytes: int
    changed_s: float


class KeptBlobs:
    """Marks of the blobs of a store that are kept for good although no event names them.

    Args:
        folder: Where the marks lie: an empty file for each, of its name.
        disk: What writes.
    """

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder, self._disk = folder, disk

    def add(self, blobs: Iterable[BlobHash]) -> None:
        """Keep blobs for good; durable on return. Without any, the folder of the marks is made.

        Raises:
            DiskFull: No space is left.
            SyncError: They are not known to be durable.
            OSError: They cannot be written.
        """
        self._disk.make_directory(self._folder)
        for blob in blobs:
            if not (self._folder / blob).exists():
                self._disk.write_file(self._folder / blob, ())

    def listed(self) -> frozenset[str] | None:
        """Return which are kept; None for a store of a kbd that made no such marks."""
        try:
            return frozenset(os.listdir(self._folder))
        except FileNotFoundError:
            return None
