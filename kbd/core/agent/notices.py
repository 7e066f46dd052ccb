"""Progress notices of a run for those who watch it: sent beside its events, never recorded."""

from collections.abc import Callable

import msgspec

from kbd.types import CallId, Phase

__all__ = ["Announce", "LoopWarned", "Notice", "RateLimited", "TextDelta", "ToolStarted"]


class TextDelta(msgspec.Struct, frozen=True):
    """A piece of text as it streams, of the message that the run will answer with."""

    run: int
    phase: Phase
    message_id: str
    text: str


class ToolStarted(msgspec.Struct, frozen=True):
    """Start of a tool call, with its path if it has one."""

    run: int
    call_id: CallId
    tool: str
    path: str | None = None


class LoopWarned(msgspec.Struct, frozen=True):
    """Warning that the model repeats a call; `turn` counts within the phase or attempt, from 1."""

    run: int
    tool: str
    turn: int


class RateLimited(msgspec.Struct, frozen=True):
    """Wait after a failed attempt at a turn, before the next one."""

    run: int
    phase: Phase
    model_id: str
    retry_attempt: int
    retry_max: int
    wait_ms: int
    message: str


Notice = TextDelta | ToolStarted | LoopWarned | RateLimited

Announce = Callable[[Notice], None]
"""Takes a notice; it returns at once and never raises."""
