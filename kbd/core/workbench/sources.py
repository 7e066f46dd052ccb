"""Sources: files of a client's own that are copied in, named by their absolute path.

Links above the file are followed, for a person may have one there (`~/Documents`); the file itself
must be no link. It is opened once, and what is open is what is checked and copied: no swap between
the two leads to another file. Blocking.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from kbd.core.runtime.held_folder import hold_named, open_below
from kbd.errors import FileReadFailed, NotFound, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.shortages import raise_shortage
from kbd.types import BlobHash

__all__ = ["CopiedSource", "copy_source", "open_source"]

_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK
"""O_NONBLOCK: a pipe that took a file's place must not be waited for (reliability, A20)."""

_SYSTEM_FOLDERS = ("/proc", "/sys")
"""What the kernel shows there as files are none: a daemon's environment, its memory."""


class CopiedSource(msgspec.Struct, frozen=True):
    """A source that was copied.

    Args:
        blob: The hash of the copy, which is durable.
        size_bytes: Its size.
        modified_at_us: When the file was last changed.
    """

    blob: BlobHash
    size_bytes: int
    modified_at_us: int


def copy_source(store: BlobStore, path: str, limit_bytes: int) -> CopiedSource:
    """Copy a source into a store.

    Raises:
        KbdError: As for `open_source`.
        DiskFull: There is no room for the copy.
        LogPoisoned: The disk does not make it durable.
    """
    with open_source(path, limit_bytes) as held:
        modified_at_us = os.fstat(held).st_mtime_ns // 1000
        # One byte more than may be: a file that grows meanwhile is noticed, and not filled up with.
        blob, size_bytes = store.put_open(held, Path(path).name, limit_bytes + 1)
    if size_bytes > limit_bytes:
        raise _too_large(limit_bytes)
    return CopiedSource(blob, size_bytes, modified_at_us)


@contextmanager
def open_source(path: str, limit_bytes: int) -> Iterator[int]:
    """Hold a source open for reading; yield its descriptor.

    Args:
        path: As a client gave it.
        limit_bytes: The largest file that is opened.

    Raises:
        ValidationFailed: It is no absolute path, a link, a folder or another thing than a regular
            file, or too large.
        NotFound: It is not there.
        FileReadFailed: It cannot be read.
    """
    source = Path(path)
    if "\0" in path:
        raise ValidationFailed("the path holds what no path can")
    if not source.is_absolute():
        raise ValidationFailed("the path is not absolute")
    # Not by `Path`, which takes a `..` for no name, and for which "/" has none.
    if source.name in ("", ".."):
        raise ValidationFailed("directory")
    try:
        with hold_named(str(source.parent)) as folder:
            found = os.stat(source.name, dir_fd=folder, follow_symlinks=False)
            # Looked at before it is opened: opening a device may do something.
            _check(found, limit_bytes)
            held = open_below(folder, source.name, _FILE_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("there is no such file") from None
    except ValueError:
        raise ValidationFailed("the path holds what no path can") from None
    except OSError as error:
        raise_shortage(error)
        reason = os.strerror(error.errno or 0)
        raise FileReadFailed(f"it cannot be read: {reason}") from None
    try:
        # Asked of what is open: another one may have taken the name in between.
        _check(os.fstat(held), limit_bytes)
        yield held
    finally:
        os.close(held)


def _check(found: os.stat_result, limit_bytes: int) -> None:
    """Raise for what is no file that can be taken, by the word that clients know."""
    # Links are refused wherever they lead (reliability, A15 to A17).
    if stat.S_ISLNK(found.st_mode):
        raise ValidationFailed("symlink")
    if stat.S_ISDIR(found.st_mode):
        raise ValidationFailed("directory")
    if not stat.S_ISREG(found.st_mode) or found.st_dev in _system_disks():
        raise ValidationFailed("not a regular file")
    # Before a byte is read: a file of holes may have terabytes (reliability, A42).
    if found.st_size > limit_bytes:
        raise _too_large(limit_bytes)


def _system_disks() -> frozenset[int]:
    return frozenset(os.stat(folder).st_dev for folder in _SYSTEM_FOLDERS if Path(folder).is_dir())


def _too_large(limit_bytes: int) -> ValidationFailed:
    return ValidationFailed(f"larger than {limit_bytes} bytes")
