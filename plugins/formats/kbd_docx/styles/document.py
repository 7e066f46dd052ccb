"""A document's parts as trees, whichever variant it is in; those that a document has one of."""

from typing import Protocol

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc import transitional
from kbd.opc.package import Relation, reading_errors, xml_root

__all__ = ["DocxParts", "PartSource", "R", "local_name"]

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
"""The namespace of the attributes that name a relation."""

_MAX_WEIGHT = 5_000_000
"""How many tags and attributes a part may have: a tree takes up to 130 bytes for each, and there
are 1.5 GiB. The largest of 400 real documents has 60,000."""


class PartSource(Protocol):
    """The parts of a package, whether it is read or on its way to becoming another one."""

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
        self._ones: dict[str, str] = {}
        self._relations: dict[str, dict[str, Relation]] = {}
        for relation in parts.relations(main):
            if not relation.external and relation.target in parts:
                self._ones.setdefault(relation.kind, relation.target)

    def part(self, kind: str) -> str:
        """Return the part that a document has one of ("styles", "theme"), "" if it has none."""
        return self._ones.get(kind, "")

    def root(self, part: str) -> etree._Element:
        """Return a part's root, always the same one.

        Raises:
            FileReadFailed: It is missing, damaged, or too large to be held as a tree.
        """
        if part not in self._roots:
            data = self.parts.read(part)
            if data.count(b"<") + data.count(b"=") > _MAX_WEIGHT:
                raise FileReadFailed(
                    f"{self.parts.name} is too large: {part} has more than "
                    f"{_MAX_WEIGHT:,} tags and attributes."
                )
            with reading_errors(self.parts.name):
                self._roots[part] = xml_root(transitional(data), self.parts.name)
        return self._roots[part]

    def one(self, kind: str) -> etree._Element | None:
        """Return the root of the part that a document has one of, None if it has none."""
        part = self.part(kind)
        return self.root(part) if part else None

    def relations(self, part: str) -> dict[str, Relation]:
        """Return a part's relations by their ids, as they were when they were first asked for."""
        if part not in self._relations:
            found = self.parts.relations(part)
            self._relations[part] = {each.id: each for each in found}
        return self._relations[part]


def local_name(element: etree._Element) -> str:
    """Return an element's name without its namespace, "" of a comment."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
