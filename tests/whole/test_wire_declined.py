"""A refusal over the socket: a status of its own wherever a run's end is told."""

from collections.abc import Iterator
from typing import Any

import pytest

from backends import mostly
from wired import Heard, Wired, wired

MODEL = "offline:planner"
REQUEST = "total by sise"


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


def test_a_declined_run_is_told_everywhere(wire: Wired) -> None:
    """The answer, the notification, the run, the list, its steps and the log say the same."""
    workbench_id = wire.workbench(orders__csv="Size,Amount\nS,3\nM,4\n")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    with wire.daemon.client() as client:
        heard = Heard(client)
        client.send("WorkshopSendUserMessage", {**named, "text": REQUEST})
        answer = client.send("WorkshopRunAgent", {**named, "model_id": MODEL})
        (ended,) = heard.until("WorkshopRunFinished")
    run = wire.ask("RunGet", run_id=answer["run_id"])
    (listed,) = wire.ask("RunList", **named)["runs"]

    assert '"sise"' in run["reason"]
    assert run["understood"] == REQUEST
    assert run["suggestions"]
    assert "error" not in run
    for told in (answer, ended, run, listed):
        assert told["status"] == "declined"
        assert told["reason"] == run["reason"]
        assert told["suggestions"] == run["suggestions"]
    assert (answer["completed"], answer["has_draft"]) == (True, False)
    *_, last = wire.ask("EventsRead", **named)["events"]
    assert last["type"] == "RunFinished"
    assert last["title"].startswith("run declined")
    assert run["reason"][:30] in last["title"]
    assert wire.ask("StateAt", **named, seq=last["seq"])["run"]["status"] == "declined"
    assert wire.ask("ReplaySteps", run_id=run["run_id"])["run"]["status"] == "declined"


def test_nothing_is_gone_on_with(wire: Wired) -> None:
    """Asked for again, the run is answered as it ended; a new request has a run of its own."""
    workbench_id = wire.workbench(orders__csv="Size,Amount\nS,3\nM,4\n")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    wire.ask("WorkshopSendUserMessage", **named, text=REQUEST)
    first = wire.ask("WorkshopRunAgent", **named, model_id=MODEL)
    again = wire.ask("WorkshopRunAgent", **named, model_id=MODEL)
    wire.ask("WorkshopSendUserMessage", **named, text="total Amount by Size")
    other = wire.ask("WorkshopRunAgent", **named, model_id=MODEL)

    assert again == first
    assert (other["status"], other["has_draft"]) == ("finished", True)
    assert "reason" not in other
    assert other["run_id"] != first["run_id"]


def test_what_can_be_done_is_an_answer(wire: Wired) -> None:
    """Who asks for the abilities is told them, which is all that was asked for."""
    workbench_id = wire.workbench(orders__csv="Size,Amount\nS,3\n")
    named: dict[str, Any] = {"workbench_id": workbench_id}
    wire.ask("WorkshopSendUserMessage", **named, text="what can you do?")
    answer = wire.ask("WorkshopRunAgent", **named, model_id=MODEL)
    said = wire.ask("WorkshopGetConversation", **named)["messages"][-1]["text"]

    assert answer["status"] == "finished"
    assert "one sheet per Category" in said
    assert "This was not done" not in said
