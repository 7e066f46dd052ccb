"""The layout of a case file: from its manifest follows what every byte of it must be.

A case file is a zip whose members are stored, not compressed. It holds nothing else: members
without gaps, the directory, the end record, and as the archive's comment the seal. The members are
`__main__.py`, the modules of `verify/`, `manifest.json`, then the others sorted by name. Names,
order, times and attributes are fixed, so the headers can be written anew and compared.

The manifest names each member but itself, with its size, its sha256 and crc32, and the same of
each piece of 64 KiB. The seal names the manifest's place, size and sha256, and the sha256 of all
that lies before the seal. Layouts of zip are those of APPNOTE.TXT 6.3.10.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = [
    "END_BYTES",
    "FORMAT",
    "MANIFEST",
    "PIECE_BYTES",
    "SEAL_BYTES",
    "Case",
    "Member",
    "Region",
    "Seal",
    "case_of",
    "header_of",
    "manifest_of",
    "order",
    "regions",
    "seal_bytes",
    "seal_of",
]

FORMAT = "kbd case 1"
MANIFEST = "manifest.json"

PIECE_BYTES = 64 * 1024
"""The size of the pieces that have a hash of their own; the last one of a member may be shorter."""

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
END_BYTES = _END.size

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,3}")
_RUN = re.compile(r"[0-9a-f]{16}-[1-9][0-9]{0,14}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CRC32 = re.compile(r"[0-9a-f]{8}")
_PIECE = re.compile(r"[0-9a-f]{72}")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z")
_SEAL = "{} manifest {:020d} {:012d} {} all {}\n"
_SEAL_FORM = re.compile(FORMAT + r" manifest (\d{20}) (\d{12}) ([0-9a-f]{64}) all ([0-9a-f]{64})\n")
SEAL_BYTES = len(_SEAL.format(FORMAT, 0, 0, "0" * 64, "0" * 64))


class Member(NamedTuple):
    """A file in the case file.

    Args:
        name: Its name.
        size: Its size in bytes.
        sha256: The hash of its bytes.
        crc32: Their checksum.
        pieces: The hash and the checksum of each piece.
    """

    name: str
    size: int
    sha256: str
    crc32: int
    pieces: tuple[tuple[str, int], ...]


class Case(NamedTuple):
    """What a manifest says.

    Args:
        kbd: The version of kbd that wrote it.
        run: The run's id.
        workbench: The workbench's id and name.
        seq: The last event in the log.
        head: The chain value there.
        time: When that event was decided, to the second, UTC: the time of all members.
        members: All but the manifest, in the order of the file.
    """

    kbd: str
    run: str
    workbench: tuple[str, str]
    seq: int
    head: str
    time: str
    members: tuple[Member, ...]


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


def order(name: str) -> tuple[int, str]:
    """Return what members are sorted by."""
    if name == "__main__.py":
        return 0, name
    return (1 if name.startswith("verify/") else 2 if name == MANIFEST else 3), name


def manifest_of(case: Case) -> bytes:
    """Return the manifest's bytes: JSON in one form, so that equal cases have equal bytes."""
    told = {
        "format": FORMAT,
        "kbd": case.kbd,
        "run": case.run,
        "workbench": {"id": case.workbench[0], "name": case.workbench[1]},
        "seq": case.seq,
        "head": case.head,
        "time": case.time,
        "piece_bytes": PIECE_BYTES,
        "members": [
            {
                "name": member.name,
                "size": member.size,
                "sha256": member.sha256,
                "crc32": f"{member.crc32:08x}",
                "pieces": ["{}{:08x}".format(*piece) for piece in member.pieces],
            }
            for member in case.members
        ],
    }
    return json.dumps(told, indent=1).encode("ascii") + b"\n"


def case_of(data: bytes) -> Case:
    """Read a manifest.

    Raises:
        ValueError: It is none, or not in the one form that is written.
    """
    try:
        told: Any = json.loads(data.decode("ascii"))
        if told["format"] != FORMAT:
            raise ValueError(f"the manifest is of another format: {told['format']!r:.40}")
        case = Case(
            str(told["kbd"]),
            _matched(_RUN, told["run"]),
            (str(told["workbench"]["id"]), str(told["workbench"]["name"])),
            _number(told["seq"]),
            _matched(_SHA256, told["head"]),
            _matched(_TIME, told["time"]),
            tuple(_member(each) for each in told["members"]),
        )
    except (KeyError, TypeError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError("the manifest is none") from error
    names = [member.name for member in case.members]
    if MANIFEST in names or names != sorted(set(names), key=order) or manifest_of(case) != data:
        raise ValueError("the manifest is not as kbd writes it")
    return case


def _member(told: Any) -> Member:
    size, pieces = _number(told["size"]), told["pieces"]
    if len(pieces) != -(-size // PIECE_BYTES):
        raise ValueError("the manifest has too many or too few pieces of a member")
    found = [_matched(_PIECE, piece) for piece in pieces]
    return Member(
        _matched(_NAME, told["name"]),
        size,
        _matched(_SHA256, told["sha256"]),
        int(_matched(_CRC32, told["crc32"]), 16),
        tuple((piece[:64], int(piece[64:], 16)) for piece in found),
    )


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError("a number of the manifest is none")
    return int(value)


def _matched(form: Any, value: Any) -> str:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"the manifest has {value!r:.60} where something else belongs")
    return value


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
    found = _TIME.fullmatch(time)
    assert found is not None, "the manifest's reader sees to it"
    year, month, day, hour, minute, second = (int(part) for part in found.groups())
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
