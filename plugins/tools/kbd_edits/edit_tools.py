"""Tools that edit files: `<name>_operations`, `<name>_get_styles` and `<name>_copy_assets`.

Operations are typed, on a new or an existing file, all or nothing. The JSON schema of a format's
operations is short enough for a prompt.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.editing import apply_operations, copy_assets, own_file
from kbd.formats import AssetPick, FormatHandler
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = [
    "Asset",
    "CopyAssetsTool",
    "GetStylesTool",
    "OperationsTool",
    "operations_schema",
    "operations_tool",
    "styles_tools",
]


_NULL = {"type": "null"}
_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}


def operations_schema(records: Sequence[type[msgspec.Struct]]) -> dict[str, Any]:
    """Return the schema of one operation: the union of the records, told apart by `op`.

    References are resolved, titles and argument lists of docstrings left out, a choice of one is a
    const, and a field that may be left out is not said to take null as well: models follow such
    schemas better, and they cost fewer tokens.
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
        case {"anyOf": [*branches], "default": None} if _NULL in branches:
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
            others = [branch for branch in branches if branch != _NULL]
            chosen = {"anyOf": others} if len(others) > 1 else others[0]
            return _plain(chosen, definitions) | _plain(rest, definitions)
        case dict():
            return {
                key: _plain(_first_paragraph(key, value), definitions)
                for key, value in schema.items()
                # A field that is called "title" has a schema below that name, not a text.
                if not (key == "title" and isinstance(value, str))
                and key != "discriminator"
                and (key, value) != ("required", [])
            }
        case list():
            # Each integer is a number, too.
            return [
                _plain(item, definitions)
                for item in schema
                if item != _INTEGER or _NUMBER not in schema
            ]
        case _:
            return schema


def _first_paragraph(key: str, value: Any) -> Any:
    """Cut a description, which msgspec takes from the docstring, after its first paragraph."""
    if key == "description" and isinstance(value, str):
        return " ".join(value.split("\n\n")[0].split())
    return value


_MAX_OPERATIONS = 500

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
        # The tag of a record is the operation's name, the value of `op`.
        names = ", ".join(str(record.__struct_config__.tag) for record in records)
        self.description = (
            f"Change or make a {handler.name} file by operations ({names}), applied in order, all "
            "or nothing, into the draft. Everything that no operation names is kept. Look at "
            "get_file_map first; write large ranges in several calls. A new file needs create_new "
            f"or create_if_missing. Read `warnings` in the result. {handler.guidance}"
        ).rstrip()
        self.arguments = _arguments(handler.name, tuple(records))

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Apply the operations; return `{path, created, applied, changed, warnings, results}`.

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
        if edited.results:
            value["results"] = list(edited.results)
        told = tuple(f"{edited.name}, {text}" for text in edited.told)
        return ToolResult(value, is_action=True, told=told)


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


@cache  # A schema takes 30 ms, and plugins are discovered more than once in a process.
def _arguments(name: str, records: tuple[type[msgspec.Struct], ...]) -> type[msgspec.Struct]:
    """Return the record of the arguments, one for a name and its operations.

    Operations stay plain values here: `Formats.apply` converts them with the handler's records, so
    that a handler may accept more spellings than its schema teaches.
    """
    operation = Annotated[dict[str, Any], Meta(extra_json_schema=operations_schema(records))]
    operations = Annotated[
        list[operation],
        Meta(description="The operations, in order.", max_length=_MAX_OPERATIONS),
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


_MAX_ASSETS = 200

FilePath = Annotated[str, Meta(description="The file's name in the workbench.")]


class StylesArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, or a sheet of it."""

    path: FilePath
    sheet: Annotated[
        str | None, Meta(description="Workbooks: only this sheet; else the whole file.")
    ] = None


class Asset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An asset, and where it goes."""

    asset_id: Annotated[str, Meta(description="As get_styles lists it.")]
    target: Annotated[str | None, Meta(description="Where it goes in the target.")] = None


class CopyArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two files, and what goes from one to the other."""

    source_path: Annotated[str, Meta(description="The file that has the assets.")]
    target_path: Annotated[
        str, Meta(description="The file that gets them; it is made if it does not exist.")
    ]
    assets: Annotated[
        list[str | Asset],
        Meta(
            description='Each "kind:name" as get_styles lists it, or {asset_id, target}.',
            min_length=1,
            max_length=_MAX_ASSETS,
        ),
    ]


class GetStylesTool(Tool):
    """Tool that lists the styles of files of one format.

    Args:
        handler: The format.
    """

    arguments = StylesArguments
    effect: ClassVar[Effect] = Effect.READ

    def __init__(self, handler: FormatHandler) -> None:
        self._handler = handler
        self.description = (
            f"Get the styles of a {handler.name} file, and under `assets` what of it can be copied "
            "into another file. Nothing is changed."
        )

    async def run(self, context: ToolContext, arguments: StylesArguments) -> ToolResult:
        """Return the styles of the file, as its format lists them.

        Raises:
            ValidationFailed: The file is of another format, or there is no such sheet.
            NotFound: There is no such file.
            FileReadFailed: It cannot be read.
        """
        file = own_file(context.formats, self._handler, context.files.get(arguments.path))
        return ToolResult(await context.formats.get_styles(file, arguments.sheet))


class CopyAssetsTool(Tool):
    """Tool that copies styles and media between files of one format.

    Args:
        handler: The format.
    """

    arguments = CopyArguments
    effect: ClassVar[Effect] = Effect.WRITE

    def __init__(self, handler: FormatHandler) -> None:
        self._handler = handler
        self.description = (
            f"Copy styles and media of one {handler.name} file into another, all or nothing, into "
            f"the draft. Look at {handler.name}_get_styles of the source first. Everything else in "
            "the target is kept. Read `warnings` in the result."
        )

    async def run(self, context: ToolContext, arguments: CopyArguments) -> ToolResult:
        """Copy the assets; return `{copied, copied_count, warnings}`.

        Raises:
            ValidationFailed: A file is of another format, there is no such asset, or it cannot be
                copied without a loss.
            NotFound: There is no file that has them.
            FileReadFailed: A file cannot be read.
        """
        edited = await copy_assets(
            context.files,
            context.formats,
            self._handler,
            arguments.source_path,
            arguments.target_path,
            tuple(_asset_pick(asset) for asset in arguments.assets),
        )
        value = {
            "copied": list(edited.changed),
            "copied_count": edited.applied,
            "warnings": list(edited.warnings),
        }
        return ToolResult(value, is_action=True)

    def path_of(self, arguments: Any) -> str | None:
        """Return the path of the file that is written."""
        return str(arguments.target_path)


def styles_tools(handler: FormatHandler) -> list[Tool]:
    """Return the tools for a format's styles; their classes carry its name."""
    tools: list[Tool] = []
    for base, word in ((GetStylesTool, "get_styles"), (CopyAssetsTool, "copy_assets")):
        attributes = {"name": f"{handler.name}_{word}", "__doc__": base.__doc__}
        tool = type(f"{handler.wire_name}{base.__name__}", (base,), attributes)(handler)
        assert isinstance(tool, Tool)
        tools.append(tool)
    return tools


def _asset_pick(asset: str | Asset) -> AssetPick:
    if isinstance(asset, str):
        return AssetPick(asset)
    return AssetPick(asset.asset_id, asset.target)
