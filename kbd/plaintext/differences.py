"""Differences of two long sequences that are read from files, found in windows.

An item is a line or a row: it has a key by which it is compared. Where both sides go on with the
same items these are passed over; where they differ, windows of both are aligned, from some
thousand items up to as many as memory bears, until enough equal items follow. So the memory is
bounded, and two small files are aligned as a whole.

Files whose items are equal wherever their bytes are equal are not even parsed there: a `Skipper`
compares blocks of bytes and counts the items in one of them. Where more was inserted or removed
than a window holds, it finds the next place where both sides meet by a sample of their lines.
"""

import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import IO, Generic, NamedTuple, TypeVar

from kbd.formats.alignment import AlignedBlock, align
from kbd.lookalikes import common_prefix_length
from kbd.plaintext.encodings import BLOCK_BYTES

__all__ = ["ItemBatch", "SequencePart", "Side", "Skipper", "differences"]

FIRST_ITEMS = 4_096
"""Items of a side that are aligned at first."""

MAX_ITEMS = 65_536
"""Items of a side that are aligned at most; their keys are in memory."""

MAX_WINDOW = 24 * 1024 * 1024
"""Bytes or characters of a side's items that are in memory at most, but for the last one."""

SYNC_ITEMS = 32
"""After so many equal items what came before them is settled."""

SAMPLED = 64
"""One of so many lines is in the sample by which both sides find where they meet."""

MAX_SAMPLES = 400_000

_MEETING_LINES = 3
"""So many sampled lines in a row must be the same."""

Item = TypeVar("Item")


class ItemBatch(NamedTuple, Generic[Item]):
    """Items as they were read: what they are compared by, themselves, and how long each is.

    The sizes are in bytes of the file if parts of it are skipped, else in anything that is about
    the memory that an item takes.
    """

    keys: Sequence[Hashable]
    items: Sequence[Item]
    sizes: Sequence[int]


class SequencePart(NamedTuple, Generic[Item]):
    """Part of both sequences: items that are equal, or those that differ.

    The items of a part that was skipped are not given; there are as many on both sides then.
    """

    is_equal: bool
    before_at: int
    after_at: int
    before_count: int
    after_count: int
    before: Sequence[Item]
    after: Sequence[Item]


class Side(Generic[Item]):
    """Window of one side's items.

    Args:
        open_at: Yields the items from a byte of the file on, at which one begins, in batches.
        offset: Where the first one begins.

    Attributes:
        keys: Those of the items in the window.
        items: The items in the window.
        at: Number of the first of them, from 0.
        offset: The byte at which it begins.
        is_read: Whether none follow those in the window.
    """

    def __init__(
        self, open_at: Callable[[int], Iterator[ItemBatch[Item]]], offset: int = 0
    ) -> None:
        self._open_at = open_at
        self._stream = open_at(offset)
        self.keys: list[Hashable] = []
        self.items: list[Item] = []
        self._sizes: list[int] = []
        self._size = 0
        self.at = 0
        self.offset = offset
        self.is_read = False

    @property
    def is_full(self) -> bool:
        """Whether no more items fit into the window."""
        return self._size >= MAX_WINDOW

    def fill(self, count: int) -> None:
        """Read on until the window has as many items, or is full, or all are read."""
        while len(self.keys) < count and not self.is_full and not self.is_read:
            batch = next(self._stream, None)
            if batch is None:
                self.is_read = True
                return
            self.keys += batch.keys
            self.items += batch.items
            self._sizes += batch.sizes
            self._size += sum(batch.sizes)

    def drop(self, count: int) -> None:
        """Leave the first items of the window behind."""
        size = sum(self._sizes[:count])
        del self.keys[:count], self.items[:count], self._sizes[:count]
        self._size -= size
        self.offset += size
        self.at += count

    def jump(self, offset: int, count: int) -> None:
        """Go on with the item that begins at a byte, which is so many items further on."""
        self.keys, self.items, self._sizes = [], [], []
        self._size = 0
        self._stream = self._open_at(offset)
        self.is_read = False
        self.offset = offset
        self.at += count

    def count_until(self, offset: int) -> int:
        """Count the items of the window that begin before a byte."""
        begins = self.offset
        for count, size in enumerate(self._sizes):
            if begins >= offset:
                return count
            begins += size
        return len(self._sizes)


class Skipper:
    """Reader of two files that passes over what is the same in both.

    Args:
        before: The one file.
        after: The other one.
        whole_items: Tells how many whole items a piece of a file begins with that begins with one,
            and how many bytes they have; a number of items at the end is left out.
        margin: How many items before a difference are not skipped.
    """

    def __init__(
        self,
        before: Path,
        after: Path,
        whole_items: Callable[[bytes, int], tuple[int, int]],
        margin: int,
    ) -> None:
        self._paths = (before, after)
        self._whole_items = whole_items
        self._margin = margin
        self._meetings: tuple[list[int], list[int]] | None = None

    def skip(self, before: Side[Item], after: Side[Item]) -> int:
        """Pass over what follows on both sides in the same bytes; return how many items."""
        count = used = 0
        pending = b""
        with self._paths[0].open("rb") as one, self._paths[1].open("rb") as other:
            one.seek(before.offset)
            other.seek(after.offset)
            while True:
                old, new = one.read(BLOCK_BYTES), other.read(BLOCK_BYTES)
                if old != new or not old:
                    break
                items, size = self._whole_items(pending, 0)
                # An item that goes on for so long is left to whoever parses it.
                if len(pending) - size > 4 * BLOCK_BYTES:
                    break
                count, used, pending = count + items, used + size, pending[size:] + old
        pending += old[: common_prefix_length(old, new)] if old != new else b""
        items, size = self._whole_items(pending, self._margin)
        count, used = count + items, used + size
        if count:
            before.jump(before.offset + used, count)
            after.jump(after.offset + used, count)
        return count

    def meeting(self, before: int, after: int) -> tuple[int, int] | None:
        """Return the bytes behind the given ones at which both files go on with the same lines."""
        if self._meetings is None:
            self._meetings = self._sampled_meetings(before, after)
        offsets, others = self._meetings
        place = max(bisect_right(offsets, before), bisect_right(others, after))
        if place == len(offsets):
            return None
        old, new = offsets[place], others[place]
        # One byte more tells whether a line begins there.
        size = min(BLOCK_BYTES, old - before, new - after)
        with self._paths[0].open("rb") as one, self._paths[1].open("rb") as other:
            back = _same_lines(_ending(one, old, size), _ending(other, new, size))
        return old - back, new - back

    def _sampled_meetings(self, before: int, after: int) -> tuple[list[int], list[int]]:
        with self._paths[0].open("rb") as one, self._paths[1].open("rb") as other:
            old, old_offsets = _sample(one, before)
            new, new_offsets = _sample(other, after)
        blocks = [each for each in align(old, new) if each.kind == "equal"]
        long = [each for each in blocks if each.i2 - each.i1 >= _MEETING_LINES]
        return [old_offsets[each.i1] for each in long], [new_offsets[each.j1] for each in long]


def _sample(file: IO[bytes], offset: int) -> tuple["array[int]", "array[int]"]:
    """Return the sums of some lines, chosen by what is in them, and where they begin."""
    sums, offsets = array("L"), array("Q")
    file.seek(offset)
    for line in file:
        found = zlib.crc32(line)
        if not found % SAMPLED:
            sums.append(found)
            offsets.append(offset)
            if len(sums) >= MAX_SAMPLES:
                break
        offset += len(line)
    return sums, offsets


def _ending(file: IO[bytes], end: int, size: int) -> bytes:
    """Return what stands before a byte, with a line end before it that a file begins with."""
    file.seek(max(0, end - size - 1))
    return (b"\n" if end == size else b"") + file.read(min(end, size + 1))


def _same_lines(one: bytes, other: bytes) -> int:
    """Return how many bytes the whole lines have that two texts of the same length end with."""
    begin = len(one) - common_prefix_length(one[::-1], other[::-1])
    return len(one) - (one.find(b"\n", begin) + 1 or len(one))


def differences(
    before: Side[Item], after: Side[Item], *, margin: int = 0, skipper: Skipper | None = None
) -> Iterator[SequencePart[Item]]:
    """Yield the parts of two sequences, in order, without gaps.

    Args:
        before: The one sequence.
        after: The other one.
        margin: How many equal items before and after a difference must be given with their values.
        skipper: Passes over equal parts; None where equal bytes need not be equal items.
    """
    window = FIRST_ITEMS
    while True:
        if skipper is not None and not before.keys and not after.keys:
            i, j = before.at, after.at
            if count := skipper.skip(before, after):
                yield SequencePart(
                    is_equal=True,
                    before_at=i,
                    after_at=j,
                    before_count=count,
                    after_count=count,
                    before=(),
                    after=(),
                )
        before.fill(window)
        after.fill(window)
        shorter = min(len(before.keys), len(after.keys))
        if not before.keys and not after.keys:
            return
        if shorter and before.keys[:shorter] == after.keys[:shorter]:
            yield from _parts(before, after, [AlignedBlock("equal", 0, shorter, 0, shorter)])
            if skipper is not None and shorter >= SYNC_ITEMS:
                before.jump(before.offset, 0)
                after.jump(after.offset, 0)
            continue
        blocks = align(before.keys, after.keys)
        is_last = window >= MAX_ITEMS or before.is_full or after.is_full
        settled = _settled(blocks, before, after, max(SYNC_ITEMS, margin + 1), is_last=is_last)
        if settled:
            yield from _parts(before, after, settled)
            window = FIRST_ITEMS
        elif not is_last:
            window *= 4
        else:
            yield from _far_apart(before, after, blocks, skipper)


def _settled(
    blocks: Sequence[AlignedBlock],
    before: Side[Item],
    after: Side[Item],
    sync: int,
    *,
    is_last: bool,
) -> Sequence[AlignedBlock]:
    """Return the blocks of a window that what follows cannot change."""
    if before.is_read and after.is_read:
        return blocks
    for number in range(len(blocks) - 1, -1, -1):
        block = blocks[number]
        if block.kind == "equal" and (is_last or block.i2 - block.i1 >= sync):
            return blocks[: number + 1]
    # One side has ended: what the other one still has is added, or removed.
    return blocks if not before.keys or not after.keys else ()


def _far_apart(
    before: Side[Item], after: Side[Item], blocks: Sequence[AlignedBlock], skipper: Skipper | None
) -> Iterator[SequencePart[Item]]:
    """Yield what differs up to the next place where both sides meet, without looking closer."""
    meeting = skipper.meeting(before.offset, after.offset) if skipper is not None else None
    if meeting is None:
        yield from _parts(before, after, blocks)
        return
    if blocks[0].kind == "equal":
        yield from _parts(before, after, blocks[:1])
    while True:
        old, new = before.count_until(meeting[0]), after.count_until(meeting[1])
        if not old and not new:
            return
        yield from _parts(before, after, [AlignedBlock("replaced", 0, old, 0, new)])
        before.fill(MAX_ITEMS)
        after.fill(MAX_ITEMS)


def _parts(
    before: Side[Item], after: Side[Item], blocks: Sequence[AlignedBlock]
) -> Iterator[SequencePart[Item]]:
    """Yield the blocks of the windows with their items, and leave them behind."""
    for kind, i1, i2, j1, j2 in blocks:
        yield SequencePart(
            kind == "equal",
            before.at + i1,
            after.at + j1,
            i2 - i1,
            j2 - j1,
            before.items[i1:i2],
            after.items[j1:j2],
        )
    if blocks:
        before.drop(blocks[-1].i2)
        after.drop(blocks[-1].j2)
