"""Digests of XML and of parts: equal for what differs only in how it is written.

The order of attributes, blanks between elements, ids that programs give anew with each save
(`rsid`, `paraId`), and the ids of relations do not count: a relation counts as what it leads to,
an address or the digest of a part.
"""

import hashlib
import posixpath
from collections.abc import Mapping

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc import reading_errors, transitional, xml_root
from kbd.opc.package import Package, Relation
from kbd_docx.document import MC, O, R, W, related

__all__ = ["CONTROL_IDS", "NO_DIGEST", "PartDigests", "element_digest", "new_hash"]

NO_DIGEST = b""
"""Of what leads nowhere."""

_DIGEST_BYTES = 16
_XML_SUFFIXES = (".xml", ".vml", ".rels")
_MAX_WEIGHT = 5_000_000
"""Tags and attributes of a part that is parsed for its digest; of a larger one its bytes count."""

_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_WP14 = "{http://schemas.microsoft.com/office/word/2010/wordprocessingDrawing}"
_RSID = f"{W}rsid"
_IGNORED_ATTRIBUTES = frozenset((
    f"{_W14}paraId", f"{_W14}textId", f"{_WP14}anchorId", f"{_WP14}editId", f"{W}durableId",
    f"{MC}Ignorable", "{http://www.w3.org/XML/1998/namespace}space", f"{O}gfxdata",
))  # fmt: skip
_IGNORED_ELEMENTS = frozenset((
    f"{W}proofErr", f"{W}lastRenderedPageBreak", f"{W}rsids", f"{W}nsid", f"{W}tmpl",
    f"{W}noProof",
))  # fmt: skip
_ANNOTATIONS = frozenset((
    *(f"{W}{name}" for name in ("ins", "del", "moveFrom", "moveTo", "cellIns", "cellDel")),
    *(f"{W}{name}{end}" for name in ("bookmark", "perm") for end in ("Start", "End")),
    f"{W}cellMerge",
))  # fmt: skip
_ANNOTATION_ENDS = ("Change", "RangeStart", "RangeEnd")
"""Marks whose ids only say which begins and ends with which; each save counts them anew."""

CONTROL_IDS = frozenset((f"{W}id", f"{W}placeholder", f"{W}showingPlcHdr"))
"""What content controls are told apart by in one file, and what stands in them before a text."""

_NUMBERED = ("docPr", "cNvPr")
"""Drawings, whose id is a number that programs count anew."""


def new_hash(data: bytes = b"") -> "hashlib.blake2b":
    """Return a hash of the size that all digests here have."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES)


class PartDigests:
    """The digests of the parts of one package.

    Args:
        package: The file.

    Attributes:
        reached: The parts that a digest was made of, by relations or by name.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        self.reached: set[str] = set()
        self._digests: dict[str, bytes] = {}
        self._relations: dict[str, Mapping[str, Relation]] = {}

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return a part's relations by id."""
        found = self._relations.get(part)
        if found is None:
            found = self._relations[part] = related(self.package, part)
        return found

    def target(self, relation: Relation | None) -> bytes:
        """Return what a relation leads to: an address, or the digest of a part."""
        if relation is None:
            return NO_DIGEST
        if relation.external:
            return b"external:" + relation.target.encode()
        return self.part(relation.target) if relation.target in self.package else b"missing"

    def part(self, part: str) -> bytes:
        """Return the digest of a part, with what its relations lead to."""
        self.reached.add(part)
        found = self._digests.get(part)
        if found is None:
            # Parts may lead to each other in a circle; the second time one counts as nothing.
            self._digests[part] = NO_DIGEST
            found = self._digests[part] = self._part(part)
        return found

    def element(
        self, element: etree._Element, part: str, without: frozenset[str] = frozenset()
    ) -> bytes:
        """Return the digest of an element of a part; elements in it may be left out."""
        return element_digest(element, self.relations(part), self, without)

    def _part(self, part: str) -> bytes:
        info = self.package.entry(part)
        try:
            if posixpath.splitext(part)[1].lower() not in _XML_SUFFIXES:
                return self._bytes_digest(part)
            data = self.package.read(part)
            if not data.strip() or data.count(b"<") + data.count(b"=") > _MAX_WEIGHT:
                return new_hash(data).digest()
            with reading_errors(self.package.name):
                root = xml_root(transitional(data), self.package.name)
        except FileReadFailed:
            # No program looks at such a part, or all say that it is damaged: its bytes count.
            return new_hash(self.package.packed(info)).digest()
        return self.element(root, part)

    def _bytes_digest(self, part: str) -> bytes:
        # Of what is no XML people are told the digest, so it is one that they can check.
        found = hashlib.sha256()
        with self.package.open(part) as file:
            while block := file.read(1 << 20):
                found.update(block)
        return found.digest()


def element_digest(
    element: etree._Element,
    relations: Mapping[str, Relation] | None = None,
    parts: PartDigests | None = None,
    without: frozenset[str] = frozenset(),
) -> bytes:
    """Return the digest of an element and all in it.

    Args:
        element: The element; what follows it does not count.
        relations: The relations of its part by id.
        parts: What relations lead to.
        without: Elements in it that do not count.
    """
    found = new_hash()
    _feed(element, found, relations or {}, parts, without)
    return found.digest()


def _feed(
    element: etree._Element,
    found: "hashlib.blake2b",
    relations: Mapping[str, Relation],
    parts: PartDigests | None,
    without: frozenset[str],
) -> None:
    tag = element.tag
    if not isinstance(tag, str) or tag in _IGNORED_ELEMENTS or tag in without:
        return
    pieces = [b"<", tag.encode()]
    is_numbered = tag.endswith(_NUMBERED)
    is_annotation = tag in _ANNOTATIONS or tag.endswith(_ANNOTATION_ENDS)
    for name, value in sorted(element.attrib.items()):
        name, value = str(name), str(value)
        if name.startswith(_RSID) or name in _IGNORED_ATTRIBUTES:
            continue
        if (is_numbered and name == "id") or (is_annotation and name == f"{W}id"):
            continue
        is_reference = name.startswith(R) or name == f"{O}relid"
        if is_reference and parts is not None and value in relations:
            told = parts.target(relations[value])
        else:
            told = value.encode()
        pieces += (b" ", name.encode(), b"=", told)
    pieces += (b">", _text(element.text))
    found.update(b"\0".join(pieces))
    # Of alternatives the first counts; the others are the same thing for older programs.
    children = element.findall(f"{MC}Choice")[:1] if tag == f"{MC}AlternateContent" else ()
    for child in children or element:
        _feed(child, found, relations, parts, without)
        if text := _text(child.tail):
            found.update(b"\0" + text)
    found.update(b"\0/")


def _text(text: str | None) -> bytes:
    """Return a text, nothing for the blanks by which XML is set out."""
    if not text or ("\n" in text and not text.strip()):
        return b""
    return text.encode("utf-8", "surrogatepass")
