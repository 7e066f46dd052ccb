"""Space ahead of the log's end: reserved when it is written, given back, seen by no reader."""

import errno
import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from events.logs import Unsynced, make_log, note, notes, texts
from kbd.errors import DiskFull
from kbd.events import EventLog, frame
from kbd.events.frame import GENESIS, FrameLink
from kbd.events.repair import cut_log
from kbd.events.scan import survey_log
from kbd.events.segment import Block, Segment
from kbd.events.verification import verify_log
from kbd.types import Seq

SEGMENT = "00000000000000000001.kbl"


class Asked(Unsynced):
    """A disk that tells what space it was asked for: where from, and how much."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve, and remember."""
        self.asked.append((offset, size))
        super().reserve(fd, offset, size)


def end_of(log: EventLog) -> int:
    """Where the last frame ends."""
    return log._tip.link.offset


def test_space_is_reserved_by_the_first_append_and_given_back_by_the_close(tmp_path: Path) -> None:
    """Who only opens, reads and closes a log finds and leaves it at its true size."""
    disk, path = Asked(), tmp_path / SEGMENT
    log = EventLog.open(tmp_path, disk=disk)
    assert (texts(log), path.stat().st_size) == ([], end_of(log))
    assert disk.asked == []
    log.append([note("one")])
    assert path.stat().st_size > end_of(log)
    assert path.read_bytes()[end_of(log) :].strip(b"\0") == b""
    size = end_of(log)
    log.close()
    assert path.stat().st_size == size
    again = EventLog.open(tmp_path, disk=disk)
    assert texts(again) == ["one"]
    again.close()
    assert path.stat().st_size == size
    assert len(disk.asked) == 1


def test_the_steps_grow_with_the_log_and_end_with_the_segment(tmp_path: Path) -> None:
    """Few calls, never more than was written or 16 KiB or 4 MiB, nothing behind the limit."""
    limit, disk = 20 * 1024 * 1024, Asked()
    log = EventLog.open(tmp_path, segment_bytes=limit, disk=disk)
    while len(log._tip.segments) == 1:
        log.append([note("x" * 7000)])
        ahead = max(tmp_path.glob("*.kbl")).stat().st_size - end_of(log)
        assert 0 <= ahead <= min(max(end_of(log), 16 * 1024), 4 * 1024 * 1024)
    ends = [offset + size for offset, size in disk.asked[:-1]]
    assert len(ends) < 20
    assert all(before < after for before, after in pairwise(ends))
    assert ends[-1] == limit
    assert min(tmp_path.glob("*.kbl")).stat().st_size < limit + 8000
    log.close()


def test_a_frame_past_the_limit_reserves_nothing(tmp_path: Path) -> None:
    """A frame that fills its segment is its last, so that nothing is needed behind it."""
    disk = Asked()
    log = EventLog.open(tmp_path, segment_bytes=1000, disk=disk)
    log.append([note("y" * 5000)])
    assert (disk.asked, (tmp_path / SEGMENT).stat().st_size) == ([], end_of(log))
    log.close()


def test_readers_see_nothing_of_it(tmp_path: Path) -> None:
    """Frames, events and chain values end with the last frame, whatever is behind it."""
    log = make_log(tmp_path, [1, 2])
    assert (tmp_path / SEGMENT).stat().st_size > end_of(log)
    assert [first for first, _ in log.frames()] == [1, 2]
    assert [seq for seq, _ in log.read(Seq(1), 10)] == [2, 3]
    assert log.replay(lambda _seq, _record: None) == 3
    assert log.chain_at(Seq(3)) == log.head
    assert log.chain_at(Seq(4)) is None
    assert log.damage is None
    log.close()


def test_a_copy_of_a_log_in_use_is_whole(tmp_path: Path) -> None:
    """What a copy or a kill finds is a log that ends in zeros: no fault, nothing to repair."""
    log = make_log(tmp_path / "log", [1, 2, 1])
    shutil.copytree(tmp_path / "log", tmp_path / "copy")
    expected, end = texts(log), end_of(log)
    log.close()
    assert (tmp_path / "copy" / SEGMENT).stat().st_size > end
    found = verify_log(tmp_path / "copy")
    assert (found.fault, found.tear, found.seq) == (None, None, 4)
    copy = EventLog.open(tmp_path / "copy")
    assert (copy.damage, copy.repairs, texts(copy)) == (None, (), expected)
    assert (tmp_path / "copy" / SEGMENT).stat().st_size == end
    copy.append([note("goes on")])
    assert texts(copy) == [*expected, "goes on"]
    copy.close()


@pytest.mark.parametrize(("size", "looks_torn"), [(10, False), (7000, False), (300_000, True)])
def test_a_survey_of_a_log_that_is_being_written_finds_no_fault(
    tmp_path: Path, size: int, *, looks_torn: bool
) -> None:
    """Frames that come into reserved space while it is looked at are frames, not damage.

    At most the one that passes the size which the file had at first looks torn.
    """
    log = make_log(tmp_path, [1, 1])
    log.append([note("z" * 500_000)])
    went_on = 0

    def visit(_segment: Segment, block: Block) -> None:
        nonlocal went_on
        if block.problem and went_on < 3:
            went_on += 1
            log.append([note("a" * size)])
            log.append([note("b")])

    found = survey_log(tmp_path, chained=True, visit=visit)
    assert went_on == 3
    assert (found.fault, bool(found.tear)) == (None, looks_torn)
    assert found.seq == (5 if looks_torn else 9)
    log.close()


def test_a_cut_keeps_no_reserved_space(tmp_path: Path) -> None:
    """A cut behind the last event of a killed daemon's log takes nothing but zeros."""
    log = make_log(tmp_path / "log", [1, 2])
    shutil.copytree(tmp_path / "log", tmp_path / "copy")
    end = end_of(log)
    log.close()
    assert cut_log(tmp_path / "copy", Seq(3)).kept == ()
    assert (tmp_path / "copy" / SEGMENT).stat().st_size == end
    (kept,) = cut_log(tmp_path / "copy", Seq(1)).kept
    assert (tmp_path / "copy" / kept).stat().st_size == end
    assert verify_log(tmp_path / "copy").is_whole


@pytest.mark.parametrize("seed", [0, 1, 0xFFFFFFFF])
def test_no_number_of_zeros_is_a_frame(seed: int) -> None:
    """A frame's mark is not zero, so no seed and no length make zeros one; none is looked for."""
    made = frame.pack_frame(b"\x91\xc0", FrameLink(1, 0, 0), GENESIS, seed).data
    for size in (*range(1, 300), 511, 512, 4095, 4096, 4097, 65_521, 65_535, 65_536, 65_537):
        zeros = bytes(size)
        assert frame.parse_frames(zeros, FrameLink(1, 0, 0), seed).link.offset == 0
        behind = frame.parse_frames(made + zeros, FrameLink(1, 0, 0), seed)
        assert (behind.link.seq, behind.link.offset) == (2, len(made))
        assert bool(behind.problem) == (size >= 24)
        assert frame.announced_length(zeros) == 0
        assert frame.find_valid_frame(zeros, 0, seed) is None


class Filled(Unsynced):
    """A disk that can be full: then no file grows, and what is reserved can be written."""

    is_full = False

    def pwrite(self, fd: int, data: bytes | memoryview, offset: int) -> int:
        """Write what the file has room for."""
        fits = os.fstat(fd).st_size - offset if self.is_full else len(data)
        if fits <= 0:
            raise OSError(errno.ENOSPC, "full")
        return super().pwrite(fd, memoryview(data)[:fits], offset)

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Reserve what was just given back, and no more."""
        if self.is_full and size > 8 * 1024:
            raise OSError(errno.ENOSPC, "full")
        super().reserve(fd, offset, size)


def test_an_undone_commit_leaves_room_for_a_few_events(tmp_path: Path) -> None:
    """What was reserved for a frame that could not be written is cut off with it, but for that."""
    disk = Filled()
    log = EventLog.open(tmp_path, disk=disk)
    log.append(notes(2))
    disk.is_full = True
    with pytest.raises(DiskFull):
        log.append([note("z" * 50_000)])
    assert 0 < (tmp_path / SEGMENT).stat().st_size - end_of(log) <= 8 * 1024
    assert log.append(notes(1)) == 3
    log.close()
    assert (tmp_path / SEGMENT).stat().st_size == end_of(log)


@pytest.mark.parametrize("size", range(15_000, 16_400, 100))
def test_behind_each_frame_there_is_room_for_how_it_ended(tmp_path: Path, size: int) -> None:
    """Wherever a frame ends in what was reserved, a full disk takes some small ones behind it.

    Of a log that rested, too.
    """
    disk = Filled()
    log = EventLog.open(tmp_path, disk=disk)
    log.append([note("first")])
    log.append([note("x" * size)])
    disk.is_full = True
    log.rest()
    for number in range(10):
        log.append([note(f"ended {number}")])
    log.rest()
    log.close()
    assert (tmp_path / SEGMENT).stat().st_size == end_of(log)
