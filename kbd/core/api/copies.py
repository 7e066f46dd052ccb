"""Methods of copies to keep: write a backup while work goes on, export a run as a case file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, from_thread
from anyio.from_thread import check_cancelled
from anyio.to_thread import run_sync

from kbd.core.audit.backup import Backup
from kbd.core.audit.case_file import CaseRequest, WrittenCase, export_case
from kbd.core.audit.whole_paths import check_target
from kbd.core.domain.daemon_state import ArchivedCopy, DaemonState, KnownWorkbench
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.paths import Home
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.watch.watcher import Watcher
from kbd.core.workbench.extraction import record_planned_writes
from kbd.errors import FileReadFailed, FileWriteFailed, LogCorrupt, NotFound
from kbd.events.base import FileVersion
from kbd.events.codec import format_time
from kbd.requests import copies as wire
from kbd.requests.base import Request
from kbd.types import BlobHash, FileName, WatchId, WorkbenchId

__all__ = ["BackupMethods", "CaseMethods"]

T = TypeVar("T")

ROUNDS = 5
"""How often it is begun anew because a workbench was deleted, packed or unpacked meanwhile. What is
copied stays, so each round is far shorter than the one before."""


class BackupMethods:
    """Handler of backups: one at a time, so that nobody else waits for their disk."""

    def __init__(self, context: ApiContext, workbenches: Workbenches, watcher: Watcher) -> None:
        self._context, self._workbenches, self._watcher = context, workbenches, watcher
        self._turn, self._thread = anyio.Lock(), CapacityLimiter(1)

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.BackupCreate: self.create}

    async def create(self, request: wire.BackupCreate, session: Session) -> wire.BackupCreated:
        """Copy all logs and file versions to a new folder."""
        del session
        async with self._turn:
            backup = await self._do(
                partial(Backup, self._context.home, Path(request.target), check_cancelled)
            )
            try:
                created_at = await self._take_all(backup)
                # Nobody who writes waits while this syncs (reliability, 2.8).
                inventory, size_bytes = await self._do(partial(backup.finish, created_at))
            finally:
                with CancelScope(shield=True):
                    await self._do(backup.close)
        return wire.BackupCreated(
            target=request.target,
            size_bytes=size_bytes,
            logs=tuple(
                wire.LogCopied(
                    workbench_id=log.workbench_id,
                    name=log.name,
                    seq=log.seq,
                    head=log.head,
                    blobs=log.blobs,
                )
                for log in inventory.logs
            ),
            left_out=inventory.left_out,
            archives=tuple(
                wire.ArchiveCopied(
                    workbench_id=WorkbenchId(each.workbench_id),
                    name=each.name,
                    seq=each.seq,
                    size_bytes=each.size_bytes,
                    sha256=each.sha256,
                )
                for each in inventory.archives
                if not each.damage
            ),
            damaged=sum(bool(log.damage) for log in inventory.logs)
            + sum(bool(each.damage) for each in inventory.archives),
        )

    async def _do(self, work: Callable[[], T]) -> T:
        return await run_sync(work, limiter=self._thread)

    async def _take_all(self, backup: Backup) -> str:
        """Copy the daemon's log, then all workbenches that it knows; return the backup's time.

        Raises:
            FileReadFailed: In each round one was deleted, packed or unpacked before it was copied.
        """
        daemon = self._workbenches.daemon
        taken: dict[WorkbenchId, int | ArchivedCopy] = {}
        for _ in range(ROUNDS):
            async with self._watcher.hold_copies():
                # At one moment: nothing is waited for between these.
                seq, known = daemon.state.seq, dict(daemon.state.workbenches)
                now_us, landed = self._context.clock.now_us(), _landed_copies(daemon.state)
                fault = daemon.journal.log.damage
                if fault is not None:
                    # Which of them are done the log cannot say.
                    landed = await run_sync(_all_copies, self._context.home)
                damage = fault.message if fault is not None else ""
                await self._do(partial(backup.take_daemon, seq, landed, damage))
            # Copied in an earlier round, but the daemon's log as copied now does not know it.
            for gone in taken.keys() - known.keys():
                await self._do(partial(backup.drop, gone))
                del taken[gone]
            is_whole = True
            for each in known.values():
                if each.archive is not None:
                    is_whole &= await self._take_archive(backup, each, each.archive, taken)
                else:
                    is_whole &= await self._take(backup, each, taken)
            # One that was created meanwhile does not matter: the copied log does not know it. One
            # that was deleted is named there and may lie in the backup by half.
            if is_whole and known.keys() <= daemon.state.workbenches.keys():
                return format_time(now_us)
        msg = f"workbenches came or went while they were copied, {ROUNDS} times over; try it again"
        raise FileReadFailed(msg, retryable=True)

    async def _take_archive(
        self,
        backup: Backup,
        known: KnownWorkbench,
        copy: ArchivedCopy,
        taken: dict[WorkbenchId, int | ArchivedCopy],
    ) -> bool:
        """Copy the archive of a workbench; return whether it is what the copied log says.

        It is not if it is unpacked or deleted meanwhile: it is left for the next round.
        """
        workbench_id = known.workbench_id
        if taken.get(workbench_id) == copy:
            return True
        # An earlier round may have copied its folder.
        await self._do(partial(backup.drop, workbench_id))
        taken.pop(workbench_id, None)
        # Whoever packs it now is waited for: its file gets its name after the event.
        await self._workbenches.end_of(workbench_id)
        try:
            await self._do(partial(backup.take_archive, workbench_id, known.name, copy))
        except FileNotFoundError:
            await self._do(partial(backup.miss_archive, workbench_id, known.name, copy))
        if not self._is_as_known(known):
            await self._do(partial(backup.drop, workbench_id))
            return False
        taken[workbench_id] = copy
        return True

    def _is_as_known(self, known: KnownWorkbench) -> bool:
        """Return whether a workbench was neither packed nor unpacked nor deleted since."""
        now = self._workbenches.daemon.state.workbenches.get(known.workbench_id)
        return now is not None and (now.archive, now.unarchived_at_us) == (
            known.archive,
            known.unarchived_at_us,
        )

    async def _take(
        self, backup: Backup, known: KnownWorkbench, taken: dict[WorkbenchId, int | ArchivedCopy]
    ) -> bool:
        """Copy a workbench; one that is deleted or packed meanwhile is left for the next round.

        Args:
            backup: Where it goes.
            known: The workbench.
            taken: Those that were taken while they were closed, each with how often they had been
                opened by then: one that was not opened since is as it was.

        Returns:
            Whether it is in the backup.
        """
        workbench_id, workbenches = known.workbench_id, self._workbenches
        # Held, so that no blob is collected between the copy of the log and that of the blobs.
        with workbenches.held(workbench_id):
            return await self._take_held(backup, known, taken)

    async def _take_held(
        self, backup: Backup, known: KnownWorkbench, taken: dict[WorkbenchId, int | ArchivedCopy]
    ) -> bool:
        workbench_id, workbenches = known.workbench_id, self._workbenches
        if isinstance(taken.get(workbench_id), ArchivedCopy):
            # An earlier round has copied its archive.
            await self._do(partial(backup.drop, workbench_id))
            del taken[workbench_id]
        while True:
            # Read before the end is, so that an opening in between is noticed below.
            openings = workbenches.openings(workbench_id)
            until = await workbenches.end_of(workbench_id)
            if until is None and taken.get(workbench_id) == openings:
                return True
            opened = workbenches.opened(workbench_id)
            damage = opened.damage if opened is not None else None
            try:
                if damage is not None:
                    # One error is raised for everybody who asks; its traceback would grow each
                    # time.
                    raise damage.with_traceback(None)
                await self._do(partial(backup.take, workbench_id, known.name, until))
            except (LogCorrupt, NotFound, FileNotFoundError) as error:
                if not self._is_as_known(known):
                    await self._do(partial(backup.drop, workbench_id))
                    return False
                await self._take_as_it_is(backup, known, error)
            # Packed meanwhile: file versions that went with its folder were copied as missing.
            if not self._is_as_known(known):
                await self._do(partial(backup.drop, workbench_id))
                return False
            # Somebody who opened it meanwhile may have written what was not durable yet.
            if until is not None or workbenches.openings(workbench_id) == openings:
                # No count of openings is -1: what was copied while open is copied again in the next
                # round.
                taken[workbench_id] = openings if until is None else -1
                return True

    async def _take_as_it_is(
        self, backup: Backup, known: KnownWorkbench, error: LogCorrupt | NotFound | OSError
    ) -> None:
        """Copy a workbench whose log is damaged or missing."""
        workbench_id, name = known.workbench_id, known.name
        reason = error.strerror if isinstance(error, OSError) else error.message
        try:
            if await self._do(self._context.home.workbench(workbench_id).exists):
                raw = partial(backup.take_raw, workbench_id, name, reason or "a file is missing")
                await self._do(raw)
            else:
                await self._do(partial(backup.pass_over, workbench_id, name))
        except FileNotFoundError:
            await self._do(partial(backup.drop, workbench_id))
            if self._is_as_known(known):
                msg = "a file of a workbench went away while it was copied"
                raise FileWriteFailed(msg, retryable=True) from None


def _landed_copies(state: DaemonState) -> dict[WatchId, dict[BlobHash, str]]:
    """Return the copies of what landed and is not done, by watch, each with its path."""
    return {
        watch.watch_id: {
            BlobHash(landing.sha256): landing.path
            for landing in watch.landings.values()
            if landing.sha256
        }
        for watch in state.watching.watches.values()
    }


_HASH_DIGITS = 64


def _all_copies(home: Home) -> dict[WatchId, dict[BlobHash, str]]:
    """Return all copies of what landed, by watch, each with its path in the home. Blocks."""
    found: dict[WatchId, dict[BlobHash, str]] = {}
    for path in sorted(home.landings.glob("*/??/*")):
        folder, name = path.parent.parent.name, path.name
        if len(name) == _HASH_DIGITS and name.startswith(path.parent.name):
            found.setdefault(WatchId(folder), {})[BlobHash(name)] = f"landed/{folder}/{name[:12]}…"
    return found


MAX_CONCURRENT_EXPORTS = 4
"""How many case files are written at a time; more wait for their turn."""


class CaseMethods:
    """Handler of case files: exports runs."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches
        # Threads of their own: the disk that is written to may hang for ever.
        self._threads = CapacityLimiter(MAX_CONCURRENT_EXPORTS)

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.RunExport: self.export}

    async def export(self, request: wire.RunExport, session: Session) -> wire.RunExported:
        """Write a case file; nothing is recorded in the run's log.

        Raises:
            NotFound: There is no such run.
            LogCorrupt: Its log, or a blob that it names, is damaged.
            KbdError: The file cannot be written.
        """
        workbench_id, _, number = request.run_id.partition("-")
        workbench = await self._workbenches.open(workbench_id)
        with self._workbenches.held(workbench.id):
            if workbench.damage is not None:
                raise LogCorrupt(workbench.damage.message, detail=workbench.damage.detail)
            try:
                run = workbench.state.run(int(number))
            except IndexError:
                msg = f"there is no run {request.run_id}"
                raise NotFound(msg) from None
            wanted = CaseRequest(
                folders=workbench.folders,
                number=run.number,
                end=workbench.keeper.journal.log.end,
                is_active=run.status is RunStatus.RUNNING,
            )
            thread = partial(run_sync, limiter=self._threads, abandon_on_cancel=True)
            target = await thread(check_target, request.target, self._context.home.folder)

            def announce(written: WrittenCase) -> None:
                """Record the planned write, so that no watch of the folder takes it."""
                file = FileVersion(
                    FileName(target.name), BlobHash(written.sha256), written.size_bytes
                )
                daemon = self._workbenches.daemon
                record = partial(record_planned_writes, actor=session.actor)
                from_thread.run(record, daemon, str(target.parent), (file,))

            made = await thread(export_case, wanted, target, announce)
        return wire.RunExported(
            run_id=request.run_id,
            target=str(target),
            size_bytes=made.size_bytes,
            seq=made.seq,
            head=made.head,
            blobs=made.blobs,
        )
