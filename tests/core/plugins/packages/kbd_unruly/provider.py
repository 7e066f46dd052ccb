"""A provider that misbehaves: the model's name says how."""

from collections.abc import Sequence
from typing import Any, ClassVar

import anyio
import msgspec

from kbd import hookimpl
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)

from . import misbehave


class Unruly(Provider):
    """The provider."""

    name: ClassVar[str] = "unruly"
    takes_any_model: ClassVar[bool] = True

    def __init__(self, settings: dict[str, Any]) -> None:
        self.of_itself = settings.get("of_itself", "")

    def models(self) -> Sequence[ModelInfo]:
        """Misbehave, or name no model."""
        models: Sequence[ModelInfo] = misbehave(self.of_itself) if self.of_itself else ()
        return models

    def status(self) -> ProviderStatus:
        """Misbehave, or be set up."""
        if self.of_itself:
            status: ProviderStatus = misbehave(self.of_itself)
            return status
        return ProviderStatus(configured=True, leaves_machine=False)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Do what the model's name says."""
        emit("partial")
        match request.model:
            case "fine":
                return ModelReply("fine")
            case "hang":
                await anyio.sleep(3600)
            case "late":
                await anyio.sleep(0.01)
                raise ValueError
            case "mutate":
                for tool in request.tools:
                    tool.parameters.clear()  # type: ignore[attr-defined]
                msgspec.structs.force_setattr(request, "messages", ())
                return ModelReply("fine")
        reply: ModelReply = misbehave(request.model)
        return reply

    async def validate(self, access: Access) -> None:
        """Misbehave."""
        misbehave("exit")


@hookimpl
def kbd_register_providers(settings: dict[str, Any]) -> list[Provider]:
    """Declare the provider."""
    return [Unruly(settings)]
