"""The one door out: which model, whose consent, which address, and no key in sight."""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from backends import on_asyncio, on_trio
from folding import Folded, blob
from kbd.core.domain.commands import GrantConsent, SendMessage, StartRun
from kbd.core.domain.consent import scope_hash
from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.gateway.gateway import Egress
from kbd.core.gateway.outbound_call import ProviderAccess
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.secrets import Secrets
from kbd.core.runtime.settings import Settings
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.errors import (
    EgressBlockedByPolicy,
    EgressConsentRequired,
    KbdError,
    NotFound,
    ProviderNotConfigured,
    ValidationFailed,
)
from kbd.events.drafts import DraftOpened, FileChanged, PlannedFile, PublishCompleted
from kbd.events.drafts import PublishIntended as Intended
from kbd.events.log import EventLog
from kbd.events.runs import RunFinished, RunInterrupted
from kbd.events.workbenches import (
    ConsentGranted,
    ContextRemoved,
    ContextSet,
    FileRemoved,
    RequestSent,
)
from kbd.messages import Message
from kbd.providers import ModelRequest
from kbd.types import FileName

KEY = "sk-not-to-be-seen"
AWAY = {"OPENAI_API_KEY": KEY}
HERE = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
MODEL = "openai:big"


def door(folder: Path, environment: Mapping[str, str]) -> Egress:
    """The door of a daemon that was started with an environment."""
    folder.mkdir(exist_ok=True)
    home = Home(folder=folder, socket=folder / "s")
    settings = Settings.read(home, environment)
    # The formats are no part of this, and take ten times as long.
    found = [EntryPoint("offline", "kbd_offline"), EntryPoint("openai", "kbd_openai")]
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


def consent(folded: Folded, model_id: str = MODEL, *, persist: bool = True) -> None:
    """Have a person agree to what there is now."""
    scope = scope_hash(folded.state, model_id)
    granted = ConsentGranted(model_id.partition(":")[0], model_id, scope, persist)
    folded.do(GrantConsent(granted, scope))


@pytest.mark.parametrize(
    ("environment", "chosen", "model"),
    [
        ({}, None, "offline:planner"),
        ({"KBD_MODEL": MODEL}, None, MODEL),
        ({"KBD_MODEL": MODEL, **AWAY}, None, MODEL),
        ({"KBD_MODEL": MODEL}, "offline:planner", "offline:planner"),
        ({**AWAY, "OPENAI_MODEL": "small"}, None, "openai:small"),
        ({**HERE, "OPENAI_MODEL": "small"}, None, "openai:small"),
    ],
)
def test_the_default_model(
    tmp_path: Path, environment: dict[str, str], chosen: str | None, model: str
) -> None:
    """What a person chose, what the settings name, what a provider is set up for, offline."""
    egress = door(tmp_path, environment)
    egress._daemon.state.model_id = chosen
    assert egress.models.default() == model


@pytest.mark.parametrize("environment", [AWAY, HERE])
def test_a_provider_without_a_model_names_the_setting(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """A key or an address alone is not enough, and the message says what is to be set."""
    with pytest.raises(ProviderNotConfigured, match="KBD_MODEL") as refused:
        door(tmp_path, environment).models.default()

    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("environment", "chosen", "model"),
    [
        ({"KBD_MODEL": MODEL, **AWAY}, None, MODEL),
        ({**AWAY, "KBD_MODEL": "offline:planner"}, MODEL, MODEL),
        ({**AWAY, "OPENAI_MODEL": "small"}, None, "openai:small"),
        ({}, None, "offline:planner"),
    ],
)
def test_no_model_takes_the_place_of_a_disabled_one(
    tmp_path: Path, environment: dict[str, str], chosen: str | None, model: str
) -> None:
    """It is meant as before, however it was chosen, and refused by name with what helps."""
    egress = door(tmp_path, environment)
    provider_id = model.partition(":")[0]
    egress._daemon.state.model_id = chosen
    egress._daemon.state.disabled.add(provider_id)

    assert egress.models.default() == egress.models.chosen_or_default() == model
    with pytest.raises(ProviderNotConfigured) as refused:
        egress.check(Folded().state, egress.models.of_workbench(Folded().state))
    told = f"the provider {provider_id} is disabled, and with it the model {model}"
    assert told in refused.value.message
    assert f"kbd providers enable {provider_id}" in refused.value.message
    assert refused.value.detail == {"provider_id": provider_id, "model_id": model}
    assert len(refused.value.actions) == 2


def test_a_disabled_provider_without_a_model_names_no_setting(tmp_path: Path) -> None:
    """That it is disabled is told first: to name a model would not help."""
    egress = door(tmp_path, AWAY)
    egress._daemon.state.disabled.add("openai")

    with pytest.raises(ProviderNotConfigured, match="kbd providers enable openai"):
        egress.models.default()


def test_model_ids_are_checked(tmp_path: Path) -> None:
    """An id without a provider, of no provider, or that a closed provider lacks is refused."""
    egress = door(tmp_path, {})

    for ill_formed in ("big", ":big", "openai:", ""):
        with pytest.raises(ValidationFailed):
            egress.models.provider(ill_formed)
    for unknown in ("nobody:big", "offline:big"):
        with pytest.raises(NotFound):
            egress.models.provider(unknown)
    assert egress.models.model("openai:whatever").id == "openai:whatever"


def test_only_what_leaves_needs_consent(tmp_path: Path) -> None:
    """Offline and a loopback address need none; an address elsewhere does."""
    folded = Folded()
    folded.add("a.csv", "a")

    assert not door(tmp_path, {}).needs_consent("offline:planner")
    assert not door(tmp_path, HERE).needs_consent(MODEL)
    assert door(tmp_path, AWAY).needs_consent(MODEL)
    assert door(tmp_path, {"OPENAI_BASE_URL": "http://192.0.2.1/v1"}).needs_consent(MODEL)
    door(tmp_path, HERE).check(folded.state, MODEL)


def test_a_provider_that_is_not_set_up_is_refused_first(tmp_path: Path) -> None:
    """Without key and address the answer says which setting to make; a key makes a model do."""
    folded = Folded()

    with pytest.raises(ProviderNotConfigured, match="OPENAI_API_KEY"):
        door(tmp_path, {}).check(folded.state, MODEL)
    with pytest.raises(EgressConsentRequired):
        door(tmp_path, AWAY).check(folded.state, MODEL)


def test_consent_names_what_is_to_be_agreed_to(tmp_path: Path) -> None:
    """The refusal carries provider, model and scope; agreeing to just that opens the door."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")

    with pytest.raises(EgressConsentRequired, match=r"api\.openai\.com") as refused:
        egress.check(folded.state, MODEL)
    assert refused.value.detail == {
        "provider_id": "openai",
        "model_id": MODEL,
        "scope_hash": scope_hash(folded.state, MODEL),
    }
    consent(folded)
    egress.check(folded.state, MODEL)


def test_consent_is_about_names_contents_and_model(tmp_path: Path) -> None:
    """Another file, the same file with other contents, or another model asks again."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")
    consent(folded)

    assert egress.consented(folded.state, MODEL)
    assert not egress.consented(folded.state, "openai:other")
    folded.add("b.csv", "b")
    assert not egress.consented(folded.state, MODEL)
    folded.apply(FileRemoved(FileName("b.csv")))
    assert egress.consented(folded.state, MODEL)
    folded.apply(FileRemoved(FileName("a.csv")))
    folded.add("a.csv", "c")
    assert not egress.consented(folded.state, MODEL)


def test_what_a_run_made_asks_for_no_new_consent(tmp_path: Path) -> None:
    """A draft, and publishing it, adds nothing that the person had not agreed to send."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")
    consent(folded)
    new, changed = FileName("new.txt"), FileName("a.csv")
    folded.apply(
        DraftOpened("d"),
        FileChanged(new, None, blob("d"), 3),
        FileChanged(changed, blob("a"), blob("e"), 3),
    )
    assert egress.consented(folded.state, MODEL)
    planned = (PlannedFile(changed, blob("a"), blob("e"), 3), PlannedFile(new, None, blob("d"), 3))
    folded.apply(Intended("p", planned), PublishCompleted("p", "c1"))

    assert folded.state.files[new].blob == blob("d")
    assert egress.consented(folded.state, MODEL)


def test_consent_for_one_run_ends_with_it(tmp_path: Path) -> None:
    """One that does not persist covers the next run, its resumption, and not the run after."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")
    folded.do(SendMessage("u1", "x"))
    consent(folded, persist=False)

    assert egress.consented(folded.state, MODEL)
    folded.do(StartRun(None, MODEL))
    assert egress.consented(folded.state, MODEL)
    folded.apply(RunInterrupted("stopped"), run=1)
    assert egress.consented(folded.state, MODEL)
    folded.do(StartRun(None, MODEL))
    folded.apply(RunFinished(has_draft=False), run=1)
    folded.do(SendMessage("u2", "y"))
    assert not egress.consented(folded.state, MODEL)


def test_consent_that_is_given_during_a_run_ends_with_it(tmp_path: Path) -> None:
    """By who is asked while it waits: for this run and its resumption, and not for the next one."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")
    folded.do(SendMessage("u1", "x"))
    folded.do(StartRun(None, MODEL))
    consent(folded, persist=False)

    assert egress.consented(folded.state, MODEL)
    folded.apply(RunInterrupted("stopped"), run=1)
    assert egress.consented(folded.state, MODEL)
    folded.do(StartRun(None, MODEL))
    assert egress.consented(folded.state, MODEL)
    folded.apply(RunFinished(has_draft=False), run=1)
    folded.do(SendMessage("u2", "y"))
    assert not egress.consented(folded.state, MODEL)


@on_trio
@pytest.mark.anyio
async def test_every_turn_is_checked(tmp_path: Path) -> None:
    """A file that is added during a run is not sent by its next turn."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")
    consent(folded)
    folded.add("b.csv", "b")
    request = ModelRequest(model="big", messages=(Message(role="user", text="x"),))

    with pytest.raises(EgressConsentRequired):
        await egress.complete(folded.state, MODEL, request, lambda _: None, nowhere)


@on_asyncio
@pytest.mark.anyio
async def test_a_turn_that_cannot_connect_does_not_tell_the_key(tmp_path: Path) -> None:
    """The key goes to the provider's client and into no error."""
    egress = door(tmp_path, {**HERE, **AWAY})
    request = ModelRequest(model="big", messages=(Message(role="user", text="x"),))

    with pytest.raises(KbdError) as refused:
        await egress.complete(Folded().state, MODEL, request, lambda _: None, nowhere)
    await egress.aclose()

    told = f"{refused.value!r} {refused.value} {refused.value.detail} {refused.value.__cause__!r}"
    assert KEY not in told
    assert refused.value.code == "NETWORK_UNAVAILABLE"


def test_what_is_lent_shows_no_key() -> None:
    """A key that is lent for a call is in no repr."""
    lent = ProviderAccess(KEY, "http://127.0.0.1:9/v1", None, 1.0)

    assert KEY not in f"{lent} {lent!r}"


def test_the_default_model_sets_its_provider_up(tmp_path: Path) -> None:
    """A key, and a model that is named elsewhere than for the provider, are all that it needs."""

    def missing(environment: dict[str, str]) -> str | None:
        described = door(tmp_path, environment).models.described()
        return next(each.status.reason for each in described if each.provider.name == "openai")

    assert "no key" in str(missing({"KBD_MODEL": MODEL}))
    assert "no model" in str(missing({**AWAY, "KBD_MODEL": "offline:planner"}))
    assert missing({**AWAY, "KBD_MODEL": MODEL}) is None


def test_consent_is_about_context_items(tmp_path: Path) -> None:
    """Another item asks again; without any the hash is what it was before there were any."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    folded.add("a.csv", "a")
    before = scope_hash(folded.state, MODEL)
    origin = folded.state.files[FileName("a.csv")].origin
    assert before == sha256(f"{MODEL}\0a.csv\0{origin}".encode()).hexdigest()
    consent(folded)
    folded.apply(ContextSet("situation", "We sell."))
    assert not egress.consented(folded.state, MODEL)
    consent(folded)
    assert egress.consented(folded.state, MODEL)
    folded.apply(ContextSet("situation", "We buy."))
    assert not egress.consented(folded.state, MODEL)
    folded.apply(ContextRemoved("situation"))
    assert egress.consented(folded.state, MODEL)


def test_consent_is_for_an_address(tmp_path: Path) -> None:
    """Another address asks again; what was agreed to before addresses were kept still holds."""
    folded, egress = Folded(), door(tmp_path, AWAY)
    elsewhere = door(tmp_path / "b", {**AWAY, "OPENAI_BASE_URL": "https://models.example/v1"})
    folded.add("a.csv", "a")
    agreed = egress.consent_to(folded.state, MODEL, persist=True)
    assert agreed.endpoint == "api.openai.com:443"
    folded.do(GrantConsent(agreed, agreed.scope_hash))

    assert egress.consented(folded.state, MODEL)
    assert not elsewhere.consented(folded.state, MODEL)
    with pytest.raises(EgressConsentRequired, match=r"models\.example:443"):
        elsewhere.check(folded.state, MODEL)
    consent(folded)
    assert elsewhere.consented(folded.state, MODEL)


def test_named_hosts_are_the_only_ones(tmp_path: Path) -> None:
    """A provider that is elsewhere is refused before a run begins; what is no host is a fault."""
    folded = Folded()
    named = {**AWAY, "KBD_EGRESS_HOSTS": "models.example, 127.0.0.1:9"}
    with pytest.raises(EgressBlockedByPolicy, match=r"egress\.hosts"):
        door(tmp_path, named).check_set_up(MODEL)
    door(tmp_path / "b", {**named, **HERE}).check(folded.state, MODEL)
    with pytest.raises(ValidationFailed, match=r"egress\.hosts"):
        door(tmp_path / "c", {"KBD_EGRESS_HOSTS": "https://models.example"})


def test_settings_say_what_models_are_like(tmp_path: Path) -> None:
    """Window and prices of the settings file take the place of a provider's, and name models."""
    home = Home(folder=tmp_path, socket=tmp_path / "s")
    home.settings_file.write_text(
        '[models."openai:big"]\ncontext_tokens = 1000\ninput_price = 2.5\n'
    )
    models = door(tmp_path, AWAY).models

    big = models.model(MODEL)
    assert (big.context_tokens, big.input_price, big.output_price) == (1000, 2.5, 0.0)
    assert MODEL in [info.id for _, info in models.listed()]
    assert models.model("openai:other").context_tokens == 128_000
