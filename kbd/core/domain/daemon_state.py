"""State of the daemon by its own log: its workbenches, plugins, settings and watched folders."""

import math
from collections.abc import Callable
from typing import Any

import msgspec

from kbd.core.domain.found_damage import FoundDamage, add_found, remove_mended
from kbd.core.domain.recipe_state import RECIPE_FOLDS, SavedRecipes
from kbd.core.domain.watch_state import WATCH_FOLDS, Watching, suspend_restored
from kbd.events.base import Actor, Recorded
from kbd.events.damages import DamageFound, DamageMended
from kbd.events.restores import HomeRestored
from kbd.events.retention import StorageReclaimed
from kbd.events.watches import LandingsDismissed, WatchRemoved
from kbd.events.workbenches import (
    BudgetCharged,
    BudgetReserved,
    DaemonStarted,
    DaemonStopped,
    HomePlace,
    LogRepaired,
    ModelChosen,
    PluginEndedDaemon,
    PluginLeftOut,
    PluginLoaded,
    RequestSent,
    RetentionPlanned,
    SettingChanged,
    TraceSent,
    WorkbenchArchived,
    WorkbenchCreated,
    WorkbenchDeleted,
    WorkbenchUnarchived,
)
from kbd.types import Seq, WorkbenchId

__all__ = [
    "CLOCK_GAP_US",
    "CLOCK_SLIP_US",
    "DAEMON_FOLDS",
    "ArchivedCopy",
    "DaemonState",
    "KnownWorkbench",
    "PlannedRemoval",
    "Spent",
    "fold_daemon",
    "note_deleted",
]

MAX_DAYS = 32
"""Of how many days with spending the sums are kept; the log has them all."""


class ArchivedCopy(msgspec.Struct, frozen=True):
    """The archive that a workbench is packed in.

    Args:
        sha256: The hash of the file.
        size_bytes: Its size.
        seq: The last event of the workbench's log.
        archived_at_us: When it was made.
        restored: Whether it came with a restore: what is no fact in it is not believed.
    """

    sha256: str
    size_bytes: int
    seq: Seq
    archived_at_us: int
    restored: bool = False


class KnownWorkbench(msgspec.Struct, frozen=True, omit_defaults=True):
    """A workbench as the daemon's log knows it.

    Args:
        workbench_id: Its id.
        name: For people.
        created_at_us: When it was created.
        actor: The client that asked for it.
        restore_id: The newest restore that it came with; "" for none. Its own log says so, too,
            before anything is done in it.
        doubt: What cannot be said of it while the daemon's log is damaged; "" for nothing.
        archive: The archive that it is packed in; None while it has a folder.
        unarchived_at_us: When it was unpacked last; 0 if it never was.
        damage: What verifications found damaged in its log and its blobs, until it is mended.
        dismissed_at_us: When a person dismissed the landed files that it was made for; 0 for never.
    """

    workbench_id: WorkbenchId
    name: str
    created_at_us: int
    actor: Actor | None = None
    restore_id: str = ""
    doubt: str = ""
    archive: ArchivedCopy | None = None
    unarchived_at_us: int = 0
    damage: tuple[FoundDamage, ...] = ()
    dismissed_at_us: int = 0


class Spent(msgspec.Struct):
    """What the model calls of a day consumed and cost, in US dollars."""

    tokens: int = 0
    cost: float = 0.0


CLOCK_GAP_US = 3 * 86_400_000_000
"""A longer time between two events of the daemon's log may be the clock's, which was set: it cannot
be told that the time went by."""

CLOCK_SLIP_US = 3_600_000_000
"""A clock that goes back further than this was set."""


class PlannedRemoval(msgspec.Struct, frozen=True):
    """Removal of archives that was announced.

    Args:
        remove_after_days: What the rule said then.
        planned_at_us: When.
        count: How many archives were due.
        size_bytes: Their size.
    """

    remove_after_days: int
    planned_at_us: int
    count: int = 0
    size_bytes: int = 0


class DaemonState(msgspec.Struct):
    """Everything that is true of the daemon after the event `seq`.

    Args:
        seq: That event.
        epoch: How often it was started.
        home: Where it was when it was started last; None if no start said so.
        copied_from: The home that it is a copy of, which was there when it was started last.
        restored: Whether it was restored since, so that what is said of `home` is the backup's.
        model_id: The model that is used where none is chosen.
        workbenches: All there are.
        plugins: Their versions, or why they are left out.
        plugin_ends: How often the daemon ended while code of a plugin ran, by its name: in which
            version of it, and the times with that version.
        watching: The watched folders.
        recipes: The recipes that are saved.
        disabled: The providers that may not be used.
        consent_mode: "ask" or "allow_all".
        efforts: How hard models shall think, by provider and phase.
        spent: By day ("2026-11-22", UTC), the newest 32.
        reserved: What turns under way may cost; that of one which a crash cut off stays.
        damage: What verifications found damaged in the daemon's own log, until it is mended.
        removals: The removals of archives that were announced, by the watch whose rule it is; ""
            for `[retention]`.
        updated_at_us: When the event `seq` was recorded.
        gap_at_us: The end of the last time of which the log cannot say that it went by; 0 for none.
    """

    seq: Seq = Seq(0)
    epoch: int = 0
    home: HomePlace | None = None
    copied_from: HomePlace | None = None
    restored: bool = False
    model_id: str | None = None
    workbenches: dict[WorkbenchId, KnownWorkbench] = {}
    plugins: dict[str, str] = {}
    plugin_ends: dict[str, tuple[str, int]] = {}
    watching: Watching = msgspec.field(default_factory=Watching)
    recipes: SavedRecipes = {}
    disabled: set[str] = set()
    consent_mode: str = "ask"
    efforts: dict[str, dict[str, str]] = {}
    spent: dict[str, Spent] = {}
    reserved: dict[str, BudgetReserved] = {}
    damage: tuple[FoundDamage, ...] = ()
    removals: dict[str, PlannedRemoval] = {}
    updated_at_us: int = 0
    gap_at_us: int = 0

    def damage_of(self, log_id: str) -> tuple[FoundDamage, ...]:
        """Return what is known to be damaged of a log: a workbench's, by its id, or "daemon"."""
        if log_id == "daemon":
            return self.damage
        known = self.workbenches.get(WorkbenchId(log_id))
        return known.damage if known is not None else ()

    def archives(self) -> tuple[ArchivedCopy, ...]:
        """Return the archives of all workbenches that are packed."""
        known = self.workbenches.values()
        return tuple(each.archive for each in known if each.archive is not None)

    def day_usage(self, day: str) -> Spent:
        """Return what of a day was spent or is reserved."""
        spent = self.spent.get(day, Spent())
        held = [each for each in self.reserved.values() if each.day == day]
        tokens = spent.tokens + sum(each.tokens for each in held)
        return Spent(tokens, spent.cost + sum(each.cost for each in held))


def _created(state: DaemonState, record: Recorded) -> None:
    data: WorkbenchCreated = record.data
    state.workbenches[data.workbench_id] = KnownWorkbench(
        data.workbench_id, data.name, record.ts_us, record.actor
    )


def _deleted(state: DaemonState, record: Recorded) -> None:
    data: WorkbenchDeleted = record.data
    state.workbenches.pop(data.workbench_id, None)


def _archived(state: DaemonState, record: Recorded) -> None:
    data: WorkbenchArchived = record.data
    if (known := state.workbenches.get(data.workbench_id)) is not None:
        copy = ArchivedCopy(data.sha256, data.size_bytes, data.seq, record.ts_us)
        state.workbenches[known.workbench_id] = msgspec.structs.replace(known, archive=copy)


def _unarchived(state: DaemonState, record: Recorded) -> None:
    data: WorkbenchUnarchived = record.data
    if (known := state.workbenches.get(data.workbench_id)) is not None:
        state.workbenches[known.workbench_id] = msgspec.structs.replace(
            known, archive=None, unarchived_at_us=record.ts_us
        )


def _started(state: DaemonState, record: Recorded) -> None:
    data: DaemonStarted = record.data
    state.epoch = data.epoch
    # A start by an older kbd does not say.
    if data.home is not None:
        state.home = data.home
        state.copied_from = data.known_at if data.is_copy else None
        state.restored = False


def _loaded(state: DaemonState, record: Recorded) -> None:
    data: PluginLoaded = record.data
    state.plugins[data.name] = data.version


def _left_out(state: DaemonState, record: Recorded) -> None:
    data: PluginLeftOut = record.data
    state.plugins[data.name] = f"left out: {data.reason}"
    # Who blocks a plugin, and then does not, wants it to be tried again.
    if data.is_blocked:
        state.plugin_ends.pop(data.name, None)


def _ended(state: DaemonState, record: Recorded) -> None:
    data: PluginEndedDaemon = record.data
    version, times = state.plugin_ends.get(data.name, (data.version, 0))
    state.plugin_ends[data.name] = (data.version, times + 1 if version == data.version else 1)


def _chosen(state: DaemonState, record: Recorded) -> None:
    data: ModelChosen = record.data
    state.model_id = data.model_id


def _setting(state: DaemonState, record: Recorded) -> None:
    data: SettingChanged = record.data
    match data.name:
        case "enabled" if data.value == "true":
            state.disabled.discard(data.provider_id)
        case "enabled":
            state.disabled.add(data.provider_id)
        case "consent_mode":
            state.consent_mode = data.value
        case "reasoning_effort":
            state.efforts.setdefault(data.provider_id, {})[data.phase] = data.value
        case _:
            pass  # Of a newer kbd.


def _reserved(state: DaemonState, record: Recorded) -> None:
    data: BudgetReserved = record.data
    state.reserved[data.reservation] = data
    state.spent.setdefault(data.day, Spent())
    # Days as ISO text sort in the order of time.
    for day in sorted(state.spent)[:-MAX_DAYS]:
        del state.spent[day]
        # What a crash left reserved is never charged, so it goes with its day.
        gone = [name for name, each in state.reserved.items() if each.day == day]
        for name in gone:
            del state.reserved[name]


def _charged(state: DaemonState, record: Recorded) -> None:
    data: BudgetCharged = record.data
    reserved = state.reserved.pop(data.reservation, None)
    if reserved is not None:
        # The day of the reservation, though the turn may have ended after midnight: that day's cap
        # allowed it.
        spent = state.spent.setdefault(reserved.day, Spent())
        spent.tokens += data.tokens
        spent.cost += data.cost


def _restored(state: DaemonState, record: Recorded) -> None:
    data: HomeRestored = record.data
    state.consent_mode, state.restored = "ask", True
    for workbench_id, known in state.workbenches.items():
        copy = known.archive
        state.workbenches[workbench_id] = msgspec.structs.replace(
            known,
            restore_id=data.restore_id,
            archive=copy and msgspec.structs.replace(copy, restored=True),
        )
    # Less than nothing, or no number at all, would let the day's caps be passed.
    for spent in state.spent.values():
        spent.tokens, spent.cost = max(0, spent.tokens), _money(spent.cost)
    state.reserved.clear()
    suspend_restored(state.watching, record)


def _damage_found(state: DaemonState, record: Recorded) -> None:
    data: DamageFound = record.data
    _set_damage(state, data.workbench_id, add_found(state.damage_of(data.workbench_id), data))


def _damage_mended(state: DaemonState, record: Recorded) -> None:
    data: DamageMended = record.data
    _set_damage(state, data.workbench_id, remove_mended(state.damage_of(data.workbench_id), data))


def _set_damage(state: DaemonState, log_id: WorkbenchId, damage: tuple[FoundDamage, ...]) -> None:
    known = state.workbenches.get(log_id)
    if log_id == "daemon":
        state.damage = damage
    elif known is not None:
        state.workbenches[log_id] = msgspec.structs.replace(known, damage=damage)


def _retention_planned(state: DaemonState, record: Recorded) -> None:
    data: RetentionPlanned = record.data
    if not data.remove_after_days:
        state.removals.pop(data.watch_id, None)
        return
    state.removals[data.watch_id] = PlannedRemoval(
        data.remove_after_days, record.ts_us, data.count, data.size_bytes
    )


def _dismissed_workbenches(state: DaemonState, record: Recorded) -> set[WorkbenchId]:
    """Return the workbenches of landed files that an event dismisses, before it is folded."""
    data = record.data
    watch = state.watching.watches.get(data.watch_id) if type(data) is LandingsDismissed else None
    if watch is None:
        return set()
    found = (watch.landings.get(number) for number in data.landings)
    return {each.workbench_id for each in found if each is not None and each.workbench_id}


def _note_dismissal(state: DaemonState, workbench_id: WorkbenchId, at_us: int) -> None:
    """Note that a person dismissed landed files, in the workbench that was made for them."""
    known = state.workbenches.get(workbench_id)
    if known is not None:
        dismissed = msgspec.structs.replace(known, dismissed_at_us=at_us)
        state.workbenches[workbench_id] = dismissed


def _money(cost: float) -> float:
    return cost if math.isfinite(cost) and cost > 0 else 0.0


def _nothing(state: DaemonState, record: Recorded) -> None:
    """Change nothing: the fact is for readers of the log."""


DAEMON_FOLDS: dict[type, Callable[[DaemonState, Any], None]] = {
    WorkbenchCreated: _created,
    WorkbenchDeleted: _deleted,
    WorkbenchArchived: _archived,
    WorkbenchUnarchived: _unarchived,
    DaemonStarted: _started,
    DaemonStopped: _nothing,
    PluginLoaded: _loaded,
    PluginLeftOut: _left_out,
    PluginEndedDaemon: _ended,
    ModelChosen: _chosen,
    LogRepaired: _nothing,
    SettingChanged: _setting,
    RequestSent: _nothing,
    TraceSent: _nothing,
    RetentionPlanned: _retention_planned,
    BudgetReserved: _reserved,
    BudgetCharged: _charged,
    HomeRestored: _restored,
    DamageFound: _damage_found,
    DamageMended: _damage_mended,
    StorageReclaimed: _nothing,
}
"""What each event of the daemon's log changes, with `WATCH_FOLDS` and
`RECIPE_FOLDS`; others do not occur in it."""


def fold_daemon(state: DaemonState, seq: Seq, record: Recorded) -> None:
    """Change the state as an event says; an event of another log changes nothing."""
    kind = type(record.data)
    since_us = record.ts_us - state.updated_at_us
    if state.updated_at_us and not -CLOCK_SLIP_US <= since_us <= CLOCK_GAP_US:
        state.gap_at_us = record.ts_us
    state.updated_at_us = record.ts_us
    if (fold := DAEMON_FOLDS.get(kind)) is not None:
        fold(state, record)
    elif (fold_watch := WATCH_FOLDS.get(kind)) is not None:
        dismissed = _dismissed_workbenches(state, record)
        fold_watch(state.watching, seq, record)
        for workbench_id in dismissed:
            _note_dismissal(state, workbench_id, record.ts_us)
        if kind is WatchRemoved:
            state.removals.pop(record.data.watch_id, None)
    elif (fold_recipe := RECIPE_FOLDS.get(kind)) is not None:
        fold_recipe(state.recipes, record)
    state.seq = seq


def note_deleted(deleted: set[WorkbenchId], record: Recorded) -> None:
    """Note the workbench that an event of the daemon's log says is deleted."""
    if isinstance(record.data, WorkbenchDeleted):
        deleted.add(record.data.workbench_id)
