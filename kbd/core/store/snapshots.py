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
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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

import msgspec

from kbd import __version__
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.log_outline import LogOutline
from kbd.core.domain.long_lists import (
    PAGE_BYTES,
    copy_state,
    decode_state,
    describe_state,
    encode_state,
    move_pages,
    seal_state,
    used_bytes,
)
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.page_file import PAGES_SUFFIX, PageFile, PageWriter
from kbd.core.store.snapshot_files import (
    NO_END,
    load_snapshot,
    newest_first,
    read_snapshot,
    save_snapshot,
)
from kbd.errors import KbdError, LogCorrupt, ToolWorkerUnavailable
from kbd.events import codec
from kbd.events.base import Recorded
from kbd.events.disk import DISK, Disk
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES, frame_link
from kbd.events.log import EventLog
from kbd.events.scan import LogSurvey, survey_log
from kbd.events.segment import Block, Segment, segment_names
from kbd.types import Seq

__all__ = [
    "Kind",
    "LogFold",
    "Snapshots",
    "daemon_snapshots",
    "main",
    "workbench_snapshots",
]


CLOSED_EVENTS = 2000
"""A snapshot is kept at close when so many events came since the last one (4 ms of replay)."""

RENEWED_EVENTS = 50_000
"""A fold from far back saves its state after so many events, so that it need not hold it all."""

_NICENESS = 10
"""A process that renews yields to everything that somebody waits for."""

_LEAST_WASTE_BYTES = 1024 * 1024
"""Pages that no snapshot names are left behind once they take so much, and half of the file."""

Kind = Literal["daemon", "workbench"]
"""Which sort of log: the daemon's own, or one of a workbench."""


class _Folded(Protocol):
    seq: Seq


S = TypeVar("S", bound=_Folded)


class LogFold(msgspec.Struct, Generic[S]):
    """What a log is folded to: its state, and its outline as far as the same event."""

    state: S
    outline: LogOutline


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    """Payload of a snapshot: the name of the file of its pages, "" for none, and the fold."""

    pages: str
    fold: msgspec.Raw


class _Found(NamedTuple, Generic[S]):
    """A snapshot that can be used, with the file of its pages and the name of that."""

    head: bytes
    fold: LogFold[S]
    pages: PageFile | None = None
    name: str = ""


class Snapshots(Generic[S]):
    """The snapshots of one log.

    Args:
        kind: Which sort of log it is.
        log_dir: The log's folder.
        folder: Where its snapshots lie; made when it is needed.
        shape: The state's class; made without arguments it is the state before the first event.
        fold: Changes a state as an event says.
        disk: What writes them.
        page_bytes: The size at which a page of a long list is full.

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
        disk: Disk = DISK,
        page_bytes: int = PAGE_BYTES,
    ) -> None:
        self.kind, self.log_dir, self.folder = kind, log_dir, folder
        self.since = Seq(0)
        self._shape, self._fold, self._disk = shape, fold, disk
        self._page_bytes = page_bytes
        self._stored = _stored_type(shape)
        self._pages = ""

    def open(self, disk: Disk = DISK) -> tuple[EventLog, LogFold[S] | None]:
        """Open the log, and return the fold of its newest snapshot, if that is of this log.

        Args:
            disk: What writes the log.

        Raises:
            DiskFull: There is no space for a new log or a repair.
            LogPoisoned: The disk failed, or does not make the log durable.
        """
        found = self._load()
        if found is None:
            return EventLog.open(self.log_dir, disk=disk), None
        trusted, start = found.fold.state.seq, found.fold.outline.last
        log = EventLog.open(self.log_dir, trusted=trusted, start=start, disk=disk)
        try:
            # The log may have been cut, or restored from a backup, since the snapshot was taken.
            if not _is_of_log(log, found):
                return log, None
        except BaseException:
            # Nobody else knows of it, and what it holds open would be lost with it.
            log.close()
            raise
        self.since, self._pages = trusted, found.name
        return log, found.fold

    def view(self) -> tuple[EventLog, LogOutline | None]:
        """View the log, which nobody has open, with the outline of its newest snapshot, if any.

        Raises:
            OSError: It cannot be read.
        """
        found = self._load()
        if found is not None:
            trusted, start = found.fold.state.seq, found.fold.outline.last
            log = EventLog.view(self.log_dir, trusted=trusted, start=start)
            if _is_of_log(log, found):
                return log, found.fold.outline
        return EventLog.view(self.log_dir), None

    def far_end(self) -> Seq:
        """Return an event up to which it is worth while to renew before the log is opened.

        It is the last one of a segment, if so many came since the newest snapshot; else 0.
        """
        try:
            names = segment_names(self.log_dir)
        except OSError:
            return Seq(0)
        end = int(names[-1].partition(".")[0]) - 1 if names else 0
        found = load_snapshot(self.folder, self._schema()) if end >= RENEWED_EVENTS else None
        since = found.seq if found is not None else 0
        return Seq(end if end - since >= RENEWED_EVENTS else 0)

    def save(self, fold: LogFold[S], head: bytes) -> bool:
        """Save a fold, with the chain value behind its last event; return whether it is saved."""
        # A copy, for what is sealed is not read before the snapshot is.
        made = copy_state(fold, self._stored)
        name = self._pages or _pages_name(fold.state.seq)
        # Taken away since, for it was damaged: in a new file of its name nothing stood where the
        # state says.
        if self._pages and not (self.folder / name).exists():
            return False
        try:
            writer = PageWriter(self.folder / name, self._disk)
            seal_state(made, writer.write, self._page_bytes)
            self._pages = name if writer.flush() else ""
        except (OSError, KbdError):
            return False
        return self._keep(made, head)

    def save_last(self, state: S, outline: Callable[[], LogOutline], head: bytes) -> None:
        """Save the fold of a closed log, unless the newest snapshot is nearly as recent.

        Args:
            state: The state.
            outline: Brings the outline as far, and returns it.
            head: The chain value behind the last event.
        """
        if state.seq - self.since < CLOSED_EVENTS:
            return
        fold = LogFold(state, outline())
        if fold.outline.seq == state.seq and self.save(fold, head):
            self._leave_waste()

    def renew(self, until: Seq) -> bool:
        """Fold the log from its newest snapshot up to a durable event, and save the state.

        Somebody else has the log open, and may be writing behind that event.

        Args:
            until: The last event that counts; a frame ends with it.

        Returns:
            Whether it was kept. That it cannot be done is no error.
        """
        found = self._load()
        with _gc_paused():
            if found is not None and found.fold.state.seq < until:
                self._pages = found.name
                if self._renew(found, until):
                    return True
            # There is none, or it is of another log, of an end that was cut off since, or damaged.
            self._pages = ""
            blank = LogFold(self._shape(), LogOutline())
            return self._renew(_Found(GENESIS, blank), until)

    def state_at(self, seq: Seq) -> S | None:
        """Return the state after an event, folded from a snapshot; None where none helps.

        Somebody may have the log open, and be writing it.
        """
        found = self._load(seq)
        if found is None:
            return None
        onward = _IncrementalFold(found.fold, found.head, self._fold, seq, is_exact=True)
        with _gc_paused():
            return onward.fold.state if onward.walk(self.log_dir) else None

    def read(self) -> tuple[S, str]:
        """Fold a log to its end, from its newest snapshot if there is one; nothing is changed.

        Nobody has the log open.

        Returns:
            The state, and why the log cannot be read on from there; "" if it is whole.
        """
        found = self._load()
        with _gc_paused():
            if found is not None:
                onward = _IncrementalFold(found.fold, found.head, self._fold, NO_END)
                damage = onward.read(self.log_dir)
                # Of another log, or of an end that was cut off since.
                if damage is not None:
                    return onward.fold.state, damage
            blank = LogFold(self._shape(), LogOutline())
            onward = _IncrementalFold(blank, GENESIS, self._fold, NO_END)
            return onward.fold.state, onward.read(self.log_dir) or ""

    def _renew(self, found: _Found[S], until: Seq) -> bool:
        """Fold on in steps, and save after each: what is old is in pages then, not in memory."""
        while True:
            step = Seq(min(until, found.fold.state.seq + RENEWED_EVENTS))
            onward = _IncrementalFold(found.fold, found.head, self._fold, step)
            # A frame may hold more events than the step has: it is folded whole.
            if not onward.walk(self.log_dir) or onward.fold.state.seq > until:
                return False
            if not self.save(onward.fold, onward.head):
                return False
            if onward.fold.state.seq == until:
                return True
            again = self._load()
            if again is None:
                return False
            found = again

    def _load(self, until: Seq = NO_END) -> _Found[S] | None:
        found = load_snapshot(self.folder, self._schema(), until)
        if found is None:
            return None
        stored = msgspec.msgpack.decode(found.payload, type=_Stored)
        try:
            pages = PageFile(self.folder / stored.pages) if stored.pages else None
        except OSError:
            return None
        with _gc_paused():
            fold = decode_state(stored.fold, self._stored, pages)
        return _Found(found.head, fold, pages, stored.pages)

    def _keep(self, fold: LogFold[S], head: bytes) -> bool:
        payload = msgspec.msgpack.encode(_Stored(self._pages, msgspec.Raw(encode_state(fold))))
        seq = fold.state.seq
        is_saved = save_snapshot(self.folder, seq, head, self._schema(), payload, self._disk)
        if is_saved:
            self.since = seq
            self._remove_unused_pages()
        return is_saved

    def _remove_unused_pages(self) -> None:
        """Remove the files of pages that no snapshot names; a state in use holds its own open."""
        files = list(self.folder.glob(f"*{PAGES_SUFFIX}"))
        if len(files) <= 1:
            return
        used = {self._pages}
        for path in newest_first(self.folder)[1:]:
            with suppress(OSError, msgspec.DecodeError):
                older = read_snapshot(path, self._schema())
                used.add(msgspec.msgpack.decode(older.payload, type=_Stored).pages if older else "")
        for path in files:
            if path.name not in used:
                path.unlink(missing_ok=True)

    def _leave_waste(self) -> None:
        """Write the pages that are in use to a file of their own, if they are the smaller part."""
        found = self._load()
        if found is None or found.pages is None:
            return
        used = used_bytes(found.fold)
        if found.pages.size_bytes - used < max(used, _LEAST_WASTE_BYTES):
            return
        old = found.pages
        new = PageWriter(self.folder / _pages_name(self.since, self._pages), self._disk)
        try:
            move_pages(found.fold, lambda place: new.write(old.read(place)))
            new.flush()
        except (OSError, KbdError):
            return
        self._pages = new.path.name
        self._keep(found.fold, found.head)

    def _schema(self) -> str:
        """Name the shape of the state: of another shape, or another kbd's, none is used."""
        return _name_of(self._stored)


def _pages_name(seq: Seq, old: str = "") -> str:
    """Return the name of a new file of pages, another than that of an old one."""
    name = f"{seq:020}{PAGES_SUFFIX}"
    return name if name != old else f"{seq:020}-1{PAGES_SUFFIX}"


def _stored_type(shape: type[S]) -> type[LogFold[S]]:
    return LogFold[shape]  # type: ignore[valid-type]


@cache  # 5 ms each, and every log that is opened or read asks
def _name_of(shape: type) -> str:
    described = msgspec.json.encode(describe_state(shape))
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
    """Incremental fold of a log that somebody may be writing: from a fold up to an event.

    Args:
        found: The fold to go on from; it is changed.
        head: The chain value that the log must have behind its last event.
        fold: Changes a state as an event says.
        until: The last event that counts.
        is_exact: Whether of its frame no more is folded; else all of it is.

    Attributes:
        fold: As far as it is folded.
        head: The chain value there.
    """

    def __init__(
        self,
        found: LogFold[S],
        head: bytes,
        fold: Callable[[S, Seq, Recorded], None],
        until: Seq,
        *,
        is_exact: bool = False,
    ) -> None:
        self.fold, self.head = found, head
        self._fold, self._until, self._is_exact = fold, until, is_exact
        self._chain = b""

    def walk(self, log_dir: Path) -> bool:
        """Fold; return whether the log has the state's origin and reaches so far."""
        try:
            self._survey(log_dir)
        except (_StoppedError, OSError, KbdError):
            pass
        return self.fold.state.seq >= self._until

    def read(self, log_dir: Path) -> str | None:
        """Fold to the end; return the damage that is met, "" for none, None for another log."""
        try:
            found = self._survey(log_dir)
        # The other is a page of the state's that is damaged.
        except (_StoppedError, ToolWorkerUnavailable):
            return None
        except KbdError as error:
            return error.message
        except OSError as error:
            return f"the log cannot be read: {os.strerror(error.errno or 0)}"
        if found.fault is not None:
            return found.fault.message
        return "" if found.seq == self.fold.state.seq else None

    def _survey(self, log_dir: Path) -> LogSurvey:
        trusted, start = self.fold.state.seq, self.fold.outline.last
        return survey_log(log_dir, trusted=trusted, start=start, visit=self._visit)

    def _visit(self, segment: Segment, block: Block) -> None:
        if block.base == segment.start.offset:
            self._chain = segment.header.chain
        state, outline = self.fold.state, self.fold.outline
        for first, last, at, stop in block.spans():
            before, self._chain = self._chain, block.data[at + HEADER_BYTES : at + BODY_AT]
            if last <= state.seq:
                if last == state.seq and self._chain != self.head:
                    raise _StoppedError
                continue
            if first != state.seq + 1 or before != self.head:
                raise _StoppedError
            records = codec.decode(block.data[at + BODY_AT : stop])
            if self._is_exact:
                records = records[: self._until - first + 1]
            for seq, record in enumerate(records, first):
                self._fold(state, Seq(seq), record)
            outline.add(frame_link(block.data, at, block.base), records)
            self.head = self._chain
            if last >= self._until:
                raise _StoppedError


def _is_of_log(log: EventLog, found: _Found[Any]) -> bool:
    """Whether a snapshot is of this log; damage that is met stays with the log."""
    try:
        return log.chain_at(found.fold.state.seq, found.fold.outline.last) == found.head
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
