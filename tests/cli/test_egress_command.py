"""`kbd providers` and `kbd egress`: how models are reached, and what was sent there."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from scripted_daemon import ScriptedDaemon

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

OPENAI = {
    "provider_id": "openai", "enabled": True, "configured": True, "leaves_machine": True,
    "auth_mode": "api_key", "endpoint": "api.openai.com:443", "efforts": ["low", "high"],
    "rpi_reasoning": {
        "research_effort": "low", "plan_effort": "default", "implement_effort": "default",
    },
}  # fmt: skip
OFFLINE = {
    "provider_id": "offline", "enabled": False, "configured": True, "leaves_machine": False,
    "auth_mode": "none", "endpoint": "",
}  # fmt: skip


def sent(seq: int, **other: Any) -> dict[str, Any]:
    """A request that left."""
    return {
        "seq": seq, "ts": f"2026-11-22T10:0{seq % 10}:00.000000Z", "provider_id": "openai",
        "model_id": "openai:big", "endpoint": "api.openai.com:443", "method": "POST",
        "path": "/v1/chat/completions", "bytes_out": 1024, "purpose": "turn", **other,
    }  # fmt: skip


def test_providers_are_listed(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Each with its standing, its address and how hard it thinks; or the one that is named."""
    daemon.answers["ProvidersGetStatus"] = {"providers": [OFFLINE, OPENAI]}

    assert kbd("providers") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["offline", "disabled", "-", "no", "-"]
    assert lines[2].split() == [
        "openai", "ready", "api.openai.com:443", "yes", "low/default/default",
    ]  # fmt: skip
    assert kbd("providers", "list", "nobody") == 1
    assert "no provider nobody" in capsys.readouterr().err


def test_embedders_are_listed_with_what_searches_use(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Each with its model; below them what makes texts vectors, or why nothing does."""
    near = {**OFFLINE, "provider_id": "near", "enabled": True, "default_model": "small"}
    answer = {"providers": [OFFLINE], "embedders": [near], "embedder": "near:small"}
    daemon.answers["ProvidersGetStatus"] = answer

    assert kbd("providers") == 0
    told = capsys.readouterr().out
    assert [line.split() for line in told.splitlines()][4] == ["near", "ready", "-", "no", "small"]
    assert "by meaning, with near:small." in told
    without = {**answer, "embedder": "", "no_embedder": "it is disabled"}
    daemon.answers["ProvidersGetStatus"] = without
    assert kbd("providers", "list", "near") == 0
    told = capsys.readouterr().out
    assert "offline" not in told
    assert "Searches go by words alone: it is disabled" in told


def test_an_effort_leaves_the_other_phases(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """Only what is named is changed; naming nothing is a mistake."""
    daemon.answers["ProvidersGetStatus"] = {"providers": [OPENAI]}
    daemon.answers["ProvidersSetReasoningEffort"] = {
        "provider_id": "openai",
        "rpi_reasoning": OPENAI["rpi_reasoning"],
    }

    assert kbd("providers", "effort", "openai", "--implement", "high") == 0
    assert daemon.asked[-1][1] == {
        "provider_id": "openai", "research_effort": "low", "plan_effort": "default",
        "implement_effort": "high",
    }  # fmt: skip
    assert kbd("providers", "effort", "openai") == 2
    assert kbd("providers", "validate") == 2


@pytest.mark.parametrize(("action", "enabled"), [("enable", True), ("disable", False)])
def test_a_provider_is_enabled_or_not(
    daemon: ScriptedDaemon, kbd: Kbd, action: str, enabled: bool
) -> None:
    """The daemon is told which, and whether."""
    daemon.answers["ProvidersSetEnabled"] = {"provider_id": "openai", "enabled": enabled}

    assert kbd("providers", action, "openai") == 0
    assert daemon.asked[-1][1] == {"provider_id": "openai", "enabled": enabled}


def test_what_left_is_listed(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """All pages are read; the newest are shown with the sum of all, and how consent stands."""
    rows = [sent(seq) for seq in range(1, 31)]
    daemon.answers["UserGetConsentMode"] = {"mode": "ask"}
    daemon.answers["EgressGetConsentStatus"] = {
        "consented": True, "provider_id": "openai", "model_id": "openai:big",
        "scope_hash": "0" * 64, "persisted": True, "mode": "ask", "endpoint": "api.openai.com:443",
    }  # fmt: skip
    daemon.answers["EgressListEvents"] = lambda params, _: {
        "events": rows[params["after"] : params["after"] + 25],
        "last_seq": params["after"] + 25,
        "has_more": params["after"] == 0,
    }
    workbench = daemon.answers["WorkbenchList"]["workbenches"][0]["name"]

    assert kbd("egress", workbench) == 0
    told = capsys.readouterr().out
    assert "Runs may send to openai:big at api.openai.com:443." in told
    assert told.count("/v1/chat/completions") == 20
    assert "30 requests, 10 of them older, 30.0 KiB in all." in told
    assert kbd("egress", workbench, "--all", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (len(shown["events"]), shown["bytes_out"]) == (30, 30 * 1024)


def test_consent_to_an_embedder_is_shown(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Where searches would send files elsewhere, too, how consent to that stands is told."""

    def status(params: dict[str, Any], _: object) -> dict[str, Any]:
        asked = params.get("model_id", "offline:planner")
        named = {} if "model_id" in params else {"embedder": "openai:words"}
        return {"consented": named != {}, "model_id": asked, "endpoint": "a:1", **named}

    daemon.answers["UserGetConsentMode"] = {"mode": "ask"}
    daemon.answers["EgressGetConsentStatus"] = status
    rows = [sent(1, model_id="openai:words", purpose="embed")]
    found = {"events": rows, "last_seq": 1, "has_more": False}
    daemon.answers["EgressListEvents"] = found
    workbench = daemon.answers["WorkbenchList"]["workbenches"][0]["name"]

    assert kbd("egress", workbench) == 0
    told = capsys.readouterr().out
    assert "Runs may send to offline:planner at a:1." in told
    assert "Nobody agreed to send these files to openai:words at a:1." in told
    assert "openai:words (embed)" in told
    assert kbd("egress", workbench, "--json") == 0
    assert json.loads(capsys.readouterr().out)["embedder"]["model_id"] == "openai:words"


def test_allowing_everything_takes_a_yes(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Where nobody can be asked it takes `--yes`; going back takes nothing."""
    daemon.answers["UserSetConsentMode"] = lambda params, _: {"mode": params["mode"]}

    assert kbd("egress", "--mode", "allow_all") == 3
    assert all(method != "UserSetConsentMode" for method, _ in daemon.asked)
    assert kbd("egress", "--mode", "allow_all", "--yes") == 0
    assert daemon.asked[-1][1] == {"mode": "allow_all", "approved": True}
    assert kbd("egress", "--mode", "ask") == 0
    assert daemon.asked[-1][1] == {"mode": "ask", "approved": False}
    assert "You are asked." in capsys.readouterr().out
