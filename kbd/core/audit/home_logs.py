"""Logs of a home, listed and verified; without a daemon, too.

Which workbenches there are the daemon's log says. Where it is damaged, a folder of a workbench
says by its own first event whose it is, and an archive by that of the log in it. Reads only, and
blocks.
"""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from kbd.core.audit.archived_logs import (
    quick_archive_damage,
    read_contents,
    render_verification,
    verify_archive,
)
from kbd.core.audit.backup_contents import hash_file
from kbd.core.audit.log_inspection import event_objection
from kbd.core.domain.daemon_state import (
    ArchivedCopy,
    DaemonState,
    KnownWorkbench,
    fold_daemon,
    note_deleted,
)
from kbd.core.domain.found_damage import FoundDamage, damage_text
from kbd.core.runtime.paths import Home, WorkbenchFolders, checked_id
from kbd.core.store.archive_shelf import ArchiveShelf, archived_ids
from kbd.errors import FileReadFailed, LogCorrupt
from kbd.events.anchor import Anchor
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.scan import read_log, survey_log
from kbd.events.segment import segment_names
from kbd.events.shortages import raise_shortage
from kbd.events.verification import verify_log
from kbd.events.workbenches import WorkbenchCreated
from kbd.requests.daemon import LogFault, LogVerified
from kbd.types import Seq, WorkbenchId

__all__ = [
    "HiddenWorkbench",
    "HomeLog",
    "HomeLogs",
    "found_damage",
    "hidden_workbenches",
    "known_as_found",
    "list_logs",
    "quick_damage",
    "verify_home_log",
]


class HomeLog(NamedTuple):
    """A log of a home.

    Args:
        log_id: Its workbench's id, or "daemon".
        name: Its workbench's name; "" if nothing that can be read says it.
        is_there: Whether its folder is, or its archive.
        damage: What verifications found damaged of it; "" for nothing.
        archive: The archive that it is packed in, if it is.
    """

    log_id: str
    name: str
    is_there: bool
    damage: str = ""
    archive: ArchivedCopy | None = None


class HomeLogs(NamedTuple):
    """The logs of a home.

    Args:
        workbenches: Those of workbenches, oldest first; those that the daemon's log does not name
            come last.
        damage: Why the daemon's log cannot be read to its end; None if it can.
        found: What verifications found damaged of the daemon's log; "" for nothing.
    """

    workbenches: tuple[HomeLog, ...]
    damage: LogCorrupt | None
    found: str = ""

    def named(self, name: str) -> tuple[HomeLog, ...]:
        """Return which are meant: a whole id, else a name, else the beginning of an id."""
        tests = (
            lambda each: each.log_id == name,
            lambda each: each.name == name,
            lambda each: bool(name) and each.log_id.startswith(name),
        )
        found = (tuple(filter(test, self.workbenches)) for test in tests)
        return next((each for each in found if each), ())


def list_logs(home: Home) -> HomeLogs:
    """List the logs of workbenches of a home that no daemon has.

    Raises:
        OSError: The daemon's log cannot be read.
    """
    state, deleted = DaemonState(), set[WorkbenchId]()

    def apply(seq: Seq, record: Recorded) -> None:
        fold_daemon(state, seq, record)
        note_deleted(deleted, record)

    damage = read_log(home.daemon_log, apply).fault
    known = [_home_log(home, workbench) for workbench in state.workbenches.values()]
    if damage is not None:
        for hidden in hidden_workbenches(home, {*state.workbenches, *deleted}):
            name = hidden.first.data.name if hidden.first is not None else ""
            known.append(HomeLog(hidden.workbench_id, name, is_there=True, archive=hidden.archive))
    return HomeLogs(tuple(known), damage, damage_text(state.damage))


def _home_log(home: Home, known: KnownWorkbench) -> HomeLog:
    shelf, workbench_id = ArchiveShelf(home), known.workbench_id
    if known.archive is not None:
        is_there = os.path.lexists(shelf.find(workbench_id))
    else:
        is_there = shelf.find_folders(workbench_id).exists()
    damage = damage_text(known.damage)
    return HomeLog(workbench_id, known.name, is_there, damage, known.archive)


class _ReadError(Exception):
    """The event that was wanted is read: the rest of the log is left alone."""


class HiddenWorkbench(NamedTuple):
    """A workbench that a damaged log of the daemon does not name.

    Args:
        workbench_id: Its id, by the name of its folder or archive.
        first: The first event of its log, which says whose it is (`WorkbenchCreated`); None if that
            cannot be read, or is another workbench's.
        archive: The archive that it is packed in, if it has no folder.
    """

    workbench_id: WorkbenchId
    first: Recorded | None
    archive: ArchivedCopy | None = None


def hidden_workbenches(
    home: Home, known: Collection[WorkbenchId], scratch: Path | None = None
) -> list[HiddenWorkbench]:
    """Return the workbenches that a damaged log of the daemon does not name, oldest first.

    What a fork that did not come to be left is none of them. Of a log that is whole they are what
    is left of a deleted one, or somebody else's.

    Args:
        home: The home.
        known: The workbenches that the readable part names, those that it says are deleted too.
        scratch: Where the logs of archives are unpacked; None for the folder of temporary files.
    """
    found: dict[WorkbenchId, HiddenWorkbench] = {}
    for workbench_id in set(home.workbench_ids()) - set(known):
        folders = home.workbench(workbench_id)
        if folders.exists() and not folders.fork_mark.exists():
            found[workbench_id] = HiddenWorkbench(workbench_id, _read_first(folders))
    for workbench_id in set(archived_ids(home)) - set(known) - set(found):
        with suppress(FileReadFailed):
            contents = read_contents(home.archive(workbench_id), workbench_id, scratch)
            hidden = HiddenWorkbench(workbench_id, contents.first, contents.copy)
            found[workbench_id] = hidden
    # Those of which nothing can be said come last.
    return sorted(
        found.values(),
        key=lambda each: (
            each.first is None, each.first.ts_us if each.first else 0, each.workbench_id
        ),
    )  # fmt: skip


def known_as_found(
    home: Home, known: KnownWorkbench, scratch: Path | None = None, *, reads_all: bool = False
) -> KnownWorkbench | None:
    """Return a workbench with what it is by what lies in the home, a folder or an archive.

    What a damaged log of the daemon says of that may be of an earlier time.

    Args:
        home: The home.
        known: The workbench, as the readable part of the log knows it.
        scratch: As for `hidden_workbenches`.
        reads_all: Whether an archive of the recorded size is read, too: packed again, a workbench
            may take as much as before.

    Returns:
        None if neither is there. One whose archive is recorded stays so: it may come back.
    """
    folders, archive = home.workbench(known.workbench_id), home.archive(known.workbench_id)
    is_archive = os.path.lexists(archive)
    if known.archive is not None and not quick_archive_damage(archive, known.archive):
        with suppress(OSError):
            if not reads_all or hash_file(archive) == known.archive.sha256:
                return known
    if folders.exists() and segment_names(folders.log):
        return msgspec.structs.replace(known, archive=None)
    if is_archive:
        with suppress(FileReadFailed):
            contents = read_contents(archive, known.workbench_id, scratch)
            # One that cannot be read is the archive that was recorded, if one was.
            if contents.first is not None or known.archive is None:
                return msgspec.structs.replace(known, archive=contents.copy)
    return known if known.archive is not None else None


def _read_first(folders: WorkbenchFolders) -> Recorded | None:
    found: list[Recorded] = []

    def note(_seq: Seq, record: Recorded) -> None:
        found.append(record)
        raise _ReadError

    with suppress(_ReadError, OSError):
        read_log(folders.log, note)
    if not found:
        return None
    data = found[0].data
    # Another one's log in this folder says nothing of this folder.
    is_own = isinstance(data, WorkbenchCreated) and data.workbench_id == folders.id
    return found[0] if is_own else None


def verify_home_log(
    home: Home,
    log_id: str,
    *,
    durable: Anchor | None = None,
    expected_head: Anchor | None = None,
    open_blobs: Callable[[Path], BlobStore] = BlobStore,
    archive: ArchivedCopy | None = None,
    scratch: Path | None = None,
) -> LogVerified:
    """Verify a log of a home and all blobs that it names; it may be in use.

    Args:
        home: The home.
        log_id: A workbench's id, or "daemon".
        durable: Its end, as whoever has it open knows it.
        expected_head: A head of it from earlier, which somebody kept elsewhere.
        open_blobs: Makes the store, by its folder, that verifies its blobs.
        archive: The archive that the workbench is packed in, if it is.
        scratch: As for `hidden_workbenches`.

    Raises:
        DiskFull: There is no space for a copy of an archived log.
        FileReadFailed: A file of the log cannot be read; its cause says why.
        NotFound: There is no such workbench.
        ValidationFailed: The id is ill-formed.
    """
    if archive is not None:
        place = ArchiveShelf(home).find(checked_id(log_id))
        return verify_archive(place, log_id, archive, scratch=scratch, expected_head=expected_head)
    if log_id == "daemon":
        folder, blobs = home.daemon_log, None
    else:
        folders = ArchiveShelf(home).find_folders(checked_id(log_id))
        if not folders.exists():
            folders = home.existing(log_id)
        folder, blobs = folders.log, open_blobs(folders.blobs)
    try:
        found = verify_log(
            folder,
            blobs,
            durable=durable,
            expected_head=expected_head,
            objection=partial(event_objection, log_id),
        )
    except OSError as error:
        raise_shortage(error)
        reason = os.strerror(error.errno or 0)
        raise FileReadFailed(f"the log cannot be read: {reason}") from error
    return render_verification(found)


def found_damage(faults: Iterable[LogFault]) -> tuple[FoundDamage, ...]:
    """Return what a verification found, as it is recorded."""
    return tuple(
        FoundDamage(each.kind, each.file, each.offset, each.seq, each.message) for each in faults
    )


def quick_damage(home: Home, log: HomeLog) -> str:
    """Return the damage that a quick look at a workbench meets; "" if it meets none.

    The look is at the headers of all segments, at the frames of the last one and at the anchor; of
    an archive at its size.
    """
    shelf, workbench_id = ArchiveShelf(home), WorkbenchId(log.log_id)
    if log.archive is not None:
        return quick_archive_damage(shelf.find(workbench_id), log.archive)
    folders = shelf.find_folders(workbench_id)
    try:
        names = segment_names(folders.log)
        # What lies before the last segment is taken as read, as if a snapshot had it.
        trusted = int(names[-1].partition(".")[0]) - 1 if names else 0
        fault = survey_log(folders.log, trusted=trusted).fault
    except OSError as error:
        raise_shortage(error)
        return f"the log cannot be read: {os.strerror(error.errno or 0)}"
    return "" if fault is None else fault.message
