"""Parts beside the main one, as the library has them: found, made and dropped.

The library parses some parts when it loads them and holds others as bytes (notes, what programs
added to comments); here all are trees, always the same ones.
"""

from docx.document import Document
from docx.opc.packuri import PackURI
from docx.opc.part import Part, XmlPart
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.opc.rewriter import xml_bytes

__all__ = ["LibraryParts"]


class LibraryParts:
    """Parts that the main part of a document is related to, by the type of the relation.

    Args:
        document: The document.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        # Keyed by identity: a part is no value, and the document holds it.
        self._trees: dict[int, etree._Element] = {}

    def find(self, kind: str) -> Part | None:
        """Return the first part of a type of relation, None if there is none."""
        for relation in self._document.part.rels.values():
            if relation.reltype == kind and not relation.is_external:
                found: Part = relation.target_part
                return found
        return None

    def root(self, kind: str) -> etree._Element | None:
        """Return the root of the part of a type, None if there is none or it holds nothing.

        What is changed in it is in the document only after `store`.
        """
        part = self.find(kind)
        return None if part is None else self.tree(part)

    def tree(self, part: Part) -> etree._Element | None:
        """Return the root of a part, None if it holds nothing."""
        if isinstance(part, XmlPart):
            found: etree._Element = part.element
            return found
        if id(part) not in self._trees and part.blob.strip():
            self._trees[id(part)] = parse_xml(part.blob)
        return self._trees.get(id(part))

    def store(self, kind: str, root: etree._Element) -> None:
        """Store the root of a part that there is."""
        part = self.find(kind)
        assert part is not None, "what is stored was found or made before"
        if isinstance(part, XmlPart):
            part._element = root  # type: ignore[assignment]  # noqa: SLF001 - it has no setter
        else:
            part._blob = xml_bytes(root)  # noqa: SLF001 - these parts are bytes to the library
            self._trees[id(part)] = root

    def add(self, kind: str, content_type: str, name: str, root: etree._Element) -> str:
        """Add a part beside the main one and return the id of its relation.

        Args:
            kind: The type of the relation.
            content_type: The part's own.
            name: Its name without the suffix; a number follows where it is taken.
            root: What it holds.
        """
        part = self._document.part
        taken = {str(each.partname).lower() for each in part.package.iter_parts()}
        folder = part.partname.baseURI.rstrip("/")
        uri, number = f"{folder}/{name}.xml", 0
        while uri.lower() in taken:
            number += 1
            uri = f"{folder}/{name}{number}.xml"
        made = XmlPart(PackURI(uri), content_type, root, part.package)  # type: ignore[arg-type]
        return str(part.relate_to(made, kind))

    def drop(self, kind: str) -> None:
        """Drop the relations of a type, and so the parts that nothing else leads to."""
        relations = self._document.part.rels
        for key in [each.rId for each in relations.values() if each.reltype == kind]:
            del relations[key]
