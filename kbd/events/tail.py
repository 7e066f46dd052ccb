"""Tail of a log: the file of its last segment, written at its end in space reserved ahead.

A file that grows with each frame makes the file system commit its new size with each sync. Within
its size a sync is 1.3 to 1.4 times as fast (facts/performance.md A). What is reserved reads as
zeros, which are never a frame; the log needs none of it: where space cannot be reserved, it grows.
"""

import os
from contextlib import suppress
from pathlib import Path

from kbd.events.disk import Disk

__all__ = ["Tail"]

_LEAST_STEP = 16 * 1024
_MOST_STEP = 4 * 1024 * 1024
"""How much is reserved at once: as much as was written, within these. So a small log stays small,
and at most half of a log is reserved."""


class Tail:
    """The last segment, open to be written. Where it ends, the log knows and says.

    Args:
        path: The segment.
        limit: The size at which another follows it; no space is reserved behind that.
        disk: What writes. The methods raise what it raises.
    """

    def __init__(self, path: Path, limit: int, disk: Disk) -> None:
        self._limit = limit
        self._disk = disk
        self._asked = 0
        """Up to where space was asked for, got or not: a full disk is not asked at each frame."""
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def claim(self, end: int) -> None:
        """Make durable what a process before this one wrote, without what it had reserved."""
        if self._is_longer(end):
            self._disk.truncate(self._fd, end)
        self._disk.sync_data(self._fd)

    def write(self, data: bytes, offset: int) -> None:
        """Write a frame at the end. It is not durable yet, and may be half there on an error."""
        end = offset + len(data)
        if end > self._asked:
            self._reserve(offset, end)
        written = self._disk.pwrite(self._fd, data, offset)
        if written < len(data):
            self._disk.write_all(self._fd, data[written:], offset + written)

    def sync(self) -> None:
        """Make what was written durable."""
        # This covers a size that grew, too; the times of the file may be lost.
        self._disk.fdatasync(self._fd)

    def cut(self, end: int) -> None:
        """Take away what is behind the end, durably: an unsynced cut may come back."""
        self._asked = 0
        self._disk.truncate(self._fd, end)
        self._disk.sync(self._fd)

    def seal(self, end: int) -> None:
        """Give back durably what is reserved, for zeros within the log are damage."""
        if self._is_longer(end):
            self.cut(end)

    def trim(self, end: int) -> None:
        """Give back what is reserved, as a courtesy: the next start would, too."""
        with suppress(OSError):
            if self._is_longer(end):
                self._disk.truncate(self._fd, end)

    def close(self) -> None:
        """Close the file as it is."""
        os.close(self._fd)

    def _is_longer(self, end: int) -> bool:
        return os.fstat(self._fd).st_size > end

    def _reserve(self, offset: int, end: int) -> None:
        """Reserve space for a frame and a step more, if the disk has it."""
        self._asked = min(end + min(max(end, _LEAST_STEP), _MOST_STEP), self._limit)
        if self._asked <= end:
            return
        try:
            self._disk.reserve(self._fd, offset, self._asked - offset)
        except OSError:
            self.trim(offset)  # A full disk may have given a part, which others need more.
