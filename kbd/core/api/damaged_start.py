"""Start of the daemon with a damaged log of its own: read-only for what depends on it.

What comes before the damage is folded and can be read. Logs of workbenches are logs of their own,
so workbenches open and work as always. Whatever must be recorded in the daemon's log is refused by
its Keeper: workbenches are neither created nor deleted, nothing is set, no folder is watched, and
no model that money or data goes to is called, since a call reserves its part of the day's budget
first. So nothing is done either that an event behind the damage may have forbidden.

Folders of workbenches that the readable part does not name are listed as their own first events
say. That a workbench was deleted may be hidden, too: its row says so, and no folder is removed.
"""

from anyio.to_thread import run_sync

from kbd.core.audit.home_logs import hidden_workbenches, note_deleted
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.store.keeper import Keeper
from kbd.errors import LogCorrupt
from kbd.events.codec import NotUnderstood
from kbd.events.faults import fault_kind
from kbd.events.segment import segment_names
from kbd.types import Seq, WorkbenchId

__all__ = ["load_readable"]

_HIDDEN = (
    "the daemon's log is damaged before it names this workbench: it may have been deleted since;"
    " `kbd repair daemon` settles it"
)

_log = get_logger(__name__)


async def load_readable(
    keeper: Keeper[DaemonState, DaemonCommand],
    home: Home,
    snapshot: DaemonState | None,
) -> None:
    """Fold the daemon's log as far as it can be read; add the workbenches that damage hides.

    Args:
        keeper: The Keeper of the log, which does not run yet.
        home: The home.
        snapshot: The state of its newest snapshot, if there is one.

    Raises:
        LogCorrupt: A newer kbd wrote what must be understood, an event (`NotUnderstood`) or a
            segment: nothing is damaged.
    """
    log = keeper.journal.log
    try:
        await keeper.load(snapshot)
    except NotUnderstood:
        raise
    except LogCorrupt:
        pass  # The log has it as its damage; what came before is folded.
    if log.damage is None:
        return
    # A segment that a newer kbd wrote: nothing is damaged, and nothing is to be made of it here.
    if fault_kind(log.damage) == "unknown":
        raise log.damage
    log.damage = _refusal(log.damage)
    _log.error("log_damaged", log="daemon", **log.damage.detail)
    deleted: set[WorkbenchId] = set()
    await keeper.journal.replay(lambda _seq, record: note_deleted(deleted, record), Seq(0))
    hidden, gone = await run_sync(_look_at_folders, home, set(keeper.state.workbenches), deleted)

    def change(state: DaemonState) -> None:
        for workbench_id in gone:
            del state.workbenches[workbench_id]
        state.workbenches.update({each.workbench_id: each for each in hidden})

    keeper.amend(change)


def _refusal(damage: LogCorrupt) -> LogCorrupt:
    """Return what is answered to whatever must be recorded: where the damage is and what helps."""
    place = f"{damage.detail.get('file')}, event {damage.detail.get('seq')}"
    return LogCorrupt(
        f"the daemon's own log is damaged ({place}), so nothing can be recorded in it until"
        " `kbd repair daemon` has mended it; `kbd verify daemon` tells more",
        detail=damage.detail,
    )


def _look_at_folders(
    home: Home, known: set[WorkbenchId], deleted: set[WorkbenchId]
) -> tuple[list[KnownWorkbench], list[WorkbenchId]]:
    """Return the workbenches that damage hides, and those that are known and have no log. Blocks.

    The latter may have been deleted behind the damage: opened, they would be made anew, empty.
    """
    hidden = [
        KnownWorkbench(folders.id, first.data.name, first.ts_us, first.actor, doubt=_HIDDEN)
        for folders, first in hidden_workbenches(home, known | deleted)
        if first is not None
    ]
    return hidden, [each for each in known if not _has_log(home.workbench(each))]


def _has_log(folders: WorkbenchFolders) -> bool:
    return folders.exists() and bool(segment_names(folders.log))
