"""A job that is cut off anywhere: gone on with from there, it is one run with one delivery."""

import shutil
import subprocess
from pathlib import Path

import anyio
import pytest

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.run_state import RunStatus
from kbd.core.watch.job import JobResult
from kbd.events.base import Recorded
from kbd.events.drafts import EffectDone, EffectIntended, PublishIntended
from kbd.events.runs import RunFinished, RunStarted
from kbd.events.workbenches import FileAdded, UserMessageAdded
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Seq
from supervised import files_in
from unattended_rig import landed, unattended, writes

pytestmark = pytest.mark.anyio

TELLING = (
    FileAdded,
    UserMessageAdded,
    RunStarted,
    RunFinished,
    PublishIntended,
    EffectIntended,
    EffectDone,
)
"""After each of these something else is next."""


def _keep(folder: Path, target: Path) -> None:
    """Copy a home and the folder for results as they are now, with the links between files."""
    target.mkdir()
    names = [str(folder / name) for name in ("h", "results")]
    # What is renamed while it is copied is not there any more; a kill would not see it, too.
    subprocess.run(["cp", "-a", *names, str(target)], check=False, capture_output=True)


async def _crash_everywhere(tmp_path: Path, kinds: tuple[type, ...]) -> None:
    """Carry a job out, keeping what a kill would leave, and go on from each of these."""
    (tmp_path / "results").mkdir()
    kept: list[Path] = []

    def observe(seq: Seq, record: Recorded) -> None:
        if isinstance(record.data, kinds):
            kept.append(tmp_path / f"{seq}-{type(record.data).__name__}-{len(kept)}")
            _keep(tmp_path, kept[-1])

    results = str(tmp_path / "results")
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        job = await landed(running, tmp_path, publish="auto", deliver_to=results)
        watch = running.benches._watch
        running.benches.daemon.observe(observe)

        def watching(bench: object) -> object:
            observer = watch(bench)  # type: ignore[arg-type]  # it is a Bench

            def both(seq: Seq, record: Recorded) -> None:
                observer(seq, record)
                observe(seq, record)

            return both

        running.benches._watch = watching  # type: ignore[assignment]  # an observer of a Bench
        expected = await labour.carry_out(job)
    assert expected.outcome == "published"
    assert len(kept) >= len(kinds)

    for home in kept:
        # What the kill left lies where the rule says: a link to it would be refused.
        shutil.rmtree(results)
        (home / "results").rename(results)
        async with unattended(home / "h", writes("made.txt")) as (running, labour):
            assert await labour.carry_out(job) == expected, home.name
            state = (await running.benches.open(job.workbench_id)).state
            assert [run.status for run in state.runs] == [RunStatus.FINISHED], home.name
            assert len(state.said) == 2, home.name
        assert files_in(Path(results)) == {"made.txt": "made"}, home.name


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_a_kill_at_a_telling_moment_changes_nothing(tmp_path: Path) -> None:
    """From what it leaves the same result comes: one run, one message, one file delivered.

    On one backend; what hangs on the loop is whether each command was recorded whole.
    """
    await _crash_everywhere(tmp_path, TELLING)


@pytest.mark.soak
async def test_a_kill_at_any_event_changes_nothing(tmp_path: Path) -> None:
    """The same after each event that is recorded."""
    await _crash_everywhere(tmp_path, (object,))


async def test_a_daemon_that_stops_leaves_the_job_to_the_next(tmp_path: Path) -> None:
    """There is no outcome before the run is at its end, and then there is one run."""
    reached, is_stuck = anyio.Event(), True

    def play(request: ModelRequest) -> ModelReply:
        reached.set()
        return writes("made.txt")(request)

    results: list[JobResult] = []
    async with (
        anyio.create_task_group() as tasks,
        unattended(tmp_path / "h", play) as (running, labour),
    ):
        job = await landed(running, tmp_path)

        async def carry_out() -> None:
            results.append(await labour.carry_out(job))

        tasks.start_soon(carry_out)
        await reached.wait()
        await running.runs.aclose()
        bench = await running.benches.open(job.workbench_id)
        assert bench.state.runs[0].status is RunStatus.INTERRUPTED
        for _ in range(5):  # Whatever it asks the log for now would be recorded before these.
            await bench.keeper.submit(RecordFacts(()))
            await anyio.lowlevel.checkpoint()
        is_stuck = not results and bench.state.runs[0].status is RunStatus.INTERRUPTED
        tasks.cancel_scope.cancel()
    assert is_stuck
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        assert (await labour.carry_out(job)).outcome == "review"
        bench = await running.benches.open(job.workbench_id)
        assert len(bench.state.runs) == 1


async def test_a_watcher_that_begins_anew_waits_for_the_run_that_is_there(tmp_path: Path) -> None:
    """Cut off while its run goes on, the same job is asked for again: it is the same run."""
    reached = anyio.Event()

    def play(request: ModelRequest) -> ModelReply:
        reached.set()
        return writes("made.txt")(request)

    async with unattended(tmp_path / "h", play) as (running, labour):
        job = await landed(running, tmp_path)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(labour.carry_out, job)
            await reached.wait()
            tasks.cancel_scope.cancel()
        bench = await running.benches.open(job.workbench_id)
        assert bench.state.active_run() is not None
        assert (await labour.carry_out(job)).outcome == "review"
        assert len(bench.state.runs) == 1
        assert len(bench.state.said) == 2
