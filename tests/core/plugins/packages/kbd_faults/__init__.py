"""A plugin that misbehaves in every way that a call can; not installed, only for tests."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd import hookimpl
from kbd.errors import ValidationFailed
from kbd.formats import (
    Applied,
    Calculable,
    Calculated,
    Calculation,
    Celled,
    Editable,
    FormatHandler,
    Mappable,
    Passage,
    Placement,
    ReadAs,
    Reading,
    Region,
    Source,
    Table,
    Tabular,
    Written,
)


class Put(msgspec.Struct, frozen=True, tag="put", tag_field="op", forbid_unknown_fields=True):
    """Write some text."""

    text: str
    times: int = 1


class Wipe(msgspec.Struct, frozen=True, tag="wipe", tag_field="op", forbid_unknown_fields=True):
    """Write nothing."""


def deadly(source: Source) -> None:
    """Do to this process what a file says, as a file does that breaks its parser."""
    text = source.path.read_text()
    match text.split(" ")[:2]:
        case ["signal", number]:
            os.kill(os.getpid(), int(number))
            time.sleep(60)
        case ["exit", number]:
            os._exit(int(number))
        case ["memory", _]:
            bytearray(8 << 30)
        case ["spin", _]:
            while True:
                pass
        case _:
            pass


class Notes(FormatHandler, Calculable, Mappable, Celled, Editable, Tabular):
    """A format that can do everything, in the plainest way."""

    name = "notes"
    wire_name = "Notes"
    kind = "note"
    suffixes: ClassVar = {".note": "text/x-note"}
    preload = ("kbd_faults.work",)
    coordinates = ("line_start", "line_count")
    operations = (Put, Wipe)
    aliases: ClassVar = {"words": "text", "times": "text"}

    def __init__(self, motto: str) -> None:
        self.motto = motto

    def info(self, source: Source) -> dict[str, Any]:
        """Return its length and the plugin's setting."""
        text = source.path.read_text()
        deadly(source)
        return {"length": len(text), "motto": self.motto}

    def map(self, source: Source) -> dict[str, Any]:
        """Return its lines; leave a mark that the work was done."""
        text = source.path.read_text()
        deadly(source)
        with source.path.with_suffix(".mapped").open("a") as marks:
            marks.write("x")
        return {"lines": text.split("\n")}

    def read(self, source: Source, region: Region) -> Reading:
        """Return one line, or fail as a parser would, naming the file's path."""
        text = source.path.read_text()
        if text.startswith("broken"):
            msg = f"bad magic in {source.path}"
            raise RuntimeError(msg)
        return Reading(text.split("\n")[(region.line_start or 1) - 1])

    def cells(self, source: Source, region: Region) -> Reading:
        """Return the line, and how often this content was asked for, kept on its shelf."""
        rows: tuple[tuple[str]] | None = None
        if source.shelf is not None:
            source.shelf.mkdir(parents=True, exist_ok=True)
            with (source.shelf / "asked").open("a+") as marks:
                marks.write("x")
                marks.seek(0)
                rows = ((marks.read(),),)
        return msgspec.structs.replace(self.read(source, region), rows=rows)

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the whole text, or fail."""
        if source.path.read_text() == "torn":
            raise RuntimeError("no end")
        yield Passage(source.path.read_text(), "whole")

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Write what the operations say."""
        text = source.path.read_text() if source else ""
        for operation in operations:
            match operation:
                case Put(text="forbidden"):
                    msg = "that is forbidden"
                    raise ValidationFailed(msg, detail={"word": "forbidden"})
                case Put(text=more, times=times):
                    text += more * times
                case _:
                    text = ""
        target.write_text(text)
        changed = tuple(type(each).__name__ for each in operations)
        # What has a sum in it has a result to be worked out.
        open_results = (("note", text),) if "sum" in text else ()
        return Applied(len(operations), changed, open_results=open_results)

    def calculate(self, source: Source, wanted: Calculation, target: Path) -> Calculated:
        """Write the time behind the text, or do what it says."""
        deadly(source)
        text = source.path.read_text()
        if "nothing" in text:
            return Calculated(0, warnings=("nothing is known",))
        target.write_text(f"{text}={wanted.now_us}")
        return Calculated(1, (f"sum = {wanted.now_us}",), (str(wanted.places),))

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Answer something that is no table."""
        return {"columns": 5}  # type: ignore[return-value]

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write the rows' size."""
        target.write_text(str(rows.stat().st_size))
        return Written(f"{placement.sheet}!A1", 1, 1)


@hookimpl
def kbd_register_formats(settings: dict[str, Any]) -> list[FormatHandler]:
    """Declare the format."""
    return [Notes(settings.get("motto", "none"))]
