"""Part copier of decks: which relations it follows, and parts with the target's numbers."""

from typing import ClassVar

from kbd.errors import ValidationFailed
from kbd.office.assets import PartCopier
from kbd.opc import transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriter import xml_bytes
from kbd_pptx.assets.deckedit import TargetDeck

__all__ = ["DeckPartCopier"]


class DeckPartCopier(PartCopier):
    """Copies parts between decks.

    Args:
        source: Where they are.
        edit: Where they go.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        (
            *("image", "hdphoto", "audio", "video", "media", "hyperlink", "tags", "theme"),
            *("themeOverride", "customXml", "customXmlProps", "chart", "chartStyle", "package"),
            *("chartColorStyle", "chartUserShapes", "diagramData", "diagramLayout"),
            *("diagramQuickStyle", "diagramColors", "diagramDrawing"),
        )
    )
    media_suffixes: ClassVar[frozenset[str]] = frozenset(
        (
            *("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "mp3"),
            *("mp4", "wav", "m4a", "m4v", "mov", "avi", "wmv", "wma"),
        )
    )
    relates_early = True

    def __init__(self, source: Package, edit: TargetDeck) -> None:
        super().__init__(source, edit.rewriting, edit.warnings)
        self._edit = edit

    def converted(self, data: bytes, content_type: str) -> bytes:
        """Return XML as the target may have it: by its names and numbers."""
        is_xml = content_type.endswith(("xml", "vmlDrawing"))
        if not is_xml or self.source.is_strict == self.target.is_strict:
            return data
        with reading_errors(self.source.name):
            root = xml_root(transitional(data), self.source.name)
        self._edit.fit_numbers(root)
        return self._edit.in_variant(xml_bytes(root))

    def check(self, relation: Relation) -> None:
        """Refuse a relation that means nothing in another deck, or leads to nothing in its own."""
        super().check(relation)
        if not relation.external and relation.target not in self.source:
            raise ValidationFailed(f"{self.place} names {relation.target}, which is not there.")
