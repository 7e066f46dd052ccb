"""Landings at the quota: they wait, nothing is lost, and go on as soon as there is room."""

from pathlib import Path

import anyio
import pytest

from kbd.core.domain.watch_state import LandingStage
from kbd.core.runtime.settings import Settings, WatchSettings
from kbd.core.watch import inbox, scheduler
from kbd.core.watch.job import JobResult, WatchJob
from kbd.core.watch.watcher import Watcher
from kbd.errors import QuotaReached
from kbd.events.disk import CountingDisk
from kbd.events.watches import FileLanded, WatchRule, WatchRunFinished
from kbd.types import WatchId
from landings import daemon_log

pytestmark = pytest.mark.anyio

WATCH = "1" * 16


class Room:
    """A home that is at its quota until there is room."""

    is_there = False

    def check(self) -> None:
        """Check."""
        if not self.is_there:
            raise QuotaReached("the home takes 2 MiB of its quota of 1 MiB")


class CountedRoom:
    """Room for so many bytes, as the disk counts what is written."""

    def __init__(self, room_bytes: int) -> None:
        self.disk, self.room_bytes = CountingDisk(), room_bytes

    def check(self) -> None:
        """Check."""
        if self.disk.written_bytes >= self.room_bytes:
            raise QuotaReached("the home takes all of its quota")


async def work(job: WatchJob) -> JobResult:
    """Do nothing with what landed."""
    del job
    await anyio.lowlevel.checkpoint()
    return JobResult("unchanged")


async def notify(*_given: object) -> tuple[int | None, str]:
    """Run no command."""
    await anyio.lowlevel.checkpoint()
    return 0, ""


async def test_what_lands_at_the_quota_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a copy is made nor a job begun; the health says why; then all goes on."""
    monkeypatch.setattr(inbox, "_SHORTAGE_RETRY_S", 0.05)
    monkeypatch.setattr(scheduler, "_SHORTAGE_RETRY_S", 0.05)
    folder, room = tmp_path / "in", Room()
    folder.mkdir()
    settings = Settings(watch=WatchSettings(rescan_s=0.1, poll_s=0.1))
    async with daemon_log(tmp_path / "home") as log:
        await log.add(WATCH, WatchRule(WATCH, str(folder), "work", quiet_s=0.05))
        # One landed before the quota was reached.
        await log.land(WATCH, "before.txt")
        watcher = Watcher(log.keeper, log.home, settings, work, notify, check_room=room.check)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watcher.run)
            (folder / "after.txt").write_text("x")
            with anyio.fail_after(30):
                while "quota" not in watcher.health(WatchId(WATCH)).reason:  # noqa: ASYNC110
                    await anyio.sleep(0.02)
            await anyio.sleep(0.3)
            assert len(await log.recorded(FileLanded)) == 1
            assert [each.path for each in log.watch(WATCH).in_stage(LandingStage.WAITING)] == [
                "before.txt"
            ]
            room.is_there = True
            with anyio.fail_after(30):
                while len(await log.recorded(WatchRunFinished)) < 2:  # noqa: ASYNC110
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        assert log.watch(WATCH).ended == {"unchanged": 2}


async def test_what_lands_at_once_passes_the_quota_by_what_is_copied_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each looks for room when its turn has come, not all of them before the first."""
    monkeypatch.setattr(inbox, "_MAX_CONCURRENT_COPIES", 1)
    folder, room = tmp_path / "in", CountedRoom(25_000)
    folder.mkdir()
    settings = Settings(watch=WatchSettings(rescan_s=0.1, poll_s=0.1))
    async with daemon_log(tmp_path / "home") as log:
        await log.add(WATCH, WatchRule(WATCH, str(folder), "work", quiet_s=0.3))
        watcher = Watcher(
            log.keeper, log.home, settings, work, notify, check_room=room.check, disk=room.disk
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watcher.run)
            for number in range(12):
                (folder / f"{number}.txt").write_text(f"{number:010}" * 1000)
            with anyio.fail_after(30):
                while "quota" not in watcher.health(WatchId(WATCH)).reason:  # noqa: ASYNC110
                    await anyio.sleep(0.02)
                while len(await log.recorded(FileLanded)) < 3:  # noqa: ASYNC110
                    await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        assert room.disk.written_bytes == 30_000
        assert len(await log.recorded(FileLanded)) == 3
