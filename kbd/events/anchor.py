"""Anchor of a log: a file beside it that says how far the log is durable.

A chain of hashes shows damage but not absence: a log cut at the end of a frame looks whole. The
anchor says "up to this sequence number, with this chain value, everything was durable". If the log
ends before it, acknowledged events are missing.

The file has two slots of 4 KiB, written in turn and each with its checksum, so that a torn write
of one leaves the other: `magic 8 bytes, seq u64, chain 32 bytes, crc32 u32`, little endian, then
zeros. The valid slot with the higher number counts.
"""

import errno
import os
import struct
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from kbd.events.disk import Disk
from kbd.events.frame import GENESIS

__all__ = ["ANCHOR_NAME", "Anchor", "AnchorFile", "anchor_bytes", "read_anchor", "write_anchor"]

ANCHOR_NAME = "anchor"
_SLOT_BYTES = 4096
_SLOT = struct.Struct("<8sQ32s")
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"KBDANCH\n"


class Anchor(NamedTuple):
    """A place in the log that was durable.

    Args:
        seq: The last sequence number of a frame, or 0.
        chain: The chain value of that frame.
    """

    seq: int
    chain: bytes


def _pack(anchor: Anchor) -> bytes:
    data = _SLOT.pack(_MAGIC, *anchor)
    return (data + _CHECKSUM.pack(crc32(data))).ljust(_SLOT_BYTES, b"\0")


def _unpack(slot: bytes) -> Anchor | None:
    if len(slot) < _SLOT.size + _CHECKSUM.size:
        return None
    magic, seq, chain = _SLOT.unpack_from(slot)
    (checksum,) = _CHECKSUM.unpack_from(slot, _SLOT.size)
    if magic != _MAGIC or crc32(slot[: _SLOT.size]) != checksum:
        return None
    return Anchor(seq, chain)


def _newest(data: bytes) -> tuple[Anchor, int] | None:
    """Return the valid slot with the highest number, and its place."""
    slots = [(_unpack(data[n * _SLOT_BYTES : (n + 1) * _SLOT_BYTES]), n) for n in (0, 1)]
    # At most one slot can be torn, for the other was synced before this one was begun.
    return max(((slot, n) for slot, n in slots if slot is not None), default=None)


def read_anchor(directory: Path) -> Anchor | None:
    """Read the anchor of a log; None if there is none or both slots are damaged."""
    try:
        # O_NONBLOCK: a pipe in its place, in a log from elsewhere, must not hang.
        held = os.open(directory / ANCHOR_NAME, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        newest = _newest(os.pread(held, 2 * _SLOT_BYTES, 0))
    except OSError as error:
        # A pipe has no places to read at.
        if error.errno != errno.ESPIPE:
            raise
        return None
    finally:
        os.close(held)
    return newest and newest[0]


def anchor_bytes(anchor: Anchor) -> bytes:
    """Return the contents of a new anchor file, with two equal slots."""
    return _pack(anchor) * 2


def write_anchor(directory: Path, anchor: Anchor, disk: Disk) -> None:
    """Write a new anchor file with two equal slots: for a new log, or after a cut."""
    disk.write_file(directory / ANCHOR_NAME, [_pack(anchor), _pack(anchor)])


class AnchorFile:
    """The anchor of a log that is being written.

    Raises from its methods what `Disk` raises; after `SyncError` it may not be used again.
    """

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._disk = disk
        # Only a new log gets here without one: with events, the survey calls a missing anchor a
        # fault.
        if read_anchor(directory) is None:
            write_anchor(directory, Anchor(0, GENESIS), disk)
        self._fd = os.open(directory / ANCHOR_NAME, os.O_RDWR | os.O_CLOEXEC)
        newest = _newest(os.pread(self._fd, 2 * _SLOT_BYTES, 0))
        assert newest is not None, "an anchor was just read or written"
        self._current, self._slot = newest

    @property
    def seq(self) -> int:
        """The sequence number that the file names."""
        return self._current.seq

    def advance(self, anchor: Anchor) -> None:
        """Name a later place, durably. The slot that is not the newest is overwritten."""
        if anchor == self._current:
            return
        # The older slot: if this write is torn, the newest one still counts.
        slot = 1 - self._slot
        self._disk.write_all(self._fd, _pack(anchor), slot * _SLOT_BYTES)
        self._disk.sync_data(self._fd)
        # Only now: until the sync this slot may be torn, and the other one must stay.
        self._current, self._slot = anchor, slot

    def close(self) -> None:
        """Close the file as it is."""
        os.close(self._fd)
