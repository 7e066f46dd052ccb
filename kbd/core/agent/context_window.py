"""Context window of a model: sizes of requests, and truncation of tool results to fit. Pure.

Contract, section 5: context never overflows silently. A request is measured in bytes, and bytes
become tokens by what the model's provider counted of earlier ones.

A small tool result is shown whole, a large one as a receipt: a JSON object with what it is of, how
large it is, every small field (sizes, has_more, chunk_info, warnings), the beginning of each large
one (first rows, first lines), and how to get the rest. It must be worth reading: a receipt without
content costs a turn for every read.

`fit_result_block` serves models that are given a number of characters instead: still JSON, and it
says what is cut. Long texts are cut first, all to one length, so that of each part of a result
something is seen; where that does not do, lists are cut to their first elements.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from kbd.core.domain.workbench_state import Measured
from kbd.errors import ContextExhausted
from kbd.messages import Message, ToolCall
from kbd.providers import ModelInfo, ToolSchema
from kbd.toolcall.blocks import render_toolresult, wrap_toolresult

__all__ = [
    "RECALL_TOOL",
    "RECEIPT_BYTES",
    "WHOLE_BYTES",
    "FittedRequest",
    "calibrate_model",
    "context_exhausted",
    "fit_result_block",
    "message_bytes",
    "reply_tokens",
    "shrink_result",
    "strip_arguments",
    "tools_bytes",
    "truncate_result",
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
    # As if so many bytes had been counted at the stated ratio; real counts outweigh them in time.
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
    # What the other parts do not explain; so it comes last.
    parts[_EARLIER] = size_bytes - sum(parts.values())
    tokens = {name: int(size / model.bytes_per_token) for name, size in parts.items()}
    largest = max(tokens, key=lambda name: tokens[name])
    helps = _HELPS.get(largest, "use a model with a larger window")
    needs = int(size_bytes / model.bytes_per_token) + 1
    message = (
        f"the request needs about {needs:,} tokens and the model's window of"
        f" {model.context_tokens:,} has room for {room:,} beside the reply; its largest part is"
        f" {largest} with about {tokens[largest]:,}: {helps}"
    )
    figures = {"tokens": needs, "room": room, "window": model.context_tokens}
    return ContextExhausted(message, detail={**figures, "parts": tokens})


def _block_sizes(opening: Sequence[Message]) -> dict[str, int]:
    """Return the sizes of an opening's parts: its prompt, and its blocks by name."""
    sizes: dict[str, int] = {}
    for message in opening:
        if message.role == "system":
            sizes["instructions"] = message_bytes(message)
            continue
        # No text can close its own block (`prompt_blocks`): the first closing line is the block's.
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


RECALL_TOOL = "recall_tool_result"
"""The tool that returns stored results; what it returns is what was asked for, and shown whole."""

RECEIPT_BYTES = 2048
"""The default: a result up to this size is shown whole, and a receipt keeps to it (contract 5)."""

WHOLE_BYTES = 512 * 1024
"""Confirmations and recalled pages are shown whole; beyond this, which none needs, they are cut."""

_POSITION = ("has_more", "chunk_info", "row_count", "total_rows", "total_row_count")
"""Contract, section 5: sizes, has_more and chunk_info are in every receipt of what has them."""

_SMALL_FIELD_BYTES = 240
_CUT_FIELD = "cut"


def truncate_result(
    tool: str,
    entry_id: int,
    text: str,
    value: Any,
    *,
    summary: Mapping[str, Any] | None = None,
    is_action: bool = False,
    limit: int = RECEIPT_BYTES,
) -> str:
    """Return a result as the model sees it: whole, or as a receipt.

    Args:
        tool: The tool that returned it.
        entry_id: Under which number it can be recalled.
        text: The result as JSON text.
        value: The result as plain values.
        summary: What the tool wants a receipt to show instead of the head of the result.
        is_action: Whether it confirms a write; then it is shown whole.
        limit: The largest result in bytes that is shown whole, and the size of a receipt.
    """
    size = len(text.encode())
    whole = is_action or tool == RECALL_TOOL
    if size <= (WHOLE_BYTES if whole else limit):
        return text
    content = value if summary is None else {**_position_fields(value), **summary}
    return _receipt(tool, entry_id, size, content, WHOLE_BYTES if whole else limit)


def _receipt(tool: str, entry_id: int, size: int, content: Any, limit: int) -> str:
    """Build the receipt: small fields first, then heads of the large ones share what is left."""
    out: dict[str, Any] = {"receipt": True, "tool": tool, "entry_id": entry_id, "size_bytes": size}
    out["recall"] = (
        f"This is the beginning. {RECALL_TOOL} with entry_id {entry_id} returns the rest, paged"
        " by offset and limit; a narrower call is often better."
    )
    fields = _fields(content)
    contents = _describe_rows(fields)
    if contents:
        out["contents"] = contents
    large = []
    for name, value in fields.items():
        if name in out:
            continue
        is_small = _json_bytes(value) <= _SMALL_FIELD_BYTES
        if is_small and (name in _POSITION or _json_bytes(out) < limit // 2):
            out[name] = value
        else:
            large.append(name)
    # Each large field gets an equal share of what is left; what one does not need is the others'.
    for place, name in enumerate(large):
        room = (limit - _json_bytes(out) - len(name) - 80) // (len(large) - place)
        if room < 40:
            out[_CUT_FIELD] = {**out.get(_CUT_FIELD, {}), "left_out": large[place : place + 20]}
            break
        head, cut_note = _value_head(fields[name], room)
        out[name] = head
        if cut_note:
            out[_CUT_FIELD] = {**out.get(_CUT_FIELD, {}), name: cut_note}
    return _json_text(out)


def _position_fields(value: Any) -> dict[str, Any]:
    """Return the fields that say which part of a whole a result is; every receipt has them."""
    if not isinstance(value, dict):
        return {}
    return {name: value[name] for name in _POSITION if name in value}


def _fields(content: Any) -> dict[str, Any]:
    match content:
        case dict():
            return {str(name): value for name, value in content.items()}
        case list() | tuple():
            return {"count": len(content), "first": list(content)}
        case _:
            return {"text": content if isinstance(content, str) else _json_text(content)}


def _describe_rows(fields: Mapping[str, Any]) -> str:
    """Describe in words how much of a table a result holds, if it is one."""
    rows = fields.get("rows")
    if not isinstance(rows, list | tuple):
        return ""
    parts = [f"{len(rows)} rows"]
    for name in ("total_row_count", "total_rows"):
        if isinstance(fields.get(name), int):
            parts.append(f"{fields[name]} total")
            break
    if isinstance(fields.get("has_more"), bool):
        parts.append(f"has_more={'true' if fields['has_more'] else 'false'}")
    return ", ".join(parts)


def _value_head(value: Any, room: int) -> tuple[Any, str]:
    """Return the beginning of a value that fits into `room` bytes of JSON, and what was cut."""
    if _json_bytes(value) <= room:
        return value, ""
    match value:
        case str():
            head = _text_head(value, room)
            return head, f"{len(head)} of {len(value)} characters"
        case list() | tuple():
            count = _largest_fitting(lambda n: _json_bytes(value[:n]), len(value), room)
            if count == 0:
                return [_value_head(value[0], room - 2)[0]], f"1 of {len(value)}, itself cut"
            return list(value[:count]), f"{count} of {len(value)}"
        case dict():
            return _dict_head(value, room), "cut within"
        case _:
            return _text_head(_json_text(value), room), "cut"


def _dict_head(value: Mapping[Any, Any], room: int) -> dict[str, Any]:
    """Return a mapping's first entries that fit, each truncated to the room that is left."""
    head: dict[str, Any] = {}
    for name, inner in value.items():
        left = room - _json_bytes(head) - len(str(name).encode()) - 8
        if left < 16:
            break
        head[str(name)] = _value_head(inner, left)[0]
    return head


def _text_head(text: str, room: int) -> str:
    """Cut text to `room` bytes of JSON, at the end of a line where one is near."""
    # By halving: the JSON of each length in turn would cost the square of a long text.
    # A character takes at least one byte of JSON, so no more of them can fit than bytes.
    head = text[: _largest_fitting(lambda n: _json_bytes(text[:n]), min(len(text), room), room)]
    line_end = head.rfind("\n")
    return head[:line_end] if line_end > len(head) // 2 else head


def _largest_fitting(size_of: Callable[[int], int], limit: int, room: int) -> int:
    """Return the largest n up to `limit` with `size_of(n) <= room`, by halving."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if size_of(middle) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _json_bytes(value: Any) -> int:
    return len(msgspec.json.encode(value))


def _json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


_MIN_TEXT_CHARACTERS = 60
"""Texts are not cut shorter; lists are, then."""


def fit_result_block(value: Any, max_chars: int) -> str:
    """Render the result block of a tool call, with at most `max_chars` characters in it.

    What was cut is listed under `cut` beside the rest; a result that is no object stands under
    `result` then. Where there is no room for that either, the JSON text is cut.

    Args:
        value: What the tool returned.
        max_chars: The most characters between the tags.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
        TypeError: It holds what JSON has no word for.
    """
    whole = render_toolresult(value)
    empty = len(wrap_toolresult(""))
    size = len(whole) - empty
    if size <= max_chars:
        return whole
    size_note = f"this is a part: the whole result has {size} characters"
    found = _fit_value(value, size_note, max_chars, max_chars + empty)
    if found is not None:
        return found
    begin = wrap_toolresult("").index("</")
    return wrap_toolresult(f"{whole[begin : begin + max(0, max_chars - 1)]}…"[:max_chars])


def _fit_value(value: Any, size_note: str, max_chars: int, room: int) -> str | None:
    """Return the block of a shortened result, or None if nothing of it fits."""

    def block(length: int, count: int) -> str:
        return render_toolresult(_truncate_values(value, length, count, size_note))

    # No more elements than characters.
    count = max_chars
    if len(block(_MIN_TEXT_CHARACTERS, count)) > room:
        count = _greatest_fitting(
            lambda tried: len(block(_MIN_TEXT_CHARACTERS, tried)) <= room, 0, max_chars
        )
    if count == 0:
        return None
    length = _greatest_fitting(
        lambda tried: len(block(tried, count)) <= room, _MIN_TEXT_CHARACTERS, max_chars
    )
    return block(length, count)


def _greatest_fitting(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return the greatest number that fits, `low` if none above it does."""
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _truncate_values(value: Any, length: int, count: int, size_note: str) -> dict[str, Any]:
    """Truncate texts and lists of a result, and list what was cut."""
    lists: list[str] = []
    short = _shorten_text(value, length, count, lists, "")
    notice = "; ".join((size_note, "texts that end with … go on", *lists[:5]))
    return {"cut": notice, **(short if isinstance(short, dict) else {"result": short})}


def _shorten_text(value: Any, length: int, count: int, lists: list[str], name: str) -> Any:
    match value:
        case str() if len(value) > length:
            return f"{value[: length - 1]}…"
        case list() | tuple():
            if len(value) > count:
                lists.append(f"{name or 'the list'} has the first {count} of {len(value)}")
            return [_shorten_text(each, length, count, lists, name) for each in value[:count]]
        case dict():
            return {
                key: _shorten_text(each, length, count, lists, str(key))
                for key, each in value.items()
            }
        case _:
            return value
