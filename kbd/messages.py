"""Messages between kbd and a model: the message itself, tool calls, refusals, token usage."""

from typing import Literal

import msgspec

from kbd.types import CallId

__all__ = ["MAX_TOKENS", "UNREADABLE", "Decline", "Message", "ToolCall", "Usage"]

UNREADABLE = "(unreadable)"
"""The name of a call that does not tell which tool it is for; no tool can have it."""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call that a model asks for.

    Args:
        id: The model's name for the call.
        name: The tool's name, or `UNREADABLE`.
        arguments: The arguments as the JSON text that the model wrote; it may be ill-formed.
        fault: Why the call cannot be taken as it was written, in words for the model, where the
            provider knows; "" leaves it to kbd to find out.
    """

    id: CallId
    name: str
    arguments: str = "{}"
    fault: str = ""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation with a model.

    Args:
        role: Who speaks.
        text: What is said; of a tool message, the result as the model sees it.
        tool_calls: Of an assistant message, the calls it asks for, in order.
        tool_call_id: Of a tool message, the call that it answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: CallId | None = None


class Decline(msgspec.Struct, frozen=True, omit_defaults=True):
    """Decline of a request: why it was not done, and what could be asked instead.

    Args:
        reason: Why.
        understood: What the request was read as; "" where that is not known.
        suggestions: Requests that come near and can be done, as a person would type them.
    """

    reason: str = ""
    understood: str = ""
    suggestions: tuple[str, ...] = ()


MAX_TOKENS = 100_000_000
"""Ten times the largest window that a model has (2026); who says more has not counted."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one model call consumed, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def is_plausible(self) -> bool:
        """Whether this can be what one call consumed: two counts, whoever made the record."""
        numbers = (self.input_tokens, self.output_tokens)
        return all(type(number) is int and 0 <= number <= MAX_TOKENS for number in numbers)

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )
