"""Every way in which a server or the network fails ends in the error that says so."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from backends import on_trio
from kbd.errors import (
    ContextExhausted,
    EgressBlockedByPolicy,
    KbdError,
    ProviderAuthFailed,
    ProviderNotConfigured,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.providers import MalformedReply
from kbd_openai import OpenAIProvider
from providers.openai.lent import KEY, Lent, asking, lending
from providers.openai.scripted_server import Answer, Connection, deltas, serving, streamed

pytestmark = [
    pytest.mark.anyio,
    # The client library abandons its generators when a stream ends early; trio says so.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
]


def refusing(status: str, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    """Return an answer with an HTTP status and OpenAI's error object."""

    async def answer(connection: Connection) -> None:
        body = {"error": {"message": message, "code": code}}
        await connection.whole(status, body, **headers)

    return answer


async def failure(answer: Answer, timeout_s: float = 5.0) -> KbdError:
    """Return the error that an answer leads to."""
    async with serving(m=answer) as server, lending(server.port, timeout_s) as access:
        with pytest.raises(KbdError) as caught:
            await OpenAIProvider({}).complete(asking("m"), access, lambda _: None)
        return caught.value


@on_trio
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("401 Unauthorized", ProviderAuthFailed),
        ("403 Forbidden", ProviderAuthFailed),
        ("408 Request Timeout", ProviderUnavailable),
        ("409 Conflict", ProviderUnavailable),
        ("413 Content Too Large", ContextExhausted),
        ("404 Not Found", ValidationFailed),
        ("422 Unprocessable", ValidationFailed),
        ("500 Internal Server Error", ProviderUnavailable),
        ("503 Service Unavailable", ProviderUnavailable),
        ("302 Found", ProviderUnavailable),
    ],
)
async def test_a_status_is_told_by_its_error(status: str, kind: type[KbdError]) -> None:
    """Each HTTP status becomes the error of the contract, with what the server said."""
    error = await failure(refusing(status, "the reason"))

    assert type(error) is kind
    assert "the reason" in error.message


async def test_a_limit_carries_its_waiting_time() -> None:
    """429 is a rate limit, with Retry-After in seconds, as a date, or unknown."""
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    waits = []
    finer = {"retry_after_ms": "250", "retry_after": "1"}
    for header in (finer, {"retry_after": "7"}, {"retry_after": soon}, {"retry_after": "soon"}, {}):
        error = await failure(refusing("429 Too Many Requests", **header))
        assert isinstance(error, ProviderRateLimited)
        waits.append(error.retry_after_s)

    assert waits[:2] == [0.25, 7]
    assert 3000 < (waits[2] or 0) <= 3600
    assert waits[3:] == [None, None]


async def test_a_long_request_is_told_apart() -> None:
    """A 400 about the context is CONTEXT_EXHAUSTED, by its code or by its words."""
    by_code = await failure(refusing("400 Bad Request", code="context_length_exceeded"))
    by_words = await failure(refusing("400 Bad Request", "maximum context length is 8192"))

    assert type(by_code) is type(by_words) is ContextExhausted


async def test_no_message_shows_the_key() -> None:
    """A server that quotes the key, or another one, is not quoted with it."""
    error = await failure(refusing("401 Unauthorized", f"Bad key {KEY}, not sk-other-1234"))

    assert KEY not in error.message
    assert "sk-other" not in error.message
    assert error.__cause__ is None


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (deltas([{"content": "x"}], "error"), ProviderUnavailable),
        (deltas([{"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "{}"}}]}]),
         MalformedReply),
    ],
)  # fmt: skip
async def test_an_answer_without_sense_is_not_a_turn(answer: Answer, kind: type[KbdError]) -> None:
    """Cut, malformed and foreign answers are PROVIDER_UNAVAILABLE, never an empty success."""
    error = await failure(answer)

    assert type(error) is kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (503, ProviderUnavailable),
        ("429", ProviderRateLimited),
        ("context_length_exceeded", ContextExhausted),
        (None, ProviderUnavailable),
    ],
)
async def test_an_error_in_the_stream(code: object, kind: type[KbdError]) -> None:
    """An error object in the middle of a stream is told by its code."""

    @streamed
    async def answer(connection: Connection) -> None:
        await connection.delta(content="a")
        await connection.event({"error": {"message": "overloaded", "code": code}})

    error = await failure(answer)

    assert type(error) is kind
    assert "overloaded" in error.message


async def test_a_refused_address_keeps_its_error() -> None:
    """What the lent client refuses is told as it refused it, not as a network fault."""

    async def refuse(_: httpx2.Request) -> httpx2.Response:
        raise EgressBlockedByPolicy("Not the provider's address.")

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(refuse)) as client:
        with pytest.raises(EgressBlockedByPolicy):
            await OpenAIProvider({}).complete(
                asking("m"), Lent(client, "https://example.org/v1"), lambda _: None
            )


async def test_without_a_key_nothing_is_sent() -> None:
    """Neither a key nor an address: the error names the settings."""
    async with httpx2.AsyncClient() as client:
        with pytest.raises(ProviderNotConfigured, match="OPENAI_API_KEY"):
            await OpenAIProvider({}).complete(asking("m"), Lent(client, None, None), lambda _: None)
