"""Disk calls that may fail in ways that lose data, and what each failure means.

Everything in `kbd.events` that writes goes through a `Disk`, so that a test can pass one that
writes short, is full, or fails to sync. Three answers are kept apart:

* No space (ENOSPC, EDQUOT, EFBIG) before anything was promised is `DiskFull`: undo and go on.
* A failed fsync is `SyncError`: Linux forgets the unwritten pages and reports success the next
  time, so it is never tried again; whoever catches it stops writing for good (`LogPoisoned`).
* Any other error is passed on.

Reserving space (`reserve`) is the exception: what it fails with says nothing about the data.
"""

import ctypes
import errno
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from kbd.errors import DiskFull, FileWriteFailed

__all__ = [
    "DISK", "SCRATCH_DISK", "CountingDisk", "Disk", "LogPoisoned", "SyncError", "is_full",
]  # fmt: skip

# EFBIG is the answer past RLIMIT_FSIZE, and past the largest file of a file system.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_NOT_IN_KERNEL = frozenset(
    {errno.ENOTSUP, errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EPERM, errno.EBADF}
)
"""How the kernel says that it does not copy between two files (copy_file_range(2))."""

_COPIED_BYTES = 1024 * 1024

_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
"""Flags of renameat2(2)."""

_NO_FLAGS = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})
"""How the kernel, or a file system, says that it does not know these flags."""


class LogPoisoned(FileWriteFailed):
    """The disk failed to make data durable; nothing more is acknowledged by this process.

    The daemon exits; the next one reads from the disk what is really there.
    """


class SyncError(OSError):
    """An fsync or fdatasync failed; what it covered may be lost although it still reads well."""


def is_full(error: OSError) -> bool:
    """Return whether an error says that the file may not grow."""
    # A sync that fails with ENOSPC is a failed sync: what it covered is lost all the same
    # (facts/performance.md F).
    return error.errno in _FULL and not isinstance(error, SyncError)


class Disk:
    """The operating system's calls, unchanged. Subclass it in tests to make them fail."""

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write at an offset; may write less than asked."""
        return os.pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        """Make a file, its size and its attributes durable."""
        os.fsync(fd)

    def fdatasync(self, fd: int) -> None:
        """Make a file's bytes and its size durable."""
        os.fdatasync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """Cut a file."""
        os.ftruncate(fd, size)

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Make a file reach to `offset + size`, on space that is its own; what is new is zeros.

        Raises:
            OSError: It cannot be done here, or not now; a part of it may have been.
        """
        if sys.platform == "darwin":
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        os.posix_fallocate(fd, offset, size)

    def copy_range(self, source: int, fd: int, offset: int, size: int) -> int:
        """Copy bytes to the same offset within the kernel, sharing them if the file system can.

        Returns:
            How many were copied; 0 at the end of the source.

        Raises:
            OSError: It cannot be done between these files, or failed.
        """
        if sys.platform != "linux":
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        return os.copy_file_range(source, fd, size, offset, offset)

    def rename(self, source: Path, target: Path) -> None:
        """Move a file over another within one file system."""
        source.rename(target)

    def create(self, name: str, folder: int, mode: int = 0o600) -> int:
        """Create a file that is not there yet, for writing; return its descriptor.

        Args:
            name: Its name in the folder.
            folder: A descriptor of the folder.
            mode: Its mode, less the process's mask.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, mode, dir_fd=folder)

    def move(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move a file over another: each is a folder's descriptor and a name in it."""
        os.rename(source[1], target[1], src_dir_fd=source[0], dst_dir_fd=target[0])

    def move_new(self, source: tuple[int, str], target: tuple[int, str]) -> None:
        """Move a file to a name that is free.

        Raises:
            FileExistsError: It is not free; nothing was moved.
        """
        try:
            _rename_with(source, target, _RENAME_NOREPLACE)
        except OSError as error:
            if error.errno not in _NO_FLAGS:
                raise
            # A link fails where a rename would overwrite; where there are no links either (FAT),
            # the gap between look and rename is all that is left.
            try:
                os.link(source[1], target[1], src_dir_fd=source[0], dst_dir_fd=target[0])
            except FileExistsError:
                raise
            except OSError:
                if _exists(target):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
                self.move(source, target)
            else:
                os.unlink(source[1], dir_fd=source[0])

    def exchange(self, one: tuple[int, str], other: tuple[int, str]) -> bool:
        """Let two files change places at once; False where the file system cannot."""
        try:
            _rename_with(one, other, _RENAME_EXCHANGE)
        except OSError as error:
            if error.errno not in _NO_FLAGS:
                raise
            return False
        return True

    def make_folder(self, name: str, folder: int) -> None:
        """Make a private folder, if it is not there, and make its name durable.

        Raises:
            SyncError: It is not known to be durable.
        """
        try:
            os.mkdir(name, 0o700, dir_fd=folder)
        except FileExistsError:
            return
        self.sync(folder)

    def unlink(self, name: str, folder: int, *, is_folder: bool = False) -> None:
        """Take a name out of a folder: that of a file, or of an empty folder."""
        if is_folder:
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)

    def write_all(self, fd: int, data: bytes, offset: int) -> None:
        """Write all of `data` at an offset, however often the kernel takes less."""
        written = self.pwrite(fd, data, offset)
        # A short write is no error: the reason comes with the next call.
        while written < len(data):
            written += self.pwrite(fd, memoryview(data)[written:], offset + written)

    def copy(self, source: int, fd: int, offset: int, end: int) -> int:
        """Copy what is between two offsets to the same place, in the quickest way there is.

        Returns:
            How many bytes were copied: fewer than asked for if the source ends before.
        """
        at, in_kernel = offset, True
        while at < end:
            count = 0
            if in_kernel:
                try:
                    count = self.copy_range(source, fd, at, end - at)
                except OSError as error:
                    if error.errno not in _NOT_IN_KERNEL:
                        raise
                # Some file systems say 0 where they mean that they cannot.
                in_kernel = count > 0
            if not in_kernel:
                data = os.pread(source, min(_COPIED_BYTES, end - at), at)
                self.write_all(fd, data, at)
                count = len(data)
            if not count:
                break
            at += count
        return at - offset

    def sync(self, fd: int) -> None:
        """Make a file durable with its attributes.

        Raises:
            SyncError: It is not.
        """
        try:
            self.fsync(fd)
        except OSError as error:
            raise SyncError(error.errno, "fsync failed") from error

    def sync_data(self, fd: int) -> None:
        """Make a file's bytes durable.

        Raises:
            SyncError: They are not.
        """
        try:
            self.fdatasync(fd)
        except OSError as error:
            raise SyncError(error.errno, "fdatasync failed") from error

    def sync_directory(self, directory: Path) -> None:
        """Make the names in a directory durable.

        Raises:
            SyncError: They are not.
        """
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.sync(fd)
        finally:
            os.close(fd)

    def make_directory(self, directory: Path) -> None:
        """Make a private directory with its parents and make their names durable."""
        missing = [place for place in (directory, *directory.parents) if not place.exists()]
        # From the top: a folder's name is durable only with the folder that holds it.
        for place in reversed(missing):
            place.mkdir(mode=0o700, exist_ok=True)
            self.sync_directory(place.parent)

    def write_file(self, path: Path, parts: Iterable[bytes], mode: int = 0o600) -> None:
        """Write a whole file so that after any crash its name has all of it or what it had before.

        Raises:
            DiskFull: There is no space; nothing is left behind.
            SyncError: It is not known to be durable.
            OSError: Anything else; nothing is left behind.
        """
        # Beside it, for a rename is atomic only within one file system.
        staged = path.with_name(path.name + ".tmp")
        fd = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            try:
                offset = 0
                for part in parts:
                    self.write_all(fd, part, offset)
                    offset += len(part)
                # Bytes and mode before the name: a crash must not leave the name without them.
                os.fchmod(fd, mode)
                self.sync(fd)
            finally:
                os.close(fd)
            self.rename(staged, path)
        except OSError as error:
            staged.unlink(missing_ok=True)
            if is_full(error):
                raise DiskFull("no space is left on the device") from error
            raise
        # A rename is durable only with its directory.
        self.sync_directory(path.parent)


def _rename_with(source: tuple[int, str], target: tuple[int, str], flags: int) -> None:
    """Rename with flags of Linux; ENOSYS elsewhere."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux" or not hasattr(libc, "renameat2"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    paths = os.fsencode(source[1]), os.fsencode(target[1])
    if libc.renameat2(source[0], paths[0], target[0], paths[1], flags) != 0:
        code = ctypes.get_errno()
        # The constructor makes it FileExistsError where that is what it means.
        raise OSError(code, os.strerror(code))


def _exists(place: tuple[int, str]) -> bool:
    try:
        os.stat(place[1], dir_fd=place[0], follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


_LEFT_SHARE = 100
"""Copies that are soon removed leave one of so many parts of a disk to files that stay."""


class _ScratchDisk(Disk):
    """Disk for files that whoever writes them removes again: a crash may lose them."""

    def write_all(self, fd: int, data: bytes, offset: int) -> None:
        """Write everything; refused like on a full disk where little is left for others."""
        space = os.fstatvfs(fd)
        if space.f_bavail < space.f_blocks // _LEFT_SHARE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().write_all(fd, data, offset)

    def fsync(self, fd: int) -> None:
        """Leave it to the system when a file is durable."""

    def fdatasync(self, fd: int) -> None:
        """Leave it to the system when a file's bytes are durable."""


class CountingDisk(Disk):
    """Disk that counts the bytes that are written to it, by whatever threads.

    What is written twice, or removed later, counts each time.

    Attributes:
        written_bytes: So many since it was made.
    """

    def __init__(self) -> None:
        self.written_bytes = 0
        self._lock = threading.Lock()

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write at an offset, and count what was taken."""
        return self._count(super().pwrite(fd, data, offset))

    def copy_range(self, source: int, fd: int, offset: int, size: int) -> int:
        """Copy within the kernel, and count what was copied, though it may be shared."""
        return self._count(super().copy_range(source, fd, offset, size))

    def _count(self, size: int) -> int:
        with self._lock:
            self.written_bytes += size
        return size


DISK = Disk()
"""The real disk. It has no state."""

SCRATCH_DISK = _ScratchDisk()
"""The same without a sync, for copies that are read once and removed. It has no state."""
