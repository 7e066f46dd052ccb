"""The declaration of the format; the work is in modules that the worker loads once."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
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
    Preview,
    Previewable,
    Readable,
    Reading,
    Region,
    Source,
    Trace,
)

__all__ = ["ImageFormat"]


class ImageFormat(FormatHandler, Mappable, Readable, Previewable, Comparable, Inspectable):
    """Pictures, read-only: their facts, what they show, and what differs in two versions."""

    name = "image"
    wire_name = "Image"
    kind = "image"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".webp": "image/webp",
        ".bmp": "image/bmp",
        ".tif": "image/tiff",
        ".tiff": "image/tiff",
        ".svg": "image/svg+xml",
    }
    preload = ("kbd_image.facts", "kbd_image.previews", "kbd_image.comparison.compare")
    guidance = (
        "Read-only. A picture is read as its facts: format, size in pixels, depth, orientation; an "
        "svg as its markup, too. What a picture shows is not read."
    )
    wire_info = "GetMetadata"
    wire_methods = ("GetMetadata",)
    compare_method = "ImageDiff"

    def info(self, source: Source) -> dict[str, Any]:
        """Return format, width, height, mode and what else is known without decoding."""
        from kbd_image import facts  # noqa: PLC0415 - 40 ms for Pillow

        return facts.metadata(source)

    def map(self, source: Source) -> dict[str, Any]:
        """Return the same facts: a picture has no parts."""
        from kbd_image import facts  # noqa: PLC0415 - 40 ms for Pillow

        return facts.metadata(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return the facts as text; of an svg its text."""
        from kbd_image import facts  # noqa: PLC0415 - 40 ms for Pillow

        return facts.read(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield what `read` returns."""
        from kbd_image import facts  # noqa: PLC0415 - 40 ms for Pillow

        return facts.passages(source)

    def active_content(self, source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
        """Return what a picture made of markup runs or fetches; others do neither."""
        from kbd.plaintext.rendered_text import rendered_content  # noqa: PLC0415 - 100 ms, charsets

        if PurePosixPath(source.name).suffix.lower() != ".svg":
            return ()
        return rendered_content(source).new_texts(map(rendered_content, known))

    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Return the picture, upright and small."""
        from kbd_image import previews  # noqa: PLC0415 - 40 ms for Pillow

        return previews.preview(source, index, edge_px)

    def compare(
        self, before: Source | None, after: Source | None, options: CompareOptions
    ) -> Comparison:
        """Return what differs between two versions: size, metadata, frames, pixels."""
        from kbd_image.comparison import compare  # noqa: PLC0415 - 40 ms for Pillow

        return compare.compare(before, after, options)

    def trace(
        self, before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return where places of one version stand in the other."""
        from kbd_image.comparison import compare  # noqa: PLC0415 - 40 ms for Pillow

        return compare.trace(before, after, places, forward=forward)

    def locate(self, source: Source, text: str) -> Place:
        """Return the place that a text means."""
        from kbd_image.comparison import compare  # noqa: PLC0415 - 40 ms for Pillow

        return compare.locate(source, text)
