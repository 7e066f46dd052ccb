"""The contract checks for formats find handlers that break it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.formats import FormatHandler, Passage, Placement, Reading, Region, Source, Written
from kbd.testing.formats import check_format
from kbd_csv import CsvFormat
from kbd_text import TextFormat

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


@pytest.mark.parametrize(
    ("handler", "promise"),
    [
        (NotPlain(), "plain values"),
        (Lax(), "coordinate sheet is refused"),
        (Forgetful(), "passages hold what is read"),
        (Fragile(), "only a KbdError"),
        (Lossy(), "read back"),
    ],
)
def test_a_broken_promise_is_named(tmp_path: Path, handler: FormatHandler, promise: str) -> None:
    """Each kind of breach is found and said."""
    with pytest.raises(AssertionError, match=promise):
        check_format(handler, SAMPLES, tmp_path)
