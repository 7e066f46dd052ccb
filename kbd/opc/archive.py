"""Writes a zip entry by entry: of new bytes, or of an entry that is copied as it lies there.

The same entries give the same bytes: names and times come from the caller. There is no zip64; the
limits of a package are far below what would need it.
"""

import struct
import zlib
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

__all__ = ["ArchiveWriter"]

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s4B4H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_UTF8_FLAG = 0x800
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_VERSION = 20
_UNIX = 3
_FAST_BYTES = 4 * 1024 * 1024
"""From this size on speed counts more than the last tenth of the size."""


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
        level = 3 if len(data) >= _FAST_BYTES else 6
        squeezer = zlib.compressobj(level, zlib.DEFLATED, -15)
        packed = squeezer.compress(data) + squeezer.flush()
        when, attributes = (like.date_time, like.external_attr) if like else (_EARLIEST, 0)
        sizes = (zlib.crc32(data), len(packed), len(data))
        self._begin(name, ZIP_DEFLATED, 0, when, attributes or 0o600 << 16, sizes)
        self._write(packed)

    def copy(self, info: ZipInfo, packed: IO[bytes]) -> None:
        """Add an entry of another archive as it lies there.

        Args:
            info: The entry, whose sizes are those of the bytes.
            packed: A stream of exactly its compressed bytes.
        """
        sizes = (info.CRC, info.compress_size, info.file_size)
        assert info.compress_type in (ZIP_STORED, ZIP_DEFLATED)
        method, flags = info.compress_type, info.flag_bits & 0x6
        self._begin(info.filename, method, flags, info.date_time, info.external_attr, sizes)
        while block := packed.read(1 << 20):
            self._write(block)

    def finish(self) -> None:
        """Write the directory; nothing may be added after it."""
        directory = b"".join(self._directory)
        count, start = len(self._directory), self._offset
        self._write(directory)
        self._write(_END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0))

    def _begin(
        self,
        name: str,
        method: int,
        flags: int,
        when: tuple[int, int, int, int, int, int],
        attributes: int,
        sizes: tuple[int, int, int],
    ) -> None:
        try:
            encoded = name.encode("ascii")
        except UnicodeEncodeError:
            encoded, flags = name.encode(), flags | _UTF8_FLAG
        year, month, day, hour, minute, second = when
        date = (max(year, 1980) - 1980) << 9 | month << 5 | day
        time = hour << 11 | minute << 5 | second // 2
        shared = (flags, method, time, date, *sizes, len(encoded), 0)
        self._directory.append(
            _CENTRAL.pack(
                b"PK\x01\x02", _VERSION, _UNIX, _VERSION, 0,
                *shared, 0, 0, 0, attributes & 0xFFFFFFFF, self._offset,
            ) + encoded
        )  # fmt: skip
        self._write(_LOCAL.pack(b"PK\x03\x04", _VERSION, *shared) + encoded)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._offset += len(data)
