r"""The log in a case file, read by the words of its format alone (`kbd.events` has them, too).

A log is segments, read in the order of their names. A segment: 64 bytes of header (magic
"KBDLOG\r\n", u16 format, u16 oldest format a reader must know, u64 first event, u64 salt, 32
bytes chain value before it, u32 crc32 of all that), then frames to its end. A frame: "KB", u8
version 1, u8 flags 0, u32 crc32, u32 length of what follows the header, u32 crc32 field of the
frame before (of the segment's header for the first), u64 number of its first event, 32 bytes chain
value, and the body, a msgpack array of records `[type, version, data, ts_us, run, cause, flags]`.
The crc32 is of the salt, the frame's bytes 0 to 3, and those from 8 on; the chain value is the
sha256 of the chain value before and the body. Numbers are little endian. Events are numbered from
1. The file `anchor` says twice, each in 4 KiB, which event was the last durable one.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from .packed import unpacked

__all__ = ["Broken", "History", "Part", "blobs_of", "read_history"]

_SEGMENT = struct.Struct("<8sHHQQ32sI")
_FRAME = struct.Struct("<4sIIIQ32s")
_SLOT_BYTES = 4096
_HEADER_BYTES = 24
"""A frame's header up to the chain value."""

_FRAME_LIMIT = 64 * 1024 * 1024
_MARK = b"KB\x01\x00"
_HASH = re.compile(r"[0-9a-f]{64}")
_SEGMENT_NAME = re.compile(r"\d{20}\.kbl")

_BLOBS: Mapping[str, tuple[str, ...]] = {
    "FileAdded": ("blob",),
    "FileAdopted": ("blob",),
    "FileChanged": ("before", "after"),
    "ModelRequested": ("opening",),
    "ModelReplied": ("calls.blob",),
    "ToolCalled": ("arguments_blob",),
    "ToolReturned": ("blob",),
    "PublishIntended": (
        "files.old",
        "files.new",
        "rewind.files.blob",
        "rewind.files.origin",
        "rewind.draft.files.base",
        "rewind.draft.files.blob",
    ),
    "ConversationRewound": (
        "files.blob",
        "files.origin",
        "draft.files.base",
        "draft.files.blob",
    ),
    "DraftRecovered": ("draft.files.base", "draft.files.blob"),
    "CheckpointCreated": ("files.blob",),
    "EffectIntended": ("file.blob",),
    "ReceiptMade": ("blob",),
    "ApprovalRequested": ("files.base", "files.blob"),
}
"""Which fields of which events name blobs; what is behind a dot is in it, or in each of a list."""


class Part(NamedTuple):
    """A file as it lies in another: from `start` on, `size` bytes."""

    file: BinaryIO
    start: int
    size: int

    def read(self, offset: int, count: int) -> bytes:
        """Read bytes of it; fewer if it ends."""
        self.file.seek(self.start + offset)
        return self.file.read(max(0, min(count, self.size - offset)))


class Broken(Exception):
    """The log is not whole.

    Args:
        name: The file of the log.
        offset: Where in it, in bytes.
        seq: The event that was expected there.
        reason: What is wrong.
    """

    def __init__(self, name: str, offset: int, seq: int, reason: str) -> None:
        super().__init__(reason)
        self.name, self.offset, self.seq, self.reason = name, offset, seq, reason


class History(NamedTuple):
    """What a log says.

    Args:
        seq: Its last event.
        head: The chain value there, as hex digits.
        frames: How many frames there are.
        blobs: The blobs that its events name, each with the first event that does; without those
            that a later event says were removed on purpose.
        runs: The numbers of the runs that events belong to.
        heads: The chain values behind the events that were asked for, where a frame ends.
    """

    seq: int
    head: str
    frames: int
    blobs: dict[str, int]
    runs: list[int]
    heads: dict[int, str]


class _Place:
    """A place between two frames, and what was gathered on the way."""

    def __init__(self, asked: tuple[int, ...]) -> None:
        self.seq, self.chain, self.frames = 1, bytes(32), 0
        self.blobs: dict[str, int] = {}
        self.runs: dict[int, None] = {}
        self.asked = asked
        self.heads: dict[int, str] = {}


def read_history(parts: Mapping[str, Part], asked: tuple[int, ...] = ()) -> History:
    """Read and check a whole log.

    Args:
        parts: Its files by their names.
        asked: Events whose chain values are wanted.

    Raises:
        Broken: It is not whole.
    """
    place = _Place(asked)
    names = sorted(name for name in parts if _SEGMENT_NAME.fullmatch(name))
    for name in parts:
        if name not in names and name != "anchor":
            raise Broken(name, 0, 0, "the file does not belong to a log")
    for name in names:
        _read_segment(name, parts[name], place)
    last = place.seq - 1
    if "anchor" not in parts:
        raise Broken("anchor", 0, last, "the anchor is missing")
    _check_anchor(parts["anchor"], last, place.chain)
    runs, heads = sorted(place.runs), place.heads
    return History(last, place.chain.hex(), place.frames, place.blobs, runs, heads)


def _read_segment(name: str, part: Part, place: _Place) -> None:
    header = part.read(0, _SEGMENT.size)
    if len(header) < _SEGMENT.size:
        raise Broken(name, 0, place.seq, "the segment is too short to have a header")
    magic, _, reader, first, salt, chain, checksum = _SEGMENT.unpack(header)
    if magic != b"KBDLOG\r\n" or zlib.crc32(header[:-4]) != checksum:
        raise Broken(name, 0, place.seq, "the segment's header is damaged")
    if reader > 1:
        raise Broken(name, 0, place.seq, f"the segment needs a reader of format {reader}")
    if first != place.seq or chain != place.chain or name != f"{first:020}.kbl":
        raise Broken(name, 0, place.seq, "the segment does not follow from the one before")
    seed, previous, at = zlib.crc32(struct.pack("<Q", salt)), checksum, _SEGMENT.size
    while at < part.size:
        previous, at = _read_frame(name, part, place, (seed, previous, at))


def _read_frame(
    name: str, part: Part, place: _Place, link: tuple[int, int, int]
) -> tuple[int, int]:
    """Check a frame and take it in; return its checksum and where it ends."""
    seed, previous, at = link
    header = part.read(at, _FRAME.size)
    if len(header) < _FRAME.size:
        raise Broken(name, at, place.seq, "the file ends within a frame")
    mark, checksum, length, before, first, chain = _FRAME.unpack(header)
    if mark != _MARK or not 32 < length <= _FRAME_LIMIT - _HEADER_BYTES:
        raise Broken(name, at, place.seq, "no frame begins here")
    data = part.read(at, _HEADER_BYTES + length)
    if len(data) < _HEADER_BYTES + length:
        raise Broken(name, at, place.seq, "the file ends within a frame")
    if zlib.crc32(data[8:], zlib.crc32(mark, seed)) != checksum:
        raise Broken(name, at, place.seq, "the frame's checksum does not match its bytes")
    if before != previous or first != place.seq:
        raise Broken(name, at, place.seq, "the frame does not follow from the one before it")
    body = data[_FRAME.size :]
    if hashlib.sha256(place.chain + body).digest() != chain:
        raise Broken(name, at, place.seq, "the chain of hashes breaks here")
    try:
        count = _take_in(unpacked(body), place)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Broken(name, at, place.seq, "the frame holds no events") from None
    place.seq, place.chain, place.frames = place.seq + count, chain, place.frames + 1
    if place.seq - 1 in place.asked:
        place.heads[place.seq - 1] = chain.hex()
    return checksum, at + len(data)


def _take_in(records: Any, place: _Place) -> int:
    """Note what the records of a frame name; return how many they are."""
    if not isinstance(records, list) or not records:
        raise ValueError("the body is no array of records")
    for seq, record in enumerate(records, place.seq):
        kind, version, data, ts_us, run = record[:5]
        if [type(each) for each in (kind, version, ts_us, run)] != [str, int, int, int]:
            raise ValueError("a record is in disorder")
        if run:
            place.runs[run] = None
        for blob in data["blobs"] if kind == "BlobsCollected" else ():
            place.blobs.pop(blob, None)
        for blob in blobs_of(kind, data):
            place.blobs.setdefault(blob, seq)
    return len(records)


def blobs_of(kind: str, data: Any) -> Iterator[str]:
    """Yield the blobs that an event names.

    Args:
        kind: Its type.
        data: Its data, as stored.

    Raises:
        ValueError, TypeError, AttributeError: The data are not of that type.
    """
    for path in _BLOBS.get(kind, ()):
        for blob in _held(data, path.split(".")):
            if not _HASH.fullmatch(blob):
                raise ValueError("a blob is named by 64 hex digits")
            yield str(blob)


def _held(data: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield what lies at the end of a path, of lists in each; what is left out is not there."""
    if data is None:
        return
    if isinstance(data, list):
        for each in data:
            yield from _held(each, path)
    elif path:
        yield from _held(data.get(path[0]), path[1:])
    else:
        yield data


def _check_anchor(part: Part, seq: int, chain: bytes) -> None:
    """See that the anchor names the end of the log, twice."""
    named = struct.pack("<8sQ32s", b"KBDANCH\n", seq, chain)
    slot = (named + struct.pack("<I", zlib.crc32(named))).ljust(_SLOT_BYTES, b"\0")
    if part.size != 2 * _SLOT_BYTES or part.read(0, part.size) != slot + slot:
        raise Broken("anchor", 0, seq, "the anchor does not name the end of this log")
