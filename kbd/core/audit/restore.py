"""Restore of a home from a backup, and the first start of the home that was restored.

To restore, no daemon is needed, and none may have the home. Only what the backup's list vouches for
is copied: a file that somebody put beside it, settings for instance, does not get into a home. What
is not in a backup (published files that the log knows, the draft's, snapshots) is made again by the
daemon when it opens a workbench.

A home that was restored has the file `restored.json` until its first daemon has settled it, so that
nothing is done twice. The home that the backup is of may still be at work, on this machine or
another: it watches the same folders. So every watch is paused until a person resumes it, what was
under way at the time of the backup is put aside, and no rule's command is run for what came to its
end before. All of that is recorded, so `kbd watch failed` tells of it.
"""

import fcntl
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec
from anyio.to_thread import run_sync

from kbd.core.audit.backup import find_faults, log_folder
from kbd.core.audit.backup_contents import copy_file, make_private_folder, verify_and_list_blobs
from kbd.core.audit.backup_inventory import Inventory, InventoryLog, read_inventory
from kbd.core.audit.whole_paths import NewFolder, resolve_new_folder
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_decisions import FinishRun, PauseWatch, RecordCommandEnd
from kbd.core.domain.watch_state import LandingStage, Watch, WatchStatus
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.paths import Home
from kbd.core.store.keeper import Keeper
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed, UserCanceled, ValidationFailed
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.scan import read_log
from kbd.events.watches import WatchCommandEnded, WatchRunFinished
from kbd.types import BlobHash

__all__ = ["RESTORED_NAME", "NewHome", "Restored", "restore", "settle_restored"]


RESTORED_NAME = "restored.json"

_BACKED_UP_FOLDERS = frozenset({"daemon", "landed", "workbenches"})
"""What of a home can come from a backup."""


class Restored(msgspec.Struct, frozen=True):
    """Marker of a restored home: the time of the backup, `created_at` (ISO 8601, UTC)."""

    created_at: str


class NewHome(msgspec.Struct, frozen=True):
    """Result of a restore.

    Args:
        inventory: What the backup holds.
        watches: How many folders are watched.
    """

    inventory: Inventory
    watches: int


def restore(backup: Path, home: Path, disk: Disk = DISK) -> NewHome:
    """Make a home from a backup that was checked. Blocking; after a failure there is no home.

    Args:
        backup: The backup's folder.
        home: The new home's folder, absolute; it does not exist, or is empty.
        disk: What writes.

    Raises:
        ValidationFailed: There is a home already, or no place for one.
        FileReadFailed: The backup cannot be read.
        DiskFull: No space is left.
        FileWriteFailed: The home cannot be written, or does not read back as the backup is.
    """
    inventory = read_inventory(backup)
    _check_unused(home)
    place = resolve_new_folder(home, "the home")
    try:
        new = NewFolder(place, disk)
        try:
            for path in _listed_paths(backup, inventory):
                _copy_file(backup, new.folder, path, disk)
            # The copy is read back before it has the home's name: what has the name is whole.
            if next(find_faults(new.folder, inventory), None) is not None:
                raise FileWriteFailed("what was written does not read back as the backup is")
            watches = _count_watches(new.folder, inventory)
            marker = msgspec.json.encode(Restored(inventory.created_at))
            # Before the folder has its name: no daemon may start on this home without it.
            disk.write_file(new.folder / RESTORED_NAME, [marker])
            new.land()
        finally:
            new.remove()
    except OSError as error:
        if is_full(error):
            raise DiskFull("no space is left for the home; nothing is left behind") from error
        raise FileWriteFailed(f"the home cannot be written: {error.strerror}") from error
    return NewHome(inventory, watches)


def _count_watches(folder: Path, inventory: Inventory) -> int:
    """Return how many folders are watched, as far as the daemon's log can be read."""
    state = DaemonState()
    if all(log.workbench_id != "daemon" or not log.damage for log in inventory.logs):
        read_log(folder / log_folder("daemon") / "log", partial(fold_daemon, state))
    watches = state.watching.watches.values()
    return sum(watch.status is not WatchStatus.REMOVED for watch in watches)


def _check_unused(folder: Path) -> None:
    """Check that no daemon has the home.

    Raises:
        ValidationFailed: One has.
    """
    lock = Home(folder=folder, socket=folder).lock_file
    try:
        held = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return
    try:
        # A daemon holds the lock for life (reliability, R12); the file alone says nothing.
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValidationFailed(f"a daemon runs on this home: {folder}") from None
    finally:
        os.close(held)


def _listed_paths(backup: Path, inventory: Inventory) -> Iterator[PurePosixPath]:
    """Yield the paths of all files that the list vouches for.

    Raises:
        FileReadFailed: One of them is none of a home.
    """
    listed = [PurePosixPath(file.path) for file in inventory.files]
    # A path that came twice would fail: a copy never overwrites (O_EXCL).
    seen = set(listed)
    for log in inventory.logs:
        if not log.damage:
            listed += [path for path in _log_paths(backup, log) if path not in seen]
    for path in listed:
        # A list that somebody changed must not lead out of the home.
        if ".." in path.parts or not _BACKED_UP_FOLDERS.intersection(path.parts[:1]):
            raise FileReadFailed(f"the backup names a file that is none of a home: {path}")
        yield path


def _log_paths(backup: Path, log: InventoryLog) -> Iterator[PurePosixPath]:
    place = PurePosixPath(log_folder(log.workbench_id))
    for name, _ in log.segments:
        yield place / "log" / name
    unsound = set(log.unsound)
    for blob in verify_and_list_blobs(Path(backup, place, "log"))[1]:
        if blob not in unsound:
            yield place / _blob_path(blob)


def _blob_path(blob: BlobHash) -> PurePosixPath:
    return PurePosixPath("blobs", blob[:2], blob)


def _copy_file(backup: Path, folder: Path, path: PurePosixPath, disk: Disk) -> None:
    make_private_folder((folder / path).parent)
    is_blob = path.parts[0] == "landed" or path.parts[2:3] == ("blobs",)
    # O_NOFOLLOW: a link in a backup must not bring other files into the home. O_NONBLOCK: nor may a
    # pipe hang it (reliability, A20).
    held = os.open(backup / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        copy_file(held, folder / path, disk, 0o400 if is_blob else 0o600)
    finally:
        os.close(held)


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
    # Copies, here and below: what is recorded takes ended landings, and removed watches, out.
    for watch in tuple(keeper.state.watching.watches.values()):
        if watch.status is not WatchStatus.REMOVED:
            # The daemon that was backed up may still watch this folder, and both would work on it.
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
    # Or a crash of the machine brings the file back, and with it the pause of every watch.
    DISK.sync_directory(path.parent)
