"""Unpacking a case file to a folder, after it was checked."""

from __future__ import annotations

import os
from typing import BinaryIO

from .case import Found
from .layout import regions
from .manifest import Member
from .opening import opened

__all__ = ["Refused", "unpack"]

_CHUNK_BYTES = 1 << 20


class Refused(Exception):
    """The folder is not one to unpack to, and why."""


def unpack(file: BinaryIO, found: Found, folder: str) -> int:
    """Write the members to a folder that is new or empty; return how many.

    Nothing is overwritten and no link is followed: each file and folder is made anew. The names
    were checked with the manifest: letters, digits, `_`, `.`, `-`, and no part begins with a dot.

    Args:
        file: The case file.
        found: What its check found: no fault.
        folder: Where to.

    Raises:
        Refused: There is something in the folder, or the case file is damaged.
        OSError: It cannot be written.
    """
    if found.case is None or found.faults:
        raise Refused("the case file is damaged; nothing was unpacked")
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise Refused(f"{folder} exists and is not an empty folder; nothing was unpacked")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    size = file.seek(0, os.SEEK_END)
    count = 0
    for region in regions(found.case, opened(file, size).member):
        if region.kind == "content":
            _write(file, region.start, region.member, folder)
            count += 1
    return count


def _write(file: BinaryIO, start: int, member: Member, folder: str) -> None:
    path = os.path.join(folder, *member.name.split("/"))
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    fresh = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(fresh, "wb") as target:
        file.seek(start)
        left = member.size
        while left:
            data = file.read(min(_CHUNK_BYTES, left))
            if not data:
                raise OSError("the case file was cut meanwhile")
            target.write(data)
            left -= len(data)
