"""A check takes for a server of this API what answers as one, and nothing else that answers."""

from typing import Any

import pytest

from backends import on_asyncio
from kbd.errors import (
    KbdError,
    NetworkUnavailable,
    ProviderAuthFailed,
    ProviderNotConfigured,
    ProviderRateLimited,
    ProviderUnavailable,
)
from kbd.providers import MalformedReply
from kbd_openai import OpenAIProvider
from kbd_openai.identification import check_listing
from providers.openai.lent import Lent, lending
from providers.openai.scripted_server import Answer, Connection, serving

OK, NONE = "200 OK", "404 Not Found"
ROWS = [{"id": "m", "object": "model"}]
REFUSAL = {"error": {"message": "you must provide a model parameter"}}
PAGE = "<!doctype html><title>Please log in</title>"


def saying(status: str, body: object, **headers: str) -> Answer:
    """Answer with this; bytes as they are."""

    async def answer(connection: Connection) -> None:
        if isinstance(body, bytes):
            await connection.head(status, content_length=str(len(body)), **headers)
            await connection.send(body)
        else:
            await connection.whole(status, body, **headers)

    return answer


async def checked(settings: dict[str, Any], **answers: Answer) -> tuple[KbdError | None, list[str]]:
    """Check a server; return why it is not valid, and what it was asked."""
    async with serving(**answers) as server, lending(server.port) as access:
        fault: KbdError | None = None
        try:
            await OpenAIProvider(settings).validate(access)
        except KbdError as error:
            fault = error
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {access.api_key}"}
    assert all(request == {} for request in server.requests)
    assert str(access.api_key) not in str(fault)
    return fault, server.paths


@pytest.mark.anyio
@pytest.mark.parametrize(
    "body",
    [
        {"object": "list", "data": []},
        {"object": "list", "data": None},
        {"object": "list", "data": ROWS},
        {"data": ROWS},
        ROWS,
    ],
)
async def test_a_server_that_lists_models_is_valid(anyio_backend: str, body: object) -> None:
    """In the forms that real servers have; it is asked once, and nothing is sent."""
    assert await checked({}, models=saying(OK, body)) == (None, ["/v1/models"])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (OK, PAGE, "its answer is a page"),
        (OK, b"", "its answer is empty"),
        ("204 No Content", b"", "its answer is empty"),
        (OK, b"\xff\x00", "its answer is not JSON"),
        (OK, b"[" * 100_000, "its answer is not JSON"),
        (OK, {"status": "ok"}, "JSON of another kind"),
        (OK, {}, "JSON of another kind"),
        (OK, [], "JSON of another kind"),
        (OK, b"null", "JSON of another kind"),
        (OK, {"data": []}, "JSON of another kind"),
        (OK, {"data": [{"name": "m"}]}, "JSON of another kind"),
        (OK, {"data": [{"id": 1}]}, "JSON of another kind"),
        (OK, {"object": "list", "data": ["m"]}, "JSON of another kind"),
        (OK, {"object": "list"}, "JSON of another kind"),
        ("400 Bad Request", PAGE, "refused the request (400)"),
        ("410 Gone", {"gone": True}, "refused the request (410)"),
    ],
)
async def test_what_answers_otherwise_is_not_valid(
    anyio_backend: str, status: str, body: object, told: str
) -> None:
    """A portal, an empty answer, another program: PROVIDER_UNAVAILABLE, with what came."""
    fault, _ = await checked({}, models=saying(status, body))

    assert isinstance(fault, MalformedReply)
    assert fault.code == "PROVIDER_UNAVAILABLE"
    assert "something answers there, but not as a server of this API" in fault.message
    assert told in fault.message
    assert "OPENAI_BASE_URL" in fault.message


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        ("401 Unauthorized", {"error": {"message": "bad key"}}, ProviderAuthFailed),
        ("401 Unauthorized", PAGE, ProviderAuthFailed),
        ("403 Forbidden", {}, ProviderAuthFailed),
        ("429 Too Many Requests", {}, ProviderRateLimited),
        ("500 Internal Server Error", PAGE, ProviderUnavailable),
        ("503 Service Unavailable", "down", ProviderUnavailable),
        (OK, {"error": {"message": "no", "code": "invalid_api_key"}}, ProviderAuthFailed),
        (OK, {"error": "down"}, ProviderUnavailable),
    ],
)
async def test_what_a_server_refuses_has_its_code(
    anyio_backend: str, status: str, body: object, kind: type[KbdError]
) -> None:
    """Conformance 9: as in a turn, also where an error comes with a status of success."""
    fault, _ = await checked({}, models=saying(status, body))

    assert type(fault) is kind


@pytest.mark.anyio
@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"])
async def test_a_redirect_is_not_followed(anyio_backend: str, status: str) -> None:
    """A login page at the same address, too, is nothing that calls would reach."""
    models = saying(status, "", location="/v1/login")
    fault, paths = await checked({}, models=models, login=saying(OK, {"data": ROWS}))

    assert isinstance(fault, ProviderUnavailable)
    assert "not followed" in fault.message
    assert paths == ["/v1/models"]


@pytest.mark.sampled(3)
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("api", "path"), [("chat", "/v1/chat/completions"), ("responses", "/v1/responses")]
)
@pytest.mark.parametrize("status", [NONE, "405 Method Not Allowed", "501 Not Implemented"])
async def test_a_server_that_lists_none_is_told_by_its_refusal(
    anyio_backend: str, api: str, path: str, status: str
) -> None:
    """It refuses a turn of nothing in the way of the API; what has no such path is not valid."""
    last = path.rpartition("/")[2]
    none = saying(status, PAGE)
    refusals: tuple[tuple[str, object], ...] = (
        ("400 Bad Request", REFUSAL),
        ("422 Unprocessable Entity", {"detail": [{"loc": ["body", "model"]}]}),
    )
    others: tuple[tuple[str, object], ...] = (
        (NONE, PAGE),
        (NONE, REFUSAL),
        ("405 Method Not Allowed", {}),
        ("400 Bad Request", PAGE),
        ("400 Bad Request", {"ok": False}),
        (OK, PAGE),
        (OK, {"error": "no"}),
    )
    for code, body in refusals:
        said = await checked({"api": api}, models=none, **{last: saying(code, body)})
        assert said == (None, ["/v1/models", path])
    for code, body in others:
        fault, _ = await checked({"api": api}, models=none, **{last: saying(code, body)})
        assert isinstance(fault, MalformedReply), (code, body)
        assert "not as a server of this API" in fault.message


@pytest.mark.anyio
async def test_the_second_question_has_the_codes_of_the_first(anyio_backend: str) -> None:
    """A refused key and a server that is down are told as such there, too."""
    none = saying(NONE, {})
    for code, kind in (
        ("401 Unauthorized", ProviderAuthFailed),
        ("503 Service Unavailable", ProviderUnavailable),
    ):
        fault, _ = await checked({}, models=none, completions=saying(code, {}))
        assert type(fault) is kind


@pytest.mark.anyio
async def test_a_list_without_end_is_not_read_to_its_end(
    anyio_backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would fill memory."""
    monkeypatch.setattr("kbd_openai.client_calls.MAX_LISTING_BYTES", 100_000)

    async def endless(connection: Connection) -> None:
        await connection.head()
        while True:
            await connection.send(b" " * 50_000)

    fault, _ = await checked({}, models=endless)

    assert isinstance(fault, MalformedReply)
    assert "does not end" in fault.message


def test_an_error_in_a_list_tells_no_key() -> None:
    """Servers quote the key that they refuse."""
    with pytest.raises(ProviderUnavailable) as refused:
        check_listing(b'{"error": {"message": "no: my-own-key"}}', "my-own-key")

    assert "my-own-key" not in refused.value.message


@on_asyncio
@pytest.mark.anyio
async def test_a_check_without_a_connection() -> None:
    """Nobody listens: the network; neither key nor address: what to set."""
    async with serving() as server:
        port = server.port
    async with lending(port) as access:
        with pytest.raises(NetworkUnavailable):
            await OpenAIProvider({}).validate(access)
        with pytest.raises(ProviderNotConfigured, match="OPENAI_API_KEY"):
            await OpenAIProvider({}).validate(Lent(access.http_client, None, None))


@pytest.mark.anyio
async def test_nothing_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client library would add is not known as a secret, and not for every server."""
    for name, value in (
        ("ORG_ID", "canary"), ("PROJECT_ID", "canary"), ("ADMIN_KEY", "canary"),
        ("CUSTOM_HEADERS", "X-Token: canary\nAuthorization: Bearer canary"),
    ):  # fmt: skip
        monkeypatch.setenv(f"OPENAI_{name}", value)
    async with (
        serving(models=saying(OK, {"object": "list", "data": ROWS})) as server,
        lending(server.port) as access,
    ):
        await OpenAIProvider({}).validate(access)

    assert server.headers
    assert "canary" not in str(server.headers)
