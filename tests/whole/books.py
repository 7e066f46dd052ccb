"""A plugin as a stranger would install it: a small styled workbook that can also take its time."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from kbd import hookimpl
from kbd.errors import ValidationFailed
from kbd.formats import Applied, Celled, ChunkInfo, FormatHandler, Reading, Region, Source
from tools.small_formats import BookFormat, StyledBook

__all__ = ["install", "kbd_register_formats"]


class Nap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="op", tag="nap"):
    """Make a file, then sleep for ever: what a slow edit is to who kills the daemon meanwhile."""

    flag: str


class SlowBook(StyledBook, Celled):
    """The workbook with one operation more, and with typed cells."""

    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"ReadCells": ("sheet",)}
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = (*BookFormat.operations, Nap)

    def cells(self, source: Source, region: Region) -> Reading:
        """Return a sheet's rows."""
        sheets = json.loads(source.path.read_text())
        if region.sheet not in sheets:
            raise ValidationFailed(f"there is no sheet {region.sheet}")
        rows = sheets[region.sheet]["rows"]
        place = ChunkInfo(0, 1, has_more=False, range=f"1-{len(rows)}")
        return Reading(str(rows), place, ("for tests",), tuple(map(tuple, rows)))

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Do what the operations say, or sleep."""
        for operation in operations:
            if isinstance(operation, Nap):
                Path(operation.flag).touch()
                time.sleep(60)
        return super().apply(source, operations, target)


class OtherBook(BookFormat):
    """Another format that claims the same wire methods."""

    name = "otherbook"
    suffixes: ClassVar[dict[str, str]] = {".other": "application/json"}


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer both."""
    return [SlowBook(), OtherBook()]


def install(folder: Path) -> str:
    """Install the plugin in a folder, and return how a daemon begins that finds it there."""
    about = folder / "kbd_books-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: kbd-books\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[kbd]\nbooks = whole.books\n")
    paths = [str(folder), str(Path(__file__).resolve().parent.parent)]
    return f"""
import functools
from kbd.core.api import daemon
sys.path.extend({paths!r})
daemon.WorkerPool = functools.partial(daemon.WorkerPool, extra_paths={paths!r})
"""
