"""Assembly of a streamed reply from its pieces. Pure: no network, no client library.

A reply is complete when a finish reason arrived; whatever ends before that was cut short, however
cleanly the connection was closed. `chat` and `responses` read what servers send and put the pieces
here, so that both protocols keep the same promises. What real servers do and what is made of it:

    no id, or one id for two calls     made up from the conversation, the same each time
    no arguments                       `{}`
    arguments cut by `length`          kept as they are; the core repairs them
    no usage                           estimated
    an answer without end              refused
"""

from hashlib import sha256

import msgspec

from kbd.errors import ProviderUnavailable
from kbd.messages import ToolCall, Usage
from kbd.providers import Emit, MalformedReply, ModelReply, ModelRequest
from kbd.types import CallId

__all__ = ["MAX_CALLS", "Assembly", "PartialCall"]

MAX_REPLY_BYTES = 10 * 1024 * 1024
"""Ten times what a model can write in one turn (2026), texts, calls and their names together."""

MAX_CALLS = 1_000
"""Dozens of calls in one turn are real."""

MAX_REASON_CHARACTERS = 100
"""Of the reason why a turn ended; those of real servers are a word."""

CHARACTERS_PER_TOKEN = 4
"""The usual rule of thumb for English text, used only where the server gives no usage."""


class PartialCall:
    """A tool call while its pieces arrive.

    Args:
        place: The index or id by which the server names it while it writes it.
    """

    def __init__(self, place: int | str | None) -> None:
        self.place = place
        self.id = ""
        self.name = ""
        # In UTF-8: a text takes four bytes a character for the sake of one that needs them.
        self.arguments = bytearray()


class Assembly:
    """Collects one turn.

    Args:
        request: The turn, for made-up ids and estimates.
        emit: Takes text as it comes.

    Attributes:
        calls: The calls so far, in order.
        progress: How many pieces have come that carry a part of the answer; whatever a server
            sends only to keep a connection open is none.
        usage: What the server says that the turn consumed, once it did.
        finish_reason: Why the turn ended, once it did.
    """

    def __init__(self, request: ModelRequest, emit: Emit) -> None:
        self._request = request
        self._emit = emit
        self._text = bytearray()
        self._size_bytes = 0
        self.calls: list[PartialCall] = []
        self._calls_by_place: dict[int | str | None, PartialCall] = {}
        self.progress = 0
        self.usage: Usage | None = None
        self.finish_reason: str | None = None

    def add_text(self, text: str | None) -> None:
        """Add a piece of text and emit it.

        Raises:
            MalformedReply: The reply is far too long.
        """
        if text:
            self._text += self._counted(text)
            self._emit(text)

    def begin_call(self, place: int | str | None) -> PartialCall:
        """Begin a call.

        Raises:
            MalformedReply: There are far too many.
        """
        if len(self.calls) >= MAX_CALLS:
            raise MalformedReply("the answer does not end: it makes ever more calls")
        self.progress += 1
        call = self._calls_by_place[place] = PartialCall(place)
        self.calls.append(call)
        return call

    def call_at(self, place: int | str | None) -> PartialCall | None:
        """Return the call that was begun last under a place."""
        return self._calls_by_place.get(place)

    def name_call(self, call: PartialCall, call_id: str | None, name: str | None) -> None:
        """Set a call's id and name, where it has none yet.

        Raises:
            MalformedReply: The reply is far too long.
        """
        if call_id and not call.id:
            self._counted(call_id)
            call.id = call_id
        if name and not call.name:
            self._counted(name)
            call.name = name

    def add_arguments(self, call: PartialCall, arguments: str | None) -> None:
        """Add a piece of a call's arguments.

        Raises:
            MalformedReply: The reply is far too long.
        """
        if arguments:
            call.arguments += self._counted(arguments)

    def note_thinking(self) -> None:
        """Note that a piece has come of what a model thinks: no part of the text, but progress."""
        self.progress += 1

    def finish(self, reason: str) -> None:
        """Set why the turn ended; told again it is no progress."""
        self.progress += self.finish_reason is None
        self.finish_reason = reason[:MAX_REASON_CHARACTERS]

    def reply(self) -> ModelReply:
        """Return the reply once the stream has ended.

        Raises:
            ProviderUnavailable: It ended before its finish reason: it was cut short.
        """
        if self.finish_reason is None:
            raise ProviderUnavailable("the answer was cut short: it ended without saying why")
        if self.finish_reason == "error":
            raise ProviderUnavailable("the provider failed in the middle of its answer")
        return ModelReply(
            text=self._text.decode(),
            tool_calls=self._finished_calls(),
            finish_reason=self.finish_reason,
            usage=self.usage or self._estimate(),
            usage_is_estimate=self.usage is None,
        )

    def _finished_calls(self) -> tuple[ToolCall, ...]:
        taken = {call.id for message in self._request.messages for call in message.tool_calls}
        finished: list[ToolCall] = []
        for position, call in enumerate(self.calls):
            if not call.name:
                raise MalformedReply("the answer calls a tool without naming it")
            name = CallId(call.id)
            # Some servers give no id, or the same one in each turn: results would be mixed up.
            if not name or name in taken:
                name = self._made_up_id(position, call.id)
            taken.add(name)
            arguments = call.arguments.decode()
            finished.append(ToolCall(name, call.name, arguments if arguments.strip() else "{}"))
        return tuple(finished)

    def _made_up_id(self, position: int, given: str) -> CallId:
        """Name a call by the conversation and its place, so that a repeated turn says the same."""
        conversation = msgspec.msgpack.encode((self._request.messages, position, given))
        return CallId(f"call_{sha256(conversation).hexdigest()[:24]}")

    def _estimate(self) -> Usage:
        tools = [(tool.name, tool.description, tool.parameters) for tool in self._request.tools]
        sent = len(msgspec.json.encode((self._request.messages, tools)))
        return Usage(sent // CHARACTERS_PER_TOKEN, -(-self._size_bytes // CHARACTERS_PER_TOKEN))

    def _counted(self, text: str) -> bytes:
        """Return a piece of the reply in UTF-8; lone surrogates, which it has not, are replaced."""
        self.progress += 1
        data = text.encode("utf-8", "replace")
        self._size_bytes += len(data)
        if self._size_bytes > MAX_REPLY_BYTES:
            msg = f"the answer does not end: it says more than {MAX_REPLY_BYTES:,} bytes"
            raise MalformedReply(msg)
        return data
