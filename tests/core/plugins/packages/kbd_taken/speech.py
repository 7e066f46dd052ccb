"""A tool that says what it is told, as a plugin may in the daemon: printed, logged, and raised."""

import logging
from typing import Any

import anyio
import msgspec

from kbd import hookimpl
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import Effect

__all__ = ["kbd_register_tools"]


class Say(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to say, how often, and whether to fail with it."""

    text: str
    times: int = 1
    fails: bool = False


class Speech(Tool):
    """The tool."""

    name = "say"
    description = "Say something in the daemon."
    arguments = Say
    effect = Effect.READ

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Say it; a flood of it beside the event loop."""
        await anyio.to_thread.run_sync(_speak, arguments.text, arguments.times)
        if arguments.fails:
            raise RuntimeError(arguments.text)
        return ToolResult("said")


def _speak(text: str, times: int) -> None:
    log = logging.getLogger("taken")
    for _ in range(times):
        print(text)
        log.warning("told: %s", text)


@hookimpl
def kbd_register_tools() -> list[Tool]:
    """Declare the tool."""
    return [Speech()]
