"""The files of a folder that a conversation can be about, and why others are left out."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from kbd.cli.exits import FAILED, Stop

__all__ = ["Walked", "walk"]

MOST_ENTRIES = 20_000
"""A folder with more in it is somebody's whole disk, not what a conversation is about."""

UNREADABLE = "no installed format reads this type of file"


class Walked(NamedTuple):
    """What a folder holds.

    Args:
        files: What can be read, nearest to the top first, then by name.
        skipped: What is left out, by its path in the folder, with the reason.
    """

    files: tuple[Path, ...]
    skipped: tuple[tuple[str, str], ...]


def walk(folder: Path, left_out: Collection[Path], endings: Collection[str]) -> Walked:
    """Look through a folder and all below it; what is hidden, or an index, is passed over silently.

    Args:
        folder: Where to look.
        left_out: Folders not to look into.
        endings: How the names of readable files end, in small letters; or the whole name.

    Raises:
        Stop: It cannot be looked into, or there is too much in it.
    """
    files: list[Path] = []
    skipped: list[tuple[str, str]] = []
    for path in _entries(folder, frozenset(left_out)):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            skipped.append((name, "a link"))
        elif not path.is_file():
            skipped.append((name, "not a regular file"))
        elif not _is_readable(path.name, endings):
            skipped.append((name, UNREADABLE))
        else:
            files.append(path)
    files.sort(key=lambda path: (len(path.parts), str(path)))
    return Walked(tuple(files), tuple(sorted(skipped)))


def _entries(folder: Path, left_out: frozenset[Path]) -> Iterator[Path]:
    """Yield everything in a folder that is no folder and not hidden; links are not followed."""
    seen = 0

    def fail(error: OSError) -> None:
        if error.filename == str(folder):
            raise Stop(f"{folder} cannot be looked into: {error.strerror}.", FAILED)

    for place, folders, names in os.walk(folder, onerror=fail):
        here = Path(place)
        if _is_index(names):
            folders.clear()
            continue
        folders[:] = sorted(
            each for each in folders if not each.startswith(".") and here / each not in left_out
        )
        seen += len(folders) + len(names)
        if seen > MOST_ENTRIES:
            msg = (
                f"{folder} holds more than {MOST_ENTRIES:,} files and folders: name one with what "
                "the conversation is about, or make a workbench (`kbd wb new`)."
            )
            raise Stop(msg, FAILED)
        for name in names:
            # "~$" begins the lock that an office program keeps beside an open file.
            if not name.startswith((".", "~$")):
                yield here / name


def _is_index(names: Collection[str]) -> bool:
    """Whether this is a folder of an index, of this workbench or any other.

    As `kbd.core.search.index_file` has it, told twice so that a client does not import the core.
    """
    return "search.lock" in names and all(
        name.startswith(("search-", "search.", "pieces-")) for name in names
    )


def _is_readable(name: str, endings: Collection[str]) -> bool:
    last = name.casefold()
    return last in endings or any(
        last[place:] in endings for place, letter in enumerate(last) if letter == "."
    )
