"""Archives of workbenches: those that nobody uses are packed, and unpacked when they are asked for.

An archive is made while its workbench is closed, beside the folder. It counts from the moment that
the daemon's log says so; then the folder goes. Whoever asks for the workbench has it unpacked, in
the opposite order. Who only reads its log reads that out of the archive.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Protocol

import anyio
from anyio import CapacityLimiter
from anyio.from_thread import check_cancelled
from anyio.to_thread import run_sync

from kbd.core.domain.approval_decisions import pending_approvals
from kbd.core.domain.daemon_decisions import (
    ArchiveWorkbench,
    DaemonCommand,
    DeleteWorkbench,
    UnarchiveWorkbench,
)
from kbd.core.domain.daemon_state import ArchivedCopy, DaemonState
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.sessions.recovery import translate_disk_errors
from kbd.core.store.archive_file import PackedFolder, stamps_of
from kbd.core.store.archive_shelf import ArchiveShelf, Kept
from kbd.core.store.keeper import Keeper
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.base import Actor
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK, Disk
from kbd.events.verification import verify_log
from kbd.types import BlobHash, FileName, WorkbenchId

__all__ = ["WorkbenchArchives", "check_archivable"]

_USED = "the workbench was used meanwhile: it is not archived"

_log = get_logger(__name__)


class _UnpackedLog:
    """The log of an archive, unpacked for those who read it."""

    def __init__(self, folders: WorkbenchFolders) -> None:
        self.folders, self.readers = folders, 0


KEPT_UNPACKED = 4
"""How many logs of archives stay unpacked when nobody reads them: a log is read in many pages."""

SHUT_TRIES, SHUT_TRY_S = 100, 0.05
"""How often it is looked whether one that is to be packed is done with what follows its opening, as
receipts, and how long after each other."""


class _Workbenches(Protocol):
    """The registry of workbenches: `kbd.core.sessions.workbenches.Workbenches`."""

    async def open(self, workbench_id: str) -> OpenWorkbench:
        """Return a workbench, opened and recovered if it is not yet."""

    def openings(self, workbench_id: WorkbenchId) -> int:
        """Return how often a workbench was opened, or somebody had it alone."""

    def alone(
        self, workbench_id: str, holds: int = 0, idle_s: float | None = None
    ) -> AbstractAsyncContextManager[WorkbenchFolders]:
        """Have a workbench to oneself while inside, closed."""


def check_archivable(state: WorkbenchState) -> None:
    """Check that nothing in a workbench is under way, or waits for a person.

    Raises:
        ValidationFailed: Something is.
    """
    for holds, reason in (
        (state.active_run() is not None, "a run is under way in this workbench"),
        (state.draft is not None, "a draft is open in this workbench"),
        (state.publish is not None or bool(state.effects), "this workbench is writing files"),
        (any(pending_approvals(state)), "a decision waits for a person in this workbench"),
    ):
        if holds:
            raise ValidationFailed(f"{reason}: it is not archived")


class WorkbenchArchives:
    """The archives of a home, and the way of workbenches into and out of them.

    Args:
        home: The home.
        daemon: The Keeper of the daemon's own log.
        workbenches: The registry of workbenches.
        disk: What writes.
    """

    def __init__(
        self,
        home: Home,
        daemon: Keeper[DaemonState, DaemonCommand],
        workbenches: _Workbenches,
        disk: Disk = DISK,
    ) -> None:
        self._daemon, self._workbenches = daemon, workbenches
        self._shelf = ArchiveShelf(home, disk)
        self._unpacking, self._unpacked = anyio.Lock(), dict[str, _UnpackedLog]()
        # One at a time: packing takes a processor, and nobody waits for it.
        self._packing = CapacityLimiter(1)

    def archived(self, workbench_id: WorkbenchId) -> ArchivedCopy | None:
        """Return the archive that a workbench is packed in, by the daemon's log."""
        known = self._daemon.state.workbenches.get(workbench_id)
        return known.archive if known is not None else None

    async def archive(
        self,
        workbench_id: WorkbenchId,
        reason: str,
        actor: Actor | None = None,
        check: Callable[[WorkbenchState], None] = check_archivable,
    ) -> ArchivedCopy:
        """Pack a workbench into an archive; its folder goes.

        Args:
            workbench_id: Which.
            reason: Why, for the daemon's log.
            actor: The client that asks, if one does.
            check: Raises ValidationFailed if its state is against it.

        Raises:
            NotFound: There is no such workbench.
            ValidationFailed: It is archived, in use, or something in it waits; nothing changed.
            KbdError: It is damaged, or the archive cannot be written; nothing changed.
        """
        if self.archived(workbench_id) is not None:
            raise ValidationFailed("that workbench is archived")
        folders, state = await self._close(workbench_id, check)
        openings = self._workbenches.openings(workbench_id)
        shown = {name: entry.blob for name, entry in state.files.items()}
        pack = partial(self._pack, folders, shown)
        try:
            # Not under its lock: who asks for it meanwhile gets it, and it is not archived.
            packed = await run_sync(pack, limiter=self._packing)
            async with self._workbenches.alone(workbench_id):
                # Once more by this.
                is_unused = self._workbenches.openings(workbench_id) == openings + 1
                if not is_unused or not await run_sync(_is_as_packed, folders, packed):
                    raise ValidationFailed(_USED, retryable=True)
                command = ArchiveWorkbench(
                    workbench_id, packed.sha256, packed.size_bytes, state.seq, reason
                )
                # Whoever goes away must not leave it between its folder and its archive.
                with anyio.CancelScope(shield=True):
                    await self._daemon.submit(command, actor)
                    await self._settle(workbench_id)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._settle(workbench_id)
            raise
        copy = self.archived(workbench_id)
        if copy is None:
            raise NotFound(f"there is no workbench {workbench_id}")
        return copy

    async def _close(
        self, workbench_id: WorkbenchId, check: Callable[[WorkbenchState], None]
    ) -> tuple[WorkbenchFolders, WorkbenchState]:
        """Open a workbench, close it once nobody uses it; return its state at its end.

        Raises:
            ValidationFailed: Somebody uses it, or its state is against it.
            KbdError: It cannot be opened, or is damaged.
        """
        bench = await self._workbenches.open(workbench_id)
        if bench.damage is not None:
            raise bench.damage.with_traceback(None)
        check_archivable(bench.state)
        openings = self._workbenches.openings(workbench_id)
        for left in reversed(range(SHUT_TRIES)):
            async with AsyncExitStack() as stack:
                alone = self._workbenches.alone(workbench_id, idle_s=0)
                try:
                    folders = await stack.enter_async_context(alone)
                except ValidationFailed as error:
                    if not error.retryable or not left:
                        raise
                else:
                    if self._workbenches.openings(workbench_id) != openings + 1:
                        raise ValidationFailed(_USED, retryable=True)
                    check_archivable(bench.state)
                    check(bench.state)
                    return folders, bench.state
            await anyio.sleep(SHUT_TRY_S)
        raise AssertionError("the last try returns or raises")

    async def unpack(
        self, workbench_id: WorkbenchId, reason: str, actor: Actor | None = None
    ) -> None:
        """Unpack a workbench from its archive, which goes; the caller holds its lock.

        Raises:
            ValidationFailed: It is not archived.
            KbdError: The archive is damaged, or there is no space for what is in it; it is as it
                was.
        """
        copy = self._check_archived(workbench_id)
        with anyio.CancelScope(shield=True):
            try:
                # One whose removal a full disk cut off is in the stage still.
                await self._settle(workbench_id)
                with translate_disk_errors():
                    await run_sync(self._shelf.unpack, workbench_id, copy)
                await self._daemon.submit(UnarchiveWorkbench(workbench_id, reason), actor)
            finally:
                await self._settle(workbench_id)

    async def unarchive(
        self, workbench_id: WorkbenchId, reason: str, actor: Actor | None = None
    ) -> None:
        """Unpack a workbench from its archive, which goes.

        Raises:
            NotFound: There is no such workbench.
            ValidationFailed: It is not archived.
            KbdError: As for `unpack`.
        """
        self._check_archived(workbench_id)
        async with self._workbenches.alone(workbench_id):
            await self.unpack(workbench_id, reason, actor)

    async def remove(
        self, workbench_id: WorkbenchId, reason: str = "", actor: Actor | None = None
    ) -> None:
        """Remove an archive, and with it the workbench.

        Args:
            workbench_id: Which.
            reason: By which rule; "" where a person deletes it.
            actor: The client that asks, if one does.

        Raises:
            ValidationFailed: It is not archived.
            KbdError: It cannot be removed.
        """
        self._check_archived(workbench_id)
        async with self._workbenches.alone(workbench_id):
            self._check_archived(workbench_id)
            with anyio.CancelScope(shield=True), translate_disk_errors():
                try:
                    await run_sync(self._shelf.set_aside, workbench_id)
                    await self._daemon.submit(DeleteWorkbench(workbench_id, reason), actor)
                finally:
                    await self._settle(workbench_id)

    @asynccontextmanager
    async def reading(self, workbench_id: WorkbenchId) -> AsyncIterator[WorkbenchFolders]:
        """Unpack the log of an archived workbench, which stays archived, while inside.

        Yields:
            Folders of which `log` and `snap` are there.

        Raises:
            ValidationFailed: It is not archived.
            KbdError: The archive is damaged, or there is no space for its log.
        """
        copy = self._check_archived(workbench_id)
        async with self._unpacking:
            unpacked = self._unpacked.pop(copy.sha256, None)
            if unpacked is None:
                with translate_disk_errors():
                    folder = await run_sync(self._shelf.unpack_log, workbench_id, copy)
                unpacked = _UnpackedLog(WorkbenchFolders(workbench_id, folder))
            # The newest come last.
            self._unpacked[copy.sha256] = unpacked
            unpacked.readers += 1
        try:
            yield unpacked.folders
        finally:
            unpacked.readers -= 1
            with anyio.CancelScope(shield=True):
                await self._forget_unpacked()

    def _check_archived(self, workbench_id: WorkbenchId) -> ArchivedCopy:
        known = self._daemon.state.workbenches.get(workbench_id)
        if known is None:
            raise NotFound(f"there is no workbench {workbench_id}")
        if known.archive is None:
            raise ValidationFailed("that workbench is not archived")
        return known.archive

    async def _forget_unpacked(self) -> None:
        """Remove the logs that were unpacked longest ago, and that nobody reads."""
        idle = [sha256 for sha256, each in self._unpacked.items() if not each.readers]
        for sha256 in idle[: max(0, len(self._unpacked) - KEPT_UNPACKED)]:
            await run_sync(remove_tree, self._unpacked.pop(sha256).folders.root)

    async def recover(self) -> None:
        """Finish what a daemon that died had begun; not while the daemon's log is damaged."""
        await run_sync(self._shelf.clear_reading)
        for workbench_id in await run_sync(self._shelf.unsettled):
            await self._settle(workbench_id)

    async def _settle(self, workbench_id: WorkbenchId) -> None:
        known = self._daemon.state.workbenches.get(workbench_id)
        kept = Kept.GONE if known is None else Kept.ARCHIVE if known.archive else Kept.FOLDER
        try:
            with translate_disk_errors():
                await run_sync(self._shelf.settle, workbench_id, kept)
        except KbdError as error:
            # What the log says is true all the same; whoever asks for it, or the next start, does
            # the rest.
            _log.warning("archive_unsettled", workbench=workbench_id, error=error.message)

    def _pack(self, folders: WorkbenchFolders, shown: Mapping[FileName, BlobHash]) -> PackedFolder:
        """Verify a workbench's log and blobs, and pack its folder. Blocks.

        Raises:
            ValidationFailed: Something in it is damaged: it stays as it is.
        """
        with translate_disk_errors():
            fault = verify_log(
                folders.log, BlobStore(folders.blobs), lambda _: check_cancelled()
            ).fault
            if fault is not None:
                raise ValidationFailed(f"the workbench is damaged ({fault.reason}): not archived")
            return self._shelf.pack(folders.id, shown, check_cancelled)


def _is_as_packed(folders: WorkbenchFolders, packed: PackedFolder) -> bool:
    with translate_disk_errors():
        return stamps_of(folders.root) == packed.stamps
