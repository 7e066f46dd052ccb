"""Event log of one workbench, or of the daemon: append, read, replay.

Blocking I/O on file descriptors of its own; who must not wait calls it in a thread. One thread at
a time may append. Any thread may read meanwhile: readers see what was durable when they asked.
That nobody else has the log open is the daemon's lock to see to.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from msgspec import DecodeError, Struct

from kbd.errors import DiskFull, KbdError, LogCorrupt, ValidationFailed
from kbd.events import codec, segment
from kbd.events.anchor import Anchor, AnchorFile
from kbd.events.base import Recorded
from kbd.events.disk import DISK, Disk, LogPoisoned, is_full
from kbd.events.frame import (
    BODY_AT,
    GENESIS,
    HEADER_BYTES,
    FrameLink,
    frame_link,
    pack_frame,
)
from kbd.events.repair import cut_torn_write, remove_leftovers
from kbd.events.scan import LogSurvey, survey_log, unreadable_log
from kbd.events.segment import Block, Segment, Tail
from kbd.events.shortages import raise_shortage, shortage_of, told_error
from kbd.events.workbenches import LogRepaired
from kbd.types import Seq

__all__ = ["EventLog"]

_SEGMENT_LIMIT = 32 * 1024 * 1024
_ANCHOR_COMMITS = 64
_ANCHOR_SECONDS = 1.0
"""How many commits, or how long, the anchor may lag behind the log (reliability 2.4)."""


class _Tip(Struct, frozen=True, gc=False):
    """The durable end of the log; replaced as a whole, so that readers never see half of it."""

    segments: tuple[Segment, ...]
    link: FrameLink
    chain: bytes


# Not SQLite: its WAL with FULL reaches 0.5 to 0.9 of a raw append, and its checkpoints stall (p99
# 1.5 to 7.5 ms, not 0.5; facts/performance.md A). It cannot tell torn from damaged, either.
class EventLog:
    """A log that is open. Made by `EventLog.open`, or `EventLog.view` to be read alone.

    Attributes:
        repairs: What recovery cut off at open, to be recorded by the caller.
        damage: Why the log is open for reading only; None if it can be written. Set at open, and
            later if a reader meets damage.
    """

    def __init__(
        self,
        directory: Path,
        found: LogSurvey,
        repairs: tuple[LogRepaired, ...],
        *,
        segment_bytes: int,
        disk: Disk,
        entropy: Callable[[int], bytes],
        clock: Callable[[], float],
    ) -> None:
        self.repairs = repairs
        self.damage: LogCorrupt | None = found.fault
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._disk = disk
        self._entropy = entropy
        self._clock = clock
        self._tip = _Tip(tuple(found.segments), found.link, found.chain)
        self._poison: str = ""
        # Both None while the log rests: it holds nothing open until something is appended.
        self._tail: Tail | None = None
        self._anchor: AnchorFile | None = None
        self._is_closed = True
        self._kept_to = 0
        """Up to where space is reserved while the log rests."""
        self._unanchored = 0
        self._anchor_due = clock() + _ANCHOR_SECONDS

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        segment_bytes: int = _SEGMENT_LIMIT,
        trusted: Seq = Seq(0),  # noqa: B008 - a NewType over an int
        start: FrameLink | None = None,
        disk: Disk = DISK,
        entropy: Callable[[int], bytes] = os.urandom,
        clock: Callable[[], float] = time.monotonic,
    ) -> "EventLog":
        """Open a log, made if it is not there, after recovering it.

        A torn write is cut off, its bytes kept in `<segment>.torn-<n>` (`repairs`). Any other
        damage leaves it as it is, open for reading what comes before (`damage`). What is found is
        made durable before it is shown: the process that wrote it may have died before it was.

        Args:
            directory: The log's own.
            segment_bytes: A segment that has reached this size is followed by a new one.
            trusted: Up to where a snapshot has the state: segments before need no check.
            start: The place of the frame that ends there, if known (`survey_log`).
            disk: What writes.
            entropy: Where the salts of new segments come from.
            clock: Seconds, never going back.

        Raises:
            DiskFull: There is no space for a new log or a repair.
            TooManyOpenFiles: No descriptor is left; nothing is held open.
            OutOfMemory: There is none for what must be read.
            LogPoisoned: The disk failed, or does not make it durable.
        """
        try:
            disk.make_directory(directory)
            found, repairs = _recover(directory, trusted, start, disk)
            log = cls(
                directory,
                found,
                repairs,
                segment_bytes=segment_bytes,
                disk=disk,
                entropy=entropy,
                clock=clock,
            )
            if log.damage is None:
                log._prepare()
        except OSError as error:
            # Before anything was appended: what has run out may be there again at the next try.
            raise_shortage(error)
            raise LogPoisoned(f"the log cannot be opened: {error.strerror}") from error
        return log

    @classmethod
    def view(
        cls,
        directory: Path,
        *,
        trusted: Seq = Seq(0),  # noqa: B008 - a NewType over an int
        start: FrameLink | None = None,
    ) -> "EventLog":
        """View a log that nobody has open, up to its end as it is now: nothing is written.

        It cannot be appended to, and holds no file open.

        Args:
            directory: The log's own.
            trusted: As for `open`.
            start: As for `open`.

        Raises:
            OSError: It cannot be read.
        """
        found = survey_log(directory, trusted=trusted, start=start)
        return cls(
            directory,
            found,
            (),
            segment_bytes=_SEGMENT_LIMIT,
            disk=DISK,
            entropy=os.urandom,
            clock=time.monotonic,
        )

    @property
    def seq(self) -> Seq:
        """The last event's number; 0 if there is none."""
        return Seq(self._tip.link.seq - 1)

    @property
    def head(self) -> bytes:
        """Chain value at the end: 32 bytes that identify the whole history."""
        return self._tip.chain

    @property
    def end(self) -> Anchor:
        """Both at once: the log may grow between two questions."""
        tip = self._tip
        return Anchor(tip.link.seq - 1, tip.chain)

    def append(self, records: Sequence[Recorded]) -> Seq:
        """Make records durable as one frame: all of them or none.

        Returns:
            The number of the last of them. The first one's is one more than `seq` was before.

        Raises:
            ValidationFailed: There is nothing to record, or too much for one frame.
            DiskFull: There is no space; the log is as it was, and can be appended to later.
            TooManyOpenFiles: Likewise where a new segment is due and no descriptor is left.
            OutOfMemory: Likewise.
            LogPoisoned: The disk failed; whether the records are there, only the next start
                knows. Every later call raises it, too.
            LogCorrupt: The log is damaged and may not be written.
        """
        tail = self._tail
        if tail is None or self._poison or self.damage is not None:
            tail = self._check_writable()
        if not records:
            raise ValidationFailed("there is nothing to record")
        # Encoded before a new segment is begun: what cannot be encoded changes nothing on disk.
        try:
            body = codec.encode(records)
        except MemoryError as error:
            raise told_error(error) from error
        tip = self._tip
        # Asked before a frame and never within one: no frame spans two segments.
        if tip.link.offset >= self._segment_bytes:
            tail = self._roll(tail)
            tip = self._tip
        link, last = tip.link, tip.segments[-1]
        frame = pack_frame(body, link, tip.chain, last.seed)
        try:
            tail.write(frame.data, link.offset)
        except OSError as error:
            # A full disk takes a part and fails at the next call (2,480 of 9,008 bytes measured;
            # facts/performance.md F), so half a frame may be there.
            raise self._unwritten(tail, link.offset, error) from error
        try:
            tail.sync()
        except OSError as error:
            # Neither tried again nor cut off: the next sync would report success for pages that are
            # lost (1st ENOSPC, 2nd EIO, 3rd OK; facts/performance.md F).
            raise self._poisoned("the disk does not make the log durable") from error
        # Only now: what readers see must be durable, so that no crash takes it back.
        after = FrameLink(link.seq + len(records), link.offset + len(frame.data), frame.checksum)
        self._tip = _Tip(tip.segments, after, frame.chain)
        if after.offset >= last.unmarked:
            last.mark(after)
        self._unanchored += 1
        # Not at each frame, for the anchor takes a sync of its own.
        if self._unanchored >= _ANCHOR_COMMITS or self._clock() >= self._anchor_due:
            self._drop_anchor()
        return cast("Seq", after.seq - 1)

    def frames(self, after: Seq = Seq(0)) -> Iterator[tuple[Seq, bytes]]:  # noqa: B008
        """Each frame that holds an event behind `after`: its first number and its body.

        The first frame may begin at or before `after`. A body is read by `codec.decode_plain` and
        `codec.decode`.

        Raises:
            LogCorrupt: Damage was met.
        """
        for place, body in self.located_frames(after):
            yield Seq(place.seq), body

    def located_frames(
        self, after: Seq, near: FrameLink | None = None
    ) -> Iterator[tuple[FrameLink, bytes]]:
        """The same with the place of each frame, whose `seq` is its first number.

        Args:
            after: The event.
            near: The place of a frame before it, if one is known: the search begins there.

        Raises:
            LogCorrupt: Damage was met.
        """
        for _, block in self._blocks(after, near):
            for _, last, at, stop in block.spans():
                if last > after:
                    place = frame_link(block.data, at, block.base)
                    yield place, block.data[at + BODY_AT : stop]

    def read(
        self, after: Seq, limit: int, near: FrameLink | None = None
    ) -> list[tuple[Seq, Recorded]]:
        """Up to `limit` events behind `after`, in order.

        Args:
            after: The event.
            limit: The most to return.
            near: As for `located_frames`.

        Raises:
            LogCorrupt: Damage was met.
            NotUnderstood: An event that must be understood is not known.
        """
        events: list[tuple[Seq, Recorded]] = []
        for source, block in self._blocks(after, near):
            for first, last, at, stop in block.spans():
                if last <= after:
                    continue
                numbered = enumerate(self._decode(source, block, first, at, stop), first)
                events += [(Seq(seq), record) for seq, record in numbered if seq > after]
                if len(events) >= limit:
                    return events[:limit]
        return events

    def replay(self, apply: Callable[[Seq, Recorded], object], after: Seq = Seq(0)) -> Seq:  # noqa: B008
        """Call `apply(seq, record)` for each event behind `after`, in order.

        The collector of cycles is off meanwhile: it would look again and again at state that only
        grows (facts/performance.md B). Checksums and links are checked; the chain is `verify`'s.

        Returns:
            The last number in the log when this began.

        Raises:
            LogCorrupt: Damage was met; what came before it has been applied.
            NotUnderstood: An event that must be understood is not known.
        """
        last = self.seq
        call = cast("Callable[[int, Recorded], object]", apply)
        decode = codec.decode_current
        collecting = gc.isenabled()
        gc.disable()
        try:
            for source, block in self._blocks(after):
                data = block.data
                for first, at, stop in block.frames:
                    try:
                        records = decode(data[at + BODY_AT : stop])
                    except (DecodeError, UnicodeDecodeError, RecursionError):
                        # An older version or a type from the future, which the slow path tells from
                        # damage.
                        records = self._decode(source, block, first, at, stop)
                    if first <= after:
                        records, first = records[after + 1 - first :], after + 1
                    for seq, record in enumerate(records, first):
                        call(seq, record)
        finally:
            if collecting:
                gc.enable()
        return last

    def chain_at(self, seq: Seq, near: FrameLink | None = None) -> bytes | None:
        """The chain value behind the event `seq`; None if no frame ends there.

        A snapshot is usable if it was taken at this value.

        Args:
            seq: The event.
            near: As for `located_frames`.
        """
        if seq == 0:
            return GENESIS
        if seq > self.seq:
            return None
        for _, block in self._blocks(Seq(seq - 1), near):
            for _, last, at, _ in block.spans():
                if last >= seq:
                    value = block.data[at + HEADER_BYTES : at + BODY_AT]
                    return value if last == seq else None
        return None

    def rest(self) -> None:
        """Hold no file open until the next append. Call it where one may append.

        Raises:
            LogPoisoned: As for `close`.
        """
        if self._tail is not None:
            self._kept_to = self._tail.kept_to
            self._let_go()

    def close(self) -> None:
        """Close the files at their end, which the anchor names. Calling it again does nothing.

        Raises:
            LogPoisoned: The anchor could not be made durable; the events are.
        """
        self._is_closed = True
        end = self._tip.link.offset
        if self._tail is not None and not self._poison and self.damage is None:
            self._tail.trim(end)
        elif self._tail is None and self._kept_to > end:
            # As a courtesy: the next start would do it, too.
            with suppress(OSError):
                os.truncate(self._tip.segments[-1].path, end)
            self._kept_to = 0
        self._let_go()

    def _let_go(self) -> None:
        try:
            # After a failed sync the anchor would claim that what may be lost was durable.
            if self._tail is not None and not self._poison and self.damage is None:
                self._drop_anchor()
        finally:
            self._release()

    def _prepare(self) -> None:
        """Get ready to append: make durable what was found, and name it in the anchor."""
        try:
            self._claim()
        except BaseException:
            self._release()
            raise

    def _claim(self) -> None:
        if not self._tip.segments:
            first = self._born(FrameLink(1, 0, 0), GENESIS)
            self._tip = _Tip((first,), first.start, GENESIS)
        self._anchor = AnchorFile(self._directory, self._disk)
        self._tail = Tail(self._tip.segments[-1].path, self._segment_bytes, self._disk)
        # Synced before the anchor names it: who wrote these frames may have been killed before its
        # sync.
        self._tail.claim(self._tip.link.offset)
        # A crash may have come between a segment's rename and the sync of its name.
        self._disk.sync_directory(self._directory)
        self._drop_anchor()
        self._is_closed = False

    def _release(self) -> None:
        """Close what is open."""
        if self._anchor is not None:
            self._anchor.close()
            self._anchor = None
        if self._tail is not None:
            self._tail.close()
            self._tail = None

    def _born(self, link: FrameLink, chain: bytes) -> Segment:
        salt = int.from_bytes(self._entropy(8), "little")
        return segment.create_segment(self._directory, link.seq, chain, salt, self._disk)

    def _check_writable(self) -> Tail:
        if self._poison:
            raise LogPoisoned(self._poison)
        if self.damage is not None:
            raise self.damage.with_traceback(None)
        if self._is_closed:
            raise ValidationFailed("the log is closed")
        return self._tail or self._wake()

    def _wake(self) -> Tail:
        """Open again what a log that rests does not hold; nobody else has written meanwhile."""
        try:
            self._anchor = AnchorFile(self._directory, self._disk)
            last = self._tip.segments[-1].path
            self._tail = Tail(last, self._segment_bytes, self._disk, self._kept_to)
        except OSError as error:
            self._release()
            raise_shortage(error)
            raise self._poisoned("the log cannot be opened") from error
        return self._tail

    def _roll(self, tail: Tail) -> Tail:
        """Go on in a new segment. The one that is full is durable already."""
        try:
            tip = self._tip
            # Before another segment exists: zeros anywhere but at the end of the last one are
            # damage.
            tail.seal(tip.link.offset)
            # On a full disk `DiskFull` passes: no part of a segment is left, and the commit can be
            # made later.
            new = self._born(tip.link, tip.chain)
            following = Tail(new.path, self._segment_bytes, self._disk)
        except OSError as error:
            # What is there of the new segment has no frame, and the next try makes it anew.
            if not is_full(error):
                raise_shortage(error)
            raise self._poisoned("a new segment of the log cannot be made") from error
        tail.close()
        self._tail = following
        self._tip = _Tip((*tip.segments, new), new.start, tip.chain)
        return following

    def _unwritten(self, tail: Tail, offset: int, error: OSError) -> KbdError:
        """Leave the log as it was before a frame that was not written; return what to raise."""
        try:
            tail.cut(offset)
        except OSError as undone:
            raise self._poisoned("what was half written cannot be taken back") from undone
        if is_full(error):
            return DiskFull(
                "no space is left on the device: nothing was recorded, and nothing was lost",
                actions=("free some space, then try again",),
            )
        return shortage_of(error) or self._poisoned("the log cannot be written")

    def _poisoned(self, message: str) -> LogPoisoned:
        self._poison = f"{message}; kbd must be restarted to see what is really there"
        return LogPoisoned(self._poison)

    def _drop_anchor(self) -> None:
        """Name the end in the anchor. On a full disk the one before stands, which is true, too."""
        assert self._anchor is not None, "the log is open"
        try:
            self._anchor.advance(self.end)
        except OSError as error:
            if is_full(error):
                return
            raise self._poisoned("the anchor of the log cannot be written") from error
        self._unanchored = 0
        self._anchor_due = self._clock() + _ANCHOR_SECONDS

    def _blocks(self, after: int, near: FrameLink | None = None) -> Iterator[tuple[Segment, Block]]:
        """The durable frames from near `after` on, with the segment that each block is of."""
        # One look: a writer in another thread may begin a segment between two, and the end of the
        # new one would be taken for that of the last that is known here.
        tip = self._tip
        segments = tip.segments
        for place, source in enumerate(segments):
            last = place == len(segments) - 1
            end_seq = tip.link.seq if last else segments[place + 1].header.first
            if end_seq <= after + 1:
                continue
            fd = os.open(source.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                # Not the size of the last one: behind the tip is reserved space, or a frame that is
                # not durable yet, and a crash may take back what is not.
                end = tip.link.offset if last else os.fstat(fd).st_size
                for block in segment.walk_blocks(
                    fd, source.header.seed, source.near(after + 1, near), end
                ):
                    yield source, block
                    if block.problem:
                        error = segment.broken_error(block, source.name)
                        # This ends writing, too: nobody could read past the damage to what is
                        # appended.
                        self.damage = self.damage or error
                        raise error
            finally:
                os.close(fd)

    def _decode(
        self, source: Segment, block: Block, first: int, at: int, stop: int
    ) -> list[Recorded]:
        """Read a frame's records, whatever their versions."""
        try:
            return codec.decode(block.data[at + BODY_AT : stop])
        except LogCorrupt as error:
            error.detail |= {"file": source.name, "offset": block.base + at, "seq": first}
            self.damage = self.damage or error
            raise


def _recover(
    directory: Path, trusted: Seq, start: FrameLink | None, disk: Disk
) -> tuple[LogSurvey, tuple[LogRepaired, ...]]:
    """Survey a log, and cut off what a torn write left; return that, too."""
    try:
        found = survey_log(directory, trusted=trusted, start=start)
    except IsADirectoryError:
        # A folder in the place of a file is damage, and no disk that fails.
        found = unreadable_log("a folder stands in the place of a file of the log")
    # A damaged log is left as it is found: it is evidence, and is only read.
    if found.fault is not None:
        return found, ()
    remove_leftovers(directory)
    return found, (cut_torn_write(directory, found.tear, disk),) if found.tear is not None else ()
