"""One scripted turn in either protocol: what a server sends for text, calls, usage and the end."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from providers.openai.scripted_server import Connection

__all__ = ["PROTOCOLS", "Chat", "Protocol", "Responses"]


class Protocol(ABC):
    """How a server sends a turn; one object a turn.

    Attributes:
        api: The provider's setting for it.
        path: Where its requests go.
    """

    api: ClassVar[str]
    path: ClassVar[str]

    @abstractmethod
    async def say(self, connection: Connection, text: Any) -> None:
        """Send a piece of text."""

    @abstractmethod
    async def call(self, connection: Connection, call_id: str, name: str, *pieces: str) -> None:
        """Send a call, its arguments in pieces."""

    @abstractmethod
    async def finish(
        self, connection: Connection, reason: str = "stop", usage: tuple[int, int] | None = (5, 7)
    ) -> None:
        """Send the end with its reason (that of chat completions), and the usage."""


class Chat(Protocol):
    """Chat completions."""

    api = "chat"
    path = "/v1/chat/completions"

    def __init__(self) -> None:
        self._calls = -1

    async def say(self, connection: Connection, text: Any) -> None:
        """Send a piece of text."""
        await connection.delta(content=text)

    async def call(self, connection: Connection, call_id: str, name: str, *pieces: str) -> None:
        """Send a call, its arguments in pieces."""
        self._calls += 1
        function = {"name": name, "arguments": ""}
        await connection.delta(
            tool_calls=[{"index": self._calls, "id": call_id, "function": function}]
        )
        for piece in pieces:
            part = {"index": self._calls, "function": {"arguments": piece}}
            await connection.delta(tool_calls=[part])

    async def finish(
        self, connection: Connection, reason: str = "stop", usage: tuple[int, int] | None = (5, 7)
    ) -> None:
        """Send the end with its reason, and the usage."""
        await connection.delta(reason)
        if usage:
            spent = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
            await connection.event({"choices": [], "usage": spent})


class Responses(Protocol):
    """The Responses API."""

    api = "responses"
    path = "/v1/responses"

    def __init__(self) -> None:
        self._place = -1
        self._speaks = False

    async def say(self, connection: Connection, text: Any) -> None:
        """Send a piece of text."""
        if not self._speaks:
            self._place += 1
            item = {"type": "message", "id": f"m{self._place}", "content": []}
            await self._send(connection, "response.output_item.added", item=item)
        self._speaks = True
        await self._send(connection, "response.output_text.delta", delta=text, content_index=0)

    async def call(self, connection: Connection, call_id: str, name: str, *pieces: str) -> None:
        """Send a call, its arguments in pieces."""
        self._place, self._speaks = self._place + 1, False
        item = {"type": "function_call", "id": f"fc{self._place}", "name": name}
        item |= {"call_id": call_id, "arguments": ""}
        await self._send(connection, "response.output_item.added", item=item)
        for piece in pieces:
            await self._send(connection, "response.function_call_arguments.delta", delta=piece)
        whole = item | {"arguments": "".join(pieces)}
        await self._send(connection, "response.output_item.done", item=whole)

    async def finish(
        self, connection: Connection, reason: str = "stop", usage: tuple[int, int] | None = (5, 7)
    ) -> None:
        """Send the end with its reason, and the usage."""
        response: dict[str, Any] = {"status": "completed", "output": []}
        if reason == "length":
            response["status"] = "incomplete"
            response["incomplete_details"] = {"reason": "max_output_tokens"}
        if usage:
            response["usage"] = {"input_tokens": usage[0], "output_tokens": usage[1]}
        await self._send(connection, f"response.{response['status']}", response=response)

    async def _send(self, connection: Connection, kind: str, **fields: Any) -> None:
        place = {"output_index": self._place, "item_id": f"x{self._place}"}
        await connection.event({"type": kind, **place, **fields})


PROTOCOLS = (Chat, Responses)
