"""Whole runs on a real workbench."""

from collections.abc import Callable

import pytest

from agent_rig import PLAN, Opened, call, item_of, said, say, two_items
from kbd.core.agent import LoopWarned, TextDelta, ToolStarted
from kbd.core.agent.readable_copies import copy_texts
from kbd.core.domain.run_state import ItemState, RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.events import codec
from kbd.events.drafts import FileChanged
from kbd.events.runs import (
    ItemRetried,
    ItemsRefused,
    PhaseCompleted,
    PhaseStarted,
    ToolReturned,
)
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase

pytestmark = pytest.mark.anyio


async def test_a_run_goes_through_all_phases(opened: Opened) -> None:
    """Two items are done, four phases begin and end, the copies say so, nothing is left open."""
    async with opened(two_items) as rig:
        run = await rig.go("write two files")

        assert run.status is RunStatus.FINISHED
        assert run.summary == "All done."
        assert [rig.content("1.txt"), rig.content("2.txt")] == ["item 1.1", "item 2.1"]
        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.DONE] * 2
        assert [item.answer for item in run.plan.items] == ["wrote 1", "wrote 2"]
        phases = [e.phase for e in rig.events() if isinstance(e, PhaseStarted)]
        assert phases == list(Phase)
        assert [e.phase for e in rig.events() if isinstance(e, PhaseCompleted)] == list(Phase)
        assert [said.role for said in rig.state.said] == ["user", "assistant"]
        plan = copy_texts(rig.state)["plan.md"] or ""
        assert plan.startswith("<!-- original_count: 2 -->")
        assert "- [x] 1. Entity: One — write one\n- [x] 2. Two" in plan
        assert copy_texts(rig.state)["research.md"] == "## Files\nnone"


async def test_a_step_is_one_frame(opened: Opened) -> None:
    """A reply is durable with the call it asks for, and a result with the request that shows it.

    No request leaves, and no tool works, before what led to it is on the disk.
    """
    async with opened(two_items) as rig:
        await rig.go("write two files")

        last = [codec.decode(body)[-1].data for _, body in rig.keeper.journal.log.frames()]
        names = [type(event).__name__ for event in last]
        begun = names.index("RunStarted") + 1
        assert names.count("ModelRequested") == len(rig.requests)
        assert set(names[begun:]) == {"ModelRequested", "ToolCalled", "RunFinished"}


async def test_each_phase_is_told_what_it_may_know(opened: Opened) -> None:
    """Only the blocks of the contract cross over; choices and tools follow the phase."""
    async with opened(two_items) as rig:
        await rig.go("write two files")

        research, _, plan, first, *_, last = rig.requests
        assert research.tool_choice == "required"
        assert [tool.name for tool in plan.tools] == ["read_file", "recall_tool_result"]
        assert plan.tool_choice == "auto"
        assert "<research>\n## Files\nnone\n</research>" in plan.messages[1].text
        assert first.tool_choice == "required"
        assert "write_note" in [tool.name for tool in first.tools]
        assert "write_note" not in [tool.name for tool in research.tools]
        assert "- [ ] 2. Two" in first.messages[1].text
        assert "<research>" not in first.messages[1].text
        assert "write two files" not in first.messages[1].text
        assert (last.tool_choice, last.tools) == ("none", ())
        assert '"path":"1.txt","change_type":"added"' in last.messages[1].text
        assert all(len(request.messages) >= 2 for request in rig.requests)


async def test_later_items_see_the_files_of_earlier_ones(opened: Opened) -> None:
    """The manifest of an item is the draft as it is then."""
    async with opened(two_items) as rig:
        await rig.go()

        second = [r for r in rig.requests if r.phase is Phase.IMPLEMENT and item_of(r)[0] == 2]
        assert '{"path":"1.txt"' in second[0].messages[1].text
        assert "- [x] 1." in second[0].messages[1].text


async def test_progress_is_announced(opened: Opened) -> None:
    """Text streams in every phase, tools are named with their path."""
    async with opened(two_items) as rig:
        await rig.go()

        texts = [n for n in rig.notices if isinstance(n, TextDelta)]
        assert {n.phase for n in texts} == set(Phase)
        assert {n.message_id for n in texts} == {rig.state.said[-1].message_id}
        tools = [(n.tool, n.path) for n in rig.notices if isinstance(n, ToolStarted)]
        assert ("write_note", "1.txt") in tools


def failing(attempts: int) -> Callable[[ModelRequest], ModelReply]:
    """Item 1 writes and then says nothing, so many times."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and said(request) == 1:
            item, attempt = item_of(request)
            if item == 1 and attempt <= attempts:
                return ModelReply()
        return two_items(request)

    return play


async def test_an_item_that_fails_once_is_retried(opened: Opened) -> None:
    """What the first attempt wrote is undone, the second is told why and succeeds."""
    async with opened(failing(1)) as rig:
        run = await rig.go()

        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.DONE] * 2
        assert rig.content("1.txt") == "item 1.2"
        changes = [e for e in rig.events() if isinstance(e, FileChanged) and e.name == "1.txt"]
        assert [c.cause for c in changes] == ["edit", "rollback", "edit"]
        assert changes[1].after is None
        retry = [r for r in rig.requests if "<failure>" in r.messages[1].text]
        assert item_of(retry[0]) == (1, 2)
        assert "the model's reply was empty" in retry[0].messages[1].text


async def test_an_item_that_fails_twice_is_marked_and_the_next_runs(opened: Opened) -> None:
    """Its writes are undone, its reason stands in plan.md, the summary is told."""
    async with opened(failing(2)) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.FAILED, ItemState.DONE]
        assert (rig.content("1.txt"), rig.content("2.txt")) == (None, "item 2.1")
        plan = copy_texts(rig.state)["plan.md"] or ""
        assert "- [!] 1. Entity: One — write one [Failed: the model's reply was empty]" in plan
        summary = rig.requests[-1].messages[1].text
        assert '"state":"failed"' in summary
        assert '"path":"1.txt"' not in summary


async def test_additions_are_appended_up_to_the_cap(opened: Opened) -> None:
    """Two items ask for three more: two are added, one is refused and recorded."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and said(request) == 2 and item_of(request)[0] == 1:
            return say("done\n- [ ] 3. three\n- [ ] 4. four\n- [ ] 5. five\n- [ ] 2. two")
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert run.plan is not None
        assert [item.text for item in run.plan.items][2:] == ["three", "four"]
        assert run.plan.refused == ["five"]
        assert {item.state for item in run.plan.items} == {ItemState.DONE}
        assert [e.items for e in rig.events() if isinstance(e, ItemsRefused)] == [("five",)]
        assert "## Notes\n- n" in (copy_texts(rig.state)["plan.md"] or "")


async def test_a_plan_without_items_is_asked_for_once_more(opened: Opened) -> None:
    """The model is told why; its second text counts."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.PLAN and said(request) == 0:
            return say("I will do it.")
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        again = [r for r in rig.requests if r.phase is Phase.PLAN][1]
        assert again.messages[-1].role == "user"
        assert "the plan has no item" in again.messages[-1].text


async def test_a_plan_without_items_twice_ends_the_run(opened: Opened) -> None:
    """It is never a silent success, and resuming plans afresh."""
    answers = ["no", "no", PLAN]

    def play(request: ModelRequest) -> ModelReply:
        return say(answers.pop(0)) if request.phase is Phase.PLAN else two_items(request)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.status is RunStatus.FAILED
        assert run.error is not None
        assert (run.error.code, run.error.subphase) == ("VALIDATION_FAILED", "rpi_plan")

        run = await rig.go()
        assert run.status is RunStatus.FINISHED
        assert len(rig.state.runs) == 1


async def test_a_phase_without_an_answer_ends_in_turn_limit(opened: Opened) -> None:
    """On the last turn tools are withheld; a model that still says nothing fails, resumably."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH and request.tools:
            return call("rows", rows=said(request))
        return ModelReply() if request.phase is Phase.RESEARCH else two_items(request)

    async with opened(play, limits=RunLimits(research_turns=3)) as rig:
        run = await rig.go()

        assert [len(r.tools) > 0 for r in rig.requests] == [True, True, False]
        assert run.error is not None
        assert (run.error.code, run.error.retryable) == ("TURN_LIMIT", True)
        rig.play = two_items
        assert (await rig.go()).status is RunStatus.FINISHED


async def test_text_on_the_last_turn_is_taken_even_beside_calls(opened: Opened) -> None:
    """Calls that nobody asked for are not run."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH and said(request) == 1:
            return ModelReply(text="enough", tool_calls=call("rows", rows=1).tool_calls)
        return two_items(request)

    async with opened(play, limits=RunLimits(research_turns=2)) as rig:
        run = await rig.go()

        assert run.research == "enough"
        assert run.status is RunStatus.FINISHED


async def test_a_text_despite_required_is_accepted(opened: Opened) -> None:
    """A server that ignores tool_choice does not fail the phase."""

    def play(request: ModelRequest) -> ModelReply:
        return say(PLAN) if request.phase is Phase.PLAN else say("text")

    async with opened(play) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        assert run.research == "text"
        ended = rig.events()[-1]
        assert ended.has_draft is False  # type: ignore[attr-defined]


async def test_a_loop_warns_and_then_fails_the_attempt(opened: Opened) -> None:
    """Three equal calls are noted, five end the attempt; the retry and the next item run."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and item_of(request) == (1, 1):
            return call("rows", rows=1)
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        assert [e.code for e in rig.events() if isinstance(e, ItemRetried)] == [
            "AGENT_LOOP_DETECTED"
        ]
        warned = [n for n in rig.notices if isinstance(n, LoopWarned)]
        assert [(n.tool, n.turn) for n in warned] == [("rows", n) for n in (3, 4, 5)]
        shown = [e.shown for e in rig.events() if isinstance(e, ToolReturned)]
        assert sum("Note: this same call was made 3 times" in text for text in shown) == 1


async def test_a_loop_in_research_ends_the_run(opened: Opened) -> None:
    """It can be resumed, with a fresh chain."""

    def play(request: ModelRequest) -> ModelReply:
        return call("rows", rows=1) if request.phase is Phase.RESEARCH else two_items(request)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.error is not None
        assert run.error.code == "AGENT_LOOP_DETECTED"
        assert sum(isinstance(e, ToolReturned) for e in rig.events()) == 5

        rig.play = two_items
        assert (await rig.go()).status is RunStatus.FINISHED
