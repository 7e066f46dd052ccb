"""Checked blobs: where they lie, how they are opened, and which are what their names say.

Blocking; everything may be called from any thread.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from kbd.errors import FileReadFailed
from kbd.events.shortages import raise_shortage
from kbd.types import BlobHash

__all__ = [
    "BlobDamaged",
    "CheckedBlobs",
    "blob_paths",
    "blob_places",
    "check_presence",
    "name_read_failures",
    "open_blob",
]

_BLOB_PATH = re.compile(r"/(?:blobs/[0-9a-f]{64}|([0-9a-f]{2})/\1[0-9a-f]{62})\Z")

_MAX_CHECKED = 10_000
"""How many blobs a store remembers as checked; a hundred bytes each."""

_Stamp = tuple[int, int, int, int]
"""What the file system says of a file, and what no write leaves as it is: inode, size, times."""


class BlobDamaged(FileReadFailed):
    """A blob's bytes are not what its name says, or cannot be read, so they are not handed out."""

    def __init__(self, blob: BlobHash, reason: str = "they are not what was recorded") -> None:
        super().__init__(
            f"the stored bytes {blob[:12]}… are damaged: {reason}",
            actions=("run kbd verify to see what else is, and bring it back from a backup",),
            detail={"blob": blob},
        )


class CheckedBlobs:
    """Memory of the blobs that were found to be what their names say.

    A blob is read again when the file system says that somebody has touched it. May be used by any
    thread.
    """

    def __init__(self) -> None:
        self._stamps: dict[BlobHash, _Stamp] = {}

    def check_open(self, blob: BlobHash, file: BufferedReader) -> None:
        """Check an open blob, from its beginning.

        Raises:
            BlobDamaged: It is not what its name says.
        """
        # Taken before it is read: a write meanwhile gives it another stamp than this one.
        stamp = _stamp(os.fstat(file.fileno()))
        if self._stamps.get(blob) == stamp:
            return
        self._stamps.pop(blob, None)
        with name_read_failures(blob):
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != blob:
            raise BlobDamaged(blob)
        if len(self._stamps) >= _MAX_CHECKED:
            self._stamps.clear()
        self._stamps[blob] = stamp

    def check_paths(self, paths: Iterable[str]) -> None:
        """Check the blobs among some paths; one that is not there is for whoever opens it to say.

        Raises:
            BlobDamaged: One is not what its name says.
        """
        for path in paths:
            blob = BlobHash(path.rpartition("/")[2])
            with suppress(FileNotFoundError), open_blob(path, blob) as file:
                self.check_open(blob, file)


def check_presence(paths: Iterable[str]) -> None:
    """Check that something is at each path of a blob, whatever it is.

    Raises:
        BlobDamaged: Nothing is there.
    """
    for path in paths:
        if not os.path.lexists(path):
            raise BlobDamaged(BlobHash(path.rpartition("/")[2]), "nothing is in their place")


def blob_paths(paths: Iterable[str]) -> list[str]:
    """Return those paths at which a store keeps a blob, by how they are written.

    Of a blob that lies in no folder of its first digits the store has to be named `blobs`.
    """
    return [path for path in paths if _BLOB_PATH.search(path)]


def blob_places(directory: Path, blob: BlobHash) -> tuple[Path, Path]:
    """Return the two paths at which a store may keep a blob: a store of today's, an older one."""
    return directory / blob, directory / blob[:2] / blob


def open_blob(path: str | Path, blob: BlobHash) -> BufferedReader:
    """Open a blob for reading; neither a link nor a pipe in its place can lead elsewhere or block.

    Raises:
        FileNotFoundError: It is not there.
        BlobDamaged: It cannot be opened, or is no regular file.
        FileReadFailed: It cannot be opened just now.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _read_failure(blob, error) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise BlobDamaged(blob, "something else is in their place")
    return open(fd, "rb")


@contextmanager
def name_read_failures(blob: BlobHash) -> Iterator[None]:
    """Give the failures of reading a blob their names.

    Raises:
        BlobDamaged: The disk does not give its bytes.
        KbdError: The machine lacks what that takes.
    """
    try:
        yield
    except OSError as error:
        raise _read_failure(blob, error) from error


def _read_failure(blob: BlobHash, error: OSError) -> FileReadFailed:
    # That says something of this process or machine, and nothing of the file.
    raise_shortage(error)
    reason = os.strerror(error.errno or 0)
    if error.errno == errno.ELOOP:  # open(2): a link under O_NOFOLLOW.
        return BlobDamaged(blob, "something else is in their place")
    return BlobDamaged(blob, f"they cannot be read: {reason}")


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
