"""Who asked stands in the log, on the wire and on the pages: of every approval above all."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends import mostly
from kbd.client.aio import connect
from kbd.client.blocking import Client
from whole.watched import eventually
from wired import Wired, wired


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


def kbd(wire: Wired, *arguments: str) -> str:
    """Run a command as a person would, and return what it prints."""
    environment = {**os.environ, "KBD_HOME": str(wire.daemon.home)}
    environment.pop("KBD_SOCKET", None)
    done = subprocess.run(
        [sys.executable, "-m", "kbd", *arguments],
        env=environment, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return done.stdout


def actors(wire: Wired, log: str, *kinds: str) -> dict[str, Any]:
    """Return the actor of the last event of each type, by type; None where there is none."""
    rows = wire.daemon.events(log)
    return {row["type"]: row.get("actor") for row in rows if not kinds or row["type"] in kinds}


@pytest.mark.full
def test_approvals_name_who_gave_them(wire: Wired) -> None:
    """Publish, deletion, external references, consent: in the log, in `kbd log`, in the steps."""
    workbench_id = wire.workbench(gone__txt="x")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    run = wire.draft(workbench_id, made__txt="y")
    cell = {"cell": "A1", "value": '=WEBSERVICE("https://example.org")'}
    operations = [{"op": "set_cells", "sheet": "S", "cells": [cell]}]
    edit = {"path": "a.xlsx", "operations": operations, "create_new": True}
    with Client(wire.daemon.socket, client="my-page", version="1.2", host="a browser") as page:
        page.send("ToolsCall", {**named, "name": "xlsx_operations", "arguments": edit})
        page.send("WorkbenchFilesRemove", {**named, "workbench_paths": ["gone.txt"]})
        page.send("ReviewSetDeletionConfirmations", {**named, "paths": ["gone.txt"]})
        status = page.send("EgressGetConsentStatus", named)
        given = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
        page.send("EgressGrantWorkshopConsent", {**named, **given, "persist": False})
    kbd(wire, "publish", workbench_id, "--yes", "--accept-external")

    told = actors(wire, workbench_id)
    page_actor = told["DeletionConfirmed"]
    assert page_actor == {
        "client": "my-page", "version": "1.2", "host": "a browser",
        "connection": page_actor["connection"],
    }  # fmt: skip
    for kind in ("ToolCalled", "FileChanged", "ToolReturned", "ConsentGranted"):
        assert told[kind] == page_actor, kind
    for kind in ("PublishIntended", "CheckpointCreated", "PublishCompleted"):
        assert told[kind]["client"] == "kbd publish", kind
        assert told[kind]["connection"] != page_actor["connection"]
    # What the agent did by itself nobody asked for; that it began somebody did.
    assert told["RunStarted"]["client"] == "kbd-client"
    assert told["RunFinished"] is None

    (intended,) = (
        row for row in wire.daemon.events(workbench_id) if row["type"] == "PublishIntended"
    )
    ((name, warnings),) = intended["data"]["accepted"]
    assert name == "a.xlsx"
    assert "S!A1" in warnings[0]
    lines = kbd(wire, "log", workbench_id).splitlines()
    for words, who in (
        ("deletion", "my-page 1.2"), ("consent:", "my-page 1.2"),
        ("external references accepted in a.xlsx", "kbd publish"), ("completed, ", "kbd publish"),
    ):  # fmt: skip
        assert any(words in line and line.endswith(f"  by {who}") for line in lines), words
    steps = wire.ask("ReplaySteps", run_id=run["run_id"])["steps"]
    assert {step["actor"]["client"] for step in steps if "actor" in step} >= {"kbd-client"}
    assert wire.ask("LogVerify", **named)["ok"]


def test_commands_of_every_kind_carry_their_client(wire: Wired) -> None:
    """Files, context, drafts, approvals, checkpoints, undo, forks, settings, deletion."""
    first = wire.file("a.txt", "1\n2\n3\n4\n5\n")
    with Client(wire.daemon.socket, client="desk") as desk:
        workbench_id = desk.send("WorkbenchCreate", {"name": "w"})["workbench_id"]
        named: dict[str, Any] = {"workbench_id": workbench_id}
        desk.send("WorkbenchFilesAdd", {**named, "source_paths": [str(first)]})
        desk.send("ContextSet", {**named, "category": "situation", "text": "x"})
        desk.send("ContextDelete", {**named, "category": "situation"})
        desk.send("WorkshopSetActiveModel", {**named, "model_id": "offline:planner"})
        sent = desk.send("WorkshopSendUserMessage", {**named, "text": "hello"})
        made = desk.send("CheckpointCreate", {**named, "description": "c"})
        write = {"name": "write_text_file", "arguments": {"path": "b.txt", "content": "x"}}
        desk.send("ToolsCall", {**named, **write})
        desk.send("DraftDiscard", named)
        desk.send("WorkbenchRecover", named)
        edit = {
            "name": "write_text_file",
            "arguments": {"path": "a.txt", "content": "1\n2\n3\n4\nours\n"},
        }
        desk.send("ToolsCall", {**named, **edit})
        (wire.published(workbench_id) / "a.txt").write_text("theirs\n2\n3\n4\n5\n")
        desk.send("DraftRebase", named)
        (asked,) = desk.send("ApprovalRequest", named)["approvals"]
        decision = {"approval_id": asked["approval_id"], "decision": "accept"}
        desk.send("ApprovalDecide", decision)
        desk.send("CheckpointRestore", {**named, "checkpoint_id": made["checkpoint_id"]})
        desk.send("WorkshopUndoToMessage", {**named, "message_id": sent["message_id"]})
        out = {"destination_dir": str(wire.folder / "out"), "workbench_paths": ["a.txt"]}
        desk.send("WorkbenchFilesExtract", {**named, **out})
        fork = {"source_workbench_id": workbench_id, "mode": "clone_all", "name": "f"}
        forked = desk.send("WorkbenchFork", fork)["workbench_id"]
        desk.send("WorkbenchFilesRemove", {**named, "workbench_paths": ["a.txt"]})
        # It is made behind the publish, which does not wait for it.
        eventually("the receipt", lambda: actors(wire, workbench_id, "ReceiptMade"))
        told = actors(wire, workbench_id)
        desk.send("WorkbenchDelete", named)
        desk.send("UserSetConsentMode", {"mode": "allow_all", "approved": True})
        desk.send("UserSetConsentMode", {"mode": "ask"})
    expected = {
        "FileAdded", "ContextSet", "ContextRemoved", "ModelChosen", "UserMessageAdded",
        "CheckpointCreated", "ToolCalled", "DraftOpened", "FileChanged", "ToolReturned",
        "DraftDiscarded", "PublishIntended", "PublishCompleted", "CheckpointRestored",
        "ConversationRewound", "EffectIntended", "EffectDone", "FileRemoved", "DraftRecovered",
        "FileAdopted", "DraftRebased", "ApprovalRequested", "ApprovalDecided", "WorkbenchCreated",
    }  # fmt: skip
    named_ones = {kind for kind, actor in told.items() if actor and actor["client"] == "desk"}
    assert expected <= named_ones
    # Made behind the publish, by kbd itself.
    assert set(told) - named_ones == {"ReceiptMade"}
    forks = actors(wire, forked)
    assert {actor["client"] for actor in forks.values()} == {"desk"}
    daemon = actors(wire, "daemon", "WorkbenchCreated", "WorkbenchDeleted", "SettingChanged")
    assert {actor["client"] for actor in daemon.values()} == {"desk"}
    assert len(daemon) == 3


def test_what_a_client_causes_in_the_daemons_log_names_it(wire: Wired) -> None:
    """Rules of watches, what is written into their folders, a provider that is tried, the end."""
    folder = wire.folder / "watched"
    folder.mkdir()
    workbench_id = wire.workbench(a__txt="x")
    before = len(wire.daemon.events("daemon"))
    with Client(wire.daemon.socket, client="desk", version="3", timeout=60) as desk:
        rule = {"folder": str(folder), "prompt": "x", "publish": "review"}
        watch_id = desk.send("WatchAdd", rule)["watch_id"]
        out = {"workbench_id": workbench_id, "destination_dir": str(folder)}
        desk.send("WorkbenchFilesExtract", out)
        desk.send("WatchRemove", {"watch_id": watch_id})
        desk.send("ProvidersSetEnabled", {"provider_id": "offline", "enabled": False})
        desk.send("ProvidersSetEnabled", {"provider_id": "offline", "enabled": True})
        desk.send("ProvidersValidate", {"provider_id": "openai"})
        desk.send("DaemonShutdown")
    wire.daemon.stop()
    wire.daemon.start()
    rows = wire.daemon.events("daemon")[before:]
    told = {row["type"]: row.get("actor", {}).get("client") for row in rows}
    caused = {
        "WatchAdded", "FilesWritten", "WatchRemoved", "SettingChanged", "RequestSent",
        "DaemonStopped",
    }  # fmt: skip
    assert {kind for kind, client in told.items() if client == "desk"} == caused, told
    # A signal is nobody's request.
    wire.daemon.stop()
    wire.daemon.start()
    assert actors(wire, "daemon")["DaemonStopped"] is None


def test_a_workbench_that_a_crash_left_empty_still_names_who_made_it(wire: Wired) -> None:
    """Its own log is begun by the next daemon, from what the daemon's log says."""
    with Client(wire.daemon.socket, client="desk") as desk:
        workbench_id = desk.send("WorkbenchCreate", {"name": "w"})["workbench_id"]
    wire.daemon.kill()
    # As a crash leaves it that comes between the two logs.
    shutil.rmtree(wire.daemon.home / "workbenches" / workbench_id)
    wire.daemon.start()
    (created,) = wire.daemon.events(workbench_id)
    assert (created["type"], created["actor"]["client"]) == ("WorkbenchCreated", "desk")


def test_a_client_may_name_itself_or_not(wire: Wired) -> None:
    """Unnamed it is unknown; a name is one short line; the connection keeps its number."""
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(wire.daemon.socket)
        with plain.makefile("rwb") as lines:

            def ask(method: str, **params: Any) -> Any:
                message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                lines.write(msgspec.json.encode(message) + b"\n")
                lines.flush()
                return msgspec.json.decode(lines.readline())

            workbench_id = ask("WorkbenchCreate", name="w")["result"]["workbench_id"]
            row = wire.daemon.events("daemon")[-1]
            assert (row["type"], row["actor"]["client"]) == ("WorkbenchCreated", "unknown")
            given = ask("ClientIdentify", client="my\x1b[31m\n\u202epage" + "x" * 200)["result"]
            assert given["client"].startswith("my page")
            assert given["client"].isprintable()
            assert len(given["client"]) == 80
            assert given["connection"] == row["actor"]["connection"]
            again = ask("ClientIdentify", client="page", version="2")["result"]
            ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="x")
            assert wire.daemon.events(workbench_id)[-1]["actor"] == again
            assert ask("ClientIdentify", client="x" * 2_000_000)["error"]["code"] == -32602
            # What would be nothing, cleaned, leaves the name that it had.
            assert ask("ClientIdentify", client="\u202e\x00 ")["result"]["client"] == "page"
            forged = ask("ClientIdentify", client="kbd approve", connection=1)
            assert forged["error"]["code"] == -32602
            assert ask("ClientIdentify", client="")["error"]["code"] == -32602
            assert ask("ClientIdentify", client="a", role="b")["error"]["code"] == -32602


@pytest.mark.anyio
async def test_the_asynchronous_client_names_itself_too(wire: Wired) -> None:
    """Before its first request is carried out, however many it sends at once."""
    workbench_id = wire.workbench()
    async with connect(wire.daemon.socket, client="robot", version="9") as client:
        asked = {"workbench_id": workbench_id, "text": "x"}
        await client.send("WorkshopSendUserMessage", asked)
    actor = wire.daemon.events(workbench_id)[-1]["actor"]
    assert (actor["client"], actor["version"]) == ("robot", "9")


@pytest.mark.full
def test_what_was_asked_stays_after_a_restart_and_in_a_case(wire: Wired, tmp_path: Path) -> None:
    """Events are as they were; a case file verifies by its own program."""
    workbench_id = wire.workbench(a__txt="x")
    run = wire.draft(workbench_id, b__txt="y")
    before = wire.daemon.events(workbench_id)
    assert any("actor" in row for row in before)
    target = tmp_path / "case.zip"
    wire.ask("RunExport", run_id=run["run_id"], target=str(target))
    wire.daemon.kill()
    wire.daemon.start()
    assert wire.daemon.events(workbench_id)[: len(before)] == before
    assert wire.ask("ReplayRun", run_id=run["run_id"])["divergences"] == []
    done = subprocess.run(
        [sys.executable, "-I", "-S", target], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
