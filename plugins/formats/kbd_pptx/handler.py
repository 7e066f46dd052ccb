"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd.formats import (
    Applied,
    AssetPick,
    Composed,
    Editable,
    FormatHandler,
    Mappable,
    Passage,
    Reading,
    Region,
    Source,
    Styled,
)
from kbd_pptx.operations import OPERATIONS

__all__ = ["PptxFormat"]


class PptxFormat(FormatHandler, Mappable, Composed, Editable, Styled):
    """Slide decks, whoever made them: mapped, read and edited without a loss."""

    name = "pptx"
    wire_name = "Pptx"
    kind = "presentation"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ".pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
        ".potx": "application/vnd.openxmlformats-officedocument.presentationml.template",
        ".potm": "application/vnd.ms-powerpoint.template.macroEnabled.12",
        ".ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
        ".ppsm": "application/vnd.ms-powerpoint.slideshow.macroEnabled.12",
    }
    preload = (
        "kbd_pptx.edits.apply",
        "kbd_pptx.reader.mapping",
        "kbd_pptx.reader.reading",
        "kbd_pptx.styled.copy_assets",
        "kbd_pptx.styled.listing",
    )
    guidance = (
        "Look at the map first: it lists the slides, counted from 0, with titles and layouts; then "
        "read_file with slide_index. add_slide takes a layout of the deck by its name, or one of "
        "title_slide, title_and_content, section_header, title_only, blank, two_content. A text of "
        "several lines becomes several paragraphs. Targets of pptx_copy_assets: master:0 or none "
        "for a layout or theme; master:0/title, or slide:0/Title 1 for one shape, for a text "
        "style; slide:3 for an image. Not built yet: duplicate_slide, add_table, add_image."
    )
    style_file = "style.md"
    style_words = (
        "slide", "slides", "deck", "decks", "presentation", "presentations", "powerpoint", "pitch",
    )  # fmt: skip
    coordinates: ClassVar[tuple[str, ...]] = ("slide_index",)
    wire_methods = ("ApplyOps", "CopyAssets", "ExtractText", "GetMap", "GetStyles")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetSlideContent": coordinates}
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS
    aliases: ClassVar[Mapping[str, str]] = {"find": "search", "slide_index": "index"}

    def info(self, source: Source) -> dict[str, Any]:
        """Return the few facts that cost little."""
        from kbd_pptx.reader import mapping  # noqa: PLC0415 - 30 ms for lxml

        return mapping.facts(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return the structure."""
        from kbd_pptx.reader import mapping  # noqa: PLC0415 - 30 ms for lxml

        return mapping.deck_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of a region."""
        from kbd_pptx.reader import reading  # noqa: PLC0415 - 30 ms for lxml

        return reading.read_region(source, region)

    def objects(self, source: Source, region: Region) -> Reading:
        """Return the text of a region with the shapes, tables and images in it."""
        from kbd_pptx.reader import reading  # noqa: PLC0415 - 30 ms for lxml

        return reading.read_objects(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text with its places."""
        from kbd_pptx.reader import reading  # noqa: PLC0415 - 30 ms for lxml

        return reading.passages(source)

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Carry out operations on a new file or on one that there is."""
        from kbd_pptx.edits import apply  # noqa: PLC0415 - 150 ms for python-pptx

        return apply.apply(source, operations, target)

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return how it looks, and what can be copied."""
        from kbd_pptx.styled import listing  # noqa: PLC0415 - 30 ms for lxml

        return listing.get_styles(source, sheet)

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Copy looks and pictures into another file."""
        from kbd_pptx.styled import copy_assets  # noqa: PLC0415 - 150 ms for python-pptx

        return copy_assets.copy_assets(source, into, picks, target)
