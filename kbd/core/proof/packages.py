"""Where two versions of a file differ: by the parts of a package, else by the first byte.

What a file is, its first bytes say. A package is opened behind the same guard as everywhere, so a
hostile one is refused and compared as plain bytes; parts are hashed in pieces, never parsed.
"""

import hashlib
from pathlib import Path
from zipfile import ZipInfo

from kbd.core.proof.differing import shared_length
from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.entries import PartStream
from kbd.opc.package import Package, reading_errors
from kbd.requests.proofs import FileDiff, PartDiff

__all__ = ["MOST_PARTS", "file_diff"]

MOST_PARTS = 50
"""Parts that are told of one file."""

_BLOCK_BYTES = 1 << 20
_ZIP = b"PK\x03\x04"


def file_diff(
    name: str, recorded: tuple[str, Path] | None, replayed: tuple[str, Path] | None
) -> FileDiff:
    """Say where two versions of a file differ. It reads both: call it in a thread.

    Args:
        name: The file's name.
        recorded: The hash and the place of the recorded version; None if there was none.
        replayed: Those of the new one, likewise.
    """
    hashes = recorded[0] if recorded else "", replayed[0] if replayed else ""
    diff = FileDiff(path=name, recorded=hashes[0], replayed=hashes[1])
    if recorded is None or replayed is None:
        return diff
    before, after = recorded[1], replayed[1]
    try:
        offset, note = _first_difference(before, after)
        parts: tuple[PartDiff, ...] = ()
        if _begins(before) == _begins(after) == _ZIP:
            parts, note = _compared(name, before, after)
    except OSError:
        return FileDiff(
            path=name, recorded=hashes[0], replayed=hashes[1],
            note="one of the two versions cannot be read any more",
        )  # fmt: skip
    return FileDiff(
        path=name, recorded=hashes[0], replayed=hashes[1], parts=parts, offset=offset, note=note
    )


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_ZIP))


def _first_difference(before: Path, after: Path) -> tuple[int, str]:
    """Return the first byte that differs, and in a text its line."""
    offset = lines = 0
    is_text = True
    with before.open("rb") as left, after.open("rb") as right:
        while True:
            one, other = left.read(_BLOCK_BYTES), right.read(_BLOCK_BYTES)
            is_text = is_text and b"\0" not in one
            if one != other:
                break
            if not one:
                return -1, ""
            lines += one.count(b"\n")
            offset += len(one)
    shared = shared_length(one, other)
    lines += one.count(b"\n", 0, shared)
    return offset + shared, f"line {lines + 1}" if is_text else ""


def _compared(name: str, before: Path, after: Path) -> tuple[tuple[PartDiff, ...], str]:
    """Return the parts whose contents differ, and what else does if none do."""
    try:
        with Package(Source(before, name)) as left, Package(Source(after, name)) as right:
            old, new = _hashes(left), _hashes(right)
            differing = [
                PartDiff(part=part, recorded=old.get(part, ""), replayed=new.get(part, ""))
                for part in dict.fromkeys((*old, *new))
                if old.get(part) != new.get(part)
            ]
            if not differing:
                return (), _wrapping(left.entries, right.entries)
    except FileReadFailed as fault:
        return (), f"its parts cannot be compared: {fault.message}"
    left_out = len(differing) - MOST_PARTS
    note = f"and {left_out} parts more" if left_out > 0 else ""
    return tuple(differing[:MOST_PARTS]), note


def _hashes(package: Package) -> dict[str, str]:
    """Return the hash of each part's contents, in the order of the package."""
    found: dict[str, str] = {}
    for info in package.entries:
        digest = hashlib.sha256()
        with reading_errors(package.name):
            stream = PartStream(package.name, info, package.packed(info))
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
        found[info.filename] = digest.hexdigest()
    return found


def _wrapping(left: tuple[ZipInfo, ...], right: tuple[ZipInfo, ...]) -> str:
    """Say how two packages with equal parts differ."""
    before = {info.filename: info for info in left}
    pairs = [(before[info.filename], info) for info in right]
    told = {
        "order": [info.filename for info in left] != [info.filename for info in right],
        "times": any(a.date_time != b.date_time for a, b in pairs),
        "compression": any(
            (a.compress_type, a.compress_size) != (b.compress_type, b.compress_size)
            for a, b in pairs
        ),
    }
    found = [what for what, differs in told.items() if differs] or ["headers"]
    return f"all parts are equal; the package's {', '.join(found)} differ"
