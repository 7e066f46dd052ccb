"""Redaction of known keys in a model's reply: piece by piece as it streams, and as a whole."""

import msgspec

from kbd.core.store.redaction import Redaction
from kbd.errors import KbdError
from kbd.messages import ToolCall
from kbd.providers import Emit, ModelReply
from kbd.types import CallId

__all__ = ["RedactedStream", "redact_error", "redact_reply"]


class RedactedStream:
    """Stream of a text in pieces, redacted: a key that is split over them is not passed on.

    What may be the beginning of a key waits for the next piece.

    Args:
        redaction: The known keys.
        emit: Takes what may be shown.
    """

    def __init__(self, redaction: Redaction, emit: Emit) -> None:
        self._redaction, self._emit = redaction, emit
        self._held = ""

    def __call__(self, piece: str) -> None:
        """Take a piece."""
        said = self._held + piece
        settled = self._redaction.settled(said)
        self._held = said[settled:]
        if settled:
            self._emit(self._redaction.text(said[:settled]))

    def finish(self) -> None:
        """Flush what waits: no more comes."""
        if self._held:
            self._emit(self._redaction.text(self._held))
            self._held = ""


def redact_reply(reply: ModelReply, redaction: Redaction) -> ModelReply:
    """Redact known keys in a reply: in its text and in the arguments of its calls."""
    if not redaction.has_keys:
        return reply
    calls = tuple(
        ToolCall(
            CallId(redaction.text(call.id)),
            redaction.text(call.name),
            redaction.json_text(call.arguments),
            redaction.text(call.fault),
        )
        for call in reply.tool_calls
    )
    finish = redaction.text(reply.finish_reason)
    return msgspec.structs.replace(
        reply, text=redaction.text(reply.text), tool_calls=calls, finish_reason=finish
    )


def redact_error(error: KbdError, redaction: Redaction) -> KbdError:
    """Redact known keys in an error's message and facts; the error itself is changed."""
    error.message = redaction.text(error.message)
    error.args = (error.message,)
    error.actions = tuple(redaction.text(action) for action in error.actions)
    error.detail = redaction.value(error.detail)
    return error
