"""Packages: zips of parts, read within limits."""

from __future__ import annotations

import hashlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO
from xml.parsers import expat

__all__ = ["Damaged", "PackageReader", "TooLarge"]

MAX_ENTRIES = 20_000
MAX_FILE_BYTES = 1 << 30
MAX_PART_BYTES = 256 * 1024 * 1024
MAX_TOTAL_BYTES = 1 << 30
"""What all that is unpacked of one file may come to, read once or more often."""

_BLOCK_BYTES = 1 << 18
_TYPES = "[Content_Types].xml"
_NAMES, _LOCAL_BYTES = 26, 30
"""Where the lengths of name and extra field stand in an entry's own header, and its size."""

_FAULTS = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, struct.error,
    ValueError, OSError, MemoryError,
)  # fmt: skip
"""What the reader of zips raises for damaged ones."""


class Damaged(Exception):
    """Something cannot be read, and why."""


class TooLarge(Damaged):
    """Something is past a limit: it is not read, and nothing is wrong with it for that."""


class PackageReader:
    """One version of a package.

    Args:
        file: Open for reading; it stays open as long as the package is read.

    Raises:
        Damaged: It is no zip, or past a limit.
    """

    def __init__(self, file: BinaryIO) -> None:
        if file.seek(0, os.SEEK_END) > MAX_FILE_BYTES:
            raise TooLarge("it is larger than what is read here")
        self._file, self._left = file, MAX_TOTAL_BYTES
        self._types: tuple[dict[str, str], dict[str, str]] | None = None
        try:
            self._zip = zipfile.ZipFile(file)
            infos = self._zip.infolist()
        except _FAULTS as error:
            raise Damaged("the directory of the zip is damaged") from error
        if len(infos) > MAX_ENTRIES:
            raise TooLarge("it has more parts than are read here")
        self.infos: dict[str, zipfile.ZipInfo] = {}
        for info in infos:
            name = _name_of(info)
            if name.endswith("/"):
                continue
            if name in self.infos:
                raise Damaged(f"it has two parts {name}")
            self.infos[name] = info

    def blocks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a part.

        Raises:
            Damaged: It is not there, cannot be unpacked, or is past a limit.
        """
        info = self.infos.get(name)
        if info is None:
            raise Damaged(f"there is no part {name}")
        if info.file_size > MAX_PART_BYTES:
            raise TooLarge(f"the part {name} is larger than what is read here")
        try:
            with self._zip.open(info) as stream:
                while True:
                    block = stream.read(_BLOCK_BYTES)
                    if not block:
                        return
                    self._left -= len(block)
                    if self._left < 0:
                        raise TooLarge("it unpacks to more than is read here")
                    yield block
        except _FAULTS as error:
            raise Damaged(f"the part {name} cannot be unpacked: its bytes are damaged") from error

    def sha256(self, name: str) -> str:
        """Return the hash of a part's bytes; raises Damaged."""
        digest = hashlib.sha256()
        for block in self.blocks(name):
            digest.update(block)
        return digest.hexdigest()

    def packed_sha256(self, name: str) -> str:
        """Return the hash of a part's bytes as they lie in the zip; raises Damaged."""
        info = self.infos[name]
        digest = hashlib.sha256(b"%d" % info.compress_type)
        try:
            self._file.seek(info.header_offset + _NAMES)
            names, extra = struct.unpack("<2H", self._file.read(4))
            self._file.seek(info.header_offset + _LOCAL_BYTES + names + extra)
            left = min(info.compress_size, MAX_FILE_BYTES)
            while left:
                block = self._file.read(min(left, _BLOCK_BYTES))
                if not block:
                    break
                digest.update(block)
                left -= len(block)
        except _FAULTS as error:
            raise Damaged(f"the part {name} is not where it should be") from error
        return digest.hexdigest()

    def size(self, name: str) -> int:
        """Return the size of a part, as the directory has it."""
        return self.infos[name].file_size

    def content_type(self, name: str) -> str:
        """Return the type of a part, "" where none is told; raises Damaged."""
        if self._types is None:
            self._types = self._read_types()
        parts, suffixes = self._types
        suffix = os.path.splitext(name)[1].lstrip(".").casefold()
        return parts.get(_key(name)) or suffixes.get(suffix, "")

    def part(self, name: str) -> str | None:
        """Return the name of a part as it is written, whatever the case it is asked for in."""
        wanted = _key(name)
        return next((each for each in self.infos if _key(each) == wanted), None)

    def _read_types(self) -> tuple[dict[str, str], dict[str, str]]:
        parts: dict[str, str] = {}
        suffixes: dict[str, str] = {}
        name = self.part(_TYPES)
        if name is None:
            return parts, suffixes

        def start(_: str, attributes: dict[str, str]) -> None:
            kind = attributes.get("ContentType", "")
            if attributes.get("PartName"):
                parts.setdefault(_key(attributes["PartName"]), kind)
            elif attributes.get("Extension"):
                suffixes[attributes["Extension"].casefold()] = kind

        parser = expat.ParserCreate(namespace_separator="}")
        parser.StartElementHandler = start
        parser.StartDoctypeDeclHandler = _refuse
        try:
            for block in self.blocks(name):
                parser.Parse(block)
            parser.Parse(b"", True)  # noqa: FBT003 - it takes no names
        except expat.ExpatError as error:
            raise Damaged("the table of types is damaged") from error
        return parts, suffixes


def _refuse(*_: object) -> None:
    raise Damaged("a part has a document type declaration")


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").casefold()


def _name_of(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry; many write UTF-8 without saying so."""
    try:
        written = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
        return written.decode("utf-8")
    except UnicodeError:
        return info.orig_filename
