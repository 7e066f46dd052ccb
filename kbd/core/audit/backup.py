"""A backup: all logs, file versions and archives in a folder, laid out as a home is, `backup.json`.

It is made while work goes on: the daemon's log first, up to the event that its state is at, then
each workbench that this state knows, up to what is durable by then. So no fact of the daemon's log
is ahead of the workbench that it tells of, and each log is an exact beginning of the one in use.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kbd import __version__
from kbd.core.audit.archived_logs import verify_archive
from kbd.core.audit.backup_contents import BackupCopier, hash_file, verify_and_list_blobs
from kbd.core.audit.backup_inventory import (
    FORMAT,
    Inventory,
    InventoryArchive,
    InventoryFile,
    InventoryLog,
    read_inventory,
)
from kbd.core.audit.case_file import CheckResult
from kbd.core.audit.log_inspection import event_objection
from kbd.core.audit.whole_paths import NewFolder, resolve_new_folder
from kbd.core.domain.daemon_state import ArchivedCopy
from kbd.core.runtime.paths import ARCHIVE_SUFFIX, Home
from kbd.core.store.archive_shelf import archived_ids
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed, LogCorrupt
from kbd.events.blobs import BlobStore
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.segment import segment_names
from kbd.events.shortages import raise_shortage
from kbd.requests.daemon import LogFault, LogVerified
from kbd.types import BlobHash, Seq, WatchId, WorkbenchId

__all__ = ["Backup", "archive_file", "check_backup", "find_faults", "log_folder"]

_OWN_NAMES = frozenset(
    {"archives", "daemon", "kbd.lock", "kbd.sock", "landed", "restored.json", "workbenches"}
)
"""What kbd itself has in a home."""

_FORMAT_WITHOUT_ARCHIVES = 1
"""What is written if there are none: an older kbd reads it, too."""

MAX_SEGMENT_BYTES = 128 * 1024 * 1024
"""The longest segment that is read: one is followed by the next at 32 MiB, and a frame is at most
64 MiB long."""

_REBUILT_NOTE = (
    "caches, snapshots, draft/ and what the log knows of published/: rebuilt from the log"
)


def log_folder(log_id: str) -> Path:
    """Return the folder that a log lies in, within a home and within a backup."""
    return Path("daemon") if log_id == "daemon" else Path("workbenches", log_id)


def archive_file(workbench_id: str) -> Path:
    """Return the path of a workbench's archive, within a home and within a backup."""
    return Path("archives", f"{workbench_id}{ARCHIVE_SUFFIX}")


class Backup:
    """Backup in the making. Blocking; one call at a time, each perhaps in another thread.

    Args:
        home: What is copied.
        target: The folder that will hold it, as somebody named it.
        tick: Called between two files; what it raises ends the work.
        disk: What writes.

    Raises:
        ValidationFailed: The target is taken, in the home, or no place for a folder.
        DiskFull: No space is left. So from all methods; nothing is left behind after `close`.
        FileWriteFailed: The target cannot be written. So from all methods.
    """

    def __init__(
        self, home: Home, target: Path, tick: Callable[[], None] = lambda: None, disk: Disk = DISK
    ) -> None:
        self._home, self._disk = home, disk
        # In the home it would copy itself, and go with the home that it is to outlive.
        place = resolve_new_folder(target, "the backup", home.folder)
        with _translate_errors():
            self._new = NewFolder(place, disk)
        self._copier = BackupCopier(self._new.folder, disk, tick)

    def take_daemon(
        self, seq: Seq, landed: Mapping[WatchId, Mapping[BlobHash, str]], damage: str = ""
    ) -> tuple[WorkbenchId, ...]:
        """Copy the daemon's own log, and the copies of landed files that are not done.

        Args:
            seq: The event that its state is at.
            landed: By watch, the hashes of those copies, each with the path that landed.
            damage: Why the log can only be read up to that event; "" if it is whole.

        Returns:
            The workbenches that were taken before.
        """
        entry = InventoryLog(workbench_id="daemon", name="daemon")
        with _translate_errors():
            try:
                # Its readable part would pass for a whole log, and hide that anything is lost.
                if damage:
                    raise LogCorrupt(damage)
                self._copier.take(self._home.folder, log_folder("daemon"), entry, seq)
            except LogCorrupt as error:
                self._copier.take_raw(self._home.folder, log_folder("daemon"), entry, error.message)
            # A file that an earlier round copied may be done by now: the newest log decides.
            self._copier.drop(Path("landed"))
            for watch_id, needed in landed.items():
                self._copier.take_landed(self._home.folder, Path("landed", watch_id), needed)
        logs = self._copier.logs
        return tuple(WorkbenchId(log.workbench_id) for log in logs if log.workbench_id != "daemon")

    def take(self, workbench_id: WorkbenchId, name: str, until: Seq | None) -> None:
        """Copy a workbench: its log up to an event, its blobs, its other files.

        Args:
            workbench_id: Which.
            name: What it is called.
            until: Its last durable event, if somebody has it open.

        Raises:
            LogCorrupt: Its log is damaged; `take_raw` takes it as it is.
            FileNotFoundError: It was removed meanwhile.
        """
        with _translate_errors(may_be_gone=True):
            self._copier.take(
                self._home.folder, log_folder(workbench_id), _log_entry(workbench_id, name), until
            )

    def take_raw(self, workbench_id: WorkbenchId, name: str, reason: str) -> None:
        """Copy a damaged workbench file by file.

        Raises:
            FileNotFoundError: It was removed meanwhile.
        """
        with _translate_errors(may_be_gone=True):
            self._copier.take_raw(
                self._home.folder, log_folder(workbench_id), _log_entry(workbench_id, name), reason
            )

    def pass_over(self, workbench_id: WorkbenchId, name: str) -> None:
        """Note that nothing is there of a workbench that the daemon's log knows."""
        self._copier.pass_over(log_folder(workbench_id), f"{name} (workbench) has no folder")

    def take_archive(self, workbench_id: WorkbenchId, name: str, copy: ArchivedCopy) -> None:
        """Copy the archive of a workbench; one that is damaged as it is, with a note.

        Args:
            workbench_id: Which.
            name: What it is called.
            copy: The archive, by the daemon's log.

        Raises:
            FileNotFoundError: It is not there; `miss_archive` notes that.
        """
        with _translate_errors(may_be_gone=True):
            self._copier.take_archive(
                self._home.archive(workbench_id),
                archive_file(workbench_id),
                _archive_entry(workbench_id, name, copy),
            )

    def miss_archive(self, workbench_id: WorkbenchId, name: str, copy: ArchivedCopy) -> None:
        """Note that an archive that the daemon's log knows is missing."""
        entry = _archive_entry(workbench_id, name, copy)
        self._copier.miss_archive(archive_file(workbench_id), entry, "is missing")

    def drop(self, workbench_id: WorkbenchId) -> None:
        """Leave a workbench out after all, its folder or its archive."""
        with _translate_errors():
            self._copier.drop(log_folder(workbench_id))
            self._copier.drop(archive_file(workbench_id))

    def finish(self, created_at: str) -> tuple[Inventory, int]:
        """Write the inventory, make the backup durable and give it its name.

        Args:
            created_at: The time that it is of; ISO 8601, UTC.

        Returns:
            What it holds, and its size in bytes.
        """
        with _translate_errors():
            archives = self._copier.archives
            inventory = Inventory(
                format=FORMAT if archives else _FORMAT_WITHOUT_ARCHIVES,
                kbd=__version__,
                created_at=created_at,
                logs=self._copier.logs,
                files=self._copier.files,
                left_out=(*self._copier.notes, *self._left_out()),
                archives=archives,
            )
            inventory.write(self._new.folder, self._disk)
            # Read back before the folder gets its name: what has the name is a whole backup.
            if read_inventory(self._new.folder) != inventory:
                raise FileWriteFailed("what was written does not read back as it was")
            paths = self._new.folder.rglob("*")
            size_bytes = sum(path.stat().st_size for path in paths if path.is_file())
            self._new.land()
        return inventory, size_bytes

    def close(self) -> None:
        """Remove what was not finished."""
        self._new.remove()

    def _left_out(self) -> Iterator[str]:
        """Yield a line for each part of the home that is left out."""
        taken = {log.workbench_id for log in self._copier.logs}
        packed = {archive.workbench_id for archive in self._copier.archives}
        for entry in sorted(self._home.folder.iterdir()):
            if entry.name == "settings.toml":
                yield "settings.toml: it may hold keys; keep a copy of your own"
            elif entry.name not in _OWN_NAMES:
                yield f"{_printable(entry.name)}: not kbd's"
        for entry in sorted(self._home.workbenches.iterdir()):
            if entry.name not in taken:
                yield f"workbenches/{_printable(entry.name)}: no workbench that was known then"
        for workbench_id in archived_ids(self._home):
            if workbench_id not in packed:
                yield f"{archive_file(workbench_id)}: no workbench that was known then"
        yield _REBUILT_NOTE


def check_backup(path: Path) -> CheckResult:
    """Read a backup again: every byte of it that belongs to it. Blocking; changes nothing.

    What was damaged when it was copied is no fault of the backup: it is as it was.

    Raises:
        FileReadFailed: This is no backup, or its list of inventory was changed.
    """
    inventory = read_inventory(path)
    sound = [log for log in inventory.logs if not log.damage]
    faults = list[LogFault]()
    packed = [_check_archive(path, each) for each in inventory.archives if not each.damage]
    for checked in packed:
        faults += checked.faults
    return CheckResult(
        kind="backup",
        logs=len(inventory.logs) + len(inventory.archives),
        events=sum(log.seq for log in inventory.logs) + sum(each.seq for each in packed),
        blobs=sum(log.blobs for log in sound) + sum(each.blobs for each in packed),
        head="",
        faults=(*_find_faults_outside(path, inventory), *faults),
    )


def find_faults(folder: Path, inventory: Inventory) -> Iterator[LogFault]:
    """Yield the faults of a folder that should hold this inventory."""
    yield from _find_faults_outside(folder, inventory)
    for archive in inventory.archives:
        if not archive.damage:
            yield from _check_archive(folder, archive).faults


def _check_archive(folder: Path, archive: InventoryArchive) -> LogVerified:
    place = folder / archive_file(archive.workbench_id)
    return verify_archive(place, archive.workbench_id, archive.copy)


def _find_faults_outside(folder: Path, inventory: Inventory) -> Iterator[LogFault]:
    """Yield the faults of what is not packed."""
    for log in inventory.logs:
        if not log.damage:
            yield from _log_faults(folder, log)
    for file in inventory.files:
        yield from _file_faults(folder, file)


def _log_faults(folder: Path, log: InventoryLog) -> Iterator[LogFault]:
    place = log_folder(log.workbench_id)
    log_dir, blobs = folder / place / "log", BlobStore(folder / place / "blobs")
    within = (place / "log").as_posix()
    try:
        for name in segment_names(log_dir):
            size_bytes = (log_dir / name).stat().st_size
            if size_bytes > MAX_SEGMENT_BYTES:
                # Zeros without end would be read as space that was reserved.
                reason = f"the segment has {size_bytes:,} bytes: no segment of a log is so long"
                yield LogFault(kind="damaged", file=f"{within}/{name}", offset=0, message=reason)
                return
        found, named = verify_and_list_blobs(
            log_dir, objection=partial(event_objection, log.workbench_id)
        )
    except OSError as error:
        raise_shortage(error)
        reason = f"the log cannot be read: {error.strerror}"
        yield LogFault(kind="missing", file=within, offset=0, message=reason)
        return
    for fault in found.faults:
        yield LogFault(
            kind=fault.kind,
            file=f"{within}/{fault.file}",
            offset=fault.offset,
            message=fault.reason,
            seq=fault.seq,
        )
    if found.faults:
        return
    # A log that is cut at the end of a frame is whole by itself: only the inventory knows better
    # (reliability, 2.4).
    for name, size_bytes in log.segments:
        there = (log_dir / name).stat().st_size if (log_dir / name).exists() else 0
        if there != size_bytes:
            reason = f"the segment has {there} bytes and had {size_bytes}"
            offset = min(there, size_bytes)
            yield LogFault(kind="damaged", file=f"{within}/{name}", offset=offset, message=reason)
            return
    if (found.seq, found.head) != (log.seq, log.head):
        reason = f"the log is whole up to event {found.seq}, and is not the one that was copied"
        yield LogFault(kind="head", file=within, offset=0, message=reason, seq=found.seq)
        return
    checked = blobs.verify(set(named) - set(log.unsound))
    for kind, wrong in (("blob missing", checked.missing), ("blob damaged", checked.damaged)):
        for blob in wrong:
            file = (place / "blobs" / blob[:2] / blob).as_posix()
            reason = "this file version is not as it was"
            yield LogFault(kind=kind, file=file, offset=0, message=reason)


def _file_faults(folder: Path, file: InventoryFile) -> Iterator[LogFault]:
    try:
        size_bytes = (folder / file.path).stat().st_size
        # Not read at all if its size is another: that may be a terabyte of holes.
        digest = hash_file(folder / file.path) if size_bytes == file.size_bytes else ""
    except OSError as error:
        raise_shortage(error)
        reason = f"it cannot be read: {error.strerror}"
        yield LogFault(kind="file missing", file=file.path, offset=0, message=reason)
        return
    if (size_bytes, digest) != (file.size_bytes, file.sha256):
        reason = f"its {size_bytes} bytes are not the {file.size_bytes} that were copied"
        offset = min(size_bytes, file.size_bytes) if size_bytes != file.size_bytes else 0
        yield LogFault(kind="file damaged", file=file.path, offset=offset, message=reason)


def _log_entry(workbench_id: WorkbenchId, name: str) -> InventoryLog:
    return InventoryLog(workbench_id=workbench_id, name=name)


def _archive_entry(workbench_id: WorkbenchId, name: str, copy: ArchivedCopy) -> InventoryArchive:
    return InventoryArchive(
        workbench_id=workbench_id,
        name=name,
        seq=copy.seq,
        size_bytes=copy.size_bytes,
        sha256=copy.sha256,
    )


def _printable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


@contextmanager
def _translate_errors(*, may_be_gone: bool = False) -> Iterator[None]:
    """Translate errors of the system into errors that clients know.

    Args:
        may_be_gone: Whether a file that is missing is left to the caller, who can explain it.
    """
    try:
        yield
    except OSError as error:
        if may_be_gone and isinstance(error, FileNotFoundError):
            raise
        if is_full(error):
            msg = "no space is left for the backup; nothing of it is left behind"
            raise DiskFull(msg) from None
        raise_shortage(error)
        raise FileWriteFailed(f"the backup cannot be written: {error.strerror}") from error
    # All that is read in here was written just before, so it is the target that is at fault.
    except FileReadFailed as error:
        raise FileWriteFailed("what was written does not read back as it was") from error
