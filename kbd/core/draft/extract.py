"""Copies of files into a folder of the user's, where nothing is ever overwritten."""

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kbd.errors import DiskFull, FileWriteFailed
from kbd.events.drafts import EffectIntended

__all__ = ["extract", "forget_partial", "numbered"]


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

    The copy is complete and durable before it has its name, and the name was free.

    Raises:
        DiskFull: No space is left.
        FileWriteFailed: The folder cannot be written.
    """
    below, _, last = effect.file.name.rpartition("/")
    folder = Path(effect.directory, below)
    partial = folder / _partial_name(effect)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as original, partial.open("wb") as copy:
            shutil.copyfileobj(original, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
        final = _name(partial, folder, last)
        partial.unlink()
        _sync(folder)
    except OSError as error:
        forget_partial(effect)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            msg = f"no space is left to extract {effect.file.name!r}"
            raise DiskFull(msg) from None
        msg = f"{effect.file.name!r} cannot be extracted: {os.strerror(error.errno or 0)}"
        raise FileWriteFailed(msg) from None
    return f"{below}/{final}" if below else final


def forget_partial(effect: EffectIntended) -> None:
    """Remove what a stopped daemon left half written in the user's folder."""
    below, _, _ = effect.file.name.rpartition("/")
    try:
        Path(effect.directory, below, _partial_name(effect)).unlink()
    except OSError:
        return  # It was never begun, or the folder is gone: nothing of ours is there.


def _partial_name(effect: EffectIntended) -> str:
    return f".kbd-{effect.effect_id}.part"


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
        with partial.open("rb") as original, target.open("xb") as copy:
            shutil.copyfileobj(original, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
    except FileExistsError:
        return False
    return True


def _sync(folder: Path) -> None:
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(held)
    finally:
        os.close(held)
