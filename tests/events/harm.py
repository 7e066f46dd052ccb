"""A small log in memory, to be laid down with harm done to it."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from events.logs import Unsynced, note
from kbd.events import EventLog, codec
from kbd.events.anchor import ANCHOR_NAME, Anchor, write_anchor
from kbd.events.base import Recorded
from kbd.events.disk import DISK
from kbd.events.frame import (
    BODY_AT,
    GENESIS,
    HEADER_BYTES,
    FrameLink,
    PackedFrame,
    list_frames,
    pack_frame,
)
from kbd.events.segment import open_segment
from kbd.events.verification import LogDamage, Verification, verify_log

__all__ = ["SEGMENT", "Frame", "Victim", "forged"]

SEGMENT = "00000000000000000001.kbl"


class Frame(NamedTuple):
    """A frame of the log: its first event, the segment, and where in it it lies."""

    first: int
    segment: str
    at: int
    stop: int


class Victim:
    """A closed log of frames of two events, as files in memory.

    Args:
        folder: Where it is laid down.
        commits: How many frames it has.
        segment_bytes: Where a segment ends.
        text: What every event says, with its number.

    Attributes:
        files: Its files by name.
        frames: Its frames, in order.
        heads: The chain value behind each frame.
    """

    def __init__(
        self, folder: Path, commits: int = 10, segment_bytes: int = 500, text: str = ""
    ) -> None:
        self._folder = folder
        made = folder / "made"
        log = EventLog.open(made, segment_bytes=segment_bytes, disk=Unsynced())
        for n in range(commits):
            log.append([note(f"{n} a {text}"), note(f"{n} b {text}")])
        log.close()
        self.files = {path.name: path.read_bytes() for path in made.iterdir()}
        shutil.rmtree(made)
        self.frames = [
            Frame(first, name, 64 + at, 64 + stop)
            for name in self.segments
            for first, at, stop in list_frames(self.files[name][64:], len(self.files[name]) - 64)
        ]
        self.heads = [self._bytes(frame)[HEADER_BYTES:BODY_AT] for frame in self.frames]

    @property
    def segments(self) -> list[str]:
        """The names of its segments, in order."""
        return sorted(name for name in self.files if name.endswith(".kbl"))

    def frame_at(self, name: str, offset: int) -> Frame:
        """The frame that holds a byte, or the next one."""
        return next(each for each in self.frames if each.segment == name and offset < each.stop)

    def lay(self, files: Mapping[str, bytes]) -> Path:
        """Lay the log down with other files in the place of its own; an empty one is left out."""
        place = self._folder / "log"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, data in {**self.files, **files}.items():
            if data:
                (place / name).write_bytes(data)
        return place

    def checked(self, files: Mapping[str, bytes], kept: Anchor | None = None) -> Verification:
        """Verify the log with other files in the place of its own."""
        return verify_log(self.lay(files), expected_head=kept)

    def fault(self, files: Mapping[str, bytes]) -> LogDamage:
        """The one fault of the log with other files; what comes before it is the exact prefix."""
        found = self.checked(files)
        (fault,) = found.faults
        ends = {0: GENESIS} | {frame.first + 1: head for frame, head in self.ended()}
        assert found.head == ends[found.seq].hex()
        return fault

    def ended(self) -> list[tuple[Frame, bytes]]:
        """Each frame with the chain value behind it."""
        return list(zip(self.frames, self.heads, strict=True))

    def without(self, *frames: Frame) -> dict[str, bytes]:
        """The segments that some frames were cut out of."""
        files: dict[str, bytes] = {}
        for frame in sorted(frames, reverse=True):
            data = files.get(frame.segment, self.files[frame.segment])
            files[frame.segment] = data[: frame.at] + data[frame.stop :]
        return files

    def replaced(self, frame: Frame, data: bytes) -> dict[str, bytes]:
        """The segment with other bytes in the place of a frame."""
        whole = self.files[frame.segment]
        return {frame.segment: whole[: frame.at] + data + whole[frame.stop :]}

    def anchor_at(self, place: int) -> dict[str, bytes]:
        """The anchor as it would be if the log ended behind so many frames."""
        folder = self._folder / "anchored"
        folder.mkdir(exist_ok=True)
        end = Anchor(self.frames[place - 1].first + 1, self.heads[place - 1]) if place else None
        write_anchor(folder, end or Anchor(0, GENESIS), DISK)
        return {ANCHOR_NAME: (folder / ANCHOR_NAME).read_bytes()}

    def _bytes(self, frame: Frame) -> bytes:
        return self.files[frame.segment][frame.at : frame.stop]


def forged(
    victim: Victim, place: int, records: list[Recorded], behind: bytes | None = None
) -> PackedFrame:
    """A frame for a place of the log with other events and the right checksum.

    Args:
        victim: The log.
        place: Which of its frames is forged; not the first of a segment.
        records: What it is made to hold.
        behind: The chain value that its own is computed from; the right one if None.
    """
    old, before = victim.frames[place], victim.frames[place - 1]
    seed = open_segment(victim.lay({}) / old.segment).header.seed
    previous = int.from_bytes(victim.files[old.segment][before.at + 4 : before.at + 8], "little")
    link = FrameLink(old.first, old.at, previous)
    return pack_frame(codec.encode(records), link, behind or victim.heads[place - 1], seed)
