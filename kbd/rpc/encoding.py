"""Encoding of answers, errors and notifications, each a line that ends with LF."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kbd.errors import KbdError
from kbd.rpc.parsing import Code

__all__ = [
    "ErrorData",
    "encode_answer",
    "encode_batch",
    "encode_failure",
    "encode_notification",
    "encode_refusal",
]

_CONTEXT = ("subphase", "provider_id", "model_id", "workbench_id", "run_id", "scope_hash")
"""Facts of an error that have a place of their own on the wire."""


class ErrorData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts beside an application's error (contract 9).

    Args:
        error_code: The code of the error's class.
        phase: Which part of kbd it comes from.
        retryable: Whether the same request may go through later.
        actions: What the reader can do next.
        detail: Further facts.
    """

    error_code: str
    phase: str
    retryable: bool
    subphase: str | None = None
    actions: tuple[str, ...] = ()
    provider_id: str | None = None
    model_id: str | None = None
    workbench_id: str | None = None
    run_id: str | None = None
    scope_hash: str | None = None
    detail: dict[str, Any] = {}


# Two records, for `result` and `error` exclude each other (JSON-RPC 2.0, section 5).
class _Answer(msgspec.Struct):
    jsonrpc: str
    id: int | str | None
    result: Any


class _Error(msgspec.Struct, omit_defaults=True):
    code: int
    message: str
    data: Any = None


class _Failure(msgspec.Struct):
    jsonrpc: str
    # Null where the id of a message could not be read (section 5).
    id: int | str | None
    error: _Error


class _Notification(msgspec.Struct):
    jsonrpc: str
    method: str
    params: Any


# Sets and byte strings are not answered; a value that JSON cannot hold is a fault of the handler.
_encode = msgspec.json.Encoder().encode


def encode_answer(message_id: int | str, result: Any) -> bytes:
    """Return the line that answers a request with a record (or ready-made `msgspec.Raw`)."""
    return _encode(_Answer("2.0", message_id, result)) + b"\n"


def encode_refusal(
    message_id: int | str | None, code: int, message: str, data: Any = None
) -> bytes:
    """Return the line that answers a request with an error of the protocol."""
    return _encode(_Failure("2.0", message_id, _Error(code, message, data))) + b"\n"


def encode_failure(message_id: int | str | None, error: KbdError, phase: str) -> bytes:
    """Return the line that answers a request with an application's error.

    Args:
        message_id: The request.
        error: What was raised; entries of its `detail` that have a place of their own go there.
        phase: The part of kbd that the request is about; `detail["phase"]` overrules it.
    """
    detail = dict(error.detail)
    context = {name: str(detail.pop(name)) for name in _CONTEXT if name in detail}
    data = ErrorData(
        error_code=error.code,
        phase=str(detail.pop("phase", phase)),
        retryable=error.retryable,
        actions=error.actions,
        detail=detail,
        **context,
    )
    return encode_refusal(message_id, Code.APPLICATION, error.message, data)


def encode_notification(record: msgspec.Struct) -> bytes:
    """Return the line of a notification; its method is the name of the record's class."""
    return _encode(_Notification("2.0", type(record).__name__, record)) + b"\n"


def encode_batch(lines: Sequence[bytes]) -> bytes:
    """Return the line that answers a batch with the lines of its parts."""
    # Section 6 leaves the order open; answers are matched by their ids.
    return b"[%b]\n" % b",".join(line.rstrip(b"\n") for line in lines)
