"""Errors of servers as errors of kbd: statuses, errors in a stream, waiting times.

A message here never holds a key: what a server says is cleaned of the key in use and of whatever
looks like one, and cut.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from kbd.errors import (
    ContextExhausted,
    KbdError,
    ProviderAuthFailed,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)

__all__ = [
    "ServerFault",
    "clean",
    "fault_of_status",
    "fault_of_stream",
    "retry_after_s",
    "size_fault",
]

MAX_QUOTED = 300


class ServerFault(Exception):
    """Error that a server reports in the middle of an answer.

    Args:
        body: Its error object, or anything.
    """

    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body


_KEY_LIKE = re.compile(r"(?i)\b(?:sk|pk|key)-[\w*-]{4,}|\bbearer\s+\S+")
_TOO_LONG = re.compile(
    r"(?i)context.?(?:length|window|size)|maximum context|prompt is too long|too many tokens"
    r"|reduce the length"
)
_TEXTS_TOO_LARGE = re.compile(
    r"(?i)context.?(?:length|window|size)|batch.?size|too (?:long|large|many)|reduce the length"
    r"|must have less than|max(?:imum)? number of inputs|maximum (?:input|sequence) length"
)
"""As OpenAI, vLLM, llama.cpp's server, Ollama, Text Embeddings Inference and DashScope say it."""
MAX_SEARCHED_CHARACTERS = 20_000

_STATUS_OF_CODE = {
    "invalid_api_key": 401,
    "rate_limit_exceeded": 429,
    "context_length_exceeded": 400,
    "invalid_request_error": 400,
    "invalid_prompt": 400,
}


def clean(text: object, api_key: str | None) -> str:
    """Return what a server said, fit to be shown: no key, one line, at most 300 characters."""
    cleaned = " ".join(str(text).split())
    if api_key:
        cleaned = cleaned.replace(api_key, "***")
    cleaned = _KEY_LIKE.sub("***", cleaned)
    # Cut last: half of a key at the cut would not be found as one.
    return cleaned if len(cleaned) <= MAX_QUOTED else cleaned[: MAX_QUOTED - 1] + "…"


def fault_of_status(status: int, code: str, text: str, wait_s: float | None = None) -> KbdError:
    """Return the error for an HTTP status.

    Args:
        status: The status.
        code: The server's own code, or "".
        text: What the server said, cleaned.
        wait_s: What it asked to wait, in seconds, if it said.
    """
    if status in (401, 403):
        return ProviderAuthFailed(f"the provider refused the key ({status}): {text}")
    if status == 429:
        msg = f"the provider asked to slow down (429): {text}"
        return ProviderRateLimited(msg, retry_after_s=wait_s)
    # No redirect is followed: it would take key and contents to another address.
    if 300 <= status < 400:
        msg = f"the provider redirects elsewhere ({status}), which is not followed: {text}"
        return ProviderUnavailable(msg)
    # The client library holds 408, 409 and 5xx to be worth another try, too.
    if status in (408, 409) or status >= 500 or status < 400:
        return ProviderUnavailable(f"the provider failed ({status}): {text}", retry_after_s=wait_s)
    if status == 413 or code == "context_length_exceeded" or _TOO_LONG.search(text):
        return ContextExhausted(f"the request is too long for the model ({status}): {text}")
    return ValidationFailed(f"the provider refused the request ({status}): {text}")


def size_fault(status: int, message: object) -> ContextExhausted | None:
    """Return the error for a refusal of texts that are too many or too long; None for another one.

    Args:
        status: Of the answer to a request for embeddings; llama.cpp's server says 500.
        message: What the server said.
    """
    match = _TEXTS_TOO_LARGE.search(str(message)[:MAX_SEARCHED_CHARACTERS])
    if status == 413 or (status in (400, 422, 500) and match):
        msg = f"the texts are too many or too long for the server ({status})"
        return ContextExhausted(msg)
    return None


def fault_of_stream(body: object, message: str, api_key: str | None) -> KbdError:
    """Return the error for one that came in the middle of an answer.

    Its `code` may be a status as a number or as text, a word, or missing.
    """
    fields: Mapping[str, Any] = body if isinstance(body, Mapping) else {"message": body or message}
    code = str(fields.get("code") or fields.get("type") or "")
    status = int(code) if re.fullmatch(r"[1-5]\d\d", code) else _STATUS_OF_CODE.get(code, 500)
    return fault_of_status(status, code, clean(fields.get("message") or message, api_key))


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return what the headers ask to wait, in seconds: a number or a date; None if they do not.

    `retry-after-ms` is OpenAI's own, and finer.
    """
    given, scale = headers.get("retry-after-ms"), 0.001
    if not given:
        given, scale = headers.get("retry-after"), 1.0
    if not given:
        return None
    try:
        seconds = float(given) * scale
    except ValueError:
        seconds = _until(given)
    # Headers may say "nan" or "inf", which `float` takes and nobody can wait for.
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float:
    """Return the seconds until an HTTP date, 0 if it has passed, NaN if it is none."""
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return math.nan
    # An HTTP date is in GMT (RFC 9110, 5.6.7); one that ends in -0000 is parsed without a zone.
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
