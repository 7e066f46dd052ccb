"""Matches of the items of two versions: which is which, what came, what went, what moved.

Items are first aligned by a cheap key of each; only those that differ are asked for a key of their
contents, by which they are aligned again. Equal ones that went in one place and came in another
have moved; what is left between two matches is paired by likeness.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from kbd.formats.alignment import Block as Stretch
from kbd.formats.alignment import align, find_moves, pair_similar

__all__ = ["Event", "Matches", "Side", "likeness", "match_items"]

LEAST_LIKENESS = 0.5
SHORT_WORDS = 6
"""A text of as many words that another one stands in place of counts as changed."""

MAX_LIKENESSES = 200_000
"""Comparisons of contents in one match; past it items are paired in order."""


class Event(NamedTuple):
    """What happened to items, at their place in the order: `before` and `after` are indices."""

    kind: Literal["paired", "removed", "added", "moved"]
    before: int
    after: int
    length: int = 1


class Side(msgspec.Struct, frozen=True):
    """The items of one version.

    Args:
        raw: A cheap key of each; items with the same one are equal.
        key: Returns the key of an item's contents.
        move_key: Returns that by which it is known elsewhere, None if nobody would know it.
        words: Returns the words by which its likeness is judged, None for what is like nothing.
    """

    raw: Sequence[Hashable]
    key: Callable[[int], Hashable]
    move_key: Callable[[int], Hashable | None]
    words: Callable[[int], Counter[str] | None]


class Matches(msgspec.Struct):
    """Matches of two versions.

    Args:
        events: All but what is equal and in its place, in order.
        forward: Where items of the version before are in the one after.
        backward: The other way round.
        changed: Indices in the version after whose items are not equal to their match.
    """

    events: list[Event] = []
    forward: dict[int, int] = {}
    backward: dict[int, int] = {}
    changed: set[int] = set()

    def pair(self, before: int, after: int, *, is_equal: bool) -> None:
        """Note that two items are the same."""
        self.forward[before] = after
        self.backward[after] = before
        if not is_equal:
            self.changed.add(after)


def match_items(before: Side, after: Side, *, fills_gaps: bool = False) -> Matches:
    """Match the items of two versions.

    Args:
        before: The version before.
        after: The version after.
        fills_gaps: Whether as many items that stand in place of others are those, changed,
            however unlike they are.
    """
    stretches = tuple(_refined(before, after))
    moves = {}
    gone: set[int] = set()
    came: set[int] = set()
    for move in _moves(before, after, stretches):
        moves[move.after] = move
        gone.update(range(move.before, move.before + move.length))
        came.update(range(move.after, move.after + move.length))
    found = Matches()
    pairs = _Pairs(before, after, fills_gaps=fills_gaps)
    for stretch in stretches:
        if stretch.kind == "equal":
            for offset in range(stretch.i2 - stretch.i1):
                found.pair(stretch.i1 + offset, stretch.j1 + offset, is_equal=True)
            continue
        old = [i for i in range(stretch.i1, stretch.i2) if i not in gone]
        new = [j for j in range(stretch.j1, stretch.j2) if j not in came]
        ends = (stretch.i2, stretch.j2)
        for event in _in_order(old, new, pairs.of(old, new), moves, stretch.j1, ends):
            _note(event, before, after, found)
    return found


def _note(event: Event, before: Side, after: Side, found: Matches) -> None:
    found.events.append(event)
    if event.kind in ("paired", "moved"):
        for offset in range(event.length):
            i, j = event.before + offset, event.after + offset
            found.pair(i, j, is_equal=before.key(i) == after.key(j))


def _refined(before: Side, after: Side) -> Iterator[Stretch]:
    """Yield the stretches of an alignment by contents where it differs by cheap keys."""
    for stretch in align(before.raw, after.raw):
        if stretch.kind != "replaced":
            yield stretch
            continue
        i1, j1 = stretch.i1, stretch.j1
        old = [before.key(i) for i in range(i1, stretch.i2)]
        new = [after.key(j) for j in range(j1, stretch.j2)]
        for inner in align(old, new):
            yield Stretch(inner.kind, inner.i1 + i1, inner.i2 + i1, inner.j1 + j1, inner.j2 + j1)


class _Move(NamedTuple):
    before: int
    after: int
    length: int


def _moves(before: Side, after: Side, stretches: Sequence[Stretch]) -> Iterator[_Move]:
    """Yield what moved; what nobody would know elsewhere has a key of its own."""
    old: list[Hashable] = [None] * len(before.raw)
    new: list[Hashable] = [None] * len(after.raw)
    for stretch in stretches:
        if stretch.kind == "equal":
            continue
        for i in range(stretch.i1, stretch.i2):
            key = before.move_key(i)
            old[i] = ("before", i) if key is None else key
        for j in range(stretch.j1, stretch.j2):
            key = after.move_key(j)
            new[j] = ("after", j) if key is None else key
    starts = {stretch.j1 for stretch in stretches}
    for move in find_moves(stretches, old, new):
        # Divided where a stretch begins, for each has its place in the order.
        start = 0
        for offset in range(1, move.length + 1):
            if offset == move.length or move.after + offset in starts:
                yield _Move(move.before + start, move.after + start, offset - start)
                start = offset


def _in_order(
    old: Sequence[int],
    new: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    moves: dict[int, "_Move"],
    first: int,
    ends: tuple[int, int],
) -> Iterator[Event]:
    """Yield what happened in a stretch in the order of the version after."""
    waiting_old, waiting_new = list(old[::-1]), list(new[::-1])
    at = first

    def come(until: int) -> Iterator[Event]:
        nonlocal at
        while at < until:
            if at in moves:
                move = moves[at]
                yield Event("moved", move.before, move.after, move.length)
                at += move.length
                continue
            if waiting_new and waiting_new[-1] == at:
                yield Event("added", -1, waiting_new.pop())
            at += 1

    for i, j in [*pairs, ends]:
        while waiting_old and waiting_old[-1] < i:
            yield Event("removed", waiting_old.pop(), at)
        yield from come(j)
        if (i, j) != ends:
            waiting_old.pop()
            waiting_new.pop()
            at = j + 1
            yield Event("paired", i, j)


class _Pairs:
    """Pairs by likeness, within a bounded number of comparisons."""

    def __init__(self, before: Side, after: Side, *, fills_gaps: bool) -> None:
        self._before, self._after = before, after
        self._fills_gaps = fills_gaps
        self._left = MAX_LIKENESSES
        self._words: dict[tuple[bool, int], Counter[str] | None] = {}

    def of(self, old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
        """Return which of the items that are left of a stretch are the same, in order."""
        if not old or not new:
            return []
        if len(old) == len(new) == 1 and self._replaces(old[0], new[0]):
            return [(old[0], new[0])]
        self._left -= len(old) * len(new)
        if self._left >= 0:
            found = [
                (old[i], new[j])
                for i, j in pair_similar(old, new, self._likeness, least=LEAST_LIKENESS)
            ]
        else:
            both = zip(old, new, strict=False)
            found = [(i, j) for i, j in both if self._likeness(i, j) >= LEAST_LIKENESS]
        return self._filled(old, new, found) if self._fills_gaps else found

    def _filled(
        self, old: Sequence[int], new: Sequence[int], pairs: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """Return the pairs, with those between two of them where there are as many on each side."""
        found: list[tuple[int, int]] = []
        place_old = {i: at for at, i in enumerate(old)}
        place_new = {j: at for at, j in enumerate(new)}
        start_old = start_new = 0
        for i, j in [*pairs, (-1, -1)]:
            end_old, end_new = place_old.get(i, len(old)), place_new.get(j, len(new))
            if end_old - start_old == end_new - start_new:
                found += zip(old[start_old:end_old], new[start_new:end_new], strict=True)
            if i >= 0:
                found.append((i, j))
            start_old, start_new = end_old + 1, end_new + 1
        return found

    def _replaces(self, old: int, new: int) -> bool:
        """Whether one item that stands alone in place of another one is that, changed."""
        before, after = self._of(self._before, old), self._of(self._after, new)
        if before is None or after is None:
            return False
        sizes = before.total(), after.total()
        return (
            self._fills_gaps
            or not all(sizes)
            or max(sizes) <= SHORT_WORDS
            or self._likeness(old, new) >= LEAST_LIKENESS
        )

    def _likeness(self, old: int, new: int) -> float:
        return likeness(self._of(self._before, old), self._of(self._after, new))

    def _of(self, side: Side, index: int) -> Counter[str] | None:
        key = (side is self._after, index)
        if key not in self._words:
            self._words[key] = side.words(index)
        return self._words[key]


def likeness(before: Counter[str] | None, after: Counter[str] | None) -> float:
    """Return which share of the words of two texts they have in common."""
    if before is None or after is None:
        return 0.0
    sizes = before.total(), after.total()
    if not any(sizes):
        return 1.0
    if 2 * min(sizes) < LEAST_LIKENESS * sum(sizes):
        return 0.0
    if len(after) < len(before):
        before, after = after, before
    common = sum(min(count, after[word]) for word, count in before.items() if word in after)
    return 2 * common / sum(sizes)
