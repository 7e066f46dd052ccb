"""Logs of a home, listed and verified; without a daemon, too.

Which workbenches there are the daemon's log says. Where it is damaged, a folder of a workbench
says by its own first event whose it is. Reads only, and blocks.
"""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from kbd.core.audit.log_inspection import event_objection
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.found_damage import FoundDamage, damage_text
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.errors import FileReadFailed, LogCorrupt
from kbd.events.anchor import Anchor
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.scan import read_log, survey_log
from kbd.events.segment import segment_names
from kbd.events.shortages import raise_shortage
from kbd.events.verification import Verification, verify_log
from kbd.events.workbenches import WorkbenchCreated, WorkbenchDeleted
from kbd.requests.daemon import LogFault, LogVerified
from kbd.types import Seq, WorkbenchId

__all__ = [
    "HomeLog",
    "HomeLogs",
    "found_damage",
    "hidden_workbenches",
    "list_logs",
    "note_deleted",
    "quick_damage",
    "verify_home_log",
]


class HomeLog(NamedTuple):
    """A log of a home.

    Args:
        log_id: Its workbench's id, or "daemon".
        name: Its workbench's name; "" if nothing that can be read says it.
        is_there: Whether its folder is.
        damage: What verifications found damaged of it; "" for nothing.
    """

    log_id: str
    name: str
    is_there: bool
    damage: str = ""


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
    known = [
        HomeLog(
            workbench.workbench_id,
            workbench.name,
            home.workbench(workbench_id).exists(),
            damage_text(workbench.damage),
        )
        for workbench_id, workbench in state.workbenches.items()
    ]
    if damage is not None:
        for folders, first in hidden_workbenches(home, {*state.workbenches, *deleted}):
            name = first.data.name if first is not None else ""
            known.append(HomeLog(folders.id, name, is_there=True))
    return HomeLogs(tuple(known), damage, damage_text(state.damage))


class _ReadError(Exception):
    """The event that was wanted is read: the rest of the log is left alone."""


def hidden_workbenches(
    home: Home, known: Collection[WorkbenchId]
) -> list[tuple[WorkbenchFolders, Recorded | None]]:
    """Return folders of workbenches that a damaged log of the daemon does not name, oldest first.

    Each comes with the first event of its log, which says whose it is (`WorkbenchCreated`); None
    if that cannot be read, or is another workbench's. What a fork that did not come to be left is
    none of them. Of a log that is whole they are what is left of a deleted one, or somebody else's.

    Args:
        home: The home.
        known: The workbenches that the readable part names, those that it says are deleted too.
    """
    found = []
    for workbench_id in sorted(set(home.workbench_ids()) - set(known)):
        folders = home.workbench(workbench_id)
        if folders.exists() and not folders.fork_mark.exists():
            found.append((folders, _read_first(folders)))
    # Those of which nothing can be said come last.
    return sorted(found, key=lambda each: (each[1] is None, each[1].ts_us if each[1] else 0))


def note_deleted(deleted: set[WorkbenchId], record: Recorded) -> None:
    """Note the workbench that an event of the daemon's log says is deleted."""
    if isinstance(record.data, WorkbenchDeleted):
        deleted.add(record.data.workbench_id)


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
) -> LogVerified:
    """Verify a log of a home and all blobs that it names; it may be in use.

    Args:
        home: The home.
        log_id: A workbench's id, or "daemon".
        durable: Its end, as whoever has it open knows it.
        expected_head: A head of it from earlier, which somebody kept elsewhere.
        open_blobs: Makes the store, by its folder, that verifies its blobs.

    Raises:
        FileReadFailed: A file of the log cannot be read; its cause says why.
        NotFound: There is no such workbench.
        ValidationFailed: The id is ill-formed.
    """
    if log_id == "daemon":
        folder, blobs = home.daemon_log, None
    else:
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
    return _render_verification(found)


def _render_verification(found: Verification) -> LogVerified:
    return LogVerified(
        ok=found.is_whole,
        seq=found.seq,
        frames=found.frames,
        segments=found.segments,
        blobs=found.blobs_checked,
        head=found.head,
        collected=found.blobs_collected,
        faults=tuple(
            LogFault(
                kind=fault.kind,
                file=fault.file,
                offset=fault.offset,
                message=fault.reason,
                seq=fault.seq,
            )
            for fault in found.faults
        ),
    )


def found_damage(faults: Iterable[LogFault]) -> tuple[FoundDamage, ...]:
    """Return what a verification found, as it is recorded."""
    return tuple(
        FoundDamage(each.kind, each.file, each.offset, each.seq, each.message) for each in faults
    )


def quick_damage(folders: WorkbenchFolders) -> str:
    """Return the damage that a quick look at a workbench's log meets; "" if it meets none.

    The look is at the headers of all segments, at the frames of the last one and at the anchor.
    """
    try:
        names = segment_names(folders.log)
        # What lies before the last segment is taken as read, as if a snapshot had it.
        trusted = int(names[-1].partition(".")[0]) - 1 if names else 0
        fault = survey_log(folders.log, trusted=trusted).fault
    except OSError as error:
        raise_shortage(error)
        return f"the log cannot be read: {os.strerror(error.errno or 0)}"
    return "" if fault is None else fault.message
