"""Copying a file at a time, and what must be known of one."""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from kbd.errors import SandboxViolation
from kbd.events.base import Recorded
from kbd.events.disk import Disk
from kbd.events.named import named_blobs
from kbd.events.reading import read_log
from kbd.types import BlobHash, Seq

__all__ = [
    "check_name",
    "copy_file",
    "hash_of",
    "is_unreadable",
    "names_below",
    "names_in",
    "private_folder",
]


def names_in(log_dir: Path) -> dict[BlobHash, Seq]:
    """Return the blobs that a log names, each with the first event that does.

    Raises:
        LogCorrupt: A record cannot be read.
    """
    named: dict[BlobHash, Seq] = {}

    def note(seq: Seq, record: Recorded) -> None:
        for blob in named_blobs(record.data):
            named.setdefault(blob, seq)

    found = read_log(log_dir, note)
    if found.fault is not None:
        raise found.fault
    return named


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
