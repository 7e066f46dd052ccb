"""Snapshot files: folded state, kept so that a start need not replay the whole log.

A snapshot is a cache. It counts only if its checksum is right, its schema is today's and the log
has the same chain value at its number (`EventLog.chain_at`); otherwise it is as if it were not
there. Deleting all of them loses nothing but time.

A file `<seq, 20 digits>.snap` is `magic 8 bytes, seq u64, chain 32 bytes, length of schema u16,
crc32 u32` (little endian), the schema in UTF-8, the payload. The checksum is over all but itself.
"""

import struct
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from kbd.errors import DiskFull
from kbd.events.disk import DISK, Disk
from kbd.types import Seq

__all__ = ["Snapshot", "load_snapshot", "save_snapshot"]

_HEADER = struct.Struct("<8sQ32sH")
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"KBDSNAP\n"
_SUFFIX = ".snap"
_KEPT = 2
"""How many are kept: the newest, and one more in case it turns out to be unusable."""


class Snapshot(NamedTuple):
    """State as it was after an event.

    Args:
        seq: The event.
        head: The log's chain value behind it.
        payload: The state, as whoever saved it encoded it.
    """

    seq: Seq
    head: bytes
    payload: bytes


def save_snapshot(
    directory: Path, seq: Seq, head: bytes, schema: str, payload: bytes, disk: Disk = DISK
) -> bool:
    """Keep a snapshot and remove older ones.

    Args:
        directory: Where snapshots of this log lie; made if it is not there.
        seq: The last event that is folded in.
        head: `EventLog.head` at that moment.
        schema: A name for the shape of the payload; changed whenever state or folds change.
        payload: The encoded state.
        disk: What writes.

    Returns:
        Whether it was kept. That a cache cannot be written is no error.
    """
    name = schema.encode()
    header = _HEADER.pack(_MAGIC, seq, head, len(name))
    checksum = crc32(payload, crc32(name, crc32(header)))
    try:
        disk.make_directory(directory)
        path = directory / f"{seq:020}{_SUFFIX}"
        disk.write_file(path, [header, _CHECKSUM.pack(checksum), name, payload])
        # Older ones go only when the new one is durable.
        for old in _newest_first(directory)[_KEPT:]:
            old.unlink(missing_ok=True)
    except (OSError, DiskFull):
        return False
    return True


def load_snapshot(directory: Path, schema: str) -> Snapshot | None:
    """Return the newest snapshot that is whole and of this schema, or None."""
    for path in _newest_first(directory):
        try:
            snapshot = _read(path, schema)
        except OSError:
            continue
        if snapshot is not None:
            return snapshot
    return None


def _newest_first(directory: Path) -> list[Path]:
    return sorted(directory.glob(f"*{_SUFFIX}"), reverse=True)


def _read(path: Path, schema: str) -> Snapshot | None:
    data = path.read_bytes()
    body_at = _HEADER.size + _CHECKSUM.size
    if len(data) < body_at:
        return None
    magic, seq, head, length = _HEADER.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _HEADER.size)
    body = data[body_at:]
    if magic != _MAGIC or crc32(body, crc32(data[: _HEADER.size])) != checksum:
        return None
    if body[:length] != schema.encode():
        return None
    return Snapshot(Seq(seq), head, body[length:])
