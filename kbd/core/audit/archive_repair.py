"""Repair of archives of a home that no daemon has, by a backup.

The very same file is put back, as its hash says. Else a workbench that the backup has in another
form, with a whole log that ends with the event that was recorded, is unpacked in its place, and the
daemon's log says so. The damaged file is kept as `<archive>.damaged-<n>`.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import msgspec

from kbd.core.audit.archived_logs import unpacked_archive, verify_archive
from kbd.core.audit.backup import archive_file, log_folder
from kbd.core.audit.backup_contents import copy_file, hash_file, walk_files
from kbd.core.audit.log_inspection import event_objection
from kbd.core.domain.daemon_state import ArchivedCopy, DaemonState, fold_daemon, note_deleted
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.runtime.paths import Home
from kbd.core.store.archive_shelf import ArchiveShelf, Kept
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.codec import wrap_event
from kbd.events.damage_repair import KEPT
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.log import EventLog
from kbd.events.repair import free_name
from kbd.events.restores import WorkbenchRestored
from kbd.events.scan import read_log
from kbd.events.verification import verify_log
from kbd.events.vocabulary import Event
from kbd.events.workbenches import WorkbenchUnarchived
from kbd.types import Seq, WorkbenchId

__all__ = ["ArchiveRepair", "ArchiveRepaired", "backup_copy", "settle_archives"]

_REPAIRABLE = frozenset({"archive missing", "archive damaged"})

_PARTS = ("log", "blobs", "published")
"""What a backup has of a workbench; the rest is made again when it is opened."""


class ArchiveRepaired(msgspec.Struct, frozen=True):
    """Result of repairing an archive.

    Args:
        damage: What was wrong with it; "" if it was whole.
        mended: By what it was mended; "" if it was not.
        reasons: Why not, a line for each place that was looked at.
        kept_as: Under which name the damaged file is kept; "" if there was none.
    """

    damage: str = ""
    mended: str = ""
    reasons: tuple[str, ...] = ()
    kept_as: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether the workbench is whole now."""
        return not self.damage or bool(self.mended)


@contextmanager
def backup_copy(
    backup: Path, workbench_id: str, parts: tuple[str, ...], blobs: frozenset[str] | None = None
) -> Iterator[Path | None]:
    """Provide the folder that a backup has of a workbench; of one that is archived, a copy.

    Args:
        backup: The backup's folder.
        workbench_id: Which.
        parts: What is wanted of an archive, as `log`.
        blobs: Which file versions are wanted of an archive; None for all.

    Yields:
        The folder; None if the backup has neither.

    Raises:
        FileReadFailed: The backup's archive is damaged.
        DiskFull: There is no space for the copy.
        OSError: It cannot be written.
    """
    folder, archive = backup / log_folder(workbench_id), backup / archive_file(workbench_id)
    with ExitStack() as stack:
        if not folder.is_dir() and os.path.lexists(archive):
            opened = unpacked_archive(
                archive,
                None,
                None,
                parts,
                lambda path, _: blobs is None or path.parts[0] != "blobs" or path.name in blobs,
            )
            yield stack.enter_context(opened)
        else:
            yield folder if folder.is_dir() else None


def settle_archives(home: Home, disk: Disk = DISK) -> None:
    """Finish what a daemon that died had begun with archives, if its log is whole.

    Raises:
        OSError: It cannot be done.
    """
    state, deleted = DaemonState(), set[WorkbenchId]()

    def apply(seq: Seq, record: Recorded) -> None:
        fold_daemon(state, seq, record)
        note_deleted(deleted, record)

    if read_log(home.daemon_log, apply).fault is not None:
        return
    shelf = ArchiveShelf(home, disk)
    for workbench_id in shelf.unsettled():
        known = state.workbenches.get(workbench_id)
        if known is not None:
            shelf.settle(workbench_id, Kept.ARCHIVE if known.archive else Kept.FOLDER)
        elif workbench_id in deleted:
            shelf.settle(workbench_id, Kept.GONE)


class ArchiveRepair:
    """Repair of one archive of a home; hold the home alone meanwhile (`lock_home`).

    Args:
        home: The home.
        workbench_id: The workbench that is packed.
        copy: Its archive, by the daemon's log.
        disk: What writes.
        now_us: Tells the time that recorded events carry; None for the present.
    """

    def __init__(
        self,
        home: Home,
        workbench_id: str,
        copy: ArchivedCopy,
        disk: Disk = DISK,
        now_us: Callable[[], int] | None = None,
    ) -> None:
        self._home, self._id, self._copy = home, WorkbenchId(workbench_id), copy
        self._disk, self._now_us = disk, now_us or SystemClock().now_us
        self._archive, self._stage = home.archive(workbench_id), home.archives / "stage"

    def repair(self, backup: Path | None) -> ArchiveRepaired:
        """Verify the archive, and mend it by a backup; without one nothing is changed.

        Raises:
            KbdError: It cannot be done, or the daemon's log is damaged; what was there still is.
            OSError: A file cannot be read or written; likewise.
        """
        found = verify_archive(self._archive, self._id, self._copy)
        if found.ok:
            return ArchiveRepaired()
        fault = found.faults[0]
        if backup is None or fault.kind not in _REPAIRABLE:
            return ArchiveRepaired(fault.message)
        reasons: list[str] = []
        try:
            for mend in (self._take_archive, self._take_folder):
                done = mend(backup, reasons)
                if done is not None:
                    return msgspec.structs.replace(done, damage=fault.message)
        except OSError as error:
            if is_full(error):
                msg = "no space is left to mend the archive; nothing was changed"
                raise DiskFull(msg) from error
            raise
        return ArchiveRepaired(fault.message, reasons=tuple(reasons))

    def _take_archive(self, backup: Path, reasons: list[str]) -> ArchiveRepaired | None:
        """Put the very same file back, if the backup has it."""
        source = backup / archive_file(self._id)
        if not os.path.lexists(source):
            reasons.append("the backup has no archive of it")
            return None
        theirs = verify_archive(source, self._id, self._copy)
        if not theirs.ok:
            reasons.append(f"the backup's archive is another one: {theirs.faults[0].message}")
            return None
        packing = self._staged("packing")
        try:
            self._copy_file(source, packing)
            if hash_file(packing) != self._copy.sha256:
                raise FileWriteFailed("what was written does not read back as the backup is")
        except BaseException:
            packing.unlink(missing_ok=True)
            raise
        kept_as = self._keep_damaged()
        self._move(packing, self._archive)
        return ArchiveRepaired(mended="by the same file of the backup", kept_as=kept_as)

    def _take_folder(self, backup: Path, reasons: list[str]) -> ArchiveRepaired | None:
        """Unpack the workbench as the backup has it, if its log is whole and ends as recorded."""
        try:
            with backup_copy(backup, self._id, _PARTS) as source:
                if source is None:
                    reasons.append("the backup has no folder of it")
                    return None
                if reason := self._objection(source):
                    reasons.append(reason)
                    return None
                return self._unpack(source)
        except FileReadFailed as error:
            reasons.append(f"the backup's archive cannot be unpacked: {error.message}")
            return None

    def _objection(self, source: Path) -> str:
        """Return why a folder is not the workbench that was packed; "" if it is."""
        found = verify_log(
            source / "log",
            BlobStore(source / "blobs"),
            objection=partial(event_objection, self._id),
        )
        if found.fault is not None:
            return f"the backup's log of it is not whole: {found.fault.reason}"
        if found.seq != self._copy.seq:
            return f"the backup's log of it ends with event {found.seq}, not {self._copy.seq}"
        return ""

    def _unpack(self, source: Path) -> ArchiveRepaired:
        # First of all: if nothing can be recorded, nothing is changed.
        daemon = EventLog.open(self._home.daemon_log, disk=self._disk)
        try:
            unpacking = self._staged("unpacking")
            try:
                self._fill(unpacking, source)
            except BaseException:
                remove_tree(unpacking)
                raise
            self._move(unpacking, self._staged("unpacked"))
            kept_as = self._keep_damaged()
            self._append(daemon, WorkbenchUnarchived(self._id, "it was repaired from a backup"))
        finally:
            daemon.close()
        ArchiveShelf(self._home, self._disk).settle(self._id, Kept.FOLDER)
        return ArchiveRepaired(mended="unpacked as the backup has it", kept_as=kept_as)

    def _fill(self, folder: Path, source: Path) -> None:
        """Copy what a backup has of the workbench to a new folder; end its log as restored."""
        remove_tree(folder)
        for part in _PARTS:
            self._disk.make_directory(folder / part)
            for name in walk_files(source / part, lambda _line: None):
                path = source / part / name
                # Links lead to what no log vouches for.
                if path.is_file() and not path.is_symlink():
                    self._copy_file(path, folder / part / name)
        # Only the backup vouches for it: as in what is restored nothing is in force.
        own = EventLog.open(folder / "log", disk=self._disk)
        try:
            self._append(own, WorkbenchRestored(secrets.token_hex(8)))
        finally:
            own.close()

    def _append(self, log: EventLog, fact: Event) -> None:
        log.append([wrap_event(fact, self._now_us())])

    def _copy_file(self, source: Path, target: Path) -> None:
        """Copy a regular file to a new one, durably."""
        self._disk.make_directory(target.parent)
        target.unlink(missing_ok=True)
        # O_NONBLOCK: opening a FIFO that somebody put there must not hang (reliability, A20).
        held = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            copy_file(held, target, self._disk, 0o400 if "blobs" in target.parts else 0o600)
        finally:
            os.close(held)
        written = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._disk.sync(written)
        finally:
            os.close(written)
        self._disk.sync_directory(target.parent)

    def _keep_damaged(self) -> str:
        """Keep the damaged file under another name; return that, or "" if there is none."""
        if not os.path.lexists(self._archive):
            return ""
        kept_as = free_name(self._home.archives, self._archive.name, KEPT)
        self._move(self._archive, self._home.archives / kept_as)
        return kept_as

    def _staged(self, step: str) -> Path:
        self._disk.make_directory(self._stage)
        return self._stage / f"{self._id}.{step}"

    def _move(self, source: Path, target: Path) -> None:
        self._disk.rename(source, target)
        for folder in dict.fromkeys((target.parent, source.parent)):
            self._disk.sync_directory(folder)
