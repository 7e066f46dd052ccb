"""The declaration of the format; the work is in `reading`, which the worker loads once."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from kbd.formats import FormatHandler, Mappable, Passage, Readable, Reading, Region, Source
from kbd_text.suffixes import SUFFIXES

__all__ = ["TextFormat"]


class TextFormat(FormatHandler, Mappable, Readable):
    """Plain text by lines; written whole by `write_text_file`, so it is not `Editable`."""

    name = "text"
    wire_name = "Text"
    kind = "text"
    suffixes = SUFFIXES
    preload = ("kbd_text.reading",)
    guidance = (
        "Text is read by lines: line_start is 1-based, line_count is how many. The map gives the "
        "number of lines and chunks of 200; without coordinates a long file gives its first chunk. "
        "For JSON the map tells what is at the top; where it says looks_like table, the text has "
        "rows: write it to a .csv file to use the table tools."
    )
    coordinates: ClassVar[tuple[str, ...]] = ("line_start", "line_count")
    wire_methods = ("GetMap",)
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadLines": coordinates}

    def map(self, source: Source) -> dict[str, Any]:
        """Return line_count, char_count, encoding and chunks; for JSON its top level and keys."""
        from kbd_text import reading  # noqa: PLC0415 - 100 ms for charset-normalizer

        return reading.text_map(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return lines; of a long file without coordinates its first 200."""
        from kbd_text import reading  # noqa: PLC0415 - 100 ms for charset-normalizer

        return reading.read_lines(source, region)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the text in pieces of up to 200 lines."""
        from kbd_text import reading  # noqa: PLC0415 - 100 ms for charset-normalizer

        return reading.passages(source)
