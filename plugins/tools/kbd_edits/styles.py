"""`<name>_get_styles` and `<name>_copy_assets`: how a file looks, and how another one gets that."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.editing import copy_assets, own_file
from kbd.formats import AssetPick, FormatHandler
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["Asset", "CopyAssetsTool", "GetStylesTool", "styles_tools"]

_MOST_ASSETS = 200

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
            max_length=_MOST_ASSETS,
        ),
    ]


class GetStylesTool(Tool):
    """The tool that tells how files of one format look.

    Args:
        handler: The format.
    """

    arguments = StylesArguments
    effect: ClassVar[Effect] = Effect.READ

    def __init__(self, handler: FormatHandler) -> None:
        self._handler = handler
        self.description = (
            f"Get the styles of a {handler.name} file, and under `assets` what of it "
            f"{handler.name}_copy_assets can copy into another file. Nothing is changed."
        )

    async def run(self, context: ToolContext, arguments: StylesArguments) -> ToolResult:
        """Return what the format tells of its styles.

        Raises:
            ValidationFailed: The file is of another format, or there is no such sheet.
            NotFound: There is no such file.
            FileReadFailed: It cannot be read.
        """
        file = own_file(context.formats, self._handler, context.files.get(arguments.path))
        return ToolResult(await context.formats.get_styles(file, arguments.sheet))


class CopyAssetsTool(Tool):
    """The tool that carries looks and media of one format's files into others.

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
            tuple(_pick(asset) for asset in arguments.assets),
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


def _pick(asset: str | Asset) -> AssetPick:
    if isinstance(asset, str):
        return AssetPick(asset)
    return AssetPick(asset.asset_id, asset.target)
