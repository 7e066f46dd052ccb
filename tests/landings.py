"""The daemon's log with watches in it: files land by command, time is set by hand."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import anyio

from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import AddWatch, RecordLanding
from kbd.core.domain.watch_state import Watch
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.errors import DiskFull
from kbd.events.base import Fact, Recorded
from kbd.events.log import EventLog
from kbd.events.watches import WatchRule
from kbd.types import Seq, WatchId

__all__ = ["DaemonLog", "FullDisk", "SetClock", "daemon_log", "hash_of"]

T = TypeVar("T", bound=Fact)

HOUR_US = 3_600_000_000


class SetClock(SystemClock):
    """A clock that stands still but for who sets it; monotonic time goes on."""

    def __init__(self) -> None:
        self.at_us = 100 * HOUR_US

    def now_us(self) -> int:
        """Return what it was set to."""
        return self.at_us


class FullDisk(Journal):
    """A journal whose disk is full for so many appends."""

    refuses = 0

    async def append(self, records: Sequence[Recorded]) -> Seq:
        """Append, or refuse."""
        if self.refuses:
            self.refuses -= 1
            msg = "no space"
            raise DiskFull(msg)
        return await super().append(records)


class DaemonLog:
    """The log at work.

    Attributes:
        home: The home that it is in.
        clock: Its time.
        journal: Where it is kept.
        keeper: Its Keeper.
    """

    def __init__(self, folder: Path, clock: SetClock) -> None:
        self.home, self.clock = Home(folder=folder, socket=folder / "s"), clock
        self.home.create()
        self.journal = FullDisk(EventLog.open(self.home.daemon_log))
        self.keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
            self.journal, blank=DaemonState, fold=fold_daemon, decide=decide_daemon, clock=clock
        )

    def watch(self, watch_id: str) -> Watch:
        """Return a watch as the log has it."""
        return self.keeper.state.watching.watches[WatchId(watch_id)]

    async def add(self, watch_id: str, rule: WatchRule | None = None) -> None:
        """Add a watch."""
        made = rule or WatchRule(name=watch_id, folder=f"/{watch_id}", prompt="work")
        await self.keeper.submit(AddWatch(WatchId(watch_id), made))

    async def land(self, watch_id: str, *paths: str, content: str | None = None) -> None:
        """Have files land, each with a content of its own if none is given."""
        for path in paths:
            sha256 = hash_of(content or f"{watch_id}/{path}")
            land = RecordLanding(
                WatchId(watch_id), path, f"/{watch_id}", sha256, 1, f"{path} {sha256}"
            )
            await self.keeper.submit(land)

    async def recorded(self, kind: type[T]) -> list[T]:
        """Return what was recorded of a kind, in order."""
        found = await self.keeper.journal.read(Seq(0), 100_000)
        return [record.data for _, record in found if isinstance(record.data, kind)]


def hash_of(text: str) -> str:
    """Return something that looks like a hash and is the same for the same text."""
    return text.encode().hex().ljust(64, "0")[:64]


@asynccontextmanager
async def daemon_log(folder: Path, clock: SetClock | None = None) -> AsyncIterator[DaemonLog]:
    """Have a daemon's log at work, as far as it was recorded already."""
    log = DaemonLog(folder, clock or SetClock())
    await log.keeper.load()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(log.keeper.run)
            yield log
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await log.journal.aclose()
