"""Edits by clients themselves, over the socket: recorded whole, never beside a run, once."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backends import mostly, on_trio
from kbd.client.blocking import ConnectionLostError
from real_daemon import RealDaemon
from whole.booked import ROWS, book, booked, types_of
from whole.books import install
from wired import Wired


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here, with the plugin for tests installed."""
    with booked(str(request.param)) as running:
        yield running


def test_a_workbooks_looks_are_carried_into_another(wire: Wired) -> None:
    """What is listed can be copied; a target that does not exist is made with that alone."""
    workbench_id = wire.workbench()
    named: dict[str, Any] = {"workbench_id": workbench_id}
    cell = {"cell": "A1", "value": 1, "style": {"font_bold": True}}
    ops = [{"op": "set_cells", "sheet": "Summary", "cells": [cell]}]
    wire.ask("XlsxApplyOps", **named, path="a.xlsx", ops=ops, create_new=True)
    listed = wire.ask("XlsxGetStyles", **named, path="a.xlsx", sheet="Summary")["assets"]
    asset = "cell_style:Summary!A1"
    assert asset in [each["asset_id"] for each in listed]

    copied = wire.ask(
        "XlsxCopyAssets", **named, source_path="a.xlsx", target_path="b.xlsx",
        assets=[{"asset_id": asset, "target": "Report!B2"}],
    )  # fmt: skip
    assert (copied["ok"], copied["applied"], copied["warnings"]) == (True, 1, [])
    found = wire.ask("XlsxGetStyles", **named, path="b.xlsx")
    assert found["sheets"] == ["Report"]
    (bold,) = (each for each in found["cell_formats"] if each["style"].get("font_bold"))
    assert bold["ranges"] == ["B2"]


def test_a_formula_that_reaches_out_is_accepted_first(wire: Wired) -> None:
    """The writer says it, the review shows it, and a later edit of the workbook hides it not."""
    workbench_id = wire.workbench()
    named: dict[str, Any] = {"workbench_id": workbench_id}

    def edit(cell: str, value: object, **more: bool) -> list[str]:
        ops = [{"op": "set_cells", "sheet": "S", "cells": [{"cell": cell, "value": value}]}]
        written = wire.ask("XlsxApplyOps", **named, path="a.xlsx", ops=ops, **more)
        warnings: list[str] = written["warnings"]
        return warnings

    *unknown, warning = edit("B2", '=WEBSERVICE("https://example.org")', create_new=True)
    assert "S!B2: WEBSERVICE reaches out" in warning
    assert unknown[0].startswith("Not calculated here: S!B2")
    assert edit("A1", 5) == []
    (row,) = wire.ask("ReviewGetChangeSet", **named)["changes"]
    assert row["warnings"] == [warning]
    assert warning in wire.refused("DraftPublish", **named).message
    assert wire.ask("DraftPublish", **named, accept_external=True)["published"] == ["a.xlsx"]


def test_a_call_is_recorded_whole_and_without_a_run(wire: Wired) -> None:
    """One frame: the call with its arguments, the draft it opens, the change, the result."""
    workbench_id = wire.workbench()
    frames = wire.ask("LogVerify", workbench_id=workbench_id)["frames"]
    book(wire, workbench_id)

    assert wire.ask("LogVerify", workbench_id=workbench_id)["frames"] == frames + 1
    events = wire.daemon.events(workbench_id)[1:]
    assert [event["type"] for event in events] == [
        "ToolCalled", "DraftOpened", "FileChanged", "ToolReturned",
    ]  # fmt: skip
    assert not any("run_id" in event for event in events)
    called, _, changed, returned = (event["data"] for event in events)
    assert (called["tool"], called["plugin"]) == ("BookApplyOps", "whole.books 1.0")
    assert json.loads(called["arguments"])["ops"] == [ROWS]
    assert called["call_id"] == changed["call_id"] == returned["call_id"]
    assert json.loads(returned["shown"])["applied"] == 1
    state = wire.ask("DraftGetState", workbench_id=workbench_id)
    assert state["source"] == {"kind": "client", "ref": ""}
    assert wire.ask("WorkshopGetConversation", workbench_id=workbench_id) == {"messages": []}
    log = wire.daemon.home / "workbenches" / workbench_id / "meta" / "workshop" / "tool_log.jsonl"
    deadline = time.monotonic() + 20
    while not log.exists() or not log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert json.loads(log.read_text())["tool"] == "BookApplyOps"


def test_long_arguments_are_a_blob(wire: Wired) -> None:
    """The log names their hash; they are as they were given."""
    workbench_id = wire.workbench()
    ops = [{**ROWS, "rows": [["x" * 70_000]]}]
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}
    wire.ask("BookApplyOps", **asked, ops=ops, create_new=True)
    called = wire.daemon.events(workbench_id)[1]["data"]
    assert "arguments" not in called
    kept = wire.daemon.home / "workbenches" / workbench_id / "blobs"
    (blob,) = kept.rglob(f"*{called['arguments_blob'][4:]}")
    assert json.loads(blob.read_bytes())["ops"] == ops


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"ops": [{"op": "fly"}]}, "VALIDATION_FAILED"),
        ({"ops": [ROWS, {"op": "clear", "sheet": "Z"}]}, "VALIDATION_FAILED"),
        ({"ops": []}, "VALIDATION_FAILED"),
        ({"ops": [ROWS], "path": "none.book"}, "NOT_FOUND"),
        ({"ops": [ROWS], "create_new": True}, "VALIDATION_FAILED"),
        ({"ops": [ROWS], "path": "a.txt"}, "VALIDATION_FAILED"),
        ({"ops": [ROWS], "path": "../x.book", "create_new": True}, "SANDBOX_VIOLATION"),
    ],
)
def test_a_writing_that_fails_is_recorded_and_writes_nothing(
    wire: Wired, params: dict[str, Any], code: str
) -> None:
    """The log says that it was tried and why it failed; there is no draft."""
    workbench_id = wire.workbench(a__txt="x", b__book="{}")
    asked = {"workbench_id": workbench_id, "path": "b.book", **params}
    refused = wire.refused("BookApplyOps", **asked)
    assert refused.data["error_code"] == code
    *_, called, returned = wire.daemon.events(workbench_id)
    assert (called["type"], returned["type"]) == ("ToolCalled", "ToolReturned")
    assert returned["data"]["ok"] is False
    assert returned["data"]["error_code"] == code
    assert wire.ask("DraftGetState", workbench_id=workbench_id) == {"has_draft": False}


def test_a_call_waits_for_a_run(wire: Wired) -> None:
    """While a model works a client's writing is refused, not recorded; reading goes on."""
    workbench_id = wire.workbench(b__book="{}")
    wire.script.answers.clear()
    wire.script.asked.clear()
    named = {"workbench_id": workbench_id}
    try:
        wire.ask("WorkshopSendUserMessage", **named, text="write")
        started = wire.ask("WorkshopRunAgent", **named, wait=False)
        assert wire.script.asked.wait(20)
        refused = wire.refused("BookApplyOps", **named, path="b.book", ops=[ROWS])
        assert refused.data["error_code"] == "VALIDATION_FAILED"
        assert refused.data["retryable"] is True
        assert refused.data["run_id"] == started["run_id"]
        assert wire.ask("BookGetMap", **named, path="b.book") == {"sheets": []}
        assert "ToolCalled" not in types_of(wire, workbench_id)
        wire.ask("WorkshopCancelRun", **named)
    finally:
        wire.script.answers.set()
    wire.daemon.wait_for_run(started["run_id"])
    assert wire.ask("BookApplyOps", **named, path="b.book", ops=[ROWS])["applied"] == 1


def test_calls_of_many_clients_all_land(wire: Wired) -> None:
    """Each edits what the one before wrote: none is lost, none is refused."""
    workbench_id = wire.workbench()
    book(wire, workbench_id)

    def edit(number: int) -> None:
        ops = [{**ROWS, "sheet": f"S{number}"}]
        wire.ask("BookApplyOps", workbench_id=workbench_id, path="b.book", ops=ops)

    with ThreadPoolExecutor(6) as clients:
        list(clients.map(edit, range(12)))
    found = wire.ask("BookGetMap", workbench_id=workbench_id, path="b.book")["sheets"]
    assert {each["name"] for each in found} == {"S", *(f"S{number}" for number in range(12))}


def test_assets_are_copied_into_the_draft(wire: Wired) -> None:
    """A draft is opened, both files are seen as it has them; a failure keeps its code."""
    styled = '{"A": {"columns": [], "rows": [], "style": "bold"}}'
    workbench_id = wire.workbench(b__book=styled)
    asked: dict[str, Any] = {
        "workbench_id": workbench_id, "source_path": "b.book", "target_path": "new.book",
    }  # fmt: skip
    refused = wire.refused("BookCopyAssets", **asked, assets=["style:Z"])
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert "no asset style:Z" in refused.message
    assert wire.ask("DraftGetState", workbench_id=workbench_id) == {"has_draft": False}

    picks = [{"asset_id": "style:A", "target": "Report"}]
    copied = wire.ask("BookCopyAssets", **asked, assets=picks, root="draft")
    assert copied == {
        "ok": True, "applied": 1, "changed": ["style:A -> Report"], "warnings": [],
    }  # fmt: skip
    again = {**asked, "source_path": "new.book", "target_path": "b.book"}
    wire.ask("BookCopyAssets", **again, assets=["style:Report"])
    found = wire.ask("BookGetStyles", workbench_id=workbench_id, path="b.book")
    assert found["styles"] == {"A": "bold", "Report": "bold"}
    assert wire.changes(workbench_id) == {"b.book": "modified", "new.book": "added"}


def test_what_a_file_reaches_out_to_is_accepted_before_it_is_published(wire: Wired) -> None:
    """The answer, the review and the refusal name it; a harmless edit hides it not."""
    web = '{"Web": {"columns": [], "rows": [], "style": "//example.org"}}'
    workbench_id = wire.workbench(web__book=web, b__book="{}")
    named = {"workbench_id": workbench_id}
    copied = wire.ask(
        "BookCopyAssets", **named, source_path="web.book", target_path="b.book",
        assets=["style:Web"],
    )  # fmt: skip
    assert copied["warnings"] == ["Web: //example.org"]
    book(wire, workbench_id, create_new=False)
    book(wire, workbench_id, "copy.book", copy_from="b.book")
    rows = wire.ask("ReviewGetChangeSet", **named)["changes"]
    assert {row["path"]: row["warnings"] for row in rows} == {
        name: ["Web: //example.org", "looked at"] for name in ("b.book", "copy.book")
    }
    refused = wire.refused("DraftPublish", **named)
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert "b.book: Web: //example.org" in refused.message
    published = wire.ask("DraftPublish", **named, accept_external=True)
    assert set(published["published"]) == {"b.book", "copy.book"}


@pytest.mark.full
@on_trio
def test_a_kill_leaves_all_of_a_call_or_nothing(short_dir: Path, anyio_backend: str) -> None:
    """What was answered is there after it, once; what was under way never happened."""
    preface = install(short_dir / "site")
    # The call tells by a file of its own that it is under way, which no sandbox lets it.
    loose = {"KBD_WORKERS_SANDBOX": "off"}
    daemon = RealDaemon(short_dir / "home", anyio_backend, loose, preface)
    daemon.start()
    workbench_id = daemon.workbench()
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}
    daemon.ask("BookApplyOps", **asked, ops=[ROWS], create_new=True)
    answered = daemon.events(workbench_id)
    flag = short_dir / "asleep"

    def edit() -> None:
        with pytest.raises(ConnectionLostError):
            daemon.ask("BookApplyOps", **asked, ops=[{"op": "nap", "flag": str(flag)}])

    client = threading.Thread(target=edit)
    client.start()
    deadline = time.monotonic() + 30
    while not flag.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    daemon.kill()
    client.join(30)
    daemon.start()
    try:
        assert daemon.events(workbench_id) == answered
        assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"] is True
        draft = daemon.home / "workbenches" / workbench_id / "draft" / "b.book"
        assert list(json.loads(draft.read_text())) == ["S"]
        assert daemon.ask("BookApplyOps", **asked, ops=[ROWS])["applied"] == 1
    finally:
        daemon.stop()
