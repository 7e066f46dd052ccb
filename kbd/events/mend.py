"""The repair of a torn write: keep its bytes, cut them off, say so."""

import os
from itertools import count
from pathlib import Path

from kbd.events.disk import Disk
from kbd.events.scan import Tear
from kbd.events.workbenches import LogRepaired

__all__ = ["free_name", "mend", "remove_leftovers"]


def free_name(directory: Path, name: str, why: str) -> str:
    """The first name `<name>.<why>-<n>` that is not taken."""
    names = (f"{name}.{why}-{n}" for n in count(1))
    return next(free for free in names if not (directory / free).exists())


def mend(directory: Path, tear: Tear, disk: Disk) -> LogRepaired:
    """Cut off what a torn write left, after keeping a copy.

    A crash on the way leaves the copy, or nothing: the next start finds the same tear.

    Raises:
        DiskFull: There is no space for the copy; nothing was cut.
        SyncError: The copy or the cut is not known to be durable.
    """
    kept_as = free_name(directory, tear.segment, "torn")
    fd = os.open(directory / tear.segment, os.O_RDWR | os.O_CLOEXEC)
    try:
        disk.write_file(directory / kept_as, [os.pread(fd, tear.size_bytes, tear.offset)], 0o400)
        disk.truncate(fd, tear.offset)
        disk.sync(fd)
    finally:
        os.close(fd)
    return LogRepaired(tear.segment, tear.offset, tear.size_bytes, kept_as)


def remove_leftovers(directory: Path) -> None:
    """Remove files that were being made when a process died; they never had their names."""
    for leftover in directory.glob("*.tmp"):
        leftover.unlink(missing_ok=True)
