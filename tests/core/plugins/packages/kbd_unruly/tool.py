"""A tool that misbehaves: in the daemon, in what it says of itself, or in its worker."""

from typing import Any

import anyio
import msgspec

from kbd import hookimpl
from kbd.tools import CallLimits, Tool, ToolContext, ToolResult
from kbd.types import Effect

from . import misbehave


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to do."""

    act: str
    worker: bool = False


class Unruly(Tool):
    """The tool."""

    name = "unruly"
    description = "Misbehave."
    arguments = Act
    effect = Effect.READ
    limits = CallLimits(wall_s=1)

    async def run(self, context: ToolContext, arguments: Any) -> ToolResult:
        """Do it."""
        if arguments.act == "fine":
            return ToolResult("fine")
        if arguments.act == "hang":
            await anyio.sleep(3600)
        if arguments.worker:
            return ToolResult(await context.isolate(misbehave_apart, {"act": arguments.act}))
        result: ToolResult = misbehave(arguments.act)
        return result


def misbehave_apart(act: str) -> str:
    """Misbehave in a worker."""
    return str(misbehave(act))


@hookimpl
def kbd_register_tools() -> list[Tool]:
    """Declare the tool."""
    return [Unruly()]
