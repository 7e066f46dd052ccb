"""What comes next for a job, told from its workbench alone."""

from copy import deepcopy

import pytest

from folding import BENCH, Folded, blob
from kbd.core.domain.commands import (
    EndRun,
    InterruptRun,
    RequestCancel,
    Rewind,
    SendMessage,
    StartRun,
)
from kbd.core.domain.rewind_decisions import rewind_event
from kbd.core.watch.job import NextStep, decide_next_step, is_published, next_message_id
from kbd.events.drafts import DraftDiscarded, FileChanged
from kbd.events.runs import RunFailed, RunFinished
from kbd.types import FileName, RunId

FIRST = {RunId(f"{BENCH}-1")}


def _asked() -> Folded:
    folded = Folded()
    folded.do(SendMessage(next_message_id(folded.state), "do it"))
    return folded


def _started() -> Folded:
    folded = _asked()
    folded.do(StartRun(None, "p:m"))
    return folded


def _failed() -> Folded:
    folded = _started()
    folded.do(EndRun(1, RunFailed("DISK_FULL", "full", "rpi_plan")))
    return folded


def test_a_message_is_sent_once() -> None:
    """Its id is the same until it is there; then the run is what is missing."""
    folded = Folded()
    assert decide_next_step(folded.state, set()) is NextStep.ASK
    assert next_message_id(folded.state) == next_message_id(folded.state)
    folded = _asked()
    assert decide_next_step(folded.state, set()) is NextStep.START
    assert decide_next_step(_started().state, set()) is NextStep.WAIT


def test_a_run_that_was_interrupted_goes_on() -> None:
    """Whether or not it had failed before."""
    folded = _started()
    folded.do(InterruptRun("stop"))
    assert decide_next_step(folded.state, set()) is NextStep.START
    assert decide_next_step(folded.state, FIRST) is NextStep.START


@pytest.mark.parametrize("is_cancelled", [False, True], ids=["failed", "cancelled"])
def test_a_run_that_ended_badly_is_told_before_it_is_resumed(*, is_cancelled: bool) -> None:
    """A crash before the outcome was recorded is no retry."""
    folded = _failed()
    if is_cancelled:
        folded = _started()
        folded.do(RequestCancel())
        folded.do(InterruptRun("asked for"))
    assert decide_next_step(folded.state, set()) is NextStep.CONCLUDE
    assert decide_next_step(folded.state, FIRST) is NextStep.START


def test_a_run_is_not_resumed_over_a_persons_head() -> None:
    """Only the newest message can be worked on: after a person's own it is asked again."""
    folded = _failed()
    folded.do(SendMessage("u1", "something else"))
    assert decide_next_step(folded.state, FIRST) is NextStep.ASK_AGAIN
    folded.do(SendMessage(next_message_id(folded.state), "do it"))

    assert decide_next_step(folded.state, FIRST) is NextStep.START
    folded.do(StartRun(None, "p:m"))
    folded.do(EndRun(2, RunFinished(has_draft=False)))
    assert decide_next_step(folded.state, FIRST) is NextStep.CONCLUDE


def test_a_run_without_a_fault_is_not_made_again() -> None:
    """A retry of one that only could not be delivered goes on with that."""
    folded = _started()
    folded.do(EndRun(1, RunFinished(has_draft=False)))
    assert decide_next_step(folded.state, set()) is NextStep.CONCLUDE
    assert decide_next_step(folded.state, FIRST) is NextStep.CONCLUDE


def test_a_run_whose_draft_was_thrown_away_is_made_again() -> None:
    """At a person's retry only; and what was asked again just before a crash is asked once."""
    folded = _started()
    folded.apply(FileChanged(FileName("a.txt"), None, blob("a")), run=1)
    folded.do(EndRun(1, RunFinished(has_draft=True)))
    folded.apply(DraftDiscarded("d"))
    assert decide_next_step(folded.state, set()) is NextStep.CONCLUDE
    assert decide_next_step(folded.state, FIRST) is NextStep.ASK_AGAIN
    folded.do(SendMessage(next_message_id(folded.state), "do it"))
    assert decide_next_step(folded.state, FIRST) is NextStep.START


def test_a_run_that_a_person_undid_is_not_made_again_unasked() -> None:
    """It is concluded, not published; a retry asks anew, under an id that was never given."""
    folded = _asked()
    asked = deepcopy(folded.state)
    folded.do(StartRun(None, "p:m"))
    folded.apply(FileChanged(FileName("a.txt"), None, blob("a")), run=1)
    folded.do(EndRun(1, RunFinished(has_draft=True)))
    folded.do(Rewind(rewind_event(asked, "watch-1"), "p1", {}))

    assert not is_published(folded.state, folded.state.run(1))
    assert decide_next_step(folded.state, set()) is NextStep.CONCLUDE
    assert decide_next_step(folded.state, FIRST) is NextStep.ASK_AGAIN
    folded.do(SendMessage(next_message_id(folded.state), "do it"))
    folded.do(Rewind(rewind_event(asked, "watch-1"), "p2", {}))
    assert next_message_id(folded.state) == "watch-3"
