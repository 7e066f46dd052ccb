"""`<name>_operations`: typed operations on a new or an existing file, all or nothing.

The JSON schema of a format's operations, short enough for a prompt.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.editing import apply_operations
from kbd.formats import FormatHandler
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["OperationsTool", "operations_schema", "operations_tool"]


def operations_schema(records: Sequence[type[msgspec.Struct]]) -> dict[str, Any]:
    """Return the schema of one operation: the union of the records, told apart by `op`.

    References are resolved, titles and argument lists of docstrings left out, and a choice of one
    is a const: models follow such schemas better, and they cost fewer tokens.
    """
    schemas, definitions = msgspec.json.schema_components(records)
    return {"anyOf": [_plain(schema, definitions) for schema in schemas]}


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema without references and without what only documentation needs."""
    match schema:
        case {"$ref": str(reference)}:
            return _plain(definitions[reference.rpartition("/")[2]], definitions)
        case {"enum": [only]}:
            return {"const": only}
        case dict():
            return {
                key: _plain(_first_paragraph(key, value), definitions)
                for key, value in schema.items()
                if not (key == "title" and isinstance(value, str)) and key != "discriminator"
            }
        case list():
            return [_plain(item, definitions) for item in schema]
        case _:
            return schema


def _first_paragraph(key: str, value: Any) -> Any:
    """Cut a description, which msgspec takes from the docstring, after its first paragraph."""
    if key == "description" and isinstance(value, str):
        return " ".join(value.split("\n\n")[0].split())
    return value


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
        edited = await apply_operations(
            context.files,
            context.formats,
            self._handler,
            arguments.path,
            arguments.operations,
            create_new=arguments.create_new,
            create_if_missing=arguments.create_if_missing,
            copy_from=arguments.copy_from,
        )
        value = {
            "path": edited.name,
            "created": edited.created,
            "applied": edited.applied,
            "changed": list(edited.changed),
            "warnings": list(edited.warnings),
        }
        return ToolResult(value, is_action=True)


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
