"""What a handler keeps on a shelf (`Source.shelf`): written whole, and believed only if it is.

A file is written beside its place and renamed, so that several calls may keep the same thing at
once. A record lies there as the CRC-32 of its msgpack, four bytes, and that msgpack.
"""

import contextlib
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

__all__ = ["keep", "kept", "put"]

_CRC_BYTES = 4

Kept = TypeVar("Kept")


def kept(shelf: Path | None, name: str, kind: type[Kept]) -> Kept | None:
    """Return the record of a name; None if there is none, or it is damaged or of another kind."""
    if shelf is None:
        return None
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        data = memoryview((shelf / name).read_bytes())
        if int.from_bytes(data[:_CRC_BYTES]) == zlib.crc32(data[_CRC_BYTES:]):
            return msgspec.msgpack.decode(data[_CRC_BYTES:], type=kind)
    return None


def keep(shelf: Path | None, name: str, record: Any) -> None:
    """Keep a record under a name, with the version of its form in it; without a shelf nothing."""
    if shelf is not None:
        data = msgspec.msgpack.encode(record)
        put(shelf / name, (zlib.crc32(data).to_bytes(_CRC_BYTES), data))


def put(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file of a shelf from pieces; where that cannot be, nothing is kept."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with fresh.open("wb") as file:
                file.writelines(pieces)
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
