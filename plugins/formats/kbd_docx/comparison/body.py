"""Blocks of a body, each with a key of its raw XML, in one cheap pass; and what is between them.

What is the same in both versions is not interpreted: of blocks whose keys differ the XML is held
and parsed again. The keys leave out what each save writes anew; what relations lead to is in them.
"""

import posixpath
import re
from collections.abc import Mapping
from typing import Literal
from xml.sax.saxutils import quoteattr

import msgspec
from lxml import etree

from kbd_docx.comparison.digests import CONTROL_IDS, NO_DIGEST, PartDigests, new_hash
from kbd_docx.comparison.paragraphs import control_name
from kbd_docx.document import MC, PARAGRAPH, SECTION, TABLE, W, body_children
from kbd_docx.reader.builder import parse_body

__all__ = ["BlockKind", "BodyBlock", "BodyBlocks", "Control", "PageSection", "XmlKeys", "read_body"]

_NOTES = {
    f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote",
    f"{W}commentReference": "comment",
}  # fmt: skip
_WRAPPERS = (f"{W}sdt", f"{W}customXml", f"{MC}AlternateContent")
_PASSED_OVER = frozenset((
    f"{W}proofErr", f"{W}bookmarkEnd", f"{W}sdtPr", f"{W}sdtEndPr", f"{W}customXmlPr",
))  # fmt: skip
"""What shows nothing; the settings of content controls are read by themselves."""

_CURSOR = "_GoBack"

# In a serialized tree `>` stands only at the end of a tag: what is followed by one is in a tag.
_SAVED_ANEW = re.compile(rb' (?:w:rsid\w*|w14:paraId|w14:textId)="[^"]*"(?=[^<>]*>)')
_NAME = re.compile(rb"<[^\s/>]+")
_SPACES = re.compile(rb'(?: xmlns(?::[\w.-]+)?="[^"]*")+')
_REFERENCES = re.compile(rb'\b[\w.-]+:(?:id|embed|link|dm|lo|qs|cs|pict|relid)="([^"]*)"')


BlockKind = Literal["paragraph", "table", "other"]
_KINDS: Mapping[str, BlockKind] = {PARAGRAPH: "paragraph", TABLE: "table"}


class BodyBlock(msgspec.Struct, frozen=True):
    """A block of a body.

    Args:
        kind: "paragraph", "table", or "other" for what stands between them.
        number: Its index among the paragraphs or tables; of others the next paragraph's.
        key: Equal for equal XML.
        raw: The XML.
    """

    kind: BlockKind
    number: int
    key: bytes
    raw: bytes


class Control(msgspec.Struct, frozen=True):
    """A content control around blocks, from a paragraph on; `digest` is that of its settings."""

    name: str
    paragraph: int
    digest: bytes


class PageSection(msgspec.Struct, frozen=True):
    """The layout of a stretch of pages (`w:sectPr`) that ends behind a paragraph."""

    element: etree._Element
    paragraph: int


class BodyBlocks:
    """A body in one pass.

    Attributes:
        blocks: Its blocks, in order.
        spaces: The namespaces by prefix, by which their XML is read again.
        controls: Content controls around blocks.
        sections: The layouts of its pages; at least one unless the body tells none.
        cited: Notes and comments in the order of citing: kind and id.
        background: The digest of what the pages are painted with.
        places: Where in `blocks` each paragraph is, and each table.
    """

    def __init__(self) -> None:
        self.blocks: list[BodyBlock] = []
        self.spaces: Mapping[str | None, str] = {}
        self.controls: list[Control] = []
        self.sections: list[PageSection] = []
        self.cited: list[tuple[str, str]] = []
        self.background = NO_DIGEST
        self.places: dict[BlockKind, list[int]] = {"paragraph": [], "table": [], "other": []}
        self._head = b""
        self._parser: etree.XMLParser | None = None

    def element(self, block: BodyBlock) -> etree._Element:
        """Return a block's element, parsed anew."""
        if not self._head:
            names = "".join(
                f" xmlns{':' if prefix else ''}{prefix or ''}={quoteattr(space)}"
                for prefix, space in self.spaces.items()
            )
            self._head = f"<r{names}>".encode()
            self._parser = etree.XMLParser(
                resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True,
                remove_pis=True,
            )  # fmt: skip
        return etree.fromstring(b"%b%b</r>" % (self._head, block.raw), self._parser)[0]


def read_body(data: bytes, name: str, part: str, parts: PartDigests) -> BodyBlocks:
    """Read the blocks of a main part.

    Args:
        data: The part, with the usual names.
        name: The file's name, for messages.
        part: The part's name.
        parts: What relations lead to.

    Raises:
        FileReadFailed: There is no body.
    """
    found = BodyBlocks()
    keys = XmlKeys(parts, part, {})
    counts = {"paragraph": 0, "table": 0}
    for child in parse_body(data, name):
        if not found.spaces:
            _read_root(child, found, parts, part)
            keys = XmlKeys(parts, part, found.spaces)
        if child.tag in _KINDS:
            _add_block(child, found, keys, counts)
            continue
        if child.tag in _WRAPPERS:
            _read_wrappers(child, found, counts["paragraph"], parts, part)
        for element in body_children([child]):
            if element.tag == SECTION:
                found.sections.append(PageSection(_copied(element), counts["paragraph"]))
            elif not _is_passed_over(element):
                _add_block(element, found, keys, counts)
    return found


def _read_root(child: etree._Element, found: BodyBlocks, parts: PartDigests, part: str) -> None:
    """Read what is told around the body, from its first child."""
    body = child.getparent()
    found.spaces = dict(child.nsmap if body is None else body.nsmap)
    root = None if body is None else body.getparent()
    background = None if root is None else root.find(f"{W}background")
    if background is not None:
        found.background = parts.element(background, part)


def _add_block(
    element: etree._Element, found: BodyBlocks, keys: "XmlKeys", counts: dict[str, int]
) -> None:
    kind = _KINDS.get(str(element.tag), "other")
    raw, key = keys.of(element)
    if b"sectPr" in raw and kind == "paragraph":
        layout = element.find(f"{W}pPr/{SECTION}")
        if layout is not None:
            found.sections.append(PageSection(_copied(layout), counts[kind] + 1))
    if b"Reference" in raw:
        for each in element.iter(*_NOTES):
            found.cited.append((_NOTES[str(each.tag)], each.get(f"{W}id", "")))
    found.places[kind].append(len(found.blocks))
    number = counts["paragraph"] if kind == "other" else counts[kind]
    found.blocks.append(BodyBlock(kind, number, key, raw))
    if kind != "other":
        counts[kind] += 1


def _read_wrappers(
    child: etree._Element, found: BodyBlocks, paragraph: int, parts: PartDigests, part: str
) -> None:
    """Read the content controls around blocks; their place is that of the first paragraph."""
    before = 0
    for each in child.iter(PARAGRAPH, f"{W}sdt"):
        if each.tag == PARAGRAPH:
            before += _stands_in_body(each)
        elif _stands_in_body(each):
            settings = each.find(f"{W}sdtPr")
            if settings is not None:
                digest = parts.element(settings, part, CONTROL_IDS)
                found.controls.append(Control(control_name(settings), paragraph + before, digest))


def _stands_in_body(element: etree._Element) -> bool:
    for around in element.iterancestors():
        if around.tag == f"{W}body":
            return True
        if around.tag in (PARAGRAPH, TABLE, f"{MC}Fallback"):
            return False
    return False


def _copied(element: etree._Element) -> etree._Element:
    """Return a copy that outlives the tree, which is freed as it is read."""
    return etree.fromstring(etree.tostring(element, with_tail=False))


def _is_passed_over(element: etree._Element) -> bool:
    return element.tag in _PASSED_OVER or (
        element.tag == f"{W}bookmarkStart" and element.get(f"{W}name") == _CURSOR
    )


class XmlKeys:
    """Maker of keys of raw XML in one part: equal keys, equal contents.

    Args:
        parts: What relations lead to.
        part: The part.
        spaces: The namespaces that all of its elements have, by prefix.
    """

    def __init__(self, parts: PartDigests, part: str, spaces: Mapping[str | None, str]) -> None:
        self._parts = parts
        self._relations = parts.relations(part)
        self._ids = {key.encode() for key in self._relations}
        # Ids mostly begin alike: what does not hold that holds no reference.
        self._reference = f'="{posixpath.commonprefix(sorted(self._relations))}'.encode()
        self._count = len(spaces)
        self._declared = b""

    def of(self, element: etree._Element) -> tuple[bytes, bytes]:
        """Return the XML of an element without the namespaces of all, and its key."""
        raw = self._without_spaces(
            etree.tostring(element, encoding="utf-8", with_tail=False, xml_declaration=False)
        )
        is_stamped = b"rsid" in raw or b":paraId" in raw or b":textId" in raw
        found = new_hash(_SAVED_ANEW.sub(b"", raw) if is_stamped else raw)
        if self._ids and self._reference in raw:
            for reference in _REFERENCES.findall(raw):
                if reference in self._ids:
                    found.update(self._parts.target(self._relations[reference.decode()]))
        return raw, found.digest()

    def _without_spaces(self, raw: bytes) -> bytes:
        start = _NAME.match(raw)
        at = start.end() if start else 0
        if self._declared and raw.startswith(self._declared, at):
            return raw[:at] + raw[at + len(self._declared) :]
        told = _SPACES.match(raw, at)
        if told is None:
            return raw
        if not self._declared and told[0].count(b" xmlns") == self._count:
            self._declared = told[0]
        # An element's own namespaces come before those that it has from around, and stay.
        if self._declared and told[0].endswith(self._declared):
            return raw[: told.end() - len(self._declared)] + raw[told.end() :]
        return raw
