"""Survey of a log on disk: what is whole, what was torn, what is damaged.

Nothing on disk is changed. Recovery at start and `kbd verify` draw on the same survey, so they
cannot disagree.

A write that was not finished (torn) and damage are different answers. Bytes that are no frame are
a torn write only if they are at the end of the last segment, no frame that is valid by itself and
holds the expected or a later number follows, and the anchor does not say that what stood there
was durable. Anything else is damage: everything before it can be read, nothing may be written.
If all these bytes are zeros they are no torn write either, but space that was reserved. What sort
of damage it is (`kbd.events.frame`) is decided here, too, where the bytes are at hand.

`EventLog.open` makes a log ready to be written, which only its owner may do. Who looks on, a proof
in a process of its own or the check of a backup, calls `read_log`: somebody else may have the log
open, or nobody.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.anchor import ANCHOR_NAME, Anchor, read_anchor
from kbd.events.base import Recorded
from kbd.events.faults import FaultKind, Problem, damage_error, fault_kind
from kbd.events.frame import (
    BODY_AT,
    GENESIS,
    HEADER_BYTES,
    FrameLink,
    chain_value,
    find_valid_frame,
    is_whole_but_for_length,
)
from kbd.events.segment import (
    Block,
    Segment,
    open_segment,
    segment_name,
    segment_names,
    walk_blocks,
)
from kbd.types import Seq

__all__ = ["LogSurvey", "TornWrite", "read_log", "survey_log", "unreadable_log"]

Visit = Callable[[Segment, Block], None]
"""Called with each block of frames that were found whole."""


class TornWrite(msgspec.Struct, frozen=True):
    """The place where a write was not finished.

    Args:
        segment: The segment's file name.
        offset: Where the last whole frame ends.
        size_bytes: How many bytes follow, up to the last that is not zero: behind that, a torn
            write cannot be told from reserved space.
    """

    segment: str
    offset: int
    size_bytes: int


class LogSurvey(msgspec.Struct):
    """Survey of a log: its segments, its end, what is torn or damaged.

    Args:
        segments: Those that can be read, in order.
        link: The place behind the last whole frame, in the last of them.
        chain: The chain value there.
        anchored: The number that the anchor names; None without an anchor.
        tear: What a torn write left behind, if one did.
        fault: The first damage, if there is any.
    """

    segments: list[Segment]
    link: FrameLink
    chain: bytes
    anchored: int | None
    tear: TornWrite | None
    fault: LogCorrupt | None

    @property
    def seq(self) -> Seq:
        """The last event that can be read."""
        return Seq(self.link.seq - 1)


def survey_log(
    directory: Path,
    *,
    trusted: int = 0,
    start: FrameLink | None = None,
    chained: bool = False,
    visit: Visit | None = None,
    durable: Anchor | None = None,
) -> LogSurvey:
    """Walk a log from its beginning, or from what is trusted, to its end or the first damage.

    Args:
        directory: The log's; it exists.
        trusted: Segments that hold only events up to this number are not walked: a snapshot
            covers them.
        start: The place of the frame that ends with the event `trusted`, if it is known: what is
            before it in its segment is not walked. If another frame stands there, or none, all is.
        chained: Whether to compute the chain of hashes anew, too. The checksums are always
            checked; the chain tells of changes that were made on purpose.
        visit: Sees each block.
        durable: A place that is known to be durable, by whoever has the log open; the anchor on
            disk may lag behind it.
    """
    found = LogSurvey([], FrameLink(1, 0, 0), GENESIS, None, None, None)
    try:
        walker = _Walker(directory, found, chained=chained, visit=visit, durable=durable)
        walker.run(trusted, start)
    except LogCorrupt as error:
        if trusted:
            # What was passed by is needed now: it is all that can be read before the damage.
            return survey_log(directory, chained=chained, visit=visit, durable=durable)
        found.fault = error
    return found


def unreadable_log(reason: str) -> LogSurvey:
    """Return the survey of a log of which nothing can be read, for a reason."""
    fault = LogCorrupt(reason, detail={"file": ANCHOR_NAME, "offset": 0, "seq": 1})
    return LogSurvey([], FrameLink(1, 0, 0), GENESIS, None, None, fault)


class _Walker:
    """One survey in progress."""

    def __init__(
        self,
        directory: Path,
        found: LogSurvey,
        *,
        chained: bool,
        visit: Visit | None,
        durable: Anchor | None,
    ) -> None:
        self._directory = directory
        self._found = found
        self._chained = chained
        self._visit = visit
        # Read before the segments: if the log is in use, a later anchor may name what was not
        # walked.
        anchor = read_anchor(directory)
        found.anchored = None if anchor is None else anchor.seq
        self._anchor = max((each for each in (anchor, durable) if each is not None), default=None)

    def run(self, trusted: int, start: FrameLink | None) -> None:
        """Walk all segments, then ask the anchor whether that is all there should be."""
        names = segment_names(self._directory)
        for place, name in enumerate(names):
            last = place == len(names) - 1
            self._enter(name)
            # The next name tells where this segment ends; its header is checked in its turn.
            if last or int(names[place + 1].partition(".")[0]) > trusted + 1:
                self._skip_to(start)
                self._walk(self._found.segments[-1], last=last)
                if start is not None and self._found.link == start:
                    reason = "what is trusted does not stand there"
                    raise damage_error(reason, name, start.offset, start.seq, "missing")
            else:
                self._pass_by(names[place + 1])
        self._check_anchor()

    def _enter(self, name: str) -> None:
        """Read a segment's header and see that it goes on where the one before ended."""
        found = self._found
        try:
            segment = open_segment(self._directory / name)
        except LogCorrupt as error:
            raise damage_error(error.message, name, 0, found.link.seq, fault_kind(error)) from error
        if segment.header.first > found.link.seq:
            raise self._gap(Seq(segment.header.first - 1))
        if segment.header.first < found.link.seq:
            reason = "the segment begins with events that the one before it holds, too"
            raise damage_error(reason, name, 0, found.link.seq, "swapped")
        if segment.header.chain != found.chain:
            reason = (
                "it does not go on from the segment before it: one of the two is of another log"
            )
            raise damage_error(reason, name, 0, found.link.seq, "swapped")
        found.segments.append(segment)
        found.link = segment.start

    def _gap(self, until: Seq) -> LogCorrupt:
        """Tell a segment that is gone from the end of one that is gone: the numbers are the same.

        Another segment is begun when one has reached a size. What ends before the last frame of
        any other begins has not reached it, so its end is gone.
        """
        found = self._found
        absent = segment_name(found.link.seq)
        events = f"events {found.link.seq} to {until} are missing"
        if found.segments:
            before = found.segments[-1]
            others = [name for name in segment_names(self._directory) if name != before.name]
            if any(found.link.offset <= _before_last(self._directory / name) for name in others):
                reason = f"{events}: the file ends too early"
                return damage_error(
                    reason, before.name, found.link.offset, found.link.seq, "truncated"
                )
            events += f", in a segment that is gone or at the end of {before.name}"
        return damage_error(events, absent, 0, found.link.seq, "missing")

    def _pass_by(self, following: str) -> None:
        """Take a trusted segment's end from the header of the next."""
        try:
            header = open_segment(self._directory / following).header
        except LogCorrupt as error:
            seq = self._found.link.seq
            raise damage_error(error.message, following, 0, seq, fault_kind(error)) from error
        self._found.link = FrameLink(header.first, 0, 0)
        self._found.chain = header.chain

    def _skip_to(self, start: FrameLink | None) -> None:
        """Go to a place in the segment that is entered, if it is in this one."""
        found = self._found
        segment = found.segments[-1]
        if start is not None and found.link == segment.start and found.link.seq <= start.seq:
            # The chain is taken from the frame there. Where none is left, nothing is walked.
            found.link = start
            segment.mark(start)

    def _walk(self, segment: Segment, *, last: bool) -> None:
        """Walk one segment; what is no frame in it is torn or damaged."""
        found = self._found
        fd = os.open(segment.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # The size of now: what is appended meanwhile is not looked at.
            size, seen, rest = os.fstat(fd).st_size, -1, b""
            problem = self._advance(segment, fd, size)
            while problem and found.link.offset > seen:
                # If the log is in use, reserved space is being filled. A frame is durable before
                # the next is begun: if what follows holds a later one, this one is whole by now.
                seen = found.link.offset
                rest = os.pread(fd, size - seen, seen)
                problem = self._advance(segment, fd, size)
            if problem:
                found.tear = self._judge(segment, problem, rest, last=last)
        finally:
            os.close(fd)

    def _advance(self, segment: Segment, fd: int, size: int) -> Problem:
        """Walk on from the last whole frame; return why no frame follows, empty at `size`."""
        problem = Problem.NONE
        for block in walk_blocks(fd, segment.header.seed, self._found.link, size):
            self._accept(segment, block)
            problem = block.problem
        return problem

    def _accept(self, segment: Segment, block: Block) -> None:
        """Go on behind a block; compare the chain where it was anchored, or everywhere."""
        found, anchor, chain = self._found, self._anchor, self._found.chain
        if block.link.offset > block.base:
            chain = block.data[block.last + HEADER_BYTES : block.last + BODY_AT]
        # Mostly the anchor names the end, so that there is no need to look at each frame.
        named = anchor is not None and found.link.seq <= anchor.seq < block.link.seq
        if self._chained or (named and anchor != (block.link.seq - 1, chain)):
            self._compare(segment, block)
        if self._visit is not None:
            self._visit(segment, block)
        found.chain = chain
        found.link = block.link
        segment.mark(block.link)

    def _compare(self, segment: Segment, block: Block) -> None:
        """Compare the chain values of a block with the anchor, and perhaps with the bodies."""
        chain = self._found.chain
        for first, last, at, stop in block.spans():
            value = block.data[at + HEADER_BYTES : at + BODY_AT]
            if self._chained and chain_value(chain, block.data[at + BODY_AT : stop]) != value:
                reason = "the chain of hashes does not fit, so the log was changed"
                raise damage_error(reason, segment.name, block.base + at, first, "edited")
            if self._anchor and last == self._anchor.seq and value != self._anchor.chain:
                reason = "the anchor knows another event here, so the log was changed"
                raise damage_error(reason, segment.name, block.base + at, first, "edited")
            chain = value

    def _judge(
        self, segment: Segment, problem: Problem, rest: bytes, *, last: bool
    ) -> TornWrite | None:
        """Tell a torn write, and reserved space, from damage.

        Raises:
            LogCorrupt: It is damage.
        """
        link = self._found.link
        is_followed = find_valid_frame(rest, link.seq, segment.header.seed) is not None
        is_zeros = rest == bytes(len(rest))
        if last and not is_followed:
            if is_zeros:
                return None  # The log ends here; whether it may, the anchor says.
            # What the anchor names was synced, so it cannot have been torn.
            if self._anchor is None or self._anchor.seq < link.seq:
                return TornWrite(segment.name, link.offset, len(rest.rstrip(b"\0")))
        kind: FaultKind = problem.kind
        if kind == "truncated" and (
            is_followed or is_zeros or is_whole_but_for_length(rest, segment.header.seed)
        ):
            # A frame that was cut short has nothing behind it, and is not whole under another
            # length.
            kind = "damaged"
        raise damage_error(problem, segment.name, link.offset, link.seq, kind)

    def _check_anchor(self) -> None:
        """See that the log reaches as far as was acknowledged."""
        found = self._found
        place = found.link
        if self._anchor is not None and self._anchor.seq > found.seq:
            # A log that is cut at the end of a frame has a right chain (150 of 200 events came back
            # without a fault; reliability 2.4).
            reason = f"acknowledged events up to {self._anchor.seq} are missing"
            if found.segments:
                raise damage_error(
                    reason, found.segments[-1].name, place.offset, place.seq, "truncated"
                )
            raise damage_error(reason, segment_name(place.seq), 0, place.seq, "missing")
        # Nothing else shows whether the log once reached further, so it is not written to.
        if found.anchored is None and place.seq > 1:
            reason = "the anchor, which says how much was durable, is missing or unreadable"
            raise damage_error(reason, ANCHOR_NAME, 0, place.seq, "anchor")


def _before_last(path: Path) -> int:
    """Return where a segment's last frame begins, walked by itself; 0 if it cannot be read.

    A segment was begun anew only at a size that is greater than this.
    """
    try:
        segment = open_segment(path)
    except LogCorrupt:
        return 0
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        blocks = walk_blocks(fd, segment.seed, segment.start, os.fstat(fd).st_size)
        return max((block.base + block.last for block in blocks if block.frames), default=0)
    finally:
        os.close(fd)


def read_log(
    directory: Path, apply: Callable[[Seq, Recorded], None], until: Seq | None = None
) -> LogSurvey:
    """Call `apply(seq, record)` for each event of a log, in order, up to one.

    Args:
        directory: The log's.
        apply: Takes the events.
        until: The last event wanted; all that are there if None.

    Returns:
        What the log holds: its end, and its damage, before which all was applied.

    Raises:
        LogCorrupt: A frame that is whole holds what cannot be read.
        NotUnderstood: An event that must be understood is not known.
    """

    def visit(segment: Segment, block: Block) -> None:
        del segment
        for first, _, at, stop in block.spans():
            if until is not None and first > until:
                return
            for seq, record in enumerate(codec.decode(block.data[at + BODY_AT : stop]), first):
                if until is None or seq <= until:
                    apply(Seq(seq), record)

    return survey_log(directory, visit=visit)
