"""Programs of this machine that tools need: found on the search path each time they are wanted.

So one that is installed now is used now. What prints documents has settings of its own
(`kbd.core.plugins.renderer`).
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from kbd.errors import ToolWorkerUnavailable
from kbd.tools import Tool

__all__ = ["find_program", "is_equipped", "program_path"]


def find_program(tool: Tool) -> Path:
    """Find the program that a tool needs. Looks at the disk.

    Raises:
        ToolWorkerUnavailable: It is not installed, or the tool names none.
    """
    found = program_path(tool)
    if found is None:
        name = tool.program or "no program"
        msg = f"{tool.name} needs {name}, which is not installed on this machine"
        actions = (f"install {name}",)
        raise ToolWorkerUnavailable(msg, retryable=False, actions=actions)
    return found


def program_path(tool: Tool) -> Path | None:
    """Return where the program is that a tool needs; None for none. Looks at the disk."""
    found = shutil.which(tool.program) if tool.program else None
    return None if found is None else Path(found).absolute()


def is_equipped(tool: Tool, can_print: Callable[[], bool]) -> bool:
    """Tell whether the programs are there that a tool needs. Looks at the disk.

    Args:
        tool: The tool.
        can_print: Tells whether there is one that prints documents.
    """
    if tool.program and program_path(tool) is None:
        return False
    return not tool.prints or can_print()
