"""Jobs whose calls fail by a fault of the machine: told as such, and tried again by the rule."""

import errno
import os
from pathlib import Path

import pytest

from agent_rig import WriteNote
from kbd.core.domain.watch_decisions import FinishRun
from kbd.core.domain.watch_state import LandingStage
from kbd.errors import KbdError, OutOfMemory, ToolTimeout, TooManyProcesses
from kbd.events.watches import FailurePolicy, WatchRunFinished
from unattended_rig import WATCH, landed, unattended, writes

pytestmark = pytest.mark.anyio

WRITE = WriteNote.run


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "fault",
    [
        ToolTimeout("write_note was stopped after 30 s", retryable=True),
        TooManyProcesses("no more processes"),
        OutOfMemory("no memory"),
        OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    ],
    ids=["time", "processes", "memory", "descriptors"],
)
async def test_a_fault_of_the_machine_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """The job has failed by it, though its model says that all is done, and waits for its retry."""

    def refuse(*_given: object) -> None:
        raise fault

    monkeypatch.setattr(WriteNote, "run", refuse)
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        policy = FailurePolicy(retries=1, wait_s=1.0)
        job = await landed(running, tmp_path, on_failure=policy)
        result = await labour.carry_out(job)
        code = fault.code if isinstance(fault, KbdError) else "TOO_MANY_OPEN_FILES"
        assert (result.outcome, result.code, result.retryable) == ("failed", code, True)
        finished = WatchRunFinished(
            watch_id=WATCH, landings=(job.files[0].landing_id,), workbench_id=job.workbench_id,
            outcome="failed", run_id=result.run_id, code=result.code, message=result.message,
        )  # fmt: skip
        daemon = running.benches.daemon
        await daemon.submit(FinishRun(finished, retryable=result.retryable, now_us=1))
        watch = daemon.state.watching.watches[WATCH]
        assert watch.in_stage(LandingStage.RETRYING)

        monkeypatch.setattr(WriteNote, "run", WRITE)
        assert (await labour.carry_out(job)).outcome == "review"
        bench = await running.benches.open(job.workbench_id)
        assert len(bench.state.runs) == 1
