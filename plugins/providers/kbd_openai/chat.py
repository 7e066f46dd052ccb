"""Chat completions: the body of a request, and a reader of the streamed chunks. Pure.

What real servers send and what is made of it:

    a new id under an index in use     a new call
    the id or the name sent again      ignored
    no index                           the call last begun, or a new one if it has a name
    a finish reason and no end mark    complete
    calls together with `stop`         calls
    arguments as an object             their JSON text
"""

from typing import Any

import msgspec

from kbd.messages import Message, ToolCall
from kbd.providers import MalformedReply, ModelRequest, ToolSchema
from kbd_openai.assembly import Assembly, PartialCall
from kbd_openai.event_stream import decoded_event, is_told, read_usage, small_value
from kbd_openai.faults import ServerFault
from kbd_openai.request_body import effort_of, is_sent, is_strict, repaired_history

__all__ = ["ChatReader", "chat_body"]


def chat_body(request: ModelRequest, *, official: bool) -> dict[str, Any]:
    """Return the body of a request.

    Args:
        request: The turn.
        official: Whether it goes to OpenAI itself, whose newer models refuse `max_tokens`;
            other servers often know nothing else.
    """
    fields: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(message) for message in repaired_history(request.messages)],
        "stream": True,
    }
    if is_sent("usage", request):
        # Without it a stream of this API does not tell what it consumed.
        fields["stream_options"] = {"include_usage": True}
    if request.tools:
        fields["tools"] = [_tool(tool, request) for tool in request.tools]
    if is_sent("tool_choice", request):
        fields["tool_choice"] = request.tool_choice
    if effort := effort_of(request):
        fields["reasoning_effort"] = effort
    if is_sent("max_output_tokens", request):
        limit = "max_completion_tokens" if official else "max_tokens"
        fields[limit] = request.max_output_tokens
    return fields


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    if message.tool_calls:
        calls = [_call(call) for call in message.tool_calls]
        return {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    return {"role": message.role, "content": message.text}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _tool(tool: ToolSchema, request: ModelRequest) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if is_strict(tool, request):
        function |= {"parameters": tool.strict, "strict": True}
    else:
        function["parameters"] = tool.parameters
    return {"type": "function", "function": function}


_ABSENT = msgspec.Raw()


class _Function(msgspec.Struct):
    name: str | None = None
    # A text, or an object as it stands.
    arguments: msgspec.Raw = _ABSENT


class _CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallPiece] | None = None
    # What a model thinks, as DeepSeek, vLLM and llama.cpp name it; Ollama and OpenRouter; others.
    reasoning_content: msgspec.Raw = _ABSENT
    reasoning: msgspec.Raw = _ABSENT
    reasoning_details: msgspec.Raw = _ABSENT
    thinking: msgspec.Raw = _ABSENT


class _Choice(msgspec.Struct):
    index: int | None = 0
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT


class ChatReader:
    """Reader of the streamed chunks of one turn.

    Args:
        assembly: Where the pieces go.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    def feed(self, data: bytes) -> None:
        """Take the data of an event.

        Raises:
            MalformedReply: Its shape makes no sense, or the reply is far too long.
            ServerFault: It tells that the server failed.
            msgspec.DecodeError: It is no JSON; see `decoded_event`.
        """
        piece = decoded_event(data, _Chunk)
        if is_told(piece.error):
            raise ServerFault(small_value(piece.error))
        # With `include_usage` it comes last, in a chunk that has no choices.
        usage = read_usage(piece.usage, "prompt_tokens", "completion_tokens")
        self._assembly.usage = usage or self._assembly.usage
        for choice in piece.choices or ():
            # One choice was asked for; a further one would be mixed into its text.
            if not choice.index:
                self._take(choice)

    def _take(self, choice: _Choice) -> None:
        delta = choice.delta or _Delta()
        self._assembly.add_text((delta.content or "") + (delta.refusal or ""))
        thoughts = (
            delta.reasoning_content, delta.reasoning, delta.reasoning_details, delta.thinking
        )  # fmt: skip
        if any(map(is_told, thoughts)):
            self._assembly.note_thinking()
        for piece in delta.tool_calls or ():
            function = piece.function or _Function()
            call = self._call_for(piece, function)
            self._assembly.name_call(call, piece.id, function.name)
            self._assembly.add_arguments(call, _text_of(function.arguments))
        # A later chunk without a reason does not take it back.
        if choice.finish_reason:
            self._assembly.finish(choice.finish_reason)

    def _call_for(self, piece: _CallPiece, function: _Function) -> PartialCall:
        calls = self._assembly.calls
        if piece.index is not None:
            known = self._assembly.call_at(piece.index)
            begins = known is None or bool(piece.id and known.id and piece.id != known.id)
        else:
            known = calls[-1] if calls else None
            begins = known is None or bool(
                piece.id != known.id if piece.id else function.name  # the rest follows its start
            )
        return self._assembly.begin_call(piece.index) if known is None or begins else known


def _text_of(arguments: msgspec.Raw) -> str | None:
    """Return arguments as the text that they are, or are written as."""
    data = bytes(arguments)
    if not data.startswith(b'"'):
        if data.startswith(b"{"):
            return msgspec.json.format(data, indent=-1).decode()
        if data in (b"", b"null"):
            return None
        raise MalformedReply("the answer has a shape that makes no sense (arguments are no text)")
    return decoded_event(data, str)
