"""Vectors for a search: paid from the day's money, asked for again shortly, never for long."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends import on_asyncio, on_trio
from kbd.core.api.providers import ProviderMethods
from kbd.core.domain.commands import RecordFacts
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.runtime.settings import ModelSettings, RunLimits, SearchSettings, Settings
from kbd.core.sessions.search_access import embed_texts
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import (
    BudgetCapReached,
    KbdError,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.events.workbenches import RequestSent
from kbd.providers import (
    Embeddings,
    MalformedReply,
)
from kbd.requests import providers as listing
from model_server import ModelServer, failure, model_server, text
from supervised import Supervised, supervised

KEY = "sk-not-to-be-seen"

OPENAI = EntryPoint("openai", "kbd_openai", source="kbd")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """A server with `/embeddings`."""
    with model_server(lambda _: text("")) as running:
        yield running


def metered(server: ModelServer, **limits: Any) -> Settings:
    """Settings of a daemon whose embedder is that server, at a dollar a million tokens."""
    own = {"embedding_base_url": server.base_url, "embedding_model": "m"}
    return Settings(
        search=SearchSettings(embedder="openai"),
        plugins={"openai": own},
        models={"openai:m": ModelSettings(input_price=1.0)},
        run=RunLimits(retry_s=(0.001, 0.001, 0.001), **limits),
    )


class Asked:
    """A workbench whose texts become vectors."""

    def __init__(self, running: Supervised, bench: OpenWorkbench) -> None:
        self._running, self.bench = running, bench
        self.sent: list[RequestSent] = []

    async def vectors(self, *texts: str, purpose: Any = "passage") -> tuple[Embeddings, float]:
        """Ask for vectors."""

        async def record(sent: RequestSent) -> None:
            self.sent.append(sent)
            await self.bench.keeper.submit(RecordFacts((sent,)))

        return await embed_texts(self._running.context, self.bench, texts, purpose, record)

    def spent(self) -> tuple[int, float, int]:
        """What all days took, in tokens and in dollars, and how much is still reserved."""
        state = self._running.benches.daemon.state
        spent = state.spent.values()
        tokens, cost = sum(each.tokens for each in spent), sum(each.cost for each in spent)
        return tokens, round(cost, 9), len(state.reserved)


@pytest.mark.anyio
@on_trio
async def test_vectors_are_paid_from_the_days_money(tmp_path: Path, server: ModelServer) -> None:
    """What was counted is charged; each request was recorded; a cap is held before one leaves."""
    server.embedded.clear()
    settings = metered(server, day_tokens=40)
    async with supervised(tmp_path, settings, [OPENAI]) as running:
        asked = Asked(running, await running.bench(a__txt="a"))
        made, cost = await asked.vectors("one two", "three")
        assert (len(made.data), made.usage.input_tokens) == (2 * 4 * made.size, 3)
        assert (cost, asked.spent()) == (0.000003, (3, 0.000003, 0))
        (sent,) = asked.sent
        assert (sent.purpose, sent.model_id, sent.path) == ("embed", "openai:m", "/v1/embeddings")
        with pytest.raises(BudgetCapReached, match=r"run\.day_tokens"):
            await asked.vectors("word " * 40)
        assert len(server.embedded) == len(asked.sent) == 1
        assert asked.spent() == (3, 0.000003, 0)


@pytest.mark.anyio
@on_asyncio
async def test_a_failed_request_is_tried_again_shortly(tmp_path: Path, server: ModelServer) -> None:
    """A search never waits for long: few attempts and no long pause, and only where it may help."""
    async with supervised(tmp_path, metered(server), [OPENAI]) as running:
        asked = Asked(running, await running.bench(a__txt="a"))

        async def failed(*troubles: dict[str, Any], purpose: str = "query") -> KbdError:
            server.embedded.clear()
            server.troubles[:] = troubles
            with pytest.raises(KbdError) as caught:
                await asked.vectors("a", purpose=purpose)
            server.troubles.clear()
            return caught.value

        server.troubles[:] = [failure(429), failure(500)]
        assert (await asked.vectors("a"))[1] == 0.000001
        assert len(asked.sent) == 3
        assert type(await failed(failure(429), failure(429), failure(429))) is ProviderRateLimited
        assert len(server.embedded) == 2
        patient = failure(429) | {"retry_after": "60"}
        assert type(await failed(patient, purpose="passage")) is ProviderRateLimited
        assert len(server.embedded) == 1
        wrong: dict[str, Any] = {"data": [], "usage": {}}
        assert type(await failed(wrong, wrong)) is MalformedReply
        assert type(await failed(failure(400), purpose="passage")) is ValidationFailed
        assert len(server.embedded) == 1
        assert asked.spent() == (1, 0.000001, 0)


@pytest.mark.anyio
@on_trio
async def test_silence_ends_in_time(tmp_path: Path, server: ModelServer) -> None:
    """Who does not answer is given up within the time of one pause, whatever is asked for."""
    async with supervised(tmp_path, metered(server, provider_s=0.1), [OPENAI]) as running:
        asked = Asked(running, await running.bench(a__txt="a"))
        server.troubles[:] = [{"silence_s": 60.0}] * 3
        with pytest.raises(ProviderUnavailable):
            await asked.vectors("a")
        server.troubles.clear()
        assert asked.spent()[2] == 0


@pytest.mark.anyio
@on_trio
async def test_an_embedder_is_no_model_to_talk_to(tmp_path: Path, server: ModelServer) -> None:
    """Settings that say what it costs do not make it one of the models that are listed."""
    settings = metered(server)
    other = {**settings.models, "openai:big": ModelSettings(input_price=2.0)}
    settings = msgspec.structs.replace(settings, models=other)
    async with supervised(tmp_path, settings, [OPENAI]) as running:
        nobody: Any = None
        found = ProviderMethods(running.context, running.benches).models(
            listing.ModelsListSupported(), nobody
        )
        assert [row.model_id for row in found.models] == ["openai:big"]
