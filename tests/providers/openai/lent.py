"""What the daemon lends to a provider, made by hand."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import msgspec

from kbd.messages import Message
from kbd.providers import Ask, ModelRequest

KEY = "sk-very-secret-0123456789"


class Lent(msgspec.Struct, frozen=True):
    """An `Access` of plain values."""

    http_client: httpx2.AsyncClient
    base_url: str | None
    api_key: str | None = KEY
    timeout_s: float = 5.0
    ask: Ask | None = None


@asynccontextmanager
async def lending(port: int, timeout_s: float = 5.0) -> AsyncIterator[Lent]:
    """Lend access to a server on this machine."""
    async with httpx2.AsyncClient(verify=False) as client:  # reading certificates costs 40 ms
        yield Lent(client, f"http://127.0.0.1:{port}/v1", timeout_s=timeout_s)


def asking(model: str, *messages: Message) -> ModelRequest:
    """Return a turn for a scripted model."""
    return ModelRequest(model=model, messages=messages or (Message("user", "Hello"),))
