"""What a model declines: a run that came to its end and has not done what was asked."""

from pathlib import Path

import pytest

from agent_rig import say
from kbd.core.domain.run_state import RunStatus
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase
from unattended_rig import landed, reported, unattended, writes

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True),
]


async def test_what_a_model_declines_needs_a_person(tmp_path: Path) -> None:
    """It is no outcome without changes: nobody would read why. A retry asks once more."""
    declines = [True]

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and declines[0]:
            return ModelReply("This is\nnot for me.", finish_reason="refusal")
        return writes("made.txt")(request)

    async with unattended(tmp_path / "h", play) as (running, labour):
        job = await landed(running, tmp_path)
        result = await labour.carry_out(job)
        bench = await running.benches.open(job.workbench_id)

        assert (result.outcome, result.code) == ("failed", "VALIDATION_FAILED")
        assert result.message == "1 of 1 items failed: This is not for me."
        assert not result.retryable
        declines[0] = False
        assert (await labour.carry_out(await reported(running, job, result))).outcome == "review"
        statuses = [run.status for run in bench.state.runs]
        assert statuses == [RunStatus.DECLINED, RunStatus.FINISHED]


async def test_why_nothing_was_changed_is_told(tmp_path: Path) -> None:
    """A run with nothing to do ends without changes, and its outcome says what the run said."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT:
            return say("There is nothing in it.")
        return writes("made.txt")(request)

    async with unattended(tmp_path / "h", play) as (running, labour):
        job = await landed(running, tmp_path)
        result = await labour.carry_out(job)

        assert (result.outcome, result.code) == ("unchanged", "")
        assert result.message == "All done."
