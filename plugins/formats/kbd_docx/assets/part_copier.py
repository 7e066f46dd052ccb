"""Part copier of documents: which relations it follows, in which variant, and what is told."""

import re
from typing import ClassVar

from kbd.office.assets import PartCopier
from kbd.opc import strict, transitional
from kbd.opc.package import Package, Relation
from kbd_docx.assets.target import Target

__all__ = ["DocumentPartCopier"]

_XML = re.compile(r"[+/]xml$")
_SHOWN = 300


class DocumentPartCopier(PartCopier):
    """Copies parts between documents.

    Args:
        source: Where they are.
        target: Where they go.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        (
            *("image", "hdphoto", "chart", "chartEx", "chartStyle", "chartColorStyle"),
            *("chartUserShapes", "themeOverride", "hyperlink", "theme", "package"),
            *(f"diagram{word}" for word in ("Data", "Layout", "QuickStyle", "Colors", "Drawing")),
        )
    )

    def __init__(self, source: Package, target: Target) -> None:
        super().__init__(source, target.rewriting, target.warnings)

    def converted(self, data: bytes, content_type: str) -> bytes:
        """Return XML by the names of the target's variant."""
        if not _XML.search(content_type):
            return data
        return strict(data) if self.target.is_strict else transitional(data)

    def note_external(self, relation: Relation) -> None:
        """Note what is outside, with the asset that reaches there."""
        told = f"{self.place}: {relation.kind} {relation.target[:_SHOWN]}"
        self.warnings.note_external(told)

    def relate(self, part: str, relation: Relation) -> str:
        """Relate a part of the target as one of the source is, or name the relation that it has."""
        wanted = (relation.kind, self.goal(relation), relation.external)
        for known in self.target.relations(part):
            if (known.kind, known.target, known.external) == wanted:
                return known.id
        return super().relate(part, relation)
