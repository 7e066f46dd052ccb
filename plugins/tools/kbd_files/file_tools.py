"""Tools for files: list, inspect, map, read, write, copy, compare them, and recall earlier results.

Their descriptions name the installed formats, with the coordinates that each is read by.
"""

import shutil
from pathlib import PurePosixPath
from typing import Annotated, ClassVar

import anyio
import msgspec
from anyio.to_thread import run_sync
from msgspec import Meta

from kbd.editing import suffix_names
from kbd.errors import ValidationFailed
from kbd.formats import (
    ChangeList,
    Comparable,
    CompareOptions,
    Editable,
    Mappable,
    Readable,
    Region,
    Tabular,
)
from kbd.formats.change_text import describe_changes
from kbd.tools import FormatCatalog, Moment, Tool, ToolContext, ToolResult
from kbd.types import Effect, FileName

__all__ = [
    "ChangesArguments",
    "CopyFile",
    "CopyFileArguments",
    "GetFileChanges",
    "GetFileInfo",
    "GetFileMap",
    "ListFiles",
    "ReadArguments",
    "ReadFile",
    "RecallArguments",
    "RecallToolResult",
    "WriteArguments",
    "WriteTextFile",
    "mappable_names",
    "reading_guide",
    "writing_guide",
]


def mappable_names(formats: FormatCatalog) -> str:
    """Name the formats that have a map."""
    return ", ".join(h.name for h in formats.handlers() if isinstance(h, Mappable))


def reading_guide(formats: FormatCatalog) -> str:
    """Return a line for each format: the coordinates that it is read by, and its guidance."""
    lines = []
    for handler in formats.handlers():
        if not isinstance(handler, Readable):
            continue
        coordinates = ", ".join(handler.coordinates) or "no coordinates; it is read whole"
        line = f"- {handler.name} ({suffix_names(handler)}): {coordinates}."
        lines.append(f"{line} {handler.guidance}".rstrip())
    return "\n".join(lines)


def writing_guide(formats: FormatCatalog) -> str:
    """Return the formats that are written with operations of their own instead."""
    return ", ".join(
        f"{h.name} with {h.name}_operations" for h in formats.handlers() if isinstance(h, Editable)
    )


_LISTED = ("path", "kind", "size_bytes", "mime_type", "is_opaque")

FilePath = Annotated[str, Meta(description="The file's name in the workbench, as listed.")]


class NoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call without arguments."""


class PathArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call about one file."""

    path: FilePath


class ListFiles(Tool):
    """`list_files`: what lies in the workbench."""

    name: ClassVar[str] = "list_files"
    description = (
        "List the files of the workbench with their kind and size. The files the user speaks of "
        "are already here; never ask for an upload. A file with is_opaque true cannot be read."
    )
    arguments = NoArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: NoArguments) -> ToolResult:
        """Return one `{path, kind, size_bytes, mime_type, is_opaque}` a file."""
        del arguments
        files = context.files
        listed = []
        for name in files.names():
            described = files.describe(files.get(name))
            listed.append({key: described[key] for key in _LISTED if key in described})
        return ToolResult(listed)


class GetFileInfo(Tool):
    """`get_file_info`: a file's size, kind and cheap facts."""

    name: ClassVar[str] = "get_file_info"
    description = (
        "Get a file's size, kind and basic facts (sheets, page count, dimensions, as its format "
        "has them). Cheap; for the structure use get_file_map."
    )
    arguments = PathArguments
    effect: ClassVar[Effect] = Effect.READ

    async def run(self, context: ToolContext, arguments: PathArguments) -> ToolResult:
        """Return the listing of a file and what its format adds."""
        file = context.files.get(arguments.path)
        described = context.files.describe(file)
        if context.formats.for_name(file.name) is None:
            return ToolResult(described)
        return ToolResult({**described, **await context.formats.info(file)})


class GetFileMap(Tool):
    """`get_file_map`: a file's structure, without its contents.

    Args:
        formats: The installed formats, for the description.
    """

    name: ClassVar[str] = "get_file_map"
    arguments = PathArguments
    effect: ClassVar[Effect] = Effect.READ

    def __init__(self, formats: FormatCatalog) -> None:
        self.description = (
            "Get the structure of a file: its regions, their sizes and the coordinates to read "
            "them by, without the contents. Call this before read_file, then read only the "
            f"regions you need. Formats with a map: {mappable_names(formats)}."
        )

    async def run(self, context: ToolContext, arguments: PathArguments) -> ToolResult:
        """Return the map of section 8 of the contract, whatever the format calls its parts."""
        file = context.files.get(arguments.path)
        handler = context.formats.for_name(file.name)
        if not isinstance(handler, Mappable):
            reason = context.files.describe(file).get("reason", "its format has no map")
            raise ValidationFailed(f"{file.name} cannot be mapped: {reason}")
        return ToolResult(await context.formats.map(file))


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
            "Read the text of a file or of a region of it. Look at the file's map first, then give "
            "the coordinates of the file's format; without them a large file answers its first "
            "chunk. chunk_info says where the text stands and whether there is more. For counts, "
            "sums and filters on tables use the table tools, if you have them, instead of reading "
            "rows.\n"
            f"Coordinates by format:\n{reading_guide(formats)}"
        )

    async def run(self, context: ToolContext, arguments: ReadArguments) -> ToolResult:
        """Return `{text, chunk_info?, warnings?}`.

        Raises:
            ValidationFailed: The file is opaque, or the coordinates are not its format's.
        """
        file = context.files.get(arguments.path)
        handler = context.formats.for_name(file.name)
        if isinstance(handler, Tabular) and not isinstance(handler, Readable):
            raise ValidationFailed(
                f"{file.name} has no text to read: it is a table; use the table tools"
            )
        if not isinstance(handler, Readable):
            reason = context.files.describe(file).get("reason", "its format is not known")
            raise ValidationFailed(f"{file.name} cannot be read: {reason}")
        region = arguments.region()
        _check_region(file.name, region, handler.coordinates)
        return ToolResult(msgspec.to_builtins(await context.formats.read(file, region)))


def _check_region(name: FileName, region: Region, known: tuple[str, ...]) -> None:
    """Refuse coordinates of another format before a worker is asked.

    Raises:
        ValidationFailed: There is one.
    """
    strange = [field for field in region.named() if field not in known]
    if strange:
        takes = ", ".join(known) or "no coordinates"
        raise ValidationFailed(f"{name} is not read by {', '.join(strange)}; it takes {takes}")


class WriteArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text file and what it shall hold."""

    path: Annotated[str, Meta(description="The file's name; made if it is not there.")]
    content: Annotated[str, Meta(description="The whole content; it replaces what was there.")]


class WriteTextFile(Tool):
    """`write_text_file`: make or replace a text file in the draft.

    Args:
        formats: The installed formats; those with operations of their own are refused.
    """

    name: ClassVar[str] = "write_text_file"
    arguments = WriteArguments
    effect: ClassVar[Effect] = Effect.WRITE

    def __init__(self, formats: FormatCatalog) -> None:
        others = writing_guide(formats)
        instead = f" Other formats are written with their own tools: {others}." if others else ""
        self.description = (
            "Write a text file (text, markdown, json, code, delimited tables) whole, as UTF-8, "
            f"into the draft. The content replaces the file.{instead}"
        )

    async def run(self, context: ToolContext, arguments: WriteArguments) -> ToolResult:
        """Stage the text and have it land with this call's result.

        Raises:
            ValidationFailed: The format is not text, or has operations of its own.
        """
        existing = context.files.find(arguments.path)
        # The name in the workbench goes before the path that the model wrote for it.
        name = context.files.new(arguments.path) if existing is None else existing.name
        _check_content(context, name)
        try:
            data = arguments.content.encode()
        except UnicodeEncodeError:
            raise ValidationFailed("content holds a lone surrogate, which is no text") from None
        staged = context.files.stage()
        await anyio.Path(staged).write_bytes(data)
        context.files.put(name, staged, remaining=())
        value = {"path": name, "bytes": len(data), "created": existing is None}
        return ToolResult(value, is_action=True)


def _check_content(context: ToolContext, name: FileName) -> None:
    """Refuse names whose format is not plain text.

    A format that is Readable by lines is text; that holds for tables in text form, too.
    """
    handler = context.formats.for_name(name)
    if isinstance(handler, Editable):
        raise ValidationFailed(f"{name} is written with {handler.name}_operations, not as text")
    if not isinstance(handler, Readable) or "line_start" not in handler.coordinates:
        raise ValidationFailed(f"{name} is not of a format that can be written as text")


class CopyFileArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and the name that its copy shall have."""

    path: FilePath
    target_path: Annotated[
        str,
        Meta(
            description="The new file: it must not exist yet and must end as the file does; "
            "folders in it are made."
        ),
    ]


class CopyFile(Tool):
    """`copy_file`: put a file into the draft once more, under another name, byte for byte."""

    name: ClassVar[str] = "copy_file"
    description = (
        "Copy a file of any kind into the draft under a new name or into a folder, byte for byte. "
        "The file itself stays where it is: kbd renames and removes nothing."
    )
    arguments = CopyFileArguments
    effect: ClassVar[Effect] = Effect.WRITE

    async def run(self, context: ToolContext, arguments: CopyFileArguments) -> ToolResult:
        """Stage the copy and have it land with this call's result: `{path, copied_from, bytes}`.

        Raises:
            NotFound: There is no such file.
            ValidationFailed: The new name is taken, or ends otherwise than the file's.
            SandboxViolation: A path would leave the workbench.
        """
        source = context.files.get(arguments.path)
        name = context.files.new(arguments.target_path)
        suffix, given = PurePosixPath(source.name).suffix, PurePosixPath(name).suffix
        # Else the copy would be taken for a file of another format, which its bytes are not.
        if given.casefold() != suffix.casefold():
            ends = f"must end with {suffix}" if suffix else "must have no suffix"
            raise ValidationFailed(f"{name} {ends}, as {source.name} does; a copy keeps its format")
        staged = context.files.stage(suffix)
        await run_sync(shutil.copyfile, source.path, staged)
        context.files.put(name, staged, external=source.external, remaining=())
        value = {"path": name, "copied_from": source.name, "bytes": source.size_bytes}
        return ToolResult(value, is_action=True)


_LINES, _MAX_LINES = 40, 200


class ChangesArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, since when its changes are asked for, and which of them to show."""

    path: FilePath
    since: Annotated[
        Moment | None,
        Meta(
            description="item: what the item that you work on has changed; the default while you "
            "work on one. draft: all that the draft changes."
        ),
    ] = None
    sheet: Annotated[str | None, Meta(description="Workbooks: only this sheet.")] = None
    offset: Annotated[int, Meta(description="The first change, counted from 0.", ge=0)] = 0
    limit: Annotated[int, Meta(description="How many changes at most.", ge=1, le=_MAX_LINES)] = (
        _LINES
    )


class GetFileChanges(Tool):
    """`get_file_changes`: what changed inside a file, by place, with what was there and what is.

    Args:
        formats: The installed formats, for the description.
    """

    name: ClassVar[str] = "get_file_changes"
    arguments = ChangesArguments
    effect: ClassVar[Effect] = Effect.READ

    def __init__(self, formats: FormatCatalog) -> None:
        compared = ", ".join(h.name for h in formats.handlers() if isinstance(h, Comparable))
        self.description = (
            "Get what changed inside a file: a line for each cell, paragraph, slide or row, with "
            "what was there and what is there now, compared with the real bytes and whoever "
            "changed it. The shortest way to check an edit: what you meant to change is there, "
            "and nothing else. counts counts all changes; while not_shown is there, go on at a "
            f"higher offset. Formats: {compared}."
        )

    async def run(self, context: ToolContext, arguments: ChangesArguments) -> ToolResult:
        """Return `{path, since, counts, changed, not_shown?, warnings?}`.

        Raises:
            NotFound: There is no such file, and there was none.
            ValidationFailed: Its format is not compared or has no sheets, or there is no item.
        """
        files, moments = context.files, context.files.moments()
        since = arguments.since or moments[0]
        if since not in moments:
            raise ValidationFailed(f"there is no {since} under way; since takes {moments[0]}")
        before, after = files.before(arguments.path, since), files.find(arguments.path)
        file = after or before or files.get(arguments.path)
        if before is not None and after is not None and before.blob == after.blob:
            found = ChangeList().comparison()
        else:
            options = CompareOptions(sheet=arguments.sheet)
            found = await context.formats.compare(before, after, options)
        described = describe_changes(found, arguments.limit, arguments.offset)
        return ToolResult({"path": file.name, "since": since, **described})


_PAGE_CHARACTERS = 16_000
_MAX_CHARACTERS = 64_000


class RecallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An earlier call, and which part of its result to show."""

    entry_id: Annotated[int, Meta(description="The entry id that the receipt names.", ge=1)]
    offset: Annotated[int, Meta(description="The first character, counted from 0.", ge=0)] = 0
    limit: Annotated[
        int, Meta(description="How many characters at most.", ge=1, le=_MAX_CHARACTERS)
    ] = _PAGE_CHARACTERS


class RecallToolResult(Tool):
    """`recall_tool_result`: the whole of what a receipt stands for, in pages."""

    name: ClassVar[str] = "recall_tool_result"
    description = (
        "Show the stored result of an earlier call by its entry id: the JSON text that the tool "
        "returned, in pages of characters. While has_more is true, go on at next_offset."
    )
    arguments = RecallArguments
    effect: ClassVar[Effect] = Effect.RECALL

    async def run(self, context: ToolContext, arguments: RecallArguments) -> ToolResult:
        """Return `{entry_id, text, offset, total, has_more, next_offset?}`.

        Raises:
            NotFound: There is no such entry.
        """
        whole = (await context.recall.result(arguments.entry_id)).decode()
        end = min(arguments.offset + arguments.limit, len(whole))
        page = {
            "entry_id": arguments.entry_id,
            "text": whole[arguments.offset : end],
            "offset": arguments.offset,
            "total": len(whole),
            "has_more": end < len(whole),
        }
        if end < len(whole):
            page["next_offset"] = end
        # Shown whole: a receipt of a recall could only say "recall this".
        return ToolResult(page, is_action=True)
