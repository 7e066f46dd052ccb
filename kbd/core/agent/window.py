"""Context window of a model: the size of a request, and what is left out to make it fit. Pure.

Contract, section 5: context never overflows silently. A request is measured in bytes, and bytes
become tokens by what the model's provider counted of earlier ones.
"""

import re
from collections.abc import Sequence

import msgspec

from kbd.core.domain.workbench_state import Measured
from kbd.errors import ContextExhausted
from kbd.messages import Message, ToolCall
from kbd.providers import ModelInfo, ToolSchema

__all__ = [
    "FittedRequest",
    "calibrate_model",
    "context_exhausted",
    "message_bytes",
    "reply_tokens",
    "shrink_result",
    "strip_arguments",
    "tools_bytes",
]

MIN_BYTES_PER_TOKEN, MAX_BYTES_PER_TOKEN = 1.5, 6.0
"""Base64 has about 1.5 and plain English prose 4.5; a count beyond these is not of this text."""

TRUSTED_BYTES = 64 * 1024
"""So many bytes must be counted until the count weighs as much as what the provider says of its
model: the first requests of a run are mostly tool schemas, which are denser than what follows."""

MESSAGE_BYTES, CALL_BYTES = 16, 32
"""What the form of a message and of a call adds to their texts."""

LARGE_ARGUMENT_BYTES = 2048
"""Arguments of old calls above this are left out when the window is full."""

REPLY_SHARE, REPLY_TOKENS = 8, 8192
"""The reply's room is an eighth of the window, at most so many tokens."""

_NEWEST, _EARLIER = "the newest results", "the earlier turns"
_HELPS = {_NEWEST: "read in smaller pieces", _EARLIER: "ask for less at once"}


class FittedRequest(msgspec.Struct, frozen=True):
    """A request that fits into the window.

    Args:
        messages: What is sent.
        size_bytes: Its size, tools included.
        tokens: What that is likely to be.
    """

    messages: tuple[Message, ...]
    size_bytes: int
    tokens: int


def calibrate_model(model: ModelInfo, measured: Measured | None) -> ModelInfo:
    """Calibrate a model's bytes per token by its provider's counts.

    Args:
        model: As its provider and the settings tell of it.
        measured: What was counted so far, or None.
    """
    if measured is None or measured.tokens <= 0:
        return model
    counted = TRUSTED_BYTES / model.bytes_per_token + measured.tokens
    likely = (TRUSTED_BYTES + measured.size_bytes) / counted
    bounded = min(max(likely, MIN_BYTES_PER_TOKEN), MAX_BYTES_PER_TOKEN)
    return msgspec.structs.replace(model, bytes_per_token=bounded)


def reply_tokens(model: ModelInfo) -> int:
    """Return the tokens of the window that are reserved for the reply."""
    return min(REPLY_TOKENS, model.context_tokens // REPLY_SHARE)


def message_bytes(message: Message) -> int:
    """Return the size of a message."""
    size = _utf8_bytes(message.text) + MESSAGE_BYTES
    for call in message.tool_calls:
        size += _utf8_bytes(call.arguments) + len(call.name) + CALL_BYTES
    return size


def tools_bytes(tools: Sequence[ToolSchema]) -> int:
    """Return the size of the tool schemas in a request."""
    size = 0
    for tool in tools:
        schema = tool.parameters if tool.strict is None else tool.strict
        size += len(tool.name) + _utf8_bytes(tool.description) + len(msgspec.json.encode(schema))
    return size


def shrink_result(message: Message, entry: int | None) -> Message:
    """Shrink the tool result in an old message to one line, if that is shorter.

    Args:
        message: The message.
        entry: The tool log's number of its call, for recalling it; None if it has none.
    """
    if message.role != "tool":
        return message
    stub = "This earlier result was left out to save room."
    if entry is not None:
        stub += f" recall_tool_result with entry_id {entry} returns it."
    if len(stub) >= len(message.text):
        return message
    return msgspec.structs.replace(message, text=stub)


def strip_arguments(message: Message) -> Message:
    """Strip the large arguments from the calls of an old message."""
    if all(len(call.arguments) <= LARGE_ARGUMENT_BYTES for call in message.tool_calls):
        return message
    calls = tuple(_without_arguments(call) for call in message.tool_calls)
    return msgspec.structs.replace(message, tool_calls=calls)


def context_exhausted(
    opening: Sequence[Message],
    told_bytes: int,
    newest: Sequence[Message],
    size_bytes: int,
    model: ModelInfo,
) -> ContextExhausted:
    """Return the error of a request that does not fit: by how much, and its largest part.

    Args:
        opening: Its opening messages.
        told_bytes: The size of the tools' description.
        newest: The newest turn with its results, which is kept whole.
        size_bytes: The least that the whole can be brought to.
        model: Whose window it does not fit into.
    """
    room = model.context_tokens - reply_tokens(model)
    parts = {f"<{name}>": size for name, size in _block_sizes(opening).items()}
    parts["the tools"] = told_bytes
    parts[_NEWEST] = sum(map(message_bytes, newest))
    parts[_EARLIER] = size_bytes - sum(parts.values())
    tokens = {name: int(size / model.bytes_per_token) for name, size in parts.items()}
    largest = max(tokens, key=lambda name: tokens[name])
    helps = _HELPS.get(largest, "use a model with a larger window")
    needs = int(size_bytes / model.bytes_per_token) + 1
    told = (
        f"the request needs about {needs:,} tokens and the model's window of"
        f" {model.context_tokens:,} has room for {room:,} beside the reply; its largest part is"
        f" {largest} with about {tokens[largest]:,}: {helps}"
    )
    figures = {"tokens": needs, "room": room, "window": model.context_tokens}
    return ContextExhausted(told, detail={**figures, "parts": tokens})


def _block_sizes(opening: Sequence[Message]) -> dict[str, int]:
    """Return the sizes of an opening's parts: its prompt, and its blocks by name."""
    sizes: dict[str, int] = {}
    for message in opening:
        if message.role == "system":
            sizes["instructions"] = message_bytes(message)
            continue
        for block in re.finditer(
            r"^<(\w+)[^>\n]*>\n.*?^</\1>", message.text, re.DOTALL | re.MULTILINE
        ):
            sizes[block[1]] = sizes.get(block[1], 0) + _utf8_bytes(block[0])
    return sizes


def _utf8_bytes(text: str) -> int:
    """Return the size of a text in UTF-8; at no cost for plain ASCII."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _without_arguments(call: ToolCall) -> ToolCall:
    if len(call.arguments) <= LARGE_ARGUMENT_BYTES:
        return call
    left_out = msgspec.json.encode({"left_out_bytes": len(call.arguments)}).decode()
    return msgspec.structs.replace(call, arguments=left_out)
