"""Conformance of a run: research, plan, implement, summary, and what they leave.

One run with two items is looked at from all sides; another has all that can happen to items.
The behaviours 86, 95, 96 and 101 are proven in `whole/test_wire_runs.py`, which names them.
"""

import json
import re
import time
from collections.abc import Mapping
from shutil import which
from typing import Any

import pytest

from model_server import Reply, call, calls, failure, phase_of, text, turn_of
from wired import Heard, Script, Wired

WAITS_MS = (10, 20, 40, 80, 160)
"""A thousandth of the waits of the contract."""

TABLE = "Day,Sum\n" + "".join(f"2024-01-{n % 28 + 1:02},{n}.50\n" for n in range(500))
LONG = "".join(f"line {n} of a long text that no receipt can hold\n" for n in range(200))
READS = (
    call("read_file", {"path": "small.txt"}, "small"),
    call("table_query", {"path": "table.csv", "query": "SELECT * FROM data"}, "rows"),
    call("read_file", {"path": "long.txt"}, "long"),
)

PLAN = """# Execution Plan

## Task
two notes

## Items
- [ ] 1. Entity: One — write one
- [ ] 1. Entity: Two — write two

## Notes
- keep this
"""

EFFORTS = {"research_effort": "none", "plan_effort": "low", "implement_effort": "high"}

RECALL = (
    call("recall_tool_result", {"entry_id": 2}, "second"),
    call("recall_tool_result", {"entry_id": 999}, "none"),
)


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Files of more than a kilobyte, and short waits."""
    waits = ",".join(str(wait / 1000) for wait in WAITS_MS)
    return {"KBD_LIMITS_FILE_BYTES": "100000", "KBD_RUN_RETRY_S": waits}


def _item(body: dict[str, Any]) -> tuple[int, int]:
    """Return which item a request is about, and which attempt at it."""
    number, attempt = re.findall(r'<item number="(\d+)" attempt="(\d+)"', str(body["messages"]))[0]
    return int(number), int(attempt)


def _write(name: str, content: str) -> Reply:
    return calls(
        call("write_text_file", {"path": name, "content": content}, "w" + name.partition(".")[0])
    )


def _two_items(body: dict[str, Any]) -> Reply:
    """Read and recall in research, write a note for each item."""
    match phase_of(body):
        case "research" if turn_of(body) < 2:
            return calls(*(READS if turn_of(body) == 0 else RECALL))
        case "plan":
            return text(PLAN)
        case "implement" if turn_of(body) == 0:
            return _write(f"{_item(body)[0]}.txt", "x")
        case found:
            return text(f"text of {found}")


class Whole:
    """A run from its beginning to its end.

    Attributes:
        workbench_id: Where.
        run: As `RunGet` tells it.
        requests: What the model was sent.
        events: What was recorded.
        heard: What a client was told.
    """

    def __init__(self, wire: Wired) -> None:
        self.workbench_id = wire.workbench(small__txt="small", table__csv=TABLE, long__txt=LONG)
        named: dict[str, Any] = {"workbench_id": self.workbench_id}
        wire.script.instead = _two_items
        wire.ask("ProvidersSetReasoningEffort", provider_id="openai", **EFFORTS)
        with wire.daemon.client() as client:
            self.heard = Heard(client)
            client.send("WorkshopSendUserMessage", {**named, "text": "two notes"})
            answer = client.send("WorkshopRunAgent", named)
            self.heard.until("WorkshopRunFinished")
        self.run = wire.ask("RunGet", run_id=answer["run_id"])
        self.requests = list(wire.script.requests)
        self.events = wire.daemon.events(self.workbench_id)

    def shown(self, call_id: str) -> str:
        """Return what the model was shown of a call's result."""
        messages = [m for body in self.requests for m in body["messages"] if m["role"] == "tool"]
        return str(next(m["content"] for m in messages if m["tool_call_id"] == call_id))

    def data(self, kind: str) -> list[dict[str, Any]]:
        """Return the events of one kind."""
        return [event["data"] for event in self.events if event["type"] == kind]


@pytest.fixture(scope="module")
def whole(wire: Wired) -> Whole:
    """The run with two items."""
    wire.script.forget()
    found = Whole(wire)
    assert found.run["status"] == "finished", found.run
    return found


def test_large_results_are_receipts(whole: Whole) -> None:
    """Conformance 82: small ones whole; receipts with rows, entry, and content worth reading."""
    assert json.loads(whole.shown("small")) == {"text": "small"}
    rows, long = whole.shown("rows"), whole.shown("long")
    for part in ("100 rows", "500 total", "has_more=true", "recall_tool_result", '"entry_id":2'):
        assert part in rows
    assert json.loads(rows)["rows"][0] == ["2024-01-01", 0.5]
    assert "line 0 of a long text" in long
    assert '"entry_id":3' in long
    assert len(rows.encode()) <= 2048
    assert len(long.encode()) <= 2048 < len(LONG)
    assert whole.shown("w1") == json.dumps(
        {"path": "1.txt", "bytes": 1, "created": True}, separators=(",", ":")
    )


def test_the_tool_log_is_recalled_by_number(whole: Whole, wire: Wired) -> None:
    """Conformance 83: the second entry is the second call's; a number that is missing fails."""
    assert json.loads(whole.shown("second"))["text"].startswith('{"columns":["Day","Sum"]')
    assert whole.shown("none").startswith("Error: NOT_FOUND: ")
    entries = [data["entry_id"] for data in whole.data("ToolReturned")]
    assert entries == list(range(1, len(entries) + 1))
    meta = wire.published(whole.workbench_id).parent / "meta" / "workshop" / "tool_log.jsonl"
    lines = [json.loads(line) for line in meta.read_text().splitlines()]
    assert [line["id"] for line in lines] == entries


def test_each_phase_offers_its_tools(whole: Whole) -> None:
    """Conformance 85: research has every tool that reads, the plan two, the summary none."""
    offered: dict[str, set[str]] = {}
    for body in whole.requests:
        names = {tool["function"]["name"] for tool in body.get("tools", ())}
        offered.setdefault(phase_of(body), set()).update(names)
    writing = {
        f"{kind}_{what}" for kind in ("docx", "pptx", "xlsx") for what in ("operations",
        "copy_assets")
    } | {"pdf_operations", "write_text_file", "copy_file", "table_export",
         "table_update_from_export", "save_page_picture", "table_export_sheets",
         "run_job"}  # fmt: skip
    assert len(writing) == 14
    # What a program of the machine does is offered where there is one.
    writing |= {"print_to_pdf"} if which("soffice") else set()
    assert offered["research"] == offered["implement"] - writing
    # Those of the contract's table, the comparison with which items are checked, and tables of PDF.
    reading = {name for name in offered["research"] if "workspace" not in name}
    assert "get_file_changes" in reading
    assert len(reading - {"recognize_text"}) == 16
    assert ("recognize_text" in reading) == (which("tesseract") is not None)
    assert offered["plan"] == {"read_file", "recall_tool_result"}
    assert offered["no tools"] == set()


def test_the_conversation_holds_one_answer(whole: Whole, wire: Wired) -> None:
    """Conformance 87: one message of each, tool traffic between them in types of its own."""
    asked = wire.ask("WorkshopGetConversation", workbench_id=whole.workbench_id)["messages"]
    said = [each for each in asked if each["role"] != "tool" and not each.get("tool_calls")]
    assert [each["type"] for each in said] == ["user_message", "assistant_message"]
    results = [each["tool_call_id"] for each in asked if each["type"] == "tool_result"]
    wanted = [each["id"] for each in asked for each in each.get("tool_calls", ())]
    assert sorted(results) == sorted(wanted)
    assert len(results) == 7


def test_text_streams_in_every_phase(whole: Whole) -> None:
    """Conformance 88: deltas are told, make up what was said, and are no events."""
    told: dict[str, str] = {}
    for delta in whole.heard.of("WorkshopAssistantStreamDelta"):
        told[delta["phase"]] = told.get(delta["phase"], "") + delta["token_delta"]
    assert told == {
        "research": "text of research",
        "plan": PLAN,
        "implement": "text of implement" * 2,
        "summary": "text of no tools",
    }
    assert not [event for event in whole.events if "Delta" in event["type"]]
    assert len(whole.heard.of("WorkshopAssistantMessageComplete")) == 1


def test_efforts_are_passed_by_phase(whole: Whole) -> None:
    """Conformance 89: each phase has its own; a summary is never asked to think."""
    asked = {(phase_of(body), body.get("reasoning_effort")) for body in whole.requests}
    assert asked == {
        ("research", "none"), ("plan", "low"), ("implement", "high"), ("no tools", None),
    }  # fmt: skip
    recorded = {data["effort"] for data in whole.data("ModelRequested") if "effort" in data}
    assert recorded >= {"none", "low", "high"}


def _calls_of(count: int, *wanted: dict[str, Any]) -> Any:
    """Return a model that makes these calls in turn, so many, in research; then it does well."""

    def play(body: dict[str, Any]) -> Reply:
        if phase_of(body) == "research" and turn_of(body) < count:
            return calls(wanted[turn_of(body) % len(wanted)])
        return text(PLAN if phase_of(body) == "plan" else "done")

    return play


def test_the_same_call_is_known_by_its_arguments(wire: Wired, model: Script) -> None:
    """Conformance 84: canonical arguments are equal, whatever their order; other ones are not."""
    workbench_id = wire.workbench(a__txt="a\nb\n")
    first = {"path": "a.txt", "line_start": 1, "line_count": 5}
    turned = json.dumps(dict(reversed(list(first.items()))), indent=1)
    model.instead = _calls_of(9, call("read_file", first), call("read_file", turned))
    run = wire.daemon.run_prompt(workbench_id, "look")
    assert run["error"]["error_code"] == "AGENT_LOOP_DETECTED"
    assert run["error"]["subphase"] == "rpi_research"
    returned = [e for e in wire.daemon.events(workbench_id) if e["type"] == "ToolReturned"]
    assert len(returned) == 5

    other = [first | {"line_count": lines} for lines in range(1, 10)]
    model.instead = _calls_of(9, *(call("read_file", each) for each in other))
    assert wire.daemon.run_prompt(workbench_id, "look again")["status"] == "finished"


AMENDED = """done, and more is to be done:
- [x] 1. Entity: One — write one
- [ ] 2. Three
  - a detail of it
- [ ] 3. Four
- [ ] 4. Five
"""


def _troubled(body: dict[str, Any]) -> Reply:
    """Fail item 1 once and item 2 for good; item 1 asks for three more, of which two fit."""
    turn = turn_of(body)
    match phase_of(body):
        case "plan":
            return text(PLAN)
        case "implement":
            item, attempt = _item(body)
            if turn == 0:
                return _write(f"{item}.txt", f"{item}.{attempt}")
            fails = item == 2 or (item, attempt) == (1, 1)
            if fails:
                return failure(400)
            return text(AMENDED if item == 1 else "done")
        case _:
            return text("Item 2 failed.")


@pytest.fixture(scope="module")
def troubled(wire: Wired) -> tuple[dict[str, Any], str, list[dict[str, Any]], list[Any]]:
    """A run in which items fail and are added: it, its plan.md, its events, its requests."""
    wire.script.forget()
    wire.script.instead = _troubled
    workbench_id = wire.workbench()
    run = wire.daemon.run_prompt(workbench_id, "two notes")
    plan = wire.published(workbench_id).parent / "meta" / "workshop" / "_rpi" / "plan.md"
    events = wire.daemon.events(workbench_id)
    assert run["status"] == "finished", run
    # The copy follows the log; it is whole a moment later.
    deadline = time.monotonic() + 10
    while "- [ ]" in plan.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    return run, plan.read_text(), events, list(wire.script.requests)


Troubled = tuple[dict[str, Any], str, list[dict[str, Any]], list[Any]]


def test_an_item_that_succeeds_at_last_is_ticked(troubled: Troubled) -> None:
    """Conformance 91: failed once, then done, and told why the second time."""
    run, plan, _, requests = troubled
    assert run["items"][0]["state"] == "done"
    assert "- [x] 1. Entity: One — write one\n" in plan
    openings = [str(b["messages"][1]) for b in requests if phase_of(b) == "implement"]
    assert [bool("<failure>" in each) for each in openings if 'number="1"' in each] == [
        False, False, True, True,
    ]  # fmt: skip


def test_an_item_that_fails_twice_is_marked(troubled: Troubled) -> None:
    """Conformance 92: its reason stands in the plan, its writes are undone, the next one runs."""
    run, plan, events, requests = troubled
    assert [item["state"] for item in run["items"]] == ["done", "failed", "done", "done"]
    (line,) = [line for line in plan.splitlines() if line.startswith("- [!]")]
    assert re.fullmatch(r"- \[!\] 2\. Entity: Two — write two \[Failed: .+\]", line)
    causes = [e["data"].get("cause", "edit") for e in events if e["type"] == "FileChanged"]
    assert causes == ["edit", "rollback", "edit", *["edit", "rollback"] * 2, "edit", "edit"]
    results = str(requests[-1]["messages"][1]["content"])
    assert results.count('"rolled_back":["2.txt"]') == 1
    assert '"refused_additions":["Five"]' in results


def test_items_are_named_by_their_place(troubled: Troubled) -> None:
    """Conformance 97 and 99: numbers that are doubled are put right; the count is the plan's."""
    _, plan, _, _ = troubled
    assert plan.startswith("<!-- original_count: 2 -->\n# Execution Plan\n")
    numbers = re.findall(r"^- \[.\] (\d+)\. ", plan, re.MULTILINE)
    assert numbers == ["1", "2", "3", "4"]


def test_additions_follow_the_last_item(troubled: Troubled) -> None:
    """Conformance 98 and 100: two of three are taken, no ticked line or bullet; notes are kept."""
    run, plan, events, _ = troubled
    assert [item["label"] for item in run["items"]] == ["One", "Two", "Three", "Four"]
    items = plan.partition("## Items\n")[2].partition("\n\n## Notes\n- keep this\n")[0].strip()
    assert items.splitlines()[2:] == ["- [x] 3. Three", "- [x] 4. Four"]
    (refused,) = [e["data"] for e in events if e["type"] == "ItemsRefused"]
    assert refused["items"] == ["Five"]
    assert refused["reason"]


@pytest.mark.parametrize(
    ("status", "code"), [(500, "PROVIDER_UNAVAILABLE"), (401, "PROVIDER_AUTH_FAILED")]
)
def test_a_provider_that_fails_in_research_ends_the_run(
    wire: Wired, model: Script, status: int, code: str
) -> None:
    """Conformance 90: the error names the subphase, and only the message of the user is there."""
    model.instead = lambda _: failure(status)
    workbench_id = wire.workbench()
    run = wire.daemon.run_prompt(workbench_id, "look")
    assert (run["error"]["error_code"], run["error"]["subphase"]) == (code, "rpi_research")
    assert len(model.requests) == (1 + len(WAITS_MS) if status == 500 else 1)
    found = wire.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"]
    assert [each["type"] for each in found] == ["user_message"]


def test_a_rate_limit_that_lasts_leaves_the_items_open(wire: Wired, model: Script) -> None:
    """Conformance 93: every wait is told and kept, then the code; no summary; it is resumed."""
    model.instead = lambda body: failure(429) if phase_of(body) == "implement" else _two_items(body)
    workbench_id = wire.workbench(small__txt="small", table__csv="a\n1\n", long__txt="x")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    with wire.daemon.client() as client:
        heard = Heard(client)
        client.send("WorkshopSendUserMessage", {**named, "text": "two notes"})
        run_id = client.send("WorkshopRunAgent", {**named, "wait": False})["run_id"]
        heard.until("WorkshopRunFailed")
    run = wire.ask("RunGet", run_id=run_id)
    assert run["error"]["error_code"] == "PROVIDER_RATE_LIMITED"
    assert (run["error"]["subphase"], run["error"]["retryable"]) == ("rpi_implement", True)
    warned = heard.of("WorkshopRateLimitWarning")
    assert [each["retry_attempt"] for each in warned] == [1, 2, 3, 4, 5]
    for each, wait_ms in zip(warned, WAITS_MS, strict=True):
        assert wait_ms <= each["wait_ms"] <= wait_ms * 1.1 + 1
        assert (each["phase"], each["retry_max"]) == ("implement", 5)
    assert {item["state"] for item in run["items"]} == {"active", "open"}
    assert "SummaryWritten" not in [e["type"] for e in wire.daemon.events(workbench_id)]

    model.instead = _two_items
    again = wire.ask("WorkshopRunAgent", **named)
    assert (again["run_id"], again["status"]) == (run_id, "finished")


def test_a_run_that_waits_for_its_model_is_cancelled(wire: Wired, model: Script) -> None:
    """Conformance 94: acknowledged, ended as cancelled in its phase; idle there is none; resumed.

    That it takes less than 2 s is printed, not asserted.
    """
    workbench_id = wire.workbench()
    named: dict[str, Any] = {"workbench_id": workbench_id}
    assert wire.ask("WorkshopCancelRun", **named) == {"cancel_requested": False}
    model.answers.clear()
    wire.ask("WorkshopSendUserMessage", text="look", **named)
    run_id = wire.ask("WorkshopRunAgent", wait=False, **named)["run_id"]
    assert model.asked.wait(20)
    began = time.monotonic()
    assert wire.ask("WorkshopCancelRun", **named) == {"cancel_requested": True}
    run = wire.daemon.wait_for_run(run_id, 20)
    print(f"\ncancelled after {time.monotonic() - began:.3f} s")
    assert (run["status"], run["phase"]) == ("cancelled", "research")
    types = [event["type"] for event in wire.daemon.events(workbench_id)]
    assert types[-2:] == ["RunCancelRequested", "RunCancelled"]
    model.answers.set()
    assert wire.ask("WorkshopRunAgent", **named)["status"] == "finished"
