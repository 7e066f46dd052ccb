"""The survey of a log as it lies on disk: what is whole, what was torn, what is damaged.

Reads only. Recovery at start and `kbd verify` draw on the same survey, so they cannot disagree.

A write that was not finished (torn) and damage are different answers. Bytes that are no frame are
a torn write only if they are at the end of the last segment, no frame that is valid by itself and
holds the expected or a later number follows, and the anchor does not say that what stood there
was durable. Anything else is damage: everything before it can be read, nothing may be written.
If all these bytes are zeros they are no torn write either, but space that was reserved.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from kbd.errors import LogCorrupt
from kbd.events.anchor import ANCHOR_NAME, read_anchor
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES, Link, chain_value, next_valid
from kbd.events.segment import Block, Segment, damaged, opened, segment_names, walk
from kbd.types import Seq

__all__ = ["Survey", "Tear", "survey"]

Visit = Callable[[Segment, Block], None]
"""Called with each block of frames that were found whole."""


class Tear(msgspec.Struct, frozen=True):
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


class Survey(msgspec.Struct):
    """What a log holds.

    Args:
        segments: Those that can be read, in order.
        link: The place behind the last whole frame, in the last of them.
        chain: The chain value there.
        anchored: The number that the anchor names; None without an anchor.
        tear: What a torn write left behind, if one did.
        fault: The first damage, if there is any.
    """

    segments: list[Segment]
    link: Link
    chain: bytes
    anchored: int | None
    tear: Tear | None
    fault: LogCorrupt | None

    @property
    def seq(self) -> Seq:
        """The last event that can be read."""
        return Seq(self.link.seq - 1)


def survey(
    directory: Path,
    *,
    trusted: int = 0,
    chained: bool = False,
    visit: Visit | None = None,
) -> Survey:
    """Walk a log from its beginning, or from what is trusted, to its end or the first damage.

    Args:
        directory: The log's; it exists.
        trusted: Segments that hold only events up to this number are not walked: a snapshot
            covers them.
        chained: Whether to compute the chain of hashes anew, too. The checksums are always
            checked; the chain tells of changes that were made on purpose.
        visit: Sees each block.
    """
    found = Survey([], Link(1, 0, 0), GENESIS, None, None, None)
    try:
        _Walker(directory, found, chained=chained, visit=visit).run(trusted)
    except LogCorrupt as error:
        if trusted:
            # What was passed by is needed now: it is all that can be read before the damage.
            return survey(directory, chained=chained, visit=visit)
        found.fault = error
    return found


class _Walker:
    """One survey in progress."""

    def __init__(
        self, directory: Path, found: Survey, *, chained: bool, visit: Visit | None
    ) -> None:
        self._directory = directory
        self._found = found
        self._chained = chained
        self._visit = visit
        self._anchor = read_anchor(directory)
        found.anchored = None if self._anchor is None else self._anchor.seq

    def run(self, trusted: int) -> None:
        """Walk all segments, then ask the anchor whether that is all there should be."""
        names = segment_names(self._directory)
        for place, name in enumerate(names):
            last = place == len(names) - 1
            self._enter(name)
            # The next name tells where this segment ends; its header is checked in its turn.
            if last or int(names[place + 1].partition(".")[0]) > trusted + 1:
                self._walk(self._found.segments[-1], last=last)
            else:
                self._pass_by(names[place + 1])
        self._check_anchor()

    def _enter(self, name: str) -> None:
        """Read a segment's header and see that it goes on where the one before ended."""
        found = self._found
        try:
            segment = opened(self._directory / name)
        except LogCorrupt as error:
            raise damaged(error.message, name, 0, found.link.seq) from error
        if segment.header.first != found.link.seq:
            raise damaged("a segment before this one is missing", name, 0, found.link.seq)
        if segment.header.chain != found.chain:
            raise damaged("the segment belongs to another log", name, 0, found.link.seq)
        found.segments.append(segment)
        found.link = segment.start

    def _pass_by(self, following: str) -> None:
        """Take a trusted segment's end from the header of the next."""
        try:
            header = opened(self._directory / following).header
        except LogCorrupt as error:
            raise damaged(error.message, following, 0, self._found.link.seq) from error
        self._found.link = Link(header.first, 0, 0)
        self._found.chain = header.chain

    def _walk(self, segment: Segment, *, last: bool) -> None:
        """Walk one segment; what is no frame in it is torn or damaged."""
        found = self._found
        fd = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
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

    def _advance(self, segment: Segment, fd: int, size: int) -> str:
        """Walk on from the last whole frame; return why no frame follows, empty at `size`."""
        problem = ""
        for block in walk(fd, segment.header.seed, self._found.link, size):
            self._take(segment, block)
            problem = block.problem
        return problem

    def _take(self, segment: Segment, block: Block) -> None:
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
                raise damaged(reason, segment.name, block.base + at, first)
            if self._anchor and last == self._anchor.seq and value != self._anchor.chain:
                reason = "the anchor knows another event here, so the log was changed"
                raise damaged(reason, segment.name, block.base + at, first)
            chain = value

    def _judge(self, segment: Segment, problem: str, rest: bytes, *, last: bool) -> Tear | None:
        """Tell a torn write, and reserved space, from damage.

        Raises:
            LogCorrupt: It is damage.
        """
        link = self._found.link
        if (
            not last
            or next_valid(rest, link.seq, segment.header.seed) is not None
            or (self._anchor is not None and self._anchor.seq >= link.seq)
        ):
            raise damaged(problem, segment.name, link.offset, link.seq)
        if rest == bytes(len(rest)):
            return None
        return Tear(segment.name, link.offset, len(rest.rstrip(b"\0")))

    def _check_anchor(self) -> None:
        """See that the log reaches as far as was acknowledged."""
        found = self._found
        name = found.segments[-1].name if found.segments else ANCHOR_NAME
        if self._anchor is None and found.link.seq > 1:
            raise damaged("the anchor is missing or unreadable", ANCHOR_NAME, 0, found.link.seq)
        if self._anchor is not None and self._anchor.seq > found.seq:
            reason = f"acknowledged events up to {self._anchor.seq} are missing"
            raise damaged(reason, name, found.link.offset, found.link.seq)
