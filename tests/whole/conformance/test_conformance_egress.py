"""Conformance of providers, consent and what leaves: a model elsewhere, a key, a person asked."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import RemoteError
from model_server import failure
from real_daemon import RealDaemon
from wired import MODEL, Wired, wired

FAR = "models.example"

LOST = """
import os
near = socket.getaddrinfo
def lost(*asked, **options):
    if os.path.exists(os.environ["LOST"]):
        raise socket.gaierror(-2, "Name or service not known")
    return near(*asked, **options)
socket.getaddrinfo = lost
"""
"""While the file that the variable names is there, the daemon finds no machine by its name."""

KEY = "sk-test-canary-0123456789"
HERE = "offline:planner"
EMBEDDINGS = "/v1/embeddings"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A key, and a file that cuts the net off."""
    return {
        "OPENAI_API_KEY": KEY,
        "OPENAI_EMBEDDING_MODEL": "words",
        "KBD_SEARCH_EMBEDDER": "openai",
        "LOST": str(tmp_path_factory.mktemp("net") / "lost"),
    }


@pytest.fixture(scope="module")
def wire(environment: Mapping[str, str]) -> Iterator[Wired]:
    """The daemon with a model that is elsewhere, as far as it can tell."""
    with wired("asyncio", LOST, environment, FAR) as running:
        yield running


def provider(wire: Wired, provider_id: str = "openai") -> dict[str, Any]:
    """How a provider is set up."""
    rows = wire.ask("ProvidersGetStatus")["providers"]
    found: dict[str, Any] = next(row for row in rows if row["provider_id"] == provider_id)
    return found


def consent(wire: Wired, workbench_id: str, *, persist: bool = True, **other: str) -> None:
    """Agree to what would be sent now."""
    status = wire.ask("EgressGetConsentStatus", workbench_id=workbench_id)
    agreed = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
    named = {"workbench_id": workbench_id, "persist": persist, **agreed, **other}
    wire.ask("EgressGrantWorkshopConsent", **named)


def consented(wire: Wired, workbench_id: str) -> bool:
    """Whether a run may start."""
    answer = wire.ask("EgressGetConsentStatus", workbench_id=workbench_id)["consented"]
    return bool(answer)


def sent(wire: Wired, workbench_id: str = "daemon", after: int = 0) -> list[dict[str, Any]]:
    """What left."""
    found = wire.ask("EgressListEvents", workbench_id=workbench_id, after=after, limit=1000)
    rows: list[dict[str, Any]] = found["events"]
    assert found["has_more"] is False
    return rows


def test_providers_say_how_they_are_set_up(wire: Wired) -> None:
    """Conformance 5: each has auth_mode; rpi_reasoning only those whose models can be told."""
    rows = wire.ask("ProvidersGetStatus")["providers"]

    assert {row["provider_id"]: row["auth_mode"] for row in rows} == {
        "job": "none",
        "offline": "none",
        "openai": "api_key",
        "recipe": "none",
        "toolcall": "none",
    }
    assert [row["provider_id"] for row in rows if "rpi_reasoning" in row] == ["openai"]
    assert KEY not in str(rows)


def test_efforts_are_taken_and_told(wire: Wired) -> None:
    """Conformance 6: a valid triple is in the status; another word names those that are valid."""
    triple = {"research_effort": "low", "plan_effort": "high", "implement_effort": "default"}
    answer = wire.ask("ProvidersSetReasoningEffort", provider_id="openai", **triple)
    assert answer["rpi_reasoning"] == provider(wire)["rpi_reasoning"] == triple

    wrong = {**triple, "plan_effort": "gigantic"}
    refused = wire.refused("ProvidersSetReasoningEffort", provider_id="openai", **wrong)
    assert refused.error_code == "VALIDATION_FAILED"
    assert all(word in refused.message for word in ("plan_effort", "default", "low", "high"))
    refused = wire.refused("ProvidersSetReasoningEffort", provider_id="offline", **triple)
    assert refused.error_code == "VALIDATION_FAILED"
    assert provider(wire)["rpi_reasoning"] == triple
    back = dict.fromkeys(triple, "")
    wire.ask("ProvidersSetReasoningEffort", provider_id="openai", **back)
    assert set(provider(wire)["rpi_reasoning"].values()) == {"default"}


def test_a_provider_is_tried_without_content(wire: Wired, environment: Mapping[str, str]) -> None:
    """Conformance 9: what comes of it has its code; each try is recorded, offline needs none.

    Nobody has agreed to anything, and nothing of files is sent.
    """
    before = len(sent(wire))
    assert wire.ask("ProvidersValidate", provider_id="openai")["valid"]
    for status, code in ((401, "PROVIDER_AUTH_FAILED"), (503, "PROVIDER_UNAVAILABLE")):
        wire.server.listing = status
        assert wire.refused("ProvidersValidate", provider_id="openai").error_code == code
    wire.server.listing = 200
    lost = Path(environment["LOST"])
    lost.touch()
    refused = wire.refused("ProvidersValidate", provider_id="openai")
    lost.unlink()
    assert refused.error_code == "NETWORK_UNAVAILABLE"
    assert wire.ask("ProvidersValidate", provider_id="offline")["valid"]

    tries = sent(wire)[before:]
    assert [row["purpose"] for row in tries] == ["validate"] * 4
    assert {row["method"] for row in tries} == {"GET"}
    assert all(row["bytes_out"] > 100 and "run_id" not in row for row in tries)
    assert wire.refused("ProvidersValidate", provider_id="nobody").error_code == "NOT_FOUND"


def test_a_disabled_provider_is_not_used(wire: Wired, tmp_path: Path) -> None:
    """Every way to a run with its model is refused in words; no other model takes its place."""
    workbench_id = wire.workbench(a__txt="x")
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    here, model = {"workbench_id": workbench_id}, {"model_id": MODEL}
    wire.ask("ProvidersSetEnabled", provider_id="openai", enabled=False)
    try:
        models = wire.ask("ModelsListSupported")["models"]
        assert {m["available"] for m in models if m["provider_id"] == "openai"} <= {False}
        assert provider(wire)["enabled"] is False
        assert wire.ask("UserGetDefaultModel") == model
        assert wire.ask("WorkbenchGetDefaultModel", **here) == model
        assert wire.ask("WorkshopGetState", **here)["active_model_id"] == MODEL
        rule = {"folder": str(tmp_path), "prompt": "write"}
        for method, params in (
            ("WorkshopRunAgent", here),
            ("WorkshopRunAgent", {**here, **model}),
            ("EgressGetConsentStatus", here),
            ("WorkshopSetActiveModel", {**here, **model}),
            ("WorkbenchSetDefaultModel", {**here, **model}),
            ("UserSetDefaultModel", model),
            ("WatchAdd", {**rule, **model}),
            ("ProvidersValidate", {"provider_id": "openai"}),
        ):
            refused = wire.refused(method, **params)
            assert refused.error_code == "PROVIDER_NOT_CONFIGURED", method
            assert "the provider openai is disabled" in refused.message, method
            assert "kbd providers enable openai" in refused.message, method
            assert refused.data["provider_id"] == "openai"
        (problem,) = wire.ask("WatchTest", folder=rule["folder"])["problems"]
        assert "the provider openai is disabled" in problem
        assert wire.ask("RunList", **here)["runs"] == []
    finally:
        wire.ask("ProvidersSetEnabled", provider_id="openai", enabled=True)
    assert wire.ask("UserGetDefaultModel") == model


def test_a_run_stops_when_its_provider_is_disabled(wire: Wired) -> None:
    """Its next turn is refused and nothing more is sent; enabled again, the same run goes on."""
    workbench_id = wire.workbench(a__txt="x")
    consent(wire, workbench_id)

    def disables(body: dict[str, Any]) -> dict[str, Any]:
        wire.ask("ProvidersSetEnabled", provider_id="openai", enabled=False)
        wire.script.instead = None
        return wire.script.play(body)

    wire.script.forget()
    wire.script.instead = disables
    try:
        run = wire.daemon.run_prompt(workbench_id, "write")
        assert run["status"] == "failed"
        assert run["error"]["error_code"] == "PROVIDER_NOT_CONFIGURED"
        assert len(sent(wire, workbench_id)) == 1
        told = [e["data"] for e in wire.daemon.events(workbench_id) if e["type"] == "RunFailed"]
        assert "the provider openai is disabled" in told[0]["message"]
        refused = wire.refused("WorkshopRunAgent", workbench_id=workbench_id)
        assert refused.error_code == "PROVIDER_NOT_CONFIGURED"
        assert len(sent(wire, workbench_id)) == 1
    finally:
        wire.script.forget()
        wire.ask("ProvidersSetEnabled", provider_id="openai", enabled=True)
    resumed = wire.ask("WorkshopRunAgent", workbench_id=workbench_id)
    assert (resumed["run_id"], resumed["status"]) == (run["run_id"], "finished")


def test_a_new_workbench_has_the_users_model(wire: Wired) -> None:
    """Conformance 11: the default that the person chose is the active model and the default."""
    wire.ask("UserSetDefaultModel", model_id=HERE)
    try:
        workbench_id = wire.workbench()
        state = wire.ask("WorkshopGetState", workbench_id=workbench_id)
        assert state["active_model_id"] == state["default_model_id"] == HERE
        wire.ask("WorkbenchSetDefaultModel", workbench_id=workbench_id, model_id=MODEL)
        found = wire.ask("WorkbenchGetDefaultModel", workbench_id=workbench_id)
        assert found["model_id"] == MODEL
    finally:
        wire.ask("UserSetDefaultModel", model_id=MODEL)


def test_scope_is_names_and_contents(wire: Wired) -> None:
    """Conformance 53: another file, other contents, a context item; not what lies behind kbd."""
    workbench_id = wire.workbench(a__txt="x")

    def scope() -> str:
        found = wire.ask("EgressGetConsentStatus", workbench_id=workbench_id)["scope_hash"]
        return str(found)

    first = scope()
    (wire.published(workbench_id) / "a.txt").write_text("touched behind the manifest")
    assert scope() == first
    wire.add(workbench_id, wire.file("b.txt"))
    second = scope()
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["b.txt"])
    assert scope() == first
    wire.add(workbench_id, wire.file("b.txt", "other"))
    third = scope()
    named = {"workbench_id": workbench_id, "category": "situation"}
    wire.ask("ContextSet", **named, text="We sell the company.")
    assert len({first, second, third, scope()}) == 4
    wire.ask("ContextDelete", **named)
    assert scope() == third


def test_a_grant_for_another_scope_is_refused(wire: Wired) -> None:
    """Conformance 54: agreeing to what is not there any more agrees to nothing."""
    workbench_id = wire.workbench(a__txt="x")
    with pytest.raises(RemoteError) as refused:
        consent(wire, workbench_id, scope_hash="0" * 64)
    assert refused.value.error_code == "VALIDATION_FAILED"
    with pytest.raises(RemoteError) as refused:
        consent(wire, workbench_id, provider_id="offline")
    assert refused.value.error_code == "VALIDATION_FAILED"
    assert not consented(wire, workbench_id)


def test_without_consent_nothing_leaves(wire: Wired) -> None:
    """Conformance 55: the refusal says what would have to be agreed to; nothing was sent."""
    workbench_id = wire.workbench(a__txt="x")
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    heard = len(wire.server.requests)
    refused = wire.refused("WorkshopRunAgent", workbench_id=workbench_id)
    status = wire.ask("EgressGetConsentStatus", workbench_id=workbench_id)

    assert refused.error_code == "EGRESS_CONSENT_REQUIRED"
    for name in ("provider_id", "model_id", "scope_hash"):
        assert refused.data[name] == status[name]
    assert (len(wire.server.requests), sent(wire, workbench_id)) == (heard, [])
    assert status["endpoint"].startswith(FAR)


def test_everything_may_be_allowed_with_approval(wire: Wired) -> None:
    """Conformance 56: not without `approved`; then everywhere, until it is to be asked again."""
    workbench_id = wire.workbench(a__txt="x")
    assert wire.refused("UserSetConsentMode", mode="allow_all").error_code == "VALIDATION_FAILED"
    assert wire.ask("UserGetConsentMode")["mode"] == "ask"
    assert not consented(wire, workbench_id)
    wire.ask("UserSetConsentMode", mode="allow_all", approved=True)
    try:
        status = wire.ask("EgressGetConsentStatus", workbench_id=workbench_id)
        assert (status["consented"], status["mode"], status["persisted"]) == (
            True,
            "allow_all",
            False,
        )
        assert consented(wire, wire.workbench(b__txt="y"))
        assert wire.daemon.run_prompt(workbench_id, "write")["status"] == "finished"
    finally:
        wire.ask("UserSetConsentMode", mode="ask")
    assert not consented(wire, workbench_id)
    changes = [e["data"] for e in wire.daemon.events("daemon") if e["type"] == "SettingChanged"]
    assert [c["value"] for c in changes if c["name"] == "consent_mode"] == ["allow_all", "ask"]


def test_consent_holds_for_what_was_agreed_to(wire: Wired) -> None:
    """Conformance 57: another file or model asks again; one that does not persist is for a run."""
    workbench_id = wire.workbench(a__txt="x")
    consent(wire, workbench_id)
    wire.draft(workbench_id, new__txt="made")
    assert consented(wire, workbench_id)
    wire.ask("DraftPublish", workbench_id=workbench_id)
    assert consented(wire, workbench_id)
    wire.add(workbench_id, wire.file("b.txt"))
    assert not consented(wire, workbench_id)
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["b.txt"])
    assert consented(wire, workbench_id)
    wire.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id="openai:other")
    assert not consented(wire, workbench_id)

    once = wire.workbench(a__txt="x")
    consent(wire, once, persist=False)
    assert wire.daemon.run_prompt(once, "write")["status"] == "finished"
    assert not consented(wire, once)
    refused = wire.refused("WorkshopRegenerate", workbench_id=once)
    assert refused.error_code == "EGRESS_CONSENT_REQUIRED"


def test_every_attempt_is_listed(wire: Wired) -> None:
    """Each request of each turn, those that failed too, in pages; for offline there is none."""
    workbench_id = wire.workbench(a__txt="x")
    consent(wire, workbench_id)
    heard = len(wire.server.requests)
    turns = iter([503, 200])
    wire.script.instead = None

    def fails_once(body: dict[str, Any]) -> dict[str, Any]:
        status = next(turns, 200)
        if status != 200:
            return failure(status)
        wire.script.instead = None
        again = wire.script.play(body)
        wire.script.instead = fails_once
        return again

    wire.script.instead = fails_once
    run = wire.daemon.run_prompt(workbench_id, "write")
    wire.script.forget()
    rows = sent(wire, workbench_id)

    assert run["status"] == "finished"
    assert len(rows) == len(wire.server.requests) - heard > 3
    for row in rows:
        assert (row["run_id"], row["purpose"]) == (run["run_id"], "turn")
        assert (row["model_id"], row["method"]) == (MODEL, "POST")
        assert row["endpoint"].startswith(f"{FAR}:")
        assert row["path"] == "/v1/chat/completions"
        assert row["bytes_out"] > 500
    types = [event["type"] for event in wire.daemon.events(workbench_id)]
    assert types.count("ModelFailed") == 1
    assert types[types.index("ModelRequested") + 1] == "RequestSent"

    page = wire.ask("EgressListEvents", workbench_id=workbench_id, limit=2)
    assert (page["events"], page["has_more"]) == (rows[:2], True)
    assert sent(wire, workbench_id, after=page["last_seq"]) == rows[2:]

    offline = wire.workbench(a__txt="x")
    wire.ask("WorkshopSetActiveModel", workbench_id=offline, model_id=HERE)
    wire.daemon.run_prompt(offline, "convert a.txt")
    assert sent(wire, offline) == []


def test_vectors_leave_by_a_consent_of_their_own(wire: Wired) -> None:
    """A search goes by words alone until somebody agrees to more; each request is listed."""
    wire.server.meanings = {"automobile": "car", "the": "", "is": ""}
    documents = {"fleet__txt": "The automobile is behind the depot.", "menu__txt": "Soup is hot."}
    named = {"workbench_id": wire.workbench(**documents)}
    workbench_id = named["workbench_id"]
    asked = {**named, "query": "car", "top_k": 1}
    wire.ask("ProvidersSetEnabled", provider_id="openai", enabled=False)
    try:
        found = wire.ask("WorkspaceSearch", **asked)
        assert (found["documents"], found["ranker"]) == ([], "bm25")
        assert any("disabled" in warning for warning in found["warnings"])
    finally:
        wire.ask("ProvidersSetEnabled", provider_id="openai", enabled=True)
    found = wire.ask("WorkspaceSearch", **asked)
    assert (found["documents"], found["ranker"]) == ([], "bm25")
    assert any("openai:words" in warning or FAR in warning for warning in found["warnings"])
    assert (sent(wire, workbench_id), wire.server.embedded) == ([], [])

    embedder = wire.ask("EgressGetConsentStatus", **named)["embedder"]
    assert embedder == "openai:words"
    status = wire.ask("EgressGetConsentStatus", model_id=embedder, **named)
    assert (status["consented"], status["model_id"]) == (False, embedder)
    agreed = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
    wire.ask("EgressGrantWorkshopConsent", persist=True, **named, **agreed)
    assert wire.ask("EgressGetConsentStatus", model_id=embedder, **named)["persisted"]
    assert not consented(wire, workbench_id)
    for _ in range(200):  # Vectors of documents are made while others go on.
        found = wire.ask("WorkspaceSearch", **asked)
        if not found["warnings"]:
            break
        time.sleep(0.05)
    assert [row["filename"] for row in found["documents"]] == ["fleet.txt"]
    assert found["ranker"] != "bm25"
    rows = sent(wire, workbench_id)
    assert len(rows) == len(wire.server.embedded) >= 2
    for row in rows:
        assert (row["purpose"], row["model_id"], row["path"]) == ("embed", embedder, EMBEDDINGS)
        assert "run_id" not in row

    assert KEY not in str(wire.daemon.events(workbench_id))


@pytest.mark.full
def test_clearing_one_key_leaves_the_others(short_dir: Path) -> None:
    """Conformance 7: a provider without its key is not set up any more; another one still is."""
    code = f"sys.path.extend({[str(short_dir), str(Path(__file__).parent)]!r})"
    about = short_dir / "kbd_second-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: kbd-second\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[kbd]\nsecond = second_provider\n")
    home = short_dir / "home"
    home.mkdir(mode=0o700)
    settings = home / "settings.toml"
    settings.touch(mode=0o600)
    openai = '[plugins.openai]\nmodel = "m"\n'
    second = '[plugins.second]\nmodel = "m"\napi_key = "second-key"\n'
    found: list[dict[str, bool]] = []
    for text in (f'{openai}api_key = "first-key"\n{second}', openai + second):
        settings.write_text(text)
        daemon = RealDaemon(home, preface=code)
        daemon.start()
        rows = daemon.ask("ProvidersGetStatus")["providers"]
        found.append({row["provider_id"]: row["configured"] for row in rows})
        daemon.stop()

    always = dict.fromkeys(("job", "offline", "recipe", "second", "toolcall"), True)
    assert found == [{**always, "openai": True}, {**always, "openai": False}]
