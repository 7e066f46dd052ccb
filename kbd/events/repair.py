"""Repair of a log's end: of a torn write, and by an explicit cut.

The bytes of a torn write are kept, cut off, and the cut is reported. The explicit cut is for a log
that is damaged, or that somebody wants to end earlier.
"""

import os
import shutil
from itertools import count
from pathlib import Path

import msgspec

from kbd.errors import ValidationFailed
from kbd.events.anchor import ANCHOR_NAME, Anchor, write_anchor
from kbd.events.disk import DISK, Disk
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES
from kbd.events.scan import LogSurvey, TornWrite, survey_log
from kbd.events.segment import Block, Segment, segment_names
from kbd.events.workbenches import LogRepaired
from kbd.types import Seq

__all__ = ["LogCut", "cut_log", "cut_torn_write", "free_name", "remove_leftovers"]


def free_name(directory: Path, name: str, why: str) -> str:
    """Return the first free name `<name>.<why>-<n>`."""
    names = (f"{name}.{why}-{n}" for n in count(1))
    return next(free for free in names if not (directory / free).exists())


def cut_torn_write(directory: Path, tear: TornWrite, disk: Disk) -> LogRepaired:
    """Cut off what a torn write left, after keeping a copy.

    A crash on the way leaves the copy, or nothing: the next start finds the same tear.

    Raises:
        DiskFull: There is no space for the copy; nothing was cut.
        SyncError: The copy or the cut is not known to be durable.
    """
    kept_as = free_name(directory, tear.segment, "torn")
    fd = os.open(directory / tear.segment, os.O_RDWR | os.O_CLOEXEC)
    try:
        # The copy is durable before the cut, so that no crash loses the bytes of both.
        disk.write_file(directory / kept_as, [os.pread(fd, tear.size_bytes, tear.offset)], 0o400)
        disk.truncate(fd, tear.offset)
        # Before the first append: a cut that is not synced may come back (facts/performance.md F).
        disk.sync(fd)
    finally:
        os.close(fd)
    return LogRepaired(tear.segment, tear.offset, tear.size_bytes, kept_as)


def remove_leftovers(directory: Path) -> None:
    """Remove files that were being made when a process died; they never had their names."""
    for leftover in directory.glob("*.tmp"):
        leftover.unlink(missing_ok=True)


class LogCut(msgspec.Struct, frozen=True):
    """Result of a cut: what it removed.

    Args:
        seq: The last event that is left.
        kept: The names of the files that hold what was taken.
    """

    seq: Seq
    kept: tuple[str, ...]


def cut_log(log_dir: Path, to_seq: Seq, disk: Disk = DISK, why: str = "cut") -> LogCut:
    """Truncate a log behind an event, on explicit request; it must not be open anywhere.

    What is cut off, and the anchor, are kept as `<file>.<why>-<n>`, unless it is reserved space
    only. A crash on the way leaves a log that is cut already or that can be cut again.

    Raises:
        ValidationFailed: The log cannot be read that far, or no frame ends with that event.
        DiskFull: There is no space for the copies; nothing was cut.
        OSError: The disk failed.
    """
    place = _find(log_dir, to_seq)
    if (log_dir / ANCHOR_NAME).exists():
        _back_up(log_dir, ANCHOR_NAME, why, disk)
    kept = []
    # The anchor first: to an older one a log that is cut already would look truncated. Then from
    # the last segment back, so that what a crash leaves is a history without a gap.
    write_anchor(log_dir, Anchor(to_seq, place.chain), disk)
    for name in reversed([name for name in segment_names(log_dir) if name > place.segment]):
        kept.append(free_name(log_dir, name, why))
        disk.rename(log_dir / name, log_dir / kept[-1])
        # One by one, so that the renames reach the disk in this order.
        disk.sync_directory(log_dir)
    if place.segment:
        path = log_dir / place.segment
        behind = path.read_bytes()[place.offset :]
        if behind != bytes(len(behind)):
            kept.append(_back_up(log_dir, place.segment, why, disk))
        if behind:
            _truncate(path, place.offset, disk)
    return LogCut(to_seq, tuple(reversed(kept)))


class _CutPlace(msgspec.Struct):
    """Where a cut goes: behind `offset` of `segment`; an empty name is before them all."""

    segment: str
    offset: int
    chain: bytes
    near: list[int]


def _find(log_dir: Path, to_seq: int) -> _CutPlace:
    """Find the frame that ends with an event.

    Raises:
        ValidationFailed: There is none in the readable part.
    """
    place = _CutPlace("", 0, GENESIS, [0])
    if to_seq == 0:
        return place

    def visit(segment: Segment, block: Block) -> None:
        for _, last, at, stop in block.spans():
            if last <= to_seq:
                place.near = [last]
                place.segment, place.offset = segment.name, block.base + stop
                place.chain = block.data[at + HEADER_BYTES : at + BODY_AT]
            elif len(place.near) == 1:
                place.near.append(last)

    found: LogSurvey = survey_log(log_dir, visit=visit)
    if place.near[0] != to_seq:
        ends = " or ".join(str(seq) for seq in place.near)
        raise ValidationFailed(
            f"the log cannot be cut behind event {to_seq}; the nearest place is {ends}",
            detail={"nearest": place.near, "last_readable": found.seq},
        )
    return place


def _back_up(log_dir: Path, name: str, why: str, disk: Disk) -> str:
    """Keep a durable copy of a file beside it."""
    kept_as = free_name(log_dir, name, why)
    # Not a link: the file itself is cut or overwritten next, and a link would be changed with it.
    shutil.copyfile(log_dir / name, log_dir / kept_as)
    fd = os.open(log_dir / kept_as, os.O_RDONLY | os.O_CLOEXEC)
    try:
        disk.sync(fd)
    finally:
        os.close(fd)
    disk.sync_directory(log_dir)
    return kept_as


def _truncate(path: Path, size: int, disk: Disk) -> None:
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        disk.truncate(fd, size)
        disk.sync(fd)
    finally:
        os.close(fd)
