"""Registry of workbenches: opens them on demand, closes idle ones; and the daemon's own log.

The daemon's log says which workbenches there are. Each landed file has a workbench of its own, and
a list of all opens them all: too many to keep open.
"""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from weakref import WeakValueDictionary

import anyio
from anyio.abc import TaskGroup, TaskStatus
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import CreateWorkbench, DaemonCommand, DeleteWorkbench
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.runtime.paths import WorkbenchFolders, checked_id
from kbd.core.runtime.restarts import restart_on_failure
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.archives import WorkbenchArchives
from kbd.core.sessions.projection import Projection
from kbd.core.sessions.receipts import ReceiptMaker
from kbd.core.sessions.recovery import (
    close_workbench,
    marked_open,
    open_workbench,
    recover_workbench,
    sweep_workbenches,
    translate_disk_errors,
)
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper, Observer
from kbd.core.store.snapshots import workbench_snapshots
from kbd.core.store.snapshotting import SnapshotScheduler
from kbd.core.workbench.event_rows import EventRows
from kbd.core.workbench.notifications import notifications_of
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import (
    MACHINE_FAULTS,
    FileReadFailed,
    KbdError,
    NotFound,
    TooManyOpenFiles,
    ValidationFailed,
)
from kbd.events.base import Actor, Recorded
from kbd.events.disk import DISK, Disk
from kbd.types import Seq, WorkbenchId

__all__ = ["IDLE_CHECK_S", "IDLE_S", "RunObserver", "ServedWorkbench", "Workbenches"]

IDLE_S = 60.0
"""How long a workbench must be unused before it is closed. A request that was given it has ended by
then, or holds it: `Workbenches.held`."""

PRESSED_IDLE_S = 1.0
"""The same where no descriptor is left. What a request still has of one that is closed refuses what
it wants, and does nothing else."""

PRESSED_COUNT = 16
"""As many are closed then at once, so that the next ones need not wait for it."""

IDLE_CHECK_S = 10.0
"""The interval of the search for idle ones while more are open than may be."""


RunObserver = Callable[[WorkbenchId, Recorded], None]
"""Told of each event of a run after it is durable and folded; returns at once, never raises."""


class ServedWorkbench:
    """An open workbench in the registry: its cancel scope, its readers, its last use.

    Args:
        workbench: The workbench.
        receipts: Makes the receipts of its publishes.
        log_id: Its id.
        now_s: The time, on the monotonic clock.

    Attributes:
        events: Its events as clients see them.
        scope: Canceled to close it.
        closed: Set when it is closed.
        asked_s: When it was last asked for.
        used_s: The same, or when it last recorded anything.
    """

    def __init__(
        self, workbench: OpenWorkbench, receipts: ReceiptMaker, log_id: WorkbenchId, now_s: float
    ) -> None:
        self.workbench, self.receipts = workbench, receipts
        self.events = EventRows(log_id, workbench.keeper.journal)
        self.scope = anyio.CancelScope()
        self.closed = anyio.Event()
        self.asked_s = self.used_s = now_s

    def is_idle(self, now_s: float, idle_s: float) -> bool:
        """Return whether the workbench is idle: unused for so long, with nothing under way."""
        workbench, state = self.workbench, self.workbench.state
        is_busy = (
            state.active_run() is not None
            or state.publish is not None
            or bool(state.effects)
            or workbench.publishing.locked()
            or workbench.editing.locked()
            or self.events.is_followed
            or not workbench.keeper.is_idle
            or not self.receipts.is_idle
        )
        return now_s - self.used_s >= idle_s and not is_busy


_log = get_logger(__name__)


class Workbenches:
    """Registry of workbenches: opens them at first use, and closes them when the daemon stops.

    When more are open than may be, those that nobody uses are closed earlier; whoever asks for one
    of them gets it anew.

    Args:
        context: What the daemon is assembled from.
        daemon: The Keeper of the daemon's own log.
        tasks: Where the tasks of open workbenches run.
        watch: Makes an observer for each workbench that is opened, before it is recovered.
        disk: What writes them and their archives.

    Attributes:
        daemon: The Keeper of the daemon's own log.
        daemon_events: The events of that log as clients see them.
        archives: Workbenches that are packed.
    """

    def __init__(
        self,
        context: ApiContext,
        daemon: Keeper[DaemonState, DaemonCommand],
        tasks: TaskGroup,
        watch: Callable[[OpenWorkbench], Observer],
        disk: Disk = DISK,
    ) -> None:
        self._context, self.daemon, self._tasks, self._watch = context, daemon, tasks, watch
        self._disk = disk
        self._open: dict[WorkbenchId, ServedWorkbench] = {}
        # Weak: a lock is there while somebody holds it or waits for it. Whoever asks may ask for
        # ids without end.
        self._locks: WeakValueDictionary[WorkbenchId, anyio.Lock] = WeakValueDictionary()
        self._held: Counter[WorkbenchId] = Counter()
        self._openings: Counter[WorkbenchId] = Counter()
        self._is_limiting = False
        self._run_observers: list[RunObserver] = []
        self.daemon_events = EventRows("daemon", daemon.journal)
        daemon.observe(context.meters.events.observer())
        tasks.start_soon(restart_on_failure, "index", context.index.run)
        self.archives = WorkbenchArchives(context.home, daemon, self, disk)

    def observe_runs(self, observer: RunObserver) -> None:
        """Register an observer of the events of all runs from now on."""
        self._run_observers.append(observer)

    def ids(self) -> tuple[WorkbenchId, ...]:
        """Return the ids of all workbenches, oldest first."""
        return tuple(self.daemon.state.workbenches)

    def running(self) -> tuple[OpenWorkbench, ...]:
        """Return the workbenches that are open."""
        return tuple(opened.workbench for opened in self._open.values())

    async def open(self, workbench_id: str) -> OpenWorkbench:
        """Return a workbench, opened and recovered if it is not yet.

        Raises:
            ValidationFailed: The id is ill-formed.
            NotFound: There is no such workbench.
            KbdError: Its log cannot be opened.
        """
        return (await self._opened(workbench_id)).workbench

    def opened(self, workbench_id: str) -> OpenWorkbench | None:
        """Return a workbench if it is open."""
        known = self._open.get(WorkbenchId(workbench_id))
        return known.workbench if known is not None else None

    @contextlib.asynccontextmanager
    async def glance(self, workbench_id: str) -> AsyncIterator[OpenWorkbench]:
        """Open a workbench for a short use: when too many are open it is closed again after it.

        Raises:
            KbdError: As for `open`.
        """
        was_open = self.opened(workbench_id) is not None
        opened = await self._opened(workbench_id)
        looked_s = opened.asked_s
        yield opened.workbench
        if not was_open:
            await self.release(workbench_id, looked_s)

    async def release(self, workbench_id: str, since_s: float) -> None:
        """Release a workbench, unless it was asked for since a moment.

        When too many are open it is closed at once: nobody who asked for it earlier waits for it.

        Args:
            workbench_id: Which; it need not be open.
            since_s: The moment, on the monotonic clock.
        """
        opened = self._open.get(WorkbenchId(workbench_id))
        if opened is not None and opened.asked_s <= since_s:
            opened.used_s = float("-inf")
            await self.close_idle()

    async def event_rows(self, workbench_id: str) -> EventRows:
        """Return the events of a log as clients see them; "daemon" is the daemon's own.

        Raises:
            KbdError: As for `open`.
        """
        if workbench_id == "daemon":
            return self.daemon_events
        return (await self._opened(workbench_id)).events

    async def receipts(self, workbench_id: str) -> ReceiptMaker:
        """Return what makes a workbench's receipts.

        Raises:
            KbdError: As for `open`.
        """
        return (await self._opened(workbench_id)).receipts

    @contextlib.asynccontextmanager
    async def reading(self, log_id: str) -> AsyncIterator[EventRows]:
        """Read the events of a log while inside; a workbench that is closed stays so.

        Args:
            log_id: Its workbench's id, or "daemon".

        Raises:
            ValidationFailed: The id is ill-formed.
            NotFound: There is no such workbench.
            KbdError: Its log cannot be read.
        """
        if log_id == "daemon":
            yield self.daemon_events
            return
        checked = checked_id(log_id)
        async with contextlib.AsyncExitStack() as stack:
            # Under the lock: who would open it waits, so the log that is looked at is nobody's.
            async with self._lock(checked):
                opened = self._open.get(checked)
                if opened is not None:
                    events = opened.events
                else:
                    # It is neither packed nor unpacked while its files are read.
                    stack.enter_context(self.held(checked))
                    folders = self._context.home.workbench(checked)
                    if self.known(checked).archive is not None:
                        folders = await stack.enter_async_context(self.archives.reading(checked))
                    events = await _view(folders)
            with events.followed():
                yield events

    def known(self, workbench_id: WorkbenchId) -> KnownWorkbench:
        """Return a workbench as the daemon's log knows it.

        Raises:
            NotFound: There is no such workbench.
        """
        known = self.daemon.state.workbenches.get(workbench_id)
        if known is None:
            raise NotFound(f"there is no workbench {workbench_id}")
        return known

    def openings(self, workbench_id: WorkbenchId) -> int:
        """Return how often a workbench was opened: while it is closed, nobody writes its log."""
        return self._openings[workbench_id]

    async def end_of(self, workbench_id: WorkbenchId) -> Seq | None:
        """Return the last event in an open workbench's state; None if it is closed.

        One that is being opened or closed is waited for.
        """
        async with self._lock(workbench_id):
            opened = self._open.get(workbench_id)
            return opened.workbench.state.seq if opened is not None else None

    @contextlib.contextmanager
    def held(self, workbench_id: WorkbenchId) -> Iterator[None]:
        """Keep a workbench from being closed as idle while inside."""
        self._held[workbench_id] += 1
        try:
            yield
        finally:
            self._held[workbench_id] -= 1
            if not self._held[workbench_id]:
                del self._held[workbench_id]

    @contextlib.asynccontextmanager
    async def alone(
        self, workbench_id: str, holds: int = 0, idle_s: float | None = None
    ) -> AsyncIterator[WorkbenchFolders]:
        """Have a workbench to oneself while inside: it is closed, and who would open it waits.

        One that is open is closed if it is idle. So no request is under way that has stored bytes
        and not yet recorded what names them, and none can begin. Who reads its files without
        opening it holds it, and then waits for its lock (`end_of`).

        Args:
            workbench_id: Which.
            holds: How often the caller itself holds it.
            idle_s: How long nobody must have used it; None for as long as any.

        Yields:
            Its folders, which are not there while it is archived.

        Raises:
            ValidationFailed: The id is ill-formed; or somebody uses it, or a crash left it open.
            NotFound: There is no such workbench.
        """
        checked = checked_id(workbench_id)
        async with self._lock(checked):
            folders = self._context.home.workbench(self.known(checked).workbench_id)
            opened = self._open.get(checked)
            wanted_s, now_s = (
                IDLE_S if idle_s is None else idle_s,
                self._context.clock.monotonic_s(),
            )
            is_idle = opened is None or opened.is_idle(now_s, wanted_s)
            if not is_idle or self._held.get(checked, 0) > holds:
                msg = f"workbench {checked} is in use"
                raise ValidationFailed(msg, retryable=True, actions=("try again in a minute",))
            if opened is not None:
                await self._close_alone(opened)
            # What a crash left its recovery may still need.
            if await run_sync(folders.open_mark.exists):
                msg = f"workbench {checked} was not closed in order: open it once"
                raise ValidationFailed(msg)
            # Who gets it may write its log.
            self._openings[checked] += 1
            yield folders

    async def create(
        self, name: str, workbench_id: WorkbenchId | None = None, *, actor: Actor | None = None
    ) -> WorkbenchId:
        """Create a workbench and return its id.

        Args:
            name: For people.
            workbench_id: Its id, which none may have; a fresh one if None.
            actor: The client that asks, if one does.

        Raises:
            DiskFull: No space is left.
            ValidationFailed: The id is ill-formed, or taken.
        """
        workbench_id = checked_id(workbench_id or self._context.clock.new_id())
        with anyio.CancelScope(shield=True):
            # The daemon's log first: a folder that it does not name is taken for somebody else's.
            await self.daemon.submit(CreateWorkbench(workbench_id, name), actor)
            try:
                await self.open(workbench_id)
            except KbdError:
                # Nobody was told of it. If this fails, too, it stays in the list with its reason.
                with contextlib.suppress(KbdError):
                    await self.daemon.submit(DeleteWorkbench(workbench_id))
                await run_sync(remove_tree, self._context.home.workbench(workbench_id).root)
                raise
        return workbench_id

    async def delete(self, workbench_id: str, actor: Actor | None = None, reason: str = "") -> None:
        """Delete a workbench with its log.

        Args:
            workbench_id: Which.
            actor: The client that asks, if one does.
            reason: By which rule an archive is removed; "" where a person asks.

        Raises:
            NotFound: There is no such workbench.
            ValidationFailed: A draft is open, or a run is under way.
        """
        if self.archives.archived(checked_id(workbench_id)) is not None:
            await self.archives.remove(WorkbenchId(workbench_id), reason, actor)
            self._openings.pop(WorkbenchId(workbench_id), None)
            return
        opened = await self._opened(workbench_id)
        # A damaged one is only deleted: no draft can be discarded, no run be ended in it.
        if opened.workbench.damage is None:
            _check_unused(opened.workbench)
        async with self._lock(opened.workbench.id):
            # The log before the folder: a start removes what is left of a deleted workbench.
            await self.daemon.submit(DeleteWorkbench(opened.workbench.id), actor)
            await self._close(opened)
            del self._openings[opened.workbench.id]
            await run_sync(remove_tree, opened.workbench.folders.root)

    async def recover_marked(self) -> None:
        """Recover the workbenches that were open when the daemon died; called before it listens.

        Every workbench that was open is opened, and what is left of deleted ones is removed. Not
        while the daemon's log is damaged: what it hides may be all that names a folder.
        """
        if self.daemon.journal.log.damage is None:
            await self.archives.recover()
            await sweep_workbenches(self._context.home, self.daemon)
        for workbench_id in await run_sync(marked_open, self._context.home, self.ids()):
            try:
                async with self.glance(workbench_id):
                    pass
            except KbdError as error:
                _log.error("not_recovered", workbench=workbench_id, error=error.message)

    async def aclose(self) -> None:
        """Close all workbenches in an orderly way."""
        with anyio.CancelScope(shield=True):
            for opened in tuple(self._open.values()):
                await self._close(opened)

    async def _opened(self, workbench_id: str) -> ServedWorkbench:
        checked = checked_id(workbench_id)
        known = self._open.get(checked)
        if known is None:
            known = await self._open_first(checked)
        known.asked_s = known.used_s = self._context.clock.monotonic_s()
        if (
            len(self._open) > self._context.settings.watch.open_workbenches
            and not self._is_limiting
        ):
            self._is_limiting = True
            self._tasks.start_soon(self._limit_open)
        return known

    async def _open_first(self, checked: WorkbenchId) -> ServedWorkbench:
        """Open a workbench, unless another task has just done so."""
        async with self._lock(checked):
            known = self._open.get(checked)
            if known is not None:
                return known
            entry = self.known(checked)
            self._openings[checked] += 1
            try:
                if entry.archive is not None:
                    await self.archives.unpack(checked, "it was asked for")
                    entry = self.known(checked)
                # In the daemon's task group: a client that goes away must not leave half of it.
                opened = await self._start(entry)
            except KbdError as error:
                # A disk that is full, or a machine, says nothing of the workbench.
                of_it = entry.archive is None or isinstance(error, FileReadFailed)
                if of_it and error.code not in MACHINE_FAULTS:
                    self._context.index.fail(checked, error.message)
                raise
            return opened

    async def _start(self, entry: KnownWorkbench) -> ServedWorkbench:
        """Begin to serve a workbench; without a descriptor, others that are idle give theirs."""
        try:
            opened: ServedWorkbench = await self._tasks.start(self._serve, entry)
        except TooManyOpenFiles:
            fewest = len(self._open) - PRESSED_COUNT
            if not await self._close_idle(max(0, fewest), PRESSED_IDLE_S):
                raise
            opened = await self._tasks.start(self._serve, entry)
        return opened

    def _lock(self, workbench_id: WorkbenchId) -> anyio.Lock:
        return self._locks.setdefault(workbench_id, anyio.Lock())

    async def _serve(
        self, known: KnownWorkbench, *, task_status: TaskStatus[ServedWorkbench]
    ) -> None:
        """Open a workbench, recover it, and serve it until it is closed."""
        context, workbench_id = self._context, known.workbench_id
        folders = context.home.workbench(workbench_id)
        workbench = await open_workbench(
            folders, context.clock, context.egress.redaction, self._disk
        )
        formats = FormatCalls(context.catalog, context.workers, folders.cache)
        receipts = ReceiptMaker(workbench, formats)
        opened = ServedWorkbench(workbench, receipts, workbench_id, context.clock.monotonic_s())
        projection = Projection(workbench)
        workbench.keeper.refresh_first(projection.refresh)
        workbench.keeper.observe(context.index.observe(workbench))
        workbench.keeper.observe(lambda seq, record: self._announce(opened, seq, record))
        workbench.keeper.observe(projection.observe)
        renewal = SnapshotScheduler(workbench.snapshots, workbench.keeper.journal.log)
        workbench.keeper.observe(renewal.observe)
        workbench.keeper.observe(receipts.observe)
        workbench.keeper.observe(self._watch(workbench))
        workbench.keeper.observe(context.meters.events.observer())
        if workbench.damage is not None:
            _log.error("log_damaged", workbench=workbench_id, **workbench.damage.detail)
        failure: KbdError | None = None
        try:
            with opened.scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(workbench.keeper.run)
                    try:
                        await recover_workbench(workbench, context.clock, known)
                        await projection.catch_up()
                    except KbdError as error:
                        failure = error
                        opened.scope.cancel()
                    else:
                        tasks.start_soon(restart_on_failure, "copies", projection.run)
                        tasks.start_soon(restart_on_failure, "snapshots", renewal.run)
                        receipts.catch_up()
                        tasks.start_soon(restart_on_failure, "receipts", receipts.run)
                        # Only now: what a crash left open is settled (reliability, R9).
                        self._open[workbench_id] = opened
                        task_status.started(opened)
        finally:
            self._open.pop(workbench_id, None)
            try:
                with anyio.CancelScope(shield=True):
                    await self._context.engines.close(workbench_id)
                await close_workbench(workbench, self._disk)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._context.index.close(workbench)
                opened.closed.set()
        if failure is not None:
            raise failure

    async def _close(self, opened: ServedWorkbench) -> None:
        opened.scope.cancel()
        await opened.closed.wait()

    async def _limit_open(self) -> None:
        """Close idle workbenches while more are open than may be."""
        while len(self._open) > self._context.settings.watch.open_workbenches:
            if not await self.close_idle():
                await anyio.sleep(IDLE_CHECK_S)
        self._is_limiting = False

    async def close_idle(self) -> int:
        """Close workbenches until no more are open than may be; return how many.

        Those first that were not used for longest; those in use stay.
        """
        return await self._close_idle(self._context.settings.watch.open_workbenches, IDLE_S)

    async def _close_idle(self, most: int, idle_s: float) -> int:
        """Close workbenches unused for so long until so many are open; return how many."""
        closed = 0
        for opened in sorted(self._open.values(), key=lambda each: each.used_s):
            if len(self._open) <= most:
                break
            if not self._is_idle(opened, idle_s):
                continue
            async with self._lock(opened.workbench.id):
                # Asked again under the lock: somebody may have taken it up meanwhile.
                if self._is_idle(opened, idle_s):
                    await self._close_alone(opened)
                    closed += 1
        return closed

    async def _close_alone(self, opened: ServedWorkbench) -> None:
        """Close an idle workbench, whose lock the caller holds."""
        # Whoever asks from here on waits for the lock, and opens it anew.
        del self._open[opened.workbench.id]
        # Shielded: nobody may have the lock before the log is closed.
        with anyio.CancelScope(shield=True):
            await self._close(opened)

    def _is_idle(self, opened: ServedWorkbench, idle_s: float) -> bool:
        bench_id = opened.workbench.id
        is_open = self._open.get(bench_id) is opened
        now_s = self._context.clock.monotonic_s()
        return is_open and bench_id not in self._held and opened.is_idle(now_s, idle_s)

    def _announce(self, opened: ServedWorkbench, seq: Seq, record: Recorded) -> None:
        opened.used_s = self._context.clock.monotonic_s()
        opened.workbench.changed.ring()
        for notification in notifications_of(opened.workbench.state, seq, record):
            self._context.notify(notification)
        if record.run:
            for observer in self._run_observers:
                observer(opened.workbench.id, record)


async def _view(folders: WorkbenchFolders) -> EventRows:
    """View a log that nobody writes."""
    with translate_disk_errors():
        log, outline = await run_sync(workbench_snapshots(folders.log, folders.snap).view)
    return EventRows(folders.id, Journal(log, outline))


def _check_unused(workbench: OpenWorkbench) -> None:
    if workbench.state.active_run() is not None:
        raise ValidationFailed("a run is under way in this workbench: cancel it first")
    if workbench.state.draft is not None:
        raise ValidationFailed("a draft is open in this workbench: publish or discard it first")
