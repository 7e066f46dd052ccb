"""Copies of files into a folder of the user's, where nothing is ever overwritten.

A copy is written under a hidden name, the partial, and gets its own name as a second link to the
same file. A delivery keeps the partial until the log says that it is done: after a crash it tells
whether the copy was made, and under which name.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kbd.errors import DiskFull, FileWriteFailed
from kbd.events.drafts import EffectIntended

__all__ = ["extract", "find_copy", "forget_partial", "numbered", "real_folder"]


def numbered(name: str) -> Iterator[str]:
    """Yield a name, then the names to try when it is taken.

    `a.txt`, `a(1).txt`, `a(2).txt` …; `archive.tar.gz`, `archive.tar(1).gz`; `.env`, `.env(1)`.
    """
    yield name
    stem, suffix = os.path.splitext(name)
    count = 1
    while True:
        yield f"{stem}({count}){suffix}"
        count += 1


def extract(effect: EffectIntended, source: Path) -> str:
    """Copy a file to where the effect says and return the name it got, relative to the folder.

    The copy is complete and durable before it has its name, and the name was free. An extraction
    makes the folder if it is missing. A delivery does not, for it may be a disk that is not there
    now; and it keeps the partial, so `forget_partial` is called when its end is recorded.

    Raises:
        DiskFull: No space is left.
        FileWriteFailed: The folder is missing or cannot be written.
    """
    below, _, last = effect.file.name.rpartition("/")
    partial, is_delivery = _partial(effect), effect.kind == "deliver"
    folder, final = partial.parent, ""
    try:
        if is_delivery:
            Path(effect.directory).stat()
        folder.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as original, partial.open("wb") as copy:
            shutil.copyfileobj(original, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
        final = _name(partial, folder, last)
        if not is_delivery:
            partial.unlink()
        _sync(folder)
    except OSError as error:
        forget_partial(effect)
        if final:  # It is ours and not durable: what failed leaves nothing.
            with suppress(OSError):
                (folder / final).unlink()
        raise _failure(effect, error) from None
    return f"{below}/{final}" if below else final


def find_copy(effect: EffectIntended) -> str | None:
    """Return the name that a delivery got before it was cut off, or None if it was not made.

    One that somebody has moved away since was made, under the name that was intended.

    Raises:
        FileWriteFailed: The folder is missing or cannot be read: nobody knows.
    """
    below, _, _ = effect.file.name.rpartition("/")
    partial = _partial(effect)
    try:
        Path(effect.directory).stat()
        try:
            held = partial.lstat()
        except FileNotFoundError:
            return None
        if held.st_nlink < 2:
            return None
        with os.scandir(partial.parent) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.inode() == held.st_ino and entry.name != partial.name
            ]
        _sync(partial.parent)
    except OSError as error:
        raise _failure(effect, error) from None
    if not names:
        return effect.file.name
    return f"{below}/{min(names)}" if below else min(names)


def forget_partial(effect: EffectIntended) -> None:
    """Remove the partial from the user's folder, if it is there."""
    with suppress(OSError):  # It was never begun, or the folder is gone: nothing of ours is there.
        _partial(effect).unlink()


def real_folder(directory: str, name: str) -> str:
    """Return the folder that a file goes into, without links in its path."""
    below, _, _ = name.rpartition("/")
    return os.path.realpath(Path(directory, below))


def _failure(effect: EffectIntended, error: OSError) -> DiskFull | FileWriteFailed:
    """Return what to tell of a copy that could not be made."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"no space is left to {effect.kind} {effect.file.name!r}")
    reason = os.strerror(error.errno or 0)
    return FileWriteFailed(f"{effect.file.name!r} cannot be {effect.kind}ed: {reason}")


def _partial(effect: EffectIntended) -> Path:
    below, _, _ = effect.file.name.rpartition("/")
    return Path(effect.directory, below, f".kbd-{effect.effect_id}.part")


def _name(partial: Path, folder: Path, last: str) -> str:
    """Give a complete file the first free name; a link fails where a rename would overwrite."""
    for candidate in numbered(last):
        try:
            os.link(partial, folder / candidate)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            if not _copy_exclusively(partial, folder / candidate):
                continue
        return candidate
    raise AssertionError


def _copy_exclusively(partial: Path, target: Path) -> bool:
    """Do without links (FAT, some network disks): create the name, then fill it."""
    try:
        made = target.open("xb")
    except FileExistsError:
        return False
    try:
        with made as copy, partial.open("rb") as original:
            shutil.copyfileobj(original, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
    except OSError:
        target.unlink()
        raise
    return True


def _sync(folder: Path) -> None:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(held)
    finally:
        os.close(held)
