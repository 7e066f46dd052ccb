"""Atomic creation of files and folders: each appears whole under its name, or not at all.

A file gets a name that nobody had. It is written beside its place under a hidden name, the partial,
and gets its own name when it is durable. A partial is locked by whoever writes it: one that nobody
has locked is what a crash left, and the next file that is written into the folder removes it.

A folder is made under a hidden name beside its own. What a crash leaves has the hidden name; the
next one that is made for the same name removes it.
"""

import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from kbd.errors import DiskFull, FileWriteFailed, KbdError, ValidationFailed
from kbd.events.disk import Disk, is_full

__all__ = [
    "NewFolder",
    "PartialFile",
    "check_target",
    "create_partial",
    "resolve_new_folder",
    "write_whole",
]

_PREFIX, _SUFFIX = ".kbd-case-", ".part"
_NO_LINK_ERRORS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
"""What file systems without second names (FAT, some network disks) answer."""


def check_target(text: str, home: Path) -> Path:
    """Return where a file is to be written. Blocking.

    Args:
        text: What was asked for.
        home: The home of kbd: what lies there is nobody else's.

    Raises:
        ValidationFailed: The path is not absolute, something has the name, there is no folder to
            write to, or it is kbd's own.
    """
    target = Path(text)
    if "\0" in text or not target.is_absolute() or not target.name or target.name == "..":
        msg = "target must be the absolute path of a file"
        raise ValidationFailed(msg)
    try:
        if os.path.lexists(target):
            msg = f"{text} exists; nothing is overwritten"
            raise ValidationFailed(msg)
        if not target.parent.is_dir():
            msg = f"there is no folder {target.parent}"
            raise ValidationFailed(msg)
        if Path(os.path.realpath(target.parent)).is_relative_to(os.path.realpath(home)):
            msg = "nothing of yours can go into the home of kbd: name another folder"
            raise ValidationFailed(msg)
    except OSError as error:
        msg = f"{text} cannot be written: {error.strerror}"
        raise ValidationFailed(msg) from None
    return target


class PartialFile:
    """Partial file, written beside its place.

    Args:
        path: Where it lies until it is placed.
        target: Its place.
        file: Open for writing.
    """

    def __init__(self, path: Path, target: Path, file: BinaryIO) -> None:
        self.file = file
        self._path, self._target = path, target

    def place(self) -> None:
        """Give the file its name, durably; it was synced.

        Raises:
            ValidationFailed: Something has the name by now.
            OSError: It cannot be done; the name is as free as it was.
        """
        try:
            # link(2) fails where something has the name; rename(2) would replace it.
            os.link(self._path, self._target)
        except FileExistsError:
            raise self._taken() from None
        except OSError as error:
            if error.errno not in _NO_LINK_ERRORS:
                raise
            self._rename()
        else:
            self._path.unlink()
        # A name is durable only when its folder is.
        _sync(self._target.parent)

    def _rename(self) -> None:
        """Place a file without links: reserve the name with an empty file, then rename over it."""
        try:
            self._target.open("xb").close()
        except FileExistsError:
            raise self._taken() from None
        try:
            self._path.rename(self._target)
        except OSError:
            self._target.unlink()
            raise

    def _taken(self) -> ValidationFailed:
        return ValidationFailed(f"{self._target} exists by now; nothing is overwritten")


@contextmanager
def create_partial(target: Path) -> Iterator[PartialFile]:
    """Create a partial file beside its place. What is not placed is removed. Blocking.

    Raises:
        DiskFull: No space is left.
        FileWriteFailed: The folder cannot be written.
    """
    path, file = None, None
    try:
        _sweep(target.parent)
        path, file = _create_and_lock(target.parent)
        yield PartialFile(path, target, file)
    except KbdError:
        raise
    except OSError as error:
        if is_full(error):
            msg = f"no space is left to write {target}; nothing of it is there"
            raise DiskFull(msg) from None
        msg = f"{target} cannot be written: {os.strerror(error.errno or 0)}"
        raise FileWriteFailed(msg) from None
    finally:
        if file is not None and path is not None:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # What it could not write was told already.
                file.close()


def write_whole(target: Path, data: bytes, before_naming: Callable[[], None]) -> None:
    """Write a new file; it is durable, and complete when it has its name. Blocking.

    Args:
        target: Where to; nothing has the name, and the folder is there.
        data: Its bytes.
        before_naming: Called when it is written and before it has its name: a watch must not see
            the file before kbd said that it is its own.

    Raises:
        DiskFull: No space is left; nothing of it is there.
        FileWriteFailed: It cannot be written there; the same.
        ValidationFailed: Something has the name by now.
    """
    with create_partial(target) as made:
        made.file.write(data)
        made.file.flush()
        os.fsync(made.file.fileno())
        before_naming()
        made.place()


def _create_and_lock(folder: Path) -> tuple[Path, BinaryIO]:
    """Create a partial and lock it."""
    while True:
        path = folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        file = os.fdopen(fd, "wb")
        try:
            # Tells the sweep of another process that somebody writes this one, while that lives.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # Somebody looks at it just now, or no locks are known here.
        if os.path.lexists(path):
            return path, file
        file.close()  # Somebody took it for one that was left, before it was locked.


def _sweep(folder: Path) -> None:
    """Remove the partials that crashes left in a folder: those that nobody has locked."""
    with os.scandir(folder) as entries:
        left = [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)
        ]
    for path in left:
        with suppress(OSError):  # It is being written, or is somebody else's.
            fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(fd)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def resolve_new_folder(target: Path, what: str) -> Path:
    """Return where a new folder goes, without links in the path of its parent. Blocking.

    Args:
        target: Where it was asked for.
        what: What is to be there, for messages: "the backup".

    Raises:
        ValidationFailed: Something is there already, or no folder can be there.
    """
    absolute = target.is_absolute() and target.name not in ("", ".", "..")
    if not absolute or "\0" in str(target):
        raise ValidationFailed(f"where {what} goes must be the absolute path of a new folder")
    try:
        if not target.parent.is_dir():
            raise ValidationFailed(f"there is no folder {target.parent} to make {what} in")
        place = target.parent.resolve() / target.name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise ValidationFailed(f"{target} exists; nothing is overwritten")
        # rename(2) cannot put a folder over a mount point.
        if place.is_dir() and os.path.ismount(place):
            raise ValidationFailed(f"{target} is a disk: name a new folder on it")
        if place.is_dir() and any(place.iterdir()):
            raise ValidationFailed(f"{target} is not empty; nothing is overwritten")
    except OSError as error:
        raise ValidationFailed(f"{target} cannot be written: {error.strerror}") from None
    return place


class NewFolder:
    """Folder in the making. The lock on it is the system's, so it ends with the process.

    Args:
        target: What it will be called; nothing is there, or an empty folder.
        disk: What writes.

    Attributes:
        folder: Where it is made.

    Raises:
        ValidationFailed: Somebody else is making it.
        OSError: It cannot be made.
    """

    def __init__(self, target: Path, disk: Disk) -> None:
        # Beside its place, for rename(2) does not reach across file systems.
        self.folder = target.with_name(f".{target.name}.kbd-partial")
        self._target, self._disk, self._has_landed = target, disk, False
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._claim()
        except BaseException:
            os.close(self._fd)
            raise

    def _claim(self) -> None:
        """Lock the folder, and empty it."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have moved or removed it between our look and our lock.
            is_ours = os.path.samestat(os.fstat(self._fd), self.folder.lstat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise ValidationFailed(f"something is being written to {self._target} already")
        for entry in tuple(self.folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def land(self) -> None:
        """Make all of it durable, then give it its name.

        Raises:
            SyncError: It is not known to be durable.
            OSError: The name was taken meanwhile.
        """
        # Contents before the name: what has its name after a crash is whole.
        for root, _, names in os.walk(self.folder, topdown=False):
            for name in names:
                self._sync(Path(root, name))
            self._disk.sync_directory(Path(root))
        # rename(2) replaces an empty folder, and fails where something came into it meanwhile.
        self._disk.rename(self.folder, self._target)
        self._has_landed = True
        self._disk.sync_directory(self._target.parent)

    def remove(self) -> None:
        """Remove what was made, unless it has its name; let go of the rest."""
        # When it has landed, what has the hidden name is somebody else's next one.
        if not self._has_landed:
            shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._fd)

    def _sync(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            self._disk.sync(fd)
        finally:
            os.close(fd)
