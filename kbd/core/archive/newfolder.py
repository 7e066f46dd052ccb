"""A folder that appears whole or not at all: it is made under a hidden name beside its own.

What a crash leaves has the hidden name; the next one that is made for the same name removes it.
"""

import fcntl
import os
import shutil
from pathlib import Path

from kbd.errors import ValidationFailed
from kbd.events.disk import Disk

__all__ = ["NewFolder", "free_place"]


def free_place(target: Path, what: str) -> Path:
    """Return where a new folder goes, without links in the path of its parent. Blocking.

    Args:
        target: Where it was asked for.
        what: What is to be there, for messages: "the backup".

    Raises:
        ValidationFailed: Something is there already, or no folder can be there.
    """
    absolute = target.is_absolute() and target.name not in ("", ".", "..")
    if not absolute or "\0" in str(target):
        raise ValidationFailed(f"Where {what} goes must be the absolute path of a new folder.")
    try:
        if not target.parent.is_dir():
            raise ValidationFailed(f"There is no folder {target.parent} to make {what} in.")
        place = target.parent.resolve() / target.name
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise ValidationFailed(f"{target} exists; nothing is overwritten.")
        if place.is_dir() and os.path.ismount(place):
            raise ValidationFailed(f"{target} is a disk: name a new folder on it.")
        if place.is_dir() and any(place.iterdir()):
            raise ValidationFailed(f"{target} is not empty; nothing is overwritten.")
    except OSError as error:
        raise ValidationFailed(f"{target} cannot be written: {error.strerror}.") from None
    return place


class NewFolder:
    """A folder in the making. The lock on it is the system's, so it ends with the process.

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
        """Take the folder for ourselves, and empty it."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it may have moved or removed it between our look and our lock.
            is_ours = os.path.samestat(os.fstat(self._fd), self.folder.lstat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise ValidationFailed(f"Something is being written to {self._target} already.")
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
        for root, _, names in os.walk(self.folder, topdown=False):
            for name in names:
                self._sync(Path(root, name))
            self._disk.sync_directory(Path(root))
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
