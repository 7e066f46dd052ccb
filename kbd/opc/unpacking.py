"""The contents of an entry, unpacked as they are read, and held against what the entry claims.

A reader of the standard library stops at the size that the directory tells; one that goes on to
the end of the stream, as libraries in other languages do, would be handed what nobody counted.
"""

import io
from typing import Protocol
from zipfile import ZIP_STORED, ZipInfo

from isal import isal_zlib
from isal.igzip_lib import IsalError

from kbd.errors import FileReadFailed

__all__ = ["PartStream"]

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
        self._told = info.CRC
        self._sum = 0
        self._inflating: _Inflating | None = None
        if info.compress_type != ZIP_STORED:
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
            if self._piece(1):
                raise self._damaged("unpacks to more than it says")
            if not self._inflating.eof:
                raise self._damaged("is cut short")
        if self._sum != self._told:
            raise self._damaged("is not what it was")

    def _damaged(self, what: str) -> FileReadFailed:
        return FileReadFailed(f"{self._name} is damaged: a part of it {what}.")
