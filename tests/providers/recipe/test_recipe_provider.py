"""The providers of jobs and recipes, turn by turn: what they call, and when they decline."""

import json
from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from job_tables import job
from kbd.errors import ToolTimeout
from kbd.jobs.documents import job_hash
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.recipes.requests import job_request, recipe_request
from kbd.messages import Message
from kbd.providers import ModelReply, ModelRequest, ToolSchema
from kbd.testing.providers import NoAccess, check_provider
from kbd.types import Phase
from kbd_recipe import kbd_register_providers
from kbd_recipe.provider import JobProvider, RecipeProvider

TOOLS = tuple(
    ToolSchema(name, "", {"type": "object"})
    for name in ("check_job", "run_job", "recall_tool_result")
)
SUM = job(
    {"do": "derive", "columns": {"Z": "Amount * 1", "A": "Z + 1"}},
    {"do": "group", "figures": [{"name": "Sum", "function": "sum", "column": "A"}]},
    {"do": "write", "file": "{t}-sum.xlsx"},
)
SENT = job_request(SUM)
CHECKED: dict[str, Any] = {
    "words": "Of t.csv, add.", "steps": ["add"], "checks": ["t has 3 rows"], "failed": [],
    "notes": [],
}  # fmt: skip


def turn(
    phase: Phase,
    blocks: str,
    results: Sequence[tuple[str, Any, str]] = (),
    model: str = SENT.model_id,
) -> ModelReply:
    """A turn of the provider, after calls that got these results."""
    messages = [Message("system", "work"), Message("user", blocks)]
    provider = JobProvider() if model.startswith("job:") else RecipeProvider()
    request = ModelRequest(model.partition(":")[2], (), TOOLS, phase=phase)
    for tool, _, text in results:
        reply = complete(provider, request, messages)
        (asked,) = reply.tool_calls
        assert asked.name == tool
        messages += [
            Message("assistant", tool_calls=reply.tool_calls),
            Message("tool", text, tool_call_id=asked.id),
        ]
    return complete(provider, request, messages)


def complete(
    provider: JobProvider | RecipeProvider, request: ModelRequest, messages: Sequence[Message]
) -> ModelReply:
    """A turn on these messages."""
    asked = ModelRequest(request.model, tuple(messages), request.tools, phase=request.phase)
    return anyio.run(provider.complete, asked, NoAccess(), lambda _: None)


REQUEST = f"<request>\n{SENT.text}\n</request>"
ITEM = '<item number="1" attempt="{}">\ndo it\n</item>'


@pytest.mark.parametrize("provider", kbd_register_providers(), ids=lambda each: each.name)
@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
def test_it_keeps_what_providers_promise(provider: Any, anyio_backend: str) -> None:
    """Whatever it is asked, it answers as every provider does."""
    request = ModelRequest("none", (Message("user", "total by month"),), TOOLS)

    anyio.run(check_provider, provider, NoAccess(), request, backend=anyio_backend)


def test_a_job_is_checked_and_carried_out_in_its_own_order() -> None:
    """Research asks for the check, the item for the run, with the job that was sent."""
    looked = turn(Phase.RESEARCH, REQUEST)
    ran = turn(Phase.IMPLEMENT, f"{REQUEST}\n{ITEM.format(1)}")

    for reply, tool in ((looked, "check_job"), (ran, "run_job")):
        (asked,) = reply.tool_calls
        assert asked.name == tool
        sent = json.loads(asked.arguments)["job"]
        assert list(sent["steps"][0]["columns"]) == ["Z", "A"]
        assert job_hash(SUM) == SENT.sha256


def test_a_long_result_is_recalled_whole() -> None:
    """Of a receipt the pages are asked for, and what they hold is told."""
    whole = json.dumps(CHECKED)
    receipt = json.dumps({"receipt": True, "entry_id": 7, "size_bytes": len(whole)})
    page = json.dumps({"text": whole})

    reply = turn(
        Phase.RESEARCH, REQUEST, [("check_job", None, receipt), ("recall_tool_result", None, page)]
    )
    assert "- Holds: t has 3 rows" in reply.text


@pytest.mark.parametrize(
    "result",
    [
        json.dumps({**CHECKED, "failed": ["t has 0 rows, and needs at least 1"]}),
        "Error: VALIDATION_FAILED: t has 0 rows, and needs at least 1",
    ],
    ids=["check", "shape"],
)
def test_a_guard_declines_before_anything_is_written(result: str) -> None:
    """What research found is in the plan, and the item is declined without a call."""
    found = turn(Phase.RESEARCH, REQUEST, [("check_job", None, result)])
    planned = turn(Phase.PLAN, f"{REQUEST}\n<research>\n{found.text}\n</research>")
    done = turn(Phase.IMPLEMENT, f"{REQUEST}\n<plan>\n{planned.text}\n</plan>\n{ITEM.format(1)}")

    assert "- Not done: t has 0 rows" in found.text
    assert planned.text.count("- [ ] ") == 1
    assert (done.tool_calls, done.finish_reason) == ((), "declined")
    assert done.refusal is not None
    assert done.refusal.reason == "t has 0 rows, and needs at least 1"


def test_a_job_that_fails_at_work_is_taken_back_and_declined() -> None:
    """The attempt fails, so that all of it is rolled back; the second one says why."""
    failed = "Error: VALIDATION_FAILED: nothing is written, because a check failed: sums differ"
    with pytest.raises(Exception, match="it cannot be carried out: nothing is written"):
        turn(Phase.IMPLEMENT, f"{REQUEST}\n{ITEM.format(1)}", [("run_job", None, failed)])
    why = "VALIDATION_FAILED: it cannot be carried out: sums differ"
    again = f"{REQUEST}\n{ITEM.format(2)}\n<failure>\n{why}\n</failure>"

    reply = turn(Phase.IMPLEMENT, again)
    assert (reply.tool_calls, reply.finish_reason) == ((), "declined")
    assert reply.refusal is not None
    assert reply.refusal.reason == "sums differ"


def test_what_may_pass_is_tried_again() -> None:
    """A call that took too long is no guard: the second attempt carries the job out."""
    why = "VALIDATION_FAILED: TOOL_TIMEOUT: run_job took more than 300 s"
    again = f"{REQUEST}\n{ITEM.format(2)}\n<failure>\n{why}\n</failure>"

    assert [each.name for each in turn(Phase.IMPLEMENT, again).tool_calls] == ["run_job"]


def test_a_recipe_with_an_unexplained_literal_does_not_run() -> None:
    """A person who wrote a text into it says why; until then no job of it is even checked."""
    recipe = Recipe("paid", "sums", (job({"do": "filter", "where": "Status = 'paid'"}),))
    sent = recipe_request(recipe)

    reply = turn(Phase.RESEARCH, f"<request>\n{sent.text}\n</request>", model=sent.model_id)
    assert reply.tool_calls == ()
    assert "- Not done: jobs[0].steps[0].where" in reply.text


def test_without_a_document_nothing_is_done() -> None:
    """Words are declined, with how a document is sent."""
    reply = turn(Phase.RESEARCH, "<request>\ntotal by month\n</request>")

    assert reply.tool_calls == ()
    assert "- Not done: the request is no document; kbd run --job FILE" in reply.text


@pytest.mark.parametrize(
    ("phase", "tool"), [(Phase.RESEARCH, "check_job"), (Phase.IMPLEMENT, "run_job")]
)
def test_a_fault_of_the_machine_ends_the_turn_by_its_code(phase: Phase, tool: str) -> None:
    """A call that timed out says nothing of the document: the run can be gone on with later."""
    told = "Error: TOOL_TIMEOUT: run_job was stopped after 30 s"
    blocks = f"<request>\n{SENT.text}\n</request>\n<plan>\n# Plan\n</plan>"
    with pytest.raises(ToolTimeout) as raised:
        turn(phase, blocks, [(tool, {}, told)])
    assert (raised.value.message, raised.value.retryable) == (
        "run_job was stopped after 30 s",
        True,
    )
