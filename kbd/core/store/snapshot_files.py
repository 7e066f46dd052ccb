"""Files of snapshots: written whole, read back only if they are whole. Blocks.

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

__all__ = [
    "NO_END",
    "Snapshot",
    "load_snapshot",
    "newest_first",
    "read_snapshot",
    "save_snapshot",
]


_HEADER = struct.Struct("<8sQ32sH")
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"KBDSNAP\n"
_SUFFIX = ".snap"
NO_END = Seq(2**63)
"""Behind the last event of any log."""

_MAX_SNAPSHOTS = 2
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
    """Save a snapshot and remove older ones.

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
        for old in newest_first(directory)[_MAX_SNAPSHOTS:]:
            old.unlink(missing_ok=True)
    except (OSError, DiskFull):
        return False
    return True


def load_snapshot(directory: Path, schema: str, until: Seq = NO_END) -> Snapshot | None:
    """Return the newest snapshot that is whole and of this schema, or None.

    Args:
        directory: Where they lie.
        schema: As for `save_snapshot`.
        until: The last event that it may have folded in.
    """
    for path in newest_first(directory):
        if int(path.stem) > until:
            continue
        try:
            snapshot = read_snapshot(path, schema)
        except OSError:
            continue
        if snapshot is not None:
            return snapshot
    return None


def newest_first(directory: Path) -> list[Path]:
    """Return the files of snapshots in a folder, the newest first."""
    # Names are numbers of 20 digits, so their order is that of the events.
    return sorted(directory.glob(f"*{_SUFFIX}"), reverse=True)


def read_snapshot(path: Path, schema: str) -> Snapshot | None:
    """Return a snapshot; None for one that is damaged or of another schema. Raises OSError."""
    data = path.read_bytes()
    body_at = _HEADER.size + _CHECKSUM.size
    if len(data) < body_at:
        return None
    magic, seq, head, length = _HEADER.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _HEADER.size)
    body = data[body_at:]
    # Before the length of the schema is used, which may be what is damaged.
    if magic != _MAGIC or crc32(body, crc32(data[: _HEADER.size])) != checksum:
        return None
    # Another kbd's shape of state: not damage, and of no use here.
    if body[:length] != schema.encode():
        return None
    return Snapshot(Seq(seq), head, body[length:])
