"""The tool that writes a text file whole."""

from typing import Annotated, ClassVar

import anyio
import msgspec
from msgspec import Meta

from kbd.errors import ValidationFailed
from kbd.formats import Editable, Readable
from kbd.tools import FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect, FileName
from kbd_files.guidance import writing_guide

__all__ = ["WriteArguments", "WriteTextFile"]


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
        name = context.files.new(arguments.path) if existing is None else existing.name
        _check(context, name)
        try:
            data = arguments.content.encode()
        except UnicodeEncodeError:
            raise ValidationFailed("content holds a lone surrogate, which is no text") from None
        staged = context.files.stage()
        await anyio.Path(staged).write_bytes(data)
        context.files.put(name, staged)
        value = {"path": name, "bytes": len(data), "created": existing is None}
        return ToolResult(value, is_action=True)


def _check(context: ToolContext, name: FileName) -> None:
    """Refuse names whose format is not plain text.

    A format that is Readable by lines is text; that holds for tables in text form, too.
    """
    handler = context.formats.for_name(name)
    if isinstance(handler, Editable):
        raise ValidationFailed(f"{name} is written with {handler.name}_operations, not as text")
    if not isinstance(handler, Readable) or "line_start" not in handler.coordinates:
        raise ValidationFailed(f"{name} is not of a format that can be written as text")
