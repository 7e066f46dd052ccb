"""All watched folders: what is recorded starts and stops them, and no failure ends the rest."""

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from structlog.testing import capture_logs

from kbd.core.domain.watch_decisions import PauseWatch, RemoveWatch, ResumeWatch
from kbd.core.domain.watch_state import Ended, LandingStage
from kbd.core.runtime import restarts
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.settings import Settings, WatchSettings
from kbd.core.watch import watcher
from kbd.core.watch.inbox import Inbox
from kbd.core.watch.job import JobResult, WatchJob
from kbd.core.watch.watcher import Watcher
from kbd.events.disk import LogPoisoned
from kbd.events.watches import FileLanded, WatchRule, WatchRunFinished
from kbd.types import WatchId
from landings import DaemonLog, daemon_log, hash_of

pytestmark = pytest.mark.anyio

FIRST, SECOND = "1" * 16, "2" * 16


class Watching:
    """A watcher at work.

    Attributes:
        log: Its log.
        watcher: It.
        read: What the labour read of the copies it was given, in order.
        hold: Set to have jobs wait until it is set again.
    """

    def __init__(self, log: DaemonLog, place: Path) -> None:
        self.log, self._place = log, place
        self.read: list[str] = []
        self.hold: anyio.Event | None = None
        self._moved = Notifier()
        log.keeper.observe(lambda _seq, _record: self._moved.ring())
        settings = Settings(watch=WatchSettings(rescan_s=0.2, poll_s=0.2))
        self.watcher = Watcher(log.keeper, log.home, settings, self._work, self._notify)

    async def _work(self, job: WatchJob) -> JobResult:
        self.read.extend([await to_thread.run_sync(file.copy.read_text) for file in job.files])
        self._moved.ring()
        if self.hold is not None:
            await self.hold.wait()
        return JobResult("unchanged")

    async def _notify(
        self, watch_id: WatchId, rule: WatchRule, ended: Ended
    ) -> tuple[int | None, str]:
        return 0, ""

    def folder(self, watch_id: str) -> Path:
        """Return the folder of a watch, made if it is not there."""
        folder = self._place / watch_id
        folder.mkdir(exist_ok=True)
        return folder

    async def add(self, watch_id: str) -> Path:
        """Watch a folder."""
        folder = self.folder(watch_id)
        await self.log.add(watch_id, WatchRule(watch_id, str(folder), "work", quiet_s=0.05))
        return folder

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; the sweeping of copies rings no bell."""
        with anyio.fail_after(30):
            while not holds():
                with anyio.move_on_after(0.02):
                    await self._moved.wait()

    def copies(self, watch_id: str) -> list[str]:
        """Return the contents of the copies that are kept."""
        landed = self.log.home.landed(WatchId(watch_id))
        try:
            return sorted(path.read_text() for path in landed.rglob("*") if path.is_file())
        except FileNotFoundError:
            return ["swept while we looked"]


@asynccontextmanager
async def watching(log: DaemonLog, place: Path) -> AsyncIterator[Watching]:
    """Run a watcher; without the pauses that spare a disk."""
    at_work = Watching(log, place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "_SWEEP_PAUSE_S", 0.01)
        patch.setattr(restarts, "FIRST_PAUSE_S", 0.01)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at_work.watcher.run)
            yield at_work
            tasks.cancel_scope.cancel()


async def test_what_lands_runs_and_its_copy_goes_with_the_outcome(tmp_path: Path) -> None:
    """In a watch that was there and in one that is added; the copy is there until the end."""
    async with daemon_log(tmp_path / "home") as log:
        async with watching(log, tmp_path) as at_work:
            at_work.hold = anyio.Event()
            for watch_id in (FIRST, SECOND):
                (await at_work.add(watch_id) / "a").write_text(watch_id)
            await at_work.until(lambda: len(at_work.read) == 2)
            assert at_work.copies(FIRST) == [FIRST]
            at_work.hold.set()
            await at_work.until(lambda: not at_work.copies(FIRST) + at_work.copies(SECOND))

        assert sorted(at_work.read) == [FIRST, SECOND]
        ended = await log.recorded(WatchRunFinished)
        assert sorted(each.watch_id for each in ended) == [FIRST, SECOND]


async def test_a_batch_is_whole_though_its_folder_has_gone(tmp_path: Path) -> None:
    """What landed before is one run; nothing more can come."""
    async with daemon_log(tmp_path / "home") as log:
        rule = WatchRule("one", str(tmp_path / "gone"), "work", mode="batch", quiet_s=0.05)
        await log.add(FIRST, rule)
        await log.land(FIRST, "a", "b")
        for path in ("a", "b"):
            (landing,) = (x for x in log.watch(FIRST).landings.values() if x.path == path)
            copy = log.home.landed(WatchId(FIRST)) / landing.sha256[:2] / landing.sha256
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(path)
        async with watching(log, tmp_path) as at_work:
            await at_work.until(lambda: not log.watch(FIRST).landings)

        assert at_work.read == ["a", "b"]
        assert len(await log.recorded(WatchRunFinished)) == 1


async def test_files_land_in_a_watch_that_is_paused(tmp_path: Path) -> None:
    """They are recorded, wait with their copies, and run when it is resumed."""
    async with daemon_log(tmp_path / "home") as log, watching(log, tmp_path) as at_work:
        folder = await at_work.add(FIRST)
        await log.keeper.submit(PauseWatch(WatchId(FIRST)))
        (folder / "a").write_text("one")
        await at_work.until(lambda: bool(log.watch(FIRST).in_stage(LandingStage.WAITING)))
        assert (at_work.read, at_work.copies(FIRST)) == ([], ["one"])
        await log.keeper.submit(ResumeWatch(WatchId(FIRST)))
        await at_work.until(lambda: at_work.read == ["one"])


async def test_a_removed_watch_ends_its_run_and_leaves_nothing(tmp_path: Path) -> None:
    """The run that is under way keeps its copy; then the folder of copies goes; nothing lands."""
    async with daemon_log(tmp_path / "home") as log, watching(log, tmp_path) as at_work:
        at_work.hold = anyio.Event()
        folder = await at_work.add(FIRST)
        (folder / "a").write_text("one")
        await at_work.until(lambda: at_work.read == ["one"])
        await log.keeper.submit(RemoveWatch(WatchId(FIRST)))
        (folder / "b").write_text("two")
        # A second watch lands after its inbox was told to stop: it would have landed, too.
        (await at_work.add(SECOND) / "c").write_text("three")
        await at_work.until(lambda: "three" in at_work.read)
        assert at_work.copies(FIRST) == ["one"]
        at_work.hold.set()
        landed = log.home.landed(WatchId(FIRST))
        await at_work.until(lambda: not landed.exists())

        assert FIRST not in log.keeper.state.watching.watches
        assert sorted(each.path for each in await log.recorded(FileLanded)) == ["a", "c"]
        ended = {each.watch_id: each.outcome for each in await log.recorded(WatchRunFinished)}
        assert ended[WatchId(FIRST)] == "unchanged"


async def test_an_inbox_that_fails_is_tried_again_and_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One fails three times from the inside: the other watch works, and then it does, too."""
    failures = [OSError("a"), KeyError("b"), ExceptionGroup("c", [ValueError("d")])]

    class Failing(Inbox):
        async def run(self) -> None:
            if self._watch_id == FIRST and failures:
                raise failures.pop()
            await super().run()

    monkeypatch.setattr(watcher, "Inbox", Failing)
    with capture_logs() as logged:
        async with daemon_log(tmp_path / "home") as log, watching(log, tmp_path) as at_work:
            (await at_work.add(FIRST) / "a").write_text("one")
            (await at_work.add(SECOND) / "b").write_text("two")
            await at_work.until(lambda: sorted(at_work.read) == ["one", "two"])

    assert [each["event"] for each in logged] == ["task_failed_inside"] * 3


async def test_what_nobody_needs_is_swept_at_the_start(tmp_path: Path) -> None:
    """Of two copies the one that waits stays; a removed watch's go, a stranger's stay."""
    stranger = "3" * 16
    async with daemon_log(tmp_path / "home") as log:
        await log.add(FIRST)
        await log.land(FIRST, "a", content="kept")
        await log.keeper.submit(PauseWatch(WatchId(FIRST)))
        await log.add(SECOND)
        await log.keeper.submit(RemoveWatch(WatchId(SECOND)))
        for watch_id in (FIRST, SECOND, stranger):
            for content in ("kept", "left"):
                sha256 = hash_of(content)
                copy = log.home.landed(WatchId(watch_id)) / sha256[:2] / sha256
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(content)
        (log.home.landed(WatchId(FIRST)) / "incoming-x").write_text("half")
        async with watching(log, tmp_path) as at_work:
            await at_work.until(lambda: at_work.copies(FIRST) == ["kept"])
            assert not log.home.landed(WatchId(SECOND)).exists()
            assert at_work.copies(stranger) == ["kept", "left"]


async def test_the_health_of_a_folder_is_told(tmp_path: Path) -> None:
    """Before it is looked at, and when it is not there."""
    async with daemon_log(tmp_path / "home") as log, watching(log, tmp_path) as at_work:
        assert at_work.watcher.health(WatchId(FIRST)).hints == "scan"
        at_work.watcher.rescan(WatchId(FIRST))
        folder = await at_work.add(FIRST)
        folder.rmdir()
        health = at_work.watcher.health
        await at_work.until(lambda: health(WatchId(FIRST)).hints == "missing")
        (at_work.folder(FIRST) / "a").write_text("one")
        await at_work.until(lambda: at_work.read == ["one"])


async def test_what_fails_is_done_again_until_it_ends() -> None:
    """Two failures, then an end; each attempt begins anew."""
    attempts: list[int] = []

    async def work() -> None:
        attempts.append(len(attempts))
        if len(attempts) < 3:
            raise ExceptionGroup("several", [OSError("a"), KeyError("b")])

    with pytest.MonkeyPatch.context() as patch, capture_logs() as logged:
        patch.setattr(restarts, "FIRST_PAUSE_S", 0.001)
        await restarts.restart_on_failure("test", work)

    assert attempts == [0, 1, 2]
    assert [each["part"] for each in logged] == ["test"] * 2


def test_pauses_grow_to_a_minute() -> None:
    """Whatever fails for long is not tried often."""
    assert [*itertools.islice(restarts.pauses(), 8)] == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_a_failure_in_the_moment_of_the_stop_does_not_hinder_it() -> None:
    """One task fails because another was cancelled: the stop is a stop."""

    async def fail_late() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("a")

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail_late)
            tasks.start_soon(anyio.sleep_forever)

    with capture_logs() as logged:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(restarts.restart_on_failure, "test", work)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    assert [each["event"] for each in logged] == ["task_failed_inside"]


async def test_a_disk_that_fails_is_not_tried_again() -> None:
    """However deep in groups of other failures it is said."""

    async def work() -> None:
        deep = ExceptionGroup("inner", [LogPoisoned("gone")])
        raise ExceptionGroup("outer", [OSError("a"), deep])

    with pytest.raises(ExceptionGroup):
        await restarts.restart_on_failure("test", work)
