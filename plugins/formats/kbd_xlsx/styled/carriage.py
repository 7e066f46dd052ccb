"""Parts carried from one package into another, with all that they are related to."""

import posixpath
import re

from kbd.errors import ValidationFailed
from kbd.opc.package import Package, Relation, xml_root
from kbd.opc.rewriter import Rewriting, xml_bytes

__all__ = ["Carriage"]

_CARRIED = frozenset(
    ("image", "chart", "chartEx", "chartStyle", "chartColorStyle", "chartUserShapes")
) | {"package", "themeOverride", "hyperlink", "theme"}
"""The kinds of relations that mean in another workbook what they mean in this one."""

_NUMBER = re.compile(r"\d*(\.\w+)?$")
_MEDIA = ("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "ico")
_EMPTY = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'


class Carriage:
    """Carries parts; each only once.

    Args:
        source: Where they are.
        rewriting: Where they go.

    Attributes:
        external: The addresses outside of the package that carried parts reach out to.
    """

    def __init__(self, source: Package, rewriting: Rewriting) -> None:
        self.external: dict[str, None] = {}
        self._source = source
        self._rewriting = rewriting
        self._carried: dict[str, str] = {}

    def relations(self, part: str) -> dict[str, Relation]:
        """Return a part's relations by their ids."""
        return {relation.id: relation for relation in self._source.relations(part)}

    def carry(self, part: str) -> str:
        """Carry a part and what it is related to, and return its new name.

        Raises:
            ValidationFailed: It is related to what cannot be carried.
            FileReadFailed: It is missing or damaged.
        """
        part = part.replace("\\", "/").lstrip("/")
        known = self._carried.get(part)
        if known is not None:
            return known
        data = self._source.read(part)
        name = self._rewriting.free_name(_pattern(part))
        self._carried[part] = name
        self._add(name, data, self._source.content_type(part))
        relations = self._source.relations(part)
        if relations:
            self._add_relations(name, relations)
        return name

    def relate(self, part: str, relation: Relation) -> str:
        """Relate a part of the target as one of the source is, and return the relation's id.

        Raises:
            ValidationFailed: The relation cannot be carried.
        """
        target = self._target(relation)
        return self._rewriting.relate(part, relation.type, target, external=relation.external)

    def _target(self, relation: Relation) -> str:
        if relation.kind not in _CARRIED:
            raise ValidationFailed(
                f"It is related to a part of the kind {relation.kind}, which cannot be copied."
            )
        if relation.kind == "hyperlink" and not relation.external:
            raise ValidationFailed("It leads to a place in its own workbook.")
        if not relation.external:
            return self.carry(relation.target)
        if relation.kind != "hyperlink":
            self.external.setdefault(relation.target)
        return relation.target

    def _add(self, name: str, data: bytes, content_type: str) -> None:
        suffix = posixpath.splitext(name)[1].lstrip(".").casefold()
        if suffix in _MEDIA:
            self._rewriting.set_default_type(suffix, content_type)
        if self._rewriting.content_type(name) == content_type:
            self._rewriting.put(name, data)
        else:
            self._rewriting.add(name, data, content_type)

    def _add_relations(self, name: str, relations: tuple[Relation, ...]) -> None:
        """Give a carried part its relations under the ids that it knows them by."""
        root = xml_root(_EMPTY, self._rewriting.name)
        folder = posixpath.dirname(name)
        for relation in relations:
            target = self._target(relation)
            entry = root.makeelement(root.tag.replace("Relationships", "Relationship"))
            entry.set("Id", relation.id)
            entry.set("Type", relation.type)
            if relation.external:
                entry.set("Target", target)
                entry.set("TargetMode", "External")
            else:
                entry.set("Target", posixpath.relpath(f"/{target}", f"/{folder}"))
            root.append(entry)
        self._rewriting.put(f"{folder}/_rels/{posixpath.basename(name)}.rels", xml_bytes(root))


def _pattern(part: str) -> str:
    """Return the pattern of names for a part: its own with another number."""
    stem = part.replace("{", "_").replace("}", "_")
    return _NUMBER.sub(lambda found: "{}" + (found[1] or ""), stem, count=1)
