"""Cache file of a sheet, made of sections: written whole, read a section at a time.

    KBDSHEET, version   sections …   index   length of index, its CRC-32, KBDSHEET

A section is known by where it begins, its length and its CRC-32. A file that is cut, changed or of
another version is not used and not believed: `ShelfDamagedError` has it made anew.
"""

import os
import struct
import zlib
from pathlib import Path
from typing import Self

import msgspec

from kbd.formats.shelves import put

__all__ = ["FileSection", "SectionFile", "ShelfDamagedError", "write_sections"]

_MAGIC = b"KBDSHEET"
# Another one wherever values are read otherwise, or files would show those of before.
_VERSION = b"\x03"
_END = struct.Struct("<II8s")


class ShelfDamagedError(Exception):
    """Damaged cache file: it is not what was written."""


class FileSection(msgspec.Struct, frozen=True, array_like=True):
    """Offset, size and CRC-32 of a section."""

    offset: int
    size: int
    crc: int


class SectionFile:
    """Sections in memory, or in a file; closed by leaving it as a context manager."""

    def __init__(self) -> None:
        self._data: list[bytes] = [_MAGIC + _VERSION]
        self._size = len(self._data[0])
        self._places: dict[int, bytes] = {}
        self._descriptor = -1
        self.index = b""

    @classmethod
    def opened(cls, path: Path) -> "SectionFile":
        """Open a file that `write_sections` wrote.

        Raises:
            OSError: There is none.
            ShelfDamagedError: It is something else.
        """
        made = cls()
        made._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            made._read_index()
        except BaseException:
            made.close()
            raise
        return made

    def _read_index(self) -> None:
        size = os.fstat(self._descriptor).st_size
        end = os.pread(self._descriptor, _END.size, max(0, size - _END.size))
        head = os.pread(self._descriptor, len(_MAGIC) + 1, 0)
        if len(end) < _END.size or head != _MAGIC + _VERSION:
            raise ShelfDamagedError
        length, crc, magic = _END.unpack(end)
        # A file that was cut off has no such end, so a torn write is seen before any section is.
        start = size - _END.size - length
        if magic != _MAGIC or start < 0:
            raise ShelfDamagedError
        self.index = self.section(FileSection(start, length, crc))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def add(self, data: bytes) -> FileSection:
        """Put a section in and tell where it lies."""
        section = FileSection(self._size, len(data), zlib.crc32(data))
        self._data.append(data)
        self._places[section.offset] = data
        self._size += len(data)
        return section

    def section(self, section: FileSection) -> bytes:
        """Return a section; raises ShelfDamagedError."""
        if self._descriptor < 0:
            return self._places[section.offset]
        data = os.pread(self._descriptor, section.size, section.offset)
        # A short read, as from a file that was cut off, is noticed here as well.
        if zlib.crc32(data) != section.crc:
            raise ShelfDamagedError
        return data

    def parts(self) -> list[bytes]:
        """Return the bytes of the file that this would be."""
        end = _END.pack(len(self.index), zlib.crc32(self.index), _MAGIC)
        return [*self._data, self.index, end]


def write_sections(path: Path, sections: SectionFile) -> None:
    """Write sections into a file on the shelf; where that fails, there is no cache."""
    put(path, sections.parts())
