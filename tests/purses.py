"""The day's money for runs without a daemon."""

from pathlib import Path

from kbd.core.domain.daemon_decisions import DaemonCommand, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.plugins.catalog import Catalog
from kbd.core.runtime.clock import Clock, SystemClock
from kbd.core.runtime.settings import RunLimits
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Keeper
from kbd.events.disk import Disk
from kbd.events.log import EventLog


def purse_in(
    folder: Path, catalog: Catalog, limits: RunLimits, disk: Disk, clock: Clock | None = None
) -> tuple[Keeper[DaemonState, DaemonCommand], DailyBudget]:
    """Return a daemon's log in a folder, and the purse that it holds.

    Whoever lets models cost money loads the log and lets its Keeper run.
    """
    clock = clock or SystemClock()
    folder.mkdir(parents=True, exist_ok=True)
    keeper: Keeper[DaemonState, DaemonCommand] = Keeper(
        Journal(EventLog.open(folder, disk=disk)),
        blank=DaemonState,
        fold=fold_daemon,
        decide=decide_daemon,
        clock=clock,
    )
    return keeper, DailyBudget(keeper, catalog, limits, clock)
