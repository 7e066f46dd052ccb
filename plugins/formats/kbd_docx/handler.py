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
from kbd_docx.operations import OPERATIONS

__all__ = ["DocxFormat"]


class DocxFormat(FormatHandler, Mappable, Composed, Editable, Styled):
    """Documents, whoever made them: mapped, read and edited without a loss."""

    name = "docx"
    wire_name = "Docx"
    kind = "document"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ".docm": "application/vnd.ms-word.document.macroEnabled.12",
        ".dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        ".dotm": "application/vnd.ms-word.template.macroEnabled.12",
    }
    preload = (
        "kbd_docx.edits.apply",
        "kbd_docx.reader.mapping",
        "kbd_docx.reader.reading",
        "kbd_docx.styled.copy_assets",
        "kbd_docx.styled.listing",
    )
    guidance = (
        "Look at the map first: it lists sections with their sizes, tables and images; then "
        "read_file with section (a heading, or its index from 0) and, for a long one, chunk. "
        "Paragraphs are numbered from 1 as the map numbers them, tables from 0. The # of headings, "
        "numbers and bullets of lists, bars between cells, [labels] and <addresses> are how text "
        "is shown, not part of it: leave them out of what replace_text searches. replace_text "
        "keeps the formatting and tells how often it replaced; set_paragraphs replaces the whole "
        "body. Copied headers go into all sections of pages or into target section:0, images "
        "to the end or after target paragraph:12; styles can be put on target paragraph:3-7 or "
        "table:0. "
        "Not built yet: set_section, track_changes."
    )
    style_file = "style.md"
    style_words = (
        "word document", "word file", "memo", "memos", "memorandum", "letter", "letters", "report",
        "reports", "minutes", "proposal", "proposals",
    )  # fmt: skip
    coordinates: ClassVar[tuple[str, ...]] = ("section", "chunk")
    wire_methods = ("ApplyOps", "CopyAssets", "ExtractText", "GetMap", "GetStyles")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetSectionContent": coordinates}
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS
    aliases: ClassVar[Mapping[str, str]] = {"find": "search"}

    def info(self, source: Source) -> dict[str, Any]:
        """Return the few facts that cost little."""
        from kbd_docx.reader import mapping  # noqa: PLC0415 - 30 ms for lxml

        return mapping.facts(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return the structure."""
        from kbd_docx.reader import mapping  # noqa: PLC0415 - 30 ms for lxml

        return mapping.document_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of a region."""
        from kbd_docx.reader import reading  # noqa: PLC0415 - 30 ms for lxml

        return reading.read_region(source, region)

    def objects(self, source: Source, region: Region) -> Reading:
        """Return the text of a region with the tables and images in it."""
        from kbd_docx.reader import reading  # noqa: PLC0415 - 30 ms for lxml

        return reading.read_objects(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text with its places."""
        from kbd_docx.reader import reading  # noqa: PLC0415 - 30 ms for lxml

        return reading.passages(source)

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Carry out operations on a new file or on one that there is."""
        from kbd_docx.edits import apply  # noqa: PLC0415 - 150 ms for python-docx

        return apply.apply(source, operations, target)

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return how it looks, and what can be copied."""
        from kbd_docx.styled import listing  # noqa: PLC0415 - 30 ms for lxml

        return listing.get_styles(source, sheet)

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Copy looks and pictures into another file."""
        from kbd_docx.styled import copy_assets  # noqa: PLC0415 - 150 ms for python-docx

        return copy_assets.copy_assets(source, into, picks, target)
