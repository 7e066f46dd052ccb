"""Every sort of harm that a log takes is found, named as what it is, and located."""

import random
from pathlib import Path

import pytest

from events.harm import SEGMENT, Victim, forged
from events.logs import note
from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.anchor import ANCHOR_NAME, Anchor
from kbd.events.faults import FaultKind
from kbd.events.frame import GENESIS, FrameLink, pack_frame, parse_frames, read_segment
from kbd.events.segment import open_segment


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    """A closed log of twenty events in frames of two, in several segments."""
    return Victim(tmp_path)


@pytest.mark.parametrize(
    ("step", "bits"), [(41, 0x10), pytest.param(1, 0x01, marks=pytest.mark.soak)]
)
def test_a_flipped_byte_is_damage_where_it_lies(victim: Victim, step: int, bits: int) -> None:
    """Any byte of any segment: the frame or the header that holds it is named, and damaged."""
    for name in victim.segments:
        whole = victim.files[name]
        for offset in range(0, len(whole), step):
            harmed = bytearray(whole)
            harmed[offset] ^= bits
            fault = victim.fault({name: bytes(harmed)})
            at = 0 if offset < 64 else victim.frame_at(name, offset).at
            assert (fault.kind, fault.file, fault.offset) == ("damaged", name, at)


@pytest.mark.soak
def test_every_byte_of_a_mebibyte_flipped(tmp_path: Path) -> None:
    """None goes unnoticed. What is before the frame that holds it is the exact prefix.

    Whether a frame is whole depends on its own bytes and on its place alone. So each flip is shown
    to the parser with the frame that it hits, and one in 500 of them to a whole verification.
    """
    text = "what the model said, or what it was shown; " * 20
    victim = Victim(tmp_path, commits=650, segment_bytes=300_000, text=text)
    assert sum(len(victim.files[name]) for name in victim.segments) > 1 << 20
    chance, seen = random.Random(1), 0
    for name in victim.segments:
        whole, segment = victim.files[name], open_segment(victim.lay({}) / name)
        for offset in range(64):
            harmed = bytearray(whole[:64])
            harmed[offset] ^= 1 << chance.randrange(8)
            with pytest.raises(LogCorrupt):
                read_segment(bytes(harmed))
        previous = segment.header.checksum
        for frame in (each for each in victim.frames if each.segment == name):
            link = FrameLink(frame.first, 0, previous)
            data = bytearray(whole[frame.at : frame.stop + 100])
            size = frame.stop - frame.at
            assert parse_frames(bytes(data[:size]), link, segment.seed).link.offset == size
            for at in range(size):
                bit = 1 << chance.randrange(8)
                data[at] ^= bit
                assert not parse_frames(bytes(data), link, segment.seed).link.offset
                data[at] ^= bit
                seen += 1
                if not seen % 500:
                    harmed = bytearray(whole)
                    harmed[frame.at + at] ^= bit
                    fault = victim.fault({name: bytes(harmed)})
                    assert (fault.kind, fault.file, fault.offset) == ("damaged", name, frame.at)
            previous = int.from_bytes(whole[frame.at + 4 : frame.at + 8], "little")
    assert seen > 1 << 20


@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.soak)])
def test_a_file_that_was_cut_is_truncated_there(victim: Victim, step: int) -> None:
    """Cut at any byte, of any segment: the end of its last whole frame is named."""
    for name in victim.segments:
        whole = victim.files[name]
        frames = [frame for frame in victim.frames if frame.segment == name]
        boundaries = {64, *(frame.stop for frame in frames[:-1])}
        for size in sorted({*range(1, len(whole), step), *boundaries}):
            fault = victim.fault({name: whole[:size]})
            good = max((end for end in [64, *boundaries] if end <= size), default=0)
            assert (fault.kind, fault.file) == ("truncated", name)
            assert fault.offset == (good if size >= 64 else 0)


def test_zeros_where_events_were_acknowledged_are_a_truncated_log(victim: Victim) -> None:
    """A last segment that was cut and grew again with zeros ends where they begin."""
    last = victim.frames[-1]
    for spare in (1, 30, 5000):
        fault = victim.fault(victim.replaced(last, bytes(spare)))
        assert (fault.kind, fault.file, fault.offset) == ("truncated", last.segment, last.at)
        assert fault.reason == "acknowledged events up to 20 are missing"


def test_a_segment_that_is_gone_is_missing(victim: Victim) -> None:
    """Any but the last: its own name is told. The last: its events are, behind what is left."""
    for name in victim.segments[:-1]:
        fault = victim.fault({name: b""})
        assert (fault.kind, fault.file, fault.offset) == ("missing", name, 0)
        assert fault.seq == int(name[:20])
    fault = victim.fault({victim.segments[-1]: b""})
    before = victim.segments[-2]
    assert (fault.kind, fault.file) == ("truncated", before)
    assert fault.offset == len(victim.files[before])
    fault = victim.fault(dict.fromkeys(victim.segments, b""))
    assert (fault.kind, fault.file, fault.seq) == ("missing", SEGMENT, 1)


def test_segments_in_each_others_place_are_swapped(victim: Victim) -> None:
    """Renamed or with their contents exchanged, all pairs: the first of the two is named."""
    for place, one in enumerate(victim.segments):
        for other in victim.segments[place + 1 :]:
            fault = victim.fault({one: victim.files[other], other: victim.files[one]})
            assert (fault.kind, fault.file, fault.offset) == ("swapped", one, 0)


def test_a_segment_of_another_log_is_swapped(victim: Victim, tmp_path: Path) -> None:
    """It is whole, and has the right name and numbers; where it meets this log's, they part."""
    other = Victim(tmp_path / "other", text="x")
    assert other.segments == victim.segments
    for name, following in zip(victim.segments, victim.segments[1:], strict=False):
        (fault,) = victim.checked({name: other.files[name]}).faults
        joint = following if name == SEGMENT else name
        assert (fault.kind, fault.file, fault.offset) == ("swapped", joint, 0)


def test_a_segment_twice_is_swapped(victim: Victim) -> None:
    """A copy under a name that fits between, or one that begins with what there is already."""
    one, two = victim.segments[:2]
    between = f"{int(two[:20]) - 1:020}.kbl"
    assert victim.fault({between: victim.files[two]}).kind == "swapped"
    header = victim.files[one][:64]
    assert victim.fault({two: header + victim.files[two][64:]}).kind == "swapped"


def test_frames_that_moved_are_swapped(victim: Victim) -> None:
    """Dropped, doubled or exchanged within a segment: the first that is not in its place."""
    one, two, three, four = (frame for frame in victim.frames if frame.segment == SEGMENT)
    whole = victim.files[SEGMENT]
    a, b, c = (whole[frame.at : frame.stop] for frame in (one, two, three))
    header, end = whole[:64], whole[four.at :]
    for frames, at in [
        (b + c, one.at),
        (a + c, two.at),
        (a + a + b + c, two.at),
        (a + b + b + c, three.at),
        (b + a + c, one.at),
        (a + c + b, two.at),
        (c + b + a, one.at),
    ]:
        fault = victim.fault({SEGMENT: header + frames + end})
        assert (fault.kind, fault.file, fault.offset) == ("swapped", SEGMENT, at)


@pytest.mark.parametrize("size", [1, 2])
def test_an_edit_with_right_checksums_is_edited(victim: Victim, size: int) -> None:
    """A body exchanged, its checksum made right: the chain tells, or what follows from it does."""
    records = [note("forged")] * size
    frame = victim.frames[1]
    fault = victim.fault(victim.replaced(frame, forged(victim, 1, records, b"?" * 32).data))
    assert (fault.kind, fault.file, fault.offset) == ("edited", SEGMENT, frame.at)
    # With its chain right, too, the break is behind it: that frame followed from another one.
    made = forged(victim, 1, records).data
    (fault,) = victim.checked(victim.replaced(frame, made)).faults
    kind: FaultKind = "edited" if size == 2 else "swapped"
    assert (fault.kind, fault.offset) == (kind, frame.at + len(made))


def test_frames_whose_numbers_leave_a_gap_are_edited(victim: Victim) -> None:
    """Checksums, links and chain made right: still the frame does not hold what is numbered."""
    frame, following = victim.frames[1], victim.frames[2]
    made = forged(victim, 1, [note("one instead of two")])
    seed = open_segment(victim.lay({}) / SEGMENT).header.seed
    link = FrameLink(following.first, 0, made.checksum)
    after = pack_frame(codec.encode([note("as before")]), link, made.chain, seed)
    harmed = victim.files[SEGMENT][: frame.at] + made.data + after.data
    fault = victim.checked({SEGMENT: harmed}).fault
    assert fault is not None
    assert (fault.kind, fault.file, fault.offset) == ("edited", SEGMENT, frame.at)
    assert "gap" in fault.reason


def test_an_anchor_that_is_gone_is_told_apart(victim: Victim) -> None:
    """Deleted or unreadable, with the log whole, or cut at a frame or within one."""
    last = victim.frames[-1]
    for anchor in (b"", b"?" * 8192):
        for size in (last.stop, last.stop - 3, last.at):
            cut = {last.segment: victim.files[last.segment][:size], ANCHOR_NAME: anchor}
            fault = victim.fault(cut)
            assert (fault.kind, fault.file, fault.offset) == ("anchor", ANCHOR_NAME, 0)


def test_a_log_cut_with_its_anchor_is_known_by_a_kept_head_only(victim: Victim) -> None:
    """At every frame: nothing in the log tells. The head that was kept does, and says where."""
    kept = Anchor(20, victim.heads[-1])
    assert victim.checked({}, kept).is_whole
    for place in range(len(victim.frames)):
        frame = victim.frames[place]
        behind = [name for name in victim.segments if name > frame.segment]
        files = {frame.segment: victim.files[frame.segment][: frame.at]}
        files |= dict.fromkeys(behind, b"") | victim.anchor_at(place)
        assert victim.checked(files).is_whole
        (fault,) = victim.checked(files, kept).faults
        assert (fault.kind, fault.file, fault.seq) == ("truncated", frame.segment, frame.first)
        assert fault.offset == frame.at


def test_a_log_written_anew_is_known_by_a_kept_head_only(victim: Victim, tmp_path: Path) -> None:
    """Another history with a right chain and anchor of its own is whole, and is not this one."""
    anew = Victim(tmp_path / "anew", text="!", segment_bytes=10_000)
    assert anew.checked({}).is_whole
    for place, (frame, head) in enumerate(victim.ended()):
        (fault,) = anew.checked({}, Anchor(frame.first + 1, head)).faults
        assert (fault.kind, fault.file) == ("head", SEGMENT)
        assert (fault.offset, fault.seq) == (anew.frames[place].at, frame.first)


def test_a_kept_head_within_a_frame_was_never_one_of_this_log(victim: Victim) -> None:
    """A number at which no frame ends is told; so is a wrong hash before the first event."""
    (fault,) = victim.checked({}, Anchor(7, victim.heads[3])).faults
    assert (fault.kind, fault.seq) == ("head", 7)
    assert "none of its frames ends with that event" in fault.reason
    assert victim.checked({}, Anchor(0, GENESIS)).is_whole
    (fault,) = victim.checked({}, Anchor(0, victim.heads[0])).faults
    assert fault.kind == "head"


def test_every_head_of_a_log_fits_it_for_ever(victim: Victim) -> None:
    """Whenever it was kept; damage behind it is told, and nothing else."""
    for frame, head in victim.ended():
        assert victim.checked({}, Anchor(frame.first + 1, head)).is_whole
    last = victim.frames[-1]
    harmed = victim.replaced(last, b"?" * (last.stop - last.at))
    for frame, head in victim.ended():
        (fault,) = victim.checked(harmed, Anchor(frame.first + 1, head)).faults
        assert (fault.kind, fault.offset) == ("damaged", last.at)
