"""The tools for files: list, look at, map, read, write, copy, compare them; earlier results.

Their descriptions are built at start from the formats that are installed, so that a model is told
to look at a file's map first and which coordinates each format understands.

`file_tools` holds them.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.tools import FormatCatalog, Tool
from kbd_files.file_tools import (
    CopyFile,
    GetFileChanges,
    GetFileInfo,
    GetFileMap,
    ListFiles,
    ReadFile,
    RecallToolResult,
    WriteTextFile,
)

__all__ = ["kbd_register_tools"]


@hookimpl
def kbd_register_tools(formats: FormatCatalog) -> Sequence[Tool]:
    """Return the file tools, their descriptions written for the installed formats."""
    return [
        ListFiles(),
        GetFileInfo(),
        GetFileMap(formats),
        ReadFile(formats),
        WriteTextFile(formats),
        CopyFile(),
        GetFileChanges(formats),
        RecallToolResult(),
    ]
