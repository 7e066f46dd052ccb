"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from kbd.formats import (
    Comparable,
    CompareOptions,
    Comparison,
    FormatHandler,
    Inspectable,
    Mappable,
    Passage,
    Place,
    Printable,
    Readable,
    Reading,
    Region,
    Source,
    Trace,
)

__all__ = ["OdtFormat"]


class OdtFormat(FormatHandler, Mappable, Readable, Printable, Comparable, Inspectable):
    """OpenDocument texts, read-only: sections by headings, text, tables."""

    name = "odt"
    wire_name = "Odt"
    kind = "document"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".odt": "application/vnd.oasis.opendocument.text",
        ".ott": "application/vnd.oasis.opendocument.text-template",
        ".fodt": "application/vnd.oasis.opendocument.text-flat-xml",
    }
    preload = (
        "kbd_odt.reader", "kbd_odt.comparison.text_comparison", "kbd.office.open_active",
    )  # fmt: skip
    guidance = (
        "Read-only; to change such a text, write a new document. The map lists sections; then "
        "read_file with section (a heading, or its index from 0) and, for a long one, chunk."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("section", "chunk")
    wire_methods = ("ExtractText", "GetInfo", "GetMap")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetSectionContent": coordinates}
    print_filters: ClassVar[Mapping[str, str]] = {".pdf": "writer_pdf_Export"}
    print_notes: ClassVar[tuple[str, ...]] = (
        "Comments are not printed; changes that are tracked are, with their marks.",
    )
    compare_method = "OdtContentDiff"

    def info(self, source: Source) -> dict[str, Any]:
        """Return the few facts that cost little."""
        from kbd_odt import reader  # noqa: PLC0415 - 30 ms for lxml

        return reader.facts(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return sections, chunks, tables and images."""
        from kbd_odt import reader  # noqa: PLC0415 - 30 ms for lxml

        return reader.text_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of a section or a chunk of it."""
        from kbd_odt import reader  # noqa: PLC0415 - 30 ms for lxml

        return reader.read_region(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text by sections."""
        from kbd_odt import reader  # noqa: PLC0415 - 30 ms for lxml

        return reader.passages(source)

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions of a text."""
        from kbd_odt.comparison import text_comparison  # noqa: PLC0415 - 30 ms for lxml

        return text_comparison.compare(before, after, options)

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other."""
        from kbd_odt.comparison import text_comparison  # noqa: PLC0415 - 30 ms for lxml

        return text_comparison.trace(before, after, places, forward=forward)

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text means."""
        from kbd_odt.comparison import text_comparison  # noqa: PLC0415 - 30 ms for lxml

        return text_comparison.locate(source, text)

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a text runs, fetches or has embedded, and no other one has."""
        from kbd.office.open_active import open_active_content  # noqa: PLC0415 - 30 ms for lxml
        from kbd_odt.packages import KIND  # noqa: PLC0415 - likewise

        return open_active_content(source, known, KIND)
