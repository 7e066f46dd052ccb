"""The slides of a deck, in the order in which they are shown."""

from collections.abc import Mapping

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import Package, Relation

__all__ = ["MAX_SLIDES", "A", "P", "R", "SlidePart", "listed_slides"]

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
"""Namespaces as lxml names them; strict decks are named over when read."""

MAX_SLIDES = 10_000
"""As many as a package may have parts: a list that is longer names a slide many times."""


class SlidePart(msgspec.Struct, frozen=True):
    """A slide: the part that holds it, "" if that is missing; its id in the deck."""

    part: str
    slide_id: str


def listed_slides(
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
        part = relation.target if relation is not None and there else ""
        found.append(SlidePart(part, entry.get("id", "")))
        if len(found) > MAX_SLIDES:
            raise FileReadFailed(f"{package.name} is refused: it has over {MAX_SLIDES:,} slides.")
    return tuple(found)
