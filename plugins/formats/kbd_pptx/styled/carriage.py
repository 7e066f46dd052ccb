"""Parts carried from one deck into another, with all that they are related to."""

import hashlib
import posixpath
import re
from collections.abc import Mapping

from kbd.errors import ValidationFailed
from kbd.opc import transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriter import xml_bytes
from kbd_pptx.styled.deckedit import DeckEdit

__all__ = ["Carriage"]

_CARRIED = frozenset(
    (
        *("image", "hdphoto", "audio", "video", "media", "hyperlink", "tags", "theme"),
        *("themeOverride", "customXml", "customXmlProps", "chart", "chartStyle", "chartColorStyle"),
        *("chartUserShapes", "package", "diagramData", "diagramLayout", "diagramQuickStyle"),
        *("diagramColors", "diagramDrawing"),
    )
)
"""The kinds of relations that mean in another deck what they mean in this one."""

_MEDIA = frozenset(("image", "hdphoto", "audio", "video", "media"))
_DEFAULTED = frozenset(
    (
        *("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "mp3"),
        *("mp4", "wav", "m4a", "m4v", "mov", "avi", "wmv", "wma"),
    )
)
_NUMBER = re.compile(r"\d*(\.\w+)?$")


class Carriage:
    """Carries parts; each only once, and pictures that are there already not at all.

    Args:
        source: Where they are.
        edit: Where they go.
    """

    def __init__(self, source: Package, edit: DeckEdit) -> None:
        self._source, self._edit = source, edit
        self._carried: dict[str, str] = {}
        self._media: dict[bytes, str] | None = None

    def relations(self, part: str) -> dict[str, Relation]:
        """Return a part's relations by their ids."""
        return {relation.id: relation for relation in self._source.relations(part)}

    def data(self, part: str, content_type: str) -> bytes:
        """Return a part's bytes as the target may have them: XML by its names and numbers."""
        data = self._source.read(part)
        is_xml = content_type.endswith("xml") or part.endswith((".xml", ".vml"))
        if not is_xml or self._source.is_strict == self._edit.rewriting.is_strict:
            return data
        with reading_errors(self._source.name):
            root = xml_root(transitional(data), self._source.name)
        self._edit.fit_numbers(root)
        return self._edit.in_variant(xml_bytes(root))

    def carry(self, part: str, instead: Mapping[str, str] | None = None) -> str:
        """Carry a part and what it is related to, and return its new name.

        Args:
            part: The part.
            instead: The parts of the target that stand for relations, by their ids; "" leaves a
                relation out. Where it is given, even empty, the part is carried anew.

        Raises:
            ValidationFailed: It is related to what cannot be carried.
            FileReadFailed: It is missing or damaged.
        """
        part = part.replace("\\", "/").lstrip("/")
        known = self._carried.get(part.casefold())
        if known is not None and instead is None:
            return known
        content_type = self._source.content_type(part)
        data = self.data(part, content_type)
        name = self._edit.rewriting.free_name(_pattern(part))
        if instead is None:
            self._carried[part.casefold()] = name
        self._add(name, data, content_type)
        for relation in self._source.relations(part):
            target = (instead or {}).get(relation.id)
            if target is None:
                self._relate(name, relation, self.target(relation), relation.id)
            elif target:
                self._relate(name, relation, target, relation.id)
        return name

    def relate(self, part: str, relation: Relation) -> str:
        """Relate a part of the target as one of the source is, and return the relation's id.

        Raises:
            ValidationFailed: The relation cannot be carried.
        """
        return self._relate(part, relation, self.target(relation), "")

    def target(self, relation: Relation) -> str:
        """Return what stands in the target for what a relation names; it is carried if need be.

        Raises:
            ValidationFailed: It cannot be carried.
        """
        if relation.kind not in _CARRIED:
            raise ValidationFailed(
                f"It holds or is tied to a part of the kind {relation.kind or 'unknown'}, which "
                "cannot be copied."
            )
        if relation.external:
            self._edit.external.setdefault(relation.target)
            return relation.target
        if relation.target not in self._source:
            raise ValidationFailed(f"It names {relation.target}, which is not there.")
        if relation.kind in _MEDIA:
            return self._carry_media(relation.target)
        return self.carry(relation.target)

    def _carry_media(self, part: str) -> str:
        """Return the picture or sound of the target that has the same bytes, or carry it."""
        known = self._carried.get(part.casefold())
        if known is not None:
            return known
        if self._media is None:
            self._media = {}
            for name in self._edit.rewriting.parts():
                if "/media/" in name:
                    self._media.setdefault(_digest(self._edit.read(name), name), name)
        data = self._source.read(part)
        found = self._media.get(_digest(data, part))
        same_type = found and (self._edit.content_type(found) == self._source.content_type(part))
        if not found or not same_type:
            found = self.carry(part)
            self._media[_digest(data, part)] = found
        self._carried[part.casefold()] = found
        return found

    def _relate(self, part: str, relation: Relation, target: str, relation_id: str) -> str:
        kind = self._edit.in_variant(relation.type.encode()).decode()
        return self._edit.rewriting.relate(
            part, kind, target, external=relation.external, relation_id=relation_id
        )

    def _add(self, name: str, data: bytes, content_type: str) -> None:
        rewriting = self._edit.rewriting
        suffix = posixpath.splitext(name)[1].lstrip(".").casefold()
        if suffix in _DEFAULTED and content_type:
            rewriting.set_default_type(suffix, content_type)
        if not content_type or rewriting.content_type(name) == content_type:
            rewriting.put(name, data)
        else:
            rewriting.add(name, data, content_type)


def _digest(data: bytes, part: str) -> bytes:
    suffix = posixpath.splitext(part)[1].casefold()
    return hashlib.sha256(data).digest() + suffix.encode()


def _pattern(part: str) -> str:
    """Return the pattern of names for a part: its own with another number."""
    stem = part.replace("{", "_").replace("}", "_")
    return _NUMBER.sub(lambda found: "{}" + (found[1] or ""), stem, count=1)
