"""The slides of a deck, in the order in which they are shown."""

import msgspec

from kbd.opc import Identity, Package, read_transitional, xml_root

__all__ = ["A", "P", "R", "SlidePart", "slide_parts"]

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
"""Namespaces as lxml names them; strict decks are named over when read."""


class SlidePart(msgspec.Struct, frozen=True):
    """A slide: the part that holds it, "" if that is missing; its id in the deck."""

    part: str
    slide_id: str


def slide_parts(package: Package, identity: Identity) -> tuple[SlidePart, ...]:
    """Return the slides of a deck in order.

    Raises:
        FileReadFailed: The deck's main part is damaged.
    """
    root = xml_root(read_transitional(package, identity.part), package.name)
    targets = {relation.id: relation for relation in package.relations(identity.part)}
    found = []
    for entry in root.iterfind(f"{P}sldIdLst/{P}sldId"):
        relation = targets.get(entry.get(f"{R}id", ""))
        there = relation is not None and not relation.external and relation.target in package
        part = relation.target if relation is not None and there else ""
        found.append(SlidePart(part, entry.get("id", "")))
    return tuple(found)
