"""A rule's command runs for each outcome: in order, at least once, watch by watch."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from kbd.core.domain.watch_decisions import FinishRun, RemoveWatch, RetryLandings, StartNext
from kbd.core.domain.watch_state import Ended
from kbd.core.runtime.event_loop import Notifier
from kbd.core.watch.rule_commands import OutcomeCommands
from kbd.events.watches import (
    FailurePolicy,
    WatchCommandEnded,
    WatchRule,
    WatchRunFinished,
    WatchRunStarted,
)
from kbd.types import WatchId
from landings import DaemonLog, daemon_log

pytestmark = pytest.mark.anyio

FIRST, SECOND = "1" * 16, "2" * 16


class Doorbell:
    """A command that can be held up, and remembers for what it was run.

    Attributes:
        begun: Whose outcomes, and which, in the order of the calls.
        held: The watches whose command waits to be let go.
        moved: Rung when one begins.
    """

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.held: dict[str, anyio.Event] = {}
        self.moved = Notifier()

    async def notify(
        self, watch_id: WatchId, rule: WatchRule, ended: Ended
    ) -> tuple[int | None, str]:
        """Note an outcome, and end as the rule says."""
        self.begun.append((watch_id, " ".join((*ended.paths, ended.outcome))))
        self.moved.ring()
        if watch_id in self.held:
            await self.held[watch_id].wait()
        if rule.on_outcome == ("breaks",):
            raise ValueError("secret")
        return 3, ""


async def until(log: DaemonLog, bell: Doorbell, holds: Callable[[], bool]) -> None:
    """Wait until something holds that follows from what is recorded or begun."""
    log.keeper.observe(lambda _seq, _record: bell.moved.ring())
    with anyio.fail_after(20):
        while not holds():
            await bell.moved.wait()


@asynccontextmanager
async def commanding(log: DaemonLog, bell: Doorbell) -> AsyncIterator[None]:
    """Run commands."""
    commands = OutcomeCommands(log.keeper, bell.notify)
    log.keeper.observe(lambda _seq, _record: commands.wakeup.ring())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(commands.run)
        yield
        tasks.cancel_scope.cancel()


async def add(log: DaemonLog, watch_id: str, *command: str) -> None:
    """Add a watch with a command, whose failures are parked at once."""
    policy = FailurePolicy(retries=0)
    rule = WatchRule(watch_id, f"/{watch_id}", "work", on_outcome=command, on_failure=policy)
    await log.add(watch_id, rule)


async def run_once(log: DaemonLog, watch_id: str, *, fails: bool = False) -> None:
    """Have the next run of a watch begin and end."""
    outcome = await log.keeper.submit(StartNext(WatchId(watch_id), log.clock.now_us()))
    (started,) = outcome.events
    assert isinstance(started, WatchRunStarted)
    finished = WatchRunFinished(
        started.watch_id,
        started.landings,
        started.workbench_id,
        "failed" if fails else "unchanged",
    )
    await log.keeper.submit(FinishRun(finished, retryable=False, now_us=log.clock.now_us()))


async def test_each_outcome_has_its_command_in_order(tmp_path: Path) -> None:
    """Two files end: two commands, and what they ended with is recorded; then nothing is due."""
    bell = Doorbell()
    async with daemon_log(tmp_path) as log:
        await add(log, FIRST, "ring")
        await log.land(FIRST, "a", "b")
        async with commanding(log, bell):
            await run_once(log, FIRST)
            await run_once(log, FIRST, fails=True)
            await until(log, bell, lambda: not log.watch(FIRST).due)

        assert bell.begun == [(FIRST, "a unchanged"), (FIRST, "b failed")]
        ended = await log.recorded(WatchCommandEnded)
        assert [each.exit_code for each in ended] == [3, 3]


async def test_a_command_that_takes_long_holds_up_its_own_watch_only(tmp_path: Path) -> None:
    """While the first watch's command runs, its next one waits, and the second watch's runs."""
    bell = Doorbell()
    bell.held[FIRST] = anyio.Event()
    async with daemon_log(tmp_path) as log:
        for watch_id in (FIRST, SECOND):
            await add(log, watch_id, "ring")
            await log.land(watch_id, "a", "b")
        async with commanding(log, bell):
            for watch_id in (FIRST, FIRST, SECOND, SECOND):
                await run_once(log, watch_id)
            await until(log, bell, lambda: not log.watch(SECOND).due)
            assert [watch_id for watch_id, _ in bell.begun].count(FIRST) == 1
            bell.held[FIRST].set()
            await until(log, bell, lambda: not log.watch(FIRST).due)

        assert len(bell.begun) == 4


async def test_a_command_that_was_cut_off_is_run_again_after_a_restart(tmp_path: Path) -> None:
    """Once more is better than never; a removed watch's is run, too, and then it is forgotten."""
    bell = Doorbell()
    bell.held[FIRST] = anyio.Event()
    async with daemon_log(tmp_path) as log:
        await add(log, FIRST, "ring")
        await log.land(FIRST, "a")
        async with commanding(log, bell):
            await run_once(log, FIRST)
            await until(log, bell, lambda: len(bell.begun) == 1)
            await log.keeper.submit(RemoveWatch(WatchId(FIRST)))
    bell.held.clear()
    async with daemon_log(tmp_path) as log:
        async with commanding(log, bell):
            await until(log, bell, lambda: not log.keeper.state.watching.watches)

        assert bell.begun == [(FIRST, "a unchanged")] * 2
        assert len(await log.recorded(WatchCommandEnded)) == 1


async def test_a_second_outcome_of_the_same_file_has_its_command_too(tmp_path: Path) -> None:
    """A file fails, is retried and ends well while the first command runs: two commands."""
    bell = Doorbell()
    bell.held[FIRST] = anyio.Event()
    async with daemon_log(tmp_path) as log:
        await add(log, FIRST, "ring")
        await log.land(FIRST, "a")
        async with commanding(log, bell):
            await run_once(log, FIRST, fails=True)
            await until(log, bell, lambda: len(bell.begun) == 1)
            await log.keeper.submit(RetryLandings(WatchId(FIRST), None))
            await run_once(log, FIRST)
            bell.held[FIRST].set()
            await until(log, bell, lambda: not log.watch(FIRST).due)

        assert bell.begun == [(FIRST, "a failed"), (FIRST, "a unchanged")]


async def test_a_command_that_breaks_its_promise_is_noted_and_the_next_runs(
    tmp_path: Path,
) -> None:
    """An exception is recorded as the reason why there is no exit code, without its text."""
    bell = Doorbell()
    async with daemon_log(tmp_path) as log:
        await add(log, FIRST, "breaks")
        await log.land(FIRST, "a", "b")
        with capture_logs() as logged:
            async with commanding(log, bell):
                await run_once(log, FIRST)
                await run_once(log, FIRST)
                await until(log, bell, lambda: not log.watch(FIRST).due)

        assert [each["event"] for each in logged] == ["watch_command_failed_inside"] * 2
        ended = await log.recorded(WatchCommandEnded)
        said = [(each.exit_code, each.message) for each in ended]
        assert said == [(None, "kbd failed inside (ValueError)")] * 2
