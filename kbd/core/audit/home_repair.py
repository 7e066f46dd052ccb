"""Repair of a home that no daemon has: of damaged logs and of damaged or missing file versions.

A log is mended by a backup of the same history, which the chain of hashes proves, or is cut behind
the last event that can be read; a file version by any bytes that have its hash. Each step is whole
or did not happen (`kbd.events.damage_repair`, `BlobStore`), and the next may be done another day.

A log that is cut is a home, or a workbench, as it was at an earlier time, as one that is restored
from a backup is; so its log ends with the same event, and nothing is in force that may have been
taken back since. In the daemon's log the workbenches follow that the readable part does not name,
and what each is by what lies in the home, a folder or an archive. In a workbench's, what was cut
off and can be read may say that file versions were collected: that is recorded again, for those
that are not there.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import msgspec

from kbd.core.audit.archive_repair import backup_copy
from kbd.core.audit.backup import archive_file, log_folder
from kbd.core.audit.backup_contents import hash_file
from kbd.core.audit.home_logs import hidden_workbenches, known_as_found, verify_home_log
from kbd.core.audit.log_inspection import event_objection
from kbd.core.domain.daemon_state import (
    ArchivedCopy,
    DaemonState,
    KnownWorkbench,
    fold_daemon,
    note_deleted,
)
from kbd.core.domain.event_context import EventContext
from kbd.core.domain.event_text import event_text
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.store.archive_shelf import ArchiveShelf
from kbd.errors import FileReadFailed, KbdError, LogCorrupt, ValidationFailed
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import blob_places
from kbd.events.codec import NotUnderstood, wrap_event
from kbd.events.damage_repair import KEPT, DamageRepair, events_behind
from kbd.events.disk import DISK, Disk
from kbd.events.repair import free_name
from kbd.events.restores import HomeRestored, WorkbenchRestored
from kbd.events.retention import BlobsCollected
from kbd.events.scan import read_log
from kbd.events.vocabulary import Event, named_blobs, note_named
from kbd.events.workbenches import (
    LogRepaired,
    WorkbenchArchived,
    WorkbenchCreated,
    WorkbenchDeleted,
    WorkbenchUnarchived,
)
from kbd.types import BlobHash, Seq, WorkbenchId

__all__ = ["BlobsRepaired", "LogRepair", "repair_blobs"]


class LogRepair:
    """Repair of one log of a home; hold the home alone meanwhile (`lock_home`).

    Args:
        home: The home.
        log_id: The log of a workbench, by its id, or "daemon".
        disk: What writes.
        now_us: Tells the time that recorded events carry; None for the present.

    Raises:
        ValidationFailed: The id is ill-formed.
        NotFound: There is no such log.
        OSError: It cannot be read.
    """

    def __init__(
        self,
        home: Home,
        log_id: str,
        disk: Disk = DISK,
        now_us: Callable[[], int] | None = None,
    ) -> None:
        self._now_us = now_us or SystemClock().now_us
        self._home, self._log_id, self._disk = home, log_id, disk
        self._log_dir = home.daemon_log if log_id == "daemon" else home.existing(log_id).log
        self._repair = DamageRepair(self._log_dir, disk)

    def __enter__(self) -> Self:
        """Make the copy that is mended; nothing else is changed before `commit`."""
        self._repair.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave nothing behind but the log."""
        self._repair.__exit__(*error)

    @property
    def damage(self) -> LogCorrupt | None:
        """What is wrong still; None for a log that is whole, or is mended as far as it is made."""
        return self._repair.after.fault

    @property
    def seq(self) -> Seq:
        """The last event that can be read, as far as it is mended."""
        return self._repair.after.seq

    def take_backup(self, backup: Path, *, is_vouched: bool = False) -> bool:
        """Take what a backup of the same history has; return whether that brought anything.

        Args:
            backup: The backup's folder.
            is_vouched: Whether a person vouches for its history, where nothing can be read here.

        Raises:
            ValidationFailed: It is of another history, or names what leads out of its place.
            OSError: It cannot be read.
        """
        try:
            with backup_copy(backup, self._log_id, ("log",)) as folder:
                if folder is None or not (folder / "log").is_dir():
                    return False
                return self._take_copy(folder / "log", is_vouched=is_vouched)
        except FileReadFailed as error:
            raise ValidationFailed(f"nothing was taken from the backup: {error.message}") from error

    def _take_copy(self, copy: Path, *, is_vouched: bool) -> bool:
        # A stranger's: names in it must lead nowhere else (`log_inspection`).
        objections: list[str] = []

        def look(seq: Seq, record: Recorded) -> None:
            if (reason := event_objection(self._log_id, seq, record)) is not None:
                objections.append(reason)

        read_log(copy, look)
        if objections:
            raise ValidationFailed(f"nothing was taken from the backup: {objections[0]}")
        return self._repair.lay_over(copy, is_vouched=is_vouched)

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be read of it: it is lost, or of a home that never worked."""
        return not self._repair.before.seq

    @property
    def is_changed(self) -> bool:
        """Whether the log is made otherwise than it lies there."""
        return self._repair.after is not self._repair.before

    @property
    def anchored(self) -> int:
        """The last event of which it is known that it was there; 0 if none is."""
        return self._repair.before.anchored or 0

    def kept(self) -> tuple[str, ...]:
        """Return the names under which damaged bytes are kept beside the log."""
        return self._repair.kept

    def lost(self, *, from_start: bool = False) -> Iterator[tuple[Seq, str]]:
        """Yield the events that a cut would lose, in words, as far as they can be read.

        Args:
            from_start: Whether all are lost, for the log is made anew.
        """
        after = Seq(0) if from_start else self.seq
        for seq, record in events_behind(self._log_dir, after):
            yield seq, event_text(record.data, EventContext())

    def cut(self) -> None:
        """Cut behind the last event that can be read, and record what follows from that.

        Raises:
            NotUnderstood: A newer kbd can read on: nothing is damaged.
            ValidationFailed: Of the daemon's log nothing can be read.
        """
        damage = self._check_damaged()
        if self._log_id == "daemon" and not self.seq:
            raise ValidationFailed("nothing of the daemon's log can be read: make it anew")
        self._repair.cut()
        if self._log_id != "daemon":
            # Each in a frame of its own: so a collection is the last word of its blobs.
            self._repair.append([[each] for each in self._collections()])
        self._record(self._repaired(damage))

    def rebuild(self) -> None:
        """Make the daemon's log anew, of the first events of the workbenches.

        Raises:
            NotUnderstood: A newer kbd can read on: nothing is damaged.
        """
        # One whose folder was removed is lost as well, and shows no damage.
        damage = None if self.damage is None and self.is_empty else self._check_damaged()
        self._repair.begin_anew()
        self._record(self._repaired(damage) if damage is not None else ())

    def commit(self) -> None:
        """Put the mended log in its place, in one step.

        Raises:
            KbdError: It cannot be done; nothing was changed.
        """
        # What only a backup vouches for is in a home what is restored from it is: not in force.
        if self.damage is None and not self._repair.is_proven:
            self._record(())
        if self._log_id == "daemon" and self.is_changed:
            _keep_landed(self._home, self._disk)
        self._repair.commit()

    def _check_damaged(self) -> LogCorrupt:
        if self.damage is None:
            raise ValidationFailed("this log is not damaged")
        if isinstance(self.damage, NotUnderstood) or self.damage.detail.get("kind") == "unknown":
            raise self.damage
        return self.damage

    def _collections(self) -> Iterator[Recorded]:
        """Yield what the events that were cut off say of collections, by the time of each.

        Nothing proves these events (`events_behind`), so nothing may go because of them: what is
        there, or was named again behind them, is not said to be collected.
        """
        named: dict[BlobHash, Seq] = {}

        def note(seq: Seq, record: Recorded) -> None:
            note_named(named, record.data, seq)

        read_log(self._repair.folder, note)
        lost: dict[Seq, Recorded] = {}
        last: dict[BlobHash, Seq] = {}
        for seq, record in events_behind(self._log_dir, self.seq):
            if isinstance(record.data, BlobsCollected):
                lost[seq] = record
                last.update((blob, seq) for blob in record.data.blobs if blob in named)
            else:
                for blob in named_blobs(record.data):
                    last.pop(blob, None)
        store = BlobStore(self._home.existing(self._log_id).blobs, self._disk)
        for seq, record in lost.items():
            told = record.data
            found = {blob: store.look(blob) for blob in told.blobs if last.get(blob) == seq}
            gone = tuple(blob for blob, there in found.items() if there is None)
            if gone:
                left_bytes = sum(each.size_bytes for each in found.values() if each is not None)
                size_bytes = max(0, told.size_bytes - left_bytes)
                reason = f"{told.reason} (recorded again by a repair)"
                yield wrap_event(BlobsCollected(gone, size_bytes, reason), record.ts_us)

    def _repaired(self, damage: LogCorrupt) -> tuple[Event, ...]:
        """Return the fact of a cut."""
        segment, offset = str(damage.detail["file"]), int(damage.detail["offset"])
        path, kept = self._log_dir / segment, self._repair.kept
        size = path.stat().st_size if path.exists() else 0
        # An anchor alone is no segment's end; then the first file that is kept is told.
        of_segment = [name for name in kept if name.startswith(segment)]
        kept_as = next(iter(of_segment or kept), "")
        return (LogRepaired(segment, offset, max(0, size - offset), kept_as),)

    def _record(self, facts: tuple[Event, ...]) -> None:
        """Record facts of a repair, and that what the log says is of an earlier time."""
        now_us = self._now_us()
        # Random, as for a restore: nobody can have recorded beforehand that this is settled.
        restore_id = secrets.token_hex(8)
        if self._log_id == "daemon":
            found = _ReadDaemon()
            read_log(self._repair.folder, found.apply)
            # Settings, pauses and removals that are lost had an effect: ask again for all of it.
            as_of = datetime.fromtimestamp((found.last_us or now_us) / 1_000_000, UTC)
            settled = HomeRestored(restore_id, f"{as_of:%Y-%m-%dT%H:%M:%SZ}")
            records = [*_relist(self._home, found, now_us)]
            records += [wrap_event(each, now_us) for each in (*facts, settled)]
            self._repair.append([records])
        # What was agreed to may have been taken back since, and of what was being written outside
        # of the home the outcome may be what is lost: it is not cleared up.
        elif self.seq:
            restored = (*facts, WorkbenchRestored(restore_id))
            self._repair.append([[wrap_event(each, now_us) for each in restored]])


def _keep_landed(home: Home, disk: Disk) -> None:
    """Keep what landed under names that no watch has: copies of which no event is left are swept.

    Each file gets a second name, which takes no space; copies are never changed.
    """
    for folder in [path for path in home.landings.glob("*") if "." not in path.name]:
        copies = [path for path in folder.glob("*/*") if path.is_file() and not path.is_symlink()]
        if not copies:
            continue
        kept = home.landings / free_name(home.landings, folder.name, KEPT)
        for path in copies:
            place = kept / path.relative_to(folder)
            disk.make_directory(place.parent)
            os.link(path, place)
            disk.sync_directory(place.parent)


class _ReadDaemon:
    """The daemon's log as far as it can be read."""

    def __init__(self) -> None:
        self.state, self.deleted, self.last_us = DaemonState(), set[WorkbenchId](), 0

    def apply(self, seq: Seq, record: Recorded) -> None:
        """Take an event."""
        fold_daemon(self.state, seq, record)
        note_deleted(self.deleted, record)
        self.last_us = record.ts_us


def _relist(home: Home, found: _ReadDaemon, now_us: int) -> Iterator[Recorded]:
    """Yield the events by which the daemon's log names again what is there of workbenches."""
    shelf = ArchiveShelf(home)
    for workbench_id in shelf.unsettled():
        if workbench_id not in found.deleted:
            # Another name in there is nobody's.
            with suppress(ValidationFailed):
                shelf.rescue(workbench_id)
    for hidden in hidden_workbenches(home, {*found.state.workbenches, *found.deleted}):
        if hidden.first is not None:
            created = WorkbenchCreated(hidden.workbench_id, hidden.first.data.name)
            yield wrap_event(created, hidden.first.ts_us, actor=hidden.first.actor)
            if hidden.archive is not None:
                yield wrap_event(_archived(hidden.workbench_id, hidden.archive), now_us)
    for known in found.state.workbenches.values():
        fact = _changed_since(known, known_as_found(home, known, reads_all=True))
        if fact is not None:
            yield wrap_event(fact, found.last_us)


def _changed_since(known: KnownWorkbench, now: KnownWorkbench | None) -> Event | None:
    """Return what happened to a workbench since it was known so; None if nothing did."""
    if now is None:
        # Its deletion may be what is lost: it would come back, empty.
        return WorkbenchDeleted(known.workbench_id)
    if now.archive == known.archive:
        return None
    if now.archive is None:
        return WorkbenchUnarchived(known.workbench_id, "its folder was found by a repair")
    return _archived(known.workbench_id, now.archive)


def _archived(workbench_id: WorkbenchId, copy: ArchivedCopy) -> Event:
    reason = "its archive was found by a repair"
    return WorkbenchArchived(workbench_id, copy.sha256, copy.size_bytes, copy.seq, reason)


class BlobsRepaired(msgspec.Struct, frozen=True):
    """Result of repairing file versions.

    Args:
        mended: Those that are whole again, each with the place where its bytes were found.
        lost: Those that nothing was found for.
    """

    mended: tuple[tuple[BlobHash, Path], ...]
    lost: tuple[BlobHash, ...]


def repair_blobs(
    home: Home, workbench_id: str, backup: Path | None, disk: Disk = DISK
) -> BlobsRepaired:
    """Mend the file versions of a workbench by bytes that have their hash, wherever they lie.

    They are looked for among the published files and the draft's, in other workbenches, among what
    landed, and in a backup.

    Args:
        home: The home.
        workbench_id: The workbench; its log is whole.
        backup: The backup's folder, if there is one.
        disk: What writes.

    Raises:
        KbdError: The log cannot be read, or the disk is full; what is mended stays so.
    """
    folders = home.existing(workbench_id)
    wrong = [
        BlobHash(fault.file.rpartition("/")[2])
        for fault in verify_home_log(home, workbench_id).faults
        if fault.kind in {"blob missing", "blob damaged"}
    ]
    mended: dict[BlobHash, Path] = {}
    store = BlobStore(folders.blobs, disk)
    shown = _hashes_of_shown(folders, frozenset(wrong)) if wrong else {}
    for blob in dict.fromkeys(wrong):
        places = [shown[blob]] if blob in shown else []
        path = _find_bytes(blob, [*places, *_blob_places(home, folders, backup, blob)])
        # Hashed once more while it is copied: what changed meanwhile is stored as what it is.
        if path is not None and store.put_file(path)[0] == blob:
            mended[blob] = path
    sought = frozenset(wrong) - set(mended)
    if backup is not None and sought:
        mended |= _mend_from_archive(store, folders.id, backup, sought)
    left = tuple(blob for blob in dict.fromkeys(wrong) if blob not in mended)
    return BlobsRepaired(tuple(mended.items()), left)


def _mend_from_archive(
    store: BlobStore, workbench_id: WorkbenchId, backup: Path, sought: frozenset[BlobHash]
) -> dict[BlobHash, Path]:
    """Mend file versions by those in the workbench's own archive in a backup, if it has one.

    Other archives are left alone: each would be unpacked for it.
    """
    mended: dict[BlobHash, Path] = {}
    archive = backup / archive_file(workbench_id)
    if not os.path.lexists(archive):
        return mended
    with (
        suppress(FileReadFailed),
        backup_copy(backup, workbench_id, ("blobs",), sought) as folder,
    ):
        for blob in sorted(sought if folder is not None else ()):
            path = _find_bytes(blob, list(blob_places(Path(folder or "", "blobs"), blob)))
            if path is not None and store.put_file(path)[0] == blob:
                mended[blob] = archive
    return mended


def _hashes_of_shown(
    folders: WorkbenchFolders, wanted: frozenset[BlobHash]
) -> dict[BlobHash, Path]:
    """Return the published files and those of the draft whose bytes are wanted."""
    found: dict[BlobHash, Path] = {}
    for folder in (folders.published, folders.draft):
        for path in sorted(folder.rglob("*")):
            try:
                blob = BlobHash(hash_file(path))
            except OSError:
                continue  # A folder, a link, or what cannot be read.
            if blob in wanted:
                found.setdefault(blob, path)
    return found


def _blob_places(
    home: Home, folders: WorkbenchFolders, backup: Path | None, blob: BlobHash
) -> Iterator[Path]:
    """Yield where a blob may lie beside its own place."""
    stores: list[Path] = []
    if backup is not None:
        stores.append(backup / log_folder(folders.id) / "blobs")
        stores += sorted(backup.glob("workbenches/*/blobs"))
        stores += sorted(backup.glob("landed/*"))
    others = (home.workbench(other) for other in home.workbench_ids() if other != folders.id)
    stores += [other.blobs for other in others]
    stores += sorted(home.landings.glob("*"))
    for store in stores:
        yield from blob_places(store, blob)


def _find_bytes(blob: BlobHash, places: list[Path]) -> Path | None:
    """Return the first place whose bytes have a hash."""
    for path in places:
        try:
            if hash_file(path) == blob:
                return path
        except (OSError, KbdError):
            continue  # Not there, or no regular file.
    return None
