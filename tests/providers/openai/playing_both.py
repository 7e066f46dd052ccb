"""What tests of both protocols share: a script played in one, and what comes of it."""

from collections.abc import Awaitable, Callable

import pytest

from kbd.errors import KbdError
from kbd.providers import ModelReply, ModelRequest
from kbd_openai import OpenAIProvider
from providers.openai.lent import asking, lending
from providers.openai.protocols import PROTOCOLS, Chat, Protocol, Responses
from providers.openai.scripted_server import (
    Answer,
    Connection,
    ScriptedServer,
    serving,
    streamed,
)

__all__ = ["Script", "both", "heard_of", "one_each", "playing"]

Script = Callable[[Connection, Protocol], Awaitable[None]]

one_each = pytest.mark.parametrize(
    ("kind", "anyio_backend"), [(Chat, "asyncio"), (Responses, "trio")], ids=["chat", "responses"]
)
"""The promise does not hang on the loop: each protocol on one backend."""

both = pytest.mark.parametrize("kind", PROTOCOLS)


def playing(kind: type[Protocol], script: Script) -> Answer:
    """Return an answer in a protocol, in the head and the clean end of a stream."""

    @streamed
    async def answer(connection: Connection) -> None:
        await script(connection, kind())

    return answer


async def heard_of(
    kind: type[Protocol], answer: Answer, request: ModelRequest | None = None, **lent: float
) -> tuple[ModelReply | KbdError, str, ScriptedServer]:
    """Return what an answer leads to, the text that was heard, and the server."""
    heard: list[str] = []
    provider = OpenAIProvider({"api": kind.api})
    async with serving(m=answer) as server, lending(server.port, **lent) as access:
        try:
            found: ModelReply | KbdError = await provider.complete(
                request or asking("m"), access, heard.append
            )
        except KbdError as error:
            found = error
    return found, "".join(heard), server
