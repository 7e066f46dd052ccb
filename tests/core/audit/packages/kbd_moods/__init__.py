"""A format that does not write the same twice; not installed, only for tests."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from kbd import hookimpl
from kbd.formats import (
    Applied,
    Editable,
    FormatHandler,
    Passage,
    Readable,
    Reading,
    Region,
    Source,
)

NAMES = [f"parts/{number}.xml" for number in range(20)]


class Write(msgspec.Struct, frozen=True, tag="write", tag_field="op", forbid_unknown_fields=True):
    """Write the file in a mood: "calm", "clock", "times" or "order"."""

    mood: str


class Moods(FormatHandler, Readable, Editable):
    """A package of parts, which is written as its mood is, and read in the order of a set."""

    name = "moods"
    wire_name = "Moods"
    kind = "mood"
    suffixes: ClassVar = {".mood": "application/x-mood"}
    preload = ()
    coordinates = ()
    operations = (Write,)
    aliases: ClassVar = {}

    def info(self, source: Source) -> dict[str, Any]:
        """Return its length."""
        return {"length": source.path.stat().st_size}

    def read(self, source: Source, region: Region) -> Reading:
        """Return the names of its parts as a set has them."""
        del region
        with ZipFile(source.path) as archive:
            return Reading("\n".join({*archive.namelist()}))

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield nothing."""
        del source
        yield from ()

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Write a package as the last operation says."""
        del source
        (operation,) = operations
        assert isinstance(operation, Write)
        mood = operation.mood
        names = [*{*NAMES}] if mood == "order" else NAMES
        with ZipFile(target, "w") as archive:
            for name in names:
                second = 2 * (os.urandom(1)[0] % 30) if mood == "times" else 0
                info = ZipInfo(name, (2020, 1, 1, 0, 0, second))
                info.compress_type = ZIP_DEFLATED
                is_clock = mood == "clock" and name == NAMES[7]
                archive.writestr(info, f"<{name}/>" + (str(time.time_ns()) if is_clock else ""))
        return Applied(1, (mood,))


@hookimpl
def kbd_register_formats() -> list[FormatHandler]:
    """Declare the format."""
    return [Moods()]
