"""Start of the daemon with a damaged log of its own: read-only for what depends on it.

What comes before the damage is folded and can be read. Logs of workbenches are logs of their own,
so workbenches open and work as always. Whatever must be recorded in the daemon's log is refused by
its Keeper: workbenches are neither created nor deleted, nothing is set, no folder is watched, and
no model that money or data goes to is called, since a call reserves its part of the day's budget
first. So nothing is done either that an event behind the damage may have forbidden.

Workbenches that the readable part does not name are listed as the first events of their own logs
say, in a folder or an archive. That a workbench was deleted may be hidden, too: its row says so,
and no folder is removed.
"""

from collections.abc import Sequence

import msgspec
from anyio.to_thread import run_sync

from kbd.core.audit.home_logs import hidden_workbenches, known_as_found
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench, note_deleted
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.paths import Home
from kbd.core.store.keeper import Keeper
from kbd.errors import DiskFull, LogCorrupt
from kbd.events.codec import NotUnderstood
from kbd.events.faults import fault_kind
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
    known = tuple(keeper.state.workbenches.values())
    found = await run_sync(_look_at_home, home, known, deleted)

    def change(state: DaemonState) -> None:
        state.workbenches = {each.workbench_id: each for each in found}

    keeper.amend(change)


def _refusal(damage: LogCorrupt) -> LogCorrupt:
    """Return what is answered to whatever must be recorded: where the damage is and what helps."""
    place = f"{damage.detail.get('file')}, event {damage.detail.get('seq')}"
    return LogCorrupt(
        f"the daemon's own log is damaged ({place}), so nothing can be recorded in it until"
        " `kbd repair daemon` has mended it; `kbd verify daemon` tells more",
        detail=damage.detail,
    )


def _look_at_home(
    home: Home, known: Sequence[KnownWorkbench], deleted: set[WorkbenchId]
) -> list[KnownWorkbench]:
    """Return the workbenches of which something is there, those last that damage hides. Blocks.

    One that is known and has no log may have been deleted behind the damage: opened, it would be
    made anew, empty.
    """
    scratch = home.archives / "reading"
    try:
        found = [known_as_found(home, each, scratch) for each in known]
        hidden = hidden_workbenches(home, {each.workbench_id for each in known} | deleted, scratch)
    except DiskFull as error:
        # A full disk is no reason not to start.
        _log.warning("archives_not_looked_at", error=error.message)
        return list(known)
    # The home may be of a backup whose log is damaged: no snapshot in an archive is believed then.
    there = [
        msgspec.structs.replace(
            each, archive=each.archive and msgspec.structs.replace(each.archive, restored=True)
        )
        for each in found
        if each is not None
    ]
    return there + [
        KnownWorkbench(
            each.workbench_id,
            each.first.data.name,
            each.first.ts_us,
            each.first.actor,
            doubt=_HIDDEN,
            archive=each.archive,
        )
        for each in hidden
        if each.first is not None
    ]
