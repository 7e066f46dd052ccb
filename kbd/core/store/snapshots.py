"""Snapshots of the state that a log is folded to: a start replays only what came after.

They are caches. One counts if it is whole, of this kbd's shape of state, and the log has its chain
value at its number (`EventLog.chain_at`); with all of them deleted a start gives the same state,
only later. One is kept when a log is closed after much happened, and `snapshotting` has one made
while it grows, by a process that runs this module. All blocks.

A file `<seq, 20 digits>.snap` is `magic 8 bytes, seq u64, chain 32 bytes, length of schema u16,
crc32 u32` (little endian), the schema in UTF-8, the payload. The checksum is over all but itself.
"""

import gc
import hashlib
import os
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import (
    Any,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    assert_never,
    cast,
    get_args,
)
from zlib import crc32

import msgspec

from kbd import __version__
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import DiskFull, KbdError, LogCorrupt
from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.disk import DISK, Disk
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES
from kbd.events.log import EventLog
from kbd.events.scan import survey_log
from kbd.events.segment import Block, Segment
from kbd.types import Seq

__all__ = [
    "Kind",
    "Snapshot",
    "Snapshots",
    "daemon_snapshots",
    "load_snapshot",
    "main",
    "save_snapshot",
    "workbench_snapshots",
]


_HEADER = struct.Struct("<8sQ32sH")
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"KBDSNAP\n"
_SUFFIX = ".snap"
_MAX_SNAPSHOTS = 2
"""How many are kept: the newest, and one more in case it turns out to be unusable."""


class Snapshot(NamedTuple):
    """State as it was after an event.

    Args:
        seq: The event.
        head: The log's chain value behind it.
        payload: The state, as whoever saved it encoded it.
    """

    seq: Seq
    head: bytes
    payload: bytes


def save_snapshot(
    directory: Path, seq: Seq, head: bytes, schema: str, payload: bytes, disk: Disk = DISK
) -> bool:
    """Save a snapshot and remove older ones.

    Args:
        directory: Where snapshots of this log lie; made if it is not there.
        seq: The last event that is folded in.
        head: `EventLog.head` at that moment.
        schema: A name for the shape of the payload; changed whenever state or folds change.
        payload: The encoded state.
        disk: What writes.

    Returns:
        Whether it was kept. That a cache cannot be written is no error.
    """
    name = schema.encode()
    header = _HEADER.pack(_MAGIC, seq, head, len(name))
    checksum = crc32(payload, crc32(name, crc32(header)))
    try:
        disk.make_directory(directory)
        path = directory / f"{seq:020}{_SUFFIX}"
        disk.write_file(path, [header, _CHECKSUM.pack(checksum), name, payload])
        # Older ones go only when the new one is durable.
        for old in _newest_first(directory)[_MAX_SNAPSHOTS:]:
            old.unlink(missing_ok=True)
    except (OSError, DiskFull):
        return False
    return True


def load_snapshot(directory: Path, schema: str) -> Snapshot | None:
    """Return the newest snapshot that is whole and of this schema, or None."""
    for path in _newest_first(directory):
        try:
            snapshot = _read(path, schema)
        except OSError:
            continue
        if snapshot is not None:
            return snapshot
    return None


def _newest_first(directory: Path) -> list[Path]:
    # Names are numbers of 20 digits, so their order is that of the events.
    return sorted(directory.glob(f"*{_SUFFIX}"), reverse=True)


def _read(path: Path, schema: str) -> Snapshot | None:
    data = path.read_bytes()
    body_at = _HEADER.size + _CHECKSUM.size
    if len(data) < body_at:
        return None
    magic, seq, head, length = _HEADER.unpack_from(data)
    (checksum,) = _CHECKSUM.unpack_from(data, _HEADER.size)
    body = data[body_at:]
    # Before the length of the schema is used, which may be what is damaged.
    if magic != _MAGIC or crc32(body, crc32(data[: _HEADER.size])) != checksum:
        return None
    # Another kbd's shape of state: not damage, and of no use here.
    if body[:length] != schema.encode():
        return None
    return Snapshot(Seq(seq), head, body[length:])


CLOSED_EVENTS = 2000
"""A snapshot is kept at close when so many events came since the last one (4 ms of replay)."""

_NO_END = Seq(2**63)
"""Behind the last event of any log."""

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

    def open(self, disk: Disk = DISK) -> tuple[EventLog, tuple[S, S] | None]:
        """Open the log, and return two copies of the state of its newest snapshot, if it fits.

        Args:
            disk: What writes the log.

        Raises:
            DiskFull: There is no space for a new log or a repair.
            LogPoisoned: The disk failed, or does not make the log durable.
        """
        found = load_snapshot(self.folder, self._schema())
        log = EventLog.open(self.log_dir, trusted=found.seq if found else Seq(0), disk=disk)
        try:
            # The log may have been cut, or restored from a backup, since the snapshot was taken.
            if found is None or not _is_of_log(log, found):
                return log, None
            decode = msgspec.msgpack.Decoder(self._shape).decode
            with _gc_paused():
                # Twice, for the Keeper's two copies must share nothing that a fold changes.
                copies = decode(found.payload), decode(found.payload)
        except BaseException:
            # Nobody else knows of it, and what it holds open would be lost with it.
            log.close()
            raise
        self.since = found.seq
        return log, copies

    def save(self, state: S, head: bytes) -> bool:
        """Save a state, with the chain value behind its last event; return whether it is saved."""
        payload = msgspec.msgpack.encode(state)
        is_saved = save_snapshot(self.folder, state.seq, head, self._schema(), payload)
        if is_saved:
            self.since = state.seq
        return is_saved

    def save_last(self, state: S, head: bytes) -> None:
        """Save the state of a closed log, unless the newest snapshot is nearly as recent."""
        if state.seq - self.since >= CLOSED_EVENTS:
            self.save(state, head)

    def renew(self, until: Seq) -> bool:
        """Fold the log from its newest snapshot up to a durable event, and save the state.

        Somebody else has the log open, and may be writing behind that event.

        Args:
            until: The last event that counts; a frame ends with it.

        Returns:
            Whether it was kept. That it cannot be done is no error.
        """
        found = load_snapshot(self.folder, self._schema())
        with _gc_paused():
            if found is not None and found.seq < until:
                state = msgspec.msgpack.decode(found.payload, type=self._shape)
                onward = _IncrementalFold(state, found.head, self._fold, until)
                if onward.walk(self.log_dir):
                    return self.save(onward.state, onward.head)
            # There is none, or it is of another log, or of an end that was cut off since.
            onward = _IncrementalFold(self._shape(), GENESIS, self._fold, until)
            return onward.walk(self.log_dir) and self.save(onward.state, onward.head)

    def read(self) -> tuple[S, str]:
        """Fold a log to its end, from its newest snapshot if there is one; nothing is changed.

        Nobody has the log open.

        Returns:
            The state, and why the log cannot be read on from there; "" if it is whole.
        """
        found = load_snapshot(self.folder, self._schema())
        with _gc_paused():
            if found is not None:
                state = msgspec.msgpack.decode(found.payload, type=self._shape)
                onward = _IncrementalFold(state, found.head, self._fold, _NO_END)
                damage = onward.read(self.log_dir)
                # Of another log, or of an end that was cut off since.
                if damage is not None:
                    return onward.state, damage
            onward = _IncrementalFold(self._shape(), GENESIS, self._fold, _NO_END)
            return onward.state, onward.read(self.log_dir) or ""

    def _schema(self) -> str:
        """Name the shape of the state: of another shape, or another kbd's, none is used."""
        return _name_of(self._shape)


@cache  # 5 ms each, and every log that is opened or read asks
def _name_of(shape: type) -> str:
    described = msgspec.json.encode(msgspec.json.schema(shape))
    # With the version, for a fold can change while the shape stays.
    return f"{__version__}-{hashlib.sha256(described).hexdigest()[:16]}"


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
        """Fold; return whether the log has the state's origin and reaches so far."""
        try:
            survey_log(log_dir, trusted=self.state.seq, visit=self._visit)
        except (_StoppedError, OSError):
            pass
        return self.state.seq == self._until

    def read(self, log_dir: Path) -> str | None:
        """Fold to the end; return the damage that is met, "" for none, None for another log."""
        try:
            found = survey_log(log_dir, trusted=self.state.seq, visit=self._visit)
        except _StoppedError:
            return None
        except KbdError as error:
            return error.message
        except OSError as error:
            return f"the log cannot be read: {os.strerror(error.errno or 0)}"
        if found.fault is not None:
            return found.fault.message
        return "" if found.seq == self.state.seq else None

    def _visit(self, segment: Segment, block: Block) -> None:
        if block.base == segment.start.offset:
            self._chain = segment.header.chain
        for first, last, at, stop in block.spans():
            before, self._chain = self._chain, block.data[at + HEADER_BYTES : at + BODY_AT]
            if last <= self.state.seq:
                if last == self.state.seq and self._chain != self.head:
                    raise _StoppedError
                continue
            if first != self.state.seq + 1 or before != self.head:
                raise _StoppedError
            for seq, record in enumerate(codec.decode(block.data[at + BODY_AT : stop]), first):
                self._fold(self.state, Seq(seq), record)
            self.head = self._chain
            if last >= self._until:
                raise _StoppedError


def _is_of_log(log: EventLog, found: Snapshot) -> bool:
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
    """Save a snapshot from this process; return 0 if it is saved."""
    if kind not in get_args(Kind):
        return 2
    os.nice(_NICENESS)
    ours = _snapshots_of(cast("Kind", kind), Path(log_dir), Path(folder))
    return 0 if ours.renew(Seq(int(until))) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
