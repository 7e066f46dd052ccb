"""Restore of a home from a backup, and the first start of the home that was restored.

To restore, no daemon is needed, and none may have the home. Only what the backup's list vouches for
is copied: a file that somebody put beside it, settings for instance, does not get into a home. What
is not in a backup (published files that the log knows, the draft's, snapshots) is made again by the
daemon when it opens a workbench.

The home that the backup is of may still be at work, on this machine or another: it watches the same
folders. Or the backup is a stranger's, and what it says that people agreed to nobody did. So the
daemon's log ends with `HomeRestored` when the home gets its name: consent is asked for again, every
watch is paused, and no command, publish or delivery of a rule is in force before a person confirmed
it by name. Each workbench records the same before anything is done in it.

Where the daemon's log is damaged nothing can be recorded. Then the file `restored.json` says it,
and the first daemon that can records it.
"""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path, PurePosixPath

import msgspec
from anyio.to_thread import run_sync

from kbd.core.audit.archived_logs import unpacked_archive
from kbd.core.audit.backup import archive_file, find_faults, log_folder
from kbd.core.audit.backup_contents import copy_file, make_private_folder, verify_and_list_blobs
from kbd.core.audit.backup_inventory import Inventory, InventoryLog, read_inventory
from kbd.core.audit.log_inspection import inspect_log
from kbd.core.audit.whole_paths import NewFolder, resolve_new_folder
from kbd.core.domain.daemon_decisions import DaemonCommand, RecordDaemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.watch_state import WatchStatus
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home
from kbd.core.store.archive_shelf import archived_ids
from kbd.core.store.keeper import Keeper
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed, ValidationFailed
from kbd.events.codec import wrap_event
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.log import EventLog
from kbd.events.restores import HomeRestored
from kbd.events.scan import read_log
from kbd.events.shortages import raise_shortage
from kbd.events.watches import WatchRule
from kbd.types import BlobHash

__all__ = ["RESTORED_NAME", "NewHome", "Restored", "restore", "settle_restored"]


RESTORED_NAME = "restored.json"


class Restored(msgspec.Struct, frozen=True):
    """Marker of a restored home: the time of the backup, `created_at` (ISO 8601, UTC)."""

    created_at: str


class NewHome(msgspec.Struct, frozen=True):
    """Result of a restore.

    Args:
        inventory: What the backup holds.
        rules: The rules of its watches, none of which is in force.
        consent_mode: The consent mode that it had, and the home has not.
        consents: How many consents its workbenches had, which hold no more.
    """

    inventory: Inventory
    rules: tuple[WatchRule, ...]
    consent_mode: str
    consents: int


def restore(backup: Path, home: Path, disk: Disk = DISK, now_us: int | None = None) -> NewHome:
    """Make a home from a backup that was checked. Blocking; after a failure there is no home.

    Args:
        backup: The backup's folder.
        home: The new home's folder, absolute; it does not exist, or is empty.
        disk: What writes.
        now_us: The time that its first event of its own carries; None for the present.

    Raises:
        ValidationFailed: There is a home already, or no place for one.
        FileReadFailed: The backup cannot be read, or its logs name what is none of a home.
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
            # What an event names is no fault of the copy, and refused below.
            faults = (each for each in find_faults(new.folder, inventory) if each.kind != "name")
            if next(faults, None) is not None:
                raise FileWriteFailed("what was written does not read back as the backup is")
            consents = sum(
                inspect_log(new.folder / log_folder(log.workbench_id) / "log", log)
                for log in inventory.logs
            )
            consents += _inspect_archives(new.folder, inventory)
            # Before the folder has its name: no daemon may start on this home without it.
            state = _record_restore(new.folder, inventory, disk, now_us)
            new.land()
        finally:
            new.remove()
    except OSError as error:
        if is_full(error):
            raise DiskFull("no space is left for the home; nothing is left behind") from error
        raise_shortage(error)
        raise FileWriteFailed(f"the home cannot be written: {error.strerror}") from error
    watches = state.watching.watches.values()
    rules = tuple(each.rule for each in watches if each.status is not WatchStatus.REMOVED)
    return NewHome(inventory, rules, state.consent_mode, consents)


def _inspect_archives(folder: Path, inventory: Inventory) -> int:
    """Read the logs of all archives through; return how many consents they hold.

    Those, too, that are called damaged: who made the backup may only say so.

    Raises:
        FileReadFailed: One cannot be read, or a name in it leads out.
    """
    home = Home(folder=folder, socket=folder)
    whole = {each.workbench_id for each in inventory.archives if not each.damage}
    consents = 0
    for workbench_id in archived_ids(home):
        damage = "" if workbench_id in whole else "it was not what was packed"
        entry = InventoryLog(workbench_id=workbench_id, name="", damage=damage)
        with ExitStack() as stack:
            opened = unpacked_archive(home.archive(workbench_id), None, home.archives)
            try:
                copy = stack.enter_context(opened)
            except FileReadFailed:
                if not damage:
                    raise
                continue
            if not damage or (copy / "log").is_dir():
                consents += inspect_log(copy / "log", entry)
    return consents


def _record_restore(
    folder: Path, inventory: Inventory, disk: Disk, now_us: int | None
) -> DaemonState:
    """Record in the daemon's log that this home was restored; return its state before that."""
    state = DaemonState()
    log_dir = folder / log_folder("daemon") / "log"
    if read_log(log_dir, partial(fold_daemon, state)).fault is not None:
        # Found out here: a backup that only calls its log damaged would have its rules unseen.
        marker = msgspec.json.encode(Restored(inventory.created_at))
        disk.write_file(folder / RESTORED_NAME, [marker])
        return state
    log = EventLog.open(log_dir, disk=disk)
    try:
        fact = _restored_event(inventory.created_at)
        log.append([wrap_event(fact, SystemClock().now_us() if now_us is None else now_us)])
    finally:
        log.close()
    return state


def _restored_event(created_at: str) -> HomeRestored:
    # Random: who makes a backup cannot have its workbenches say beforehand that this is settled.
    return HomeRestored(secrets.token_hex(8), created_at)


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
    """Yield the paths of all files that the list vouches for."""
    listed = [PurePosixPath(file.path) for file in inventory.files]
    # A path that came twice would fail: a copy never overwrites (O_EXCL).
    seen = set(listed)
    for log in inventory.logs:
        if not log.damage:
            listed += [path for path in _log_paths(backup, log) if path not in seen]
    listed += [
        path
        for archive in inventory.archives
        if not archive.damage
        and (path := PurePosixPath(archive_file(archive.workbench_id))) not in seen
    ]
    yield from listed


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


async def settle_restored(folder: Path, keeper: Keeper[DaemonState, DaemonCommand]) -> None:
    """Record that a home was restored where its restore could not; before its folders are watched.

    While the log is damaged no folder is watched, and the start that finds it mended records it.

    Args:
        folder: The home.
        keeper: The Keeper of the daemon's log.

    Raises:
        KbdError: It cannot be recorded.
    """
    path = folder / RESTORED_NAME
    restored = await run_sync(_read_marker, path)
    if restored is None or keeper.journal.log.damage is not None:
        return
    await keeper.submit(RecordDaemon((_restored_event(restored.created_at),)))
    # Last: after a crash the next start finds the file, and records it once more.
    await run_sync(_remove_marker, path)


def _read_marker(path: Path) -> Restored | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Restored)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError:
        return Restored("an unknown time")


def _remove_marker(path: Path) -> None:
    os.unlink(path)
    # Or a crash of the machine brings the file back, and with it the pause of every watch.
    DISK.sync_directory(path.parent)
