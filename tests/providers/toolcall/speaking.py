"""A model that can only write text, and what is lent to the provider that wraps it."""

from collections.abc import Sequence

import msgspec

from kbd.messages import Message, Usage
from kbd.providers import Ask, Emit, ModelReply, ModelRequest, ToolSchema
from kbd_toolcall.provider import ToolcallProvider

__all__ = ["READ", "SEARCH", "Speaker", "Wrapping", "asked", "turn"]

READ = ToolSchema(
    "read_file",
    "Read a file.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file."},
            "line_start": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        },
        "required": ["path"],
    },
)
SEARCH = ToolSchema(
    "workspace_search",
    "Search documents.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}, "top_k": {"type": "integer", "default": 5}},
        "required": ["query"],
    },
)


class Wrapping(msgspec.Struct, frozen=True):
    """An `Access` that lends the wrapped provider and nothing else."""

    ask: Ask | None
    api_key: None = None
    base_url: None = None
    http_client: None = None
    timeout_s: float = 5.0


class Speaker:
    """A model whose replies are written down; it says them in small pieces.

    Attributes:
        requests: What it was asked, in order.
    """

    def __init__(self, *replies: str | ModelReply, piece: int = 3) -> None:
        self._replies, self._piece = list(replies), piece
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest, emit: Emit) -> ModelReply:
        """Say the next reply."""
        said = self._replies[len(self.requests)]
        self.requests.append(request)
        reply = ModelReply(said, usage=Usage(9, 4)) if isinstance(said, str) else said
        for start in range(0, len(reply.text), self._piece):
            emit(reply.text[start : start + self._piece])
        return reply


def asked(*messages: Message, tools: Sequence[ToolSchema] = (READ, SEARCH)) -> ModelRequest:
    """Return a turn for a wrapped model."""
    return ModelRequest("p:m", messages or (Message("user", "Hello"),), tuple(tools))


async def turn(
    *replies: str | ModelReply, request: ModelRequest | None = None, piece: int = 3
) -> tuple[ModelReply, str, ModelRequest]:
    """Return what a reply becomes, what was heard of it, and what the model was asked."""
    heard: list[str] = []
    speaker = Speaker(*replies, piece=piece)
    reply = await ToolcallProvider().complete(
        request or asked(), Wrapping(speaker.ask), heard.append
    )
    return reply, "".join(heard), speaker.requests[0]
