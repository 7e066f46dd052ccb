"""Embedders: brought by plugins, chosen by settings, and asked as any model that is elsewhere."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from backends import on_asyncio, on_trio
from folding import Folded
from kbd import hookimpl
from kbd.core.api.providers import EgressMethods, ProviderMethods
from kbd.core.domain.consent import scope_hash
from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.gateway.gateway import Egress
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.secrets import Secrets
from kbd.core.runtime.settings import SearchSettings, Settings
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.errors import (
    EgressConsentRequired,
    NotFound,
    ProviderNotConfigured,
    ProviderUnavailable,
)
from kbd.events.log import EventLog
from kbd.events.workbenches import RequestSent, SettingChanged
from kbd.providers import (
    Access,
    Embedder,
    Embeddings,
    EmbedRequest,
    MalformedReply,
    Provider,
    ProviderStatus,
)
from kbd.requests import egress as consents
from kbd.requests import providers as listing
from kbd.testing.providers import ScriptedProvider
from quiet import Quiet
from supervised import add, supervised

KEY = "sk-not-to-be-seen"

OPENAI = EntryPoint("openai", "kbd_openai", source="kbd")

Module = Callable[..., EntryPoint]


class Near(Embedder):
    """An embedder of this machine; a plugin's that went wrong, if it is told so."""

    name: ClassVar[str] = "near"
    most_texts: ClassVar[int] = 2
    is_ready, is_closed = True, False
    answer: bytes | None = bytes(8)

    def status(self) -> ProviderStatus:
        """As set."""
        reason = None if self.is_ready else "Near is nowhere."
        return ProviderStatus(self.is_ready, leaves_machine=False, reason=reason)

    def default_model(self) -> str:
        """The one model."""
        return "small"

    async def fingerprint(self, model: str) -> str:
        """The model."""
        return model

    async def aclose(self) -> None:
        """Note it."""
        self.is_closed = True

    async def embed(self, request: EmbedRequest, access: Access) -> Embeddings:
        """Two numbers for each text, or what is set."""
        del access
        if self.answer is None:
            raise RuntimeError(KEY)
        return Embeddings(self.answer * len(request.texts), 2)


class Other(Near):
    """A second one of this machine."""

    name = "other"


class Nameless(Near):
    """Its name cannot be one."""

    name = "Not a name"


class Greedy(Near):
    """It takes no texts."""

    most_texts = 0


class Failing(Near):
    """It cannot say how it is set up."""

    name = "failing"

    async def aclose(self) -> None:
        """Fail."""
        raise RuntimeError(KEY)

    def status(self) -> ProviderStatus:
        """Fail."""
        raise RuntimeError(KEY)


class Twin(Near):
    """It has the name of another plugin's provider."""

    name = ScriptedProvider.name


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Module:
    """Make a plugin that brings what it is given."""

    def made(
        name: str, embedders: Sequence[object] = (), providers: Sequence[Provider] = ()
    ) -> EntryPoint:
        found = ModuleType(f"plug_{name}")
        found.__file__ = __file__

        @hookimpl
        def kbd_register_embedders() -> Sequence[object]:
            return embedders

        @hookimpl
        def kbd_register_providers() -> Sequence[Provider]:
            return providers

        vars(found)["kbd_register_embedders"] = kbd_register_embedders
        vars(found)["kbd_register_providers"] = kbd_register_providers
        monkeypatch.setitem(sys.modules, found.__name__, found)
        return EntryPoint(name, found.__name__)

    return made


def door(folder: Path, *found: EntryPoint, **environment: str) -> Egress:
    """The door of a daemon that was started with an environment."""
    folder.mkdir(exist_ok=True)
    home = Home(folder=folder, socket=folder / "s")
    settings = Settings.read(home, environment)
    plugins = Plugins.discover(settings, environment=environment, found=found)
    of_plugin = partial(settings.of_plugin, environment=environment)
    daemon: Keeper[DaemonState, DaemonCommand] = Keeper(
        Journal(EventLog.open(folder / "daemon-log")),
        blank=DaemonState,
        fold=fold_daemon,
        decide=decide_daemon,
        clock=SystemClock(),
    )
    return Egress(Catalog(plugins), settings, Secrets(home, environment), of_plugin, daemon)


async def nowhere(sent: RequestSent) -> None:
    """Record nothing."""
    del sent


def asking(*texts: str) -> EmbedRequest:
    """Ask for vectors."""
    return EmbedRequest("", texts or ("a",), "passage")


def test_what_plugins_bring_is_checked(module: Module) -> None:
    """A good one is there with its owner; ill-formed ones are left out with their reasons."""
    given = [Near(), Nameless(), Greedy(), "text", Near()]
    plugins = Plugins.discover(Settings(), found=[module("near", given)])

    assert [owned.item.name for owned in plugins.embedders] == [Near.name]
    assert Catalog(plugins).embedder("near").plugin.name == "near"
    (status,) = plugins.statuses
    assert (status.status, status.kind) == ("loaded", "embedder")
    assert status.contributions == ("embedder near",)
    for reason in ("Nameless.name", "Greedy.most_texts", "Embedder is due", "brings one, too"):
        assert reason in (status.reason or "")
    with pytest.raises(NotFound, match="there are: near"):
        Catalog(plugins).embedder("far")


def test_a_name_is_one_plugins_affair(module: Module) -> None:
    """A plugin's provider and embedder may share a name; with another's provider it may not."""
    own = module("own", [Twin()], [ScriptedProvider([])])
    plugins = Plugins.discover(Settings(), found=[own])
    assert plugins.statuses[0].contributions == ("provider scripted", "embedder scripted")

    other = module("other", [Twin()])
    provider = module("provider", [], [ScriptedProvider([])])
    plugins = Plugins.discover(Settings(), found=[other, provider])
    assert plugins.embedders == ()
    assert "a name of plugin provider's" in (plugins.statuses[0].reason or "")


@pytest.mark.parametrize(
    ("environment", "model_id", "reason"),
    [
        ({}, "near:small", ""),
        ({"KBD_SEARCH_EMBEDDER": "none"}, "", "none"),
        ({"KBD_SEARCH_EMBEDDER": "near"}, "near:small", ""),
        ({"KBD_SEARCH_EMBEDDER": "near:big"}, "near:big", ""),
        ({"KBD_SEARCH_EMBEDDER": "far"}, "", "no embedder 'far'; there are: near, openai"),
        ({"KBD_SEARCH_EMBEDDER": "openai"}, "", "OPENAI_API_KEY"),
        ({"OPENAI_API_KEY": KEY}, "near:small", ""),
        ({"OPENAI_API_KEY": KEY, "KBD_SEARCH_EMBEDDER": "openai"},
         "openai:text-embedding-3-small", ""),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "KBD_SEARCH_EMBEDDER": "openai"},
         "", 'search.embedder = "openai:MODEL"'),
        # One of this machine whose model a person named comes before what merely is installed.
        ({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_EMBEDDING_MODEL": "m"},
         "openai:m", ""),
        ({"OPENAI_BASE_URL": "http://192.0.2.1/v1", "OPENAI_EMBEDDING_MODEL": "m"},
         "near:small", ""),
        ({"OPENAI_API_KEY": KEY, "KBD_SEARCH_EMBEDDER": "openai",
          "KBD_EGRESS_HOSTS": "models.example"}, "", "egress.hosts"),
    ],
)  # fmt: skip
def test_which_embedder_is_meant(
    tmp_path: Path, module: Module, environment: dict[str, str], model_id: str, reason: str
) -> None:
    """What settings name, or why it cannot be used; else the first that sends nothing away."""
    opened = door(tmp_path, OPENAI, module("near", [Near()]), **environment)
    chosen = opened.embedder()

    assert chosen.model_id == model_id
    assert bool(chosen.reason) == (not model_id)
    assert reason in chosen.reason
    assert KEY not in chosen.reason
    assert chosen.leaves_machine == (model_id == "openai:text-embedding-3-small")


def test_one_that_fails_or_is_not_set_up_is_told(tmp_path: Path, module: Module) -> None:
    """Its own reason is given; a fault inside is told without what it said."""
    near = Near()
    near.is_ready = False
    found = module("near", [near, Failing()])

    opened = door(tmp_path / "1", found, KBD_SEARCH_EMBEDDER="near")
    assert opened.embedder().reason == "Near is nowhere."
    opened = door(tmp_path / "2", found, KBD_SEARCH_EMBEDDER="failing")
    assert opened.embedder().reason == "the embedder failing failed inside (RuntimeError)"
    assert [row.enabled for row in opened.embedders.described()] == [True, True]


@pytest.mark.anyio
@on_trio
async def test_one_that_people_disabled_is_not_used(tmp_path: Path, module: Module) -> None:
    """Its name is disabled as a provider's is, and vectors of two are never mixed up."""
    sup = supervised(tmp_path, found=[module("near", [Near()])])
    async with sup as running:
        opened = running.context.egress
        assert opened.embedder().model_id == "near:small"
        disabled = SettingChanged("enabled", "false", "near")
        await running.benches.daemon.submit(RecordDaemon((disabled,)))
        assert opened.embedder().model_id == ""
        assert opened.embedder().reason == (
            "the provider near is disabled: kbd providers enable near"
        )
        with pytest.raises(ProviderNotConfigured):
            await opened.fingerprint()
        with pytest.raises(ProviderNotConfigured, match="disabled"):
            await opened.validate("near")
        await running.benches.daemon.submit(
            RecordDaemon((SettingChanged("enabled", "true", "near"),))
        )
        assert await opened.fingerprint("near:small") == "near:small"
        await opened.validate("near")
        with pytest.raises(ProviderNotConfigured, match="no longer near:big"):
            await opened.embed(Folded().state, asking(), nowhere, "near:big")


def test_none_takes_the_place_of_a_disabled_one(tmp_path: Path, module: Module) -> None:
    """Another one that is on this machine, too, is not asked without a word."""
    near = Near()
    opened = door(tmp_path, module("near", [near, Other()]))
    assert opened.embedder().model_id == "near:small"
    opened._daemon.state.disabled.add("near")

    assert opened.embedder().model_id == ""
    assert "near is disabled" in opened.embedder().reason
    near.is_ready = False
    assert opened.embedder().model_id == "other:small"


@pytest.mark.anyio
@on_asyncio
async def test_what_a_plugin_returns_is_checked(tmp_path: Path, module: Module) -> None:
    """As many vectors as texts, or none; a fault inside is told without what it said."""
    near = Near()
    opened = door(tmp_path, module("near", [near]))
    state = Folded().state

    assert (await opened.embed(state, asking("a", "b"), nowhere)).size == 2
    near.answer = bytes(4)
    with pytest.raises(MalformedReply):
        await opened.embed(state, asking("a", "b"), nowhere)
    with pytest.raises(MalformedReply):
        await opened.validate("near")
    near.answer = None
    with pytest.raises(ProviderUnavailable, match="RuntimeError") as failed:
        await opened.embed(state, asking(), nowhere)
    assert KEY not in failed.value.message


@pytest.mark.anyio
@on_trio
async def test_embedders_let_go_at_the_end(tmp_path: Path, module: Module) -> None:
    """Each is told to, one that fails at it keeps nobody from closing."""
    near = Near()
    await door(tmp_path, module("near", [Failing(), near])).aclose()

    assert near.is_closed


@pytest.mark.anyio
@on_asyncio
async def test_what_leaves_needs_a_consent_of_its_own(tmp_path: Path) -> None:
    """Without one nothing is recorded and nothing sent; the refusal says what to agree to."""
    away = {"OPENAI_API_KEY": KEY, "KBD_SEARCH_EMBEDDER": "openai"}
    opened = door(tmp_path, OPENAI, **away)
    folded, model_id = Folded(), "openai:text-embedding-3-small"
    folded.add("a.txt", "a")

    with pytest.raises(EgressConsentRequired, match=r"api\.openai\.com") as refused:
        await opened.embed(folded.state, asking(), nowhere)
    assert refused.value.detail == {
        "provider_id": "openai",
        "model_id": model_id,
        "scope_hash": scope_hash(folded.state, model_id),
    }
    folded.apply(opened.consent_to(folded.state, "openai:gpt", persist=True))
    with pytest.raises(EgressConsentRequired):
        opened.check_embedder(folded.state)
    folded.apply(opened.consent_to(folded.state, model_id, persist=True, embeds=True))
    assert opened.check_embedder(folded.state).model_id == model_id
    folded.add("b.txt", "b")
    with pytest.raises(EgressConsentRequired):
        opened.check_embedder(folded.state)


@pytest.mark.anyio
@on_asyncio
async def test_consent_over_the_wire(tmp_path: Path) -> None:
    """The answer about the model names the embedder; its id is asked for, agreed to and kept."""
    far = {"embedding_base_url": "http://192.0.2.1/v1", "embedding_model": "m"}
    settings = Settings(search=SearchSettings(embedder="openai"), plugins={"openai": far})
    found = [OPENAI, EntryPoint("offline", "kbd_offline")]
    async with supervised(tmp_path, settings, found) as running:
        bench = await running.bench(a__txt="a")
        methods = EgressMethods(running.context, running.benches)
        nobody = Quiet()
        about = consents.EgressGetConsentStatus(workbench_id=bench.id)
        first = await methods.status(about, nobody)
        assert (first.model_id, first.consented) == ("offline:planner", True)
        assert first.embedder == "openai:m"

        about = consents.EgressGetConsentStatus(workbench_id=bench.id, model_id="openai:m")
        status = await methods.status(about, nobody)
        assert (status.consented, status.endpoint) == (False, "192.0.2.1:80")
        agreed = consents.EgressGrantWorkshopConsent(
            workbench_id=bench.id, provider_id="openai", model_id="openai:m",
            scope_hash=status.scope_hash, persist=True,
        )  # fmt: skip
        await methods.grant(agreed, nobody)
        status = await methods.status(about, nobody)
        assert (status.consented, status.persisted) == (True, True)
        await add(bench, "b.txt", "b")
        assert not (await methods.status(about, nobody)).consented


@pytest.mark.anyio
@on_asyncio
async def test_embedders_are_listed_beside_providers(tmp_path: Path, module: Module) -> None:
    """Each with how it is set up, and which one searches use, or why none."""
    async with supervised(tmp_path, found=[module("near", [Near()]), OPENAI]) as running:
        methods = ProviderMethods(running.context, running.benches)
        nobody = Quiet()
        found = methods.status(listing.ProvidersGetStatus(), nobody)
        assert [row.provider_id for row in found.providers] == ["openai"]
        told = {row.provider_id: (row.configured, row.default_model) for row in found.embedders}
        assert told == {"near": (True, "small"), "openai": (False, "text-embedding-3-small")}
        assert found.embedder == "near:small"
        off = listing.ProvidersSetEnabled(provider_id="near", enabled=False)
        assert not (await methods.set_enabled(off, nobody)).enabled
        found = methods.status(listing.ProvidersGetStatus(), nobody)
        assert (found.embedder, bool(found.no_embedder)) == ("", True)
