"""All open workbenches, and the daemon's own log of which there are."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import structlog
from anyio.abc import TaskGroup, TaskStatus
from anyio.to_thread import run_sync

from kbd.core.bell import Bell
from kbd.core.bench import Bench
from kbd.core.decisions.daemon import CreateWorkbench, DaemonCommand, DeleteWorkbench
from kbd.core.keeper import Keeper, Observer
from kbd.core.paths import checked_id
from kbd.core.queries import EventWire, notification
from kbd.core.state import DaemonState
from kbd.core.supervisor.opening import close_bench, open_bench, recover
from kbd.core.supervisor.parts import Parts
from kbd.core.supervisor.projection import Projection
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.workbenches import WorkbenchDeleted
from kbd.types import Seq, WorkbenchId

__all__ = ["Benches"]

_log = structlog.get_logger(__name__)


class _Open:
    """One open workbench with the tasks that serve it."""

    def __init__(self, bench: Bench, log_id: WorkbenchId) -> None:
        self.bench = bench
        self.wire = EventWire(log_id, bench.keeper.journal)
        self.scope = anyio.CancelScope()
        self.loaded = bench.state.seq
        self.closed = anyio.Event()


class Benches:
    """Opens workbenches at first use, and closes them when the daemon stops.

    Args:
        parts: What the daemon is assembled from.
        daemon: The Keeper of the daemon's own log.
        tasks: Where the tasks of open workbenches run.
        watch: Makes an observer for each workbench that is opened, before it is recovered.

    Attributes:
        daemon: The Keeper of the daemon's own log.
        daemon_wire: The events of that log as clients see them.
        moved: Rung when anything is recorded in any log.
    """

    def __init__(
        self,
        parts: Parts,
        daemon: Keeper[DaemonState, DaemonCommand],
        tasks: TaskGroup,
        watch: Callable[[Bench], Observer],
    ) -> None:
        self._parts, self.daemon, self._tasks, self._watch = parts, daemon, tasks, watch
        self._open: dict[WorkbenchId, _Open] = {}
        self._opening: dict[WorkbenchId, anyio.Lock] = {}
        self._held: Counter[WorkbenchId] = Counter()
        self.daemon_wire = EventWire("daemon", daemon.journal)
        self.moved = Bell()
        daemon.observe(self._wake)

    def log_ids(self) -> tuple[str, ...]:
        """Return the names of all logs: the daemon's own and each workbench's."""
        return ("daemon", *self.ids())

    def ids(self) -> tuple[WorkbenchId, ...]:
        """Return the ids of all workbenches, oldest first."""
        return tuple(self.daemon.state.workbenches)

    def running(self) -> tuple[Bench, ...]:
        """Return the workbenches that are open."""
        return tuple(opened.bench for opened in self._open.values())

    async def open(self, workbench_id: str) -> Bench:
        """Return a workbench, opened and recovered if it is not yet.

        Raises:
            ValidationFailed: The id is ill-formed.
            NotFound: There is no such workbench.
            KbdError: Its log cannot be opened.
        """
        return (await self._opened(workbench_id)).bench

    def opened(self, workbench_id: str) -> Bench | None:
        """Return a workbench if it is open."""
        known = self._open.get(WorkbenchId(workbench_id))
        return known.bench if known is not None else None

    async def wire(self, workbench_id: str) -> EventWire:
        """Return the events of a log as clients see them; "daemon" is the daemon's own.

        Raises:
            KbdError: As for `open`.
        """
        if workbench_id == "daemon":
            return self.daemon_wire
        return (await self._opened(workbench_id)).wire

    @contextlib.contextmanager
    def held(self, workbench_id: WorkbenchId) -> Iterator[None]:
        """Keep a workbench from being closed because nobody seems to use it, while inside."""
        self._held[workbench_id] += 1
        try:
            yield
        finally:
            self._held[workbench_id] -= 1
            if not self._held[workbench_id]:
                del self._held[workbench_id]

    async def create(self, name: str, workbench_id: WorkbenchId | None = None) -> WorkbenchId:
        """Create a workbench and return its id.

        Args:
            name: For people.
            workbench_id: Its id, which none may have; a fresh one if None.

        Raises:
            DiskFull: No space is left.
            ValidationFailed: The id is ill-formed, or taken.
        """
        workbench_id = checked_id(workbench_id or self._parts.clock.new_id())
        with anyio.CancelScope(shield=True):
            await self.daemon.submit(CreateWorkbench(workbench_id, name))
            try:
                await self.open(workbench_id)
            except KbdError:
                # Nobody was told of it. If this fails, too, it stays in the list with its reason.
                with contextlib.suppress(KbdError):
                    await self.daemon.submit(DeleteWorkbench(workbench_id))
                await run_sync(_remove, self._parts.home.workbench(workbench_id).root)
                raise
        return workbench_id

    async def delete(self, workbench_id: str) -> None:
        """Delete a workbench with its log.

        Raises:
            NotFound: There is no such workbench.
            ValidationFailed: A draft is open, or a run is under way.
        """
        opened = await self._opened(workbench_id)
        # A damaged one is only deleted: no draft can be discarded, no run be ended in it.
        if opened.bench.damage is None:
            _refuse_in_use(opened.bench)
        async with self._lock(opened.bench.id):
            await self.daemon.submit(DeleteWorkbench(opened.bench.id))
            await self._close(opened)
            await run_sync(_remove, opened.bench.folders.root)

    async def recover_marked(self) -> None:
        """Finish what the daemon was at when it last died; before listening.

        Every workbench that was open is opened, and what is left of deleted ones is removed.
        """
        await self._sweep()
        for workbench_id in self.ids():
            folders = self._parts.home.workbench(workbench_id)
            if await run_sync(folders.open_mark.exists):
                try:
                    await self.open(workbench_id)
                except KbdError as error:
                    _log.error("not_recovered", workbench=workbench_id, error=error.message)

    async def _sweep(self) -> None:
        left = set(await run_sync(self._parts.home.workbench_ids)) - set(self.ids())
        if not left:
            return
        deleted: set[WorkbenchId] = set()

        def note(_seq: int, record: Recorded) -> None:
            if isinstance(record.data, WorkbenchDeleted):
                deleted.add(record.data.workbench_id)

        # Only what the log says was deleted: a folder that it does not know is somebody's.
        await self.daemon.journal.replay(note, Seq(0))
        for workbench_id in left & deleted:
            await run_sync(_remove, self._parts.home.workbench(workbench_id).root)

    async def aclose(self) -> None:
        """Close all workbenches in an orderly way."""
        with anyio.CancelScope(shield=True):
            for opened in tuple(self._open.values()):
                await self._close(opened)

    async def _opened(self, workbench_id: str) -> _Open:
        checked = checked_id(workbench_id)
        known = self._open.get(checked)
        if known is not None:
            return known
        async with self._lock(checked):
            known = self._open.get(checked)
            if known is not None:
                return known
            entry = self.daemon.state.workbenches.get(checked)
            if entry is None:
                msg = f"there is no workbench {checked}"
                raise NotFound(msg)
            # In the daemon's task group: a client that goes away must not leave half an opening.
            opened: _Open = await self._tasks.start(self._serve, checked, entry.name)
            return opened

    def _lock(self, workbench_id: WorkbenchId) -> anyio.Lock:
        return self._opening.setdefault(workbench_id, anyio.Lock())

    async def _serve(
        self, workbench_id: WorkbenchId, name: str, *, task_status: TaskStatus[_Open]
    ) -> None:
        """Open a workbench, recover it, and serve it until it is closed."""
        parts = self._parts
        bench = await open_bench(parts.home.workbench(workbench_id), parts.clock)
        opened = _Open(bench, workbench_id)
        projection = Projection(bench)
        bench.keeper.observe(lambda seq, record: self._tell(bench, seq, record))
        bench.keeper.observe(projection.observe)
        bench.keeper.observe(self._watch(bench))
        if bench.damage is not None:
            _log.error("log_damaged", workbench=workbench_id, **bench.damage.detail)
        failure: KbdError | None = None
        try:
            with opened.scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(bench.keeper.run)
                    try:
                        await recover(bench, parts.clock, workbench_id, name)
                    except KbdError as error:
                        failure = error
                        opened.scope.cancel()
                    else:
                        tasks.start_soon(projection.run)
                        self._open[workbench_id] = opened
                        task_status.started(opened)
        finally:
            self._open.pop(workbench_id, None)
            await close_bench(bench, opened.loaded)
            opened.closed.set()
        if failure is not None:
            raise failure

    async def _close(self, opened: _Open) -> None:
        opened.scope.cancel()
        await opened.closed.wait()

    def _wake(self, seq: Seq, record: Recorded) -> None:
        del seq, record
        self.moved.ring()

    def _tell(self, bench: Bench, seq: Seq, record: Recorded) -> None:
        self._wake(seq, record)
        told = notification(bench.state, seq, record)
        if told is not None:
            self._parts.tell(told)


def _refuse_in_use(bench: Bench) -> None:
    if bench.state.active_run() is not None:
        msg = "a run is under way in this workbench: cancel it first"
        raise ValidationFailed(msg)
    if bench.state.draft is not None:
        msg = "a draft is open in this workbench: publish or discard it first"
        raise ValidationFailed(msg)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
