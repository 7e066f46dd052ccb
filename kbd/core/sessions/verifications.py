"""Verifications of logs: when each was done last, how far a share is, and what was found.

What was found is recorded in the daemon's log. The rest is a projection: without its file all is
verified again, the oldest first.
"""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.found_damage import EndVerification, FoundDamage
from kbd.core.home_index.database import remove_index
from kbd.core.home_index.verified_logs import (
    VERIFIED_NAME,
    LogProgress,
    VerifiedLogs,
    VerifiedSummary,
)
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import ScrubSettings
from kbd.core.store.keeper import Keeper
from kbd.errors import LogCorrupt
from kbd.types import WorkbenchId

__all__ = ["DAY_US", "Verifications", "subjects"]

DAY_US = 24 * 3600 * 1_000_000

_MARGIN_US = DAY_US // 2
"""So much before its time a log is due: a share is not done at the same hour each day."""

_log = get_logger(__name__)

T = TypeVar("T")


def subjects(state: DaemonState, now_us: int) -> dict[str, int]:
    """Return what is to be verified, each by its id with when it was created."""
    created = {str(each.workbench_id): each.created_at_us for each in state.workbenches.values()}
    return {"daemon": min(created.values(), default=now_us), **created}


class Verifications:
    """Verifications of the logs of a home.

    Args:
        home: The home.
        daemon: The Keeper of the daemon's own log, which records what was found.
        settings: How often all is verified.
        clock: Tells the time.

    Attributes:
        summary: When the logs were verified, as far as it is known.
    """

    def __init__(
        self,
        home: Home,
        daemon: Keeper[DaemonState, DaemonCommand],
        settings: ScrubSettings,
        clock: Clock,
    ) -> None:
        self._path, self._daemon, self._clock = (
            home.index_file.with_name(VERIFIED_NAME),
            daemon,
            clock,
        )
        self._days = settings.days
        self._file: VerifiedLogs | None = None
        # One thread at a time has the file.
        self._lock = anyio.Lock()
        self.summary = VerifiedSummary()

    async def load(self) -> None:
        """Open the file, with a row for each log there is."""
        async with self._lock:
            self._file = await run_sync(VerifiedLogs, self._path)
        await self.reconcile()

    async def close(self) -> None:
        """Close the file."""
        with anyio.CancelScope(shield=True):
            async with self._lock:
                file, self._file = self._file, None
                if file is not None:
                    await run_sync(file.close)

    async def reconcile(self) -> None:
        """Take note of the logs that came and went."""
        now_us = self._clock.now_us()
        known = subjects(self._daemon.state, now_us)
        await self._call(lambda file: file.reconcile(known, now_us), None)
        await self._sum_up()

    async def next(self, but: set[str]) -> LogProgress | None:
        """Return what is to be verified next, and how far that has come; None if nothing is due.

        Args:
            but: What is left out.
        """
        due_us = self._clock.now_us() - self._days * DAY_US + _MARGIN_US
        return await self._call(lambda file: file.next(due_us, but), None)

    async def reach(self, progress: LogProgress) -> None:
        """Keep how far a verification has come."""
        await self._call(lambda file: file.reach(progress), None)

    async def verified_at_us(self, log_id: str) -> int:
        """Return when a log was verified last; 0 for never, or if it is not known."""
        return await self._call(lambda file: file.verified_at_us(log_id), 0)

    async def finish(self, log_id: str, faults: tuple[FoundDamage, ...]) -> None:
        """Record what the verification of all of a log found, and when that was.

        While the daemon's own log can only be read nothing is recorded.

        Args:
            log_id: The log.
            faults: All that is wrong.
        """
        # First what was found: a kill behind it has the log verified once more, and no less.
        if faults or self._daemon.state.damage_of(log_id):
            with suppress(LogCorrupt):
                await self._daemon.submit(EndVerification(WorkbenchId(log_id), faults))
        now_us = self._clock.now_us()
        if log_id == "daemon" or log_id in self._daemon.state.workbenches:
            await self._call(lambda file: file.finish(log_id, now_us), None)
        await self._sum_up()

    async def credit_us(self) -> tuple[int, bool]:
        """Return for how much time shares are due, in microseconds, and whether one is begun.

        Before the first that of a day, and no more than that of all days together.
        """
        now_us = self._clock.now_us()
        paid_until_us, is_begun = await self._share(now_us)
        return now_us - paid_until_us, is_begun

    async def spend(self, time_us: int) -> None:
        """Count a part of what is due as done, for so much time; the share goes on."""
        now_us = self._clock.now_us()
        paid_until_us, _ = await self._share(now_us)
        # A log that is most of the home is more than a share.
        until_us = min(paid_until_us + time_us, now_us + DAY_US)
        await self._call(lambda file: file.set_share(until_us, is_begun=True), None)

    async def end_share(self, done_until_us: int = 0) -> None:
        """Keep that a share is done.

        Args:
            done_until_us: Up to when nothing more is due, whatever was spent.
        """
        paid_until_us, _ = await self._share(self._clock.now_us())
        until_us = max(paid_until_us, done_until_us)
        await self._call(lambda file: file.set_share(until_us, is_begun=False), None)

    async def _share(self, now_us: int) -> tuple[int, bool]:
        kept = await self._call(lambda file: file.share(), None)
        paid_until_us, is_begun = kept or (now_us - DAY_US, False)
        # The clock was set back.
        if paid_until_us > now_us + DAY_US:
            return now_us, is_begun
        # Of a machine that was off for months no more is due than all there is.
        return max(paid_until_us, now_us - self._days * DAY_US), is_begun

    async def _sum_up(self) -> None:
        # Where it is switched off nothing is late.
        before_us = self._clock.now_us() - self._days * DAY_US if self._days else 0
        found = await self._call(lambda file: file.summary(before_us), self.summary)
        self.summary = found

    async def _call(self, work: Callable[[VerifiedLogs], T], blank: T) -> T:
        """Have a thread work with the file, with an empty one if it fails; else `blank`."""
        async with self._lock:
            if self._file is None:
                return blank
            try:
                return await run_sync(work, self._file)
            except sqlite3.Error as fault:
                _log.warning("verified_logs_made_anew", fault=str(fault))
                await run_sync(self._file.close)
                await run_sync(remove_index, self._path)
                self._file = await run_sync(VerifiedLogs, self._path)
                now_us = self._clock.now_us()
                known = subjects(self._daemon.state, now_us)
                await run_sync(self._file.reconcile, known, now_us)
            return blank
