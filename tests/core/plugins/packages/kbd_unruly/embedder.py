"""An embedder that misbehaves: the first text says how."""

from typing import Any, ClassVar

import anyio

from kbd import hookimpl
from kbd.providers import Access, Embedder, Embeddings, EmbedRequest, ProviderStatus

from . import misbehave


class Unruly(Embedder):
    """The embedder."""

    name: ClassVar[str] = "unruly_embedder"

    def status(self) -> ProviderStatus:
        """Be set up."""
        return ProviderStatus(configured=True, leaves_machine=False)

    def default_model(self) -> str:
        """Name a model."""
        return "m"

    async def fingerprint(self, model: str) -> str:
        """Misbehave, if the model is called so."""
        if model == "hang":
            await anyio.sleep(3600)
        told: str = misbehave(model)
        return told

    async def embed(self, request: EmbedRequest, access: Access) -> Embeddings:
        """Do what the text says."""
        vectors: Embeddings = misbehave(request.texts[0])
        return vectors

    async def aclose(self) -> None:
        """Misbehave."""
        misbehave("exit")


@hookimpl
def kbd_register_embedders(settings: dict[str, Any]) -> list[Embedder]:
    """Declare the embedder."""
    return [Unruly()]
