"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from kbd.formats import (
    Comparable,
    CompareOptions,
    Comparison,
    Composed,
    FormatHandler,
    Inspectable,
    Mappable,
    Passage,
    Place,
    Printable,
    Reading,
    Region,
    Source,
    Trace,
)

__all__ = ["OdpFormat"]


class OdpFormat(FormatHandler, Mappable, Composed, Printable, Comparable, Inspectable):
    """OpenDocument presentations, read-only: slides with their shapes, text, tables, charts."""

    name = "odp"
    wire_name = "Odp"
    kind = "presentation"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".odp": "application/vnd.oasis.opendocument.presentation",
        ".otp": "application/vnd.oasis.opendocument.presentation-template",
        ".fodp": "application/vnd.oasis.opendocument.presentation-flat-xml",
    }
    preload = (
        "kbd_odp.deck_map", "kbd_odp.regions", "kbd_odp.comparison.deck_comparison",
        "kbd.office.open_active",
    )  # fmt: skip
    guidance = (
        "Read-only; to change such a deck, write a new .pptx file. The map lists slides, counted "
        "from 0, with titles, names and shapes (places in inches); then read_file with slide_index."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("slide_index",)
    wire_methods = ("ExtractText", "GetInfo", "GetMap")
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetSlideContent": coordinates}
    preview_unit = "Slide"
    # Hidden slides, too: a picture is asked for by the slide's index in the deck.
    print_filters: ClassVar[Mapping[str, str]] = {
        ".pdf": 'impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}'
    }
    page_count_field = "slide_count"
    compare_method = "OdpContentDiff"

    def info(self, source: Source) -> dict[str, Any]:
        """Return the few facts that cost little."""
        from kbd_odp import deck_map  # noqa: PLC0415 - 30 ms for lxml

        return deck_map.facts(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return slides with their shapes."""
        from kbd_odp import deck_map  # noqa: PLC0415 - 30 ms for lxml

        return deck_map.deck_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return the text of a slide, or of the first ones."""
        from kbd_odp import regions  # noqa: PLC0415 - 30 ms for lxml

        return regions.read_region(source, region)

    def objects(self, source: Source, region: Region) -> Reading:
        """Return the text of a region with the tables, images, charts and shapes in it."""
        from kbd_odp import regions  # noqa: PLC0415 - 30 ms for lxml

        return regions.read_objects(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text by slides."""
        from kbd_odp import regions  # noqa: PLC0415 - 30 ms for lxml

        return regions.passages(source)

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions of a deck."""
        from kbd_odp.comparison import deck_comparison  # noqa: PLC0415 - 30 ms for lxml

        return deck_comparison.compare(before, after, options)

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other."""
        from kbd_odp.comparison import deck_comparison  # noqa: PLC0415 - 30 ms for lxml

        return deck_comparison.trace(before, after, places, forward=forward)

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text means."""
        from kbd_odp.comparison import deck_comparison  # noqa: PLC0415 - 30 ms for lxml

        return deck_comparison.locate(source, text)

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a deck runs, fetches or has embedded, and no other one has."""
        from kbd.office.open_active import open_active_content  # noqa: PLC0415 - 30 ms for lxml
        from kbd_odp.packages import KIND  # noqa: PLC0415 - likewise

        return open_active_content(source, known, KIND)
