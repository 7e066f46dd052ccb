"""`<name>_operations`: typed operations on a new or an existing file, all or nothing."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.errors import NotFound, ValidationFailed
from kbd.formats import FormatHandler
from kbd.tools import FileRef, Tool, ToolContext, ToolResult
from kbd.types import Effect, FileName
from kbd_edits.schema import operations_schema

__all__ = ["OperationsTool", "operations_tool"]

_MOST_OPERATIONS = 500

CreateNew = Annotated[bool, Meta(description="Make a new file; the path must not exist yet.")]
CreateIfMissing = Annotated[bool, Meta(description="Make the file if missing, else edit it.")]
CopyFrom = Annotated[
    str | None, Meta(description="Make the new file as a copy of this file first.")
]


class OperationsTool(Tool):
    """The editing tool of one format.

    Args:
        handler: The format.
        records: Its operations.
    """

    effect: ClassVar[Effect] = Effect.WRITE

    def __init__(self, handler: FormatHandler, records: Sequence[type[msgspec.Struct]]) -> None:
        self._handler = handler
        names = ", ".join(str(record.__struct_config__.tag) for record in records)
        self.description = (
            f"Change or make a {handler.name} file by operations ({names}), applied in order, all "
            "or nothing, into the draft. Everything that no operation names is kept. Look at "
            "get_file_map first; write large ranges in several calls. A new file needs create_new "
            f"or create_if_missing. Read `warnings` in the result. {handler.guidance}"
        ).rstrip()
        self.arguments = _arguments(handler.name, records)

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Apply the operations; return `{path, created, applied, changed, warnings}`.

        Raises:
            ValidationFailed: The path exists although it shall be new, is of another format, or
                an operation cannot be applied.
            NotFound: The path does not exist and nothing says that it shall be made.
        """
        if not arguments.operations and arguments.copy_from is None:
            raise ValidationFailed("operations is empty; give at least one")
        name, source, created = self._target(context, arguments)
        target = context.files.stage(PurePosixPath(name).suffix)
        applied = await context.formats.apply(self._handler, source, arguments.operations, target)
        context.files.put(name, target)
        value = {
            "path": name,
            "created": created,
            "applied": applied.applied,
            "changed": list(applied.changed),
            "warnings": list(applied.warnings),
        }
        return ToolResult(value, is_action=True)

    def _target(
        self, context: ToolContext, arguments: Any
    ) -> tuple[FileName, FileRef | None, bool]:
        """Return the name to write, the file to start from, and whether the name is new."""
        files = context.files
        if arguments.copy_from is not None:
            source = self._own(context, files.get(arguments.copy_from))
            return self._own_name(context, files.new(arguments.path)), source, True
        if arguments.create_new:
            return self._own_name(context, files.new(arguments.path)), None, True
        if arguments.create_if_missing and files.find(arguments.path) is None:
            return self._own_name(context, files.new(arguments.path)), None, True
        try:
            source = self._own(context, files.get(arguments.path))
        except NotFound as error:
            raise NotFound(
                f"{error.message}. To make a new file, give create_new: true", detail=error.detail
            ) from None
        return source.name, source, False

    def _own(self, context: ToolContext, file: FileRef) -> FileRef:
        """Return a file if it is of this tool's format."""
        self._own_name(context, file.name)
        return file

    def _own_name(self, context: ToolContext, name: FileName) -> FileName:
        """Return a name if its suffix is of this tool's format.

        Raises:
            ValidationFailed: It is not.
        """
        handler = context.formats.for_name(name)
        if handler is None or handler.name != self._handler.name:
            suffixes = ", ".join(self._handler.suffixes)
            raise ValidationFailed(f"{name} is not a {self._handler.name} file ({suffixes})")
        return name


def operations_tool(handler: FormatHandler, records: Sequence[type[msgspec.Struct]]) -> Tool:
    """Return the editing tool of a format; its class carries the format's name."""
    named = type(
        f"{handler.wire_name}Operations",
        (OperationsTool,),
        {"name": f"{handler.name}_operations", "__doc__": OperationsTool.__doc__},
    )
    tool = named(handler, records)
    assert isinstance(tool, Tool)
    return tool


def _arguments(name: str, records: Sequence[type[msgspec.Struct]]) -> type[msgspec.Struct]:
    """Return the record of the arguments.

    Operations stay plain values here: `Formats.apply` converts them with the handler's records, so
    that a handler may accept more spellings than its schema teaches.
    """
    operation = Annotated[dict[str, Any], Meta(extra_json_schema=operations_schema(records))]
    operations = Annotated[
        list[operation],
        Meta(description="The operations, in order.", max_length=_MOST_OPERATIONS),
    ]
    return msgspec.defstruct(
        f"{name.title()}OperationsArguments",
        [
            ("path", Annotated[str, Meta(description="The file's name in the workbench.")]),
            ("operations", operations),
            ("create_new", CreateNew, False),
            ("create_if_missing", CreateIfMissing, False),
            ("copy_from", CopyFrom, None),
        ],
        frozen=True,
        forbid_unknown_fields=True,
        module=__name__,
    )
