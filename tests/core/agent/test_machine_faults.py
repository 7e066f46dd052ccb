"""Runs none of whose calls worked, for a fault of the machine: failed by it, and begun anew."""

import errno
import os

import pytest

from agent_rig import Opened, Play, Rig, call, item_of, said, say, two_items
from kbd.core.domain.run_state import ItemState, Run, RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.errors import ToolTimeout, ValidationFailed
from kbd.events.base import Fact
from kbd.events.runs import ItemRetried, PhaseStarted, RunFailed, SummaryWritten, ToolReturned
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase

pytestmark = pytest.mark.anyio

LIMITS = RunLimits(tool_s=0.01)
TIMED_OUT = "slow took more than 0.01 s (run.tool_s), and was ended"


def slow_until(trouble: list[bool], *phases: Phase) -> Play:
    """A model whose calls never end in some phases while there is trouble; it goes on."""

    def play(request: ModelRequest) -> ModelReply:
        if trouble[0] and request.tools and request.phase in phases:
            return call("slow") if not said(request) else say("It could not be read.")
        return two_items(request)

    return play


def last(rig: Rig, kind: type[Fact]) -> Fact:
    """The last event of a type."""
    return next(each for each in reversed(rig.events()) if isinstance(each, kind))


async def test_a_run_none_of_whose_calls_worked_has_failed(opened: Opened) -> None:
    """By the first call's fault, whatever the model says of it; its answer is not given."""
    play = slow_until([True], Phase.RESEARCH, Phase.IMPLEMENT)
    async with opened(play, limits=LIMITS) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FAILED
        assert last(rig, RunFailed) == RunFailed(
            "TOOL_TIMEOUT", TIMED_OUT, "rpi_summary", retryable=True
        )
        assert not any(isinstance(each, SummaryWritten) for each in rig.events())
        assert [message.run for message in rig.state.said] == [0]


async def test_resumed_it_is_begun_anew(opened: Opened) -> None:
    """With its research, for what was made of failed calls leads nowhere; and again, if need be."""
    trouble = [True]
    play = slow_until(trouble, Phase.RESEARCH, Phase.IMPLEMENT)
    async with opened(play, limits=LIMITS) as rig:
        for _ in range(2):
            assert (await rig.go()).status is RunStatus.FAILED
        trouble[0] = False
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        assert run.research == "## Files\nnone"
        begun = [each.phase for each in rig.events() if isinstance(each, PhaseStarted)]
        assert begun.count(Phase.RESEARCH) == 3
        assert rig.content("1.txt") == "item 1.1"


@pytest.mark.parametrize("phase", [Phase.RESEARCH, Phase.IMPLEMENT])
async def test_one_call_that_worked_is_enough(opened: Opened, phase: Phase) -> None:
    """A model that went on with what worked has finished, as it says."""
    async with opened(slow_until([True], phase), limits=LIMITS) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED


async def test_a_call_that_is_refused_for_what_it_asks_is_none_of_the_machine_s(
    opened: Opened,
) -> None:
    """A file that is not there, arguments that do not fit: the model was answered."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase in (Phase.RESEARCH, Phase.IMPLEMENT) and not said(request):
            return call("read_file", path="gone.txt")
        return say("no") if request.phase is Phase.IMPLEMENT else two_items(request)

    async with opened(play, limits=LIMITS) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED


def raising(trouble: list[bool], at: Phase) -> Play:
    """A model of fixed rules: it raises the fault of its second call, as long as it gets one."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is at and said(request) == 1:
            return call("slow", "s") if trouble[0] else two_items(request)
        newest = request.messages[-1]
        if request.phase is at and newest.role == "tool" and "TOOL_TIMEOUT" in newest.text:
            raise ToolTimeout(TIMED_OUT, retryable=True)
        return two_items(request)

    return play


@pytest.mark.parametrize("at", [Phase.RESEARCH, Phase.IMPLEMENT])
async def test_what_ended_by_a_failed_call_is_tried_anew(opened: Opened, at: Phase) -> None:
    """The phase or the attempt begins afresh, without its failed call and what it wrote."""
    trouble = [True]
    async with opened(raising(trouble, at), limits=LIMITS) as rig:
        run = await rig.go()
        assert run.error is not None
        assert (run.error.code, run.error.retryable) == ("TOOL_TIMEOUT", True)
        trouble[0] = False
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.DONE] * 2
        retried = [each for each in rig.events() if isinstance(each, ItemRetried)]
        assert bool(retried) is (at is Phase.IMPLEMENT)
        assert rig.content("1.txt") == ("item 1.2" if at is Phase.IMPLEMENT else "item 1.1")


async def test_an_attempt_that_failed_otherwise_counts_on(opened: Opened) -> None:
    """What the machine cost is one failure of the item, and not the end of it."""
    trouble = [True]
    play = raising(trouble, Phase.IMPLEMENT)

    def refusing(request: ModelRequest) -> ModelReply:
        if not trouble[0] and request.phase is Phase.IMPLEMENT and item_of(request)[0] == 1:
            raise ValidationFailed("no")
        return play(request)

    async with opened(refusing, limits=LIMITS) as rig:
        await rig.go()
        trouble[0] = False
        run: Run = await rig.go()
        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.FAILED, ItemState.DONE]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EMFILE, "TOO_MANY_OPEN_FILES"),
        (errno.EAGAIN, "TOO_MANY_PROCESSES"),
        (errno.ENOMEM, "OUT_OF_MEMORY"),
    ],
)
async def test_what_runs_out_under_a_tool_has_its_code(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    """And is no fault of the tool's plugin, which would be left out for it."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH and said(request) < 5:
            return call("read_file", f"c{said(request)}", path=f"{said(request)}.txt")
        return two_items(request)

    async with opened(play, limits=LIMITS) as rig:

        def refuse(*_given: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("agent_rig.ReadFile.run", refuse)
        rig.workers.faults.exempt = ()
        await rig.go()
        ended = [each for each in rig.events() if isinstance(each, ToolReturned)][:5]
        assert {each.error_code for each in ended} == {code}
        assert all("then try again" in each.shown for each in ended[:1])
        assert rig.workers.faults.reason("testing") is None
