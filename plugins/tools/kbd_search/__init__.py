"""The tools that search, list, read and summarize the workbench's documents.

They are the workspace API's tools under names that servers accept; what they return has its shapes.
`document_tools` holds them.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.tools import Tool
from kbd_search.document_tools import GetDocumentTool, ListDocumentsTool, SearchTool, SummarizeTool

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools() -> Sequence[Tool]:
    """Return the tools."""
    return [SearchTool(), ListDocumentsTool(), GetDocumentTool(), SummarizeTool()]
