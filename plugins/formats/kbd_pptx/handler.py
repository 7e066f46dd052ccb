"""Format handler: the declaration of the format, with the table of functions that do its work."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec

from kbd.formats import (
    Applied,
    Comparable,
    CompareOptions,
    Comparison,
    Composed,
    Inspectable,
    Place,
    Printable,
    Reading,
    Region,
    Relocatable,
    Relocation,
    Source,
    Trace,
)
from kbd.office.handler import OfficeFormat
from kbd_pptx.operations import OPERATIONS

__all__ = ["PptxFormat"]


class PptxFormat(OfficeFormat, Composed, Comparable, Printable, Relocatable, Inspectable):
    """Slide decks, whoever made them: mapped, read, compared and edited without a loss."""

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
    functions: ClassVar[Mapping[str, str]] = {
        "info": "kbd_pptx.reader.deck_map:facts",
        "map": "kbd_pptx.reader.deck_map:deck_map",
        "read": "kbd_pptx.reader.regions:read_region",
        "objects": "kbd_pptx.reader.regions:read_objects",
        "passages": "kbd_pptx.reader.regions:passages",
        "apply": "kbd_pptx.edits.apply:apply",
        "active_content": "kbd.office.active_content:active_content",
        "receipt_facts": "kbd_pptx.receipt:receipt_facts",
        "get_styles": "kbd_pptx.styles.style_list:get_styles",
        "copy_assets": "kbd_pptx.assets.copy_assets:copy_assets",
        "compare": "kbd_pptx.comparison.compare:compare",
        "trace": "kbd_pptx.comparison.compare:trace",
        "locate": "kbd_pptx.comparison.compare:locate",
        "relocate": "kbd_pptx.relocation:relocate",
    }
    shifting: ClassVar[tuple[str, ...]] = (
        "add_slide", "delete_slide", "move_slide", "duplicate_slide",
    )  # fmt: skip
    guidance = (
        "Look at the map first: it lists the slides, counted from 0, with titles, layouts and "
        "shapes (ids, names, places in inches); then read_file with slide_index. add_slide takes a "
        "layout of the deck by its name, or one of title_slide, title_and_content, section_header, "
        "title_only, blank, two_content. A text of several lines becomes several paragraphs. For "
        "figures add a native table or chart: without a place it takes the empty placeholder of "
        "the slide, so leave the body of add_slide out. A table, chart or picture is named by its "
        "id or name. Targets of assets that are copied: master:0 or none for a layout or theme; "
        "master:0/title, or slide:0/Title 1 for one shape, for a text style; slide:3 for an image. "
        "A template with {{name}} is filled by fill_template."
    )
    style_file = "style.md"
    style_words = (
        "slide", "slides", "deck", "decks", "presentation", "presentations", "powerpoint", "pitch",
    )  # fmt: skip
    coordinates: ClassVar[tuple[str, ...]] = ("slide_index",)
    wire_methods = ("ApplyOps", "CopyAssets", "ExtractText", "GetMap", "GetStyles")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetSlideContent": coordinates}
    compare_method = "PptxContentDiff"
    preview_unit = "Slide"
    # Hidden slides, too: a picture is asked for by the slide's index in the deck.
    print_filters: ClassVar[Mapping[str, str]] = {
        ".pdf": 'impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}'
    }
    print_notes: ClassVar[tuple[str, ...]] = (
        "Hidden slides are printed as well; speaker notes, animations, sound and video are not.",
    )
    page_count_field = "slide_count"
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS
    aliases: ClassVar[Mapping[str, str]] = {
        "find": "search", "slide_index": "index", "slide": "index",
    }  # fmt: skip

    def apply_with_files(
        self,
        source: Source | None,
        operations: tuple[msgspec.Struct, ...],
        target: Path,
        files: Mapping[str, Source],
    ) -> Applied:
        """Apply operations that put pictures of the workbench onto slides."""
        found: Applied = self.function("apply")(source, operations, target, files)
        return found

    def objects(self, source: Source, region: Region) -> Reading:
        """Return the text of a region with the tables, images and shapes in it."""
        found: Reading = self.function("objects")(source, region)
        return found

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a file refers to, runs, fetches or embeds."""
        found: tuple[str, ...] = self.function("active_content")(source, known)
        return found

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions of a deck."""
        found: Comparison = self.function("compare")(before, after, options)
        return found

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other."""
        found: tuple[Trace, ...] = self.function("trace")(before, after, places, forward=forward)
        return found

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text means."""
        found: Place = self.function("locate")(source, text)
        return found

    def relocate(
        self, operations: tuple[msgspec.Struct, ...], before: Source, after: Source
    ) -> Relocation:
        """Carry operations over to a version in which things stand elsewhere."""
        found: Relocation = self.function("relocate")(operations, before, after)
        return found
