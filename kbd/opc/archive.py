"""Writes a zip entry by entry: of new bytes, or of an entry that is copied as it lies there.

The same entries give the same bytes, as far as those who compress do: names and times come from the
caller. There is no zip64; the limits of a package are far below what would need it.
"""

import struct
import zlib
from typing import IO
from zipfile import ZIP_DEFLATED, ZipInfo

from isal import isal_zlib

from kbd.opc.guard import raw_name

__all__ = ["ArchiveWriter"]

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s4B4H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_UTF8_FLAG = 0x800
_KEPT_FLAGS = _UTF8_FLAG | 0x6
"""How the name is written, and how hard the bytes were squeezed."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_VERSION = 20
_UNIX = 3
_PRIVATE_FILE = 0o600 << 16
_FAST_BYTES = 256 * 1024
"""From this size on speed counts more: a quarter of the time for a fifth more bytes."""


class ArchiveWriter:
    """Writes entries to a file that is open for writing, from its beginning.

    Args:
        file: Where the archive goes; left open.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._directory: list[bytes] = []
        self._offset = 0

    def add(self, name: str, data: bytes, like: ZipInfo | None = None) -> None:
        """Add an entry of new bytes, deflated; `like` is the entry whose place it takes."""
        packed = _deflated(data)
        entry = ZipInfo(name, like.date_time if like else _EARLIEST)
        entry.compress_type = ZIP_DEFLATED
        entry.CRC, entry.file_size = isal_zlib.crc32(data), len(data)
        entry.compress_size = len(packed)
        entry.create_system = like.create_system if like else _UNIX
        entry.external_attr = like.external_attr if like else _PRIVATE_FILE
        if like:
            self._begin(entry, raw_name(like), like.flag_bits & _UTF8_FLAG)
        else:
            self._begin(entry, name.encode(), 0 if name.isascii() else _UTF8_FLAG)
        self._write(packed)

    def copy(self, info: ZipInfo, packed: bytes) -> None:
        """Add an entry of another archive as it lies there; only its extra fields stay behind.

        Args:
            info: The entry, whose sizes are those of the bytes.
            packed: Exactly its compressed bytes.
        """
        self._begin(info, raw_name(info), info.flag_bits & _KEPT_FLAGS)
        self._write(packed)

    def finish(self) -> None:
        """Write the directory; nothing may be added after it."""
        directory = b"".join(self._directory)
        count, start = len(self._directory), self._offset
        self._write(directory)
        self._write(_END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0))

    def _begin(self, entry: ZipInfo, name: bytes, flags: int) -> None:
        year, month, day, hour, minute, second = entry.date_time
        date = (year - 1980) << 9 | month << 5 | day
        time = hour << 11 | minute << 5 | second // 2
        sizes = (entry.CRC, entry.compress_size, entry.file_size)
        shared = (flags, entry.compress_type, time, date, *sizes, len(name), 0)
        attributes = (entry.internal_attr, entry.external_attr)
        self._directory.append(
            _CENTRAL.pack(
                b"PK\x01\x02", _VERSION, entry.create_system, _VERSION, 0,
                *shared, 0, 0, *attributes, self._offset,
            ) + name
        )  # fmt: skip
        self._write(_LOCAL.pack(b"PK\x03\x04", _VERSION, *shared) + name)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._offset += len(data)


def _deflated(data: bytes) -> bytes:
    # Not isal, four times as fast: what it makes of the same bytes depends on the processor, and
    # the same edit shall give the same file everywhere.
    level = 2 if len(data) >= _FAST_BYTES else 6
    squeezer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeezer.compress(data) + squeezer.flush()
