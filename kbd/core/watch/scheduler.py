"""Scheduler of watch jobs: starts runs on landed files, in turn over all watches.

A job is begun by `StartNext`, which the daemon's log answers with `WatchRunStarted`, and ended by
`FinishRun`. What lies between is the affair of whoever carries the job out; a daemon that dies
there finds the landings in stage RUNNING, and its successor resumes the same job.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import FinishRun, StartNext
from kbd.core.domain.watch_state import Landing, LandingStage, Watch, WatchStatus
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.paths import Home
from kbd.core.runtime.restarts import MAX_PAUSE_S, must_stop
from kbd.core.store.keeper import Keeper
from kbd.core.watch.job import JobFile, JobResult, JobRunner, WatchJob
from kbd.core.watch.retry import submit_with_retry
from kbd.errors import KbdError
from kbd.events.blobs import BlobStore
from kbd.events.shortages import told_error
from kbd.events.watches import WatchRunFinished, WatchRunStarted
from kbd.types import BlobHash, Seq, WatchId

__all__ = ["BatchStatus", "Scheduler"]

_MIN_WAIT_S = 0.05
"""A clock that is looked at too early is looked at again after this."""

_SHORTAGE_RETRY_S = 10.0
"""Where there was no room it is looked again after this."""

_log = get_logger(__name__)


class BatchStatus(Protocol):
    """Inbox, as the scheduler sees it: whether a batch is whole."""

    @property
    def quiet_at_s(self) -> float | None:
        """When it will be, on the event loop's clock, if nothing more lands; None if unknown."""

    def is_quiet(self) -> bool:
        """Return whether nothing settles, and nothing landed for a quiet window."""


class Scheduler:
    """Schedules jobs: so many at once, and no watch twice before another's turn.

    Args:
        keeper: The Keeper of the daemon's own log.
        home: Where the copies lie.
        concurrency: How many jobs are under way at once.
        clock: What retries and limits go by.
        run_job: Carries them out.
        arrivals: Returns a watch's inbox, if there is one.
        check_room: Raises a KbdError while nothing may be begun that makes the home grow.

    Attributes:
        wakeup: Rung when there may be something to start.
    """

    def __init__(
        self,
        keeper: Keeper[DaemonState, DaemonCommand],
        home: Home,
        concurrency: int,
        clock: Clock,
        run_job: JobRunner,
        arrivals: Callable[[WatchId], BatchStatus | None],
        check_room: Callable[[], None] = lambda: None,
    ) -> None:
        self.wakeup = Notifier()
        self._keeper, self._home, self._concurrency = keeper, home, concurrency
        self._clock, self._run_job, self._arrivals = clock, run_job, arrivals
        self._check_room = check_room
        self._interrupted: deque[WatchJob] = deque()
        self._busy, self._is_short = 0, False
        self._last: WatchId | None = None

    async def run(self) -> None:
        """Resume the jobs that were under way, then start what is due, for ever."""
        # Answered after all that was asked before: a start that was cut off shows in the state.
        await submit_with_retry(self._keeper, RecordDaemon(()))
        self._interrupted, self._busy = deque(self._under_way()), 0
        async with anyio.create_task_group() as tasks:
            while True:
                # Read before filling: what is due meanwhile rings, and the wait returns at once.
                rings = self.wakeup.rings
                await self._fill(tasks)
                with anyio.move_on_after(self._wait_s()):
                    await self.wakeup.wait(rings)

    @property
    def _watches(self) -> dict[WatchId, Watch]:
        return self._keeper.state.watching.watches

    def _under_way(self) -> Iterator[WatchJob]:
        """Return the jobs that a daemon left when it stopped, whatever its watch is now."""
        for watch in self._watches.values():
            running = watch.in_stage(LandingStage.RUNNING)
            for group in dict.fromkeys(landing.group for landing in running):
                yield self._job(watch, group)

    async def _fill(self, tasks: TaskGroup) -> None:
        """Start jobs until enough are under way or none is due; none while there is no room."""
        while self._has_room() and self._busy < self._concurrency:
            job = self._interrupted.popleft() if self._interrupted else await self._next()
            if job is None:
                return
            self._busy += 1
            tasks.start_soon(self._work, job)

    def _has_room(self) -> bool:
        try:
            self._check_room()
        except KbdError as error:
            if not self._is_short:
                _log.warning("watch_jobs_wait", reason=error.message)
            self._is_short = True
        else:
            self._is_short = False
        return not self._is_short

    async def _next(self) -> WatchJob | None:
        """Begin the next job, of the first watch in turn that has one."""
        for watch_id in self._in_turn():
            job = await self._begin(watch_id)
            if job is not None:
                self._last = watch_id
                return job
        return None

    def _in_turn(self) -> list[WatchId]:
        """Return all watches, from the one after that whose turn was last."""
        watch_ids = list(self._watches)
        after = watch_ids.index(self._last) + 1 if self._last in self._watches else 0
        return watch_ids[after:] + watch_ids[:after]

    async def _begin(self, watch_id: WatchId) -> WatchJob | None:
        """Begin a job of a watch; None if none is due, also after putting aside what may not run.

        Raises:
            LogPoisoned: The disk failed.
        """
        while True:
            watch, now_us = self._watches.get(watch_id), self._clock.now_us()
            if watch is None or not _may_start(watch, now_us):
                return None
            outcome = await submit_with_retry(
                self._keeper, StartNext(watch_id, now_us, self._is_batch_complete(watch))
            )
            if outcome is None or not outcome.events:
                return None
            for event in outcome.events:
                if isinstance(event, WatchRunStarted):
                    return self._job(self._watches[watch_id], event.landings)

    def _is_batch_complete(self, watch: Watch) -> bool:
        if watch.rule.mode == "file":
            return True
        arrivals = self._arrivals(watch.watch_id)
        return arrivals is not None and arrivals.is_quiet()

    def _job(self, watch: Watch, numbers: tuple[Seq, ...]) -> WatchJob:
        landings = [watch.landings[number] for number in numbers if number in watch.landings]
        copies = BlobStore(self._home.landed(watch.watch_id))
        return WatchJob(
            watch_id=watch.watch_id,
            rule=watch.rule,
            files=tuple(_job_file(landing, copies) for landing in landings),
            workbench_id=landings[0].workbench_id,
            attempt=landings[0].attempt,
            depth=max(landing.depth for landing in landings),
        )

    async def _work(self, job: WatchJob) -> None:
        """Carry a job out and record its outcome."""
        try:
            result = await self._job_result(job)
            finished = WatchRunFinished(
                watch_id=job.watch_id,
                landings=tuple(file.landing_id for file in job.files),
                workbench_id=job.workbench_id,
                outcome=result.outcome,
                run_id=result.run_id,
                code=result.code,
                message=result.message,
                delivered=result.delivered,
            )
            now_us = self._clock.now_us()
            await submit_with_retry(self._keeper, FinishRun(finished, result.retryable, now_us))
        finally:
            self._busy -= 1
            self.wakeup.ring()

    async def _job_result(self, job: WatchJob) -> JobResult:
        try:
            return await self._run_job(job)
        except Exception as fault:
            if must_stop(fault):
                raise
            _log.error("watch_job_failed_inside", watch=job.watch_id, exc_info=fault)
            told = told_error(fault)
            return JobResult(
                "failed", code=told.code, message=told.message, retryable=told.retryable
            )

    def _wait_s(self) -> float:
        """Return the seconds until a job may be due, if nothing wakes the scheduler before."""
        if self._busy >= self._concurrency:
            # A job that ends rings.
            return float("inf")
        if self._is_short:
            return _SHORTAGE_RETRY_S
        now_us = self._clock.now_us()
        active = (each for each in self._watches.values() if each.status is WatchStatus.ACTIVE)
        waits_s = [wait_s for watch in active for wait_s in self._waits_s(watch, now_us)]
        return max(_MIN_WAIT_S, min(waits_s, default=float("inf")))

    def _waits_s(self, watch: Watch, now_us: int) -> Iterator[float]:
        for landing in watch.in_stage(LandingStage.RETRYING):
            # The time of day may be set: no wait for it is taken to be right for long.
            yield min((landing.retry_at_us - now_us) / 1_000_000, MAX_PAUSE_S)
        if watch.rule.mode == "batch" and watch.in_stage(LandingStage.WAITING):
            arrivals = self._arrivals(watch.watch_id)
            quiet_at_s = arrivals.quiet_at_s if arrivals is not None else None
            left_s = quiet_at_s - anyio.current_time() if quiet_at_s is not None else 0.0
            # Past its time and not quiet, it looks at something or cannot: that may take a while.
            yield left_s if left_s > 0 else watch.rule.quiet_s


def _may_start(watch: Watch, now_us: int) -> bool:
    """Return whether a watch may have a job that is due; the log's state decides."""
    return watch.status is WatchStatus.ACTIVE and any(
        landing.stage is LandingStage.WAITING
        or (landing.stage is LandingStage.RETRYING and landing.retry_at_us <= now_us)
        for landing in watch.landings.values()
    )


def _job_file(landing: Landing, copies: BlobStore) -> JobFile:
    return JobFile(
        landing_id=landing.landing_id,
        path=landing.path,
        sha256=landing.sha256,
        size_bytes=landing.size_bytes,
        copy=copies.path(BlobHash(landing.sha256)),
    )
