"""A guarded package: what it is, and its parts, before any library opens it.

Everything that can be known from the zip's directory is checked first, so that bombs and files
that are something else are refused in milliseconds with a reason. XML is parsed without DTDs,
entities or network. Sizes and counts: facts of the formats, section 5, and reliability, section 4.
"""

import io
import os
import posixpath
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Self
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source

__all__ = [
    "STRICT",
    "Package",
    "Relation",
    "parse_relations",
    "part_key",
    "reading_errors",
    "relations_part",
    "xml_root",
]

MAX_ENTRIES = 10_000
MAX_PART_BYTES = 150 * 1024 * 1024
MAX_TOTAL_BYTES = 300 * 1024 * 1024

STRICT = "http://purl.oclc.org/ooxml/"
"""How the names of the strict variant begin."""

_LOCAL_BYTES = 30
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_ENTRY = "EncryptedPackage".encode("utf-16-le")
_ENCRYPTED_FLAG = 0x1


class Relation(msgspec.Struct, frozen=True):
    """A part's relation: its id, the last word of its type, and the part or address it names.

    `type` is the whole name of its type.
    """

    id: str
    kind: str
    target: str
    external: bool
    type: str = ""


@contextmanager
def reading_errors(name: str) -> Iterator[None]:
    """Turn what damaged files raise in zip and XML code into FileReadFailed."""
    try:
        yield
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileReadFailed(f"{name} is damaged: a part cannot be unpacked.") from error
    except etree.LxmlError as error:
        raise FileReadFailed(f"{name} is damaged: a part is not valid XML.") from error
    except OSError as error:
        raise FileReadFailed(f"{name} cannot be read.") from error


def xml_root(data: bytes, name: str) -> etree._Element:
    """Parse a small part; a document type declaration is refused, as nothing here needs one."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    if root.getroottree().docinfo.internalDTD is not None:
        raise FileReadFailed(f"{name} holds a document type declaration, which is not allowed.")
    return root


class Package:
    """The parts of one package, read-only; a context manager.

    Part names are matched as producers write them: without regard to case, a backslash as a slash.

    Args:
        source: The file.

    Raises:
        FileReadFailed: It is no package, is encrypted, damaged, or past a limit.
    """

    def __init__(self, source: Source) -> None:
        self.name = source.name
        with reading_errors(source.name):
            self._file = source.path.open("rb")
            try:
                _check_magic(source.name, self._file)
                self._zip = ZipFile(self._file)
                self._infos = _checked_entries(source.name, self._zip.infolist())
            except BaseException:
                self._file.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def __contains__(self, part: str) -> bool:
        return part_key(part) in self._infos

    @property
    def entries(self) -> tuple[ZipInfo, ...]:
        """The zip's entries in the order of its directory."""
        return tuple(self._infos.values())

    @property
    def by_key(self) -> Mapping[str, ZipInfo]:
        """The same entries by the key of their names."""
        return self._infos

    def read(self, part: str) -> bytes:
        """Return a part's bytes; raises FileReadFailed if there is no such part."""
        with self.open(part) as file, reading_errors(self.name):
            return file.read()

    def open(self, part: str) -> IO[bytes]:
        """Open a part for streaming.

        Raises:
            FileReadFailed: There is no such part, or it declares a document type.
        """
        info = self.entry(part)
        with reading_errors(self.name):
            with self._zip.open(info) as file:
                head = file.read(4096)
            # A declaration stands before the root; in UTF-16 every other byte is zero.
            if b"<!DOCTYPE" in head.replace(b"\0", b""):
                raise FileReadFailed(f"{self.name} holds a document type declaration.")
            return self._zip.open(info)

    def entry(self, part: str) -> ZipInfo:
        """Return a part's entry; raises FileReadFailed if there is no such part."""
        info = self._infos.get(part_key(part))
        if info is None:
            raise FileReadFailed(f"{self.name} is damaged: it has no part {part}.")
        return info

    def packed(self, info: ZipInfo) -> IO[bytes]:
        """Return a stream of an entry's bytes as they lie in the zip, compressed.

        Raises:
            FileReadFailed: They are not where the directory says.
        """
        with reading_errors(self.name):
            header = os.pread(self._file.fileno(), _LOCAL_BYTES, info.header_offset)
            if len(header) < _LOCAL_BYTES or not header.startswith(b"PK\x03\x04"):
                raise FileReadFailed(f"{self.name} is damaged: a part is not where it should be.")
            names, extra = struct.unpack("<HH", header[-4:])
            start = info.header_offset + _LOCAL_BYTES + names + extra
            return io.BytesIO(os.pread(self._file.fileno(), info.compress_size, start))

    @property
    def is_strict(self) -> bool:
        """Whether its main part is related by the names of the strict variant."""
        return any(relation.type.startswith(STRICT) for relation in self.relations(""))

    def root(self, part: str) -> etree._Element:
        """Parse a small part; raises FileReadFailed."""
        data = self.read(part)
        with reading_errors(self.name):
            return xml_root(data, self.name)

    def relations(self, part: str) -> tuple[Relation, ...]:
        """Return a part's relations ("" for those of the package), targets as part names."""
        rels = relations_part(part)
        return parse_relations(part, self.root(rels)) if rels in self else ()


def part_key(part: str) -> str:
    """Return what two spellings of one part's name have in common."""
    return part.replace("\\", "/").lstrip("/").casefold()


def relations_part(part: str) -> str:
    """Return the part that holds a part's relations."""
    folder, base = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{base}.rels")


def parse_relations(part: str, root: etree._Element) -> tuple[Relation, ...]:
    """Read the relations of a part from the root of the part that holds them."""
    folder = posixpath.dirname(part)
    found = []
    for element in root.iterchildren("{*}Relationship"):
        target = element.get("Target", "").replace("\\", "/")
        external = element.get("TargetMode") == "External"
        if not external:
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        type_ = element.get("Type", "")
        kind = type_.rsplit("/", 1)[-1]
        found.append(Relation(element.get("Id", ""), kind, target, external, type_))
    return tuple(found)


def _check_magic(name: str, file: IO[bytes]) -> None:
    """Say what a file is that is no zip."""
    head = file.read(8)
    if head.startswith(b"PK\x03\x04"):
        return
    if not head:
        raise FileReadFailed(f"{name} is empty.")
    if head == _OLE:
        file.seek(0)
        if _ENCRYPTED_ENTRY in file.read(4 * 1024 * 1024):
            raise FileReadFailed(f"{name} is encrypted with a password.")
        raise FileReadFailed(f"{name} is an old binary Office file; save it in a current format.")
    if head.startswith(b"PK"):
        raise FileReadFailed(f"{name} is a zip file without contents.")
    kind = "text" if b"\0" not in head and head.isascii() else "something else"
    raise FileReadFailed(f"{name} is not an Office file: it is {kind}, whatever its name says.")


def _checked_entries(name: str, entries: list[ZipInfo]) -> dict[str, ZipInfo]:
    if len(entries) > MAX_ENTRIES:
        raise FileReadFailed(f"{name} has {len(entries):,} parts; the limit is {MAX_ENTRIES:,}.")
    found: dict[str, ZipInfo] = {}
    total = 0
    for info in entries:
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise FileReadFailed(f"{name} is encrypted.")
        total += info.file_size
        if info.file_size > MAX_PART_BYTES or total > MAX_TOTAL_BYTES:
            raise FileReadFailed(f"{name} is too large unpacked; the limit is 300 MiB.")
        key = part_key(info.filename)
        if key in found and not info.is_dir():
            raise FileReadFailed(f"{name} is damaged: two parts have one name.")
        found[key] = info
    return found
