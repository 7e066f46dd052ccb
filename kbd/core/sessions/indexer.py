"""Indexer: keeps the index of workbenches and runs in step with the logs.

It sees each event of the daemon's log and of the open workbenches, and writes the rows that have
changed before a list is answered, when a workbench is closed, and at the latest after a minute: a
row is some fifteen pages of the file, and a run changes it at each of its steps. What a crash takes
of rows is that of workbenches that were open, which a start opens, and by which watches they were
made, which is looked up in the daemon's log.

Logs that nobody has open are read by a process of its own: at a start those without a row, and
those whose fingerprint is another than their row says, which a restore or a crash of the machine
may leave behind. No start waits for it, and a list only for a few.
"""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing, contextmanager
from functools import partial
from typing import TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench
from kbd.core.home_index.database import (
    FoundPage,
    HomeCensus,
    HomeIndex,
    IndexTotals,
    IndexWrite,
    remove_index,
    unreadable_workbenches,
)
from kbd.core.home_index.queries import run_query, workbench_query
from kbd.core.home_index.reader_process import read_closed_logs
from kbd.core.home_index.rows import (
    DAMAGED_MARK,
    ChangedRuns,
    IndexedRun,
    IndexedWorkbench,
    closed_mark,
    fingerprint,
    indexed_run,
    indexed_workbench,
)
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.paths import Home
from kbd.core.sessions.indexed_logs import ChangedLogs, IndexedLog, measure_folders
from kbd.core.store.keeper import Keeper, Observer
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import FileReadFailed, KbdError, ToolWorkerUnavailable
from kbd.events.base import Recorded
from kbd.events.damages import DamageFound, DamageMended
from kbd.events.watches import WatchRunStarted
from kbd.events.workbenches import WorkbenchArchived, WorkbenchCreated, WorkbenchDeleted
from kbd.requests.workbenches import WorkbenchList
from kbd.requests.workshop import RunList
from kbd.types import Seq, WatchId, WorkbenchId

__all__ = ["HomeIndexer"]

FLUSH_S = 60.0
"""How long a changed row may wait to be written while nobody asks for a list."""

REREAD_S = 1.0
"""How long it waits after it has read logs, and before it looks whether rows are theirs."""

CHECK_S = 3600.0
"""The interval in which the rows are checked against the heads of the logs."""

RETRY_S = 60.0
"""How long it waits after the process that reads logs died, or could not be started."""

PATIENT_UNREAD = 200
PATIENCE_S = 10.0
"""A list waits for the logs that are being read if there are at most so many, at most so long: a
small home is read within a second. In a larger one rows that are not read yet say so."""

MAX_RUN_ROWS = 1024
"""How many rows of a workbench's runs are in memory at once."""

_BATCH = 128
"""How many rows are written, or fingerprints taken, at a time: lists wait no longer than that."""

_log = get_logger(__name__)

T = TypeVar("T")

_FAULTS = (sqlite3.Error, OSError, msgspec.MsgspecError)
"""What a file that is damaged, or a disk that fails, leads to."""


class HomeIndexer:
    """The index of a home, kept in step with its logs.

    Args:
        home: The home.
        daemon: The Keeper of the daemon's own log.
    """

    def __init__(self, home: Home, daemon: Keeper[DaemonState, DaemonCommand]) -> None:
        self._home, self._daemon = home, daemon
        self._index: HomeIndex | None = None
        # One at a time: a connection is one thread's, and rows are written in the order of events.
        self._lock = anyio.Lock()
        self._is_open = anyio.Event()
        self._open: dict[WorkbenchId, IndexedLog] = {}
        self._listed: set[WorkbenchId] = set()
        self._archived: set[WorkbenchId] = set()
        self._watches: dict[WorkbenchId, WatchId] = {}
        self._failed: dict[WorkbenchId, str] = {}
        # Closed ones of which damage was found or mended, which does not stand in their logs.
        self._judged: set[WorkbenchId] = set()
        self._changed, self._stale, self._read = Notifier(), Notifier(), Notifier()
        # Those that were opened since a reading of closed logs began: what it found may be old.
        self._taken_up: set[WorkbenchId] = set()
        self._left = self._replaced = 0
        # A workbench without a row at a start has no watch in the index either, though its log
        # need not be read because it is open.
        self._are_watches_lost = False
        self._followers: set[ChangedLogs] = set()
        daemon.observe(self._observe_daemon)

    def observe(self, workbench: OpenWorkbench) -> Observer:
        """Take note of a workbench that was opened; return what observes its events."""
        indexed = self._open[workbench.id] = IndexedLog(workbench)
        self._taken_up.add(workbench.id)
        self._changed.ring()

        def note(seq: Seq, record: Recorded) -> None:
            del seq
            if indexed.change is None:
                indexed.change = ChangedRuns()
                self._changed.ring()
            indexed.change.note(record)
            self._announce(workbench.id)

        return note

    async def close(self, workbench: OpenWorkbench) -> None:
        """Write the rows of a workbench whose log was closed."""
        indexed = self._open.get(workbench.id)
        if indexed is None or indexed.workbench is not workbench:
            return
        indexed.measure_at_s = float("-inf")
        indexed.change = indexed.change or ChangedRuns()
        async with self._lock:
            mark = await run_sync(fingerprint, workbench.folders.log)
            with _logged():
                # Of one that was deleted there is no row.
                await self._flush(lambda index: index.mark(workbench.id, mark))
            del self._open[workbench.id]

    def fail(self, workbench_id: WorkbenchId, reason: str) -> None:
        """Take note of why a workbench cannot be opened; it is listed so until it is."""
        self._failed[workbench_id] = reason
        self._changed.ring()

    @contextmanager
    def followed(self) -> Iterator[ChangedLogs]:
        """Tell which logs change while inside."""
        changed = ChangedLogs()
        self._followers.add(changed)
        try:
            yield changed
        finally:
            self._followers.discard(changed)

    async def workbenches(self, request: WorkbenchList) -> tuple[FoundPage, IndexTotals]:
        """Return a page of the workbenches, and what is true of all.

        Raises:
            ValidationFailed: The cursor is of another list.
        """
        query = workbench_query(request)
        return await self._ask(lambda index: (index.page(query), index.totals()))

    async def runs(self, request: RunList) -> tuple[FoundPage, IndexTotals]:
        """Return a page of the runs, and what is true of all workbenches.

        Raises:
            ValidationFailed: The cursor is of another list.
        """
        query = run_query(request)
        return await self._ask(lambda index: (index.page(query), index.totals()))

    async def approvals(self) -> tuple[tuple[bytes, ...], tuple[WorkbenchId, ...]]:
        """Return the decisions that wait for a person, as JSON, oldest first.

        And the workbenches in which others may: those that are damaged, or were not read yet.
        """
        return await self._ask(lambda index: (index.approvals(), unreadable_workbenches(index)))

    async def read(self, question: Callable[[HomeIndex], T]) -> T:
        """Return the answer of the index to a question that has a module of its own."""
        return await self._ask(question)

    def measure_anew(self) -> None:
        """Have the folders of open workbenches measured before the next answer, due or not."""
        for indexed in self._open.values():
            indexed.measure_at_s = float("-inf")
            indexed.change = indexed.change or ChangedRuns()

    async def census(self) -> HomeCensus:
        """Return how many there are of what, as far as the logs were read."""
        await self._is_open.wait()
        return await self._answer(lambda index: index.census())

    async def is_read(self, workbench_id: WorkbenchId) -> bool:
        """Return whether a workbench's log was read since it was found."""
        query = "SELECT 1 FROM workbenches WHERE id = ? AND status != 'unread'"
        return await self._ask(lambda index: bool(index.read(query, (workbench_id,))))

    async def ends(self) -> dict[WorkbenchId, Seq]:
        """Return the last events of all logs but those that were not read yet."""
        return await self._ask(lambda index: index.ends())

    async def run(self) -> None:
        """Work for ever."""
        async with self._lock:
            try:
                await run_sync(self._open_index)
                await run_sync(self._mark_archives)
                await self._count_unread()
            except _FAULTS as fault:
                await self._replace(str(fault))
            self._is_open.set()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write_changes)
                await self._read_closed()
        finally:
            with anyio.CancelScope(shield=True):
                async with self._lock:
                    index, self._index = self._index, None
                    if index is not None:
                        await run_sync(index.close)

    def _observe_daemon(self, seq: Seq, record: Recorded) -> None:
        del seq
        match record.data:
            case WorkbenchCreated() | WorkbenchDeleted():
                self._listed.add(record.data.workbench_id)
                self._changed.ring()
            case WorkbenchArchived(workbench_id=workbench_id):
                self._archived.add(workbench_id)
                self._changed.ring()
            case WatchRunStarted(watch_id=watch_id, workbench_id=workbench_id):
                self._watches[workbench_id] = watch_id
                self._changed.ring()
            case DamageFound(workbench_id=workbench_id) | DamageMended(workbench_id=workbench_id):
                self._judge(workbench_id)
            case _:
                pass
        self._announce("daemon")

    def _judge(self, workbench_id: WorkbenchId) -> None:
        """Take note that damage was found in a workbench, or mended."""
        indexed = self._open.get(workbench_id)
        if indexed is not None:
            indexed.change = indexed.change or ChangedRuns()
        else:
            self._judged.add(workbench_id)
            # What is read of it at this moment does not know yet.
            self._taken_up.add(workbench_id)
        self._changed.ring()

    def _announce(self, log_id: str) -> None:
        for follower in self._followers:
            follower.note(log_id)

    def _known(self, workbench_id: WorkbenchId) -> KnownWorkbench | None:
        return self._daemon.state.workbenches.get(workbench_id)

    def _open_index(self) -> None:
        """Open the file, with a row for each workbench there is. Blocks."""
        # What rows say while the daemon's log is damaged must not be believed by a later start.
        is_damaged = self._daemon.journal.log.damage is not None
        # A disk that took none twice takes none: all logs would be read again and again.
        is_given_up = self._replaced > 1
        known = tuple(self._daemon.state.workbenches.values())
        if not is_damaged and not is_given_up:
            self._index = HomeIndex.open(self._home.index_file)
            try:
                self._are_watches_lost = self._index.reconcile(known) > 0
            except _FAULTS:
                self._index.close()
                remove_index(self._home.index_file)
            else:
                return
        self._index = HomeIndex.in_memory()
        self._are_watches_lost = self._index.reconcile(known) > 0

    def _mark_archives(self) -> None:
        """Have archives read that are not as their rows say, before lists show these. Blocks.

        One that is missing shows so from the first list on, and one that is mended does not.
        """
        assert self._index is not None, "it was opened"
        marks = self._index.marks()
        for known in tuple(self._daemon.state.workbenches.values()):
            mark = marks.get(known.workbench_id)
            if known.archive is not None and mark and mark != closed_mark(self._home, known):
                self._index.mark(known.workbench_id, b"")

    async def _ask(self, question: Callable[[HomeIndex], T]) -> T:
        """Ask the index, once it has all that was recorded before."""
        await self._is_open.wait()
        with anyio.move_on_after(PATIENCE_S):
            while True:
                while 0 < self._left <= PATIENT_UNREAD:
                    await self._read.wait()
                answer = await self._answer(question)
                # An index that failed meanwhile is empty again.
                if not 0 < self._left <= PATIENT_UNREAD:
                    return answer
        return await self._answer(question)

    async def _answer(self, question: Callable[[HomeIndex], T]) -> T:
        async with self._lock:
            while True:
                replaced = self._replaced
                await self._flush()
                answer = await self._call(question)
                # A new index lacks what was written into the one before.
                if replaced == self._replaced:
                    return answer

    async def _call(self, work: Callable[[HomeIndex], T]) -> T:
        """Have a thread work with the index, with a new one if this one fails."""
        if self._index is None:
            raise ToolWorkerUnavailable("the daemon is stopping")
        try:
            return await run_sync(work, self._index)
        except _FAULTS as fault:
            await self._replace(str(fault))
        try:
            return await run_sync(work, self._index)
        except _FAULTS as error:
            msg = f"the index of workbenches cannot be used: {error}"
            raise FileReadFailed(msg, retryable=True) from error

    async def _replace(self, fault: str) -> None:
        """Replace the index by an empty one, and have all logs read again."""
        _log.warning("index_made_anew", fault=fault)
        self._replaced += 1
        await run_sync(self._replace_file)
        await self._count_unread()
        for indexed in self._open.values():
            indexed.change, indexed.is_compared = indexed.change or ChangedRuns(), False
        self._stale.ring()
        self._changed.ring()

    async def _count_unread(self) -> None:
        """Count the closed logs that are to be read, so that lists wait for a few of them."""
        if self._index is not None:
            unread = self._unread(await run_sync(self._index.marks))
            self._left = len(unread) or int(self._are_watches_lost)

    def _unread(self, marks: dict[WorkbenchId, bytes]) -> list[WorkbenchId]:
        return [each for each, mark in marks.items() if not mark and each not in self._open]

    def _replace_file(self) -> None:
        if self._index is not None:
            self._index.close()
        remove_index(self._home.index_file)
        self._open_index()

    async def _write_changes(self) -> None:
        while True:
            rings = self._changed.rings
            async with self._lock:
                with _logged():
                    await self._flush()
            await self._changed.wait(rings)
            await anyio.sleep(FLUSH_S)

    async def _flush(self, last: IndexWrite | None = None) -> None:
        """Write what has changed, and something behind it; the caller holds the lock."""
        # What is taken to be written is written, though who asked for a list hangs up.
        with anyio.CancelScope(shield=True):
            if self._index is not None:
                await self._write_all(last)

    async def _write_all(self, last: IndexWrite | None) -> None:
        listed, self._listed = self._listed, set()
        watches, self._watches = self._watches, {}
        judged, self._judged = self._judged, set()
        created = [known for each in listed if (known := self._known(each)) is not None]
        deleted = [each for each in listed if self._known(each) is None]
        changed = [each for each in self._open.values() if each.change is not None]
        # As few transactions as may be: a page that two of them change is written twice.
        writes: list[IndexWrite] = []
        if created or deleted:
            writes.append(lambda index: index.relist(created, deleted))
        if watches:
            writes.append(lambda index: index.assign(watches))
        for start in range(0, len(changed), _BATCH):
            async with aclosing(self._changed_rows(changed[start : start + _BATCH])) as parts:
                async for rows in parts:
                    writes.append(partial(HomeIndex.put, rows=rows))
                    if sum(len(row.runs) for row in rows) >= MAX_RUN_ROWS:
                        await self._write(writes)
                        writes = []
        writes += self._judgments(judged)
        if last is not None:
            writes.append(last)
        if writes:
            await self._write(writes)
        if judged:
            self._left = len(self._unread(await self._call(lambda index: index.marks())))
            self._stale.ring()

    def _judgments(self, judged: AbstractSet[WorkbenchId]) -> Iterator[IndexWrite]:
        """Yield the writes about workbenches that their own states and logs do not say.

        Args:
            judged: Those of which damage was found or mended.
        """
        packed, self._archived = self._archived, set()
        known = {each: found for each in packed if (found := self._known(each)) is not None}
        # One that was opened since has its row from its own state.
        archived = {each: found.archive for each, found in known.items() if found.archive}
        if archived:
            yield partial(HomeIndex.archive, archived=archived)
        failed, self._failed = self._failed, {}
        for workbench_id, reason in failed.items():
            yield partial(HomeIndex.fail, workbench_id=workbench_id, reason=reason)
            if (entry := self._known(workbench_id)) is not None and entry.archive is not None:
                yield partial(HomeIndex.mark, workbench_id=workbench_id, mark=DAMAGED_MARK)
        for workbench_id in judged - set(self._open):
            yield partial(HomeIndex.mark, workbench_id=workbench_id, mark=b"")

    async def _write(self, writes: Sequence[IndexWrite]) -> None:
        """Write several things in one transaction."""
        await self._call(lambda index: index.write(writes))

    async def _changed_rows(
        self, changed: Sequence[IndexedLog]
    ) -> AsyncGenerator[list[IndexedWorkbench], None]:
        """Yield the rows of open workbenches, with `MAX_RUN_ROWS` rows of runs at a time or so."""
        await run_sync(measure_folders, changed)
        fresh = [each for each in changed if not each.is_compared]
        if fresh:
            ids = [each.workbench.id for each in fresh]
            ends = await self._call(lambda index: index.closed_ends(ids))
            for each in fresh:
                # Another log than its rows are of, or one that went on without them.
                if ends.get(each.workbench.id) != each.opened_at and each.change is not None:
                    each.change.note_all()
                each.is_compared = True
        rows: list[IndexedWorkbench] = []
        for each in changed:
            async with aclosing(self._rows(each)) as parts:
                async for part in parts:
                    rows.append(part)
                    if len(part.runs) >= MAX_RUN_ROWS:
                        yield rows
                        rows = []
        if rows:
            yield rows

    async def _rows(self, indexed: IndexedLog) -> AsyncGenerator[IndexedWorkbench, None]:
        """Yield the row of an open workbench as it is now, with some of the rows of its runs each.

        Nothing if it was deleted.
        """
        workbench, change = indexed.workbench, indexed.change
        known = self._known(workbench.id)
        if known is None or change is None:
            return
        # Before the runs are looked at: what is recorded meanwhile is for the next time.
        indexed.change = None
        state = workbench.state
        damage = workbench.damage.message if workbench.damage is not None else ""
        is_whole, numbers = change.is_whole, change.numbers(state)
        row = indexed_workbench(known, state, damage, indexed.sizes, ())
        runs: list[IndexedRun] = []
        for count, number in enumerate(numbers, 1):
            runs.append(indexed_run(state.name, state, state.run(number), damage))
            if not count % _BATCH:
                await anyio.lowlevel.checkpoint()
            if len(runs) == MAX_RUN_ROWS:
                yield msgspec.structs.replace(row, runs=tuple(runs), is_whole=is_whole)
                # The rows of others are gone by now, if they were to go.
                is_whole, runs = False, []
        yield msgspec.structs.replace(row, runs=tuple(runs), is_whole=is_whole)

    async def _read_closed(self) -> None:
        """Read the logs without rows, and those that their rows are not of; again each hour."""
        is_checked = False
        while True:
            rings = self._stale.rings
            marks: dict[WorkbenchId, bytes] = {}
            with _logged():
                async with self._lock:
                    await self._flush()
                    marks = await self._call(lambda index: index.marks())
            unread = self._unread(marks)
            # Some may have been opened since they were counted.
            self._left = len(unread) or int(self._are_watches_lost)
            self._read.ring()
            if self._left:
                wait_s = REREAD_S if await self._read_logs(unread) else RETRY_S
            elif not is_checked:
                is_checked, wait_s = True, REREAD_S
                if self._index is None or await run_sync(self._index.is_sound):
                    await self._read_logs(await self._find_drift(marks))
                else:
                    async with self._lock:
                        await self._replace("the file is damaged")
            else:
                is_checked, wait_s = False, CHECK_S
            with anyio.move_on_after(wait_s):
                await self._stale.wait(rings)

    async def _find_drift(self, marks: dict[WorkbenchId, bytes]) -> list[WorkbenchId]:
        """Return the closed logs whose fingerprint is not the one in the index."""
        found: list[WorkbenchId] = []
        closed = [each for each in marks if each not in self._open]
        for start in range(0, len(closed), _BATCH):
            ids = closed[start : start + _BATCH]
            known = [there for each in ids if (there := self._known(each)) is not None]
            seen = await run_sync(_closed_marks, self._home, known)
            found += [
                each.workbench_id
                for each, mark in zip(known, seen, strict=True)
                if mark != marks[each.workbench_id]
            ]
        return found

    async def _read_logs(self, ids: Sequence[WorkbenchId]) -> bool:
        """Read closed logs and write their rows as they come; return whether all were read."""
        wanted = [known for each in ids if (known := self._known(each)) is not None]
        if not wanted and not self._are_watches_lost:
            return True
        # One that is open has its row from its own state, and so has one that is opened meanwhile.
        self._taken_up = set(self._open)
        self._left = len(wanted) or 1
        try:
            return await read_closed_logs(self._home, wanted, self._assign, self._put_read)
        except KbdError as error:
            _log.warning("index_not_written", fault=error.message)
            return False
        finally:
            self._left = 0
            self._read.ring()

    async def _assign(self, watches: dict[WorkbenchId, WatchId]) -> None:
        async with self._lock:
            await self._call(lambda index: index.assign(watches))
        self._are_watches_lost = False

    async def _put_read(self, found: Sequence[IndexedWorkbench]) -> None:
        async with self._lock:
            rows = [
                row
                for row in found
                if self._known(row.workbench_id) is not None
                and row.workbench_id not in self._taken_up
            ]
            await self._call(lambda index: index.put(rows))
        self._left -= len(found)
        self._read.ring()
        for row in rows:
            self._announce(row.workbench_id)


@contextmanager
def _logged() -> Iterator[None]:
    """Log that the index cannot be written: nothing but lists depends on it."""
    try:
        yield
    except KbdError as error:
        _log.warning("index_not_written", fault=error.message)


def _closed_marks(home: Home, known: Sequence[KnownWorkbench]) -> list[bytes]:
    return [closed_mark(home, each) for each in known]
