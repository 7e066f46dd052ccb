"""Inbox of one watched folder: copies what lands whole, and records it in the daemon's log once.

Hints and scans find files that look otherwise than the log says; each settles, is copied, and is
recorded. Nothing is kept between two starts but the log: a scan at the start finds what is missing
there. Failures of the folder or the disk are shown in the health, and tried again.
"""

import threading
from collections.abc import Callable
from typing import Literal, TypeVar

import anyio
import msgspec
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import PassOverFiles, RecordLanding
from kbd.core.domain.watch_state import Watch, WatchStatus
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.runtime.restarts import MAX_PAUSE_S, must_stop
from kbd.core.runtime.settings import WatchSettings
from kbd.core.store.keeper import Keeper
from kbd.core.watch.hints import ChangeHints
from kbd.core.watch.ingest import LandedCopies, Unsettled
from kbd.core.watch.retry import submit_with_retry
from kbd.core.watch.scanner import Scanner, ScanResult, SeenFiles, SettlingFiles, topmost_paths
from kbd.core.watch.tree import FolderEntry
from kbd.errors import (
    DiskFull,
    KbdError,
    NotFound,
    OutOfMemory,
    QuotaReached,
    TooManyOpenFiles,
    TooManyProcesses,
)
from kbd.events.blobs import BlobStore
from kbd.events.disk import LogPoisoned
from kbd.events.watches import FileLanded
from kbd.types import WatchId

__all__ = ["Health", "Inbox"]

_IDENTITY_CHECK_S = 2.0
"""So often it is looked whether the folder is still the same one: nothing tells of that."""

_SCAN_PAUSE_FACTOR = 10
"""Between two scans at least so many times the time of one: a huge folder on a slow disk."""

_NOTE_BATCH = 500
"""Of what a scan found so much is noted before others have a turn: about a millisecond."""

_MAX_CONCURRENT_COPIES = 4
"""Copies at the same time: their syncs are done together by the disk."""

_INGEST_BATCH = 64
"""Files that are brought in before hints are looked at again; their records make one frame."""

_TRIES = 5
"""A file that cannot be read for a reason that may pass is recorded as failed after so many."""

_SHORTAGES = (DiskFull, QuotaReached, OutOfMemory, TooManyOpenFiles, TooManyProcesses)
"""What a file waits for as long as it takes: it says nothing of the file."""

_SHORTAGE_RETRY_S = 10.0
"""A full disk, a quota, and whatever else has run out, is tried again after this."""

_log = get_logger(__name__)

T = TypeVar("T")


class Health(msgspec.Struct, frozen=True):
    """Health of a watched folder: how its changes are noticed.

    Args:
        hints: "system" if changes are told, "scan" if the folder is looked through again and
            again, "missing" if it cannot be looked at.
        reason: Why it is not as it should be, or "".
        settling: How many files are not whole yet.
    """

    hints: Literal["system", "scan", "missing"]
    reason: str
    settling: int


class Inbox:
    """Finds, copies and records what lands in one watched folder.

    Args:
        watch_id: Which.
        keeper: The Keeper of the daemon's log.
        copies: Where copies of what landed go.
        settings: How it is looked at.
        file_bytes: The largest file that is taken.
        check_room: Raises a KbdError while no more may be taken in; called in threads.
    """

    def __init__(
        self,
        watch_id: WatchId,
        keeper: Keeper[DaemonState, DaemonCommand],
        copies: LandedCopies,
        settings: WatchSettings,
        file_bytes: int,
        check_room: Callable[[], None] = lambda: None,
    ) -> None:
        rule = keeper.state.watching.watches[watch_id].rule
        self._watch_id, self._keeper, self._copies = watch_id, keeper, copies
        self._settings, self._check_room = settings, check_room
        self._quiet_s, self._known = rule.quiet_s, SeenFiles()
        self._scanner = Scanner(watch_id, rule, self._known, file_bytes)
        self._settling = SettlingFiles(rule.quiet_s)
        self._hints = ChangeHints(rule.folder, self._note_changes)
        # What is new: at these places; anywhere, if `_all_is_new`.
        self._news: set[str] = set()
        self._all_is_new = True
        self._wakeup = Notifier()
        # Threads of its own: a folder on a disk that hangs takes none from other folders.
        self._scan_thread, self._copy_threads = (
            CapacityLimiter(1),
            CapacityLimiter(_MAX_CONCURRENT_COPIES),
        )
        self._identity: tuple[int, int] | None = None
        # Why the folder, folders below it, or files cannot be looked at or kept.
        self._missing, self._unread, self._short = "", "", ""
        self._short_until_s = self._scan_at_s = self._landed_s = 0.0
        self._is_busy = False

    async def run(self) -> None:
        """Run the inbox until the watch is removed; cancel it to stop.

        Raises:
            LogPoisoned: The disk failed (in a group).
        """
        self._landed_s = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._hints.run)
            while (watch := self._watch()) is not None:
                # Read before looking: what is heard meanwhile rings, and the wait returns at once.
                rings = self._wakeup.rings
                if await self._check_folder():
                    await self._scan(watch)
                    await self._ingest_due(watch)
                await self._wait(rings)
            tasks.cancel_scope.cancel()

    def health(self) -> Health:
        """Return the health of the folder now."""
        if self._missing:
            return Health("missing", self._missing, 0)
        hints = self._hints
        reason = self._short or self._unread or hints.reason
        return Health("system" if hints.is_listening else "scan", reason, len(self._settling))

    def is_quiet(self) -> bool:
        """Return whether nothing settles, and nothing landed for the rule's quiet time.

        A file that somebody holds open for writing without writing does not count.
        """
        # From a folder that is not there nothing comes: what waits does not wait for it.
        news = not self._missing and (self._all_is_new or bool(self._news))
        return not self._is_busy and not news and self.quiet_at_s <= anyio.current_time()

    @property
    def quiet_at_s(self) -> float:
        """When it will be quiet if nothing more happens, on the event loop's clock."""
        due_s = self._settling.last_s
        return (self._landed_s if due_s is None else due_s) + self._quiet_s

    def rescan(self) -> None:
        """Scan the whole folder now."""
        self._note_changes(None)

    def _watch(self) -> Watch | None:
        watch = self._keeper.state.watching.watches.get(self._watch_id)
        return None if watch is None or watch.status is WatchStatus.REMOVED else watch

    def _note_changes(self, places: tuple[str, ...] | None) -> None:
        """Note where something is new; wakes the inbox."""
        if places is None:
            self._all_is_new = True
        else:
            self._news.update(places)
        self._wakeup.ring()

    async def _check_folder(self) -> bool:
        """Return whether the folder is there, and note if it is another one than before."""
        try:
            identity = await self._in_thread(self._scan_thread, self._scanner.identity)
        except KbdError as error:
            if not self._missing:
                _log.warning("watch_folder_missing", watch=self._watch_id, reason=error.message)
            self._missing, self._identity = error.message, None
            self._settling.clear()
            return False
        # A listener goes deaf without an error when its root is removed and made again.
        if self._missing or self._identity not in (None, identity):
            self._hints.restart()
        if identity != self._identity:
            self._identity, self._all_is_new = identity, True
        self._missing = ""
        return True

    async def _scan(self, watch: Watch) -> None:
        """Scan what hints named, or all if it is time."""
        now_s = anyio.current_time()
        places: list[str] | None = None
        if not self._all_is_new and now_s < self._scan_at_s:
            if not self._news:
                return
            places = list(topmost_paths(self._news))
        # Cleared before the scan: what is heard while it runs is scanned once more.
        self._news.clear()
        self._is_busy, self._all_is_new = True, False
        try:
            stop = threading.Event()
            try:
                survey = await self._in_thread(
                    self._scan_thread, self._scanner.scan, watch, places, stop
                )
            finally:
                stop.set()  # The thread may be left behind, and must not go on for long.
        except KbdError:
            self._all_is_new = True  # Gone in this moment: the next look at the root says more.
            return
        finally:
            self._is_busy = False
        if places is None:
            self._note_scan(survey, anyio.current_time() - now_s)
        now_s = anyio.current_time()
        for count, found in enumerate(survey.fresh, 1):
            self._settling.update(found, now_s)
            if count % _NOTE_BATCH == 0:
                await anyio.lowlevel.checkpoint()

    def _note_scan(self, survey: ScanResult, took_s: float) -> None:
        settings = self._settings
        every_s = settings.rescan_s if self._hints.is_listening else settings.poll_s
        self._scan_at_s = anyio.current_time() + max(every_s, _SCAN_PAUSE_FACTOR * took_s)
        if survey.remembered is not None:
            # Only after a scan that read every folder: what could not be read is not gone.
            self._known.retain(survey.remembered)
        trouble = ""
        if survey.unread:
            path, why = next(iter(survey.unread.items()))
            more = f", and {len(survey.unread) - 1} more" if len(survey.unread) > 1 else ""
            trouble = f"{path or 'the folder'} cannot be read: {why}{more}"
        if trouble and trouble != self._unread:
            _log.warning("watch_folder_unread", watch=self._watch_id, reason=trouble)
        self._unread = trouble

    async def _ingest_due(self, watch: Watch) -> None:
        """Ingest files that are whole, some at once; each is recorded, postponed or forgotten."""
        now_s = anyio.current_time()
        if now_s < self._short_until_s:
            return
        due = self._settling.due(now_s, _INGEST_BATCH)
        if not due:
            return
        self._is_busy = True
        try:
            async with anyio.create_task_group() as tasks:
                for found in due:
                    tasks.start_soon(self._ingest, watch, found)
        finally:
            self._is_busy = False

    async def _ingest(self, watch: Watch, found: FolderEntry) -> None:
        # Held until the landing is recorded: before that nothing names the copy.
        async with self._copies.copying() as store:
            try:
                finding = await self._in_thread(
                    self._copy_threads, self._examine, watch, found, store
                )
            except (Unsettled, NotFound):
                self._postpone(found, self._quiet_s)
                return
            except _SHORTAGES as error:
                _log.error("watch_shortage", watch=self._watch_id, reason=error.message)
                self._short = error.message
                self._short_until_s = anyio.current_time() + _SHORTAGE_RETRY_S
                self._postpone(found, _SHORTAGE_RETRY_S)
                return
            # The store's disk failed: nothing may be tried again (reliability, R11).
            except LogPoisoned:
                raise
            except KbdError as error:
                if error.retryable and self._postpone(found, self._quiet_s) <= _TRIES:
                    return
                finding = self._scanner.failed(found, error)
            except Exception as fault:
                if must_stop(fault):
                    raise
                # A fault of ours with one file must not keep all others from landing.
                _log.error("watch_file_failed_inside", watch=self._watch_id, exc_info=fault)
                self._postpone(found, MAX_PAUSE_S)
                return
            self._short = ""
            await self._record_finding(found, finding)

    def _examine(
        self, watch: Watch, found: FolderEntry, store: BlobStore
    ) -> RecordLanding | PassOverFiles | FolderEntry | None:
        """Examine a file if there is room. Blocks."""
        # When its turn has come: those before it may have taken what there was.
        self._check_room()
        return self._scanner.examine(watch, found, store)

    def _postpone(self, found: FolderEntry, pause_s: float) -> int:
        return self._settling.postpone(found.raw, anyio.current_time() + pause_s)

    async def _record_finding(
        self, found: FolderEntry, finding: RecordLanding | PassOverFiles | FolderEntry | None
    ) -> None:
        """Record the finding on a file, or let the file settle anew if it changed."""
        if isinstance(finding, FolderEntry):
            if finding.signature != found.signature:
                self._settling.update(finding, anyio.current_time())
                return
            self._known.remember(finding)
        elif finding is not None:
            outcome = await submit_with_retry(self._keeper, finding)
            events = outcome.events if outcome is not None else ()
            # The log keeps no signature of it: each scan would read it again.
            if isinstance(finding, RecordLanding) and not events:
                self._known.remember(found)
            if any(isinstance(event, FileLanded) and not event.outcome for event in events):
                self._landed_s = anyio.current_time()
        self._settling.forget(found.raw)

    async def _wait(self, rings: int) -> None:
        """Wait until something is due, or the inbox is woken."""
        now_s = anyio.current_time()
        until_s = now_s + _IDENTITY_CHECK_S
        due_s = self._settling.next_s
        if due_s is not None:
            until_s = min(until_s, max(due_s, self._short_until_s))
        if not self._missing:
            until_s = min(until_s, self._scan_at_s)
        with anyio.move_on_after(max(0.0, until_s - now_s)):
            await self._wakeup.wait(rings)

    async def _in_thread(
        self, limiter: CapacityLimiter, work: Callable[..., T], *given: object
    ) -> T:
        """Run blocking work in a thread: a network disk may hang for ever."""
        return await run_sync(work, *given, limiter=limiter, abandon_on_cancel=True)
