"""One confined root: the only way to a file below a folder that users and models can name.

Paths are walked component by component from a held directory, never following a symbolic link, so
that no swap between check and use can lead outside. Files are opened without blocking (a FIFO must
not hang the daemon) and must be regular and have one name: a hard link may be a file elsewhere.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kbd.errors import FileReadFailed, NotFound, SandboxViolation
from kbd.types import FileName

__all__ = ["ConfinedRoot"]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ConfinedRoot:
    """A folder that can be reached into, but not out of.

    Args:
        folder: The folder; it is held open, so replacing it by a link changes nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._root = os.open(folder, _DIRECTORY)

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._root)

    @contextmanager
    def parent(self, name: FileName, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """Hold the folder of a name open; yield its descriptor and the last component.

        Raises:
            NotFound: A folder on the way does not exist.
            SandboxViolation: A component on the way is a link or no folder.
        """
        *folders, last = name.split("/")
        held = os.dup(self._root)
        try:
            for folder in folders:
                inner = _step(held, folder, name, create=create)
                os.close(held)
                held = inner
            yield held, last
        finally:
            os.close(held)

    @contextmanager
    def open(self, name: FileName) -> Iterator[int]:
        """Hold a file open for reading; yield its descriptor.

        Raises:
            NotFound: It does not exist.
            SandboxViolation: It, or a component on the way, is a link, a device, a FIFO, or has
                another name elsewhere.
            FileReadFailed: It may not be read.
        """
        with self.parent(name) as (folder, last):
            try:
                held = os.open(last, _FILE, dir_fd=folder)
            except FileNotFoundError:
                raise _missing(name) from None
            except OSError as error:
                raise _refused(name, error) from None
        try:
            _check_regular(held, name)
            yield held
        finally:
            os.close(held)

    def names(self) -> list[str]:
        """Return the names of all regular files below the root, sorted; links are left out."""
        return sorted(_below(self._root, ""))


def _step(held: int, folder: str, name: FileName, *, create: bool) -> int:
    if create:
        try:
            os.mkdir(folder, 0o700, dir_fd=held)
            os.fsync(held)
        except FileExistsError:
            pass
    try:
        return os.open(folder, _DIRECTORY, dir_fd=held)
    except FileNotFoundError:
        raise _missing(name) from None
    except OSError as error:
        raise _refused(name, error) from None


def _check_regular(held: int, name: FileName) -> None:
    found = os.fstat(held)
    if not stat.S_ISREG(found.st_mode):
        msg = f"{name!r} is not a regular file"
        raise SandboxViolation(msg)
    if found.st_nlink > 1:
        msg = f"{name!r} is a hard link: the same file has another name elsewhere"
        raise SandboxViolation(msg)


def _below(folder: int, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False), entry) for entry in entries]
    for name, is_folder, entry in found:
        if is_folder:
            inner = os.open(name, _DIRECTORY, dir_fd=folder)
            try:
                yield from _below(inner, f"{prefix}{name}/")
            finally:
                os.close(inner)
        elif entry.is_file(follow_symlinks=False):
            yield prefix + name


def _missing(name: FileName) -> NotFound:
    return NotFound(f"there is no file {name!r}")


def _refused(name: FileName, error: OSError) -> SandboxViolation | FileReadFailed:
    """A link is ELOOP or ENOTDIR, a device without a driver ENXIO; the rest is permission."""
    if isinstance(error, PermissionError):
        return FileReadFailed(f"{name!r} may not be read")
    return SandboxViolation(f"{name!r} leads through a link or is not a regular file")
