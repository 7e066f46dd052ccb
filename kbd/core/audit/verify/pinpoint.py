"""Which byte is wrong: told from a checksum, and proved by a hash.

A crc32 is linear: what the checksum of bytes differs by depends only on which bits differ and how
many bytes follow them. If a single byte is wrong, going back from the end through the register of
the checksum comes by a value of less than 256: that is by what the byte differs, and that is its
place. The bytes with it put right must have the hash, so a guess never passes for knowledge.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import NamedTuple

__all__ = ["Slip", "one_byte"]

_MOST_BYTES = 16 * 1024 * 1024
"""Longer stretches are not searched: it would take more than some seconds."""


class Slip(NamedTuple):
    """One wrong byte.

    Args:
        at: Where it is.
        found: What it is.
        wanted: What it was.
        data: All bytes, with it put right.
    """

    at: int
    found: int
    wanted: int
    data: bytes


def one_byte(data: bytes, crc32: int, sha256: str) -> Slip | None:
    """Find the single byte that is wrong; None if not exactly one is.

    Args:
        data: The bytes as they are, as many as there were.
        crc32: The checksum that they had.
        sha256: The hash that they had, as 64 hex digits.
    """
    state = zlib.crc32(data) ^ crc32
    if not state or len(data) > _MOST_BYTES:
        return None
    table = [_step(value) for value in range(256)]
    # The highest byte of a state tells which entry went into it; so the step can be undone.
    undone = {entry >> 24: entry << 8 ^ index for index, entry in enumerate(table)}
    for at in range(len(data) - 1, -1, -1):
        state = (state << 8 ^ undone[state >> 24]) & 0xFFFFFFFF
        if state < 256:
            wanted = data[at] ^ state
            mended = data[:at] + bytes((wanted,)) + data[at + 1 :]
            if hashlib.sha256(mended).hexdigest() == sha256:
                return Slip(at, data[at], wanted, mended)
    return None


def _step(value: int) -> int:
    """Return an entry of the checksum's table (polynomial 0xEDB88320)."""
    for _ in range(8):
        value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
    return value
