"""Finding the manifest of a case file, even one that was damaged or cut."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from .layout import SEAL_BYTES, Seal, seal_of
from .manifest import MANIFEST, PIECE_BYTES, Case, Member, case_of
from .pinpoint import one_byte

__all__ = ["Opened", "Unreadable", "opened"]

_LOCAL = struct.Struct("<4s10xL2L2H")
_MOST_MEMBERS_BEFORE = 100
_MOST_MANIFEST_BYTES = 1 << 30


class Unreadable(Exception):
    """There is no manifest to go by.

    Args:
        offset: Where it should be, in bytes.
        size: How many bytes it may have there; 0 if that is not known.
        reason: What is wrong.
    """

    def __init__(self, offset: int, size: int, reason: str) -> None:
        super().__init__(reason)
        self.offset, self.size, self.reason = offset, size, reason


class Opened(NamedTuple):
    """A manifest that can be relied on.

    Args:
        case: What it says.
        member: Its own size and hashes.
    """

    case: Case
    member: Member


def opened(file: BinaryIO, size: int) -> Opened:
    """Find the manifest and read it.

    A wrong byte is not what the seal vouches for, nor what the header's checksum does; one byte is
    put right by both. If the seal is what is wrong, the manifest's own form and checksum speak for
    it.

    Raises:
        Unreadable: It is not there, or cannot be relied on.
    """
    seal = seal_of(_read(file, size - SEAL_BYTES, SEAL_BYTES)) if size > SEAL_BYTES else None
    places = list(_places(file, size, seal))
    if not places:
        reason = "this is no case file of kbd, or it was cut: no manifest.json was found in it"
        raise Unreadable(0, size, reason)
    for offset, length, checksum in places:
        data = _read(file, offset, length)
        if seal is not None and hashlib.sha256(data).hexdigest() == seal.manifest:
            return _read_as(data, offset)
        if seal is None or zlib.crc32(data) == checksum:
            try:
                return _read_as(data, offset)
            except Unreadable:
                continue
    for offset, length, checksum in places:
        if seal is not None:
            slip = one_byte(_read(file, offset, length), checksum, seal.manifest)
            if slip is not None:
                return _read_as(slip.data, offset)
    offset, length, _ = places[0]
    raise Unreadable(offset, length, "manifest.json was changed: nothing can be compared with it")


def _read_as(data: bytes, offset: int) -> Opened:
    try:
        case = case_of(data)
    except ValueError as error:
        raise Unreadable(offset, len(data), str(error)) from None
    starts = range(0, len(data), PIECE_BYTES)
    parts = [data[start : start + PIECE_BYTES] for start in starts]
    pieces = tuple((hashlib.sha256(part).hexdigest(), zlib.crc32(part)) for part in parts)
    sha256 = hashlib.sha256(data).hexdigest()
    return Opened(case, Member(MANIFEST, len(data), sha256, zlib.crc32(data), pieces))


def _places(file: BinaryIO, size: int, seal: Seal | None) -> Iterator[tuple[int, int, int]]:
    """Yield where the manifest may be: place, size and checksum, by the headers and the seal."""
    name_bytes = len(MANIFEST)
    at, told = 0, []
    for _ in range(_MOST_MEMBERS_BEFORE):
        header = _read(file, at, _LOCAL.size)
        if len(header) < _LOCAL.size or header[:4] != b"PK\x03\x04":
            break
        _, checksum, length, _, named, extra = _LOCAL.unpack(header)
        name = _read(file, at + _LOCAL.size, named)
        at += _LOCAL.size + named + extra
        if name == MANIFEST.encode():
            told.append((at, length, checksum))
            break
        at += length
    if seal is not None:
        header = _read(file, seal.offset - _LOCAL.size - name_bytes, _LOCAL.size)
        if len(header) == _LOCAL.size:
            checksum = _LOCAL.unpack(header)[1]
            told.insert(0, (seal.offset, seal.size, checksum))
    for offset, length, checksum in told:
        if offset + length <= size and length <= _MOST_MANIFEST_BYTES:
            yield offset, length, checksum


def _read(file: BinaryIO, offset: int, count: int) -> bytes:
    """Read bytes; fewer, or none, where the file has no more."""
    if not 0 <= offset < 1 << 62:
        return b""
    file.seek(offset)
    return file.read(count)
