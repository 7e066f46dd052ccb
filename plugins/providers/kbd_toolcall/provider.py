"""The provider `toolcall`: one turn of a model that can only write text.

What a model says, shown as it comes: what stands before its first block; the rest at the end.

A block is never shown, nor what may become one. Where it ends is sure only when all is there.
"""

from collections.abc import Sequence
from typing import ClassVar

import anyio.to_thread
import msgspec

from kbd.errors import ProviderNotConfigured
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
    ToolSchema,
)
from kbd.toolcall.tags import shown_length
from kbd_toolcall.protocol import in_protocol, protocol_told, tools_told
from kbd_toolcall.replies import reply_of

__all__ = ["Hearing", "ToolcallProvider"]


class Hearing:
    """Takes the text of a reply in pieces and passes on what is no block.

    Args:
        emit: Takes what may be shown.
    """

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting = ""
        self._shown = 0
        self._is_over = False

    def __call__(self, piece: str) -> None:
        """Take a piece."""
        if self._is_over:
            return
        waiting = self._waiting + piece
        length = shown_length(waiting)
        self._show(waiting[:length])
        self._waiting = waiting[length:]
        # What waits longer than any beginning of a tag is one.
        self._is_over = len(self._waiting) > MOST_WAITING

    def finish(self, text: str) -> None:
        """Pass on what is left of the reply's text: no more comes."""
        self._show(text[self._shown :])

    def _show(self, text: str) -> None:
        if text:
            self._shown += len(text)
            self._emit(text)


MOST_WAITING = 64
"""More characters than the beginning of a tag can have."""


LONG_CHARACTERS = 256 * 1024
"""A longer reply is read in a thread: it may take longer than the event loop should wait."""


class ToolcallProvider(Provider):
    """Models of other providers that call no functions, driven by blocks of text.

    What it sends has no tools, so a server that knows none takes it. A request without tools whose
    conversation has no calls is passed on as it is.

    Args:
        is_brief: Whether to tell of each tool only the beginning, for a small window.
    """

    name: ClassVar[str] = "toolcall"
    takes_any_model: ClassVar[bool] = True
    wraps: ClassVar[bool] = True
    prompt_tokens: ClassVar[int] = 400

    def __init__(self, *, is_brief: bool = False) -> None:
        self._is_brief = is_brief
        # The last tools, as the model is told of them: they stay the same through a chain.
        self._told: tuple[tuple[ToolSchema, ...], str] = ((), "")

    def models(self) -> Sequence[ModelInfo]:
        """Return none: whatever another provider has can be wrapped."""
        return ()

    def status(self) -> ProviderStatus:
        """Return that it is ready; what is missing is missing of the provider that it wraps."""
        return ProviderStatus(configured=True, leaves_machine=False)

    def told_bytes(self, tools: Sequence[ToolSchema]) -> int | None:
        """Return how many bytes the model is told of tools."""
        return len(self._tools_told(tuple(tools)).encode())

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn; see `Provider.complete` for what it raises."""
        if access.ask is None:
            raise ProviderNotConfigured("A model to wrap is named: toolcall:provider:model.")
        if not request.tools and not any(message.tool_calls for message in request.messages):
            return await access.ask(request, emit)
        told = protocol_told(self._tools_told(request.tools)) if request.tools else ""
        asked = msgspec.structs.replace(
            request, messages=in_protocol(request, told), tools=(), tool_choice="none"
        )
        hearing = Hearing(emit)
        said = await access.ask(asked, hearing)
        if len(said.text) > LONG_CHARACTERS:
            reply = await anyio.to_thread.run_sync(reply_of, said, request)
        else:
            reply = reply_of(said, request)
        hearing.finish(reply.text)
        return reply

    def _tools_told(self, tools: tuple[ToolSchema, ...]) -> str:
        if self._told[0] != tools:
            self._told = tools, tools_told(tools, is_brief=self._is_brief)
        return self._told[1]
