"""A conversation in the protocol: calls and results are texts, roles alternate. Pure.

No text but a rendered call or result holds a tag, so what a file or a person wrote cannot be taken
for either. Templates of many models want user and assistant to alternate and one system message at
the beginning, so neighbours of one role become one message.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kbd.messages import UNREADABLE, Message, ToolCall
from kbd.providers import ModelRequest
from kbd.toolcall import escape_tags, render_toolcall, wrap_toolresult
from kbd_toolcall.names import shown_name
from kbd_toolcall.telling import choice_told

__all__ = ["in_protocol"]

NO_CALL = "(a call that could not be read)"
"""What stands for a block that was malformed: repeating it would teach it."""

NOTHING = "(an empty answer)"


def in_protocol(request: ModelRequest, told: str) -> tuple[Message, ...]:
    """Return the messages of a request as a model that only writes text is sent them.

    Args:
        request: The request.
        told: What is told of the protocol and of the tools; "" if none is offered.
    """
    messages = list(_merged([_as_text(message) for message in request.messages]))
    if told:
        if messages and messages[0].role == "system":
            messages[0] = _with(messages[0], told)
        else:
            messages.insert(0, Message("system", told))
    note = choice_told(request)
    if note and messages and messages[-1].role == "user":
        messages[-1] = _with(messages[-1], note)
    elif note:
        messages.append(Message("user", note))
    return tuple(messages)


def _as_text(message: Message) -> Message:
    if message.role == "tool":
        return Message("user", wrap_toolresult(message.text))
    texts = [escape_tags(message.text), *map(_call, message.tool_calls)]
    text = "\n".join(each for each in texts if each.strip())
    return Message(message.role, text or (NOTHING if message.role == "assistant" else ""))


def _call(call: ToolCall) -> str:
    if call.name == UNREADABLE:
        return NO_CALL
    try:
        arguments = msgspec.json.decode(call.arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        arguments = {}
    if not isinstance(arguments, dict):
        arguments = {}
    try:
        return render_toolcall(shown_name(call.name), arguments)
    except ValueError:
        return render_toolcall(shown_name(call.name), {})


def _merged(messages: Sequence[Message]) -> Iterator[Message]:
    """Yield the messages, neighbours of one role as one."""
    waiting: Message | None = None
    for message in messages:
        if waiting is not None and waiting.role == message.role:
            waiting = _with(waiting, message.text)
            continue
        if waiting is not None:
            yield waiting
        waiting = message
    if waiting is not None:
        yield waiting


def _with(message: Message, text: str) -> Message:
    return Message(message.role, f"{message.text}\n\n{text}" if message.text else text)
