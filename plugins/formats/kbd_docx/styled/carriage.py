"""Parts carried from one document into another, with all that they are related to."""

import posixpath
import re

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc import strict, transitional
from kbd.opc.package import Package, Relation
from kbd.opc.rewriter import xml_bytes
from kbd_docx.styled.target import Target

__all__ = ["Carriage"]

_CARRIED = frozenset(
    ("image", "hdphoto", "chart", "chartEx", "chartStyle", "chartColorStyle", "chartUserShapes")
) | {"themeOverride", "hyperlink", "theme", "package"} | {
    f"diagram{word}" for word in ("Data", "Layout", "QuickStyle", "Colors", "Drawing")
}  # fmt: skip
"""The kinds of relations that mean in another document what they mean in this one."""

_NUMBER = re.compile(r"\d*(\.\w+)?$")
_XML = re.compile(r"[+/]xml$")
_USUAL_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_MOST_PARTS = 300
_DEEPEST = 8
"""How far parts lead to parts: a drawing to a chart to its shapes to a picture is four."""

_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"


class Carriage:
    """Carries parts; each only once, and pictures that the target has not at all.

    Args:
        source: Where they are.
        target: Where they go.
    """

    def __init__(self, source: Package, target: Target) -> None:
        self._source, self._target = source, target
        self._rewriting = target.rewriting
        self._carried: dict[str, str] = {}
        self._types = source.content_types()

    def relate(self, part: str, relation: Relation, place: str) -> str:
        """Relate a part of the target as one of the source is, and return the relation's id.

        Args:
            part: The part of the target.
            relation: What it is to be related to.
            place: What is being copied, for what is told of it.

        Raises:
            ValidationFailed: The relation cannot be carried.
        """
        goal = self._goal(relation, place, 0)
        kind = self._kind(relation)
        for known in self._rewriting.relations(part):
            if (known.kind, known.target, known.external) == (
                relation.kind, goal, relation.external,
            ):  # fmt: skip
                return known.id
        return self._rewriting.relate(part, kind, goal, external=relation.external)

    def carry(self, part: str, place: str, depth: int = 0) -> str:
        """Carry a part and what it is related to, and return its name in the target.

        Raises:
            ValidationFailed: It is related to what cannot be carried.
            FileReadFailed: It is missing or damaged.
        """
        part = part.replace("\\", "/").lstrip("/")
        if part in self._carried:
            return self._carried[part]
        if len(self._carried) >= _MOST_PARTS:
            raise ValidationFailed(f"{place} would bring more than {_MOST_PARTS} parts along.")
        if depth > _DEEPEST:
            raise ValidationFailed(f"{place} leads from part to part without an end.")
        type_ = self._types.of(part)
        if "macroEnabled" in type_ or "vbaProject" in type_:
            raise ValidationFailed(f"{place} holds macros, which are never copied.")
        data = self._source.read(part)
        if _XML.search(type_):
            data = strict(data) if self._rewriting.is_strict else transitional(data)
        relations = self._source.relations(part)
        known = self._known(data, type_) if not relations else ""
        if known:
            self._carried[part] = known
            return known
        name = self._rewriting.free_name(_pattern(part))
        self._carried[part] = name
        self._add(name, data, type_)
        if relations:
            self._add_relations(name, relations, place, depth)
        return name

    def _goal(self, relation: Relation, place: str, depth: int) -> str:
        if relation.kind not in _CARRIED:
            raise ValidationFailed(
                f"{place} holds a part of the kind {relation.kind[:60]}, which cannot be copied; "
                "take it out in the source first."
            )
        if not relation.external:
            if relation.kind == "hyperlink":
                raise ValidationFailed(f"{place} links to a part of its own document.")
            return self.carry(relation.target, place, depth + 1)
        self._target.external.setdefault(f"{place}: {relation.kind} {relation.target[:300]}")
        return relation.target

    def _kind(self, relation: Relation) -> str:
        """Return a relation's kind as the target spells it."""
        usual = transitional(relation.type.encode()).decode()
        return relation.kind if usual.startswith(_USUAL_TYPES) else relation.type

    def _known(self, data: bytes, type_: str) -> str:
        """Return a picture of the target that has these bytes, "" if there is none."""
        if not type_.startswith("image/"):
            return ""
        for name in self._target.sizes.get(len(data), ()):
            if self._rewriting.content_type(name) == type_ and self._rewriting.read(name) == data:
                return name
        return ""

    def _add(self, name: str, data: bytes, type_: str) -> None:
        suffix = posixpath.splitext(name)[1].lstrip(".").casefold()
        if type_.startswith("image/") and suffix:
            self._rewriting.set_default_type(suffix, type_)
            self._target.sizes.setdefault(len(data), []).append(name)
        if self._rewriting.content_type(name) == type_:
            self._rewriting.put(name, data)
        else:
            self._rewriting.add(name, data, type_)

    def _add_relations(
        self, name: str, relations: tuple[Relation, ...], place: str, depth: int
    ) -> None:
        """Give a carried part its relations under the ids that it knows them by."""
        space: dict[None, str] = {None: _RELATIONSHIPS}
        root = etree.Element(f"{{{_RELATIONSHIPS}}}Relationships", nsmap=space)  # type: ignore[arg-type]
        folder = posixpath.dirname(name)
        for relation in relations:
            goal = self._goal(relation, place, depth)
            entry = etree.SubElement(root, f"{{{_RELATIONSHIPS}}}Relationship")
            kind = self._kind(relation)
            type_ = kind if ":" in kind else f"{self._rewriting.relation_types}/{kind}"
            entry.set("Id", relation.id)
            entry.set("Type", type_)
            if relation.external:
                entry.set("TargetMode", "External")
            else:
                goal = posixpath.relpath(f"/{goal}", f"/{folder}")
            entry.set("Target", goal)
        self._rewriting.put(f"{folder}/_rels/{posixpath.basename(name)}.rels", xml_bytes(root))


def _pattern(part: str) -> str:
    """Return the pattern of names for a part: its own with another number."""
    stem = part.replace("{", "_").replace("}", "_")
    return _NUMBER.sub(lambda found: "{}" + (found[1] or ""), stem, count=1)
