"""Guarded package: its parts, types and relations, before any library opens it.

`guard` checks the zip before, and what a part claims is held against what it unpacks to. XML is
parsed without DTDs, entities or network.

What comes before the root element of a part is looked at before anything parses it: no part needs a
document type declaration, and one can make a small part endless. It is found in any encoding that
a package may have, however many comments hide it; what is in another encoding is refused, since
there it could not be found.
"""

import io
import os
import posixpath
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, BinaryIO, Self, cast
from zipfile import BadZipFile, ZipInfo

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.entries import PartStream
from kbd.opc.guard import open_archive, part_key
from kbd.opc.whole_texts import join_texts, may_divide

__all__ = [
    "CONTENT_TYPES",
    "STRICT",
    "ContentTypes",
    "Package",
    "Relation",
    "free_element",
    "parse_relations",
    "prolog_fault",
    "read_types",
    "reading_errors",
    "relations_part",
    "xml_root",
]

_FIRST_BYTES = 1024
_MAX_BYTES = 1 << 20
"""Longer prologs hide something: the longest of real files has some hundred bytes."""

_SKIPPED = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)
_ENCODING = re.compile(r"<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"']*)[\"']", re.DOTALL)
# In each of these what is searched for is written as in ASCII, and nothing else looks like it.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|(us-)?ascii|latin-?1|iso-?8859-\d+|(windows-|cp)125\d|koi8-[ru]"
    r"|shift_jis|gbk|gb2312|gb18030|big5|euc-(jp|kr)",
    re.IGNORECASE,
)
# How nearly all parts begin: nothing stands between the declaration and the root.
_PLAIN = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'](?:utf|UTF)-8[\"'])?"
    rb"(?: standalone=[\"'](?:yes|no)[\"'])?[ ]?\?>[\r\n]{0,2})?<[A-Za-z]"
)
# How the Unicode of four bytes and the code of mainframes begin; parsers guess them.
_FOREIGN = (
    b"\0\0\xfe\xff", b"\xff\xfe\0\0", b"\0\0\0<", b"<\0\0\0",
    b"\0\0<\0", b"\0<\0\0", b"\x4c\x6f\xa7\x94",
)  # fmt: skip


def prolog_fault(file: PartStream | io.BytesIO) -> str:
    """Return what is wrong before the root element, "" if nothing is or the part is no XML.

    Reads as little of the file as it takes.
    """
    head = b""
    wanted = _FIRST_BYTES
    while len(head) < _MAX_BYTES:
        more = file.read(wanted)
        head += more
        fault = _find_fault(head, is_whole=len(more) < wanted)
        if fault is not None:
            return fault
        # Doubled, since the head is searched anew each time: the work stays in proportion to it.
        wanted = len(head)
    return "a part that begins with too much before its contents"


def _find_fault(head: bytes, *, is_whole: bool) -> str | None:
    """Return the fault, "" for none, None if more must be read to know."""
    if _PLAIN.match(head):
        return ""
    if head.startswith(_FOREIGN):
        return "a part in an encoding that is not allowed"
    text = _decoded(head)
    declared = _ENCODING.match(text)
    if declared and not _KNOWN.fullmatch(declared[1]):
        return "a part in an encoding that is not allowed"
    at = 0
    while found := _SKIPPED.match(text, at):
        at = found.end()
    rest = text[at : at + 9]
    if rest.startswith("<!DOCTYPE"):
        return "a document type declaration, which is not allowed"
    # An element, or no XML at all: that is for whoever reads it.
    begun = rest and not rest.startswith(("<!", "<?")) and rest != "<"
    return "" if begun or is_whole else None


def _decoded(head: bytes) -> str:
    """Decode what can be judged: UTF-16 as such, all else by what it shares with ASCII."""
    if head.startswith(b"\xff\xfe") or head[1:2] == b"\0":
        return head.decode("utf-16-le", "replace").lstrip("\ufeff")
    if head.startswith((b"\xfe\xff", b"\0")):
        return head.decode("utf-16-be", "replace").lstrip("\ufeff")
    return head.removeprefix(b"\xef\xbb\xbf").decode("latin-1")


CONTENT_TYPES = "[Content_Types].xml"

STRICT = "http://purl.oclc.org/ooxml/"
"""How the names of the strict variant begin."""

_BLOCK_BYTES = 1 << 20

_OFFICE = "http://schemas.openxmlformats.org/"
_PREFIXES = {
    "a": f"{_OFFICE}drawingml/2006/main",
    "c": f"{_OFFICE}drawingml/2006/chart",
    "cdr": f"{_OFFICE}drawingml/2006/chartDrawing",
    "cp": f"{_OFFICE}package/2006/metadata/core-properties",
    "cust": f"{_OFFICE}officeDocument/2006/custom-properties",
    "dcmitype": "http://purl.org/dc/dcmitype/",
    "dcterms": "http://purl.org/dc/terms/",
    "p": f"{_OFFICE}presentationml/2006/main",
    "r": f"{_OFFICE}officeDocument/2006/relationships",
    "s": f"{_OFFICE}spreadsheetml/2006/main",
    "vt": f"{_OFFICE}officeDocument/2006/docPropsVTypes",
    "w": f"{_OFFICE}wordprocessingml/2006/main",
    "xdr": f"{_OFFICE}drawingml/2006/spreadsheetDrawing",
}
# For elements whose names have no prefix yet. Known here before any library is imported that makes
# the same known (openpyxl does): what a file gets must not hang on what was imported before.
for _prefix, _space in _PREFIXES.items():
    etree.register_namespace(_prefix, _space)

_MAX_MARKS = 1_000_000
"""Begins and ends of elements of a part that is parsed whole: a tree of so many takes 350 to 700
MB. None of 1,228 real packages has a tenth of it in a part that is no sheet."""

_MAX_RELATIONS = 200_000
"""Of one part. A document with a link in each of its paragraphs has some ten thousand."""


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
        raise FileReadFailed(f"{name} is damaged: a part cannot be unpacked") from error
    except etree.LxmlError as error:
        raise FileReadFailed(f"{name} is damaged: a part is not valid XML") from error
    except OSError as error:
        raise FileReadFailed(f"{name} cannot be read") from error


def xml_root(data: bytes, name: str) -> etree._Element:
    """Parse a small part; its texts are whole, whatever comments divide them.

    A document type declaration is refused, as nothing here needs one.
    """
    # Entities are not put in: one may name a local file, or others that grow a billionfold.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    root = etree.fromstring(data, parser)
    # Checked here as well: what a library made did not pass `prolog_fault`.
    if root.getroottree().docinfo.internalDTD is not None:
        raise FileReadFailed(f"{name} holds a document type declaration, which is not allowed")
    if may_divide(data):
        join_texts(root)
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
                self._zip, self._infos, self._starts = open_archive(source.name, self._file)
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
        """Entries by the key of their names, in which case does not count."""
        return self._infos

    def copy_to(self, target: BinaryIO) -> None:
        """Write the whole file as it is; raises FileReadFailed."""
        with reading_errors(self.name):
            self._file.seek(0)
            shutil.copyfileobj(self._file, target)

    def read(self, part: str) -> bytes:
        """Return a part's bytes.

        Raises:
            FileReadFailed: There is no such part, it is damaged, or declares a document type.
        """
        info = self.entry(part)
        data = PartStream(self.name, info, self.packed(info)).read()
        fault = prolog_fault(io.BytesIO(data))
        if fault:
            raise FileReadFailed(f"{self.name} holds {fault}")
        return data

    def open(self, part: str) -> IO[bytes]:
        """Open a part for streaming, which raises FileReadFailed where it is damaged.

        Raises:
            FileReadFailed: There is no such part, or it declares a document type.
        """
        info = self.entry(part)
        packed = self.packed(info)
        # On a stream of its own: one is read once, and the caller's begins at the first byte.
        fault = prolog_fault(PartStream(self.name, info, packed))
        if fault:
            raise FileReadFailed(f"{self.name} holds {fault}")
        # Whoever reads it needs no more of a file than this has.
        return cast("IO[bytes]", PartStream(self.name, info, packed))

    def entry(self, part: str) -> ZipInfo:
        """Return a part's entry; raises FileReadFailed if there is no such part."""
        info = self._infos.get(part_key(part))
        if info is None:
            raise FileReadFailed(f"{self.name} is damaged: it has no part {part}")
        return info

    def packed(self, info: ZipInfo) -> bytes:
        """Return an entry's raw bytes, compressed.

        Raises:
            FileReadFailed: They are not where the directory says.
        """
        with reading_errors(self.name):
            start = self._starts[info.header_offset]
            data = os.pread(self._file.fileno(), info.compress_size, start)
        if len(data) < info.compress_size:
            raise FileReadFailed(f"{self.name} is damaged: it ends too early")
        return data

    def prove(self, *parts: str) -> None:
        """Check that parts unpack to what they claim, before something else unpacks them.

        A part that is not there is passed over.

        Raises:
            FileReadFailed: One does not, or declares a document type.
        """
        for part in parts:
            if part in self:
                with self.open(part) as file:
                    while file.read(_BLOCK_BYTES):
                        pass

    def content_type(self, part: str) -> str:
        """Return a part's type, "" if the table of types has none for it."""
        return self.content_types().of(part)

    def content_types(self) -> "ContentTypes":
        """Return the table of types, for whoever asks for many; raises FileReadFailed."""
        return read_types(self.root(CONTENT_TYPES)) if CONTENT_TYPES in self else ContentTypes()

    @property
    def is_strict(self) -> bool:
        """Whether its main part is related by the names of the strict variant."""
        return any(relation.type.startswith(STRICT) for relation in self.relations(""))

    def root(self, part: str) -> etree._Element:
        """Parse a small part.

        Raises:
            FileReadFailed: There is no such part, it is damaged, or of too many elements.
        """
        data = self.read(part)
        # Counted in the bytes, before a tree of so many elements takes the memory.
        if data.count(b"<") > _MAX_MARKS:
            raise FileReadFailed(f"{self.name} is refused: a part has over {_MAX_MARKS:,} elements")
        with reading_errors(self.name):
            return xml_root(data, self.name)

    def relations(self, part: str) -> tuple[Relation, ...]:
        """Return a part's relations ("" for those of the package), targets as part names.

        Raises:
            FileReadFailed: They are damaged, or more than any part has.
        """
        rels = relations_part(part)
        if rels not in self:
            return ()
        data = self.read(rels)
        # Counted in the bytes, before a tree of so many elements takes the memory.
        if data.count(b"<") > _MAX_RELATIONS:
            raise FileReadFailed(
                f"{self.name} is refused: a part has over {_MAX_RELATIONS:,} relations"
            )
        with reading_errors(self.name):
            return parse_relations(part, xml_root(data, self.name))


def free_element(element: etree._Element) -> None:
    """Free an element that was read from a stream, with its siblings before it.

    lxml keeps each element that it has read in the tree: without this a stream takes the memory of
    the whole part.
    """
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def relations_part(part: str) -> str:
    """Return the part that holds a part's relations."""
    folder, base = posixpath.split(part.replace("\\", "/"))
    return posixpath.join(folder, "_rels", f"{base}.rels")


def parse_relations(part: str, root: etree._Element) -> tuple[Relation, ...]:
    """Read the relations of a part from the root of the part that holds them."""
    folder = posixpath.join("/", posixpath.dirname(part))
    found = []
    for element in root.iterchildren("{*}Relationship"):
        target = element.get("Target", "").replace("\\", "/")
        # Without the attribute a target is inside of the package (ECMA-376 part 2).
        external = element.get("TargetMode") == "External"
        if not external:
            # From the root on, so that no number of ../ leads out of the package.
            target = posixpath.normpath(posixpath.join(folder, target)).lstrip("/")
        type_ = element.get("Type", "")
        kind = type_.rsplit("/", 1)[-1]
        found.append(Relation(element.get("Id", ""), kind, target, external, type_))
    return tuple(found)


class ContentTypes(msgspec.Struct, frozen=True):
    """The types of parts: of single ones by the key of their names, of others by their suffix."""

    parts: Mapping[str, str] = {}
    suffixes: Mapping[str, str] = {}

    def of(self, part: str) -> str:
        """Return a part's type, "" if the table has none for it."""
        suffix = posixpath.splitext(part)[1].lstrip(".").casefold()
        return self.parts.get(part_key(part)) or self.suffixes.get(suffix, "")


def read_types(root: etree._Element) -> ContentTypes:
    """Read the table of types from its root; the first entry for a part counts."""
    parts: dict[str, str] = {}
    suffixes: dict[str, str] = {}
    for entry in root:
        if not isinstance(entry.tag, str):
            continue
        type_ = entry.get("ContentType", "")
        if name := entry.get("PartName"):
            parts.setdefault(part_key(name), type_)
        elif suffix := entry.get("Extension"):
            suffixes[suffix.casefold()] = type_
    return ContentTypes(parts, suffixes)
