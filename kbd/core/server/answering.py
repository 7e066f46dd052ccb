"""The lines that answer requests which could not be carried out."""

from secrets import token_hex

import msgspec
import structlog

from kbd.core.server.dispatch import Route
from kbd.errors import KbdError
from kbd.rpc import Call, Code, Refusal, failure, refusal

__all__ = ["cancelled_line", "duplicate_line", "failed_line", "refused_line"]

log = structlog.get_logger()


def refused_line(refused: Refusal) -> bytes:
    """Return the line for a message that is no valid request."""
    return refusal(refused.id, refused.code, refused.message, refused.data)


def duplicate_line(call: Call) -> bytes:
    """Return the line for a request whose id is in flight already."""
    return refusal(_id(call), Code.INVALID_REQUEST, "a request with this id is in flight")


def cancelled_line(call: Call) -> bytes | None:
    """Return the line for a request that its client cancelled; None if it wants no answer."""
    message_id = _id(call)
    if message_id is None:
        return None
    return refusal(message_id, Code.CANCELLED, "request cancelled")


def failed_line(call: Call, route: Route, error: Exception) -> bytes | None:
    """Return the line for a request whose handler raised; None if it wants no answer.

    What is no KbdError stays in the daemon's own log, under the reference that the client gets.
    """
    message_id = _id(call)
    if isinstance(error, KbdError):
        line = failure(message_id, error, route.kind.subject)
    else:
        reference = token_hex(6)
        log.error("request failed", method=route.kind.method, reference=reference, exc_info=error)
        line = refusal(message_id, Code.INTERNAL, "internal error", {"reference": reference})
    return None if message_id is None else line


def _id(call: Call) -> int | str | None:
    return None if isinstance(call.id, msgspec.UnsetType) else call.id
