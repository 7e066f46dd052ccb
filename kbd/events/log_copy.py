"""Copy of a log's beginning, while a writer may be appending at its end.

A log only grows, so its beginning up to the end of a frame is a log itself: the segments before
that place as they are, the one that holds it cut there, and an anchor that names it.
"""

import os
from pathlib import Path

import msgspec

from kbd.errors import DiskFull, NotFound
from kbd.events.anchor import ANCHOR_NAME, Anchor, read_anchor, write_anchor
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.faults import damage_error
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES
from kbd.events.scan import survey_log
from kbd.events.segment import Block, Segment
from kbd.types import Seq

__all__ = ["Extent", "copy_log", "find_extent"]


class Extent(msgspec.Struct, frozen=True):
    """The beginning of a log, up to the end of a frame.

    Args:
        files: The names of its segments in order, each with how many of its bytes belong to it.
        seq: The last event.
        head: The chain value there.
    """

    files: tuple[tuple[str, int], ...]
    seq: Seq
    head: bytes


class _ReachedError(Exception):
    """Ends the walk: the frame that was looked for was found."""


def find_extent(log_dir: Path, until: Seq | None) -> Extent:
    """Find the shortest beginning of a log that holds an event. Blocking; changes nothing.

    Args:
        log_dir: The log's; it may be in use.
        until: The event. If somebody has the log open, it must be durable: what is written but
            not synced may be taken back. 0 is an empty beginning; None is all that is there, for
            a log that nobody writes meanwhile.

    Raises:
        LogCorrupt: Damage comes before.
        NotFound: The log ends before.
        FileNotFoundError: There is no such directory, or it is removed meanwhile.
    """
    sizes: dict[str, int] = {}
    seq, head = 0, GENESIS

    def visit(segment: Segment, block: Block) -> None:
        nonlocal seq, head
        if block.link.offset == block.base:
            return
        wanted = block.link.seq - 1 if until is None else until
        _, seq, at, stop = next(
            (span for span in block.spans() if span[1] >= wanted), block.spans()[-1]
        )
        sizes[segment.name] = block.base + stop
        head = block.data[at + HEADER_BYTES : at + BODY_AT]
        if until is not None and seq >= until:
            # Here the walk ends: damage behind the event is nothing to this copy.
            raise _ReachedError

    if until != 0:
        try:
            found = survey_log(log_dir, visit=visit)
        except _ReachedError:
            pass
        else:
            if found.fault is not None:
                raise found.fault
            if until is not None:
                raise NotFound(f"the log ends at event {seq}, before event {until}")
    return Extent(tuple(sizes.items()), Seq(seq), head)


def copy_log(log_dir: Path, extent: Extent, target: Path, disk: Disk = DISK) -> int:
    """Copy the beginning of a log, as a log that can be opened. Blocking; durable on return.

    Segments are copied byte for byte, never linked: the last one is still written by its owner,
    and one file with two names would share every change and every fault of either. Where `target`
    holds an earlier beginning of the same log, only what came since is copied. After a failure
    `target` holds a part, which is no log.

    Args:
        log_dir: The log's; it may be in use.
        extent: Which part, as `find_extent` found it.
        target: The copy's; made if it is not there.
        disk: What writes.

    Returns:
        How many bytes were copied.

    Raises:
        LogCorrupt: A segment is shorter than it was, or `target` holds more than the extent.
        DiskFull: There is no space.
        SyncError: The copy is not known to be durable.
        OSError: The log cannot be read any more, or the copy not be written.
    """
    disk.make_directory(target)
    copied = 0
    try:
        for name, size in extent.files:
            copied += _copy_segment(log_dir / name, size, target / name, disk)
        # The anchor last: it says that all before it is there.
        anchor = Anchor(extent.seq, extent.head)
        if read_anchor(target) != anchor:
            write_anchor(target, anchor, disk)
            copied += (target / ANCHOR_NAME).stat().st_size
    except OSError as error:
        if is_full(error):
            raise DiskFull("no space is left on the device for the copy of the log") from error
        raise
    return copied


def _copy_segment(source: Path, size: int, target: Path, disk: Disk) -> int:
    """Copy a segment up to a size, behind what is copied of it already."""
    taken = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        given = os.open(target, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # A segment only grows, so what an earlier copy has of it is its beginning.
            there = os.fstat(given).st_size
            if there > size:
                reason = "the copy is longer than the log"
                raise damage_error(reason, target.name, size, int(target.stem))
            copied = disk.copy(taken, given, there, size)
            if copied < size - there:
                reason = "the segment is shorter than it was"
                raise damage_error(reason, source.name, there + copied, int(source.stem))
            disk.sync(given)
        finally:
            os.close(given)
    finally:
        os.close(taken)
    disk.sync_directory(target.parent)
    return copied
