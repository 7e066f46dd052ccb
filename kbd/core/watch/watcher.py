"""Supervisor of all watched folders: runs their inboxes, the scheduler and the rules' commands.

What is recorded in the daemon's log decides what there is to do; an observer of it wakes whoever
has to do it. Canceled, the watcher leaves everything for the next one to resume.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import anyio
from anyio import CancelScope
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_state import Watch, WatchStatus
from kbd.core.runtime.clock import Clock, SystemClock
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.paths import Home
from kbd.core.runtime.restarts import restart_on_failure
from kbd.core.runtime.settings import Settings
from kbd.core.store.keeper import Keeper
from kbd.core.watch.inbox import Health, Inbox
from kbd.core.watch.ingest import LandedCopies, unknown_folders
from kbd.core.watch.job import CommandRunner, JobRunner
from kbd.core.watch.rule_commands import OutcomeCommands
from kbd.core.watch.scheduler import Scheduler
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.disk import DISK, Disk, LogPoisoned
from kbd.events.retention import StorageReclaimed
from kbd.events.watches import (
    FileLanded,
    LandingsDismissed,
    LandingsParked,
    LandingsRetried,
    WatchAdded,
    WatchRemoved,
    WatchResumed,
    WatchRunFinished,
)
from kbd.types import Seq, WatchId

__all__ = ["Watcher"]

_SWEEP_PAUSE_S = 5.0
"""A folder of copies is swept no more often than this: each time it is read as a whole."""

_log = get_logger(__name__)

_STARTING = Health("scan", "it is about to be looked at", 0)
"""The health of a watch whose inbox does not work yet, or is about to be tried again."""


class Watcher:
    """Supervises all watched folders, as the daemon's log says.

    Args:
        keeper: The Keeper of that log.
        home: Where copies of what landed lie.
        settings: How folders are looked at.
        run_job: Carries jobs out.
        notify: Runs a rule's command for an outcome.
        clock: What retries and limits go by.
        check_room: Raises a KbdError while no more may be taken in; called in threads, too.
        disk: What copies of what landed are written with.
    """

    def __init__(
        self,
        keeper: Keeper[DaemonState, DaemonCommand],
        home: Home,
        settings: Settings,
        run_job: JobRunner,
        notify: CommandRunner,
        clock: Clock | None = None,
        check_room: Callable[[], None] = lambda: None,
        disk: Disk = DISK,
    ) -> None:
        self._keeper, self._home, self._settings = keeper, home, settings
        self._check_room, self._disk = check_room, disk
        self._inboxes: dict[WatchId, Inbox] = {}
        self._inbox_scopes: dict[WatchId, CancelScope] = {}
        self._copies: dict[WatchId, LandedCopies] = {}
        self._commands = OutcomeCommands(keeper, notify)
        self._scheduler = Scheduler(
            keeper,
            home,
            settings.watch.concurrency,
            clock or SystemClock(),
            run_job,
            self._inboxes.get,
            check_room,
        )
        self._changed, self._outdated = Notifier(), Notifier()
        self._unswept: dict[WatchId, None] = {}
        keeper.observe(self._observe)

    async def run(self) -> None:
        """Watch, for ever; cancel it to stop.

        Nothing is looked at, started or swept while the daemon's log is damaged: what landed, and
        what became of it, could not be recorded.

        Raises:
            LogPoisoned: The disk failed (in a group).
        """
        if self._keeper.journal.log.damage is not None:
            await anyio.sleep_forever()
        await self._remove_orphaned_copies()
        self._unswept.update(dict.fromkeys(self._watches))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(restart_on_failure, "starter", self._scheduler.run)
            tasks.start_soon(restart_on_failure, "commands", self._commands.run)
            tasks.start_soon(restart_on_failure, "sweeping", self._sweep)
            while True:
                # Read before looking: an event in between rings, and the wait returns at once.
                rings = self._changed.rings
                self._start_inboxes(tasks)
                await self._changed.wait(rings)

    def health(self, watch_id: WatchId) -> Health:
        """Return the health of a folder."""
        inbox = self._inboxes.get(watch_id)
        return inbox.health() if inbox is not None else _STARTING

    def rescan(self, watch_id: WatchId) -> None:
        """Scan a folder now."""
        if (inbox := self._inboxes.get(watch_id)) is not None:
            inbox.rescan()

    @asynccontextmanager
    async def hold_copies(self) -> AsyncIterator[None]:
        """Block the sweeping of landed copies while somebody reads them."""
        async with AsyncExitStack() as held:
            for watch_id in tuple(self._watches):
                await held.enter_async_context(self._copies_of(watch_id).copying())
            yield

    def _start_inboxes(self, tasks: TaskGroup) -> None:
        """Start an inbox for each watch that has none, and stop those of removed ones."""
        watched = {each.watch_id for each in self._watches.values() if _is_watched(each)}
        for watch_id in self._inbox_scopes.keys() - watched:
            self._inbox_scopes[watch_id].cancel()
        for watch_id in watched - self._inbox_scopes.keys():
            scope = self._inbox_scopes[watch_id] = CancelScope()
            tasks.start_soon(self._supervise_inbox, watch_id, scope)

    async def _supervise_inbox(self, watch_id: WatchId, scope: CancelScope) -> None:
        try:
            with scope:
                await restart_on_failure("inbox", partial(self._run_inbox, watch_id))
        finally:
            del self._inbox_scopes[watch_id]
            self._note_unswept(watch_id)
            # It may have been added anew while this one came to its end.
            self._changed.ring()

    async def _run_inbox(self, watch_id: WatchId) -> None:
        if watch_id not in self._watches:
            return
        inbox = Inbox(
            watch_id,
            self._keeper,
            self._copies_of(watch_id),
            self._settings.watch,
            self._settings.limits.file_bytes,
            self._check_room,
        )
        self._inboxes[watch_id] = inbox
        try:
            await inbox.run()
        finally:
            del self._inboxes[watch_id]

    @property
    def _watches(self) -> dict[WatchId, Watch]:
        return self._keeper.state.watching.watches

    async def _remove_orphaned_copies(self) -> None:
        """Remove the copies of watches that were removed when the daemon died; before any lands."""
        known = frozenset(self._watches)
        strange = await run_sync(unknown_folders, self._home.landings, known)
        if not strange:
            return
        removed: set[str] = set()

        def note(_seq: int, record: Recorded) -> None:
            if isinstance(record.data, WatchRemoved):
                removed.add(record.data.watch_id)

        # Only what the log says was removed: a folder that it does not know is somebody's.
        await self._keeper.journal.replay(note, Seq(0))
        for path in strange:
            if path.name in removed:
                await self._sweep_copies(LandedCopies(path), WatchId(path.name))

    async def _sweep(self) -> None:
        """Sweep the copies that no landing needs, wherever one may have come to its end."""
        while True:
            rings = self._outdated.rings
            for watch_id in tuple(self._unswept):
                del self._unswept[watch_id]
                await self._sweep_one(watch_id)
            await anyio.sleep(_SWEEP_PAUSE_S)
            if not self._unswept:
                await self._outdated.wait(rings)

    async def _sweep_one(self, watch_id: WatchId) -> None:
        if not await self._sweep_copies(self._copies_of(watch_id), watch_id):
            self._unswept[watch_id] = None
        # Not while an inbox has it: a second object would sweep what the first one copies.
        elif watch_id not in self._watches and watch_id not in self._inbox_scopes:
            del self._copies[watch_id]

    async def _sweep_copies(self, copies: LandedCopies, watch_id: WatchId) -> bool:
        """Sweep the copies of a watch; return whether they need not be swept again soon."""
        needed, tell = partial(self._needed, watch_id), partial(self._tell_swept, watch_id)
        try:
            return await copies.sweep(needed, tell)
        except LogPoisoned:
            raise
        # Left to the next landing's end, or the next start: each try is told of.
        except KbdError as error:
            _log.warning("copies_not_swept", watch=watch_id, error=error.message)
            return True

    async def _tell_swept(self, watch_id: WatchId, count: int, size_bytes: int) -> None:
        """Record what is about to be removed; the events that ended the landings say why."""
        reason = "their landings are done" if watch_id in self._watches else "the watch was removed"
        fact = StorageReclaimed("", "landed", count, size_bytes, reason, watch_id)
        try:
            await self._keeper.submit(RecordDaemon((fact,)))
        except LogPoisoned:
            raise
        # A full disk, most likely: what is removed is what makes room.
        except KbdError as refused:
            _log.warning("sweep_not_recorded", watch=watch_id, error=refused.message)

    def _copies_of(self, watch_id: WatchId) -> LandedCopies:
        if watch_id not in self._copies:
            self._copies[watch_id] = LandedCopies(self._home.landed(watch_id), self._disk)
        return self._copies[watch_id]

    def _needed(self, watch_id: WatchId) -> frozenset[str]:
        watch = self._watches.get(watch_id)
        landings = watch.landings.values() if watch is not None else ()
        return frozenset(landing.sha256 for landing in landings if landing.sha256)

    def _note_unswept(self, watch_id: WatchId) -> None:
        self._unswept[watch_id] = None
        self._outdated.ring()

    def _observe(self, seq: Seq, record: Recorded) -> None:
        """Wake the tasks that an event concerns."""
        del seq
        match record.data:
            case WatchAdded():
                self._changed.ring()
            case WatchResumed():
                # One of a restored home is looked at from now on.
                self._changed.ring()
                self._scheduler.wakeup.ring()
            case WatchRemoved(watch_id=watch_id):
                self._changed.ring()
                self._note_unswept(watch_id)
            case FileLanded(watch_id=watch_id) | LandingsParked(watch_id=watch_id):
                self._scheduler.wakeup.ring()
                self._commands.wakeup.ring()
                self._note_unswept(watch_id)
            case LandingsRetried(watch_id=watch_id):
                self._scheduler.wakeup.ring()
                # What could not be read has no copy: it is looked for as if it were new.
                self.rescan(watch_id)
            case WatchRunFinished(watch_id=watch_id):
                self._commands.wakeup.ring()
                self._note_unswept(watch_id)
            case LandingsDismissed(watch_id=watch_id):
                self._note_unswept(watch_id)
            case _:
                pass


def _is_watched(watch: Watch) -> bool:
    """Return whether a watch's folder is watched; it is while paused or suspended, too.

    Not while its rule is that of a backup: a stranger's could have any folder copied. What lands
    there meanwhile is found when it is resumed.
    """
    return watch.status is not WatchStatus.REMOVED and not watch.restored
