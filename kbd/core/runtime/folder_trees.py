"""Folder trees that somebody else has filled: measured and removed, however they are built.

A process that a file has taken over may leave folders that nobody can list, or 100,000 levels of
them: what walks down by calling itself, or by paths, ends with an error or leaves all of it. All
functions wait for the disk.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from kbd.events.disk import DISK, Disk

__all__ = ["MAX_ENTRIES", "measure_tree", "remove_empty", "remove_file", "remove_tree"]

MAX_ENTRIES = 10_000
"""More files and folders are not looked through; the profile of an office program has 200."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def measure_tree(folder: str | Path) -> int | None:
    """Return how many bytes a folder takes on the disk with all that is below it; 0 if it is gone.

    None if that cannot be told: there are too many entries, or a folder cannot be listed.
    """
    size = entries = 0
    folders = [os.fspath(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > MAX_ENTRIES:
                        return None
                    try:
                        status = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue  # removed meanwhile, by who fills it
                    if stat.S_ISDIR(status.st_mode):
                        folders.append(entry.path)
                    else:
                        # Neither a length that is only announced nor what a file system keeps free
                        # behind a file for more of it (XFS).
                        size += min(status.st_size, status.st_blocks * 512)
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return size


def remove_empty(folder: Path, disk: Disk) -> None:
    """Remove a folder if nothing lies in it; else, and where that cannot be, it stays.

    It may come back, empty, if the power goes.
    """
    with contextlib.suppress(OSError):
        held = os.open(folder.parent, _FOLDER)
        try:
            disk.unlink(folder.name, held, is_folder=True)
        finally:
            os.close(held)


def remove_tree(folder: str | Path, disk: Disk = DISK) -> None:
    """Remove a folder with all that is below it; what cannot be removed stays, without an error.

    A folder within is moved up before it is emptied, so that there are never more than two levels.
    Nobody may write in it any more.

    Args:
        folder: The folder; it need not be there.
        disk: What removes.
    """
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
    with contextlib.suppress(OSError):
        root = os.open(folder, _FOLDER)
        try:
            # As long as each look leaves less.
            while sum(_remove_entry(root, name, disk) for name in os.listdir(root)):
                pass
        finally:
            os.close(root)
        _remove_name(Path(folder), disk, is_folder=True)


def remove_file(path: Path, disk: Disk) -> None:
    """Remove a file, if it is there.

    Raises:
        OSError: It cannot be removed.
    """
    with contextlib.suppress(FileNotFoundError):
        _remove_name(path, disk, is_folder=False)


def _remove_name(path: Path, disk: Disk, *, is_folder: bool) -> None:
    # Which folder that is may be said by a link, as /tmp is on some systems.
    held = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        disk.unlink(path.name, held, is_folder=is_folder)
    finally:
        os.close(held)


def _remove_entry(root: int, name: str, disk: Disk) -> bool:
    """Remove a file, or a folder whose own folders go to the root; return whether it is gone."""
    try:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=root).st_mode):
            disk.unlink(name, root)
            return True
        os.chmod(name, 0o700, dir_fd=root)
        folder = os.open(name, _FOLDER, dir_fd=root)
        try:
            for inner in os.listdir(folder):
                if stat.S_ISDIR(os.lstat(inner, dir_fd=folder).st_mode):
                    # To move a folder is to change it.
                    os.chmod(inner, 0o700, dir_fd=folder)
                    disk.move((folder, inner), (root, secrets.token_hex(8)))
                else:
                    disk.unlink(inner, folder)
        finally:
            os.close(folder)
        disk.unlink(name, root, is_folder=True)
    except OSError:
        return False
    return True
