"""Entries of a zip: a writer of new and copied ones, and a stream of one's contents.

The writer makes an entry of new bytes, or copies one as it lies in another zip. The same entries
give the same bytes, as far as those who compress do: names and times come from the caller. There is
no zip64; the limits of a package are far below what would need it.

The stream unpacks an entry as it is read, and holds it against what the entry claims. A reader of
the standard library stops at the size that the directory tells; one that goes on to the end of the
stream, as libraries in other languages do, would be handed what nobody counted.
"""

import io
import struct
import zlib
from typing import IO, Protocol
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

from isal import isal_zlib
from isal.igzip_lib import IsalError

from kbd.errors import FileReadFailed
from kbd.opc.guard import raw_name

__all__ = ["ArchiveWriter", "PartStream"]

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s4B4H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_UTF8_FLAG = 0x800
_COPIED_FLAGS = _UTF8_FLAG | 0x6
"""How the name is written, and how hard the bytes were squeezed."""
# The first day that a date of MS-DOS can tell; a clock's would make two files of equal edits.
_EARLIEST = (1980, 1, 1, 0, 0, 0)
_VERSION = 20
_UNIX = 3
# On Unix the upper half of the external attributes is the mode (APPNOTE 4.4.15: by system).
_PRIVATE_FILE = 0o600 << 16
_FAST_BYTES = 256 * 1024
"""From this size on speed counts more: a quarter of the time for a fifth more bytes."""


# Not zipfile, which takes no entry that is packed already: every part would be packed anew.
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
            # The name's own bytes: decoded and encoded again, one beyond ASCII could become
            # another.
            self._begin(entry, raw_name(like), like.flag_bits & _UTF8_FLAG)
        else:
            self._begin(entry, name.encode(), 0 if name.isascii() else _UTF8_FLAG)
        self._write(packed)

    def copy(self, info: ZipInfo, packed: bytes) -> None:
        """Copy an entry of another archive without recompressing it; its extra fields are left out.

        Args:
            info: The entry, whose sizes are those of the bytes.
            packed: Exactly its compressed bytes.
        """
        # Bit 3 goes: the sizes are known and stand in the header, so none follow the data.
        self._begin(info, raw_name(info), info.flag_bits & _COPIED_FLAGS)
        self._write(packed)

    def finish(self) -> None:
        """Write the directory; nothing may be added after it."""
        directory = b"".join(self._directory)
        count, start = len(self._directory), self._offset
        self._write(directory)
        self._write(_END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), start, 0))

    def _begin(self, entry: ZipInfo, name: bytes, flags: int) -> None:
        year, month, day, hour, minute, second = entry.date_time
        # Date and time of MS-DOS (APPNOTE 4.4.6), in steps of two seconds.
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


_FED_BYTES = 1 << 16


class _Inflating(Protocol):
    """A stream of deflated bytes."""

    eof: bool
    unconsumed_tail: bytes

    def decompress(self, data: bytes, max_length: int = 0) -> bytes:
        """Return what the bytes unpack to, up to a length; none is reached with 0."""


class PartStream(io.RawIOBase):
    """An entry's contents, readable once from the beginning.

    Reading raises FileReadFailed if the packed bytes are damaged, or unpack to more or less than
    the entry says, or to something else.

    Args:
        name: The file's name, for messages.
        info: The entry.
        packed: Its bytes as they lie in the zip.
    """

    def __init__(self, name: str, info: ZipInfo, packed: bytes) -> None:
        self._name = name
        self._packed = packed
        self._at = 0
        self._left = info.file_size
        self._crc = info.CRC
        self._sum = 0
        self._inflating: _Inflating | None = None
        if info.compress_type != ZIP_STORED:
            # Unpacking has one result on every processor, so here the faster library may be used.
            # What lies in a zip is raw deflate, without a header of zlib.
            self._inflating = isal_zlib.decompressobj(-isal_zlib.MAX_WBITS)
        self._is_done = False

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, as many as are wanted or there are; all of them with -1."""
        if self._is_done:
            return b""
        data = self._next(self._left if size < 0 else min(size, self._left))
        self._sum = isal_zlib.crc32(data, self._sum)
        self._left -= len(data)
        if not self._left:
            self._finish()
        return data

    def _next(self, wanted: int) -> bytes:
        """Return exactly so many bytes."""
        pieces = []
        missing = wanted
        while missing:
            piece = self._piece(missing)
            if not piece:
                raise self._damaged("unpacks to less than it says")
            pieces.append(piece)
            missing -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _piece(self, most: int) -> bytes:
        """Return some of the next bytes, none at the end."""
        if self._inflating is None:
            piece = self._packed[self._at : self._at + most]
            self._at += len(piece)
            return piece
        while True:
            fed = self._inflating.unconsumed_tail
            if not fed:
                # Each call copies what it did not consume; if all is wanted, that is nothing.
                length = len(self._packed) if most == self._left else _FED_BYTES
                fed = self._packed[self._at : self._at + length]
                self._at += len(fed)
            try:
                piece = self._inflating.decompress(fed, most)
            except IsalError as error:  # type: ignore[misc]  # in its stub a value
                raise self._damaged("cannot be unpacked") from error
            if piece or not fed or self._inflating.eof:
                return piece

    def _finish(self) -> None:
        self._is_done = True
        if self._inflating is not None and not self._inflating.eof:
            # One byte more is asked for: other readers go on to the end of the stream and would get
            # it.
            if self._piece(1):
                raise self._damaged("unpacks to more than it says")
            if not self._inflating.eof:
                raise self._damaged("is cut short")
        if self._sum != self._crc:
            raise self._damaged("is not what it was")

    def _damaged(self, what: str) -> FileReadFailed:
        return FileReadFailed(f"{self._name} is damaged: a part of it {what}")
