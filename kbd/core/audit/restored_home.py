"""First start of a restored home: pauses and settles, so that nothing is done twice.

The home that the backup is of may still be at work, on this machine or another: it watches the same
folders. So every watch is paused until a person resumes it, what was under way at the time of the
backup is put aside, and no rule's command is run for what came to its end before. All of that is
recorded, so `kbd watch failed` tells of it.
"""

import os
from pathlib import Path

import msgspec
from anyio.to_thread import run_sync

from kbd.core.audit.restore import RESTORED_NAME, Restored
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import FinishRun, PauseWatch, RecordCommandEnd
from kbd.core.domain.watch_state import LandingStage, Watch, WatchStatus
from kbd.core.runtime.clock import Clock
from kbd.core.store.keeper import Keeper
from kbd.errors import UserCanceled
from kbd.events.disk import DISK
from kbd.events.watches import WatchCommandEnded, WatchRunFinished

__all__ = ["settle_restored"]


async def settle_restored(
    folder: Path, keeper: Keeper[DaemonState, DaemonCommand], clock: Clock
) -> None:
    """Settle a restored home before its folders are watched; other homes are left alone.

    A crash on the way leaves the file that says so, and all of it can be repeated.

    Args:
        folder: The home.
        keeper: The Keeper of the daemon's log.
        clock: The time.

    Raises:
        KbdError: It cannot be recorded.
    """
    path = folder / RESTORED_NAME
    restored = await run_sync(_read_marker, path)
    if restored is None:
        return
    reason = (
        f"this home was restored from a backup of {_format_time(restored)}: resume it when no "
        "other kbd watches the folder"
    )
    for watch in tuple(keeper.state.watching.watches.values()):
        if watch.status is not WatchStatus.REMOVED:
            await keeper.submit(PauseWatch(watch.watch_id, reason))
        for finished in _interrupted_runs(watch):
            await keeper.submit(FinishRun(finished, retryable=False, now_us=clock.now_us()))
        for due in tuple(watch.due):
            ended = WatchCommandEnded(watch.watch_id, due.landings, None, "kbd was restored")
            await keeper.submit(RecordCommandEnd(ended))
    # Last: after a crash the next start finds the file, and repeats all of it.
    await run_sync(_remove_marker, path)


def _interrupted_runs(watch: Watch) -> list[WatchRunFinished]:
    """Return the end of each run that was under way when the backup was made."""
    running = watch.in_stage(LandingStage.RUNNING)
    groups = {landing.group: landing for landing in running}
    return [
        WatchRunFinished(
            watch_id=watch.watch_id,
            landings=group,
            workbench_id=first.workbench_id,
            outcome="failed",
            run_id=first.run_id,
            code=UserCanceled.code,
            message=(
                "it was under way when the backup was made from which this home was restored, and "
                "may have come to its end elsewhere"
            ),
        )
        for group, first in groups.items()
    ]


def _format_time(restored: Restored) -> str:
    return restored.created_at[:16].replace("T", " ") + " UTC"


def _read_marker(path: Path) -> Restored | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Restored)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError:
        return Restored("unknown time")


def _remove_marker(path: Path) -> None:
    os.unlink(path)
    DISK.sync_directory(path.parent)
