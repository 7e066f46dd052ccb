"""Tools that look at files without reading their contents."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.formats import Mappable
from kbd.tools import FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect
from kbd_files.guidance import mappable_names

__all__ = ["GetFileInfo", "GetFileMap", "ListFiles"]

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
