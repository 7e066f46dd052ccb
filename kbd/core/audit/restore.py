"""Restore of a home from a backup. No daemon is needed, and none may have the home.

Only what the backup's list vouches for is copied: a file that somebody put beside it, settings for
instance, does not get into a home. What is not in a backup (published files that the log knows, the
draft's, snapshots) is made again by the daemon when it opens a workbench.

A home that was restored has the file `restored.json` until its first daemon has seen to it.
"""

import fcntl
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec

from kbd.core.audit.backup import find_faults, log_folder
from kbd.core.audit.backup_contents import copy_file, make_private_folder, verify_and_list_blobs
from kbd.core.audit.backup_inventory import Inventory, InventoryLog, read_inventory
from kbd.core.audit.whole_paths import NewFolder, resolve_new_folder
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_state import WatchStatus
from kbd.core.runtime.paths import Home
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed, ValidationFailed
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.scan import read_log
from kbd.types import BlobHash

__all__ = ["RESTORED_NAME", "NewHome", "Restored", "restore"]

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
            if next(find_faults(new.folder, inventory), None) is not None:
                raise FileWriteFailed("What was written does not read back as the backup is.")
            watches = _count_watches(new.folder, inventory)
            told = msgspec.json.encode(Restored(inventory.created_at))
            # Before the folder has its name: no daemon may start on this home without it.
            disk.write_file(new.folder / RESTORED_NAME, [told])
            new.land()
        finally:
            new.remove()
    except OSError as error:
        if is_full(error):
            raise DiskFull("No space is left for the home; nothing is left behind.") from error
        raise FileWriteFailed(f"The home cannot be written: {error.strerror}.") from error
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
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValidationFailed(f"A daemon runs on this home: {folder}") from None
    finally:
        os.close(held)


def _listed_paths(backup: Path, inventory: Inventory) -> Iterator[PurePosixPath]:
    """Yield the paths of all files that the list vouches for.

    Raises:
        FileReadFailed: One of them is none of a home.
    """
    listed = [PurePosixPath(file.path) for file in inventory.files]
    seen = set(listed)
    for log in inventory.logs:
        if not log.damage:
            listed += [path for path in _log_paths(backup, log) if path not in seen]
    for path in listed:
        if ".." in path.parts or not _BACKED_UP_FOLDERS.intersection(path.parts[:1]):
            raise FileReadFailed(f"The backup names a file that is none of a home: {path}")
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
    held = os.open(backup / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        copy_file(held, folder / path, disk, 0o400 if is_blob else 0o600)
    finally:
        os.close(held)
