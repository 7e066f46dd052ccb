"""Tools that edit files, print them, describe their styles, and find the tables on their pages.

Each Editable format gets `<name>_operations`, each Styled one `<name>_get_styles` and
`<name>_copy_assets`, each LaidOut one `<name>_tables`; those that are Printable share one that
prints, and all that are shown as pictures one that saves those. A new format brings its handler and
gets its tools here; nothing is written twice.
`edit_tools` holds those that edit, and the schema of operations that a model is shown;
`layout_tools` that of tables, `print_tool` that which prints, `picture_tool` that which saves pages
as pictures.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import Editable, FormatHandler, LaidOut, Styled
from kbd.tools import FormatCatalog, Tool
from kbd_edits.edit_tools import operations_tool, styles_tools
from kbd_edits.layout_tools import tables_tool
from kbd_edits.picture_tool import picture_tools
from kbd_edits.print_tool import print_tools

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools(formats: FormatCatalog) -> Sequence[Tool]:
    """Return the editing tools of the installed formats."""
    tools = [tool for handler in formats.handlers() for tool in _tools_of(handler)]
    return [*tools, *print_tools(formats), *picture_tools(formats)]


def _tools_of(handler: FormatHandler) -> list[Tool]:
    """Return the tools that a handler's capabilities give."""
    tools: list[Tool] = []
    if isinstance(handler, Editable):
        tools.append(operations_tool(handler, handler.operations))
    if isinstance(handler, Styled):
        tools += styles_tools(handler)
    if isinstance(handler, LaidOut):
        tools.append(tables_tool(handler))
    return tools
