"""Scrubber: the task that verifies a share of the home each day while the daemon is idle.

A share is counted in bytes: for each day that passes, a part of what the home takes. Once a day's
share is due it is done in one go, as far as the daemon is idle; what a day left is added to the
next one's. The order is by what was verified longest ago, and a log that was begun comes first.

What is known to be damaged is verified at each start, at once: it may have been mended meanwhile.
"""

from typing import NamedTuple

import anyio
from anyio.to_thread import run_sync

from kbd.core.home_index.verified_logs import LogProgress
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.restarts import must_stop, restart_on_failure
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.scrub.messages import BlobsReached, ScrubLog
from kbd.core.sessions.scrub.process import VerifierProcess, open_verifier
from kbd.core.sessions.verifications import DAY_US
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.rows import disk_bytes
from kbd.errors import KbdError
from kbd.events.log import EventLog
from kbd.types import WorkbenchId

__all__ = ["CHECK_S", "IDLE_S", "LogUse", "Scrubber", "log_use"]

IDLE_S = 5.0
"""For so long nothing must have been done for anybody before something is verified."""

CHECK_S = 600.0
"""The interval in which it looks whether a share is due."""

SMALLEST_BYTES = 16 * 1024
"""What is counted of a log at least: to open it takes a while, too."""

_log = get_logger(__name__)


class Scrubber:
    """Scrubber of a home.

    Args:
        context: What the daemon is assembled from.
        workbenches: Its workbenches.
    """

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches
        self._verifications, self._meter = context.verifications, context.meters.scrub
        self._activity = context.meters.activity
        # How much of a share's time a byte stands for.
        self._us_a_byte = 0.0

    async def run(self) -> None:
        """Work for ever, anew after each failure."""
        await restart_on_failure("scrub", self._work)

    async def _work(self) -> None:
        await self._verifications.load()
        try:
            await self._verify_damaged()
            while True:
                await self._verifications.reconcile()
                if self._context.settings.scrub.days and await self._is_share_due():
                    await self._do_share()
                await anyio.sleep(CHECK_S)
        finally:
            await self._verifications.close()

    async def _verify_damaged(self) -> None:
        """Verify what is known to be damaged; it is not much, so nothing is waited for."""
        state = self._workbenches.daemon.state
        damaged = [each.workbench_id for each in state.workbenches.values() if each.damage]
        if not damaged and not state.damage:
            return
        own = ("daemon",) if state.damage else ()
        try:
            async with open_verifier(self._context.home) as verifier:
                for log_id in (*own, *damaged):
                    # From its beginning: what was verified before may have been mended, too.
                    await self._verify(verifier, LogProgress(log_id))
        except KbdError as error:
            if must_stop(error):
                raise
            # It stays damaged until its turn comes, or the next start.
            _log.warning("log_not_verified", reason=error.message)

    async def _is_share_due(self) -> bool:
        # Where nothing can be recorded nothing can be told.
        if self._workbenches.daemon.journal.log.damage is not None:
            return False
        credit_us, is_begun = await self._verifications.credit_us()
        return credit_us >= DAY_US or (is_begun and credit_us > 0)

    async def _do_share(self) -> None:
        """Verify what is due until the share is done or nothing is left; pause for all work."""
        if not await self._weigh():
            return
        await self._until_idle()
        unread, begun_us = set[str](), self._context.clock.now_us()
        try:
            while await self._verifications.next(unread) is not None:
                async with open_verifier(self._context.home) as verifier:
                    await self._verify_due(verifier, unread)
            # Of the days before nothing is left to be done, either.
            await self._verifications.end_share(begun_us)
        except _ShareDoneError:
            await self._verifications.end_share()
        finally:
            self._us_a_byte = 0.0

    async def _verify_due(self, verifier: VerifierProcess, unread: set[str]) -> None:
        """Verify what is due; return when nothing is left, or the process ended.

        Args:
            verifier: The process.
            unread: Takes the logs of which nothing can be said just now; they are left out.

        Raises:
            _ShareDoneError: The share is done.
        """
        is_done = False
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._give_way, verifier)
            while (progress := await self._verifications.next(unread)) is not None:
                await self._until_idle()
                try:
                    if not await self._verify(verifier, progress):
                        unread.add(progress.log_id)
                    await self._check_share()
                except _ShareDoneError:
                    is_done = True
                    break
                except KbdError as error:
                    if must_stop(error):
                        raise
                    # It died of that log, perhaps: the next one goes to a new process.
                    _log.warning("log_not_verified", log=progress.log_id, reason=error.message)
                    unread.add(progress.log_id)
                    break
            tasks.cancel_scope.cancel()
        if is_done:
            raise _ShareDoneError

    async def _check_share(self) -> None:
        """Raise _ShareDoneError if a share is under way, and done."""
        if self._us_a_byte and (await self._verifications.credit_us())[0] <= 0:
            raise _ShareDoneError

    async def _weigh(self) -> bool:
        """Find how much of a share's time a byte stands for; False if that is not known yet."""
        census = await self._context.index.census()
        count = sum(census.workbenches.values())
        measured = count - census.workbenches.get("unread", 0)
        # Of those whose logs were not read yet no size is known: as much as of the others.
        if count > 2 * measured:
            return False
        benches_bytes = census.disk_bytes * count // max(measured, 1)
        own = await run_sync(disk_bytes, self._context.home.daemon_log)
        home_bytes = benches_bytes + own + (count + 1) * SMALLEST_BYTES
        self._us_a_byte = self._context.settings.scrub.days * DAY_US / home_bytes
        return True

    async def _verify(self, verifier: VerifierProcess, progress: LogProgress) -> bool:
        """Verify a log, record what was found; False if nothing can be said of it just now."""
        log_id, counted = progress.log_id, 0
        before = log_use(self._workbenches, log_id)
        if not before.is_known:
            # It was deleted since it was known to be due.
            await self._verifications.reconcile()
            return True

        async def reached(told: BlobsReached) -> None:
            nonlocal counted
            counted += told.size_bytes
            await self._verifications.reach(LogProgress(log_id, told.reached, told.suspects))
            await self._count(told.size_bytes)
            await self._check_share()

        log = self._open_log(log_id)
        end = log.end if log is not None and log.damage is None else None
        durable = (end.seq, end.chain) if end is not None else None
        archive = self._workbenches.archives.archived(WorkbenchId(log_id))
        request = ScrubLog(log_id, durable, progress.reached, progress.suspects, archive)
        found = await verifier.scrub(request, reached)
        await self._count(max(found.size_bytes, SMALLEST_BYTES - counted))
        if found.unread or (found.faults and log_use(self._workbenches, log_id) != before):
            reason = found.unread or "it was in use"
            _log.warning("log_not_verified", log=log_id, reason=reason)
            self._meter.verified("unread")
            return False
        self._meter.verified("damaged" if found.faults else "whole")
        for fault in found.faults:
            _log.error("damage_found", log=log_id, kind=fault.kind, file=fault.file)
        await self._verifications.finish(log_id, found.faults)
        return True

    async def _count(self, size_bytes: int) -> None:
        self._meter.read(size_bytes)
        # What is verified at a start is no part of a share.
        if self._us_a_byte:
            await self._verifications.spend(round(size_bytes * self._us_a_byte))

    def _open_log(self, log_id: str) -> EventLog | None:
        """Return a log that the daemon has open."""
        if log_id == "daemon":
            return self._workbenches.daemon.journal.log
        opened = self._workbenches.opened(log_id)
        return opened.keeper.journal.log if opened is not None else None

    def _is_idle(self) -> bool:
        if self._activity.idle_s() < IDLE_S:
            return False
        # A run records nothing while its model thinks.
        running = self._workbenches.running()
        return all(each.state.active_run() is None for each in running)

    async def _until_idle(self) -> None:
        while not self._is_idle():  # noqa: ASYNC110 - that time passes nobody tells
            await anyio.sleep(max(IDLE_S - self._activity.idle_s(), IDLE_S / 10))

    async def _give_way(self, verifier: VerifierProcess) -> None:
        """Pause the process as soon as the daemon has work, until it has none again."""
        while True:
            rings = self._activity.begun.rings
            if self._is_idle():
                await self._activity.begun.wait(rings)
                continue
            await verifier.pause()
            await self._until_idle()
            await verifier.go_on()


class _ShareDoneError(Exception):
    """The share of the day is done."""


class LogUse(NamedTuple):
    """Use of a log: another value once it is written, its workbench opened, closed or deleted.

    Args:
        is_known: Whether there is such a log.
        openings: How often it was opened.
        end: Its last event; -1 while it is closed.
    """

    is_known: bool
    openings: int
    end: int


def log_use(workbenches: Workbenches, log_id: str) -> LogUse:
    """Return the use of a log.

    Args:
        workbenches: The workbenches.
        log_id: A workbench's id, or "daemon".
    """
    state = workbenches.daemon.state
    if log_id == "daemon":
        return LogUse(is_known=True, openings=0, end=state.seq)
    workbench_id, opened = WorkbenchId(log_id), workbenches.opened(log_id)
    end = -1 if opened is None else opened.state.seq
    return LogUse(workbench_id in state.workbenches, workbenches.openings(workbench_id), end)
