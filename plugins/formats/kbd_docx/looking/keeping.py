"""What was found of a document, kept on a shelf as one file and believed only if it is whole.

KBDDOCX, version   CRC-32 of what follows   the document as msgpack
"""

import contextlib
import os
import struct
import zlib
from pathlib import Path

import msgspec

from kbd_docx.looking.document import Document

__all__ = ["keep", "kept"]

_HEAD = struct.Struct("<8sI")
_MAGIC = b"KBDDOCX\x01"
_FILE = "document"


def kept(shelf: Path | None) -> Document | None:
    """Return the document that lies on a shelf; None if none does, or something else."""
    if shelf is None:
        return None
    with contextlib.suppress(OSError, struct.error, msgspec.MsgspecError):
        data = memoryview((shelf / _FILE).read_bytes())
        magic, crc = _HEAD.unpack(data[: _HEAD.size])
        body = data[_HEAD.size :]
        if magic == _MAGIC and crc == zlib.crc32(body):
            return msgspec.msgpack.decode(body, type=Document)
    return None


def keep(shelf: Path | None, document: Document) -> None:
    """Write a document beside its place and rename it; where that cannot be, nothing is kept."""
    if shelf is None:
        return
    body = msgspec.msgpack.encode(document)
    fresh = shelf / f"{_FILE}.{os.getpid()}"
    with contextlib.suppress(OSError):
        shelf.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with fresh.open("wb") as file:
                file.writelines((_HEAD.pack(_MAGIC, zlib.crc32(body)), body))
            fresh.replace(shelf / _FILE)
        finally:
            fresh.unlink(missing_ok=True)
