"""The tool that reads a file's text by region."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.formats import Readable, Region
from kbd.tools import FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect, FileName
from kbd_files.guidance import reading_guide

__all__ = ["ReadArguments", "ReadFile"]


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and the region to read in its format's coordinates."""

    path: Annotated[str, Meta(description="The file's name in the workbench.")]
    sheet: Annotated[str | None, Meta(description="Workbooks: the sheet's name.")] = None
    range: Annotated[str | None, Meta(description="Workbooks: cells, as A1:E50.")] = None
    section: Annotated[
        str | int | None, Meta(description="Documents: a heading, or the section's index from 0.")
    ] = None
    chunk: Annotated[int | None, Meta(description="Documents: the chunk's index from 0.")] = None
    slide_index: Annotated[int | None, Meta(description="Slide decks: counted from 0.")] = None
    pages: Annotated[str | None, Meta(description="Paged files: as 1-5 or 2,7-9.")] = None
    line_start: Annotated[int | None, Meta(description="Text: the first line, from 1.")] = None
    line_count: Annotated[int | None, Meta(description="Text: how many lines.")] = None

    def region(self) -> Region:
        """Return the coordinates without the path."""
        return Region(
            sheet=self.sheet,
            range=self.range,
            section=self.section,
            chunk=self.chunk,
            slide_index=self.slide_index,
            pages=self.pages,
            line_start=self.line_start,
            line_count=self.line_count,
        )


class ReadFile(Tool):
    """`read_file`: the text of a file or of a region of it.

    It may be called in the plan phase too: planning looks again at what research found.

    Args:
        formats: The installed formats; the description names their coordinates.
    """

    name: ClassVar[str] = "read_file"
    arguments = ReadArguments
    effect: ClassVar[Effect] = Effect.RECALL

    def __init__(self, formats: FormatCatalog) -> None:
        self.description = (
            "Read the text of a file or of a region of it. Look at get_file_map first, then give "
            "the coordinates of the file's format; without them a large file answers its first "
            "chunk. chunk_info says where the text stands and whether there is more. For counts, "
            "sums and filters on tables use the table tools instead of reading rows.\n"
            f"Coordinates by format:\n{reading_guide(formats)}"
        )

    async def run(self, context: ToolContext, arguments: ReadArguments) -> ToolResult:
        """Return `{text, chunk_info?, warnings?}`.

        Raises:
            ValidationFailed: The file is opaque, or the coordinates are not its format's.
        """
        file = context.files.get(arguments.path)
        handler = context.formats.for_name(file.name)
        if not isinstance(handler, Readable):
            reason = context.files.describe(file).get("reason", "its format is not known")
            raise ValidationFailed(f"{file.name} cannot be read: {reason}")
        region = arguments.region()
        _check(file.name, region, handler.coordinates)
        return ToolResult(msgspec.to_builtins(await context.formats.read(file, region)))


def _check(name: FileName, region: Region, known: tuple[str, ...]) -> None:
    """Refuse coordinates of another format before a worker is asked.

    Raises:
        ValidationFailed: There is one.
    """
    strange = [field for field in region.named() if field not in known]
    if strange:
        takes = ", ".join(known) or "no coordinates"
        raise ValidationFailed(f"{name} is not read by {', '.join(strange)}; it takes {takes}")
