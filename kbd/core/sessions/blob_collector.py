"""Collector of blobs that are no longer needed: those that no event names, and abandoned drafts.

A blob is stored before the event that names it is recorded, so while anybody works in a workbench
what is not named may be named next. Two rules make that impossible to get wrong: blobs are removed
only of a workbench that is closed and locked (`Workbenches.alone`), where no request can be under
way, and only if they have lain untouched for an hour. What the log needs is found before that,
without the lock, and counts only if nobody has opened the workbench since.

Bytes that the log names go only behind an event that says so, which is durable before they are
removed; what a crash leaves is removed by the next collection. What is no blob is left alone and
told. The daemon's log tells of each removal before it is made: one that a crash cut off is told
again, and none is missed.
"""

from collections.abc import Collection, Iterator
from functools import partial

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.recovery import (
    close_workbench,
    open_workbench,
    recover_workbench,
    translate_disk_errors,
)
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.store.blob_marks import mark_discarded, mark_named
from kbd.core.store.snapshots import workbench_snapshots
from kbd.core.workbench.transaction import translate_write_errors
from kbd.errors import KbdError, LogCorrupt, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK, Disk, LogPoisoned
from kbd.events.retention import BlobsCollected, ReclaimedKind, StorageReclaimed
from kbd.events.vocabulary import Event
from kbd.types import BlobHash, Seq, WorkbenchId

__all__ = ["GRACE_S", "BlobCollector", "Collected", "Reclaimable"]

GRACE_S = 3600.0
"""So long a blob that no event names must have lain untouched before it is removed."""

FIRST_PAUSE_S = 600.0
"""The pause between the daemon's start and the first collection."""

ROUND_PAUSE_S = 3600.0
"""The pause between two rounds over all workbenches."""

STEP_PAUSE_S = 0.5
"""The pause between two workbenches of a round: nobody is to feel it."""

BUSY_PAUSE_S = 60.0
"""The pause while a run is under way."""

_DAY_US = 86_400_000_000
_EVER_US = 1 << 62
_EVENT_BLOBS = 10_000
"""How many blobs one event names at most: a frame is at most 64 MiB long."""

_UNNAMED_REASON = "no event names them"
_CUT_OFF_REASON = "their removal was cut off"

_log = get_logger(__name__)


class Reclaimable(msgspec.Struct, frozen=True):
    """Stored bytes of one kind that can be removed, or were.

    Args:
        kind: What they are.
        count: How many blobs.
        size_bytes: How many bytes they hold together.
        reason: Why, for people.
    """

    kind: ReclaimedKind
    count: int
    size_bytes: int
    reason: str


class Collected(msgspec.Struct, frozen=True):
    """Result of a collection.

    Args:
        removed: What was removed, by kind and reason.
        strangers: What lies among the blobs and is none: it was left alone.
    """

    removed: tuple[Reclaimable, ...]
    strangers: tuple[str, ...]


class _Unneeded(msgspec.Struct, frozen=True):
    """The blobs of a workbench that can go, and whatever else was met.

    Args:
        unnamed: Those that no event names.
        collected: Those of which an event says so, left by a crash.
        discarded: Those that only drafts had which ended long ago.
        unmarked: In a store of a kbd that did not mark whose bytes are somebody's, those that no
            event names: all of them may be. None in any other.
        again_us: When something will come to its time by itself.
        strangers: What is no blob.
    """

    unnamed: tuple[BlobHash, ...]
    collected: tuple[BlobHash, ...]
    discarded: tuple[BlobHash, ...]
    unmarked: tuple[BlobHash, ...] | None
    again_us: int
    strangers: tuple[str, ...]


class _Ends(msgspec.Struct, frozen=True):
    """What a workbench's state says of drafts that ended.

    Args:
        undo_seqs: The events to which an undo in the conversation as it stands can go back.
        ended_us: When the drafts ended that can be recovered.
    """

    undo_seqs: frozenset[Seq] = frozenset()
    ended_us: tuple[int, ...] = ()


class _Looked(msgspec.Struct, frozen=True):
    """How often a workbench had been opened when it was last looked at, and when to look again."""

    openings: int
    again_us: int


class BlobCollector:
    """Collects the blobs of workbenches that nobody uses, in rounds and when it is asked to.

    Args:
        context: The daemon's.
        workbenches: All workbenches.
        disk: What removes, and what records in a workbench's log.
    """

    def __init__(self, context: ApiContext, workbenches: Workbenches, disk: Disk = DISK) -> None:
        self._context, self._workbenches, self._disk = context, workbenches, disk
        self._looked: dict[WorkbenchId, _Looked] = {}
        self._turn, self._wakeup = anyio.Lock(), anyio.Event()

    def wake(self) -> None:
        """Begin a round now, or one more behind that which is under way: somebody makes room."""
        self._wakeup.set()

    async def run(self) -> None:
        """Collect for ever, one workbench at a time, while no run is under way.

        Raises:
            LogPoisoned: The disk failed (perhaps in a group).
        """
        await self._rest(FIRST_PAUSE_S)
        while True:
            is_done = await self.collect_all()
            await self._rest(ROUND_PAUSE_S if is_done else BUSY_PAUSE_S)

    async def _rest(self, pause_s: float) -> None:
        """Rest until it is woken, or so many seconds."""
        with anyio.move_on_after(pause_s):
            await self._wakeup.wait()
        self._wakeup = anyio.Event()

    async def collect_all(self) -> bool:
        """Collect once in each workbench that may have something to collect and is not in use.

        Returns:
            Whether all were looked at: a run that is under way ends the round.

        Raises:
            LogPoisoned: The disk failed (perhaps in a group).
        """
        ids = self._workbenches.ids()
        self._looked = {each: self._looked[each] for each in ids if each in self._looked}
        for workbench_id in filter(self._is_due, ids):
            if any(each.state.active_run() for each in self._workbenches.running()):
                return False
            try:
                await self.collect(workbench_id)
            except LogPoisoned:
                raise
            except KbdError as error:
                # In use, deleted meanwhile, or damaged: the next round tries it again.
                _log.info("not_collected", workbench=workbench_id, error=error.message)
            await anyio.sleep(STEP_PAUSE_S)
        return True

    async def survey(self, workbench_id: str) -> tuple[Reclaimable, ...]:
        """Return what a collection would remove now; a workbench in use is looked at, too.

        Raises:
            NotFound: There is no such workbench.
            LogCorrupt: Its log is damaged.
            KbdError: It cannot be read.
        """
        known = self._workbenches.known(WorkbenchId(workbench_id))
        if known.archive is not None:
            return ()
        with self._workbenches.held(known.workbench_id):
            await self._workbenches.end_of(known.workbench_id)
            folders = self._context.home.workbench(known.workbench_id)
            opened = self._workbenches.opened(known.workbench_id)
            ends = _ends_of(opened.state) if opened is not None else None
            with translate_disk_errors():
                found = await run_sync(self._find, folders, ends)
                return await run_sync(self._count, folders, found)

    async def collect(self, workbench_id: str, holds: int = 0) -> Collected:
        """Remove what a workbench does not need any more.

        Args:
            workbench_id: Which.
            holds: How often the caller itself holds it (`Workbenches.held`).

        Raises:
            ValidationFailed: The id is ill-formed, or somebody uses the workbench.
            NotFound: There is no such workbench.
            LogCorrupt: Its log is damaged; nothing was removed.
            LogPoisoned: The disk does not make it durable; the daemon ends.
            KbdError: The disk is full or fails; what is left is removed another time.
        """
        async with self._turn:
            # It is closed first, if it is idle, so that its log is at rest while it is read.
            async with self._workbenches.alone(workbench_id, holds) as folders:
                openings = self._workbenches.openings(folders.id)
            if self._workbenches.archives.archived(folders.id) is not None:
                raise ValidationFailed("nothing is taken out of an archive")
            with translate_disk_errors():
                found = await run_sync(self._find, folders)
            async with self._workbenches.alone(workbench_id, holds) as folders:
                if self._workbenches.openings(folders.id) != openings + 1:
                    msg = f"workbench {folders.id} was used meanwhile"
                    raise ValidationFailed(msg, retryable=True)
                with anyio.CancelScope(shield=True), translate_write_errors("a collection"):
                    removed = await self._remove(folders, found)
                self._note(folders.id, found)
        for name in found.strangers:
            _log.warning("no_blob", workbench=folders.id, file=name)
        return Collected(removed, found.strangers)

    def _is_due(self, workbench_id: WorkbenchId) -> bool:
        """Return whether something may have come to be collected since the last look."""
        # Nothing of an archive is taken out of it.
        if self._workbenches.archives.archived(workbench_id) is not None:
            return False
        looked = self._looked.get(workbench_id)
        # While it is closed nobody stores anything. How many blobs there are says less: one may be
        # missing and another be left over.
        if looked is None or looked.openings != self._workbenches.openings(workbench_id):
            return True
        return looked.again_us <= self._context.clock.now_us()

    def _note(self, workbench_id: WorkbenchId, found: _Unneeded) -> None:
        openings = self._workbenches.openings(workbench_id)
        self._looked[workbench_id] = _Looked(openings, found.again_us)

    def _find(self, folders: WorkbenchFolders, ends: _Ends | None = None) -> _Unneeded:
        """Find what can go. Blocks.

        Args:
            folders: The workbench.
            ends: What its state says, if it is in use; None to read that from its log.
        """
        store = BlobStore(folders.blobs, self._disk)
        # Before the log: what is stored from now on is none of this.
        stored = store.stored()
        marks = mark_named(folders.log, stored, in_use=ends is not None)
        days = self._context.settings.retention.discarded_after_days
        if ends is None:
            ends = _read_ends(folders) if days or marks.collected else _Ends()
        mark = partial(mark_discarded, folders.log, stored, ends.undo_seqs)
        now_us = self._context.clock.now_us()
        before_us = now_us - days * _DAY_US
        # The log is read once more only where the time of a draft has come.
        is_due = days and any(ended_us <= before_us for ended_us in ends.ended_us)
        discarded = mark(before_us) if is_due else frozenset[BlobHash]()
        # Only such as kbd could have said itself: the log may have come with a stranger's backup.
        cut_off = marks.collected & mark(_EVER_US) if marks.collected else frozenset[BlobHash]()
        kept = store.kept.listed()
        loose = marks.unnamed - kept if kept is not None else frozenset[BlobHash]()
        unnamed = tuple(self._untouched(store, sorted(loose)))
        waits_us = [each - before_us for each in ends.ended_us if days and each > before_us]
        waits_us += [int(GRACE_S * 1_000_000)] if len(loose) > len(unnamed) else []
        return _Unneeded(
            unnamed=unnamed,
            collected=tuple(sorted(cut_off - (kept or frozenset()))),
            discarded=tuple(sorted(discarded - marks.collected - (kept or frozenset()))),
            unmarked=tuple(sorted(marks.unnamed)) if kept is None else None,
            again_us=now_us + min(waits_us, default=_EVER_US),
            strangers=tuple(store.strangers()),
        )

    def _untouched(self, store: BlobStore, blobs: Collection[BlobHash]) -> Iterator[BlobHash]:
        now_s = self._context.clock.now_us() / 1_000_000
        for blob in blobs:
            found = store.look(blob)
            if found is not None and now_s - found.changed_s >= GRACE_S:
                yield blob

    def _count(self, folders: WorkbenchFolders, found: _Unneeded) -> tuple[Reclaimable, ...]:
        """Return what was found by kind, with its sizes. Blocks."""
        store = BlobStore(folders.blobs, self._disk)
        counted: list[Reclaimable] = []
        kinds: tuple[tuple[ReclaimedKind, str, tuple[BlobHash, ...]], ...] = (
            ("unnamed", _UNNAMED_REASON, found.unnamed),
            ("discarded", _CUT_OFF_REASON, found.collected),
            ("discarded", self._discarded_reason(), found.discarded),
        )
        for kind, reason, blobs in kinds:
            sizes = [each.size_bytes for blob in blobs if (each := store.look(blob)) is not None]
            if sizes:
                counted.append(Reclaimable(kind, len(sizes), sum(sizes), reason))
        return tuple(counted)

    def _discarded_reason(self) -> str:
        days = self._context.settings.retention.discarded_after_days
        return f"only drafts had them that ended {days} or more days before, unpublished"

    async def _remove(self, folders: WorkbenchFolders, found: _Unneeded) -> tuple[Reclaimable, ...]:
        """Remove what was found: told first, and recorded first where the log names it."""
        store = BlobStore(folders.blobs, self._disk)
        if found.unmarked is not None:
            await run_sync(store.kept.add, found.unmarked)
        counted = await run_sync(self._count, folders, found)
        if not counted:
            return ()
        facts = tuple(
            StorageReclaimed(folders.id, each.kind, each.count, each.size_bytes, each.reason)
            for each in counted
        )
        # Both before the bytes go: a removal that is not told of would be one by surprise.
        await self._workbenches.daemon.submit(RecordDaemon(facts))
        if found.discarded:
            await self._record(folders, await run_sync(self._collection, folders, found.discarded))
        # Once more: its recovery may have taken somebody's bytes in.
        kept = await run_sync(store.kept.listed) or frozenset[str]()
        gone = {*found.unnamed, *found.collected, *found.discarded} - kept
        await run_sync(store.remove, gone)
        return counted

    def _collection(
        self, folders: WorkbenchFolders, blobs: tuple[BlobHash, ...]
    ) -> tuple[Event, ...]:
        """Return the events by which a workbench's log says that blobs are collected. Blocks."""
        store, reason = BlobStore(folders.blobs, self._disk), self._discarded_reason()
        parts = [blobs[at : at + _EVENT_BLOBS] for at in range(0, len(blobs), _EVENT_BLOBS)]
        looked = [[each for blob in part if (each := store.look(blob))] for part in parts]
        return tuple(
            BlobsCollected(part, sum(each.size_bytes for each in found), reason)
            for part, found in zip(parts, looked, strict=True)
        )

    async def _record(self, folders: WorkbenchFolders, facts: tuple[Event, ...]) -> None:
        """Record facts in a closed workbench that is ours alone, as its only writer."""
        context = self._context
        workbench = await open_workbench(
            folders, context.clock, context.egress.redaction, self._disk
        )
        workbench.keeper.observe(context.index.observe(workbench))
        workbench.keeper.observe(context.meters.events.observer())
        failure: KbdError | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(workbench.keeper.run)
                try:
                    known = self._workbenches.known(folders.id)
                    await recover_workbench(workbench, context.clock, known)
                    # One by one: in a frame of its own a collection is the last word of its blobs.
                    for fact in facts:
                        await workbench.keeper.submit(RecordFacts((fact,)))
                except KbdError as error:
                    failure = error
                tasks.cancel_scope.cancel()
        finally:
            try:
                await close_workbench(workbench)
            finally:
                await context.index.close(workbench)
        if failure is not None:
            raise failure


def _ends_of(state: WorkbenchState) -> _Ends:
    undo_seqs = frozenset(message.seq for message in state.said)
    return _Ends(undo_seqs, tuple(each.ended_at_us for each in state.ended_drafts))


def _read_ends(folders: WorkbenchFolders) -> _Ends:
    """Read them from the log of a closed workbench."""
    state, damage = workbench_snapshots(folders.log, folders.snap).read()
    if damage:
        raise LogCorrupt(damage)
    return _ends_of(state)
