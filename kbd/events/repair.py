"""Proof that a log is whole, and the explicit cut for one that is not."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from kbd.errors import LogCorrupt, ValidationFailed
from kbd.events import codec
from kbd.events.anchor import ANCHOR_NAME, Anchor, write_anchor
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK, Disk
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES
from kbd.events.mend import free_name
from kbd.events.named import named_blobs
from kbd.events.scan import Survey, Tear, survey
from kbd.events.segment import Block, Segment, damaged, segment_names
from kbd.types import BlobHash, Seq

__all__ = ["Cut", "Fault", "Verification", "cut", "verify"]


class Fault(msgspec.Struct, frozen=True):
    """The first thing that is wrong.

    Args:
        kind: "log" for damage in the log, "blob" for a blob that is missing or not its hash,
            "unknown" for a log that a newer kbd must read.
        file: The file's name.
        offset: Where in it, in bytes.
        seq: The event that was expected there, or that names the blob.
        reason: What is wrong.
    """

    kind: Literal["log", "blob", "unknown"]
    file: str
    offset: int
    seq: int
    reason: str


class Verification(msgspec.Struct, frozen=True):
    """What reading a whole log again found.

    Args:
        frames: How many frames are whole.
        seq: The last event of the whole part.
        head: The chain value there, in hex: print, sign or keep it elsewhere, and nobody can
            change the history unnoticed.
        anchored: The event that the anchor names.
        blobs_checked: How many blobs were read.
        tear: What a write that was not finished left; the next start cuts it off. Not a fault.
        fault: The first fault, or None.
    """

    frames: int
    seq: Seq
    head: str
    anchored: int | None
    blobs_checked: int
    tear: Tear | None
    fault: Fault | None

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return self.fault is None


class Cut(msgspec.Struct, frozen=True):
    """What a cut took away.

    Args:
        seq: The last event that is left.
        kept: The names of the files that hold what was taken.
    """

    seq: Seq
    kept: tuple[str, ...]


def verify(
    log_dir: Path,
    blobs: BlobStore | None = None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> Verification:
    """Check everything that a log promises: frames, numbers, chain, anchor, events, blobs.

    Reads only; the log may be in use, when its last frame may look unfinished (`tear`).

    Args:
        log_dir: The log's directory.
        blobs: Where the blobs lie that its events name; None leaves them out.
        on_progress: Called now and then with the last event that was checked.
    """
    named: dict[BlobHash, int] = {}
    frames = 0

    def visit(segment: Segment, block: Block) -> None:
        nonlocal frames
        for first, last, at, stop in block.spans():
            try:
                records = codec.decode(block.data[at + BODY_AT : stop])
            except LogCorrupt as error:
                error.detail |= {"file": segment.name, "offset": block.base + at, "seq": first}
                raise
            if len(records) != last + 1 - first:
                reason = "the numbers of the events have a gap behind this frame"
                raise damaged(reason, segment.name, block.base + at, first)
            frames += 1
            if blobs is not None:
                for seq, record in enumerate(records, first):
                    for blob in named_blobs(record.data):
                        named.setdefault(blob, seq)
        on_progress(block.link.seq - 1)

    found = survey(log_dir, chained=True, visit=visit)
    fault = None if found.fault is None else _log_fault(found.fault)
    checked = 0
    if blobs is not None:
        result = blobs.verify(named)
        checked = result.checked
        fault = fault or _blob_fault(named, result.missing, "is missing")
        fault = fault or _blob_fault(named, result.damaged, "does not hold what its name says")
    return Verification(
        frames, found.seq, found.chain.hex(), found.anchored, checked, found.tear, fault
    )


def _log_fault(error: LogCorrupt) -> Fault:
    detail = error.detail
    kind: Literal["log", "unknown"] = "unknown" if isinstance(error, codec.NotUnderstood) else "log"
    reason = str(detail.get("reason", error.message))
    return Fault(kind, str(detail["file"]), int(detail["offset"]), int(detail["seq"]), reason)


def _blob_fault(named: dict[BlobHash, int], wrong: tuple[BlobHash, ...], what: str) -> Fault | None:
    if not wrong:
        return None
    first = min(wrong, key=lambda blob: named[blob])
    more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    reason = f"a blob that event {named[first]} names {what}{more}"
    return Fault("blob", first, 0, named[first], reason)


def cut(log_dir: Path, to_seq: Seq, disk: Disk = DISK) -> Cut:
    """Cut a log behind an event, on somebody's explicit wish; nobody may have it open.

    What is cut off, and the anchor, are kept as `<file>.cut-<n>`, unless it is reserved space only.
    A crash on the way leaves a log that is cut already or that can be cut again.

    Raises:
        ValidationFailed: The log cannot be read that far, or no frame ends with that event.
        DiskFull: There is no space for the copies; nothing was cut.
        OSError: The disk failed.
    """
    place = _find(log_dir, to_seq)
    if (log_dir / ANCHOR_NAME).exists():
        _keep(log_dir, ANCHOR_NAME, disk)
    kept = []
    write_anchor(log_dir, Anchor(to_seq, place.chain), disk)
    for name in reversed([name for name in segment_names(log_dir) if name > place.segment]):
        kept.append(free_name(log_dir, name, "cut"))
        disk.rename(log_dir / name, log_dir / kept[-1])
        disk.sync_directory(log_dir)
    if place.segment:
        path = log_dir / place.segment
        behind = path.read_bytes()[place.offset :]
        if behind != bytes(len(behind)):
            kept.append(_keep(log_dir, place.segment, disk))
        if behind:
            _truncate(path, place.offset, disk)
    return Cut(to_seq, tuple(reversed(kept)))


class _Place(msgspec.Struct):
    """Where a cut goes: behind `offset` of `segment`; an empty name is before them all."""

    segment: str
    offset: int
    chain: bytes
    near: list[int]


def _find(log_dir: Path, to_seq: int) -> _Place:
    """Find the frame that ends with an event.

    Raises:
        ValidationFailed: There is none in the readable part.
    """
    place = _Place("", 0, GENESIS, [0])
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

    found: Survey = survey(log_dir, visit=visit)
    if place.near[0] != to_seq:
        ends = " or ".join(str(seq) for seq in place.near)
        raise ValidationFailed(
            f"The log cannot be cut behind event {to_seq}; the nearest place is {ends}.",
            detail={"nearest": place.near, "last_readable": found.seq},
        )
    return place


def _keep(log_dir: Path, name: str, disk: Disk) -> str:
    """Keep a durable copy of a file beside it."""
    kept_as = free_name(log_dir, name, "cut")
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
