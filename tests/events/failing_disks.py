"""Disks that fail on purpose: full, without sync, without power."""

import errno
import os
import random
import stat
from contextlib import suppress
from pathlib import Path

from events.logs import Unsynced
from kbd.events.disk import Disk


class SeenDisk(Disk):
    """A disk that sees all that is written: nothing is copied past it in the kernel."""

    def copy_range(self, source: int, fd: int, offset: int, size: int) -> int:
        """Say that it cannot."""
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))


class FullDisk(SeenDisk, Unsynced):
    """A disk that takes so many more bytes, then writes short, then is full.

    Args:
        space: How many bytes it takes.
        error: What it says then.
        reserves: Whether it grants space ahead, which it then does not have when it is written,
            as file systems that copy on write do.
    """

    def __init__(self, space: int, error: int = errno.ENOSPC, *, reserves: bool = False) -> None:
        self.space = space
        self.error = error
        self.reserves = reserves

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve, or be full."""
        if not self.reserves:
            raise OSError(self.error, os.strerror(self.error))
        super().reserve(fd, offset, size)

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write what there is space for."""
        if self.space <= 0:
            raise OSError(self.error, os.strerror(self.error))
        written = os.pwrite(fd, data[: self.space], offset)
        self.space -= written
        return written


class BadDisk(SeenDisk):
    """A disk whose n-th call of a kind fails, once: the next one lies that all is well.

    Args:
        call: "fsync", "fdatasync", "truncate", "pwrite", "rename" or "reserve".
        after: How many calls of that kind succeed before.
        error: What it fails with.
    """

    def __init__(self, call: str, after: int, error: int = errno.EIO) -> None:
        self.call = call
        self.after = after
        self.error = error
        self.calls = 0
        self.failed = False

    def _may_fail(self, call: str) -> None:
        self.calls += call == self.call
        if call == self.call and self.calls == self.after + 1:
            self.failed = True
            raise OSError(self.error, "the disk failed")

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write, or fail."""
        self._may_fail("pwrite")
        return super().pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        """Do nothing, or fail."""
        self._may_fail("fsync")

    def fdatasync(self, fd: int) -> None:
        """Do nothing, or fail."""
        self._may_fail("fdatasync")

    def truncate(self, fd: int, size: int) -> None:
        """Truncate, or fail."""
        self._may_fail("truncate")
        super().truncate(fd, size)

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve a half and fail, or reserve."""
        if self.call == "reserve" and self.calls == self.after:
            super().reserve(fd, offset, size // 2 + 1)
        self._may_fail("reserve")
        super().reserve(fd, offset, size)

    def rename(self, source: Path, target: Path) -> None:
        """Rename, or fail."""
        self._may_fail("rename")
        super().rename(source, target)


_PIECE_BYTES = 16
"""What a power cut writes or does not write: small, for the frames of the tests are."""


class PowerCutError(BaseException):
    """The power went."""


class PowerDisk(SeenDisk):
    """A disk that forgets, when the power goes, some of what was not synced.

    Writes, cuts, reservations and renames are remembered until what they touch is synced; `crash`
    then takes each of the rest back, or leaves it, by a seeded coin. Of the first write that it
    takes back some pieces stay, as of a write whose pages reach the disk in any order.

    Args:
        attic: A folder on the same file system for what renames replace.
        calls: The power goes at the call after so many.
        seed: For the coin.
        lies: Names of calls that do not do what they say: the mutants that a test must catch.
    """

    def __init__(self, attic: Path, calls: int, seed: int, lies: tuple[str, ...] = ()) -> None:
        attic.mkdir(exist_ok=True)
        self._attic = attic
        self._left = calls
        self._coin = random.Random(seed)
        self._lies = lies
        self._writes: dict[int, tuple[int, list[tuple[int, bytes, int]]]] = {}
        self._renames: dict[int, list[tuple[Path, Path, Path | None]]] = {}

    def _tick(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise PowerCutError

    def _remember(self, fd: int, offset: int, size: int) -> None:
        inode = os.fstat(fd).st_ino
        if inode not in self._writes:
            path = os.readlink(f"/proc/self/fd/{fd}")
            self._writes[inode] = (os.open(path, os.O_RDWR), [])
        own, writes = self._writes[inode]
        writes.append((offset, os.pread(own, size, offset), os.fstat(own).st_size))

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write into the cache."""
        self._tick()
        self._remember(fd, offset, len(data))
        return super().pwrite(fd, data, offset)

    def truncate(self, fd: int, size: int) -> None:
        """Cut in the cache."""
        self._tick()
        self._remember(fd, size, os.fstat(fd).st_size - size)
        super().truncate(fd, size)

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve in the cache."""
        self._tick()
        self._remember(fd, os.fstat(fd).st_size, 0)
        super().reserve(fd, offset, size)

    def rename(self, source: Path, target: Path) -> None:
        """Rename in the cache."""
        self._tick()
        replaced = None
        if target.exists():
            replaced = self._attic / str(len(list(self._attic.iterdir())))
            os.link(target, replaced)
        super().rename(source, target)
        inode = target.parent.stat().st_ino
        self._renames.setdefault(inode, []).append((source, target, replaced))

    def fsync(self, fd: int) -> None:
        """Forget how to take back what was done to a file or in a directory."""
        self._tick()
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            if "directory" not in self._lies:
                self._renames.pop(found.st_ino, None)
        elif "fsync" not in self._lies:
            self._settle(found.st_ino)

    def fdatasync(self, fd: int) -> None:
        """Forget how to take back what was written."""
        self._tick()
        if "fdatasync" not in self._lies:
            self._settle(os.fstat(fd).st_ino)

    def _settle(self, inode: int) -> None:
        fd, _ = self._writes.pop(inode, (-1, []))
        if fd >= 0:
            os.close(fd)

    def crash(self) -> None:
        """Take back what was not synced, in part."""
        for renames in self._renames.values():
            keep = self._coin.randint(0, len(renames))
            for source, target, replaced in reversed(renames[keep:]):
                target.rename(source)
                if replaced is not None:
                    replaced.rename(target)
        for fd, writes in self._writes.values():
            keep = self._coin.randint(0, len(writes))
            for place in reversed(range(keep, len(writes))):
                offset, old, size = writes[place]
                # What a write put behind the former end goes with the size. Within it, in
                # reserved space above all, a piece that stays may follow one that does not.
                for at in range(0, len(old), _PIECE_BYTES):
                    if place > keep or self._coin.random() < 0.5:
                        os.pwrite(fd, old[at : at + _PIECE_BYTES], offset + at)
                os.ftruncate(fd, size)
            os.close(fd)


def drop_descriptors(place: Path) -> None:
    """Close what is open below a folder: who lost the power is gone, but this process is not."""
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if os.readlink(each).startswith(f"{place}/"):
                os.close(int(each.name))
