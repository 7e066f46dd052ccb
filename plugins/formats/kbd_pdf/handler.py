"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd.formats import (
    Applied,
    Comparable,
    CompareOptions,
    Comparison,
    Editable,
    FormatHandler,
    Inspectable,
    LaidOut,
    LayoutPart,
    Mappable,
    PageLayout,
    Passage,
    Place,
    Preview,
    Previewable,
    Reading,
    Region,
    Source,
    Trace,
)
from kbd_pdf.making.operations import OPERATIONS
from kbd_pdf.print_identity import settle_print

__all__ = ["PdfFormat"]


class PdfFormat(FormatHandler, Mappable, LaidOut, Previewable, Comparable, Editable, Inspectable):
    """PDF files: structure, text by pages, pages as pictures, comparison; new ones are made."""

    name = "pdf"
    wire_name = "Pdf"
    kind = "pdf"
    suffixes: ClassVar[Mapping[str, str]] = {".pdf": "application/pdf"}
    preload = (
        "kbd_pdf.file_map", "kbd_pdf.reader", "kbd_pdf.previews", "kbd_pdf.comparison.compare",
        "kbd_pdf.layout.reading", "kbd_pdf.making.apply",
    )  # fmt: skip
    guidance = (
        "A PDF file that there is stays as it is: pages and filled-in forms go into a new file. "
        "The map gives the number of pages, the table of contents, form fields and the pages "
        "without text; then read_file with pages, counted from 1: 1-5, 3, or 2,7-9. Tables have a "
        "tool of their own, which gives their cells."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("pages",)
    wire_methods = (
        "ApplyOps", "ExtractText", "GetInfo", "GetMap", "GetTables", "GetWords", "ReadLayout",
    )  # fmt: skip
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = OPERATIONS
    new_files_only = True
    is_told_by_map = True
    preview_unit = "Page"
    print_suffix = ".pdf"
    compare_method = "PdfDiff"

    def info(self, source: Source) -> dict[str, Any]:
        """Return the number of pages and what the file says of itself."""
        from kbd_pdf import file_map  # noqa: PLC0415 - 100 ms for pypdf

        return file_map.facts(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return pages, table of contents, forms, annotations and chunks."""
        from kbd_pdf import file_map  # noqa: PLC0415 - 100 ms for pypdf

        return file_map.file_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of pages."""
        from kbd_pdf import reader  # noqa: PLC0415 - 20 ms for pypdfium2

        return reader.read_pages(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the text page by page."""
        from kbd_pdf import reader  # noqa: PLC0415 - 20 ms for pypdfium2

        return reader.passages(source)

    def layout(self, source: Source, region: Region, show: LayoutPart) -> PageLayout:
        """Return the tables, words or text in columns of pages."""
        from kbd_pdf.layout import reading  # noqa: PLC0415 - 20 ms for pypdfium2

        return reading.read_layout(source, region, show)

    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Return a page as a picture."""
        from kbd_pdf import previews  # noqa: PLC0415 - 20 ms for pypdfium2

        return previews.preview(source, index, edge_px)

    def settle_print(self, source: Source, target: Path) -> None:
        """Write a printed document without its dates and the identity drawn by chance."""
        settle_print(source, target)

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions: pages by text and look, what the file says."""
        from kbd_pdf.comparison import compare  # noqa: PLC0415 - 120 ms for pypdf and pypdfium2

        return compare.compare(before, after, options)

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other."""
        from kbd_pdf.comparison import compare  # noqa: PLC0415 - 120 ms for pypdf and pypdfium2

        return compare.trace(before, after, places, forward=forward)

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text means."""
        from kbd_pdf.comparison import compare  # noqa: PLC0415 - 120 ms for pypdf and pypdfium2

        return compare.locate(source, text)

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Make a file, of a copy of another one if it is given."""
        return self.apply_with_files(source, operations, target, {})

    def apply_with_files(
        self,
        source: Source | None,
        operations: tuple[msgspec.Struct, ...],
        target: Path,
        files: Mapping[str, Source],
    ) -> Applied:
        """Make a file with pages of others."""
        from kbd_pdf.making import apply  # noqa: PLC0415 - 100 ms for pypdf

        return apply.apply(source, operations, target, files)

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a file would do, and the files attached to it."""
        from kbd_pdf import active_content  # noqa: PLC0415 - 100 ms for pypdf

        return active_content.active_content(source, known)
