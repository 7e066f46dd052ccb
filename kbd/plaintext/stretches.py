"""Stretches in which two texts or tables differ, collected within bounds.

What differs is held in memory, with as many equal items around it as a reader wants to see. Past a
number of items, or past a time, the rest is counted or left out, and it is known where that began.
"""

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

import msgspec

from kbd.formats.alignment import AlignedBlock, Move, find_moves
from kbd.plaintext.differences import SequencePart

__all__ = ["MAX_HELD", "Stretch", "Stretches", "collect", "find_moved"]

MAX_HELD = 100_000
"""Items of both sides that are held."""

MAX_HELD_SIZE = 48 * 1024 * 1024
"""Characters of the items that are held."""

MAX_SECONDS = 12
"""After so long a comparison looks at no more items; a worker has 30 seconds for all of it."""

Item = TypeVar("Item")

Observer = Callable[[int, int, Sequence[Item], Sequence[Item]], None]
"""Is shown equal items with their places: they may differ in what they are not compared by."""


class Stretch(msgspec.Struct, Generic[Item]):
    """Items that differ, with the equal ones before and behind them.

    Args:
        before_at: Number of the first item in the version before, from 0.
        after_at: The same in the version after.
        before: Items that were removed or replaced.
        after: Items that were added or replaced them.
        lead: Equal items that come before, but for those that trail the stretch before.
        trail: Equal items that follow.
        gap: How many equal items lie between the stretch before this one, or the start, and this.
    """

    before_at: int
    after_at: int
    before: list[Item]
    after: list[Item]
    lead: list[Item] = []
    trail: list[Item] = []
    gap: int = 0


class Stretches(msgspec.Struct, Generic[Item]):
    """All stretches in which two versions differ.

    Args:
        found: Those that are held, in order.
        before_end: Number of items of the version before that were compared.
        after_end: The same of the version after.
        removed: Items that were removed or replaced and are only counted.
        added: Items that were added or replaced them and are only counted.
        is_whole: Whether all of both versions was compared.
    """

    found: list[Stretch[Item]] = []
    before_end: int = 0
    after_end: int = 0
    removed: int = 0
    added: int = 0
    is_whole: bool = True

    def shift(self, number: int, *, forward: bool) -> tuple[Stretch[Item] | None, int]:
        """Return the stretch that an item is in, with its place there, or where it is now.

        Args:
            number: Of an item, from 0; in the version before if forward, else in that after.
            forward: Which way to look.

        Returns:
            A stretch and the item's place in it; or None, and its number in the other version.
        """
        place = bisect_right(
            self.found, number, key=lambda each: each.before_at if forward else each.after_at
        )
        if not place:
            return None, number
        found = self.found[place - 1]
        start, size, other, length = (
            (found.before_at, len(found.before), found.after_at, len(found.after))
            if forward
            else (found.after_at, len(found.after), found.before_at, len(found.before))
        )
        if number < start + size:
            return found, number - start
        return None, number - start - size + other + length


def collect(
    parts: Iterable[SequencePart[Item]],
    size_of: Callable[[Item], int],
    *,
    context: int | None = 0,
    observe: Observer[Item] | None = None,
    begun: float | None = None,
) -> Stretches[Item]:
    """Collect the stretches of two versions that differ.

    Args:
        parts: All parts of both versions, in order.
        size_of: Tells how many characters an item has.
        context: Equal items to hold before and behind a stretch; None for all.
        observe: Is shown the equal items that were not skipped.
        begun: When the comparison began, by the monotonic clock; now if not given.
    """
    until = (time.monotonic() if begun is None else begun) + MAX_SECONDS
    stretches: Stretches[Item] = Stretches()
    around: _Context[Item] = _Context(context)
    held = size = 0
    for part in parts:
        stretches.before_end = part.before_at + part.before_count
        stretches.after_end = part.after_at + part.after_count
        if part.is_equal:
            if observe is not None:
                observe(part.before_at, part.after_at, part.before, part.after)
            around.add(part)
        elif held > MAX_HELD or size > MAX_HELD_SIZE:
            stretches.removed += part.before_count
            stretches.added += part.after_count
        else:
            held += part.before_count + part.after_count
            size += sum(map(size_of, part.before)) + sum(map(size_of, part.after))
            around.add_difference(part, stretches.found)
        if time.monotonic() > until:
            stretches.is_whole = False
            break
    return stretches


class _Context(Generic[Item]):
    """Equal items between the last stretch and the next one."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._lead: deque[Item] = deque(maxlen=most)
        self._trail: list[Item] | None = None
        self._gap = 0

    def add(self, part: SequencePart[Item]) -> None:
        """Add equal items to what trails the last stretch, then to what leads to the next one."""
        self._gap += part.after_count
        if len(part.after) < part.after_count:
            # What comes before a skipped part leads nowhere, and nothing trails behind it.
            self._lead.clear()
            self._trail = None
            return
        trailing = 0
        if self._trail is not None:
            room = None if self._most is None else self._most - len(self._trail)
            trailing = len(part.after[:room])
            self._trail.extend(part.after[:room])
            if trailing < len(part.after):
                self._trail = None
        self._lead.extend(part.after[trailing:])

    def add_difference(self, part: SequencePart[Item], found: list[Stretch[Item]]) -> None:
        """Add what differs, with the equal items that led to it; parts that touch are one."""
        if found and not self._gap:
            found[-1].before += part.before
            found[-1].after += part.after
            return
        lead = [*self._lead]
        stretch = Stretch(
            part.before_at, part.after_at, [*part.before], [*part.after], lead, [], self._gap
        )
        found.append(stretch)
        self._lead.clear()
        self._trail = stretch.trail
        self._gap = 0


def find_moved(
    stretches: Sequence[Stretch[Item]], key_of: Callable[[Item], Hashable]
) -> list[Move]:
    """Return the runs of items that were removed in one place and added in another.

    Items that were removed or added more than once went along with those beside them.

    Args:
        stretches: What differs.
        key_of: Tells by what an item is the same as another.

    Returns:
        Runs by the numbers of their first items in both versions, from 0.
    """
    # Between stretches stands what is on no other side: no run goes from one into the next.
    old: list[Hashable] = []
    new: list[Hashable] = []
    old_numbers: list[int] = []
    new_numbers: list[int] = []
    for number, stretch in enumerate(stretches):
        old += map(key_of, stretch.before)
        new += map(key_of, stretch.after)
        old.append((number, None, "before"))
        new.append((number, None, "after"))
        old_numbers += range(stretch.before_at, stretch.before_at + len(stretch.before) + 1)
        new_numbers += range(stretch.after_at, stretch.after_at + len(stretch.after) + 1)
    found = find_moves([AlignedBlock("replaced", 0, len(old), 0, len(new))], old, new)
    return [
        Move(old_numbers[move.before], new_numbers[move.after], move.length)
        for move in _extended(found, old, new)
    ]


def _extended(
    moves: Sequence[Move], old: Sequence[Hashable], new: Sequence[Hashable]
) -> list[Move]:
    """Let runs take in the equal lines before and behind them, which occur more than once."""
    gone = {move.before + step for move in moves for step in range(move.length)}
    come = {move.after + step for move in moves for step in range(move.length)}

    def is_free(i: int, j: int) -> bool:
        return (
            0 <= i < len(old)
            and 0 <= j < len(new)
            and old[i] == new[j]
            and i not in gone
            and j not in come
        )

    grown: list[Move] = []
    for before, after, length in moves:
        while is_free(before - 1, after - 1):
            before, after, length = before - 1, after - 1, length + 1
            gone.add(before)
            come.add(after)
        while is_free(before + length, after + length):
            gone.add(before + length)
            come.add(after + length)
            length += 1
        last = grown[-1] if grown else None
        if last and (last.before + last.length, last.after + last.length) == (before, after):
            grown[-1] = last._replace(length=last.length + length)
        else:
            grown.append(Move(before, after, length))
    return grown
