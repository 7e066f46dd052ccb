"""Word documents as XML: the names of their elements, how one is opened and its parts are parsed.

The map, the readings and the operations count the blocks of a body alike: paragraphs from 1, tables
from 0, over the whole body, those in content controls too; what stands in a table or a text box is
not counted.

Names: ECMA-376, part 1, 17 (documents), 20 (drawings), 22.1 (math); part 4, 14 and 19 (VML).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.suffixes import Suffixes
from kbd.opc import Family, open_member, read_transitional, transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root

__all__ = [
    "EMU_PER_INCH",
    "FAMILY",
    "MC",
    "OFF",
    "PARAGRAPH",
    "PIC",
    "PLAIN_TYPE",
    "SECTION",
    "SUFFIXES",
    "TABLE",
    "VAL",
    "WP",
    "A",
    "DocxParts",
    "M",
    "O",
    "PartSource",
    "R",
    "V",
    "W",
    "blocks",
    "body_children",
    "is_on",
    "number",
    "open_document",
    "parse_related",
    "related",
    "vector_size",
]


W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
"""The namespace of documents, as lxml names it; strict ones are named over when read."""

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741 - the prefix that every producer uses
PIC = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
V = "{urn:schemas-microsoft-com:vml}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"

PARAGRAPH, TABLE, SECTION = f"{W}p", f"{W}tbl", f"{W}sectPr"
VAL = f"{W}val"

_OPEN_XML = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_WORD = "application/vnd.ms-word"

PLAIN_TYPE = f"{_OPEN_XML}.document.main+xml"
"""The type of an ordinary document's main part."""

FAMILY = Family(
    "a document",
    {
        PLAIN_TYPE: ".docx",
        f"{_WORD}.document.macroEnabled.main+xml": ".docm",
        f"{_OPEN_XML}.template.main+xml": ".dotx",
        f"{_WORD}.template.macroEnabledTemplate.main+xml": ".dotm",
    },
)
"""What the main part of a document may be (ECMA-376, part 1, 11.3.10)."""

SUFFIXES = Suffixes(FAMILY, "document", makes_templates=True)

open_document = partial(open_member, FAMILY)
"""Opens a source of the format as a context: its package, and what kind of one it is."""


# These wrap blocks without being any: what they hold counts as if it stood there itself.
_WRAPPERS = frozenset((f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{MC}AlternateContent"))


def blocks(body: etree._Element) -> Iterator[etree._Element]:
    """Yield the paragraphs and tables of a body, header, footer, note or cell, in order."""
    return (child for child in body_children(body) if child.tag in (PARAGRAPH, TABLE))


def body_children(body: Iterable[etree._Element]) -> Iterator[etree._Element]:
    """Yield the children of a body in order: blocks, and marks, formulas, files between them."""
    # A stack, since nested generators would pass each block up through all levels of controls.
    pending = [iter(body)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
        elif child.tag in _WRAPPERS:
            pending.append(iter(child))
        elif child.tag == f"{MC}Choice" and _is_first(child):
            # Of alternatives the first one that is offered counts, once.
            pending.append(iter(child))
        elif child.tag not in (f"{MC}Choice", f"{MC}Fallback"):
            yield child


def _is_first(element: etree._Element) -> bool:
    """Tell whether no element of the same name stands before one, whatever else does."""
    # By name, for XML comments are in the trees that are edited, and in those of the map they are
    # not.
    return next(element.itersiblings(element.tag, preceding=True), None) is None


# The digits are bounded because `int` raises ValueError on texts of more than 4,300 of them.
_WHOLE = re.compile(r"\s*([+-]?\d{1,15})(\.\d*)?\s*")
OFF = frozenset(("0", "false", "off"))
"""The words that switch off (ECMA-376, part 1, 22.9.2.7); all others switch on."""


def is_on(element: etree._Element | None) -> bool:
    """Whether a property that is on by being there is there and not switched off."""
    return element is not None and element.get(VAL, "1") not in OFF


def number(text: str | None, default: int, least: int, most: int) -> int:
    """Return a whole number that stands in an attribute, within bounds.

    What is no number, or has more digits than any that mean something, is the default.
    """
    found = _WHOLE.fullmatch(text or "")
    return min(max(int(found[1]), least), most) if found else default


EMU_PER_INCH = 914_400
"""How long lengths of drawings are: English Metric Units."""

_EMU = {"pt": 12_700, "pc": 152_400, "in": EMU_PER_INCH, "cm": 360_000, "mm": 36_000, "px": 9_525}
# Only at the beginning or behind a semicolon, for `mso-width-percent` and its like are no sizes.
_VECTOR_LENGTH = re.compile(
    r"(?:^|;)\s*(width|height)\s*:\s*(\d{1,7}(?:\.\d*)?)\s*(?:(pt|pc|in|cm|mm|px)\s*)?(?=;|$)"
)
_STYLE_CHARS = 4_000


def vector_size(shape: etree._Element | None) -> tuple[int, int]:
    """Return how wide and high a shape of VML is, in English Metric Units; 0 if it is not told."""
    if shape is None:
        return 0, 0
    around = shape.getparent()
    # Lengths without a unit are pixels; in a group they are in the group's own coordinates.
    plain = 0 if around is not None and around.tag == f"{V}group" else _EMU["px"]
    lengths = _VECTOR_LENGTH.findall(shape.get("style", "")[:_STYLE_CHARS])
    found = {name: round(float(size) * _EMU.get(unit, plain)) for name, size, unit in lengths}
    return found.get("width", 0), found.get("height", 0)


def related(package: Package, part: str) -> Mapping[str, Relation]:
    """Return the relations of a part by id; none where they cannot be read."""
    try:
        return {relation.id: relation for relation in package.relations(part)}
    except FileReadFailed:
        # Producers leave damage here that their programs never look at.
        return {}


def parse_related(package: Package, relation: Relation | None) -> etree._Element | None:
    """Parse the part that a relation leads to; None if there is none.

    Raises:
        FileReadFailed: It is damaged.
    """
    # Dangling relations are found in real files, and are no reason to refuse one.
    if relation is None or relation.external or relation.target not in package:
        return None
    data = read_transitional(package, relation.target)
    # lxml raises an error on a part without a byte; such a part says nothing and does no harm.
    if not data.strip():
        return None
    with reading_errors(package.name):
        return xml_root(data, package.name)


_MAX_WEIGHT = 5_000_000
"""How many tags and attributes a part may have: a tree takes up to 130 bytes for each, and there
are 1.5 GiB. The largest of 400 real documents has 60,000."""


class PartSource(Protocol):
    """Source of parts: a package that is read, or one that is being rewritten."""

    name: str

    def __contains__(self, part: str) -> bool: ...

    def read(self, part: str) -> bytes:
        """Return a part's bytes."""

    def relations(self, part: str) -> tuple[Relation, ...]:
        """Return a part's relations."""

    def content_type(self, part: str) -> str:
        """Return a part's type."""


class DocxParts:
    """The parts of one document, parsed once each, with the names of the usual variant.

    Args:
        parts: Where they are.
        main: The main part.
    """

    def __init__(self, parts: PartSource, main: str) -> None:
        self.parts, self.main = parts, main
        self._roots: dict[str, etree._Element] = {}
        self._single_parts: dict[str, str] = {}
        self._relations: dict[str, dict[str, Relation]] = {}
        for relation in parts.relations(main):
            if not relation.external and relation.target in parts:
                # Of several relations of a kind the first one counts, as it does for the readings.
                self._single_parts.setdefault(relation.kind, relation.target)

    def part(self, kind: str) -> str:
        """Return the part that a document has one of ("styles", "theme"), "" if it has none."""
        return self._single_parts.get(kind, "")

    def root(self, part: str) -> etree._Element:
        """Return a part's root, always the same one.

        Raises:
            FileReadFailed: It is missing, damaged, or too large to be held as a tree.
        """
        if part not in self._roots:
            data = self.parts.read(part)
            # Counted in the bytes, before a tree of them takes the memory.
            if data.count(b"<") + data.count(b"=") > _MAX_WEIGHT:
                raise FileReadFailed(
                    f"{self.parts.name} is too large: {part} has more than "
                    f"{_MAX_WEIGHT:,} tags and attributes"
                )
            with reading_errors(self.parts.name):
                self._roots[part] = xml_root(transitional(data), self.parts.name)
        return self._roots[part]

    def part_root(self, kind: str) -> etree._Element | None:
        """Return the root of the part that a document has one of, None if it has none."""
        part = self.part(kind)
        return self.root(part) if part else None

    def relations(self, part: str) -> dict[str, Relation]:
        """Return a part's relations by their ids, as they were when they were first asked for."""
        if part not in self._relations:
            found = self.parts.relations(part)
            self._relations[part] = {each.id: each for each in found}
        return self._relations[part]
