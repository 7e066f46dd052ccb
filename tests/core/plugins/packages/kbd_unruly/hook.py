"""A plugin whose hook misbehaves: the settings say how."""

from typing import Any

from kbd import hookimpl
from kbd.tools import Tool

from . import misbehave


@hookimpl
def kbd_register_tools(settings: dict[str, Any]) -> list[Tool]:
    """Misbehave."""
    tools: list[Tool] = misbehave(settings["act"])
    return tools
