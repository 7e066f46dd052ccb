"""Plugin of a provider and a tool that answer at once, for `benchmarks/retention.py`.

The model does what the name of its rule says: one plan of one item, one call of a tool, one
sentence; or it fails. The tool writes its file in the daemon, so that such a run has all that a
run has but worker processes. `installed` puts it where a daemon finds it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import msgspec

from kbd import hookimpl
from kbd.errors import ValidationFailed
from kbd.messages import ToolCall
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)
from kbd.tools import Tool, ToolContext, ToolResult
from kbd.types import CallId, Effect, Phase

__all__ = ["FAILING", "MODEL", "installed", "kbd_register_providers", "kbd_register_tools"]

MODEL = "light:one"

FAILING = "what fails"
"""A request in which this stands is refused by the model."""

_PLAN = "## Task\nwrite\n## Items\n- [ ] 1. do made.txt\n## Notes\n- n"
_MADE = "made of it\n" * 50


class _Note(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to write.

    Args:
        path: Its name.
        content: Its text.
    """

    path: str
    content: str


class WriteNote(Tool):
    """Tool that writes a text file, in the daemon."""

    name = "write_note"
    description = "writes a text file"
    arguments = _Note
    effect = Effect.WRITE

    async def run(self, context: ToolContext, arguments: _Note) -> ToolResult:
        """Write it, anew or over the one that is there."""
        existing = context.files.find(arguments.path)
        name = existing.name if existing else context.files.new(arguments.path)
        staged = context.files.stage()
        staged.write_text(arguments.content, encoding="utf-8")
        context.files.put(name, staged)
        return ToolResult({"path": name}, is_action=True)


class Light(Provider):
    """Provider of a model that answers at once."""

    name: ClassVar[str] = "light"

    def models(self) -> Sequence[ModelInfo]:
        """Return the one model."""
        return (ModelInfo(MODEL, context_tokens=128_000),)

    def status(self) -> ProviderStatus:
        """Return that nothing is sent anywhere."""
        return ProviderStatus(configured=True, leaves_machine=False)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Answer a turn.

        Raises:
            ValidationFailed: What is asked is to fail.
        """
        del access, emit
        if any(FAILING in message.text for message in request.messages):
            raise ValidationFailed("the model does not answer")
        has_said = any(message.role == "assistant" for message in request.messages)
        match request.phase:
            case Phase.RESEARCH:
                return ModelReply(text="## Files\nnone")
            case Phase.PLAN:
                return ModelReply(text=_PLAN)
            case Phase.IMPLEMENT if not has_said:
                given = msgspec.json.encode({"path": "made.txt", "content": _MADE}).decode()
                return ModelReply(tool_calls=(ToolCall(CallId("c"), WriteNote.name, given),))
            case _:
                return ModelReply(text="All done.")


@hookimpl
def kbd_register_providers() -> list[Provider]:
    """Return the provider."""
    return [Light()]


@hookimpl
def kbd_register_tools() -> list[Tool]:
    """Return the tool."""
    return [WriteNote()]


def installed(folder: Path) -> dict[str, str]:
    """Describe the plugin in a folder; return the environment in which a daemon finds it."""
    described = folder / "light-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Name: light\nVersion: 1\n\n", encoding="utf-8")
    points = f"[kbd]\nlight = {__name__}\n"
    (described / "entry_points.txt").write_text(points, encoding="utf-8")
    return {"PYTHONPATH": f"{folder}:{Path(__file__).resolve().parent.parent}"}
