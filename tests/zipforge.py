"""Zips as no library writes them: every field of every record may lie."""

import struct
import zlib
from collections.abc import Mapping, Sequence

import msgspec

__all__ = ["Member", "deflated", "forge", "members"]

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
END64 = struct.Struct("<4sQ2H2I4Q")
LOCATOR = struct.Struct("<4sIQI")


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """An entry; what is None is told as it is.

    Args:
        name: As it stands in the directory.
        data: What it holds.
        packed: What lies in the zip, if that is not the data by its method.
        method: 0 or 8; others are only said.
        flags: The general purpose bits; with 0x8 the sizes follow the data.
        size: How large it is said to be, in both places.
        crc: The checksum that is said.
        local_name: Its name in its own header.
        local_method: Its method there.
        local_size: Its size there.
        extra: The extra field of both headers.
        offset: Where the directory says that it is.
        attributes: Of the file system, and of which one: (0x20, 0) is a DOS file.
    """

    name: bytes
    data: bytes = b""
    packed: bytes | None = None
    method: int = 8
    flags: int = 0
    size: int | None = None
    crc: int | None = None
    local_name: bytes | None = None
    local_method: int | None = None
    local_size: int | None = None
    extra: bytes = b""
    offset: int | None = None
    attributes: tuple[int, int] = (0, 0)


def deflated(data: bytes) -> bytes:
    """Deflate without a header, as zips do."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return squeezer.compress(data) + squeezer.flush()


def forge(
    members: Sequence[Member],
    *,
    prefix: bytes = b"",
    comment: bytes = b"",
    told: int | None = None,
    shift: int = 0,
    is_zip64: bool = False,
) -> bytes:
    """Write a zip.

    Args:
        members: Its entries, in order; one with an `offset` has no bytes of its own.
        prefix: What stands before it; offsets do not count it.
        comment: What stands at its end.
        told: How many entries it is said to have.
        shift: By how much the place of the directory is told wrong.
        is_zip64: Whether its last record is of the large kind.
    """
    body, directory = bytearray(), bytearray()
    for member in members:
        packed = member.packed
        if packed is None:
            packed = deflated(member.data) if member.method == 8 else member.data
        size = len(member.data) if member.size is None else member.size
        crc = zlib.crc32(member.data) if member.crc is None else member.crc
        follow = member.flags & 0x8
        sizes = (crc, len(packed), size)
        extra = len(member.extra)
        directory += CENTRAL.pack(
            b"PK\x01\x02", member.attributes[1] << 8 | 20, 20, member.flags, member.method, 0, 0x21,
            *sizes, len(member.name), extra, 0, 0, 0, member.attributes[0],
            len(body) if member.offset is None else member.offset,
        ) + member.name + member.extra  # fmt: skip
        if member.offset is not None:
            continue
        name = member.name if member.local_name is None else member.local_name
        method = member.method if member.local_method is None else member.local_method
        if member.local_size is not None:
            sizes = (crc, len(packed), member.local_size)
        there = (0, 0, 0) if follow else sizes
        body += LOCAL.pack(
            b"PK\x03\x04", 20, member.flags, method, 0, 0x21, *there, len(name), extra
        )
        body += name + member.extra + packed
        if follow:
            body += b"PK\x07\x08" + struct.pack("<3I", *sizes)
    count = len(members) if told is None else told
    start = len(body) + shift
    end = b""
    if is_zip64:
        at = len(prefix) + len(body) + len(directory)
        end = END64.pack(
            b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, len(directory), start
        ) + LOCATOR.pack(b"PK\x06\x07", 0, at, 1)
        count, start = 0xFFFF, 0xFFFFFFFF
    end += END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), start, len(comment))
    return prefix + bytes(body) + bytes(directory) + end + comment


def members(parts: Mapping[str, bytes], **more: bytes) -> list[Member]:
    """Make members of parts; names of more XML parts have __ for slashes and no suffix."""
    named = {name.replace("__", "/") + ".xml": data for name, data in more.items()}
    return [Member(name=name.encode(), data=data) for name, data in {**parts, **named}.items()]
