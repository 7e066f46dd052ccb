"""The contract checks for formats find handlers that break it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import (
    Composed,
    FormatHandler,
    Passage,
    Placement,
    Preview,
    Previewable,
    Reading,
    Region,
    Source,
    Written,
)
from kbd.testing.formats import check_format
from kbd_csv import CsvFormat
from kbd_text.handler import TextFormat

SAMPLES: dict[str, bytes | Path] = {"a.txt": b"one\ntwo\n"}


class NotPlain(TextFormat):
    """Returns a map that JSON does not know."""

    def map(self, source: Source) -> dict[str, Any]:
        """Return a tuple where a list belongs."""
        return {**super().map(source), "chunks": ()}


class Lax(TextFormat):
    """Ignores coordinates that are not its own."""

    def read(self, source: Source, region: Region) -> Reading:
        """Read lines whatever else is asked for."""
        return super().read(source, Region(line_start=region.line_start))


class Forgetful(TextFormat):
    """Leaves text out of its passages."""

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the first line only."""
        yield Passage("one", "line 1")


class Lost(TextFormat):
    """Has coordinates, and does not say which of them read its passages."""

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text without a region."""
        return (Passage(each.text, each.place) for each in super().passages(source))


class Astray(TextFormat):
    """Gives each passage the region of the first line."""

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield all text."""
        first = Region(line_start=1, line_count=1)
        return (Passage(each.text, each.place, first) for each in super().passages(source))


class Fragile(TextFormat):
    """Raises what it likes on a damaged file."""

    def info(self, source: Source) -> dict[str, Any]:
        """Index past the end of short files."""
        return {"first": source.path.read_bytes()[0]}


class Lossy(CsvFormat):
    """Loses the rows that it should write."""

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write a header alone."""
        target.write_text("Day,Item,Amount,Paid\n")
        return Written("", 0, 4)


class Album(TextFormat, Composed, Previewable):
    """Keeps all promises: a picture a line."""

    objects_text, picture, edge, has_end = "", b"\x89PNG", 1, True

    def objects(self, source: Source, region: Region) -> Reading:
        """Return the lines with one object each."""
        reading = self.read(source, region)
        lines = tuple({"text": line} for line in reading.text.splitlines())
        text = reading.text + self.objects_text
        return Reading(text, reading.chunk_info, reading.warnings, objects={"lines": lines})

    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Return a picture of a line."""
        count = len(self.read(source, Region()).text.splitlines())
        if index >= count and self.has_end:
            raise ValidationFailed("no such line")
        return Preview(self.picture, "image/png", self.edge, 1, count)


class Divergent(Album):
    """Gives objects another text."""

    objects_text = "more"


class Painted(Album):
    """Calls something else a PNG."""

    picture = b"GIF89a"


class Huge(Album):
    """Pays no heed to the size that is asked for."""

    edge = 5000


class Endless(Album):
    """Shows what is not there."""

    has_end = False


def test_who_keeps_all_promises_passes(tmp_path: Path) -> None:
    """The checks find nothing in a handler with objects and previews that is right."""
    check_format(Album(), SAMPLES, tmp_path)


@pytest.mark.parametrize(
    ("handler", "promise"),
    [
        (NotPlain(), "plain values"),
        (Lax(), "coordinate sheet is refused"),
        (Forgetful(), "passages hold what is read"),
        (Lost(), "passages have regions"),
        (Astray(), "the region reads the passage"),
        (Fragile(), "only a KbdError"),
        (Lossy(), "read back"),
        (Divergent(), "objects come with the same text"),
        (Painted(), "a preview is a picture"),
        (Huge(), "a preview is as small as asked for"),
        (Endless(), "a preview behind the last one is refused"),
    ],
)
def test_a_broken_promise_is_named(tmp_path: Path, handler: FormatHandler, promise: str) -> None:
    """Each kind of breach is found and said."""
    with pytest.raises(AssertionError, match=promise):
        check_format(handler, SAMPLES, tmp_path)
