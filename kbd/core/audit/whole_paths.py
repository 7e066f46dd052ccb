"""Atomic creation of files and folders: each appears whole under its name, or not at all.

A file gets a name that nobody had. It is written beside its place under a hidden name, the partial,
and gets its own name when it is durable. A partial is locked by whoever writes it: one that nobody
has locked is what a crash left, and the next file that is written into the folder removes it.

A folder is made under a hidden name beside its own. What a crash leaves has the hidden name; the
next one that is made for the same name removes it.

Both are made below a held folder, through no link (`kbd.core.workbench.destination`).
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

from kbd.core.runtime.held_folder import (
    FOLDER_FLAGS,
    hold_exact,
    hold_named,
    lies_within,
    open_below,
    real_path,
)
from kbd.core.workbench.destination import (
    check_path_text,
    create_partial_file,
    describe_error,
    is_folder_path,
    link_partial,
)
from kbd.errors import DiskFull, FileWriteFailed, KbdError, ValidationFailed
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.shortages import raise_shortage

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
    """Return where a file is to be written, without links in the path of its folder. Blocking.

    Args:
        text: What was asked for.
        home: The home of kbd: what lies there is nobody else's.

    Raises:
        ValidationFailed: The path is not absolute, something has the name, there is no folder to
            write to, or it is kbd's own.
    """
    target = Path(text)
    if not is_folder_path(text) or not target.name or target.name == "..":
        msg = "target must be the absolute path of a file"
        raise ValidationFailed(msg)
    with _held_parent(target, "target", home) as parent:
        if _lexists(target.name, parent):
            msg = "target exists; nothing is overwritten"
            raise ValidationFailed(msg)
        folder = real_path(parent, str(target.parent))
    return Path(check_path_text(folder, "target"), target.name)


@contextmanager
def _held_parent(target: Path, what: str, home: Path | None) -> Iterator[int]:
    """Hold the folder that something new goes into; a person named it, so links are followed.

    Raises:
        ValidationFailed: It is not there, or kbd's own.
    """
    try:
        with hold_named(str(target.parent)) as parent:
            if home is not None and lies_within(parent, home):
                msg = "nothing of yours can go into the home of kbd: name another folder"
                raise ValidationFailed(msg)
            yield parent
    except (FileNotFoundError, NotADirectoryError):
        msg = f"there is no folder for {what}: make it first"
        raise ValidationFailed(msg) from None
    except OSError as error:
        raise_shortage(error)
        msg = f"{what} cannot be written: {describe_error(error)}"
        raise ValidationFailed(msg) from None


def _lexists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


class PartialFile:
    """Partial file, written beside its place.

    Args:
        folder: A descriptor of its folder.
        partial: What it is called until it is placed.
        name: Its name.
        file: Open for writing.
    """

    def __init__(self, folder: int, partial: str, name: str, file: BinaryIO) -> None:
        self.file = file
        self._folder, self._partial, self._name = folder, partial, name

    def place(self) -> None:
        """Give the file its name, durably; it was synced.

        Raises:
            ValidationFailed: Something has the name by now.
            OSError: It cannot be done; the name is as free as it was.
        """
        try:
            try:
                link_partial(self._folder, self._partial, self.file.fileno(), self._name)
            except OSError as error:
                if error.errno not in _NO_LINK_ERRORS:
                    raise
                DISK.move_new((self._folder, self._partial), (self._folder, self._name))
            else:
                os.unlink(self._partial, dir_fd=self._folder)
        except FileExistsError:
            msg = "target exists by now; nothing is overwritten"
            raise ValidationFailed(msg) from None
        # A name is durable only when its folder is.
        os.fsync(self._folder)


@contextmanager
def create_partial(target: Path) -> Iterator[PartialFile]:
    """Create a partial file beside its place. What is not placed is removed. Blocking.

    Args:
        target: Its place, as `check_target` returned it: no link in the path is followed.

    Raises:
        DiskFull: No space is left.
        FileWriteFailed: The folder cannot be written.
    """
    try:
        with hold_exact(str(target.parent), FOLDER_FLAGS) as folder:
            _sweep(folder)
            partial, file = _create_and_lock(folder)
            try:
                yield PartialFile(folder, partial, target.name, file)
            finally:
                with suppress(OSError):
                    os.unlink(partial, dir_fd=folder)
                with suppress(OSError):  # What it could not write was told already.
                    file.close()
    except KbdError:
        raise
    except OSError as error:
        if is_full(error):
            msg = f"no space is left to write {target.name}; nothing of it is there"
            raise DiskFull(msg) from None
        raise_shortage(error)
        msg = f"{target.name} cannot be written: {describe_error(error)}"
        raise FileWriteFailed(msg) from None


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


def _create_and_lock(folder: int) -> tuple[str, BinaryIO]:
    """Create a partial and lock it."""
    while True:
        name = f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
        fd = create_partial_file(folder, name, 0o600)
        file = os.fdopen(fd, "wb")
        try:
            # Tells the sweep of another process that somebody writes this one, while that lives.
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pass  # Somebody looks at it just now, or no locks are known here.
        if _lexists(name, folder):
            return name, file
        file.close()  # Somebody took it for one that was left, before it was locked.


def _sweep(folder: int) -> None:
    """Remove the partials that crashes left in a folder: those that nobody has locked."""
    with os.scandir(folder) as entries:
        left = [
            entry.name
            for entry in entries
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX)
        ]
    for name in left:
        with suppress(OSError):  # It is being written, or is somebody else's.
            fd = open_below(folder, name, os.O_RDWR | os.O_NONBLOCK)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name, dir_fd=folder)
            finally:
                os.close(fd)


def resolve_new_folder(target: Path, what: str, home: Path | None = None) -> Path:
    """Return where a new folder goes, without links in the path of its parent. Blocking.

    Args:
        target: Where it was asked for.
        what: What is to be there, for messages: "the backup".
        home: The home of kbd, in which it cannot be; None where it is to be a home.

    Raises:
        ValidationFailed: Something is there already, or no folder can be there.
    """
    if not is_folder_path(str(target)) or target.name in ("", ".", ".."):
        raise ValidationFailed(f"where {what} goes must be the absolute path of a new folder")
    with _held_parent(target, what, home) as parent:
        _check_free(parent, target.name, what)
        folder = real_path(parent, str(target.parent))
    return Path(check_path_text(folder, what), target.name)


def _check_free(parent: int, name: str, what: str) -> None:
    try:
        held = open_below(parent, name, FOLDER_FLAGS)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        held = -1
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        held = -1
    if held < 0:
        raise ValidationFailed(f"something is where {what} is to go; nothing is overwritten")
    try:
        # rename(2) cannot put a folder over a mount point.
        if os.fstat(held).st_dev != os.fstat(parent).st_dev:
            raise ValidationFailed(f"where {what} is to go is a disk: name a new folder on it")
        with os.scandir(held) as entries:
            if any(entries):
                msg = f"the folder for {what} is not empty; nothing is overwritten"
                raise ValidationFailed(msg)
    finally:
        os.close(held)


class NewFolder:
    """Folder in the making. The lock on it is the system's, so it ends with the process.

    Args:
        target: What it will be called, as `resolve_new_folder` returned it; nothing is there, or an
            empty folder.
        disk: What writes.

    Attributes:
        folder: Where it is made: a path that leads to the held folder, whatever is done to its
            name, or to those of the folders above it.

    Raises:
        ValidationFailed: Somebody else is making it.
        OSError: It cannot be made.
    """

    def __init__(self, target: Path, disk: Disk) -> None:
        # Beside its place, for rename(2) does not reach across file systems.
        self._partial = f".{target.name}.kbd-partial"
        self._name, self._disk, self._has_landed = target.name, disk, False
        with hold_exact(str(target.parent), FOLDER_FLAGS) as parent:
            with suppress(FileExistsError):
                os.mkdir(self._partial, 0o700, dir_fd=parent)
            self._fd = open_below(parent, self._partial, FOLDER_FLAGS)
            self._parent = os.dup(parent)
        self.folder = _held_path(self._fd, target.with_name(self._partial))
        try:
            self._claim()
        except BaseException:
            os.close(self._fd)
            os.close(self._parent)
            raise

    def _claim(self) -> None:
        """Lock the folder, and empty it."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have moved or removed it between our look and our lock.
            found = os.stat(self._partial, dir_fd=self._parent, follow_symlinks=False)
            is_ours = os.path.samestat(os.fstat(self._fd), found)
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise ValidationFailed(f"something is being written to {self._name} already")
        _empty_folder(self._fd)

    def land(self) -> None:
        """Make all of it durable, then give it its name.

        Raises:
            SyncError: It is not known to be durable.
            OSError: The name was taken meanwhile.
        """
        # Contents before the name: what has its name after a crash is whole.
        for _, _, names, folder in os.fwalk(".", topdown=False, dir_fd=self._fd):
            for name in names:
                self._sync(name, folder)
            self._disk.sync(folder)
        # rename(2) replaces an empty folder, and fails where something came into it meanwhile.
        self._disk.move((self._parent, self._partial), (self._parent, self._name))
        self._has_landed = True
        self._disk.sync(self._parent)

    def remove(self) -> None:
        """Remove what was made, unless it has its name; let go of the rest."""
        # When it has landed, what has the hidden name is somebody else's next one.
        if not self._has_landed:
            with suppress(OSError):
                _empty_folder(self._fd)
            with suppress(OSError):
                os.rmdir(self._partial, dir_fd=self._parent)
        os.close(self._fd)
        os.close(self._parent)

    def _sync(self, name: str, folder: int) -> None:
        fd = open_below(folder, name, os.O_RDONLY)
        try:
            self._disk.sync(fd)
        finally:
            os.close(fd)


def _held_path(folder: int, path: Path) -> Path:
    """Return a path of a held folder that stays its own, where the system has one."""
    held = Path(f"/proc/self/fd/{folder}")
    return held if held.exists() else path


def _empty_folder(folder: int) -> None:
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if is_folder:
            shutil.rmtree(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
