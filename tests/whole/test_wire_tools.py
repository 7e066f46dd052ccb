"""Calls of tools by clients, over the socket: every tool, well and badly, beside runs and in them.

The cases stand by the tools' names, and the tools are those of the catalog: a tool that is added
without cases here fails the test.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Timer
from typing import Any

import pytest

from backends import mostly
from kbd.client.blocking import Client, ConnectionLostError, NoAnswerError
from kbd.types import Effect
from model_server import call as call_of
from model_server import calls, phase_of, text, turn_of
from pdf_forge import text_pages
from tool_cases import BOLD, CASES, CELLS, PARAGRAPH, PROGRAMS, SLIDE, TOOLS, WORKING, Call
from wired import Wired, wired


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


@pytest.fixture(scope="module")
def bench(wire: Wired) -> str:
    """A workbench with a file of each kind that tools work on."""
    return _prepared(wire)


def caller(wire: Wired, workbench_id: str) -> Call:
    """Return what calls the tools of a workbench."""

    def call(tool: str, /, **arguments: Any) -> Any:
        return wire.ask("ToolsCall", workbench_id=workbench_id, name=tool, arguments=arguments)

    return call


def last_seq(wire: Wired, workbench_id: str) -> int:
    """Return the last event of a workbench."""
    return int(wire.ask("LogHead", workbench_id=workbench_id)["seq"])


def is_shown(found: Any, shows: Mapping[str, Any] | Callable[[Any], bool]) -> bool:
    """Return whether a result holds what it must."""
    if isinstance(shows, Mapping):
        return all(found[name] == value for name, value in shows.items())
    return shows(found)


def test_every_tool_is_listed_with_its_schema(wire: Wired) -> None:
    """As the catalog has them: name, description, effect, arguments; for a host to offer."""
    workbench_id = wire.workbench()
    for params in ({}, {"workbench_id": workbench_id}):
        rows = {row["name"]: row for row in wire.ask("ToolsList", **params)["tools"]}
        assert {name: row["effect"] for name, row in rows.items()} == {
            name: tool.effect.value for name, tool in TOOLS.items()
        }
        assert all(row["input_schema"]["type"] == "object" for row in rows.values())
        assert rows["read_file"]["input_schema"]["required"] == ["path"]
        assert rows["read_file"]["description"] == TOOLS["read_file"].description
    assert wire.refused("ToolsList", workbench_id="0" * 16).data["error_code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.full, pytest.mark.libreoffice])
        if PROGRAMS.get(name) == "soffice"
        else name
        for name in TOOLS
    ],
)
def test_every_tool_answers_a_client(wire: Wired, bench: str, name: str) -> None:
    """The tool's result; what writes is one recorded call, what reads leaves no trace."""
    if name in CASES and name not in WORKING:
        pytest.skip(f"{PROGRAMS[name]} is not installed")
    case, call, seq = CASES[name], caller(wire, bench), last_seq(wire, bench)
    given = case.good if isinstance(case.good, dict) else case.good(call)
    found = call(name, **given)
    assert is_shown(found, case.shows), found
    events = wire.daemon.events(bench)[seq:]
    if TOOLS[name].effect is not Effect.WRITE:
        assert events == []
        return
    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-1]) == ("ToolCalled", "ToolReturned")
    assert set(kinds[1:-1]) == {"FileChanged"}
    assert events[0]["data"]["tool"] == name
    assert json.loads(events[0]["data"]["arguments"]) == given
    returned = events[-1]["data"]
    assert returned["ok"]
    assert returned["saw"] == seq
    assert json.loads(returned["shown"]) == found
    assert {event["actor"]["client"] for event in events} == {"kbd-client"}


@pytest.mark.parametrize(
    ("name", "bad"), [(name, bad) for name in CASES for bad in range(len(CASES[name].bad))]
)
def test_every_tool_refuses_bad_arguments(wire: Wired, bench: str, name: str, bad: int) -> None:
    """By an error with its code and the place of the fault; a tool that failed wrote nothing."""
    arguments, code, told = CASES[name].bad[bad]
    seq, files = last_seq(wire, bench), wire.files(bench)
    asked = {"workbench_id": bench, "name": name, "arguments": arguments}
    error = wire.refused("ToolsCall", **asked)
    assert error.code == -32000
    assert error.data["error_code"] == code, error.message
    assert told in error.message
    assert wire.files(bench) == files
    events = wire.daemon.events(bench)[seq:]
    if TOOLS[name].effect is not Effect.WRITE or "do not fit" in error.message:
        assert events == []  # of the second kind nothing began
    else:
        assert [event["type"] for event in events] == ["ToolCalled", "ToolReturned"]
        assert events[-1]["data"]["error_code"] == code


def test_an_unknown_tool_is_told_with_near_ones(wire: Wired, bench: str) -> None:
    """And an unknown workbench as in every method; parameters that do not exist are refused."""
    error = wire.refused("ToolsCall", workbench_id=bench, name="read_fil")
    assert error.data["error_code"] == "NOT_FOUND"
    assert "did you mean read_file" in error.message
    error = wire.refused("ToolsCall", workbench_id="0" * 16, name="list_files")
    assert error.data["error_code"] == "NOT_FOUND"
    assert wire.refused("ToolsCall", workbench_id=bench, name="list_files", phase=1).code == -32602


def _prepared(wire: Wired) -> str:
    """Return a workbench of one's own with what `CASES` work on."""
    workbench_id = wire.workbench(n__txt="hello\nworld\n", t__csv="a,b\n1,2\n3,4\n")
    pages = wire.file("a.pdf")
    pages.write_bytes(text_pages(["Page"]))
    wire.add(workbench_id, pages)
    call = caller(wire, workbench_id)
    call("xlsx_operations", path="a.xlsx", operations=BOLD, create_new=True)
    call("docx_operations", path="a.docx", operations=PARAGRAPH, create_new=True)
    call("pptx_operations", path="a.pptx", operations=SLIDE, create_new=True)
    return workbench_id


@pytest.mark.full
def test_during_a_run_every_tool_reads_and_none_writes(wire: Wired) -> None:
    """Each with good and with bad arguments: nothing of it is recorded, and the run is proven."""
    workbench_id = _prepared(wire)
    call, files = caller(wire, workbench_id), wire.files(workbench_id)
    wire.script.forget()
    wire.script.writes = {"run.txt": "by the run"}
    wire.script.answers.clear()
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    started = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    try:
        assert wire.script.asked.wait(30)
        # It would be asked of the model, which thinks.
        free = {name: case for name, case in WORKING.items() if name != "workspace_summarize"}
        seq = last_seq(wire, workbench_id)
        for name, case in free.items():
            given = case.good if isinstance(case.good, dict) else case.good(call)
            if TOOLS[name].effect is not Effect.WRITE:
                assert is_shown(call(name, **given), case.shows), name
            for arguments, code, told in ((given, "", ""), *case.bad):
                if arguments is given and TOOLS[name].effect is not Effect.WRITE:
                    continue
                asked = {"workbench_id": workbench_id, "name": name, "arguments": arguments}
                error = wire.refused("ToolsCall", **asked)
                if TOOLS[name].effect is Effect.WRITE and "do not fit" not in error.message:
                    assert error.data["error_code"] == "VALIDATION_FAILED", name
                    assert error.data["retryable"], name
                    assert started["run_id"] in f"{error.message}{error.data}", name
                else:
                    assert (error.data["error_code"], told in error.message) == (code, True), name
        assert wire.files(workbench_id) == files
        assert last_seq(wire, workbench_id) == seq
    finally:
        wire.script.answers.set()
    assert wire.daemon.wait_for_run(started["run_id"])["status"] == "finished"
    proof = wire.ask("ReplayRun", run_id=started["run_id"])
    assert (proof["calls"], proof["equal"], proof["divergences"]) == (1, 1, []), proof
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]


@pytest.mark.full
def test_a_run_calls_every_tool_and_is_proven(wire: Wired) -> None:
    """With good and with bad arguments, between calls of clients; and again after a kill."""
    workbench_id = _prepared(wire)
    call = caller(wire, workbench_id)
    made: list[tuple[str, dict[str, Any], str]] = []
    for name, case in WORKING.items():
        given = case.good if isinstance(case.good, dict) else case.good(call)
        made.append((name, given, ""))
        made += [(name, arguments, code) for arguments, code, _ in case.bad]
    per_turn = 40

    def play(body: dict[str, Any]) -> Any:
        if phase_of(body) == "plan":
            return text(wire.script.plan)
        begin = turn_of(body) * per_turn
        if phase_of(body) != "implement" or begin >= len(made):
            return text("All done.")
        asked = enumerate(made[begin : begin + per_turn], begin)
        return calls(*(call_of(name, given, f"c{n}") for n, (name, given, _) in asked))

    wire.script.forget()
    wire.script.instead = play
    run = wire.daemon.run_prompt(workbench_id, "use every tool")
    assert run["status"] == "finished", run
    call("write_text_file", path="after.txt", content="by a client")

    ended: dict[str, tuple[str, str]] = {}
    tools: dict[str, str] = {}
    for event in wire.daemon.events(workbench_id):
        data = event["data"]
        if event.get("run_id") != run["run_id"]:
            continue
        if event["type"] == "ToolCalled":
            tools[data["call_id"]] = data["tool"]
        # Who asked for it is the model: no client's name stands there.
        if event["type"] in ("ToolCalled", "ToolReturned", "ToolRefused"):
            assert "actor" not in event
        if event["type"] in ("ToolReturned", "ToolRefused"):
            code = data.get("error_code") or data.get("code") or ""
            ended[data["call_id"]] = (event["type"], code)
    for number, (name, _, code) in enumerate(made):
        ((kind, found),) = (row for key, row in ended.items() if key.endswith(f"c{number}"))
        assert found == code, (name, code, kind, found)
    assert set(tools.values()) == set(WORKING)

    for _ in range(2):
        proof = wire.ask("ReplayRun", run_id=run["run_id"])
        assert proof["divergences"] == [], proof["divergences"][0]
        assert proof["equal"] == proof["calls"] == len(made), proof
        assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]
        wire.daemon.kill()
        wire.daemon.start()
    wire.script.forget()


def test_while_a_run_works_clients_may_read_and_not_write(wire: Wired) -> None:
    """What writes is refused for now, and not recorded. The run is proven afterwards."""
    workbench_id = wire.workbench(a__txt="x")
    call = caller(wire, workbench_id)
    call("write_text_file", path="before.txt", content="1")
    wire.script.forget()
    wire.script.writes = {"run.txt": "by the run"}
    wire.script.answers.clear()
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    started = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    try:
        assert wire.script.asked.wait(30)
        assert call("read_file", path="before.txt")["text"] == "1"
        asked = {"path": "a.txt", "content": "y"}
        error = wire.refused(
            "ToolsCall", workbench_id=workbench_id, name="write_text_file", arguments=asked
        )
        assert error.data["error_code"] == "VALIDATION_FAILED"
        assert error.data["retryable"]
    finally:
        wire.script.answers.set()
    run = wire.daemon.wait_for_run(started["run_id"])
    assert run["status"] == "finished", run
    call("write_text_file", path="a.txt", content="after")

    calls = [e for e in wire.daemon.events(workbench_id) if e["type"] == "ToolCalled"]
    assert [(e["data"]["tool"], "run_id" in e) for e in calls] == [
        ("write_text_file", False), ("write_text_file", True), ("write_text_file", False),
    ]  # fmt: skip
    proof = wire.ask("ReplayRun", run_id=started["run_id"])
    assert (proof["calls"], proof["divergences"], proof["skipped"]) == (1, [], []), proof
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]
    named = {file["path"]: file for file in _files_at(wire, workbench_id, calls[2]["seq"] - 1)}
    assert set(named) == {"a.txt", "before.txt", "run.txt"}


def _files_at(wire: Wired, workbench_id: str, seq: int) -> list[dict[str, Any]]:
    found = wire.ask("StateAt", workbench_id=workbench_id, seq=seq)
    files: list[dict[str, Any]] = found["files"]
    return files


def test_calls_of_two_clients_on_one_file_all_land(wire: Wired) -> None:
    """Each sees what the one before wrote; each event names who asked for it, and no other."""
    workbench_id = wire.workbench()
    wrote: dict[str, str] = {}

    def write(column: str) -> None:
        named: dict[str, Any] = {"workbench_id": workbench_id}
        with Client(wire.daemon.socket, client=f"client {column}", timeout=60) as client:
            for row in range(1, 9):
                cell = {"cell": f"{column}{row}", "value": f"{column} {row}"}
                edit = [{"op": "set_cells", "sheet": "S", "cells": [cell]}]
                wrote[cell["cell"]] = cell["value"]
                if row % 2:
                    given = {"path": "a.xlsx", "operations": edit, "create_if_missing": True}
                    asked = {**named, "name": "xlsx_operations", "arguments": given}
                    client.send("ToolsCall", asked)
                else:
                    client.send("XlsxApplyOps", {**named, "path": "a.xlsx", "ops": edit})

    with ThreadPoolExecutor(2) as clients:
        list(clients.map(write, "AB"))
    asked = {"path": "a.xlsx", "sheet": "S", "range": "A1:B8"}
    found = caller(wire, workbench_id)("read_file", **asked)["text"]
    assert all(value in found for value in wrote.values()), found
    calls_of: dict[str, set[str]] = {}
    for event in wire.daemon.events(workbench_id):
        if event["type"] in ("ToolCalled", "FileChanged", "ToolReturned"):
            calls_of.setdefault(event["data"]["call_id"], set()).add(event["actor"]["client"])
        if event["type"] == "ToolCalled":
            column = "A" if '"A' in event["data"]["arguments"] else "B"
            assert event["actor"]["client"] == f"client {column}"
    assert len(calls_of) == 16
    assert all(len(clients) == 1 for clients in calls_of.values())


def test_a_result_that_no_message_holds_is_refused(anyio_backend: str) -> None:
    """With what would make it shorter; of one that writes nothing has landed."""
    with wired(anyio_backend, more={"KBD_LIMITS_MESSAGE_BYTES": "65536"}) as small:
        workbench_id = small.workbench(t__csv="a\n1\n")
        query = "SELECT repeat('x', 1000) AS x FROM range(100)"
        arguments = {"path": "t.csv", "query": query}
        asked: dict[str, Any] = {"workbench_id": workbench_id, "name": "table_query"}
        error = small.refused("ToolsCall", **asked, arguments=arguments)
        assert error.data["error_code"] == "VALIDATION_FAILED"
        assert "a message holds 65,536: ask for less with" in error.message
        assert "window_rows" in error.message
        found = caller(small, workbench_id)("table_query", **arguments, window_rows=10)
        assert len(found["rows"]) == 10


@pytest.mark.parametrize("leaves", [False, True])
def test_a_call_that_is_taken_back_lands_whole_or_not_at_all(wire: Wired, *, leaves: bool) -> None:
    """By $/cancelRequest or by going away, at any moment: no change without its call and result."""
    workbench_id = wire.workbench()
    asked = {
        "workbench_id": workbench_id,
        "name": "xlsx_operations",
        "arguments": {"path": "a.xlsx", "operations": CELLS, "create_if_missing": True},
    }

    def give_up(wait_s: float) -> bool:
        with Client(wire.daemon.socket) as client:
            if leaves:
                Timer(wait_s, client.close).start()
            try:
                client.send("ToolsCall", asked, timeout=30 if leaves else wait_s)
            except (NoAnswerError, ConnectionLostError):
                return True
        return False

    with ThreadPoolExecutor(4) as pool:
        given_up = list(pool.map(give_up, [number * 0.004 for number in range(1, 30)]))
    assert any(given_up)
    caller(wire, workbench_id)("write_text_file", path="end.txt", content="x")
    by_call: dict[str, list[str]] = {}
    for event in wire.daemon.events(workbench_id):
        if call_id := event["data"].get("call_id"):
            by_call.setdefault(call_id, []).append(event["type"])
    assert {(kinds[0], kinds[-1]) for kinds in by_call.values()} == {("ToolCalled", "ToolReturned")}
    stage = wire.daemon.home / "workbenches" / workbench_id / "stage"
    assert not list(stage.iterdir())
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]
