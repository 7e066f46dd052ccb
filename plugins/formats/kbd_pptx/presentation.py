"""Slide decks as XML: the names of their elements, how one is opened, its parts parsed, its slides.

Names: ECMA-376 part 1, 19 to 21; the rest are Microsoft's published extensions of it ([MS-PPTX],
[MS-ODRAWXML]).
"""

from collections.abc import Mapping
from functools import partial

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.suffixes import Suffixes
from kbd.opc import Family, open_member, read_transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root

__all__ = [
    "A14",
    "CX",
    "DGM",
    "FAMILY",
    "MAX_SLIDES",
    "MC",
    "P14",
    "P188",
    "PLAIN_TYPE",
    "SHAPE_TAGS",
    "SUFFIXES",
    "A",
    "C",
    "M",
    "P",
    "ParsedParts",
    "R",
    "SlidePart",
    "open_presentation",
    "read_slide_list",
]


P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
"""Namespaces as lxml names them; strict decks are named over when read."""

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
A14 = "{http://schemas.microsoft.com/office/drawing/2010/main}"
P14 = "{http://schemas.microsoft.com/office/powerpoint/2010/main}"
P188 = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"


_OPEN_XML = "application/vnd.openxmlformats-officedocument.presentationml"
_POWERPOINT = "application/vnd.ms-powerpoint"

PLAIN_TYPE = f"{_OPEN_XML}.presentation.main+xml"
"""The type of an ordinary deck's main part."""

FAMILY = Family(
    "a slide deck",
    {
        PLAIN_TYPE: ".pptx",
        f"{_POWERPOINT}.presentation.macroEnabled.main+xml": ".pptm",
        f"{_OPEN_XML}.template.main+xml": ".potx",
        f"{_POWERPOINT}.template.macroEnabled.main+xml": ".potm",
        f"{_OPEN_XML}.slideshow.main+xml": ".ppsx",
        f"{_POWERPOINT}.slideshow.macroEnabled.main+xml": ".ppsm",
    },
)
"""What the main part of a deck may be (ECMA-376, part 1, 13.3.6)."""

SUFFIXES = Suffixes(FAMILY, "deck")

open_presentation = partial(open_member, FAMILY)
"""Opens a source of the format as a context: its package, and what kind of one it is."""


MAX_SLIDES = 10_000
"""As many as a package may have parts: a list that is longer names a slide many times."""

SHAPE_TAGS = tuple(
    f"{P}{name}" for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp", "contentPart")
)
"""The shapes that there are (ECMA-376, part 1, 19.3.1.45)."""

MAX_PART_MARKS = 300_000
"""Angle brackets in one part. A parsed element takes some 100 bytes and up, so that a part of this
many stays within 60 MiB; the largest slide of the corpora has 5,000."""

MAX_DECK_MARKS = 2_000_000
"""The same of all parts that one call parses, for time: that many take some seconds. The largest
deck of the corpora has 48,000."""

MAX_SLIDE_SHAPES = 10_000
MAX_DECK_SHAPES = 100_000
"""Shapes on one slide, and of all slides that one call looks into: some seconds of work."""


_MAX_SHARED = 8
"""Trees that are kept at once: two layouts with master, theme and table styles, and some more."""


class ParsedParts:
    """The parts of one package.

    Args:
        package: The package, open as long as parts are asked for.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        self._marks_left = MAX_DECK_MARKS
        self._shapes_left = MAX_DECK_SHAPES
        self._relations: dict[str, Mapping[str, Relation]] = {}
        self._shared: dict[str, etree._Element] = {}

    def shared_root(self, part: str) -> etree._Element:
        """Parse a part that slides share, a layout, say; the last few are kept.

        Raises:
            FileReadFailed: As `root`.
        """
        found = self._shared.pop(part, None)
        if found is None:
            found = self.root(part)
        self._shared[part] = found
        if len(self._shared) > _MAX_SHARED:
            # What was asked for last is dropped last.
            del self._shared[next(iter(self._shared))]
        return found

    def root(self, part: str) -> etree._Element:
        """Parse a part, with the usual names if it has the strict ones.

        Raises:
            FileReadFailed: There is no such part, it is damaged, or it is past a limit.
        """
        name = self.package.name
        data = read_transitional(self.package, part)
        # Counted in the bytes, before a tree of them takes the memory.
        marks = data.count(b"<")
        # An element has at most two marks, its start and its end, hence the half.
        if marks > MAX_PART_MARKS:
            raise FileReadFailed(
                f"{name} is refused: a part of it has {marks // 2:,} elements or more; the limit "
                f"is {MAX_PART_MARKS // 2:,}"
            )
        # Each look counts: a deck may list one slide thousands of times.
        self._marks_left -= marks
        if self._marks_left < 0:
            raise self._too_large()
        with reading_errors(name):
            return xml_root(data, name)

    def count_shapes(self, tree: etree._Element) -> None:
        """Count what may be shapes of a slide; raises FileReadFailed if they are too many."""
        shapes = sum(1 for _ in tree.iter(*SHAPE_TAGS))
        if shapes > MAX_SLIDE_SHAPES:
            raise FileReadFailed(
                f"{self.package.name} is refused: a slide has {shapes:,} shapes; the limit is "
                f"{MAX_SLIDE_SHAPES:,}"
            )
        self._shapes_left -= shapes
        if self._shapes_left < 0:
            raise self._too_large()

    def _too_large(self) -> FileReadFailed:
        name = self.package.name
        return FileReadFailed(f"{name} is too large to be read at once; read its slides one by one")

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return a part's relations by id; raises FileReadFailed if they are damaged."""
        found = self._relations.get(part)
        if found is None:
            relations = self.package.relations(part)
            found = self._relations[part] = {relation.id: relation for relation in relations}
        return found

    def target(self, part: str, kind: str) -> str:
        """Return the first part that a part has a relation of a kind to, "" if there is none."""
        for relation in self.relations(part).values():
            if relation.kind == kind and self.has(relation):
                return relation.target
        return ""

    def has(self, relation: Relation | None) -> bool:
        """Tell whether a relation leads to a part that is there."""
        return relation is not None and not relation.external and relation.target in self.package


class SlidePart(msgspec.Struct, frozen=True):
    """A slide: the part that holds it, "" if that is missing; its id in the deck."""

    part: str
    slide_id: str


def read_slide_list(
    package: Package, root: etree._Element, targets: Mapping[str, Relation]
) -> tuple[SlidePart, ...]:
    """Return the slides that the root of a deck's main part lists.

    Args:
        package: The deck.
        root: The root, with the usual names.
        targets: The relations of the main part, by id.

    Raises:
        FileReadFailed: It lists too many.
    """
    found = []
    for entry in root.iterfind(f"{P}sldIdLst/{P}sldId"):
        relation = targets.get(entry.get(f"{R}id", ""))
        there = relation is not None and not relation.external and relation.target in package
        # A slide whose part is missing keeps its place, or the indexes behind it would shift.
        part = relation.target if relation is not None and there else ""
        found.append(SlidePart(part, entry.get("id", "")))
        if len(found) > MAX_SLIDES:
            raise FileReadFailed(f"{package.name} is refused: it has over {MAX_SLIDES:,} slides")
    return tuple(found)
