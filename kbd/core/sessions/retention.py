"""Retention: archives what rests and is settled, removes old archives, as people set it.

The index says what may be due, and the state of the workbench is asked again under its lock before
anything happens. Before a rule removes a first archive that is announced in the daemon's log, and
waits for a day. It works a little at a time, and yields to whatever people wait for.
"""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Literal, NamedTuple

import anyio
import msgspec

from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.daemon_state import (
    CLOCK_GAP_US,
    CLOCK_SLIP_US,
    ArchivedCopy,
    DaemonState,
    KnownWorkbench,
)
from kbd.core.domain.retention import (
    DAY_US,
    NOTICE_US,
    Hold,
    Policies,
    due_at_us,
    hold_of_known,
    landing_holds,
    settling_of,
    why_archived,
    why_removed,
)
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.home_index.storage import SettledRow, rows_of, settled_before
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import DiskFull, KbdError, ValidationFailed
from kbd.events.base import Actor
from kbd.events.codec import format_time
from kbd.events.disk import LogPoisoned
from kbd.events.workbenches import RetentionPlanned
from kbd.types import WatchId, WorkbenchId

__all__ = ["Pruned", "PrunedWorkbench", "Retention"]

FIRST_S = 300.0
"""How long after the start it first looks: what a crash left behind is seen to before."""

INTERVAL_S = 3600.0
"""The interval in which it looks what is due."""

_IDLE_PAUSE_S = 0.01
_BUSY_PAUSE_S = 0.5
"""Between two workbenches; the longer one while a run is under way."""

_PAGE = 500
"""So many rows are read from the index at once."""

MAX_LISTED = 1000
"""Of so many workbenches a prune tells each; of others how many they are."""

MAX_LOOKED = 10_000
"""Where so many workbenches are held, those behind them are not told of as the next ones."""

_log = get_logger(__name__)

Action = Literal["archive", "remove", "keep"]
"""What is done with a workbench."""

_Attempt = Callable[[Callable[[], Awaitable[None]]], Awaitable[str | None]]
"""Does something with one workbench; returns why that failed, None if it did not."""


class PrunedWorkbench(msgspec.Struct, frozen=True):
    """A workbench that a prune looked at.

    Args:
        workbench_id: Its id.
        name: For people.
        action: What is done with it.
        size_bytes: What it took, or takes on.
        reason: Why.
        due_at_us: When that is due; a prune does not wait for it.
    """

    workbench_id: WorkbenchId
    name: str
    action: Action
    size_bytes: int
    reason: str
    due_at_us: int = 0


class Pruned(msgspec.Struct):
    """What a prune did, or would do.

    Args:
        rows: The first of the workbenches that it looked at, with the reasons.
        counts: How many there are, by what was done with them.
        size_bytes: What they took, likewise.
        archive_bytes: What the archives take that were made.
        holds: How many are kept, by what holds them.
    """

    rows: list[PrunedWorkbench] = []
    counts: Counter[Action] = msgspec.field(default_factory=Counter)
    size_bytes: Counter[Action] = msgspec.field(default_factory=Counter)
    archive_bytes: int = 0
    holds: Counter[str] = msgspec.field(default_factory=Counter)

    def note(self, row: PrunedWorkbench) -> None:
        """Note a workbench."""
        self.counts[row.action] += 1
        self.size_bytes[row.action] += row.size_bytes
        if row.action == "keep":
            self.holds[row.reason] += 1
        if len(self.rows) < MAX_LISTED:
            self.rows.append(row)


class _Archived(NamedTuple):
    """An archive, with whose word counts for it, and what holds it if anything does.

    A person may archive what no rule would: what holds a workbench holds its archive, too.
    """

    known: KnownWorkbench
    copy: ArchivedCopy
    scope: WatchId
    hold: Hold | None


class Retention:
    """Archives and removes what people set it to.

    Args:
        context: The daemon's.
        workbenches: Its workbenches, with their archives.
    """

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches
        self._removal_observers, self._has_removed = list[Callable[[], None]](), False
        # A prune and the rules do not work on the same at once.
        self._lock = anyio.Lock()
        # Of the workbenches of landed files that are not done, when they were looked through last.
        self._landed: Mapping[WorkbenchId, Hold] = {}

    @property
    def _state(self) -> DaemonState:
        return self._workbenches.daemon.state

    @property
    def policies(self) -> Policies:
        """Whose word counts now."""
        own = self._context.settings.retention
        watches = self._state.watching.watches
        return Policies(own.archive_after_days, own.remove_after_days, watches)

    def observe_removals(self, observer: Callable[[], None]) -> None:
        """Register what is called, from now on, after a prune or the rules removed something."""
        self._removal_observers.append(observer)

    async def run(self) -> None:
        """Apply the rules for ever, each hour.

        Raises:
            LogPoisoned: The disk failed.
        """
        await anyio.sleep(FIRST_S)
        while True:
            await self.apply()
            await anyio.sleep(INTERVAL_S)

    async def apply(self) -> None:
        """Apply the rules once: archive what is due, then remove what is.

        Raises:
            LogPoisoned: The disk failed.
            KbdError: The index cannot be read, or the daemon's log takes nothing.
        """
        # What the log does not say of a workbench may be what holds it.
        if self._workbenches.daemon.journal.log.damage is not None:
            return
        async with self._turn():
            policies = self.policies
            await self._archive_due(policies)
            for scope in policies.scopes():
                await self._remove_due(policies, scope)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Have the turn to archive and remove; tell behind it if something was removed."""
        async with self._lock:
            try:
                yield
            finally:
                has_removed, self._has_removed = self._has_removed, False
                for observer in self._removal_observers if has_removed else ():
                    observer()

    async def _archive_due(self, policies: Policies) -> None:
        days = [each for each in map(policies.archive_days, policies.scopes()) if each]
        if not days:
            return
        before_us = self._now_us() - min(days) * DAY_US
        async with aclosing(self._rows(before_us)) as rows:
            async for row in rows:
                scope = policies.scope(row.watch_id)
                if 0 < self._archive_at_us(policies, row) <= self._now_us():
                    reason = why_archived(policies, scope, row.settling)
                    await self._attempt(partial(self._archive, row, reason))

    async def _remove_due(self, policies: Policies, scope: WatchId) -> None:
        """Remove the archives that are due by one's word, if that was announced in time."""
        days, state = policies.remove_days(scope), self._state
        planned = state.removals.get(scope)
        if not days:
            if planned is not None:
                await self._record(RetentionPlanned(scope, 0))
            return
        due = await self._due_archives(policies, self._now_us(), {scope})
        if not due:
            return
        now_us, reason = self._now_us(), ""
        if planned is None:
            reason = "this is the first time"
        elif planned.remove_after_days != days:
            reason = f"remove_after_days was {planned.remove_after_days} before"
        elif not -CLOCK_SLIP_US <= now_us - state.updated_at_us <= CLOCK_GAP_US:
            last = format_time(state.updated_at_us)[:16].replace("T", " ")
            reason = f"the clock may have been set: nothing was recorded since {last} UTC"
        if reason:
            size_bytes = sum(each.copy.size_bytes for each in due)
            await self._record(RetentionPlanned(scope, days, len(due), size_bytes, reason))
            return
        # Both by the log: whoever sets the clock while nothing is recorded is found above.
        since_us = max(planned.planned_at_us if planned is not None else 0, state.gap_at_us)
        if now_us - since_us < NOTICE_US:
            return
        for each in due:
            reason = why_removed(policies, scope, each.copy.archived_at_us)
            await self._attempt(partial(self._remove, each, reason))

    async def prune(
        self, older_s: int, *, archives: bool, dry_run: bool, actor: Actor | None = None
    ) -> Pruned:
        """Do now what rules with a given age would do.

        Args:
            older_s: So long what is archived rests, and an archive that is removed is there.
            archives: Whether archives are removed, too.
            dry_run: Whether it is only said what would be done.
            actor: The client that asks.

        Raises:
            LogPoisoned: The disk failed.
            KbdError: The index cannot be read, or the daemon's log is damaged: what it hides may
                be what holds a workbench.
        """
        damage = self._workbenches.daemon.journal.log.damage
        if damage is not None:
            raise damage.with_traceback(None)
        pruned, policies = Pruned(), self.policies
        attempt = _pretend if dry_run else self._attempt
        before_us = self._now_us() - older_s * 1_000_000
        asked = f"kbd prune asked for it: {older_s / 86_400:g} days"
        async with self._turn():
            # Before anything is archived: what is archived now is not removed at once.
            due = await self._old_archives(policies, before_us) if archives else []
            async with aclosing(self._rows(before_us, busy=True)) as rows:
                async for row in rows:
                    if self._since_us(row) <= before_us:
                        await self._prune_folder(policies, row, asked, pruned, actor, attempt)
            for each in due:
                reason = f"{asked}, archived on {format_time(each.copy.archived_at_us)[:10]}"
                if each.hold is not None:
                    failure: str | None = each.hold.reason
                else:
                    failure = await attempt(partial(self._remove, each, reason, actor))
                action: Action = "remove" if failure is None else "keep"
                pruned.note(_pruned_archive(each, action, failure or reason))
        return pruned

    async def _prune_folder(
        self,
        policies: Policies,
        row: SettledRow,
        asked: str,
        pruned: Pruned,
        actor: Actor | None,
        attempt: _Attempt,
    ) -> None:
        """Archive a workbench because it was asked for, unless something holds it."""
        hold = self._hold(policies, row)
        if hold is not None:
            pruned.note(_pruned(row, "keep", hold.reason))
            return
        reason = f"{asked}, unchanged since {format_time(row.settling.since_us)[:10]}"
        failure = await attempt(partial(self._archive, row, reason, actor, pruned))
        action: Action = "archive" if failure is None else "keep"
        pruned.note(_pruned(row, action, failure or reason))

    async def upcoming(self, limit: int) -> list[PrunedWorkbench]:
        """Return what the rules will do next, soonest first.

        Args:
            limit: How many at most, of what is archived and of what is removed.

        Raises:
            KbdError: The index cannot be read.
        """
        policies, found, looked = self.policies, list[PrunedWorkbench](), 0
        if any(map(policies.archive_days, policies.scopes())):
            async with aclosing(self._rows(self._now_us())) as rows:
                async for row in rows:
                    at_us = self._archive_at_us(policies, row)
                    if at_us:
                        scope = policies.scope(row.watch_id)
                        reason = why_archived(policies, scope, row.settling)
                        found.append(_pruned(row, "archive", reason, at_us))
                    looked += 1
                    if len(found) == limit or looked == MAX_LOOKED:
                        break
        removed = [
            _pruned_archive(
                each,
                "remove",
                why_removed(policies, each.scope, each.copy.archived_at_us),
                due_at_us(each.copy.archived_at_us, policies.remove_days(each.scope)),
            )
            for each in await self._due_archives(policies, None, set(policies.scopes()))
        ]
        removed.sort(key=lambda each: (each.due_at_us, each.workbench_id))
        found += removed[:limit]
        return sorted(found, key=lambda each: (each.due_at_us, each.workbench_id))

    def goes_at_us(self, row: SettledRow) -> tuple[int, str]:
        """Return when a workbench is archived by the rules, or its archive is removed by them.

        0 for never; and what holds it.
        """
        policies, known = self.policies, self._state.workbenches.get(row.workbench_id)
        hold = self._hold(policies, row)
        if hold is not None:
            return 0, hold.reason
        if known is None or known.archive is None:
            return self._archive_at_us(policies, row), ""
        days = policies.remove_days(policies.scope(row.watch_id))
        return due_at_us(known.archive.archived_at_us, days), ""

    def notices(self) -> tuple[str, ...]:
        """Return what people should know of what the rules are about to remove."""
        state, policies, found = self._state, self.policies, list[str]()
        for watch_id, planned in state.removals.items():
            from_us = max(planned.planned_at_us, state.gap_at_us) + NOTICE_US
            if self._now_us() < from_us:
                at = format_time(from_us)[:16].replace("T", " ")
                named = policies.named(WatchId(watch_id))
                found.append(
                    f"{planned.count} archives are removed from {at} UTC on by {named}"
                    f" remove_after_days = {planned.remove_after_days}: see `kbd storage`"
                )
        return tuple(found)

    async def _rows(
        self, before_us: int, *, busy: bool = False
    ) -> AsyncGenerator[SettledRow, None]:
        """Yield workbenches with a folder that rest since before a moment, longest first."""
        after = (-1, "")
        index = self._context.index
        while rows := await index.read(
            partial(settled_before, before_us=before_us, after=after, limit=_PAGE, busy=busy)
        ):
            self._landed = landing_holds(self._state)
            after = (rows[-1].settling.since_us, rows[-1].workbench_id)
            for row in rows:
                known = self._state.workbenches.get(row.workbench_id)
                if known is not None and known.archive is None:
                    yield row

    def _hold(self, policies: Policies, row: SettledRow) -> Hold | None:
        known = self._state.workbenches.get(row.workbench_id)
        if known is None:
            return Hold.UNREAD
        landed = self._landed.get(row.workbench_id)
        return landed or hold_of_known(known, row.settling, policies, row.watch_id)

    def _since_us(self, row: SettledRow) -> int:
        """Return since when a workbench rests: one that was asked for is not archived at once."""
        known = self._state.workbenches.get(row.workbench_id)
        return max(row.settling.since_us, known.unarchived_at_us if known is not None else 0)

    def _archive_at_us(self, policies: Policies, row: SettledRow) -> int:
        """Return when a workbench is archived by the rules; 0 for never."""
        days = policies.archive_days(policies.scope(row.watch_id))
        if not days or self._hold(policies, row) is not None:
            return 0
        return due_at_us(self._since_us(row), days)

    async def _old_archives(self, policies: Policies, before_us: int) -> list[_Archived]:
        """Return the archives that were made before a moment."""
        old = [
            (known, known.archive)
            for known in self._state.workbenches.values()
            if known.archive is not None and known.archive.archived_at_us <= before_us
        ]
        ids = [known.workbench_id for known, _ in old]
        rows = await self._context.index.read(partial(rows_of, ids=ids))
        self._landed = landing_holds(self._state)
        found: list[_Archived] = []
        for known, copy in old:
            row = rows.get(known.workbench_id)
            # What made it is not known: the shorter word of another must not count for it.
            hold = self._hold(policies, row) if row is not None else Hold.UNREAD
            scope = policies.scope(row.watch_id) if row is not None else WatchId("")
            found.append(_Archived(known, copy, scope, hold))
        return found

    async def _due_archives(
        self, policies: Policies, now_us: int | None, scopes: set[WatchId]
    ) -> list[_Archived]:
        """Return the archives that the rules of some remove, by now; if that is None, ever."""
        days = [each for each in map(policies.remove_days, scopes) if each]
        if not days:
            return []
        before_us = (1 << 62) if now_us is None else now_us - min(days) * DAY_US
        found: list[_Archived] = []
        for each in await self._old_archives(policies, before_us):
            at_us = due_at_us(each.copy.archived_at_us, policies.remove_days(each.scope))
            is_due = bool(at_us) and (now_us is None or at_us <= now_us)
            if each.hold is None and each.scope in scopes and is_due:
                found.append(each)
        return found

    async def _archive(
        self,
        row: SettledRow,
        reason: str,
        actor: Actor | None = None,
        pruned: Pruned | None = None,
    ) -> None:
        """Archive a workbench, if it is still settled when it has its lock.

        Raises:
            KbdError: It is not, or cannot be archived.
        """
        await self._workbenches.archives.archive(
            row.workbench_id, reason, actor, check=partial(self._check_settled, row)
        )
        known = self._state.workbenches.get(row.workbench_id)
        if pruned is not None and known is not None and known.archive is not None:
            pruned.archive_bytes += known.archive.size_bytes

    def _check_settled(self, row: SettledRow, state: WorkbenchState) -> None:
        """Check that a workbench is still settled as it was found.

        Raises:
            ValidationFailed: It is not.
        """
        self._landed = landing_holds(self._state)
        now = msgspec.structs.replace(row, settling=settling_of(state))
        if now.settling.since_us != row.settling.since_us:
            raise ValidationFailed("something was done in it meanwhile")
        hold = self._hold(self.policies, now)
        if hold is not None:
            raise ValidationFailed(hold.reason)

    async def _remove(self, due: _Archived, reason: str, actor: Actor | None = None) -> None:
        """Remove an archive, if it is still that one.

        Raises:
            KbdError: It cannot be removed.
        """
        known = self._state.workbenches.get(due.known.workbench_id)
        if known is not None and known.archive == due.copy:
            await self._workbenches.delete(known.workbench_id, actor, reason)
            self._has_removed = True

    async def _attempt(self, work: Callable[[], Awaitable[None]]) -> str | None:
        """Do something with one workbench, and rest; return why that failed, None if it did not.

        Raises:
            DiskFull: The others would meet it, too.
            LogPoisoned: The disk failed.
        """
        try:
            await work()
        except (DiskFull, LogPoisoned):
            raise
        except KbdError as error:
            _log.info("not_pruned", reason=error.message)
            return error.message
        finally:
            await self._pause()
        return None

    async def _record(self, fact: RetentionPlanned) -> None:
        await self._workbenches.daemon.submit(RecordDaemon((fact,)))

    async def _pause(self) -> None:
        """Yield to what people wait for."""
        is_busy = any(each.state.active_run() is not None for each in self._workbenches.running())
        await anyio.sleep(_BUSY_PAUSE_S if is_busy else _IDLE_PAUSE_S)

    def _now_us(self) -> int:
        return self._context.clock.now_us()


async def _pretend(work: Callable[[], Awaitable[None]]) -> str | None:
    """Do nothing: it is only said what would be done."""
    del work
    return None


def _pruned(row: SettledRow, action: Action, reason: str, at_us: int = 0) -> PrunedWorkbench:
    return PrunedWorkbench(row.workbench_id, row.name, action, row.disk_bytes, reason, at_us)


def _pruned_archive(due: _Archived, action: Action, reason: str, at_us: int = 0) -> PrunedWorkbench:
    known = due.known
    size_bytes = due.copy.size_bytes
    return PrunedWorkbench(known.workbench_id, known.name, action, size_bytes, reason, at_us)
