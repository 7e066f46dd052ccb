"""The wire methods of formats, over the socket: what a client of the format layer relies on."""

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import ConnectionLostError
from real_daemon import RealDaemon
from whole.books import install
from wired import Wired, wired

ROWS: dict[str, Any] = {"op": "rows", "sheet": "S", "rows": [[1]]}


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here, with the plugin for tests installed."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    with wired(str(request.param), install(folder / "site")) as running:
        yield running
    shutil.rmtree(folder, ignore_errors=True)


def types_of(wire: Wired, workbench_id: str) -> list[str]:
    """The types of what is recorded, in order."""
    return [event["type"] for event in wire.daemon.events(workbench_id)]


def book(wire: Wired, workbench_id: str, name: str = "b.book", **more: Any) -> Any:
    """Make a workbook in the draft."""
    return wire.ask(
        "BookApplyOps", workbench_id=workbench_id, path=name, ops=[ROWS],
        **({"create_new": True} | more),
    )  # fmt: skip


def test_methods_are_those_that_formats_declare(wire: Wired) -> None:
    """rpc.discover lists them with the records of the operations; CSV declares none yet."""
    found = {each["name"]: each for each in wire.ask("rpc.discover")["methods"]}
    named = {
        prefix: {name for name in found if name.startswith(prefix)}
        for prefix in ("Xlsx", "Text", "Csv", "Book")
    }
    assert named["Xlsx"] == {
        "XlsxApplyOps", "XlsxExtractText", "XlsxReadRange", "XlsxGetInfo", "XlsxGetMap",
        "XlsxGetStyles", "XlsxCopyAssets",
    }  # fmt: skip
    assert named["Text"] == {"TextGetMap", "TextReadLines"}
    assert named["Csv"] == set()
    assert named["Book"] == {
        "BookApplyOps", "BookExtractText", "BookGetInfo", "BookGetMap", "BookGetStyles",
        "BookCopyAssets", "BookReadCells",
    }  # fmt: skip
    read = {each["name"]: each["required"] for each in found["XlsxReadRange"]["params"]}
    assert read == {
        "workbench_id": True, "path": True, "root": False, "sheet": False, "range": False,
        "api_version": False,
    }  # fmt: skip
    (ops,) = (each for each in found["XlsxApplyOps"]["params"] if each["name"] == "ops")
    assert "set_cells" in json.dumps(ops["schema"])


def test_of_two_formats_that_claim_a_method_the_second_is_left_out(wire: Wired) -> None:
    """The format stays; its plugin's status has the reason."""
    (status,) = (each for each in wire.ask("PluginsList")["plugins"] if each["name"] == "books")
    assert status["status"] == "loaded"
    assert "method BookApplyOps is left out: plugin books brings one, too" in status["reason"]


def test_what_a_method_does_not_take_is_refused_by_name(wire: Wired) -> None:
    """An unknown parameter, one of another format's reading, a root that cannot be written."""
    workbench_id = wire.workbench(a__txt="x")
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "a.txt"}
    assert "`surprise`" in wire.refused("TextGetMap", **asked, surprise=1).message
    assert "`sheet`" in wire.refused("TextReadLines", **asked, sheet="S").message
    refused = wire.refused("BookApplyOps", **asked, ops=[ROWS], root="published")
    assert "$.root" in refused.message
    assert types_of(wire, workbench_id) == ["WorkbenchCreated", "FileAdded"]


def test_a_workbook_is_made_and_read(wire: Wired) -> None:
    """All the format layer, without a model: made, mapped, described, read."""
    workbench_id = wire.workbench()
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "sum.xlsx"}
    values = [["Item", "Amount"], ["desk", 12.5]]
    ops = [{"op": "set_range", "sheet": "Summary", "start": "A1", "values": values}]
    made = wire.ask("XlsxApplyOps", **asked, ops=ops, create_new=True)
    assert made == {"ok": True, "applied": 1, "changed": ["Summary!A1:B2"], "warnings": []}
    found = wire.ask("XlsxGetMap", **asked)
    assert [each["name"] for each in found["sheets"]] == ["Summary"]
    about = wire.ask("XlsxGetInfo", **asked)
    assert (about["path"], about["kind"]) == ("sum.xlsx", "spreadsheet")
    read = wire.ask("XlsxReadRange", **asked, sheet="Summary", range="A2:B2")
    assert "desk" in read["text"]
    assert read["rows"] == [["desk", 12.5]]
    assert read["chunk_info"]["range"] == "A2:B2"
    text = wire.ask("XlsxExtractText", **asked)
    assert "desk" in text["text"]
    assert (text["has_more"], text["places"][0]["start"]) == (False, 0)
    (change,) = wire.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
    assert (change["path"], change["change_type"], change["run_id"]) == ("sum.xlsx", "added", None)


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

    (warning,) = edit("B2", '=WEBSERVICE("https://example.org")', create_new=True)
    assert "S!B2" in warning
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


def test_the_root_says_which_version_is_read(wire: Wired) -> None:
    """The draft's if one is open; the published one if asked for; no draft is no version."""
    workbench_id = wire.workbench(b__book='{"A": {"columns": [], "rows": []}}')
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}

    def sheets(**more: str) -> list[str]:
        found = wire.ask("BookGetMap", **asked, **more)["sheets"]
        return [each["name"] for each in found]

    assert sheets() == sheets(root="published") == ["A"]
    assert "no draft is open" in wire.refused("BookGetMap", **asked, root="draft").message
    book(wire, workbench_id, create_new=False)
    assert sheets() == sheets(root="draft") == ["A", "S"]
    assert sheets(root="published") == ["A"]
    book(wire, workbench_id, "new.book")
    refused = wire.refused(
        "BookGetInfo", workbench_id=workbench_id, path="new.book", root="published"
    )
    assert refused.data["error_code"] == "NOT_FOUND"


def test_all_text_is_read_in_parts(wire: Wired) -> None:
    """The parts, one after the other, are the whole, whatever their size."""
    workbench_id = wire.workbench()
    rows = [["é" * 40, number] for number in range(60)]
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}
    wire.ask("BookApplyOps", **asked, ops=[{**ROWS, "rows": rows}], create_new=True)
    whole = wire.ask("BookExtractText", **asked)["text"]
    parts: list[str] = []
    cursor: dict[str, int] = {}
    while True:
        part = wire.ask("BookExtractText", **asked, limit=1000, **cursor)
        parts.append(part["text"])
        assert len(part["text"]) <= 1000
        if not part["has_more"]:
            break
        cursor = {key: part[key] for key in ("passage_start", "character_start")}
    assert len(parts) > 3
    assert "".join(parts) == whole


def test_cells_come_as_values(wire: Wired) -> None:
    """What a format tells of them arrives as it is, beside the text."""
    workbench_id = wire.workbench()
    rows = [[1, 2.5, None, True, "x"], [{"date": "2024-01-31"}, "", 0, False, "é"]]
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}
    wire.ask("BookApplyOps", **asked, ops=[{**ROWS, "rows": rows}], create_new=True)
    read = wire.ask("BookReadCells", **asked, sheet="S")
    assert read == {
        "text": str(rows), "warnings": ["for tests"], "rows": rows,
        "chunk_info": {"chunk_index": 0, "total_chunks": 1, "has_more": False, "range": "1-2"},
    }  # fmt: skip
    assert wire.refused("BookReadCells", **asked, sheet="Z").data["error_code"] == (
        "VALIDATION_FAILED"
    )


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("XlsxGetMap", {"path": "a.txt"}, "VALIDATION_FAILED"),
        ("BookGetMap", {"path": "nope.book"}, "NOT_FOUND"),
        ("BookGetMap", {"path": "../b.book"}, "SANDBOX_VIOLATION"),
        ("BookGetMap", {"path": "/etc/passwd"}, "SANDBOX_VIOLATION"),
        ("BookGetMap", {"path": "b.book", "workbench_id": "0" * 16}, "NOT_FOUND"),
        ("BookGetStyles", {"path": "b.book", "sheet": "Z"}, "VALIDATION_FAILED"),
        ("XlsxReadRange", {"path": "bad.xlsx", "sheet": "S"}, "FILE_READ_FAILED"),
        ("TextReadLines", {"path": "a.txt", "line_start": 0}, "VALIDATION_FAILED"),
    ],
)
def test_a_reading_that_fails_has_its_code(
    wire: Wired, method: str, params: dict[str, Any], code: str
) -> None:
    """It is not recorded: nothing happened."""
    workbench_id = wire.workbench(a__txt="x", b__book="{}", bad__xlsx="no archive")
    refused = wire.refused(method, **{"workbench_id": workbench_id, **params})
    assert refused.data["error_code"] == code
    assert set(types_of(wire, workbench_id)) == {"WorkbenchCreated", "FileAdded"}


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
        "b.book": ["Web: //example.org"], "copy.book": ["Web: //example.org"],
    }  # fmt: skip
    refused = wire.refused("DraftPublish", **named)
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert "b.book: Web: //example.org" in refused.message
    published = wire.ask("DraftPublish", **named, accept_external=True)
    assert set(published["published"]) == {"b.book", "copy.book"}


def test_the_command_line_calls_them(wire: Wired) -> None:
    """`kbd rpc` takes any method of the daemon's table."""
    workbench_id = wire.workbench(a__txt="one\ntwo\n")
    params = json.dumps({"workbench_id": workbench_id, "path": "a.txt", "line_start": 2})
    done = subprocess.run(
        [sys.executable, "-m", "kbd", "--home", str(wire.daemon.home), "rpc", "TextReadLines",
         params],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout)["text"] == "two\n"


def test_a_kill_leaves_all_of_a_call_or_nothing(short_dir: Path, anyio_backend: str) -> None:
    """What was answered is there after it, once; what was under way never happened."""
    preface = install(short_dir / "site")
    daemon = RealDaemon(short_dir / "home", anyio_backend, preface=preface)
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
