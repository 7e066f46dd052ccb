"""Part copier of workbooks: which relations it follows, and what of it is told."""

from typing import ClassVar

from kbd.office.assets import PartCopier
from kbd.opc.package import Relation

__all__ = ["WorkbookPartCopier"]


class WorkbookPartCopier(PartCopier):
    """Copies parts between workbooks of the same variant.

    Attributes:
        goes_to: Where what is copied goes, and what it is ("Sheet1, chart Chart 1"); the theme if
            nothing is said.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        (
            *("image", "chart", "chartEx", "chartStyle", "chartColorStyle", "chartUserShapes"),
            *("package", "themeOverride", "hyperlink", "theme"),
        )
    )
    media_suffixes: ClassVar[frozenset[str]] = frozenset(
        ("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "ico")
    )
    shares_media = False
    goes_to = "theme"

    def note_external(self, relation: Relation) -> None:
        """Note what is outside, but for a link, which only leads there when it is clicked."""
        if relation.kind != "hyperlink":
            self.warnings.note_external(f"{self.goes_to}: {relation.target}")
