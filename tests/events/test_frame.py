"""Frames: each can be verified alone, none can be taken for another, zeros are never one."""

import struct
from hashlib import sha256
from zlib import crc32

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kbd.events
from kbd.errors import LogCorrupt
from kbd.events import frame
from kbd.events.frame import GENESIS, FrameLink

SEGMENT = frame.read_segment(frame.pack_segment(1, 7, GENESIS))
START = FrameLink(1, 0, SEGMENT.checksum)


def bodies_packed(bodies: list[list[object]], seed: int = SEGMENT.seed) -> bytes:
    """Frames with these bodies, in order."""
    link, chain, data = START, GENESIS, b""
    for body in bodies:
        made = frame.pack_frame(msgpack.packb(body), link, chain, seed)
        data += made.data
        link, chain = FrameLink(link.seq + len(body), 0, made.checksum), made.chain
    return data


THREE = bodies_packed([["one"], ["two", "three"], ["x" * 50]])


def test_the_format_in_words_is_the_format() -> None:
    """The example in the package's docstring decodes by hand, from its words alone."""
    text = (kbd.events.__doc__ or "").split("A worked example")[1].split("What is kept")[0]
    lines = [line.split() for line in text.splitlines() if line.startswith("    ")]
    dump = [pair for line in lines for pair in line[1:17] if len(pair) == 2]
    data = bytes(int(pair, 16) for pair in dump[:173])

    magic, _, reader, first, salt, chain = struct.unpack_from("<8sHHQQ32s", data)
    assert (magic, reader, first, salt, chain) == (b"KBDLOG\r\n", 1, 1, 0, bytes(32))
    (header_crc,) = struct.unpack_from("<I", data, 60)
    assert header_crc == crc32(data[:60])

    found = data[64:]
    crc, length, before, seq = struct.unpack_from("<IIIQ", found, 4)
    assert (found[:4], before, seq, length) == (b"KB\x01\x00", header_crc, 1, len(found) - 24)
    assert crc == crc32(bytes(8) + found[:4] + found[8:])
    assert found[24:56] == sha256(bytes(32) + found[56:]).digest()
    (record,) = msgpack.unpackb(found[56:])
    data_map = {"model_id": "offline:planner"}
    assert record == ["ModelChosen", 1, data_map, 1763750000000000, 0, 0, 0]


def spans(data: bytes) -> list[tuple[int, int]]:
    """Where the frames begin and end that are found whole at the beginning of the bytes."""
    end = frame.parse_frames(data, START, SEGMENT.seed).link.offset
    return [(at, stop) for _, at, stop in frame.list_frames(data, end)]


@given(st.lists(st.lists(st.text(max_size=30), min_size=1, max_size=40), max_size=8))
def test_frames_come_back(bodies: list[list[object]]) -> None:
    """What was packed is parsed: every body, every number, up to the last byte."""
    data = bodies_packed(bodies)
    parsed = frame.parse_frames(data, START, SEGMENT.seed)
    assert parsed.problem == ""
    assert parsed.link.offset == len(data)
    assert parsed.link.seq == 1 + sum(len(body) for body in bodies)
    assert [msgpack.unpackb(data[at + 56 : stop]) for at, stop in spans(data)] == bodies


@pytest.mark.parametrize("count", [1, 15, 16, 65_535, 65_536])
def test_the_number_of_events_is_known_without_decoding(count: int) -> None:
    """All forms of a msgpack array's length are read."""
    parsed = frame.parse_frames(bodies_packed([[0] * count]), START, SEGMENT.seed)
    assert parsed.link.seq == 1 + count


def test_every_flipped_bit_is_noticed() -> None:
    """One wrong bit anywhere ends the parse before the frame that holds it."""
    ends = [stop for _, stop in spans(THREE)]
    for bit in range(len(THREE) * 8):
        data = bytearray(THREE)
        data[bit // 8] ^= 1 << bit % 8
        assert [stop for _, stop in spans(bytes(data))] == [end for end in ends if end <= bit // 8]


def test_frames_cannot_be_dropped_doubled_or_swapped() -> None:
    """A valid frame in a wrong place does not belong."""
    one, two, three = (THREE[at:stop] for at, stop in spans(THREE))
    for data, good in [(one + three, 1), (one + one + two, 1), (two + one, 0), (one + three, 1)]:
        parsed = frame.parse_frames(data, START, SEGMENT.seed)
        assert len(spans(data)) == good
        assert parsed.problem == "the frame does not follow from the one before it"


@pytest.mark.parametrize("size", [1, 8, 24, 4096, 65_536])
def test_zeros_are_no_frame(size: int) -> None:
    """A tail of zeros, as a preallocated or half-written file has, holds no frames."""
    assert len(spans(THREE + bytes(size))) == 3
    assert frame.find_valid_frame(bytes(size), 1, SEGMENT.seed) is None


@pytest.mark.parametrize("body", [b"", b"\x90", b"\xc0", b"\xdc\x00\x00", b"\xdd\x00\x00\x00\x00"])
def test_a_body_without_events_is_no_frame(body: bytes) -> None:
    """A frame must hold at least one event."""
    made = frame.pack_frame(body, START, GENESIS, SEGMENT.seed)
    assert frame.parse_frames(made.data, START, SEGMENT.seed).problem


@pytest.mark.parametrize(("first", "second"), [(2, 3), (0, 1), (1, 0)])
def test_a_frame_with_a_wrong_number_is_refused(first: int, second: int) -> None:
    """A run must begin with the number that is expected, and may not end before it."""
    one = frame.pack_frame(
        b"\x91\xc0", FrameLink(first, 0, SEGMENT.checksum), GENESIS, SEGMENT.seed
    )
    two = frame.pack_frame(b"\x91\xc0", FrameLink(second, 0, one.checksum), one.chain, SEGMENT.seed)
    parsed = frame.parse_frames(one.data + two.data, START, SEGMENT.seed)
    assert (parsed.link.offset, parsed.problem) == (0, "the frame's number or body is wrong")


def test_a_later_frame_is_found_behind_damage() -> None:
    """`find_valid_frame` finds a valid frame at any offset if its number is high enough."""
    _, (at, stop), _ = spans(THREE)
    data = b"KB\x01\x00 damage KB" + THREE[at:stop] + b"more"
    assert frame.find_valid_frame(data, 2, SEGMENT.seed) == data.index(THREE[at:stop])
    assert frame.find_valid_frame(data, 3, SEGMENT.seed) is None


def test_quoted_frames_of_another_log_are_not_found() -> None:
    """Bytes of another log are not taken for this one's: its frames are salted otherwise."""
    other = frame.read_segment(frame.pack_segment(1, 8, GENESIS))
    data = bodies_packed([["planted"]], seed=other.seed)
    assert frame.find_valid_frame(data, 1, SEGMENT.seed) is None
    assert frame.find_valid_frame(data, 1, other.seed) == 0


def test_the_search_gives_up_on_text_full_of_beginnings() -> None:
    """Many long false beginnings count as damage instead of costing quadratic time."""
    false = b"KB\x01\x00" + struct.pack("<IIIQ", 0, 150_000, 0, 9)
    data = false * 10_000
    at = frame.find_valid_frame(data, 1, SEGMENT.seed)
    assert at is not None
    assert at % len(false) == 0


def test_a_damaged_segment_header_is_refused() -> None:
    """Every flipped byte of a segment's header is noticed, and so is a short one."""
    header = frame.pack_segment(5, 99, b"c" * 32)
    assert frame.read_segment(header)[:3] == (5, 99, b"c" * 32)
    for place in range(len(header)):
        data = bytearray(header)
        data[place] ^= 0x10
        with pytest.raises(LogCorrupt):
            frame.read_segment(bytes(data))
    with pytest.raises(LogCorrupt, match="too short"):
        frame.read_segment(header[:-1])


def test_a_segment_for_a_newer_reader_is_refused_by_version() -> None:
    """A segment that this kbd may not read says which format it needs."""
    data = struct.pack("<8sHHQQ32s", b"KBDLOG\r\n", 4, 3, 1, 0, GENESIS)
    with pytest.raises(LogCorrupt, match="format 3; this one reads 1"):
        frame.read_segment(data + struct.pack("<I", crc32(data)))
