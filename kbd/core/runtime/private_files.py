"""Private files: what an older kbd wrote below the home, made its owner's alone.

A kbd of before wrote with the umask of the shell that started it. Since then every file has 0600
or less, so the oldest segment of a log tells what the rest of its folder needs: it is looked at
when the log is opened, and changed last. No mark is kept, what a crash cuts off is begun anew, and
a home of ten thousand workbenches costs nothing at the start. The files at its top are looked at
at each start, for an editor may save the settings, and a key in them, with any mode. Blocking.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

__all__ = ["tighten", "tighten_files"]

_OTHERS = 0o077


def tighten(log: Path, *folders: Path) -> int:
    """Take the rights of others from all files below some folders, if the oldest of a log has any.

    Left alone are links and what they lead to, a file that has a second name, for the other may be
    a person's and somewhere else, and what cannot be changed.

    Args:
        log: The folder of the log, which lies below one of the folders.
        folders: The folders.

    Returns:
        How many files were changed.
    """
    # A walk calls itself: of a tree of a thousand levels, which is none of kbd's, it is given up.
    with suppress(OSError, RecursionError):
        oldest = min(os.listdir(log), default="")
        if oldest and _is_open(os.stat(log / oldest, follow_symlinks=False)):
            return _tighten_all(log / oldest, folders)
    return 0


def tighten_files(folder: Path, names: Iterable[str]) -> None:
    """Take the rights of others from some files of a folder, those that are there.

    Left alone is what `tighten` leaves alone.

    Raises:
        OSError: The folder cannot be opened.
    """
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name in names:
            _close(name, held)
    finally:
        os.close(held)


def _tighten_all(oldest: Path, folders: tuple[Path, ...]) -> int:
    changed = 0
    for folder in folders:
        for where, _, names, held in os.fwalk(folder):
            changed += sum(_close(name, held) for name in names if Path(where, name) != oldest)
    held = os.open(oldest.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return changed + _close(oldest.name, held)
    finally:
        os.close(held)


def _is_open(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and bool(found.st_mode & _OTHERS) and found.st_nlink == 1


def _close(name: str, folder: int) -> bool:
    """Take the rights of others from a file in a held folder; return whether it had any."""
    # Somebody may remove or replace it meanwhile, and a disk without modes has its own.
    with suppress(OSError):
        if not _is_open(os.stat(name, dir_fd=folder, follow_symlinks=False)):
            return False
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        held = os.open(name, flags, dir_fd=folder)
        try:
            found = os.fstat(held)
            if _is_open(found):
                os.fchmod(held, stat.S_IMODE(found.st_mode) & ~_OTHERS)
                return True
        finally:
            os.close(held)
    return False
