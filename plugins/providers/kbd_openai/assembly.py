"""The pieces of a stream become a reply. Pure: no network, no client library.

A reply is complete when a finish reason arrived; whatever ends before that was cut short, however
cleanly the connection was closed. Shapes are checked here, for the client library checks none.
What real servers do and what is made of it:

    no id, or one id for two calls     made up from the conversation, the same each time
    a new id under an index in use     a new call
    the id or the name sent again      ignored
    no index                           the call last begun, or a new one if it has a name
    no arguments                       `{}`
    arguments cut by `length`          kept as they are; the core repairs them
    no usage                           estimated
"""

from hashlib import sha256

import msgspec

from kbd.errors import ProviderUnavailable
from kbd.messages import ToolCall, Usage
from kbd.providers import Emit, ModelReply, ModelRequest
from kbd.types import CallId

__all__ = ["Assembly"]

MAX_REPLY_CHARACTERS = 32 * 1024 * 1024
"""Far above what a model writes in one turn; a server that never stops must not fill memory."""

CHARACTERS_PER_TOKEN = 4
"""The usual rule of thumb for English text, used only where the server gives no usage."""


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallPiece] | None = None


class _Choice(msgspec.Struct):
    index: int | None = 0
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None


class _Call:
    """A call in the making."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.pieces: list[str] = []


class Assembly:
    """Collects the chunks of one turn.

    Args:
        request: The turn, for made-up ids and estimates.
        emit: Takes text as it comes.
    """

    def __init__(self, request: ModelRequest, emit: Emit) -> None:
        self._request = request
        self._emit = emit
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._usage: Usage | None = None
        self._finish_reason: str | None = None
        self._characters = 0

    def feed(self, chunk: object) -> None:
        """Take a chunk, as plain JSON values.

        Raises:
            ProviderUnavailable: Its shape makes no sense, or the reply is far too long.
        """
        try:
            piece = msgspec.convert(chunk, _Chunk)
        except msgspec.ValidationError as error:
            msg = f"The answer has a shape that makes no sense ({error})."
            raise ProviderUnavailable(msg) from None
        if piece.usage:
            self._usage = Usage(piece.usage.prompt_tokens or 0, piece.usage.completion_tokens or 0)
        for choice in piece.choices or ():
            if not choice.index:
                self._take(choice)

    def reply(self) -> ModelReply:
        """Return the reply once the stream has ended.

        Raises:
            ProviderUnavailable: It ended before its finish reason: it was cut short.
        """
        if self._finish_reason is None:
            raise ProviderUnavailable("The answer was cut short: it ended without saying why.")
        if self._finish_reason == "error":
            raise ProviderUnavailable("The provider failed in the middle of its answer.")
        text = "".join(self._text)
        return ModelReply(
            text=text,
            tool_calls=self._finished_calls(),
            finish_reason=self._finish_reason,
            usage=self._usage or self._estimate(),
            usage_is_estimate=self._usage is None,
        )

    def _take(self, choice: _Choice) -> None:
        delta = choice.delta or _Delta()
        text = (delta.content or "") + (delta.refusal or "")
        if text:
            self._count(text)
            self._text.append(text)
            self._emit(text)
        for piece in delta.tool_calls or ():
            self._take_call(piece)
        self._finish_reason = choice.finish_reason or self._finish_reason

    def _take_call(self, piece: _CallPiece) -> None:
        function = piece.function or _Function()
        call = self._call_for(piece, function)
        call.id = call.id or piece.id or ""
        call.name = call.name or function.name or ""
        if function.arguments:
            self._count(function.arguments)
            call.pieces.append(function.arguments)

    def _call_for(self, piece: _CallPiece, function: _Function) -> _Call:
        if piece.index is not None:
            known = next((c for c in reversed(self._calls) if c.index == piece.index), None)
            begins = known is None or bool(piece.id and known.id and piece.id != known.id)
        else:
            known = self._calls[-1] if self._calls else None
            begins = known is None or bool(
                piece.id != known.id if piece.id else function.name  # the rest follows its start
            )
        if known is None or begins:
            known = _Call(piece.index)
            self._calls.append(known)
        return known

    def _finished_calls(self) -> tuple[ToolCall, ...]:
        taken = {call.id for message in self._request.messages for call in message.tool_calls}
        finished: list[ToolCall] = []
        for position, call in enumerate(self._calls):
            if not call.name:
                raise ProviderUnavailable("The answer calls a tool without naming it.")
            name = CallId(call.id)
            if not name or name in taken:
                name = self._made_up_id(position, call.id)
            taken.add(name)
            arguments = "".join(call.pieces)
            finished.append(ToolCall(name, call.name, arguments if arguments.strip() else "{}"))
        return tuple(finished)

    def _made_up_id(self, position: int, given: str) -> CallId:
        """Name a call by the conversation and its place, so that a repeated turn says the same."""
        conversation = msgspec.msgpack.encode((self._request.messages, position, given))
        return CallId(f"call_{sha256(conversation).hexdigest()[:24]}")

    def _estimate(self) -> Usage:
        sent = len(msgspec.json.encode((self._request.messages, self._request.tools)))
        return Usage(sent // CHARACTERS_PER_TOKEN, -(-self._characters // CHARACTERS_PER_TOKEN))

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > MAX_REPLY_CHARACTERS:
            raise ProviderUnavailable("The answer does not end.")
