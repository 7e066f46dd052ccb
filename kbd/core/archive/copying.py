"""Copying a file at a time, and what must be known of one."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kbd.errors import SandboxViolation
from kbd.events.blobs import BlobStore, BlobVerification
from kbd.events.disk import Disk
from kbd.events.verification import Verification, verify
from kbd.types import BlobHash

__all__ = [
    "check_name",
    "copy_file",
    "examined",
    "hash_of",
    "is_unreadable",
    "names_below",
    "private_folder",
]


class _Learning(BlobStore):
    """Blobs that are only asked for: who verifies a log asks for those that it names."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.named: tuple[BlobHash, ...] = ()

    def verify(self, named: Iterable[BlobHash] | None = None) -> BlobVerification:
        """Remember what was asked for."""
        self.named = tuple(named or ())
        return BlobVerification(0, (), ())


def examined(
    log_dir: Path, on_progress: Callable[[int], object] = lambda _: None
) -> tuple[Verification, tuple[BlobHash, ...]]:
    """Verify a log and return the blobs that it names, in order: it is read once for both.

    Args:
        log_dir: The log's.
        on_progress: Called now and then with the last event that was read.

    Raises:
        OSError: It cannot be read.
    """
    learning = _Learning()
    return verify(log_dir, learning, on_progress), learning.named


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def private_folder(folder: Path) -> None:
    """Make a folder with its parents, each 0700; it is not synced yet."""
    for place in reversed((folder, *folder.parents)):
        if not place.exists():
            place.mkdir(mode=0o700)


def copy_file(source: int, target: Path, disk: Disk, mode: int = 0o600) -> int:
    """Copy an open file to a new one and return its size; it is not synced yet.

    Raises:
        OSError: It cannot be read, or not be written.
    """
    given = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        size = disk.copy(source, given, 0, os.fstat(source).st_size)
        os.fchmod(given, mode)
    finally:
        os.close(given)
    return size


def check_name(name: str) -> None:
    """See that a name can be written down.

    Raises:
        SandboxViolation: It cannot.
    """
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SandboxViolation("its name is no text") from None


def is_unreadable(path: Path) -> bool:
    """Tell whether it is the reading of a file that fails."""
    try:
        hash_of(path)
    except OSError:
        return True
    return False


def names_below(folder: Path, tell: Callable[[str], None]) -> Iterator[str]:
    """Yield the paths of all that is no folder, sorted; links to folders are not followed.

    Args:
        folder: Below which.
        tell: Told of each folder that cannot be read.
    """

    def unreadable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            within = os.path.relpath(str(error.filename), folder.parent)
            tell(f"{within}/ is left out: {error.strerror}")

    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(root, name))]
        for name in sorted((*names, *links)):
            yield os.path.relpath(os.path.join(root, name), folder)
