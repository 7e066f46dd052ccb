"""A wrapped model is its own provider's: consent, address, window, prices, efforts, set-up."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from backends import on_asyncio, on_trio
from folding import Folded
from kbd import hookimpl
from kbd.core.domain.commands import GrantConsent
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.gateway.gateway import Egress
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.paths import Home
from kbd.core.runtime.secrets import Secrets
from kbd.core.runtime.settings import RunLimits, Settings
from kbd.errors import (
    EgressBlockedByPolicy,
    EgressConsentRequired,
    NotFound,
    ProviderNotConfigured,
    ValidationFailed,
)
from kbd.events.disk import Disk
from kbd.events.workbenches import RequestSent
from kbd.messages import Message, Usage
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
    ToolSchema,
)
from kbd.testing.providers import ScriptedProvider
from kbd.types import Phase
from purses import purse_in

AWAY = {"OPENAI_API_KEY": "sk-x"}
MODEL, WRAPPED = "openai:big", "toolcall:openai:big"
TOOL = ToolSchema("t", "Does.", {"type": "object", "properties": {}})


def opened(
    folder: Path, environment: Mapping[str, str], *more: EntryPoint
) -> tuple[Egress, DailyBudget]:
    """The door and the purse of a daemon that was started with an environment."""
    folder.mkdir(exist_ok=True)
    home = Home(folder=folder, socket=folder / "s")
    settings = Settings.read(home, environment)
    names = ("offline", "openai", "toolcall")
    found = [*(EntryPoint(name, f"kbd_{name}") for name in names), *more]
    plugins = Plugins.discover(settings, environment=environment, found=found)
    of_plugin = partial(settings.of_plugin, environment=environment)
    catalog = Catalog(plugins)
    daemon, purse = purse_in(folder / "daemon-log", catalog, RunLimits(), Disk())
    return Egress(catalog, settings, Secrets(home, environment), of_plugin, daemon), purse


def test_consent_to_a_model_is_one_to_it_wrapped(tmp_path: Path) -> None:
    """And the other way round: the same files go to the same place."""
    egress, _ = opened(tmp_path, AWAY)
    for agreed, asked in ((MODEL, WRAPPED), (WRAPPED, MODEL)):
        folded = Folded()
        folded.add("a.csv", "a")
        with pytest.raises(EgressConsentRequired, match=r"api\.openai\.com") as refused:
            egress.check(folded.state, asked)
        assert refused.value.detail["model_id"] == MODEL
        assert refused.value.detail["provider_id"] == "openai"
        consent = egress.consent_to(folded.state, agreed, persist=True)
        assert consent.scope_hash == refused.value.detail["scope_hash"]
        assert (consent.provider_id, consent.model_id) == ("openai", MODEL)
        folded.do(GrantConsent(consent, consent.scope_hash))
        egress.check(folded.state, asked)
        assert not egress.consented(folded.state, "toolcall:openai:other")


def test_where_a_wrapped_model_is_and_what_it_costs(tmp_path: Path) -> None:
    """Address, whether it leaves, window less the protocol, prices, and that money counts."""
    (tmp_path / "settings.toml").write_text(
        '[models."openai:big"]\ncontext_tokens = 9000\ninput_price = 2.5\n'
        '[models."toolcall:openai:big"]\noutput_price = 4.0\n'
        '[models."toolcall:nobody:big"]\noutput_price = 1.0\n'
    )
    egress, purse = opened(tmp_path, {**AWAY, "KBD_EGRESS_HOSTS": "models.example"})
    here, _ = opened(tmp_path / "b", {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    models = egress.models
    assert egress.endpoint(WRAPPED) == "api.openai.com:443"
    assert egress.needs_consent(WRAPPED)
    assert not here.needs_consent(WRAPPED)
    info = models.model(WRAPPED)
    assert (info.id, info.input_price, info.output_price) == (WRAPPED, 2.5, 4.0)
    assert 8000 < info.context_tokens < 9000
    listed = [info.id for _, info in models.listed()]
    assert WRAPPED in listed
    assert "toolcall:nobody:big" not in listed
    assert purse.is_metered(WRAPPED)
    assert not purse.is_metered("toolcall:nobody:big")
    assert (models.told_bytes(WRAPPED, [TOOL]), models.told_bytes(MODEL, [TOOL])) == (
        14,
        None,
    )
    with pytest.raises(EgressBlockedByPolicy, match=r"egress\.hosts"):
        egress.check_set_up(WRAPPED)


def test_what_people_set_for_a_provider_holds_for_its_wrapped_models(tmp_path: Path) -> None:
    """Efforts, and that it is disabled; the wrapper can be disabled, too."""
    egress, _ = opened(tmp_path, {**AWAY, "KBD_MODEL": WRAPPED})
    models, state = egress.models, egress._daemon.state
    assert models.default() == WRAPPED
    reasons = {each.provider.name: each.status.reason for each in models.described()}
    assert reasons["openai"] is None  # its model is named
    state.efforts["openai"] = {"plan": "high"}
    assert models.effort(WRAPPED, Phase.PLAN) == "high"
    for disabled in ("openai", "toolcall"):
        state.disabled.add(disabled)
        with pytest.raises(ProviderNotConfigured, match=f"provider {disabled} is disabled"):
            egress.check_set_up(WRAPPED)
        assert models.default() == WRAPPED  # none takes its place
        state.disabled.discard(disabled)
    bare, _ = opened(tmp_path / "b", {})
    with pytest.raises(ProviderNotConfigured, match="OPENAI_API_KEY"):
        bare.check_set_up(WRAPPED)


def test_what_cannot_be_wrapped_is_told(tmp_path: Path) -> None:
    """No provider, no model, a provider without it, a wrapper."""
    models = opened(tmp_path, {})[0].models
    for model_id, told in (
        ("toolcall:openai", "toolcall:provider:model"),
        ("toolcall:", "toolcall:provider:model"),
        ("toolcall:openai:", "toolcall:provider:model"),
        ("toolcall:toolcall:openai:big", "cannot be wrapped"),
        ("toolcall:toolcall:toolcall", "cannot be wrapped"),
        ("toolcall:offline:planner", "writes no text of its own"),
    ):
        with pytest.raises(ValidationFailed, match=told):
            models.provider(model_id)
    with pytest.raises(NotFound):
        models.provider("toolcall:nobody:big")
    assert models.provider("toolcall:openai:org/big:7b").name == "openai"


class Noting(Provider):
    """A wrapping provider that notes what it is lent."""

    name = "noting"
    takes_any_model = True
    wraps = True

    def __init__(self) -> None:
        self.lent: list[Access] = []

    def models(self) -> Sequence[ModelInfo]:
        """Return none."""
        return ()

    def status(self) -> ProviderStatus:
        """Return that it is ready."""
        return ProviderStatus(configured=True, leaves_machine=False)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Ask the one that is wrapped."""
        self.lent.append(access)
        assert access.ask is not None
        return await access.ask(request, emit)


@on_trio
@pytest.mark.anyio
async def test_the_wrapper_is_lent_its_provider_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is asked by its own name; no key, address or client is lent to the wrapper."""
    noting, scripted = Noting(), ScriptedProvider([ModelReply("Hi")])
    module = ModuleType("wrapping_test_plugin")
    module.__file__ = __file__
    module.__dict__["kbd_register_providers"] = hookimpl(
        lambda settings: [noting, scripted], specname="kbd_register_providers"
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    egress, _ = opened(tmp_path, {}, EntryPoint("wrapping", module.__name__))

    async def record(sent: RequestSent) -> None:
        raise AssertionError(sent)

    for model_id, tools in (("noting:scripted:script", 1), ("toolcall:scripted:script", 0)):
        heard: list[str] = []
        request = ModelRequest(model_id.partition(":")[2], (Message("user", "x"),), (TOOL,))
        reply = await egress.complete(Folded().state, model_id, request, heard.append, record)
        assert (reply.text, heard) == ("Hi", ["Hi"])
        assert scripted.requests[-1].model == "script"
        assert len(scripted.requests[-1].tools) == tools
    (access,) = noting.lent
    assert (access.api_key, access.base_url, access.http_client) == (None, None, None)


@on_asyncio
@pytest.mark.anyio
async def test_a_reply_of_a_plugin_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Usage below zero is none, whoever's provider says so: it is estimated."""
    scripted = ScriptedProvider([ModelReply("Hi", usage=Usage(-5, 3))])
    module = ModuleType("miscounting_test_plugin")
    module.__file__ = __file__
    module.__dict__["kbd_register_providers"] = hookimpl(
        lambda settings: [scripted], specname="kbd_register_providers"
    )
    monkeypatch.setitem(sys.modules, module.__name__, module)
    egress, _ = opened(tmp_path, {}, EntryPoint("miscounting", module.__name__))

    async def record(sent: RequestSent) -> None:
        raise AssertionError(sent)

    for model_id in ("scripted:script", "toolcall:scripted:script"):
        request = ModelRequest("script", (Message("user", "x"),))
        reply = await egress.complete(Folded().state, model_id, request, lambda _: None, record)
        assert reply.usage.is_plausible
        assert reply.usage_is_estimate
