"""Segments: the files of a log, their creation, their reading frame by frame, and the written tail.

The tail is the last segment, written at its end in space reserved ahead. A file that grows with
each frame makes the file system commit its new size with each sync. Within its size a sync is 1.3
to 1.4 times as fast (facts/performance.md A). What is reserved reads as zeros, which are never a
frame; the log needs none of it: where space cannot be reserved, it grows.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from kbd.errors import LogCorrupt
from kbd.events.disk import Disk
from kbd.events.faults import Problem, damage_error, fault_error
from kbd.events.frame import (
    HEADER_BYTES,
    SEGMENT_BYTES,
    FrameLink,
    SegmentHeader,
    announced_length,
    list_frames,
    pack_segment,
    parse_frames,
    read_segment,
)

__all__ = [
    "Block",
    "Segment",
    "Tail",
    "broken_error",
    "create_segment",
    "open_segment",
    "segment_name",
    "segment_names",
    "walk_blocks",
]


_SUFFIX = ".kbl"
_BLOCK_BYTES = 256 * 1024
"""How much is read at once: half costs a survey a tenth more, and twice gains nothing."""

_MARK_BYTES = 64 * 1024
"""How far apart the marks are at least: what a reader that is nearly up to date reads again."""

_seq_of = attrgetter("seq")


class Segment:
    """Segment file of a log: its header, and an index into it.

    Marks are only ever added behind the others, so that a reader in another thread can look for
    one while the writer adds them.

    Args:
        path: The file.
        header: What its header says.

    Attributes:
        seed: What the checksums of its frames start from.
        start: The place of its first frame.
        unmarked: The offset from which on a mark is wanted.
    """

    def __init__(self, path: Path, header: SegmentHeader) -> None:
        self.path = path
        self.header = header
        self.start = FrameLink(header.first, SEGMENT_BYTES, header.checksum)
        self.seed = header.seed
        self.unmarked = SEGMENT_BYTES + _MARK_BYTES
        self._marks = [self.start]

    @property
    def name(self) -> str:
        """The file's name: its first sequence number in 20 digits."""
        return self.path.name

    def mark(self, link: FrameLink) -> None:
        """Remember a place between two frames, unless one near it is remembered."""
        if link.offset >= self.unmarked:
            self._marks.append(link)
            self.unmarked = link.offset + _MARK_BYTES

    def near(self, seq: int, known: FrameLink | None = None) -> FrameLink:
        """The last marked place from which the event `seq` is still ahead.

        Args:
            seq: The event.
            known: The place of a frame of this log that the caller knows, of any segment; it is
                taken if it is nearer.
        """
        marked = self._marks[max(0, bisect_right(self._marks, seq, key=_seq_of) - 1)]
        return known if known is not None and marked.seq < known.seq <= seq else marked


class Block(NamedTuple):
    """Consecutive frames of a segment.

    Args:
        data: The bytes that hold them, from the first one's beginning on.
        base: The offset of `data` in the segment.
        last: Where the last frame begins in `data`; meaningless if there is none.
        link: The place behind the frames, in the segment.
        problem: Why no frame of this log is there; empty if one may be, or the walk has ended.
    """

    data: bytes
    base: int
    last: int
    link: FrameLink
    problem: Problem

    @property
    def frames(self) -> list[tuple[int, int, int]]:
        """For each frame its first sequence number, and where it begins and ends in `data`."""
        return list_frames(self.data, self.link.offset - self.base)

    def spans(self) -> list[tuple[int, int, int, int]]:
        """For each frame: its first and last event, and where it begins and ends in `data`."""
        frames = self.frames
        following = [*(first for first, _, _ in frames[1:]), self.link.seq]
        spans = zip(frames, following, strict=False)
        return [(first, after - 1, at, stop) for (first, at, stop), after in spans]


def segment_name(first: int) -> str:
    """Return the name of the segment that begins with an event."""
    # 20 digits hold any number of 64 bits, so names sort as their numbers do.
    return f"{first:020}{_SUFFIX}"


def segment_names(directory: Path) -> list[str]:
    """Return the names of the segments in a directory, in the order of the log."""
    return sorted(
        entry.name
        for entry in os.scandir(directory)
        if entry.name.endswith(_SUFFIX) and entry.name[: -len(_SUFFIX)].isdecimal()
    )


def create_segment(directory: Path, first: int, chain: bytes, salt: int, disk: Disk) -> Segment:
    """Create an empty segment. When it has its name, its header is durable and so is the name.

    Raises:
        DiskFull: There is no space for it.
        SyncError: It is not known to be durable.
    """
    path = directory / segment_name(first)
    data = pack_segment(first, salt, chain)
    disk.write_file(path, [data])
    return Segment(path, read_segment(data))


def open_segment(path: Path) -> Segment:
    """Read a segment's header.

    Raises:
        LogCorrupt: It is damaged, or a newer kbd must read it.
    """
    # O_NONBLOCK: a pipe in its place, in a log from elsewhere, must not hang.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        header = read_segment(os.pread(fd, SEGMENT_BYTES, 0))
    finally:
        os.close(fd)
    # A file that was renamed, or copied over another, has the right checksums.
    if path.name != segment_name(header.first):
        reason = "the segment's header names another place in the log than the file's name"
        raise fault_error(reason, "swapped")
    return Segment(path, header)


def broken_error(block: Block, name: str) -> LogCorrupt:
    """Return the error for a log that is damaged behind a block, for the block's problem."""
    return damage_error(block.problem, name, block.link.offset, block.link.seq, block.problem.kind)


def walk_blocks(fd: int, seed: int, link: FrameLink, end: int) -> Iterator[Block]:
    """Read the frames of a segment from `link` up to the offset `end`, checking each.

    The last block tells by its `problem` if something other than a frame comes before `end`.
    Memory stays bounded by a block or the longest frame.
    """
    wanted = _BLOCK_BYTES
    while link.offset < end:
        data = _read(fd, min(wanted, end - link.offset), link.offset)
        last, after, problem = parse_frames(data, link, seed)
        if not after.offset and not problem:
            length = announced_length(data) or HEADER_BYTES
            # Once, and at most `FRAME_LIMIT`: no checksum has confirmed this length yet.
            if len(data) < length <= end - link.offset and wanted < length:
                wanted = length
                continue
            problem = Problem.CUT_SHORT
        base, link = link.offset, FrameLink(after.seq, link.offset + after.offset, after.previous)
        yield Block(data, base, last, link, problem)
        if problem:
            return
        wanted = _BLOCK_BYTES


def _read(fd: int, size: int, offset: int) -> bytes:
    """Read `size` bytes, or what there is before the end of the file."""
    # Not mmap, which ends the process by SIGBUS if the file shrinks (facts/performance.md B).
    data = os.pread(fd, size, offset)
    while len(data) < size and (more := os.pread(fd, size - len(data), offset + len(data))):
        data += more
    return data


_MIN_STEP = 16 * 1024
_MAX_STEP = 4 * 1024 * 1024
"""How much is reserved at once: as much as was written, within these. So a small log stays small,
and at most half of a log is reserved."""

_ROOM = 8 * 1024
"""How much stays reserved behind each frame where the disk has it, and when the next one does not
fit any more: how a publish ended, that a draft is discarded or a run has failed can be recorded."""


class Tail:
    """The last segment, open to be written. Where it ends, the log knows and says.

    Args:
        path: The segment.
        limit: The size at which another follows it; no space is reserved behind that.
        disk: What writes. The methods raise what it raises.
        kept_to: Up to where space is reserved already.

    Attributes:
        kept_to: Up to where space is reserved.
    """

    def __init__(self, path: Path, limit: int, disk: Disk, kept_to: int = 0) -> None:
        self._limit = limit
        self._disk = disk
        self.kept_to = kept_to
        self._asked_to = kept_to
        """Up to where space was asked for, got or not: a full disk is not asked at each frame."""
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def claim(self, end: int) -> None:
        """Make durable what a process before this one wrote, without what it had reserved."""
        if self._is_longer(end):
            self._disk.truncate(self._fd, end)
        self._disk.sync_data(self._fd)

    def write(self, data: bytes, offset: int) -> None:
        """Write a frame at the end. It is not durable yet, and may be half there on an error."""
        end = offset + len(data)
        if min(end + _ROOM, self._limit) > self._asked_to or end > self._asked_to:
            self._reserve(offset, end)
        written = self._disk.pwrite(self._fd, data, offset)
        if written < len(data):
            self._disk.write_all(self._fd, data[written:], offset + written)

    def sync(self) -> None:
        """Make what was written durable."""
        # This covers a size that grew, too; the times of the file may be lost.
        self._disk.fdatasync(self._fd)

    def cut(self, end: int) -> None:
        """Take away what is behind the end, durably: an unsynced cut may come back.

        What was reserved goes with it but for a little, which others would take on a full disk.
        """
        room = min(self.kept_to, end + _ROOM) - end
        self._cut(end)
        if room > 0:
            try:
                self._disk.reserve(self._fd, end, room)
            except OSError:
                self.trim(end)
            else:
                self.kept_to = end + room

    def _cut(self, end: int) -> None:
        self.kept_to = self._asked_to = 0
        self._disk.truncate(self._fd, end)
        self._disk.sync(self._fd)

    def seal(self, end: int) -> None:
        """Give back durably what is reserved, for zeros within the log are damage."""
        if self._is_longer(end):
            self._cut(end)

    def trim(self, end: int) -> None:
        """Give back what is reserved, as a courtesy: the next start would, too."""
        with suppress(OSError):
            if self._is_longer(end):
                self._disk.truncate(self._fd, end)

    def close(self) -> None:
        """Close the file as it is."""
        os.close(self._fd)

    def _is_longer(self, end: int) -> bool:
        return os.fstat(self._fd).st_size > end

    def _reserve(self, offset: int, end: int) -> None:
        """Reserve space for a frame and a step more, if the disk has it."""
        self._asked_to = min(end + min(max(end, _MIN_STEP), _MAX_STEP), self._limit)
        # A frame that fills its segment is its last, so nothing is needed behind it.
        if self._asked_to <= end:
            return
        try:
            self._disk.reserve(self._fd, offset, self._asked_to - offset)
        except OSError:
            # A full disk may have given a part, which others need more.
            self.trim(max(offset, self.kept_to))
        else:
            self.kept_to = self._asked_to
