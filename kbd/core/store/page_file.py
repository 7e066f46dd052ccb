"""File of the pages of a state's long lists, beside the snapshots that name places in it.

It is only ever appended to, so that two snapshots and a state that is in use share it. What no
snapshot names any more is left behind when a log is closed, by a new file that has the rest.
"""

import os
import weakref
from pathlib import Path
from zlib import crc32

from kbd.core.domain.long_lists import BytesPlace
from kbd.errors import ToolWorkerUnavailable
from kbd.events.disk import Disk

__all__ = ["PAGES_SUFFIX", "PageFile", "PageWriter"]

PAGES_SUFFIX = ".pages"


class PageFile:
    """Pages of a state that is in use; safe to read in any thread.

    The file is kept open: a later snapshot may take its name away.

    Args:
        path: The file.

    Raises:
        OSError: It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        # Nobody knows who is the last to read a state: a request that is being answered may be.
        weakref.finalize(self, os.close, self._fd)

    def read(self, place: BytesPlace) -> bytes:
        """Return the bytes of a place.

        Raises:
            ToolWorkerUnavailable: They are not there as they were written. The file is removed, so
                that the next start folds the log anew, which has everything.
        """
        try:
            data = os.pread(self._fd, place.size_bytes, place.offset)
        except OSError:
            data = b""
        if len(data) != place.size_bytes or crc32(data) != place.checksum:
            self.path.unlink(missing_ok=True)
            raise ToolWorkerUnavailable(
                "kbd's copy of what it knows of this workbench is damaged; nothing is lost: "
                "restart kbd (`kbd stop`, `kbd up`), and it is made anew from the log"
            )
        return data

    @property
    def size_bytes(self) -> int:
        """The size of the file."""
        return os.fstat(self._fd).st_size


class PageWriter:
    """Writer of pages at the end of a file, which is made when it is needed.

    Args:
        path: The file.
        disk: What makes it durable.
    """

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path, self._disk = path, disk
        self._parts: list[bytes] = []
        # Not where the last snapshot ended: a process that was killed may have written behind it.
        self._at = path.stat().st_size if path.exists() else 0
        self._is_new = self._at == 0

    def write(self, data: bytes) -> BytesPlace:
        """Queue bytes, and return the place that they will have."""
        place = BytesPlace(self._at, len(data), crc32(data))
        self._parts.append(data)
        self._at += len(data)
        return place

    def flush(self) -> bool:
        """Write what is queued, durably; return whether there is such a file.

        Raises:
            OSError: It cannot be written.
            DiskFull: There is no space.
        """
        if self._parts:
            data, self._parts = b"".join(self._parts), []
            self._disk.make_directory(self.path.parent)
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                self._disk.write_all(fd, data, self._at - len(data))
                self._disk.sync(fd)
            finally:
                os.close(fd)
            if self._is_new:
                self._disk.sync_directory(self.path.parent)
        return self._at > 0
