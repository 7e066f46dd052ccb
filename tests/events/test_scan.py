"""Recovery: after every disaster the exact prefix, or a refusal that names the place."""

import shutil
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.logs import Unsynced, make_log, note, tail_of, texts
from kbd.errors import LogCorrupt
from kbd.events import EventLog
from kbd.events.anchor import ANCHOR_NAME
from kbd.events.frame import SEGMENT_BYTES
from kbd.types import Seq

SEGMENT = "00000000000000000001.kbl"
COMMITS = [1, 2, 1, 3, 1, 2]
FAST = Unsynced()


class Case:
    """A small log in memory, to be laid down damaged.

    Args:
        folder: Where logs are laid down.
        anchored: How many commits the anchor knows of.
        spare: How many zeros follow whatever is laid down, as reserved space.
    """

    def __init__(self, folder: Path, anchored: int, spare: int = 0) -> None:
        self.folder = folder
        self.spare = spare
        log = make_log(folder / "made", COMMITS[:anchored])
        log.close()
        self.anchor = (folder / "made" / ANCHOR_NAME).read_bytes()
        shutil.rmtree(folder / "made")
        log = make_log(folder / "made", COMMITS)
        self.texts = texts(log)
        bodies = list(log.frames())
        log.close()
        self.data = (folder / "made" / SEGMENT).read_bytes()
        self.ends = [SEGMENT_BYTES]
        for _, body in bodies:
            self.ends.append(self.ends[-1] + 56 + len(body))
        assert self.ends[-1] == len(self.data)

    def events_before(self, offset: int) -> int:
        """How many events lie in frames that end at or before an offset."""
        return sum(COMMITS[: sum(end <= offset for end in self.ends) - 1])

    def good(self, size: int) -> int:
        """Where the last frame ends that is whole if only so many bytes reached the disk.

        Zeros at a frame's end need not: in reserved space they are there already.
        """
        data = self.data[:size] + bytes(self.spare)
        return max(end for end in self.ends if data[:end] == self.data[:end])

    def lay(self, data: bytes) -> Path:
        """Lay the log down with other bytes in its segment."""
        place = self.folder / "log"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / SEGMENT).write_bytes(data + bytes(self.spare))
        (place / ANCHOR_NAME).write_bytes(self.anchor)
        return place

    def check_recovered(self, data: bytes, good: int) -> None:
        """See that the log is cut at `good`, goes on from there, and the cut bytes are kept.

        Zeros at the end say nothing: they are cut and not kept.
        """
        place = self.lay(data)
        log = EventLog.open(place, disk=FAST)
        kept = self.events_before(good)
        assert (log.damage, log.seq) == (None, kept)
        assert texts(log) == self.texts[:kept]
        assert (place / SEGMENT).stat().st_size == good
        torn = data[good:].rstrip(b"\0")
        if torn:
            (repair,) = log.repairs
            assert (repair.segment, repair.offset) == (SEGMENT, good)
            assert repair.size_bytes == len(torn)
            assert (place / repair.kept_as).read_bytes() == torn
        else:
            assert log.repairs == ()
            assert sorted(path.name for path in place.iterdir()) == [SEGMENT, ANCHOR_NAME]
        log.append([note("goes on")])
        log.close()
        again = EventLog.open(place, disk=FAST)
        assert (again.damage, again.repairs) == (None, ())
        assert texts(again) == [*self.texts[:kept], "goes on"]
        again.close()

    def check_refused(self, data: bytes, good: int) -> LogCorrupt:
        """See that the log opens for reading up to `good`, names the place, and is left alone."""
        place = self.lay(data)
        log = EventLog.open(place, disk=FAST)
        kept = self.events_before(good) if good else 0
        assert log.damage is not None
        assert log.damage.detail["file"] == SEGMENT
        assert (log.damage.detail["offset"], log.damage.detail["seq"]) == (good, kept + 1)
        assert str(self.folder) not in log.damage.message
        assert texts(log) == self.texts[:kept]
        with pytest.raises(LogCorrupt):
            log.append([note("never")])
        log.close()
        assert (place / SEGMENT).read_bytes() == data + bytes(self.spare)
        assert sorted(path.name for path in place.iterdir()) == [SEGMENT, ANCHOR_NAME]
        return log.damage


SPARES = (pytest.param(0, marks=pytest.mark.soak), 5000)
"""How much reserved space follows: none, and more than a page."""


@pytest.fixture(params=SPARES, ids=lambda spare: f"spare{spare}")
def case(tmp_path: Path, request: pytest.FixtureRequest) -> Case:
    """A log of six commits whose anchor knows the first three."""
    return Case(tmp_path, anchored=3, spare=request.param)


@pytest.fixture(params=SPARES, ids=lambda spare: f"spare{spare}")
def closed(tmp_path: Path, request: pytest.FixtureRequest) -> Case:
    """A log of six commits whose anchor knows them all, as after an orderly close."""
    return Case(tmp_path, anchored=6, spare=request.param)


def test_truncated_at_every_byte_of_the_last_three_frames(case: Case) -> None:
    """Behind the anchor each cut recovers the exact prefix, keeps the rest and accepts appends."""
    for size in range(case.ends[3], len(case.data) + 1):
        case.check_recovered(case.data[:size], case.good(size))


def test_truncated_at_every_byte_after_an_orderly_close(closed: Case) -> None:
    """What the anchor knows is missed at every cut, also at the end of a frame."""
    for size in range(closed.ends[3], len(closed.data)):
        good = closed.good(size)
        if good < len(closed.data):
            closed.check_refused(closed.data[:size], good)
        else:
            assert closed.spare


@pytest.mark.parametrize(
    "pattern", [0x80, *(pytest.param(bits, marks=pytest.mark.soak) for bits in (0x01, 0xFF))]
)
def test_every_byte_flipped(case: Case, pattern: int) -> None:
    """A wrong byte costs at most the last frame, which a torn write explains; all else refuses."""
    for place in range(len(case.data)):
        data = bytearray(case.data)
        data[place] ^= pattern
        if place >= case.ends[-2]:
            case.check_recovered(bytes(data), case.ends[-2])
        else:
            good = max((end for end in case.ends if end <= place), default=0)
            case.check_refused(bytes(data), good)


def test_every_byte_flipped_after_an_orderly_close(closed: Case) -> None:
    """After an orderly close even the last frame is known to be damaged, not torn."""
    for place in range(closed.ends[-2], len(closed.data)):
        data = bytearray(closed.data)
        data[place] ^= 0x04
        closed.check_refused(bytes(data), closed.ends[-2])


@pytest.mark.parametrize("anchored", [3, 6])
def test_a_tail_of_zeros(tmp_path: Path, anchored: int) -> None:
    """Zeros behind the last frame are the end: no ghost events, nothing to repair or to keep."""
    case = Case(tmp_path, anchored)
    for size in (*range(1, 60), 511, 512, 4095, 4096, 4099, 65_521, 65_536, 200_003):
        case.check_recovered(case.data + bytes(size), len(case.data))


def test_a_byte_in_reserved_space(case: Case) -> None:
    """What is not zero behind the last frame is a torn write, wherever; it is kept."""
    for place in range(90):
        case.check_recovered(case.data + bytes(place) + b"\x01", len(case.data))


def test_a_frame_of_which_pieces_are_zeros(case: Case) -> None:
    """Of a frame that was half written into reserved space any pieces may be missing: it is torn.

    So it is with each of them there or not; the frames before it are whole.
    """
    start, frame = case.ends[-2], case.data[case.ends[-2] :]
    pieces = [frame[at : at + 32] for at in range(0, len(frame), 32)]
    torn = 0
    for there in product([True, False], repeat=len(pieces)):
        mixed = [
            piece if is_there else bytes(len(piece))
            for piece, is_there in zip(pieces, there, strict=True)
        ]
        data = case.data[:start] + b"".join(mixed)
        case.check_recovered(data, len(data) if data == case.data else start)
        torn += data != case.data
    assert torn > 50


def test_reserved_space_before_what_was_acknowledged(closed: Case) -> None:
    """Zeros where the anchor knows events are damage, however few or many."""
    for end in closed.ends[:-1]:
        for size in (1, 100, 9000):
            closed.check_refused(closed.data[:end] + bytes(size), end)


def test_a_stale_tail(case: Case) -> None:
    """Old frames of this log behind its end are no events."""
    stale = case.data[case.ends[1] : case.ends[4]]
    case.check_recovered(case.data + stale, len(case.data))
    case.check_recovered(case.data + b"\0" * 13 + stale, len(case.data))


def test_a_tail_of_another_log(case: Case, tmp_path: Path) -> None:
    """Frames of another log behind the end are no events, whatever numbers they have."""
    other = EventLog.open(tmp_path / "other", disk=FAST, entropy=lambda n: b"X" * n)
    for n in range(30):
        other.append([note(f"foreign {n}")])
    other.close()
    foreign = (tmp_path / "other" / SEGMENT).read_bytes()[SEGMENT_BYTES:]
    case.check_recovered(case.data + foreign, len(case.data))


def test_a_hole_before_a_good_frame(case: Case) -> None:
    """Zeros in the place of a frame are damage if a frame follows, for that was written later."""
    start, end = case.ends[4], case.ends[5]
    data = case.data[:start] + bytes(end - start) + case.data[end:]
    case.check_refused(data, start)


def test_a_removed_frame(case: Case) -> None:
    """A frame that was cut out is missed."""
    data = case.data[: case.ends[4]] + case.data[case.ends[5] :]
    case.check_refused(data, case.ends[4])


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(at=st.integers(0, 2000), size=st.integers(0, 400), junk=st.binary(max_size=300))
def test_any_splice(case: Case, at: int, size: int, junk: bytes) -> None:
    """Whatever replaces whatever: a prefix of what was recorded, or a refusal, nothing else."""
    at = min(at, len(case.data))
    log = EventLog.open(case.lay(case.data[:at] + junk + case.data[at + size :]), disk=FAST)
    assert texts(log) == case.texts[: log.seq]
    if log.damage is None:
        assert log.seq >= sum(COMMITS[:3])
        log.append([note("on")])
        assert texts(log)[-1] == "on"
    log.close()


def rolled(place: Path, salt: bytes, count: int = 12) -> list[str]:
    """A closed log of several segments."""
    log = EventLog.open(place, segment_bytes=300, disk=FAST, entropy=lambda n: salt * n)
    for n in range(count):
        log.append([note(f"{salt.decode()} {n}")])
    log.close()
    return sorted(path.name for path in place.glob("*.kbl"))


def refusal(place: Path) -> tuple[str, int, int]:
    """Where a log is refused, after checking that it is a prefix."""
    log = EventLog.open(place, disk=FAST)
    log.close()
    assert log.damage is not None
    detail = log.damage.detail
    return detail["file"], detail["offset"], detail["seq"]


def test_segments_of_two_logs_swapped(tmp_path: Path) -> None:
    """A segment of another log in the place of one's own is refused by its header."""
    mine, yours = tmp_path / "mine", tmp_path / "yours"
    names = rolled(mine, b"m")
    assert rolled(yours, b"y") == names
    shutil.copy(yours / names[1], mine / names[1])
    assert refusal(mine) == (names[1], 0, int(names[1][:20]))
    shutil.copy(mine / names[0], yours / names[0])
    assert refusal(yours) == (names[1], 0, int(names[1][:20]))


def test_segments_swapped_within_a_log(tmp_path: Path) -> None:
    """A segment under another's name is refused."""
    names = rolled(tmp_path, b"m")
    (tmp_path / names[1]).rename(tmp_path / "aside")
    (tmp_path / names[2]).rename(tmp_path / names[1])
    (tmp_path / "aside").rename(tmp_path / names[2])
    assert refusal(tmp_path) == (names[1], 0, int(names[1][:20]))


@pytest.mark.parametrize("missing", [0, 1, -1])
def test_a_missing_segment(tmp_path: Path, missing: int) -> None:
    """The first, a middle or the last segment gone: noticed by number or by the anchor."""
    names = rolled(tmp_path, b"m")
    (tmp_path / names[missing]).unlink()
    file, _, seq = refusal(tmp_path)
    assert file == names[missing if missing >= 0 else -2]
    assert seq == int(names[missing][:20])


def test_all_segments_missing(tmp_path: Path) -> None:
    """A log whose segments are all gone is not taken for a new one."""
    for name in rolled(tmp_path, b"m"):
        (tmp_path / name).unlink()
    assert refusal(tmp_path) == (SEGMENT, 0, 1)


def test_a_torn_segment_that_is_not_the_last(tmp_path: Path) -> None:
    """Only the last segment can have been being written."""
    names = rolled(tmp_path, b"m")
    data = (tmp_path / names[0]).read_bytes()
    (tmp_path / names[0]).write_bytes(data[:-3])
    file, offset, _ = refusal(tmp_path)
    assert file == names[0]
    assert offset < len(data)


@pytest.mark.parametrize("size", [1, 24, 5000])
def test_zeros_within_the_log(tmp_path: Path, size: int) -> None:
    """Only the last segment may end in reserved space."""
    names = rolled(tmp_path, b"m")
    with (tmp_path / names[1]).open("ab") as segment:
        end = segment.tell()
        segment.write(bytes(size))
    assert refusal(tmp_path) == (names[1], end, int(names[2][:20]))


def test_a_history_rewritten_with_valid_checksums_is_refused_by_the_anchor(tmp_path: Path) -> None:
    """Another history of the same length under the same salt does not match the anchor."""
    rolled(tmp_path / "mine", b"m", count=2)
    log = EventLog.open(tmp_path / "new", disk=FAST, entropy=lambda n: b"m" * n)
    log.append([note("m 0")])
    log.append([note("m X")])
    log.close()
    shutil.copy(tmp_path / "new" / SEGMENT, tmp_path / "mine" / SEGMENT)
    assert refusal(tmp_path / "mine")[2] == 2


@pytest.mark.parametrize("rewritten", [1, 2])
def test_the_anchor_is_compared_with_frames_before_the_last(tmp_path: Path, rewritten: int) -> None:
    """A history rewritten before the anchored event is refused, whatever was added behind it."""
    rolled(tmp_path / "mine", b"m", count=2)
    log = EventLog.open(tmp_path / "new", disk=FAST, entropy=lambda n: b"m" * n)
    for number in range(1, 9):
        log.append([note("m X" if number == rewritten else f"m {number - 1}")])
    log.close()
    shutil.copy(tmp_path / "new" / SEGMENT, tmp_path / "mine" / SEGMENT)

    assert refusal(tmp_path / "mine")[2] == 2


def test_an_anchor_that_lags_is_no_objection(tmp_path: Path) -> None:
    """Events behind the anchored one are whole, where what comes before is as it was."""
    rolled(tmp_path / "mine", b"m", count=2)
    log = EventLog.open(tmp_path / "new", disk=FAST, entropy=lambda n: b"m" * n)
    for number in range(8):
        log.append([note(f"m {number}")])
    log.close()
    shutil.copy(tmp_path / "new" / SEGMENT, tmp_path / "mine" / SEGMENT)

    found = EventLog.open(tmp_path / "mine", disk=FAST)
    assert (found.damage, found.repairs, found.seq) == (None, (), 8)
    found.close()


def test_what_was_never_finished_is_removed(tmp_path: Path) -> None:
    """Files that were being made when a process died are removed at the next start."""
    rolled(tmp_path, b"m")
    (tmp_path / "00000000000000000013.kbl.tmp").write_bytes(b"half")
    EventLog.open(tmp_path, disk=FAST).close()
    assert not list(tmp_path.glob("*.tmp"))


def test_an_empty_last_segment_is_whole(tmp_path: Path) -> None:
    """A crash between a segment's birth and its first frame leaves nothing wrong."""
    log = make_log(tmp_path, [2])
    log._roll(tail_of(log))
    log.close()
    again = EventLog.open(tmp_path)
    assert (again.damage, again.repairs, again.seq) == (None, (), Seq(2))
    assert again.append([note("three")]) == 3
    assert len(texts(again)) == 3
    again.close()
