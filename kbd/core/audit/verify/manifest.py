"""The manifest of a case file: what is in it, each piece with its hash.

It names each member but itself, with its size, its sha256 and crc32, and the same of each piece of
64 KiB. It has one form, so that equal cases have equal manifests; another form is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

__all__ = [
    "FORMAT",
    "MANIFEST",
    "PIECE_BYTES",
    "Case",
    "Member",
    "case_of",
    "manifest_of",
    "order",
    "time_of",
]

FORMAT = "kbd case 1"
MANIFEST = "manifest.json"

PIECE_BYTES = 64 * 1024
"""The size of the pieces that have a hash of their own; the last one of a member may be shorter."""

_PART = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_NAME = re.compile(f"{_PART}(/{_PART}){{0,3}}")
_RUN = re.compile("[0-9a-f]{16}-[1-9][0-9]{0,14}")
_SHA256 = re.compile("[0-9a-f]{64}")
_CRC32 = re.compile("[0-9a-f]{8}")
_PIECE = re.compile("[0-9a-f]{72}")
_TIME = re.compile(
    "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])Z"
)


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
        collected: The blobs that the log names and whose bytes had been removed on purpose when the
            case was made, in order, each with when and why.
    """

    kbd: str
    run: str
    workbench: tuple[str, str]
    seq: int
    head: str
    time: str
    members: tuple[Member, ...]
    collected: tuple[tuple[str, str], ...] = ()


def order(name: str) -> tuple[int, str]:
    """Return what members are sorted by."""
    if name == "__main__.py":
        return 0, name
    return (1 if name.startswith("verify/") else 2 if name == MANIFEST else 3), name


def manifest_of(case: Case) -> bytes:
    """Return the manifest's bytes: JSON in one form, so that equal cases have equal bytes."""
    told: dict[str, Any] = {
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
    # Left out where there is none: so it was before there was such a thing.
    if case.collected:
        told["collected"] = [{"blob": blob, "told": text} for blob, text in case.collected]
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
            tuple(
                (_matched(_SHA256, each["blob"]), str(each["told"]))
                for each in told.get("collected", ())
            ),
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


def time_of(text: str) -> tuple[int, ...]:
    """Return year, month, day, hour, minute and second of a manifest's time.

    Raises:
        ValueError: It is none.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError("the manifest's time is none")
    return tuple(int(part) for part in found.groups())
