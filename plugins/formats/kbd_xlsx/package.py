"""A guarded Office Open XML package: what it is, and its parts, before any library opens it.

Everything that can be known from the zip's directory is checked first, so that bombs and files
that are something else are refused in milliseconds with a reason. XML is parsed without DTDs,
entities or network. Sizes and counts: facts of the formats, section 5, and reliability, section 4.
"""

import posixpath
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Self
from zipfile import BadZipFile, ZipFile, ZipInfo

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source

__all__ = ["Package", "Relation", "reading_errors", "xml_root"]

MAX_ENTRIES = 10_000
MAX_PART_BYTES = 150 * 1024 * 1024
MAX_TOTAL_BYTES = 300 * 1024 * 1024

_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_ENTRY = "EncryptedPackage".encode("utf-16-le")
_ENCRYPTED_FLAG = 0x1


class Relation(msgspec.Struct, frozen=True):
    """A part's relation: its id, the last word of its type, and the part or address it names."""

    id: str
    kind: str
    target: str
    external: bool


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
        return _key(part) in self._infos

    @property
    def entries(self) -> tuple[ZipInfo, ...]:
        """The zip's entries in the order of its directory."""
        return tuple(self._infos.values())

    def read(self, part: str) -> bytes:
        """Return a part's bytes; raises FileReadFailed if there is no such part."""
        with self.open(part) as file, reading_errors(self.name):
            return file.read()

    def open(self, part: str) -> IO[bytes]:
        """Open a part for streaming.

        Raises:
            FileReadFailed: There is no such part, or it declares a document type.
        """
        info = self._infos.get(_key(part))
        if info is None:
            raise FileReadFailed(f"{self.name} is damaged: it has no part {part}.")
        with reading_errors(self.name):
            with self._zip.open(info) as file:
                head = file.read(4096)
            # A declaration stands before the root; in UTF-16 every other byte is zero.
            if b"<!DOCTYPE" in head.replace(b"\0", b""):
                raise FileReadFailed(f"{self.name} holds a document type declaration.")
            return self._zip.open(info)

    def root(self, part: str) -> etree._Element:
        """Parse a small part; raises FileReadFailed."""
        data = self.read(part)
        with reading_errors(self.name):
            return xml_root(data, self.name)

    def relations(self, part: str) -> tuple[Relation, ...]:
        """Return a part's relations ("" for those of the package), targets as part names."""
        folder, base = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", f"{base}.rels")
        if rels not in self:
            return ()
        found = []
        for element in self.root(rels).iterchildren("{*}Relationship"):
            target = element.get("Target", "").replace("\\", "/")
            external = element.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = element.get("Type", "").rsplit("/", 1)[-1]
            found.append(Relation(element.get("Id", ""), kind, target, external))
        return tuple(found)


def _key(part: str) -> str:
    return part.replace("\\", "/").lstrip("/").casefold()


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
    if head.startswith(b"%PDF"):
        raise FileReadFailed(f"{name} is a PDF, whatever its name says.")
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
        key = _key(info.filename)
        if key in found and not info.is_dir():
            raise FileReadFailed(f"{name} is damaged: two parts have one name.")
        found[key] = info
    return found
