"""Encoding and parsing of frames and segment headers. Pure: no I/O.

A frame is a commit: the events in it land together or not at all. The layout is written in words,
with an example, in `kbd.events`. Three properties carry the rest:

* A frame's checksum covers its own header and payload and is seeded with the segment's random
  salt, so each frame can be verified alone, and bytes that only look like a frame (a log quoted
  in a tool's result, what a recycled disk block held) are not one.
* It names the checksum of the frame before it, so frames cannot be dropped, doubled or swapped.
* Its length is never zero, so a tail of zeros is never a frame.
"""

import struct
from hashlib import sha256
from typing import NamedTuple

# Not zlib: ISA-L computes the same crc32 in a third of the time, which doubled a survey's speed.
from isal.isal_zlib import crc32
from msgspec import Struct

from kbd.errors import ValidationFailed
from kbd.events.faults import Problem, fault_error

__all__ = [
    "BODY_AT",
    "CHAIN_BYTES",
    "FORMAT",
    "FRAME_LIMIT",
    "GENESIS",
    "HEADER_BYTES",
    "SEGMENT_BYTES",
    "FrameLink",
    "PackedFrame",
    "ParsedFrames",
    "SegmentHeader",
    "announced_length",
    "chain_value",
    "find_valid_frame",
    "frame_link",
    "is_whole_but_for_length",
    "list_frames",
    "pack_frame",
    "pack_segment",
    "parse_frames",
    "read_segment",
]

FORMAT = 1
"""The version of the layout that is written, and the newest that is understood."""

CHAIN_BYTES = 32
_MIN_LENGTH = CHAIN_BYTES + 1
"""What must follow a frame's header at least: the chain value and a byte of body."""

GENESIS = bytes(CHAIN_BYTES)
"""The chain value before the first frame of a log."""

_FRAME = struct.Struct("<IIIIQ")
_LINKED = struct.Struct("<IIII")
_SPAN = struct.Struct("<8xI4xQ")
_BEGINNING = struct.Struct("<II")
_AFTER_CHECKSUM = struct.Struct("<IIQ32s")
_SEGMENT = struct.Struct("<8sHHQQ32s")
_CHECKSUM = struct.Struct("<I")
_MARK_BYTES = b"KB\x01\x00"
_MARK = int.from_bytes(_MARK_BYTES, "little")
_SEGMENT_MAGIC = b"KBDLOG\r\n"

HEADER_BYTES = _FRAME.size
BODY_AT = HEADER_BYTES + CHAIN_BYTES
"""Where a frame's body begins, counted from the frame's first byte."""

SEGMENT_BYTES = _SEGMENT.size + _CHECKSUM.size
"""The size of a segment's header; its first frame follows at once."""

FRAME_LIMIT = 64 * 1024 * 1024
"""The most bytes that a frame may have, its header included."""

_LENGTH_LIMIT = FRAME_LIMIT - HEADER_BYTES

_NOTHING_HASHED = sha256()
"""Never updated: a copy of it costs less than a new one."""

_CHEAPLY_COPIED = 512
"""A slice of fewer bytes costs less as a copy than as a view."""

_SEARCH_FACTOR = 64
"""How many times the searched bytes `find_valid_frame` may checksum before it gives up: text that
is full of false beginnings must not make recovery quadratic."""


class FrameLink(Struct, frozen=True, gc=False):
    """A place between two frames, and what the next frame must hold to belong there.

    Args:
        seq: The sequence number that the next frame begins with.
        offset: Its offset in the segment, in bytes.
        previous: The checksum of the frame before it; the segment header's for the first.
    """

    seq: int
    offset: int
    previous: int


class PackedFrame(Struct, frozen=True, gc=False):
    """A frame ready to be written, and what its successor must know of it."""

    data: bytes
    checksum: int
    chain: bytes


class ParsedFrames(NamedTuple):
    """Result of parsing: the frames that a run of bytes holds.

    Args:
        last: Where the last whole and valid frame begins; meaningless if there is none.
        link: The place behind it; its offset counts in the bytes, 0 if there is none.
        problem: Why the bytes at that place are no frame of this log; empty if they only end.
    """

    last: int
    link: FrameLink
    problem: Problem


class SegmentHeader(NamedTuple):
    """The first bytes of a segment.

    Args:
        first: The sequence number of its first event.
        salt: A random number that seeds the checksums of its frames.
        chain: The chain value at the end of the segment before; `GENESIS` for the first.
        checksum: Of the header itself; the first frame names it as its predecessor.
        seed: What the checksums of its frames start from.
    """

    first: int
    salt: int
    chain: bytes
    checksum: int
    seed: int


def pack_frame(body: bytes, link: FrameLink, chain: bytes, seed: int) -> PackedFrame:
    """Make the frame of a body, an array of records, for the place that `link` describes.

    Raises:
        ValidationFailed: The frame would pass `FRAME_LIMIT`.
    """
    length = CHAIN_BYTES + len(body)
    if length > _LENGTH_LIMIT:
        raise ValidationFailed(
            "what is to be recorded at once is too long; keep long contents in blobs",
            detail={"size_bytes": HEADER_BYTES + length, "limit_bytes": FRAME_LIMIT},
        )
    value = chain_value(chain, body)
    checked = _AFTER_CHECKSUM.pack(length, link.previous, link.seq, value) + body
    checksum = crc32(checked, seed)
    return PackedFrame(_BEGINNING.pack(_MARK, checksum) + checked, checksum, value)


def chain_value(chain: bytes, body: bytes) -> bytes:
    """Compute the chain value of a frame from its predecessor's and its body."""
    value = _NOTHING_HASHED.copy()
    value.update(chain)
    value.update(body)
    return value.digest()


def parse_frames(data: bytes, link: FrameLink, seed: int) -> ParsedFrames:
    """Check whole frames from the beginning of `data`, up to the first that does not belong.

    This is the inner loop of replay and recovery: it asks each question of a frame once, and why
    one does not belong only when that is so. Which frames there are, `list_frames` tells.

    Args:
        data: Bytes that begin at a frame; they may end within one.
        link: What the first frame must hold; its offset is not used.
        seed: The segment's.
    """
    previous, at, last, size = link.previous, 0, 0, len(data)
    unpack, check, mark, least = _LINKED.unpack_from, crc32, _MARK, _MIN_LENGTH
    view, short = memoryview(data), _CHEAPLY_COPIED
    try:
        while True:
            found, checksum, length, before = unpack(data, at)
            stop = at + HEADER_BYTES + length
            source = data if length < short else view
            if (
                found != mark
                or length < least
                or stop > size
                or before != previous
                # Last: the questions before it cost next to nothing, and bound what is read for
                # this one.
                or check(source[at + 8 : stop], seed) != checksum
            ):
                break
            previous, last, at = checksum, at, stop
    except struct.error:
        pass  # The bytes end before a header does: cheaper to be told than to ask at each frame.
    if not at:
        return ParsedFrames(0, FrameLink(link.seq, 0, previous), _problem(data, at, seed, link.seq))
    # The links keep the order in between. `verification` compares the number of each frame with
    # what the one before it holds.
    _, first = _SPAN.unpack_from(data, last)
    count = _count(data[last + BODY_AT : last + BODY_AT + 5])
    if _SPAN.unpack_from(data)[1] != link.seq or first < link.seq or not count:
        return ParsedFrames(0, FrameLink(link.seq, 0, 0), Problem.CONTENT)
    after = first + count
    return ParsedFrames(last, FrameLink(after, at, previous), _problem(data, at, seed, after))


def _problem(data: bytes, at: int, seed: int, expected: int) -> Problem:
    """Say why the bytes where a parse stopped are no frame that belongs; empty if they only end."""
    if len(data) - at < HEADER_BYTES:
        return Problem.NONE
    found, checksum, length, _, first = _FRAME.unpack_from(data, at)
    stop = at + HEADER_BYTES + length
    if found != _MARK or not _MIN_LENGTH <= length <= _LENGTH_LIMIT:
        return Problem.NO_FRAME
    # The frame may go on behind these bytes: the caller reads more and asks again.
    if stop > len(data):
        return Problem.NONE
    if crc32(data[at + 8 : stop], seed) != checksum:
        return Problem.CHECKSUM
    # A frame that was moved keeps its number. One that has the number of this place was written
    # for it, behind another frame than the one that stands there now.
    return Problem.REWRITTEN if first == expected else Problem.ELSEWHERE


def list_frames(data: bytes, end: int) -> list[tuple[int, int, int]]:
    """List the frames that `parse_frames` found whole in the first `end` bytes.

    Returns:
        For each frame its first sequence number, and where it begins and ends in the bytes.
    """
    frames, at, unpack = [], 0, _SPAN.unpack_from
    while at < end:
        length, first = unpack(data, at)
        stop = at + HEADER_BYTES + length
        frames.append((first, at, stop))
        at = stop
    return frames


def frame_link(data: bytes, at: int, base: int) -> FrameLink:
    """Return the place of a whole frame that begins at `at` in bytes read at the offset `base`."""
    _, _, _, previous, first = _FRAME.unpack_from(data, at)
    return FrameLink(first, base + at, previous)


def _count(body: bytes) -> int:
    """How many elements a msgpack array has, by its first bytes; 0 if it is none."""
    # The first byte of array 16, array 32 and fixarray in the specification of msgpack. 0x90, the
    # empty one, is no frame's body: a frame uses at least one number.
    match body[0]:
        case 0xDC:
            return int.from_bytes(body[1:3], "big")
        case 0xDD:
            return int.from_bytes(body[1:5], "big")
        case kind if 0x90 < kind < 0xA0:
            return kind - 0x90
        case _:
            return 0


def announced_length(data: bytes, at: int = 0) -> int:
    """Return the length that a frame's header announces; 0 if no frame begins there."""
    if len(data) - at < HEADER_BYTES:
        return 0
    mark, _, length, _, _ = _FRAME.unpack_from(data, at)
    if mark != _MARK or not _MIN_LENGTH <= length <= _LENGTH_LIMIT:
        return 0
    return HEADER_BYTES + int(length)


def is_whole_but_for_length(data: bytes, seed: int) -> bool:
    """Return whether bytes are one whole frame, if their number is taken for its length.

    So a length that was damaged is told from a frame whose end is gone.
    """
    if len(data) < HEADER_BYTES + _MIN_LENGTH:
        return False
    length = (len(data) - HEADER_BYTES).to_bytes(4, "little")
    _, checksum = _BEGINNING.unpack_from(data)
    return bool(crc32(length + data[12:], seed) == checksum)


def find_valid_frame(data: bytes, seq: int, seed: int) -> int | None:
    """Find a frame that is valid by itself and holds `seq` or a later number.

    Its presence behind bytes that are no frame tells damage from a torn write: frames are written
    one at a time, so nothing valid can follow one that was never finished.

    Returns:
        The offset of the first such frame in `data`, or None. If `data` holds so many false
        beginnings that the search would not end soon, the place where it gave up.
    """
    view, at, budget = memoryview(data), 0, _SEARCH_FACTOR * len(data)
    while (at := data.find(_MARK_BYTES, at)) >= 0:
        length = announced_length(data, at)
        if length and at + length <= len(data):
            _, checksum, _, _, first = _FRAME.unpack_from(data, at)
            budget -= length
            # A lower number is an old frame of this log, left where the disk reused its block.
            if budget < 0 or (first >= seq and crc32(view[at + 8 : at + length], seed) == checksum):
                return at
        # Not behind the announced length: it may be a false beginning's.
        at += 1
    return None


def pack_segment(first: int, salt: int, chain: bytes) -> bytes:
    """Make the header of a segment."""
    data = _SEGMENT.pack(_SEGMENT_MAGIC, FORMAT, FORMAT, first, salt, chain)
    return data + _CHECKSUM.pack(crc32(data))


def read_segment(data: bytes) -> SegmentHeader:
    """Read the header of a segment.

    Raises:
        LogCorrupt: The bytes are no such header, or one that a newer kbd must read.
    """
    if len(data) < SEGMENT_BYTES:
        raise fault_error("the segment is too short to have a header", "truncated")
    magic, _, min_reader, first, salt, chain = _SEGMENT.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _SEGMENT.size)
    if magic != _SEGMENT_MAGIC or crc32(data[: _SEGMENT.size]) != checksum:
        raise fault_error("the segment's header is damaged", "damaged")
    # Behind the checksum, so that damage is not taken for a newer kbd's log.
    if min_reader > FORMAT:
        needs = (
            f"the segment needs a kbd that reads log format {min_reader}; this one reads {FORMAT}"
        )
        raise fault_error(needs, "unknown")
    # Every frame's checksum begins with salt and mark, so both are computed once a segment.
    seed = crc32(_MARK_BYTES, crc32(salt.to_bytes(8, "little")))
    return SegmentHeader(first, salt, chain, checksum, seed)
