"""Runs and consent over the socket: phases, progress, conversation, failures, what may leave."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import mostly, on_trio
from model_server import phase_of
from real_daemon import RealDaemon
from wired import MODEL, PLAN, Heard, Script, Wired, wired

TWO_ITEMS = PLAN.replace("- [ ] 1. Write", "- [ ] 1. Entity: One — write one\n- [ ] 2. Two")
AWAY = "openai:far"


@pytest.fixture(scope="module", params=mostly("asyncio"))
def served(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


@pytest.fixture
def wire(served: Wired) -> Wired:
    """The daemon, with a model that makes a plan of one item."""
    served.script.plan, served.script.writes = PLAN, {}
    return served


def test_a_run_is_told_from_its_start_to_its_end(wire: Wired) -> None:
    """Conformance 86: four phases, each item by its number from 1, one answer at the end."""
    wire.script.plan, wire.script.writes = TWO_ITEMS, {"a.txt": "x"}
    workbench_id = wire.workbench()
    with wire.daemon.client() as client:
        heard = Heard(client)
        named: dict[str, Any] = {"workbench_id": workbench_id}
        sent = client.send("WorkshopSendUserMessage", {**named, "text": "write"})
        answer = client.send("WorkshopRunAgent", {**named, "message_id": sent["message_id"]})
        heard.until("WorkshopRunFinished")

    assert (answer["status"], answer["completed"], answer["has_draft"]) == ("finished", True, True)
    phases = ["research", "plan", "implement", "summary"]
    assert [each["phase"] for each in heard.of("WorkshopPhaseStarted")] == phases
    assert [each["phase"] for each in heard.of("WorkshopPhaseCompleted")] == phases
    progress = heard.of("WorkshopImplementProgress")
    assert [(p["current_item"], p["total_items"], p["item_label"]) for p in progress] == [
        (1, 2, "One"), (2, 2, "Two"),
    ]  # fmt: skip
    assert {each["phase"] for each in heard.of("WorkshopAssistantStreamDelta")} == set(phases)
    (said,) = heard.of("WorkshopAssistantMessageComplete")
    assert said["text"]
    for method, params in heard.notices:
        assert params["workbench_id"] == workbench_id, method
        if method.startswith("WorkshopRun") or "Phase" in method or "Progress" in method:
            assert params["run_id"] == answer["run_id"]
    seqs = [params["seq"] for _, params in heard.notices if "seq" in params]
    assert seqs == sorted(seqs)

    run = wire.ask("RunGet", run_id=answer["run_id"])
    assert [item["state"] for item in run["items"]] == ["done", "done"]
    change_set = wire.ask("ReviewGetChangeSet", workbench_id=workbench_id)
    assert change_set["draft_summary"] == said["text"]
    plan = wire.published(workbench_id).parent / "meta" / "workshop" / "_rpi" / "plan.md"
    assert "<!-- original_count: 2 -->" in plan.read_text()
    assert plan.read_text().count("- [x]") == 2
    _say_more(wire, workbench_id, plan)


def _say_more(wire: Wired, workbench_id: str, plan: Path) -> None:
    """Conformance 96: a new message clears what the last one left of research and plan."""
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="more")
    assert not plan.exists()
    state = wire.ask("WorkshopGetState", workbench_id=workbench_id)
    assert (state["current_phase"], state["run_id"], state["has_draft"]) == (None, None, True)
    run = wire.ask("WorkshopRunAgent", workbench_id=workbench_id)
    assert run["run_id"] == f"{workbench_id}-2"
    assert plan.exists()


def test_the_conversation_has_one_answer_a_message(wire: Wired) -> None:
    """One message of the user, one of the assistant, tool traffic in its own types between."""
    workbench_id = wire.workbench()
    wire.draft(workbench_id, a__txt="x")
    messages = wire.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]

    asked = [each for each in messages if each.get("tool_calls")]
    said = [each["type"] for each in messages if not each.get("tool_calls")]
    assert said == ["user_message", "tool_result", "assistant_message"]
    assert asked[0]["tool_calls"][0]["function"]["name"] == "write_text_file"
    assert asked[0]["tool_calls"][0]["id"] == messages[2]["tool_call_id"]


def test_a_run_that_changes_nothing_leaves_no_draft(wire: Wired) -> None:
    """Conformance 95: it ends well, with its answer, and there is nothing to review."""
    workbench_id = wire.workbench(a__txt="x")
    run = wire.daemon.run_prompt(workbench_id, "look")

    assert run["status"] == "finished"
    assert wire.ask("DraftGetState", workbench_id=workbench_id) == {"has_draft": False}
    again = wire.ask("WorkshopRunAgent", workbench_id=workbench_id)
    assert (again["run_id"], again["completed"]) == (run["run_id"], True)


def test_a_plan_without_an_item_is_no_success(wire: Wired) -> None:
    """Conformance 101: asked for once more, then the run fails; waiting for it raises that."""
    wire.script.plan = "# Execution Plan\n\nI would rather not.\n"
    workbench_id = wire.workbench()
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    refused = wire.refused("WorkshopRunAgent", workbench_id=workbench_id)

    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert refused.data["subphase"] == "rpi_plan"
    assert refused.data["run_id"] == f"{workbench_id}-1"
    messages = wire.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
    assert [each["type"] for each in messages] == ["user_message"]
    wire.script.plan = PLAN
    assert wire.ask("WorkshopRunAgent", workbench_id=workbench_id)["status"] == "finished"


def test_a_run_needs_a_message(wire: Wired) -> None:
    """Without one, or with an unknown one, it does not start; a cancel finds nothing to cancel."""
    workbench_id = wire.workbench()
    named: dict[str, Any] = {"workbench_id": workbench_id}

    assert wire.refused("WorkshopRunAgent", **named).data["error_code"] == "VALIDATION_FAILED"
    wire.refused("WorkshopRunAgent", message_id="unknown", **named)
    assert wire.ask("WorkshopCancelRun", **named) == {"cancel_requested": False}
    assert wire.ask("RunList", **named)["runs"] == []


def test_models_are_checked_where_they_are_chosen(wire: Wired) -> None:
    """What is no id, or of no provider, is refused; a choice is told and kept."""
    workbench_id = wire.workbench()
    named: dict[str, Any] = {"workbench_id": workbench_id}
    for method in ("WorkshopSetActiveModel", "WorkbenchSetDefaultModel"):
        for unknown in ("nobody:x", "offline:x"):
            refused = wire.refused(method, model_id=unknown, **named)
            assert refused.data["error_code"] == "NOT_FOUND"
    with wire.daemon.client() as client:
        heard = Heard(client)
        client.send("WorkshopSetActiveModel", {**named, "model_id": "offline:planner"})
        (told,) = heard.until("WorkshopModelChanged")
    assert told["model_id"] == "offline:planner"
    state = wire.ask("WorkshopGetState", **named)
    assert (state["active_model_id"], state["default_model_id"]) == ("offline:planner", MODEL)


@pytest.fixture
def away(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon whose provider is elsewhere and cannot be reached, with a key and no model."""
    environment = {
        "OPENAI_API_KEY": "sk-not-to-be-seen", "OPENAI_BASE_URL": "http://kbd.invalid/v1",
        "KBD_RUN_RETRY_S": "0.01",
    }  # fmt: skip
    running = RealDaemon(short_dir / "home", anyio_backend, environment)
    running.start()
    yield running
    running.stop()


@on_trio
def test_nothing_leaves_without_consent(away: RealDaemon, tmp_path: Path) -> None:
    """Asked for, given for this scope only, asked again when files change; no key anywhere."""
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.txt").write_text("more")
    wire = Wired(away, tmp_path, Script())
    workbench_id = away.workbench(tmp_path / "a.txt")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    # A key without a model: everything but a run works, and says which setting to make.
    assert wire.ask("WorkshopGetState", **named)["active_model_id"] == ""
    assert wire.ask("WorkbenchOpen", **named)["workbench"]["default_model_id"] == ""
    refused = wire.refused("EgressGetConsentStatus", **named)
    assert (refused.data["error_code"], "KBD_MODEL" in refused.message) == (
        "PROVIDER_NOT_CONFIGURED", True,
    )  # fmt: skip
    wire.ask("WorkshopSendUserMessage", text="look", **named)
    refused = wire.refused("WorkshopRunAgent", model_id=AWAY, **named)
    assert refused.data["error_code"] == "EGRESS_CONSENT_REQUIRED"
    wire.ask("WorkshopSetActiveModel", model_id=AWAY, **named)
    status = wire.ask("EgressGetConsentStatus", **named)
    assert status["consented"] is False
    scope = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
    assert {name: refused.data[name] for name in scope} == scope

    grant = {**named, **scope, "persist": True}
    for wrong in ({"scope_hash": "0" * 64}, {"provider_id": "offline"}, {"model_id": "openai:b"}):
        refused = wire.refused("EgressGrantWorkshopConsent", **{**grant, **wrong})
        assert refused.data["error_code"] == "VALIDATION_FAILED", wrong
    assert not wire.ask("EgressGetConsentStatus", **named)["consented"]
    wire.ask("EgressGrantWorkshopConsent", **grant)
    assert wire.ask("EgressGetConsentStatus", **named)["persisted"]
    refused = wire.refused("WorkshopRunAgent", **named)
    assert refused.data["error_code"] == "PROVIDER_UNAVAILABLE"
    assert refused.data["subphase"] == "rpi_research"
    away.kill()
    away.start()
    assert wire.ask("EgressGetConsentStatus", **named)["consented"]
    wire.add(workbench_id, tmp_path / "b.txt")
    assert not wire.ask("EgressGetConsentStatus", **named)["consented"]
    assert wire.refused("WorkshopRunAgent", **named).data["error_code"] == "EGRESS_CONSENT_REQUIRED"
    written = [path for path in away.home.rglob("*") if path.is_file()]
    assert not [path for path in written if b"sk-not-to-be-seen" in path.read_bytes()]
    assert b"sk-not-to-be-seen" not in away.log.read_bytes()


def test_a_model_is_told_of_no_tool_that_it_has_not(wire: Wired) -> None:
    """In each phase, by prompt, files, style and the tools' own words: only what is offered."""
    workbench_id = wire.workbench(a__csv="id,name\n1,a\n", long__txt="line\n" * 150)
    cells = [{"cell": "A1", "value": 1}]
    for path, kind, operation in (
        ("b.xlsx", "Xlsx", {"op": "set_cells", "sheet": "S", "cells": cells}),
        ("c.docx", "Docx", {"op": "append_paragraph", "text": "x"}),
        ("d.pptx", "Pptx", {"op": "add_slide", "layout": "blank"}),
    ):
        asked = {"workbench_id": workbench_id, "path": path, "ops": [operation]}
        wire.ask(f"{kind}ApplyOps", **asked, create_new=True)
    before = len(wire.script.requests)
    wire.daemon.run_prompt(workbench_id, "make slides of it")

    every = {row["name"] for row in wire.ask("ToolsList")["tools"]}
    sent = wire.script.requests[before:]
    assert {phase_of(body) for body in sent} == {"research", "plan", "implement", "no tools"}
    for body in sent:
        tools = [tool["function"] for tool in body.get("tools", ())]
        told = json.dumps([body["messages"][:2], [tool["description"] for tool in tools]])
        refused = every - {tool["name"] for tool in tools}
        named = {name for name in refused if re.search(rf"\b{name}\b", told)}
        assert named == set(), phase_of(body)
