"""Snapshots of the state that a log is folded to: a start replays only what came after.

They are caches. One counts if it is whole, of this kbd's shape of state, and the log has its chain
value at its number; with all of them deleted a start gives the same state, only later. One is kept
when a log is closed after much happened, and `snapshotting` has one made while it grows, by a
process that runs this module. All blocks.
"""

import gc
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar, assert_never, cast, get_args

import msgspec

from kbd import __version__
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import LogCorrupt
from kbd.events import codec, snapshots
from kbd.events.base import Recorded
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES
from kbd.events.log import EventLog
from kbd.events.scan import survey_log
from kbd.events.segment import Block, Segment
from kbd.types import Seq

__all__ = ["Kind", "Snapshots", "daemon_snapshots", "main", "workbench_snapshots"]

CLOSED_EVENTS = 2000
"""A snapshot is kept at close when so many events came since the last one (4 ms of replay)."""

_NICENESS = 10
"""A process that renews yields to everything that somebody waits for."""

Kind = Literal["daemon", "workbench"]
"""Which sort of log: the daemon's own, or one of a workbench."""


class _Folded(Protocol):
    seq: Seq


S = TypeVar("S", bound=_Folded)


class Snapshots(Generic[S]):
    """The snapshots of one log.

    Args:
        kind: Which sort of log it is.
        log_dir: The log's folder.
        folder: Where its snapshots lie; made when it is needed.
        shape: The state's class; made without arguments it is the state before the first event.
        fold: Changes a state as an event says.

    Attributes:
        since: The event of the newest snapshot that is of use; 0 without one.
    """

    def __init__(
        self,
        kind: Kind,
        log_dir: Path,
        folder: Path,
        shape: type[S],
        fold: Callable[[S, Seq, Recorded], None],
    ) -> None:
        self.kind, self.log_dir, self.folder = kind, log_dir, folder
        self.since = Seq(0)
        self._shape, self._fold = shape, fold

    def open(self) -> tuple[EventLog, tuple[S, S] | None]:
        """Open the log, and return two copies of the state of its newest snapshot, if it fits.

        Raises:
            DiskFull: There is no space for a new log or a repair.
            LogPoisoned: The disk failed, or does not make the log durable.
        """
        found = snapshots.load_snapshot(self.folder, self._schema())
        log = EventLog.open(self.log_dir, trusted=found.seq if found else Seq(0))
        if found is None or not _is_of_log(log, found):
            return log, None
        decode = msgspec.msgpack.Decoder(self._shape).decode
        with _gc_paused():
            copies = decode(found.payload), decode(found.payload)
        self.since = found.seq
        return log, copies

    def keep(self, state: S, head: bytes) -> bool:
        """Keep a state, with the log's chain value behind its last event; return if it was kept."""
        payload = msgspec.msgpack.encode(state)
        kept = snapshots.save_snapshot(self.folder, state.seq, head, self._schema(), payload)
        if kept:
            self.since = state.seq
        return kept

    def keep_last(self, state: S, head: bytes) -> None:
        """Keep the state of a log that is closed, unless the newest snapshot is nearly as good."""
        if state.seq - self.since >= CLOSED_EVENTS:
            self.keep(state, head)

    def renew(self, until: Seq) -> bool:
        """Fold the log on from its newest snapshot up to a durable event, and keep that.

        Somebody else has the log open, and may be writing behind that event.

        Args:
            until: The last event that counts; a frame ends with it.

        Returns:
            Whether it was kept. That it cannot be done is no error.
        """
        found = snapshots.load_snapshot(self.folder, self._schema())
        with _gc_paused():
            if found is not None and found.seq < until:
                state = msgspec.msgpack.decode(found.payload, type=self._shape)
                onward = _IncrementalFold(state, found.head, self._fold, until)
                if onward.walk(self.log_dir):
                    return self.keep(onward.state, onward.head)
            # There is none, or it is of another log, or of an end that was cut off since.
            onward = _IncrementalFold(self._shape(), GENESIS, self._fold, until)
            return onward.walk(self.log_dir) and self.keep(onward.state, onward.head)

    def _schema(self) -> str:
        """Name the shape of the state: of another shape, or another kbd's, none is used."""
        shape = msgspec.json.encode(msgspec.json.schema(self._shape))
        return f"{__version__}-{hashlib.sha256(shape).hexdigest()[:16]}"


def workbench_snapshots(log_dir: Path, folder: Path) -> Snapshots[WorkbenchState]:
    """Return the snapshots of a workbench's log."""
    return Snapshots("workbench", log_dir, folder, WorkbenchState, fold_workbench)


def daemon_snapshots(log_dir: Path, folder: Path) -> Snapshots[DaemonState]:
    """Return the snapshots of the daemon's own log."""
    return Snapshots("daemon", log_dir, folder, DaemonState, fold_daemon)


class _StoppedError(Exception):
    """The last event that counts was folded, or the log is not the one that the state is of."""


class _IncrementalFold(Generic[S]):
    """Incremental fold of a log that somebody may be writing: from a state up to an event.

    Args:
        state: The state to go on from; it is changed.
        head: The chain value that the log must have behind its last event.
        fold: Changes a state as an event says.
        until: The last event that counts.

    Attributes:
        state: As far as it is folded.
        head: The chain value there.
    """

    def __init__(
        self, state: S, head: bytes, fold: Callable[[S, Seq, Recorded], None], until: Seq
    ) -> None:
        self.state, self.head = state, head
        self._fold, self._until = fold, until
        self._chain = b""

    def walk(self, log_dir: Path) -> bool:
        """Fold; tell whether the log has what the state comes from, and reaches so far."""
        try:
            survey_log(log_dir, trusted=self.state.seq, visit=self._visit)
        except (_StoppedError, OSError):
            pass
        return self.state.seq == self._until

    def _visit(self, segment: Segment, block: Block) -> None:
        if block.base == segment.start.offset:
            self._chain = segment.header.chain
        for first, last, at, stop in block.spans():
            before, self._chain = self._chain, block.data[at + HEADER_BYTES : at + BODY_AT]
            if last <= self.state.seq:
                continue
            if first != self.state.seq + 1 or before != self.head:
                raise _StoppedError
            for seq, record in enumerate(codec.decode(block.data[at + BODY_AT : stop]), first):
                self._fold(self.state, Seq(seq), record)
            self.head = self._chain
            if last >= self._until:
                raise _StoppedError


def _is_of_log(log: EventLog, found: snapshots.Snapshot) -> bool:
    """Whether a snapshot is of this log; damage that is met stays with the log."""
    try:
        return log.chain_at(found.seq) == found.head
    except LogCorrupt:
        return False


@contextmanager
def _gc_paused() -> Iterator[None]:
    """Pause garbage collection, which would walk state that only grows: 2 to 3 times."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _snapshots_of(kind: Kind, log_dir: Path, folder: Path) -> Snapshots[Any]:
    match kind:
        case "daemon":
            return daemon_snapshots(log_dir, folder)
        case "workbench":
            return workbench_snapshots(log_dir, folder)
        case _:
            assert_never(kind)


def main(kind: str, log_dir: str, folder: str, until: str) -> int:
    """Make a snapshot in this process; return 0 if it was kept."""
    if kind not in get_args(Kind):
        return 2
    os.nice(_NICENESS)
    ours = _snapshots_of(cast("Kind", kind), Path(log_dir), Path(folder))
    return 0 if ours.renew(Seq(int(until))) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
