"""A process that watches one folder with the real log, inboxes and starter, and a trivial labour.

    python trivial_watcher.py <home> <folder> <told> <backend>

The labour reads the copy, and appends a line (workbench id, hash of what it read) to the file
`told`, durably. The process ends in order on SIGTERM; tests kill it at any moment.
"""

import hashlib
import os
import signal
import sys
from functools import partial
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import AddWatch
from kbd.core.domain.watch_state import Ended
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import Settings, WatchSettings
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.core.watch.job import JobResult, WatchJob
from kbd.core.watch.watcher import Watcher
from kbd.events.log import EventLog
from kbd.events.watches import RuleLimits, WatchRule
from kbd.types import WatchId

__all__ = ["QUIET_S", "RESCAN_S", "WATCH"]

WATCH = WatchId("00000000000000aa")
QUIET_S = 0.2
RESCAN_S = 0.6


def _tell(told: Path, job: WatchJob) -> None:
    (file,) = job.files
    found = hashlib.sha256(file.copy.read_bytes()).hexdigest()
    fd = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(fd, f"{job.workbench_id} {found}\n".encode())
        os.fsync(fd)
    finally:
        os.close(fd)


async def _watch(place: Path, folder: str, told: Path) -> None:
    home = Home(folder=place, socket=place / "s")
    home.create()
    keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
        Journal(EventLog.open(home.daemon_log)),
        blank=DaemonState,
        fold=fold_daemon,
        decide=decide_daemon,
        clock=SystemClock(),
    )
    await keeper.load()

    async def labour(job: WatchJob) -> JobResult:
        await run_sync(_tell, told, job)
        return JobResult("unchanged")

    async def notify(watch_id: WatchId, rule: WatchRule, ended: Ended) -> tuple[int | None, str]:
        raise AssertionError("the rule has no command")

    settings = Settings(watch=WatchSettings(rescan_s=RESCAN_S, concurrency=4))
    watcher = Watcher(keeper, home, settings, labour, notify)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keeper.run)
        if WATCH not in keeper.state.watching.watches:
            limits = RuleLimits(runs_per_hour=1_000_000, runs_per_path_hour=1_000_000)
            rule = WatchRule("storm", folder, "work", quiet_s=QUIET_S, limits=limits)
            await keeper.submit(AddWatch(WATCH, rule))
        async with anyio.create_task_group() as watching:
            watching.start_soon(watcher.run)
            with anyio.open_signal_receiver(signal.SIGTERM) as received:
                async for _ in received:
                    break
            watching.cancel_scope.cancel()
        tasks.cancel_scope.cancel()
    await keeper.journal.aclose()


if __name__ == "__main__":
    home, folder, told, backend = sys.argv[1:]
    anyio.run(partial(_watch, Path(home), folder, Path(told)), backend=backend)
