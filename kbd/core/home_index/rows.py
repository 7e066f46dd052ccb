"""Rows of the index: what a list shows of a workbench and its runs, and what it is sorted by."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from kbd.core.domain.approval_decisions import pending_approvals
from kbd.core.domain.daemon_state import ArchivedCopy, KnownWorkbench
from kbd.core.domain.retention import UNREAD, Settling, settling_of
from kbd.core.domain.run_state import Run
from kbd.core.domain.workbench_state import WorkbenchState, folded_name
from kbd.core.runtime.paths import Home
from kbd.core.workbench.approval_rows import approval_row
from kbd.core.workbench.rows import FolderSizes, run_info, run_row, unread_row, workbench_row
from kbd.events.anchor import read_anchor
from kbd.events.base import Recorded
from kbd.events.segment import segment_names
from kbd.events.workbenches import ConversationRewound
from kbd.types import FileName, Seq, WorkbenchId

__all__ = [
    "DAMAGED_MARK",
    "ChangedRuns",
    "IndexedApproval",
    "IndexedRun",
    "IndexedWorkbench",
    "archive_mark",
    "closed_mark",
    "fingerprint",
    "indexed_run",
    "indexed_workbench",
    "unread_workbench",
]

MAX_REQUEST = 65_536
"""How many characters of a request a search looks through: behind them there is mostly a paste."""


class IndexedRun(msgspec.Struct, frozen=True, array_like=True):
    """Row of a run.

    Args:
        number: Counted from 1 in its workbench.
        started_at_us: When it started.
        status: How it stands.
        model_id: What does it.
        cost: US dollars.
        text: What a search looks through, case-folded.
        row: The answer's `RunRow` as JSON.
    """

    number: int
    started_at_us: int
    status: str
    model_id: str
    cost: float
    text: str
    row: bytes


class IndexedApproval(msgspec.Struct, frozen=True, array_like=True):
    """Row of a decision that waits for a person.

    Args:
        asked_at_us: When it was asked for.
        row: The answer's `ApprovalRow` as JSON.
    """

    asked_at_us: int
    row: bytes


class IndexedWorkbench(msgspec.Struct, frozen=True, array_like=True):
    """Row of a workbench, with those of its runs that changed.

    Args:
        workbench_id: Its id.
        name: For people.
        created_at_us: When it was created.
        updated_at_us: When its last event was recorded.
        status: As in `WorkbenchRow`.
        has_draft: Whether changes wait for review.
        approvals: The decisions that wait for a person.
        seq: Its last event.
        sizes: What its folder takes.
        text: What a search looks through, case-folded.
        row: The answer's `WorkbenchRow` as JSON.
        files: The names of its files, those of the draft among them.
        mark: The fingerprint of its log; empty while it is open, or was not read.
        runs: The rows of its runs.
        is_whole: Whether these are all of its runs, or those that changed.
        settling: How settled it is by its own log.
    """

    workbench_id: WorkbenchId
    name: str
    created_at_us: int
    updated_at_us: int
    status: str
    has_draft: bool
    approvals: tuple[IndexedApproval, ...]
    seq: Seq
    sizes: FolderSizes
    text: str
    row: bytes
    files: tuple[FileName, ...] = ()
    mark: bytes = b""
    runs: tuple[IndexedRun, ...] = ()
    is_whole: bool = True
    settling: Settling = UNREAD


class ChangedRuns:
    """The runs of a workbench whose rows are not those of its state any more.

    Attributes:
        is_whole: Whether that may be any of them.
    """

    def __init__(self) -> None:
        self.is_whole = False
        self._numbers: set[int] = set()

    def note(self, record: Recorded) -> None:
        """Note an event of the workbench."""
        # An undo is told of in the rows of all runs after the message.
        if isinstance(record.data, ConversationRewound):
            self.is_whole = True
        elif record.run:
            self._numbers.add(record.run)

    def note_all(self) -> None:
        """Note that any may have changed."""
        self.is_whole = True

    def numbers(self, state: WorkbenchState) -> Sequence[int]:
        """Return which they are, in a state behind all that was noted."""
        last = len(state.runs)
        if self.is_whole:
            return range(1, last + 1)
        return sorted(number for number in self._numbers if number <= last)


_encode = msgspec.json.Encoder().encode


def unread_workbench(known: KnownWorkbench) -> IndexedWorkbench:
    """Return the row of a workbench whose log was not read yet: what the daemon's log says."""
    row = unread_row(known)
    return IndexedWorkbench(
        workbench_id=known.workbench_id,
        name=known.name,
        created_at_us=known.created_at_us,
        updated_at_us=known.created_at_us,
        status=row.status,
        has_draft=False,
        approvals=(),
        seq=row.last_seq,
        sizes=FolderSizes(other=row.disk_bytes),
        text=folded_name(known.name),
        row=_encode(row),
    )


def indexed_workbench(
    known: KnownWorkbench,
    state: WorkbenchState,
    damage: str,
    sizes: FolderSizes,
    runs: Iterable[Run],
    *,
    mark: bytes = b"",
    is_whole: bool = True,
) -> IndexedWorkbench:
    """Return the row of a workbench, with those of some runs.

    Args:
        known: It, as the daemon's log knows it.
        state: Its state; blank if nothing of its log can be read.
        damage: Why its log can only be read; "" if it is whole.
        sizes: What its folder takes.
        runs: Those whose rows are wanted.
        mark: The fingerprint of its log, if it is closed.
        is_whole: Whether these are all of its runs.
    """
    row = workbench_row(known, state, sizes.total, damage)
    files = tuple(seen.name for seen in state.current_files())
    words = "\n".join((row.name, *files))
    return IndexedWorkbench(
        workbench_id=known.workbench_id,
        name=row.name,
        created_at_us=state.created_at_us or known.created_at_us,
        updated_at_us=state.updated_at_us or known.created_at_us,
        status=row.status,
        has_draft=row.has_draft,
        approvals=tuple(
            IndexedApproval(each.asked_at_us, _encode(approval_row(state, each)))
            for each in pending_approvals(state)
        ),
        seq=state.seq,
        sizes=sizes,
        text=folded_name(words),
        row=_encode(row),
        files=files,
        mark=mark,
        runs=tuple(indexed_run(row.name, state, run, damage) for run in runs),
        is_whole=is_whole,
        settling=settling_of(state, damage),
    )


def indexed_run(name: str, state: WorkbenchState, run: Run, damage: str) -> IndexedRun:
    """Return the row of a run.

    Args:
        name: What its workbench is called.
        state: The workbench's state.
        run: The run.
        damage: Why the workbench's log can only be read; "" if it is whole.
    """
    info = run_info(state, run, damage=damage)
    asked = state.request_of(run)
    failure = run.error.message if run.error is not None else ""
    request = asked.text[:MAX_REQUEST] if asked is not None else ""
    return IndexedRun(
        number=run.number,
        started_at_us=run.started_at_us,
        status=info.status,
        model_id=run.model_id,
        cost=info.cost,
        text=folded_name("\n".join((name, request, failure))),
        row=_encode(run_row(info, name)),
    )


def closed_mark(home: Home, known: KnownWorkbench) -> bytes:
    """Return what tells the log of a closed workbench from any other, packed or not. Blocks."""
    if known.archive is None:
        return fingerprint(home.workbench(known.workbench_id).log)
    try:
        size_bytes = os.stat(home.archive(known.workbench_id)).st_size
    except OSError as error:
        return f"unreadable {error.errno}".encode()
    return archive_mark(known.archive, size_bytes)


DAMAGED_MARK = b"damaged"
"""The mark of an archive that is damaged: it is read again at each check, for it may come back."""


def archive_mark(copy: ArchivedCopy, size_bytes: int) -> bytes:
    """Return what tells an archive of so many bytes from any other."""
    return msgspec.msgpack.encode((copy.sha256, size_bytes))


def fingerprint(log_dir: Path) -> bytes:
    """Return what tells a closed log from any other: its anchor, the names and sizes of segments.

    That a byte was changed in place does not show in it. Blocks.

    Args:
        log_dir: The log's folder; it need not exist.
    """
    try:
        anchor = read_anchor(log_dir)
        sizes = [(name, os.stat(log_dir / name).st_size) for name in segment_names(log_dir)]
    except OSError as error:
        return f"unreadable {error.errno}".encode()
    return msgspec.msgpack.encode((anchor, sizes))
