"""Tool that finds tables on pages: `<name>_tables`, for formats that are `LaidOut`."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.editing import own_file
from kbd.formats import FormatHandler, FoundTable, LaidOut, LayoutPart, Region
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["TablesTool", "tables_tool"]

Show = Annotated[
    LayoutPart,
    Meta(
        description="tables: cells row by row; text: the pages as they look, columns kept apart by "
        "blanks; words: each word with its box."
    ),
]


class TablesTool(Tool):
    """Tool that finds the tables on pages of one format, or shows where its text stands.

    Args:
        handler: The format.
    """

    effect: ClassVar[Effect] = Effect.READ

    def __init__(self, handler: FormatHandler) -> None:
        assert isinstance(handler, LaidOut)
        self._handler = handler
        self.description = (
            f"Find the tables on pages of a {handler.name} file: the texts of their cells row by "
            "row, with or without lines drawn. A cell that spans several has its text in the first "
            "one. Use it instead of read_file wherever figures stand in columns; to put them into "
            "a workbook, write the cells as they are. Nothing is changed."
        )
        self.arguments = _arguments(handler.name, handler.coordinates)

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Return `{tables}`, `{text}` or `{words}`, with warnings and which part it is.

        Raises:
            ValidationFailed: The file is of another format, or there is no such page.
            NotFound: There is no such file.
            FileReadFailed: It cannot be read.
        """
        file = own_file(context.formats, self._handler, context.files.get(arguments.path))
        given = msgspec.structs.asdict(arguments)
        show: LayoutPart = arguments.show
        region = Region(**{name: given[name] for name in given if name not in ("path", "show")})
        found = await context.formats.layout(file, region, show)
        value: dict[str, Any] = {}
        match show:
            case "tables":
                value["tables"] = [_plain_table(table) for table in found.tables]
            case "text":
                value["text"] = found.text
            case "words":
                value["words"] = [[word.text, word.page, *word.box] for word in found.words]
        if found.warnings:
            value["warnings"] = list(found.warnings)
        if found.chunk_info is not None:
            value["chunk_info"] = msgspec.to_builtins(found.chunk_info)
        return ToolResult(value)


def _plain_table(table: FoundTable) -> dict[str, Any]:
    """Return a table as a model is shown it; what is plain is left out."""
    value: dict[str, Any] = {"page": table.page, "rows": [list(row) for row in table.rows]}
    if not table.is_ruled:
        value["found_by"] = "gaps between columns"
    if table.goes_on:
        value["goes_on"] = "with the last table of the page before"
    if table.merged:
        value["merged"] = [msgspec.to_builtins(place) for place in table.merged]
    return value


def _arguments(name: str, coordinates: tuple[str, ...]) -> type[msgspec.Struct]:
    """Return the record of the arguments: a file, and the coordinates of its format."""
    types = {field.name: field.type for field in msgspec.structs.fields(Region)}
    places = [
        (each, Annotated[types[each], Meta(description="Which part, as the map counts.")], None)
        for each in coordinates
    ]
    return msgspec.defstruct(
        f"{name.title()}TablesArguments",
        [
            ("path", Annotated[str, Meta(description="The file's name in the workbench.")]),
            *places,
            ("show", Show, "tables"),
        ],
        frozen=True,
        forbid_unknown_fields=True,
        module=__name__,
    )


def tables_tool(handler: FormatHandler) -> Tool:
    """Return the tool that finds tables of a format; its class carries the format's name."""
    attributes = {"name": f"{handler.name}_tables", "__doc__": TablesTool.__doc__}
    tool = type(f"{handler.wire_name}Tables", (TablesTool,), attributes)(handler)
    assert isinstance(tool, Tool)
    return tool
