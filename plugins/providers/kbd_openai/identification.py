"""Identification of a server: whether what answers is one of this API. Pure.

Something answers at many a wrong address: a captive portal, a login page, the front page of a
program, another program's API. So a server is taken for one only by what it says: its list of
models, or, where it offers none, the way in which it refuses an empty turn. What real servers send:

    {"object": "list", "data": [{"id": …}]}     OpenAI and most others
    {"object": "list", "data": null}            Ollama without models
    {"data": [{"id": …}]}                       OpenRouter
    [{"id": …}]                                 Together
    404, 405 or 501                             those that list none
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kbd.errors import KbdError
from kbd.providers import MalformedReply
from kbd_openai.faults import fault_of_stream

__all__ = ["NOT_LISTED", "check_listing", "check_refusal", "foreign"]

NOT_LISTED = frozenset({404, 405, 501})
"""Statuses of servers that list no models, and of whatever else has no such path."""

MAX_VALUES = 100_000
"""Of a list of models, by brackets and commas; the longest there is has some 20,000 (2026)."""

_REFUSALS = frozenset({400, 422})
"""Statuses of an empty turn, which names neither a model nor messages."""

_ERROR_FIELDS = ("error", "message", "detail")
"""Where servers of this API say what is wrong with a request."""


def foreign(came: str) -> KbdError:
    """Return the error for an answer that is not one of this API."""
    msg = (
        f"something answers there, but not as a server of this API does: {came}; check the "
        "address (OPENAI_BASE_URL), which often ends in /v1"
    )
    return MalformedReply(msg)


def check_listing(body: bytes, api_key: str | None) -> None:
    """Check that the answer to who asks for the models is a list of models.

    Raises:
        MalformedReply: It is something else; the message says what.
        KbdError: It is an error with a status of success; the error that it stands for.
    """
    # Before it is decoded: an object takes a hundred bytes of memory, and two of JSON.
    if body.count(b"{") + body.count(b"[") + body.count(b",") > MAX_VALUES:
        raise foreign("its list of models holds far too much")
    answer = _decoded(body)
    rows = answer
    if isinstance(answer, dict):
        if answer.get("error"):
            raise fault_of_stream(answer["error"], "the provider failed", api_key)
        rows = answer.get("data")
        if not rows and "data" in answer and answer.get("object") == "list":
            return
    if not isinstance(rows, list) or not rows or not all(map(_is_model, rows)):
        raise foreign("its list of models is JSON of another kind")


def check_refusal(status: int, body: bytes, path: str) -> None:
    """Check that a server refuses an empty turn in the way of this API.

    Args:
        status: Of the answer.
        body: Of the answer.
        path: Where the turn was asked for.

    Raises:
        MalformedReply: It does not; the message says what came.
    """
    if status not in _REFUSALS:
        raise foreign(f"it has no list of models, and says {status} to {path}")
    answer = _decoded(body)
    if not isinstance(answer, dict) or not any(answer.get(name) for name in _ERROR_FIELDS):
        raise foreign(f"it has no list of models, and its {status} to {path} names no error")


def _is_model(row: Any) -> bool:
    return isinstance(row, Mapping) and isinstance(row.get("id"), str) and bool(row["id"])


def _decoded(body: bytes) -> Any:
    if not body.strip():
        raise foreign("its answer is empty")
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        page = body.lstrip()[:1] == b"<"
        raise foreign("its answer is a page" if page else "its answer is not JSON") from None
