"""The layout of a case file: from its manifest follows what every byte of it must be.

A case file is a zip whose members are stored, not compressed. It holds nothing else: members
without gaps, the directory, the end record, and as the archive's comment the seal. The members are
`__main__.py`, the modules of `verify/`, `manifest.json`, then the others sorted by name. Names,
order, times and attributes are fixed, so the headers can be written anew and compared.

The seal names the manifest's place, size and sha256, and the sha256 of all
that lies before the seal. Layouts of zip are those of APPNOTE.TXT 6.3.10.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from .manifest import FORMAT, Case, Member, order, time_of

__all__ = ["SEAL_BYTES", "Region", "Seal", "header_of", "regions", "seal_bytes", "seal_of"]

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_BEYOND_16, _BEYOND_32 = 0xFFFF, 0xFFFFFFFF
"""What zip writes in place of a number that is too long for its field."""

_PLAIN, _LONG = 20, 45
"""Versions of zip that a reader must know: the usual one, and the one with 64-bit sizes."""

_UNIX = 3 << 8
_ATTRIBUTES = 0o100644 << 16

_SEAL = "{} manifest {:020d} {:012d} {} all {}\n"
_SEAL_FORM = re.compile(
    FORMAT + r" manifest ([0-9]{20}) ([0-9]{12}) ([0-9a-f]{64}) all ([0-9a-f]{64})\n"
)
SEAL_BYTES = len(_SEAL.format(FORMAT, 0, 0, "0" * 64, "0" * 64))


class Seal(NamedTuple):
    """What a seal says: place, size and hash of the manifest, and the hash of what lies before."""

    offset: int
    size: int
    manifest: str
    everything: str


class Region(NamedTuple):
    """A stretch of a case file.

    Args:
        what: What lies there, for people ("header of report.html").
        kind: "header", "content", "directory".
        name: The member that it belongs to.
        start: Where it begins in the case file.
        expected: Its bytes; empty for a content.
        member: Whose content it is.
    """

    what: str
    kind: str
    name: str
    start: int
    expected: bytes
    member: Member


def header_of(member: Member, time: str) -> bytes:
    """Return the bytes before a member's content."""
    is_long = member.size >= _BEYOND_32
    sizes, extra = [min(member.size, _BEYOND_32)] * 2, b""
    if is_long:
        extra = struct.pack("<2H2Q", 1, 16, member.size, member.size)
    clock, day = _dos_time(time)
    name = member.name.encode("ascii")
    fields = (_version(is_long), 0, 0, clock, day, member.crc32, *sizes, len(name), len(extra))
    return _LOCAL.pack(b"PK\x03\x04", *fields) + name + extra


def regions(case: Case, manifest: Member) -> Iterator[Region]:
    """Yield all stretches of a case file in order, up to where the seal begins."""
    start = 0
    places: list[tuple[Member, int]] = []
    for member in sorted((*case.members, manifest), key=lambda each: order(each.name)):
        header = header_of(member, case.time)
        places.append((member, start))
        yield Region("header of " + member.name, "header", member.name, start, header, member)
        start += len(header)
        yield Region("content of " + member.name, "content", member.name, start, b"", member)
        start += member.size
    directory = start
    for member, at in places:
        entry = _entry(member, at, case.time)
        what = "directory entry of " + member.name
        yield Region(what, "directory", member.name, start, entry, member)
        start += len(entry)
    end = _end(len(places), directory, start)
    yield Region("end record of the directory", "directory", "directory", start, end, manifest)


def _entry(member: Member, at: int, time: str) -> bytes:
    """Return a member's entry in the directory."""
    beyond = [number for number in (member.size, member.size, at) if number >= _BEYOND_32]
    extra = struct.pack(f"<2H{len(beyond)}Q", 1, 8 * len(beyond), *beyond) if beyond else b""
    clock, day = _dos_time(time)
    version = _version(bool(beyond))
    size, name = min(member.size, _BEYOND_32), member.name.encode("ascii")
    fields = (_UNIX | version, version, 0, 0, clock, day, member.crc32, size, size)
    rest = (len(name), len(extra), 0, 0, 0, _ATTRIBUTES, min(at, _BEYOND_32))
    return _CENTRAL.pack(b"PK\x01\x02", *fields, *rest) + name + extra


def _end(count: int, directory: int, at: int) -> bytes:
    """Return what ends the directory, up to the comment."""
    size, data = at - directory, b""
    if count >= _BEYOND_16 or size >= _BEYOND_32 or directory >= _BEYOND_32:
        numbers = (count, count, size, directory)
        data = _END_64.pack(b"PK\x06\x06", 44, _UNIX | _LONG, _LONG, 0, 0, *numbers)
        data += _LOCATOR_64.pack(b"PK\x06\x07", 0, at, 1)
    members, place = min(count, _BEYOND_16), min(directory, _BEYOND_32)
    fields = (0, 0, members, members, min(size, _BEYOND_32), place, SEAL_BYTES)
    return data + _END.pack(b"PK\x05\x06", *fields)


def _version(is_long: bool) -> int:  # noqa: FBT001 - what it depends on, and nothing else
    return _LONG if is_long else _PLAIN


def _dos_time(time: str) -> tuple[int, int]:
    """Return a time as zip keeps it: two numbers, to two seconds, from 1980 to 2107."""
    year, month, day, hour, minute, second = time_of(time)
    year = min(max(year - 1980, 0), 127)
    return hour << 11 | minute << 5 | second // 2, year << 9 | month << 5 | day


def seal_bytes(seal: Seal) -> bytes:
    """Return a seal's bytes."""
    return _SEAL.format(FORMAT, *seal).encode("ascii")


def seal_of(data: bytes) -> Seal | None:
    """Read a seal; None if it is not in its form."""
    found = _SEAL_FORM.fullmatch(data.decode("latin-1"))
    if found is None:
        return None
    offset, size, manifest, everything = found.groups()
    return Seal(int(offset), int(size), manifest, everything)
