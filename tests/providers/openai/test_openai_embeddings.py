"""Vectors of any OpenAI-compatible server: what is asked, what comes, and how it fails."""

import base64
import json
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from backends import on_asyncio, on_trio
from kbd.errors import (
    ContextExhausted,
    KbdError,
    NetworkUnavailable,
    ProviderAuthFailed,
    ProviderNotConfigured,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.messages import Usage
from kbd.providers import Embeddings, EmbedRequest, MalformedReply
from kbd.testing.providers import check_embedder
from kbd_openai import client_calls, kbd_register_embedders
from kbd_openai.embedder import OpenAIEmbedder, with_instructions
from meanings import vector_of
from model_server import model_server, text
from providers.openai.lent import KEY, Lent, lending
from providers.openai.scripted_server import Answer, Connection, ScriptedServer, serving

pytestmark = [
    pytest.mark.anyio,
    # The client library abandons its generators when a stream ends early; trio says so.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
]

SETTINGS = {"base_url": "http://127.0.0.1:1/v1", "embedding_model": "m"}


def row(place: int | None, *numbers: float) -> dict[str, Any]:
    """Return a vector as servers send it."""
    named = {} if place is None else {"index": place}
    return {"object": "embedding", "embedding": numbers, **named}


def answering(body: object, status: str = "200 OK", **headers: str) -> Answer:
    """Return an answer."""

    async def answer(connection: Connection) -> None:
        await connection.whole(status, body, **headers)

    return answer


def rows(*found: object, **more: object) -> Answer:
    """Return an answer that holds vectors."""
    return answering({"object": "list", "data": found, **more})


def vectors(made: Embeddings) -> list[tuple[float, ...]]:
    """Return the numbers, rounded."""
    found = struct.iter_unpack(f"<{made.size}f", made.data)
    return [tuple(round(number, 4) for number in vector) for vector in found]


async def made_of(
    server: ScriptedServer,
    access: Lent,
    texts: Sequence[str],
    settings: Mapping[str, Any] | None = None,
) -> Embeddings:
    """Ask a scripted server for vectors."""
    embedder = OpenAIEmbedder({**SETTINGS, **(settings or {})})
    made = await embedder.embed(EmbedRequest("", tuple(texts), "passage"), access)
    assert server.paths[-1] == "/v1/embeddings"
    return made


async def made(answer: Answer, *texts: str) -> Embeddings:
    """Return what is made of an answer."""
    async with serving(m=answer) as server, lending(server.port) as access:
        return await made_of(server, access, texts)


async def failure(answer: Answer, *texts: str, timeout_s: float = 5.0) -> KbdError:
    """Return the error that an answer leads to."""
    async with serving(m=answer) as server, lending(server.port, timeout_s) as access:
        with pytest.raises(KbdError) as caught:
            await made_of(server, access, texts or ("a", "b"))
    assert KEY not in caught.value.message
    assert caught.value.__cause__ is None
    return caught.value


async def test_it_keeps_the_promises_of_embedders() -> None:
    """The contract checks of every embedder hold, on both event loops."""
    with model_server(lambda _: text("")) as server:
        async with lending(int(server.base_url.split(":")[2].split("/")[0])) as access:
            await check_embedder(OpenAIEmbedder({**SETTINGS, "base_url": server.base_url}), access)

    assert server.authorization == f"Bearer {KEY}"
    assert {body["model"] for body in server.embedded} == {"m"}
    assert all(set(body) == {"model", "input"} for body in server.embedded)


@on_trio
async def test_vectors_belong_to_their_texts() -> None:
    """They are ordered by index, or as they come without one, and brought to length 1."""
    by_index = await made(rows(row(1, 0, 5), row(0, 3, 4), usage={"prompt_tokens": 7}), "a", "b")
    as_they_come = await made(rows(row(None, 3, 4), row(None, 0, -2)), "a", "b")

    assert vectors(by_index) == [(0.6, 0.8), (0, 1)]
    assert (by_index.size, by_index.usage) == (2, Usage(7, 0))
    assert vectors(as_they_come) == [(0.6, 0.8), (0, -1)]


@on_trio
async def test_numbers_may_come_as_base64() -> None:
    """What a server sends without being asked to is taken all the same; usage is estimated."""
    packed = base64.b64encode(struct.pack("<2f", 3, 4)).decode()
    found = await made(rows({"embedding": packed, "index": 0}, usage=None), "x" * 400)

    assert vectors(found) == [(0.6, 0.8)]
    assert found.usage == Usage(101, 0)


@on_trio
@pytest.mark.parametrize(
    "found",
    [
        [row(0, 1)],
        [row(0, 1), row(1, 1), row(2, 1)],
        [row(0, 1), row(0, 1)],
        [row(1, 1), row(2, 1)],
        [row(0, 1), row(1, 1, 2)],
        [row(0), row(1)],
        [row(0, 1), row(1, 0)],
        [row(0, 1), {"index": 1, "embedding": [None]}],
        [row(0, 1), {"index": 1, "embedding": [[1.0]]}],
        [row(0, 1), {"index": 1, "embedding": "AAAA"}],
        [row(0, 1), {"index": 1, "embedding": "not base64!"}],
        [row(0, 1), {"index": 1, "embedding": base64.b64encode(b"\0\0\xc0\x7f").decode()}],
        [row(0, 1), row(1, 1e300)],
        [row(0, 1), {"index": 1}],
        None,
    ],
)
async def test_vectors_without_sense_are_none(found: object) -> None:
    """Too few, too many, misplaced, of two sizes, empty, zero, no numbers: none are taken."""
    assert type(await failure(answering({"data": found}))) is MalformedReply


@on_asyncio
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (answering("<html>portal</html>"), MalformedReply),
        (answering({"data": 5}), MalformedReply),
        (answering({"error": {"message": f"overloaded {KEY}", "code": 503}}), ProviderUnavailable),
        (answering({"error": {"message": KEY}}, "401 Unauthorized"), ProviderAuthFailed),
        (answering({"error": {"message": "no"}}, "404 Not Found"), ValidationFailed),
        (answering({"error": {"message": "no"}}, "500 Oh"), ProviderUnavailable),
        (answering({"error": {"message": "no"}}, "429 Slow", retry_after="7"), ProviderRateLimited),
    ],
)
async def test_a_failure_is_told_by_its_error(answer: Answer, kind: type[KbdError]) -> None:
    """Each status, and what is no answer, becomes the error of the contract, without the key."""
    error = await failure(answer)

    assert type(error) is kind
    if isinstance(error, ProviderRateLimited):
        assert error.retry_after_s == 7


@on_asyncio
async def test_an_answer_that_is_cut_or_does_not_come() -> None:
    """A body that ends early is no connection; silence ends with the time allowed."""

    async def cut(connection: Connection) -> None:
        await connection.head(content_type="application/json", content_length="1000")
        await connection.send(b'{"data": [')

    async def silent(connection: Connection) -> None:
        await connection.head(content_length="10")
        await connection.forever()

    assert type(await failure(cut)) is NetworkUnavailable
    assert type(await failure(silent, timeout_s=0.05)) is ProviderUnavailable


@on_trio
async def test_an_answer_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not end does not fill memory."""
    monkeypatch.setattr(client_calls, "MAX_EMBEDDINGS_BYTES", 1000)

    assert type(await failure(rows(row(0, *[0.5] * 1000)))) is MalformedReply


LIMITS = {
    "llama.cpp": ("500 Oh", "input (992 tokens) is too large to process. increase the physical"),
    "vLLM": ("400 Bad Request", "This model's maximum context length is 512 tokens. However, you"),
    "Ollama": ("400 Bad Request", "the input length exceeds the context length"),
    "TEI": ("413 Payload Too Large", "Input validation error: `inputs` must have less than 512"),
    "DashScope": ("400 Bad Request", "batch size is invalid, it should not be larger than 10."),
}
"""How servers say that texts are too long, or too many (2025 and 2026)."""


@on_trio
@pytest.mark.parametrize("server_name", LIMITS)
async def test_too_much_at_once_is_asked_for_in_parts(server_name: str) -> None:
    """A server that takes two texts, of ten letters each, gets the others in turn and cut short."""
    status, said = LIMITS[server_name]
    texts = ("one", "two words here that are too long", "three", "four", "five")
    async with serving(m=answering({})) as server, lending(server.port) as access:

        async def answer(connection: Connection) -> None:
            asked = server.requests[-1]["input"]
            if len(asked) > 2 or max(map(len, asked)) > 10:
                await connection.whole(status, {"error": {"message": said}})
            else:
                found = [row(at, *vector_of(each, {})) for at, each in enumerate(asked)]
                await connection.whole("200 OK", {"data": found})

        server.answers["m"] = answer
        found = await made_of(server, access, texts)
        expected = ("one", texts[1][:8], "three", "four", "five")
        assert vectors(found) == [
            tuple(round(number, 4) for number in vector_of(each, {})) for each in expected
        ]
        # Everything was sent within one call, and nothing twice that had come.
        assert [body["input"] for body in server.requests].count(["one"]) == 1


@on_trio
async def test_a_text_that_never_fits_ends() -> None:
    """A server that refuses every length is given up, after a bounded number of requests."""
    never = answering({"error": {"message": "the input is too long"}}, "400 Bad Request")
    async with serving(m=never) as server, lending(server.port) as access:
        with pytest.raises(ContextExhausted):
            await made_of(server, access, ["x" * 100_000])
        assert 2 < len(server.requests) < 20


@on_asyncio
async def test_as_many_texts_as_the_setting_says() -> None:
    """`embedding_batch` splits a request; the vectors are in order, the usage is the sum."""
    answer = rows(row(0, 1, 0), row(1, 0, 1), usage={"total_tokens": 3})
    async with serving(m=answer) as server, lending(server.port) as access:
        found = await made_of(server, access, ["a", "b", "c", "d"], {"embedding_batch": 2})

    assert [body["input"] for body in server.requests] == [["a", "b"], ["c", "d"]]
    assert vectors(found) == [(1, 0), (0, 1), (1, 0), (0, 1)]
    assert found.usage == Usage(6, 0)


@on_asyncio
async def test_a_server_of_its_own_gets_no_key() -> None:
    """The key is for the address that it was given for, and for no other."""
    async with serving(m=rows(row(0, 1))) as server, lending(server.port) as access:
        elsewhere = Lent(access.http_client, "http://127.0.0.1:1/v1")
        own = {"embedding_base_url": access.base_url, "has_key": True}
        found = await made_of(server, elsewhere, ["a"], own)

    assert vectors(found) == [(1,)]
    assert KEY not in json.dumps(server.headers)


@on_asyncio
async def test_without_server_or_model_it_says_what_to_set() -> None:
    """Nothing is sent, and the message names the setting."""
    request = EmbedRequest("", ("a",), "query")
    nowhere = Lent(None, None, None)  # type: ignore[arg-type]
    with pytest.raises(ProviderNotConfigured, match="OPENAI_EMBEDDING_MODEL"):
        await OpenAIEmbedder({"base_url": "http://127.0.0.1:1/v1"}).embed(request, nowhere)
    with pytest.raises(ProviderNotConfigured, match="OPENAI_API_KEY"):
        await OpenAIEmbedder({}).embed(request, nowhere)
    with pytest.raises(ProviderNotConfigured, match="embedding_batch"):
        await OpenAIEmbedder({**SETTINGS, "embedding_batch": 0}).embed(request, nowhere)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, (False, True, "api.openai.com:443", "text-embedding-3-small")),
        ({"has_key": True}, (True, True, "api.openai.com:443", "text-embedding-3-small")),
        ({"base_url": "http://127.0.0.1:8/v1"}, (True, False, "127.0.0.1:8", "")),
        (SETTINGS, (True, False, "127.0.0.1:1", "m")),
        ({"has_key": True, "embedding_base_url": "http://[::1]:9/v1", "embedding_model": "m"},
         (True, False, "[::1]:9", "m")),
        ({"embedding_base_url": "http://192.0.2.1/v1"}, (True, True, "192.0.2.1:80", "")),
        ({**SETTINGS, "embedding_batch": "many"}, (False, False, "127.0.0.1:1", "m")),
    ],
)  # fmt: skip
def test_how_it_is_set_up(settings: Mapping[str, Any], told: tuple[object, ...]) -> None:
    """The status follows from the settings alone, and so does whether a model has to be named."""
    embedder = OpenAIEmbedder(settings)
    status = embedder.status()

    where = (status.leaves_machine, status.endpoint, embedder.default_model())
    assert (status.configured, *where) == told
    assert status.configured == (status.reason is None)


@on_asyncio
async def test_vectors_are_kept_by_address_and_model() -> None:
    """Another server or another model has another fingerprint; another key has not."""
    here = OpenAIEmbedder(SETTINGS)
    keyed = OpenAIEmbedder({**SETTINGS, "has_key": True})
    there = OpenAIEmbedder({**SETTINGS, "base_url": "http://127.0.0.1:2/v1"})

    known = [await each.fingerprint("m") for each in (here, keyed, there)]
    assert known[0] == known[1] != known[2]
    assert await here.fingerprint("other") != known[0]


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("text-embedding-3-small", "t", "t"),
        ("nomic-embed-text:latest", "search_query: t", "search_document: t"),
        ("intfloat/multilingual-e5-large", "query: t", "passage: t"),
        ("BAAI/bge-base-en-v1.5",
         "Represent this sentence for searching relevant passages: t", "t"),
        ("BAAI/bge-m3", "t", "t"),
        ("embeddinggemma:300m", "task: search result | query: t", "title: none | text: t"),
    ],
)  # fmt: skip
def test_models_are_told_what_they_were_trained_with(model: str, query: str, passage: str) -> None:
    """What a family of models wants before a text stands there; others get it bare."""
    assert with_instructions(model, "query", ("t",)) == (query,)
    assert with_instructions(model, "passage", ("t",)) == (passage,)


def test_nothing_heavy_is_imported_at_start() -> None:
    """Declaring the embedder imports neither the client library nor numpy."""
    code = "import kbd_openai, sys; kbd_openai.OpenAIEmbedder({}).status();"
    check = "assert not {'openai', 'httpx2', 'numpy'} & set(sys.modules), sorted(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code + check], check=False).returncode == 0


def test_the_embedder_is_declared() -> None:
    """The hook returns the one embedder."""
    assert [type(each) for each in kbd_register_embedders({})] == [OpenAIEmbedder]
