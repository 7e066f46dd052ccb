"""kbd's messages and tools as the chat completions want them."""

from typing import Any

import msgspec

from kbd.messages import Message, ToolCall
from kbd.providers import ModelRequest, ToolSchema

__all__ = ["body"]


def body(request: ModelRequest, *, official: bool) -> dict[str, Any]:
    """Return the body of a request.

    Args:
        request: The turn.
        official: Whether it goes to OpenAI itself, whose newer models refuse `max_tokens`;
            other servers often know nothing else.
    """
    fields: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        fields["tools"] = [_tool(tool) for tool in request.tools]
        fields["tool_choice"] = request.tool_choice
    if request.max_output_tokens is not None:
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
    function = {"name": call.name, "arguments": _well_formed(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _well_formed(arguments: str) -> str:
    """Return arguments that may be sent back.

    Some servers parse the history, and answer 500 for ever once it holds a call that was cut.
    """
    try:
        parsed = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return "{}"
    return arguments if isinstance(parsed, dict) else "{}"


def _tool(tool: ToolSchema) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}
