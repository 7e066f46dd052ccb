"""Which job is next: fair, bounded, gone on with, and never lost."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from kbd.core.domain.watch_decisions import RemoveWatch, ResumeWatch
from kbd.core.domain.watch_state import LandingStage, WatchStatus
from kbd.core.runtime import restarts
from kbd.core.runtime.event_loop import Notifier
from kbd.core.watch.job import JobResult, WatchJob
from kbd.core.watch.scheduler import Scheduler
from kbd.events.base import Recorded
from kbd.events.disk import LogPoisoned
from kbd.events.watches import (
    FailurePolicy,
    RuleLimits,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
    WatchSuspended,
)
from kbd.types import RunId, Seq, WatchId
from landings import HOUR_US, DaemonLog, SetClock, daemon_log, hash_of

pytestmark = pytest.mark.anyio

FIRST, SECOND = "1" * 16, "2" * 16


class Hands:
    """A labour that waits to be told how each job ends.

    Attributes:
        begun: The jobs, in the order in which they were begun.
        busy: Those that are under way.
        most: How many were under way at once at most.
        results: How the job of a path ends, if not well.
        release: Set when jobs may end.
        moved: Rung when a job is begun or ended, or anything is recorded.
    """

    def __init__(self) -> None:
        self.begun: list[WatchJob] = []
        self.busy: list[WatchJob] = []
        self.most = 0
        self.results: dict[str, JobResult | Exception] = {}
        self.release = anyio.Event()
        self.moved = Notifier()

    async def work(self, job: WatchJob) -> JobResult:
        """Wait until jobs may end, and end as told."""
        self.begun.append(job)
        self.busy.append(job)
        self.most = max(self.most, len(self.busy))
        self.moved.ring()
        try:
            await self.release.wait()
        finally:
            self.busy.remove(job)
            self.moved.ring()
        result = self.results.get(job.files[0].path, JobResult("unchanged"))
        if isinstance(result, Exception):
            raise result
        return result

    @property
    def paths(self) -> list[str]:
        """What was worked on, in order."""
        return [file.path for job in self.begun for file in job.files]


class Batch:
    """An inbox as the starter sees it."""

    def __init__(self) -> None:
        self.quiet = False
        self.quiet_at_s: float | None = None

    def is_quiet(self) -> bool:
        """Tell what the test says."""
        return self.quiet


class Starting:
    """A starter at work on a log."""

    def __init__(self, log: DaemonLog, hands: Hands, batches: dict[str, Batch], most: int) -> None:
        self.log, self.hands = log, hands
        self.starter = Scheduler(log.keeper, log.home, most, log.clock, hands.work, batches.get)
        log.keeper.observe(self._observe)

    def _observe(self, _seq: Seq, _record: Recorded) -> None:
        self.starter.wakeup.ring()
        self.hands.moved.ring()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds."""
        with anyio.fail_after(20):
            while not holds():
                await self.hands.moved.wait()

    async def begun(self, jobs: int) -> None:
        """Wait until so many jobs were begun."""
        await self.until(lambda: len(self.hands.begun) == jobs)

    async def done(self, *watch_ids: str) -> None:
        """Wait until nothing waits and nothing is under way."""
        await self.until(
            lambda: all(
                not self.log.watch(each).in_stage(LandingStage.WAITING, LandingStage.RUNNING)
                for each in watch_ids
            )
        )


@asynccontextmanager
async def starting(
    log: DaemonLog,
    hands: Hands | None = None,
    batches: dict[str, Batch] | None = None,
    most: int = 2,
) -> AsyncIterator[Starting]:
    """Run a starter."""
    at_work = Starting(log, hands or Hands(), batches or {}, most)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at_work.starter.run)
        yield at_work
        tasks.cancel_scope.cancel()


def rule(name: str, **fields: object) -> WatchRule:
    """Return a rule."""
    return WatchRule(**{"name": name, "folder": f"/{name}", "prompt": "work", **fields})  # type: ignore[arg-type]


async def test_no_more_jobs_than_allowed_are_under_way(tmp_path: Path) -> None:
    """Of seven files, two are worked on at once, and all in the end, each once."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST)
        await log.land(FIRST, *"abcdefg")
        async with starting(log) as at_work:
            await at_work.until(lambda: len(at_work.hands.busy) == 2)
            assert len(await log.recorded(WatchRunStarted)) == 2
            at_work.hands.release.set()
            await at_work.done(FIRST)

        assert (at_work.hands.most, sorted(at_work.hands.paths)) == (2, list("abcdefg"))
        assert log.watch(FIRST).ended == {"unchanged": 7}


async def test_a_busy_folder_does_not_starve_another(tmp_path: Path) -> None:
    """What lands last in a second folder is started before the rest of what waits in the first."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST)
        await log.add(SECOND)
        await log.land(FIRST, *"abcd")
        await log.land(SECOND, "x", "y")
        async with starting(log, most=1) as at_work:
            at_work.hands.release.set()
            await at_work.done(FIRST, SECOND)

        assert at_work.hands.paths == ["a", "x", "b", "y", "c", "d"]


async def test_a_file_that_lands_later_is_started_when_it_lands(tmp_path: Path) -> None:
    """Who waits for nothing is woken by the log."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST)
        async with starting(log) as at_work:
            at_work.hands.release.set()
            await log.land(FIRST, "a")
            await at_work.until(lambda: at_work.hands.paths == ["a"])
            await at_work.done(FIRST)


async def test_a_job_says_what_to_work_on_and_its_end_what_came_of_it(tmp_path: Path) -> None:
    """The copy's place, the hash and the depth go in; run, code and deliveries come out."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST)
        await log.land(FIRST, "a")
        hands = Hands()
        hands.results["a"] = JobResult("published", run_id=RunId("r"), delivered=("out/a",))
        hands.release.set()
        async with starting(log, hands) as at_work:
            await at_work.done(FIRST)

        (job,), (finished,) = hands.begun, await log.recorded(WatchRunFinished)
        (file,) = job.files
        sha256 = hash_of(f"{FIRST}/a")
        assert (file.path, file.sha256, job.attempt, job.depth) == ("a", sha256, 1, 1)
        assert file.copy == log.home.landed(WatchId(FIRST)) / sha256
        assert finished == WatchRunFinished(
            WatchId(FIRST), (file.landing_id,), job.workbench_id, "published", RunId("r"),
            delivered=("out/a",),
        )  # fmt: skip


async def test_what_fails_is_tried_again_when_its_time_comes_and_then_parked(
    tmp_path: Path,
) -> None:
    """The same job in the same workbench, after a minute and after two; then it is put aside."""
    clock = SetClock()
    async with daemon_log(tmp_path, clock) as log:
        await log.add(FIRST, rule("one", on_failure=FailurePolicy(retries=2, wait_s=60)))
        await log.land(FIRST, "a")
        hands = Hands()
        hands.results["a"] = JobResult("failed", code="X", message="no", retryable=True)
        hands.release.set()
        async with starting(log, hands) as at_work:
            for attempt, wait_us in ((1, 60_000_000), (2, 120_000_000)):
                await at_work.begun(attempt)
                await at_work.until(lambda: bool(log.watch(FIRST).in_stage(LandingStage.RETRYING)))
                (landing,) = log.watch(FIRST).landings.values()
                assert landing.retry_at_us == clock.at_us + wait_us
                clock.at_us += wait_us
                at_work.starter.wakeup.ring()
            await at_work.until(lambda: bool(log.watch(FIRST).in_stage(LandingStage.PARKED)))

        assert [job.attempt for job in hands.begun] == [1, 2, 3]
        assert len({job.workbench_id for job in hands.begun}) == 1


async def test_a_retry_needs_nobody_to_wake_it(tmp_path: Path) -> None:
    """When nothing else happens, what was put off begins again when its time has come."""
    clock = SetClock()
    async with daemon_log(tmp_path, clock) as log:
        policy = FailurePolicy(retries=1, wait_s=0.1)
        await log.add(FIRST, rule("one", on_failure=policy))
        await log.land(FIRST, "a")
        hands = Hands()
        hands.results["a"] = JobResult("failed", code="X", message="no", retryable=True)
        hands.release.set()
        async with starting(log, hands) as at_work:
            await at_work.until(lambda: bool(log.watch(FIRST).in_stage(LandingStage.RETRYING)))
            clock.at_us += 100_000
            await at_work.until(lambda: bool(log.watch(FIRST).in_stage(LandingStage.PARKED)))

        assert len(hands.begun) == 2


async def test_a_labour_that_breaks_its_promise_is_a_failure_of_its_job(tmp_path: Path) -> None:
    """An exception ends one job with a code and no detail of ours; the next file runs."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST, rule("one", on_failure=FailurePolicy(retries=0)))
        await log.land(FIRST, "a", "b")
        hands = Hands()
        hands.results["a"] = KeyError("secret")
        hands.release.set()
        with capture_logs() as logged:
            async with starting(log, hands) as at_work:
                await at_work.done(FIRST)

        (parked,) = log.watch(FIRST).in_stage(LandingStage.PARKED)
        said = (parked.code, parked.message)
        assert said == ("TOOL_WORKER_UNAVAILABLE", "kbd failed inside (KeyError)")
        assert log.watch(FIRST).ended == {"failed": 1, "unchanged": 1}
        assert [each["event"] for each in logged] == ["watch_job_failed_inside"]


async def test_a_disk_that_fails_ends_the_starter(tmp_path: Path) -> None:
    """Then nobody knows what is on the disk: nothing is recorded, and the daemon must stop."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST)
        await log.land(FIRST, "a")
        hands = Hands()
        hands.results["a"] = LogPoisoned("gone")
        hands.release.set()
        starter = Starting(log, hands, {}, 2).starter
        with pytest.raises(ExceptionGroup) as failed:
            await restarts.restart_on_failure("starter", starter.run)

        assert restarts.must_stop(failed.value)
        assert await log.recorded(WatchRunFinished) == []


async def test_what_a_daemon_left_is_gone_on_with_first(tmp_path: Path) -> None:
    """The same job in the same workbench, before anything new, and no second start of it."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST, rule("one", mode="batch"))
        await log.land(FIRST, "a", "b")
        batch = Batch()
        batch.quiet = True
        async with starting(log, batches={FIRST: batch}, most=1) as before:
            await before.until(lambda: before.hands.paths == ["a", "b"])
        assert before.hands.busy == []
    async with daemon_log(tmp_path) as log:
        await log.land(FIRST, "c")
        await log.keeper.submit(RemoveWatch(WatchId(FIRST)))
        await log.add(SECOND)
        await log.land(SECOND, "x")
        async with starting(log, most=1) as after:
            after.hands.release.set()
            await after.done(SECOND)

        assert after.hands.begun[0] == before.hands.begun[0]
        assert after.hands.paths == ["a", "b", "x"]
        assert len(await log.recorded(WatchRunStarted)) == 2
        assert WatchId(FIRST) not in log.keeper.state.watching.watches


async def test_a_batch_waits_until_nothing_more_lands(tmp_path: Path) -> None:
    """What lands before the window closes is one job; the window's end needs nobody to ring."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST, rule("one", mode="batch", quiet_s=0.05))
        batch = Batch()
        async with starting(log, batches={FIRST: batch}) as at_work:
            at_work.hands.release.set()
            await log.land(FIRST, "a")
            await log.land(FIRST, "b")
            await anyio.sleep(0.1)
            assert at_work.hands.begun == []
            batch.quiet = True
            await at_work.done(FIRST)

        assert [len(job.files) for job in at_work.hands.begun] == [2]


async def test_past_the_limit_of_an_hour_a_watch_stands_until_somebody_resumes_it(
    tmp_path: Path,
) -> None:
    """Two runs an hour: the third file suspends the watch, which says why; resumed, it runs."""
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST, rule("one", limits=RuleLimits(runs_per_hour=2)))
        await log.add(SECOND)
        await log.land(FIRST, "a", "b", "c")
        async with starting(log) as at_work:
            at_work.hands.release.set()
            await at_work.until(lambda: log.watch(FIRST).status is WatchStatus.SUSPENDED)
            await log.land(SECOND, "x")
            await at_work.done(SECOND)
            assert sorted(at_work.hands.paths) == ["a", "b", "x"]
            assert len(await log.recorded(WatchSuspended)) == 1
            await log.keeper.submit(ResumeWatch(WatchId(FIRST)))
            await at_work.done(FIRST)

        assert sorted(at_work.hands.paths) == ["a", "b", "c", "x"]


async def test_a_path_that_changes_all_the_time_is_put_aside_and_the_next_file_runs(
    tmp_path: Path,
) -> None:
    """One content of a path an hour: the second is parked, the file behind it runs."""
    clock = SetClock()
    async with daemon_log(tmp_path, clock) as log:
        await log.add(FIRST, rule("one", limits=RuleLimits(runs_per_path_hour=1)))
        async with starting(log) as at_work:
            at_work.hands.release.set()
            await log.land(FIRST, "a", content="one")
            await at_work.done(FIRST)
            await log.land(FIRST, "a", content="two")
            await log.land(FIRST, "b")
            await at_work.done(FIRST)
            (parked,) = log.watch(FIRST).in_stage(LandingStage.PARKED)
            assert (parked.path, parked.code) == ("a", "BUDGET_CAP_REACHED")
            clock.at_us += HOUR_US
            await log.land(FIRST, "a", content="three")
            await at_work.done(FIRST)

        assert at_work.hands.paths == ["a", "b", "a"]


async def test_on_a_full_disk_nothing_is_lost_and_nobody_is_hurried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starts and ends are recorded when there is space again, and asked for with pauses only."""
    monkeypatch.setattr(restarts, "FIRST_PAUSE_S", 0.01)
    async with daemon_log(tmp_path) as log:
        await log.add(FIRST)
        await log.land(FIRST, "a")
        log.journal.refuses = 3
        async with starting(log) as at_work:
            await at_work.until(lambda: at_work.hands.paths == ["a"])
            assert log.journal.refuses == 0
            log.journal.refuses = 3
            at_work.hands.release.set()
            await at_work.done(FIRST)

        assert log.journal.refuses == 0
        assert len(at_work.hands.begun) == len(await log.recorded(WatchRunStarted)) == 1
        assert len(await log.recorded(WatchRunFinished)) == 1
