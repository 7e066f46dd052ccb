"""Tool that prints a file into a new one: `print_to_<suffix>`, for formats that are `Printable`."""

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.editing import suffix_names
from kbd.errors import ValidationFailed
from kbd.formats import FormatHandler, Previewable, Printable
from kbd.tools import FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["PrintArguments", "PrintTool", "print_tools"]


class PrintArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, and the new one that it is printed into."""

    path: Annotated[str, Meta(description="The file's name in the workbench.")]
    target_path: Annotated[
        str, Meta(description="The new file's name, with the suffix that is printed to.")
    ]


class PrintTool(Tool):
    """Tool that has an office program print files into new ones of one format.

    Args:
        formats: The installed formats; the description names those that are printed.
        shown_by: The format that documents are printed in.
    """

    arguments = PrintArguments
    effect: ClassVar[Effect] = Effect.WRITE
    prints: ClassVar[bool] = True
    wire_method: ClassVar[str] = "FilePrint"

    def __init__(self, formats: FormatCatalog, shown_by: FormatHandler) -> None:
        assert isinstance(shown_by, Previewable)
        self._suffix = shown_by.print_suffix
        printed = [each for each in formats.handlers() if isinstance(each, Printable)]
        names = ", ".join(f"{each.name} ({suffix_names(each)})" for each in printed)
        self.description = (
            f"Print a file into a new {shown_by.name} file in the draft: what to call where a "
            f"document, workbook or deck is to be converted to {shown_by.name}. It prints the file "
            "as it is now, so edit first. Breaks of lines and pages may differ from other "
            f"programs. Read `warnings` in the result. Formats: {names}."
        )

    async def run(self, context: ToolContext, arguments: PrintArguments) -> ToolResult:
        """Print the file; return `{path, source, page_count, created, printed_by, warnings}`.

        Raises:
            ValidationFailed: The file's format is not printed, or the new file exists already, or
                has another suffix.
            NotFound: There is no such file.
            FileReadFailed: It cannot be read, or not printed.
            ToolWorkerUnavailable: No program is there that prints.
        """
        file = context.files.get(arguments.path)
        name = context.files.new(arguments.target_path)
        if not name.casefold().endswith(self._suffix):
            raise ValidationFailed(
                f"target_path is {name!r}, and what is printed is a {self._suffix} file; give a "
                f"name that ends so"
            )
        if file.name.casefold().endswith(self._suffix):
            raise ValidationFailed(f"{file.name} is a {self._suffix} file already; nothing to do")
        staged = context.files.stage(self._suffix)
        printed = await context.formats.print(file, staged)
        context.files.put(name, staged, notes=printed.warnings)
        value = {
            "path": name,
            "source": file.name,
            "page_count": printed.page_count,
            "created": True,
            "printed_by": printed.program,
            "warnings": list(printed.warnings),
        }
        return ToolResult(value, is_action=True)

    def path_of(self, arguments: Any) -> str | None:
        """Return the path of the file that is written."""
        return str(arguments.target_path)


def print_tools(formats: FormatCatalog) -> list[Tool]:
    """Return the tool that prints, where there is a format to print in and one to print from."""
    handlers = formats.handlers()
    shown_by = next((h for h in handlers if isinstance(h, Previewable) and h.print_suffix), None)
    if shown_by is None or not any(isinstance(each, Printable) for each in handlers):
        return []
    assert isinstance(shown_by, Previewable)
    name = f"print_to_{shown_by.print_suffix.removeprefix('.')}"
    tool = type("PrintTo", (PrintTool,), {"name": name, "__doc__": PrintTool.__doc__})
    made = tool(formats, shown_by)
    assert isinstance(made, Tool)
    return [made]
