"""Runs that did nothing of what was asked: declined, with why and what to ask instead."""

import pytest

from agent_rig import Opened, Play, call, item_of, said, two_items
from folding import Folded
from kbd.core.domain.commands import StartRun
from kbd.core.domain.decide import decide
from kbd.core.domain.run_state import ItemState, Run, RunStatus
from kbd.events.runs import (
    ItemCompleted,
    ItemStarted,
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    PlanWritten,
    RunFinished,
    RunStarted,
)
from kbd.events.workbenches import UserMessageAdded
from kbd.messages import Decline
from kbd.providers import ModelReply, ModelRequest
from kbd.types import BlobHash, Phase

pytestmark = pytest.mark.anyio

FIRST = Decline("there is no column One", "total One", ("total Size", "count"))
SECOND = Decline("nor Two", "total Two", ("count", "what is in it?"))


def refusing(*items: int, refusals: tuple[Decline | None, ...] = (FIRST, SECOND)) -> Play:
    """Return a model that declines some of two items, each with a refusal."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and item_of(request)[0] in items:
            refusal = refusals[item_of(request)[0] - 1]
            return ModelReply("I do\nnot.", finish_reason="declined", refusal=refusal)
        return two_items(request)

    return play


async def test_a_run_that_declines_every_item_is_declined(opened: Opened) -> None:
    """It has the first reason and each suggestion once, and there is nothing to go on with."""
    async with opened(refusing(1, 2)) as rig:
        run = await rig.go()

        assert run.status is RunStatus.DECLINED
        assert run.refusal == Decline(
            "there is no column One", "total One", ("total Size", "count", "what is in it?")
        )
        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.DONE] * 2
        assert decide(rig.state, StartRun(None, run.model_id)).events == ()


async def test_a_reason_that_is_not_told_is_the_answer(opened: Opened) -> None:
    """Of a model that only says no people see what it said, on a line."""
    async with opened(refusing(1, 2, refusals=(None, None))) as rig:
        assert (await rig.go()).refusal == Decline("I do not.")


async def test_a_run_that_did_some_of_it_is_finished(opened: Opened) -> None:
    """One item that is done is something done."""
    async with opened(refusing(1)) as rig:
        run = await rig.go()

        assert (run.status, run.refusal) == (RunStatus.FINISHED, None)
        assert run.plan is not None
        assert [item.declined for item in run.plan.items] == [True, False]


async def test_a_run_that_declines_and_fails_is_finished(opened: Opened) -> None:
    """What failed was tried, and is told as such."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and item_of(request)[0] == 2:
            return ModelReply()
        return refusing(1)(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert run.plan is not None
        assert [item.state for item in run.plan.items] == [ItemState.DONE, ItemState.FAILED]
        assert (run.status, run.refusal) == (RunStatus.FINISHED, None)


async def test_a_run_that_wrote_is_finished(opened: Opened) -> None:
    """A model that says no after it wrote has left something to review."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and not said(request):
            return call("write_note", path=f"{item_of(request)[0]}.txt", content="half")
        return refusing(1, 2)(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert (run.status, run.refusal, run.left_draft) == (RunStatus.FINISHED, None, True)


async def test_a_refusal_beside_another_end_is_none(opened: Opened) -> None:
    """Only a reply that ends declined is one, whatever stands beside it."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT:
            return ModelReply("Done.", refusal=FIRST)
        return two_items(request)

    async with opened(play) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED


async def test_runs_of_older_logs_stay_finished() -> None:
    """An end without a refusal is what it was when it was recorded, whatever its items say."""
    assert _ended(RunFinished(has_draft=False)).status is RunStatus.FINISHED
    assert _ended(RunFinished(has_draft=False, refusal=FIRST)).status is RunStatus.DECLINED


def _ended(end: RunFinished) -> Run:
    """Return a run whose one item was declined, with its end."""
    folded = Folded()
    folded.apply(UserMessageAdded("m", "total One"))
    folded.apply(
        RunStarted("m", "far:model"),
        PlanWritten(task="total One", items=("One",), notes=""),
        PhaseStarted(Phase.IMPLEMENT),
        ItemStarted(1, 1),
        ModelRequested("far:model", 1, BlobHash("a" * 64)),
        ModelReplied("no", finish_reason="declined"),
        ItemCompleted(1, "no"),
        end,
        run=1,
    )
    return folded.state.runs[-1]
