"""Calls of tools that another tool makes as a part of its own call."""

from typing import Any

import pytest

from agent_rig import Opened, Rig, call, said, say, two_items
from kbd.core.agent.tool_execution import STEP_CHARACTERS
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.events.base import NestedCall
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase

pytestmark = pytest.mark.anyio

Calls = list[tuple[str, dict[str, Any]]]


def written(path: str, content: str) -> tuple[str, dict[str, Any]]:
    """A step that writes a file."""
    return "write_note", {"path": path, "content": content}


async def composed(
    opened: Opened, calls: Calls, *, tool: str = "compose", tolerant: bool = False, **more: Any
) -> Rig:
    """Run a model whose first item begins with a call that makes others, and return the rig."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and said(request) == 0:
            return call(tool, calls=calls, tolerant=tolerant)
        return say("done") if request.phase is Phase.IMPLEMENT else two_items(request)

    async with opened(play, **more) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED
        return rig


def end_of(rig: Rig) -> ToolReturned:
    """How the first call that made others ended."""
    made = [e for e in rig.events() if isinstance(e, ToolCalled | ToolReturned)]
    place = next(
        n for n, e in enumerate(made) if isinstance(e, ToolCalled) and e.tool in ("compose", "peek")
    )
    returned = made[place + 1]
    assert isinstance(returned, ToolReturned)
    return returned


def steps_of(rig: Rig) -> tuple[NestedCall, ...]:
    """The steps that the log has of it."""
    noted = end_of(rig).noted
    assert noted is not None
    return noted.nested


async def test_steps_see_each_other_and_land_with_the_call(opened: Opened) -> None:
    """A later step reads what an earlier one wrote; the file changes once, with the call."""
    rig = await composed(
        opened,
        [written("s.txt", "one"), ("read_file", {"path": "s.txt"}), written("s.txt", "two")],
    )

    assert "one" in end_of(rig).shown
    assert rig.content("s.txt") == "two"
    first, *_ = [e for e in rig.events() if isinstance(e, FileChanged) and e.name == "s.txt"]
    assert first.before is None
    assert first.size_bytes == len("two")


async def test_the_log_has_each_step_with_its_job(opened: Opened) -> None:
    """The tool, what it was given, the job's hash, in the event of the call's end."""
    rig = await composed(opened, [written("a.txt", "one")])

    (step,) = steps_of(rig)
    assert step == NestedCall("write_note", '{"path":"a.txt","content":"one"}', "feed")


async def test_long_arguments_of_a_step_are_cut_in_the_log(opened: Opened) -> None:
    """The call itself has them whole."""
    rig = await composed(opened, [written("a.txt", "x" * 2 * STEP_CHARACTERS)])

    (step,) = steps_of(rig)
    assert len(step.arguments) == STEP_CHARACTERS + 1


async def test_a_failed_step_fails_the_call_and_nothing_lands(opened: Opened) -> None:
    """What steps before it wrote does not land either; the log says which step failed and why."""
    rig = await composed(opened, [written("a.txt", "one"), ("read_file", {"path": "none"})])

    assert rig.content("a.txt") is None
    assert end_of(rig).error_code == "NOT_FOUND"
    assert [step.error_code for step in steps_of(rig)] == [None, "NOT_FOUND"]


async def test_what_a_failed_step_put_never_lands(opened: Opened) -> None:
    """Not even where the call goes on and succeeds; the version before it stands."""
    rig = await composed(opened, [("broken", {}), written("a.txt", "one")], tolerant=True)

    assert rig.content("half.txt") is None
    assert rig.content("a.txt") == "one"
    assert end_of(rig).ok


async def test_a_tool_that_reads_cannot_write_through_another(opened: Opened) -> None:
    """Else a phase that may not write could."""
    rig = await composed(opened, [written("a.txt", "one")], tool="peek")

    assert end_of(rig).error_code == "VALIDATION_FAILED"
    assert "only reads" in end_of(rig).shown
    assert rig.content("a.txt") is None
    assert steps_of(rig) == ()


async def test_a_step_makes_no_steps(opened: Opened) -> None:
    """Calls do not nest further, so that none can run for ever."""
    rig = await composed(opened, [("compose", {"calls": [("rows", {"rows": 1})]})])

    assert end_of(rig).error_code == "VALIDATION_FAILED"
    assert "is a step of another call" in end_of(rig).shown


async def test_arguments_and_names_of_steps_are_checked(opened: Opened) -> None:
    """As those of a model's calls are."""
    rig = await composed(opened, [("read_file", {"paht": "a"}), ("read_fil", {})], tolerant=True)

    assert end_of(rig).ok
    assert '["VALIDATION_FAILED","NOT_FOUND"]' in end_of(rig).shown
    assert rig.made == []


async def test_each_step_has_the_time_of_a_call(opened: Opened) -> None:
    """One that never ends is ended by the limit, with the whole call."""
    limits = RunLimits(tool_s=0.3)
    rig = await composed(opened, [written("a.txt", "one"), ("slow", {})], limits=limits)

    assert end_of(rig).error_code == "TOOL_TIMEOUT"
    assert [step.error_code for step in steps_of(rig)] == [None, "TOOL_TIMEOUT"]
    assert rig.content("a.txt") is None
