"""The tools that edit files by operations: one `<name>_operations` for each Editable format.

A new format brings its handler and gets its tool here; nothing is written twice. Tools for styles
join when formats offer them. `operations` is the tool, `schema` what a model is shown of it.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import Editable, FormatHandler
from kbd.tools import FormatCatalog, Tool
from kbd_edits.operations import operations_tool

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools(formats: FormatCatalog) -> Sequence[Tool]:
    """Return the editing tools of the installed formats."""
    return [tool for handler in formats.handlers() for tool in _tools_of(handler)]


def _tools_of(handler: FormatHandler) -> list[Tool]:
    """Return the tools that a handler's capabilities give; the place for those to come."""
    return [operations_tool(handler, handler.operations)] if isinstance(handler, Editable) else []
