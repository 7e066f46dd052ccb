"""Matches of the items of two versions: which is which, what came, what went, what moved.

Items are first aligned by a cheap key of each; only those that differ are asked for a key of their
contents, by which they are aligned again. Equal ones that went in one place and came in another
have moved; what is left between two matches is paired by likeness.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from kbd.formats.alignment import AlignedBlock as AlignedBlock
from kbd.formats.alignment import Move, align, find_moves, pair_similar

__all__ = ["BlockMatches", "Event", "MatchSide", "likeness", "listed_side", "match_items"]

LEAST_LIKENESS = 0.5
SHORT_WORDS = 6
"""A text of as many words that another one stands in place of counts as changed."""

MAX_LIKENESSES = 60_000
"""Comparisons of contents in one match; past it items are paired in order."""


class Event(NamedTuple):
    """What happened to items, at their place in the order: `before` and `after` are indices."""

    kind: Literal["paired", "removed", "added", "moved"]
    before: int
    after: int
    length: int = 1


class MatchSide(msgspec.Struct, frozen=True):
    """The items of one version.

    Args:
        raw: A cheap key of each; items with the same one are equal.
        key: Returns the key of an item's contents.
        move_key: Returns that by which it is known elsewhere, None if nobody would know it.
        words: Returns the words by which its likeness is judged, None for what is like nothing.
        traits: Returns what items may have in common whatever they say; one thing is enough.
    """

    raw: Sequence[Hashable]
    key: Callable[[int], Hashable]
    move_key: Callable[[int], Hashable | None]
    words: Callable[[int], Counter[str] | None]
    traits: Callable[[int], frozenset[Hashable]] = lambda _: frozenset()


def listed_side(
    keys: Sequence[Hashable],
    words: Sequence[Counter[str]],
    *,
    raw: Sequence[Hashable] | None = None,
    move_keys: Sequence[Hashable | None] = (),
) -> MatchSide:
    """Return a version of which all is known beforehand.

    Args:
        keys: The keys of its items.
        words: The words of each.
        raw: Cheaper keys, if there are such.
        move_keys: By what each is known elsewhere; without any nothing moves.
    """
    return MatchSide(
        raw=keys if raw is None else raw,
        key=keys.__getitem__,
        move_key=lambda index: move_keys[index] if move_keys else None,
        words=words.__getitem__,
    )


class BlockMatches(msgspec.Struct):
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


def match_items(before: MatchSide, after: MatchSide, *, fills_gaps: bool = False) -> BlockMatches:
    """Match the items of two versions.

    Args:
        before: The version before.
        after: The version after.
        fills_gaps: Whether as many items that stand in place of others are those, changed,
            however unlike they are.
    """
    stretches = tuple(_refined(before, after))
    moves = {move.after: move for move in _moves(before, after, stretches)}
    gone = {move.before + at for move in moves.values() for at in range(move.length)}
    come = {move.after + at for move in moves.values() for at in range(move.length)}
    found = BlockMatches()
    pairs = _Pairs(before, after, fills_gaps=fills_gaps)
    for stretch in stretches:
        block = stretch.block
        if stretch.is_matched:
            for at in range(block.i2 - block.i1):
                if stretch.is_alike:
                    _note(Event("paired", block.i1 + at, block.j1 + at), before, after, found)
                else:
                    found.pair(block.i1 + at, block.j1 + at, is_equal=True)
            continue
        old = [i for i in range(block.i1, block.i2) if i not in gone]
        new = [j for j in range(block.j1, block.j2) if j not in come]
        for event in _in_order(old, new, pairs.of(old, new), moves, block):
            _note(event, before, after, found)
    return found


def _note(event: Event, before: MatchSide, after: MatchSide, found: BlockMatches) -> None:
    found.events.append(event)
    if event.kind in ("paired", "moved"):
        for offset in range(event.length):
            i, j = event.before + offset, event.after + offset
            found.pair(i, j, is_equal=before.key(i) == after.key(j))


class _Stretch(NamedTuple):
    """Stretch of an alignment; `is_alike` tells that its items, though not equal, are the same."""

    block: AlignedBlock
    is_alike: bool = False

    @property
    def is_matched(self) -> bool:
        """Whether its items stand on both sides."""
        return self.block.kind == "equal"


def _refined(before: MatchSide, after: MatchSide) -> Iterator[_Stretch]:
    """Yield the stretches of an alignment by contents where it differs by cheap keys."""
    for rough in align(before.raw, after.raw):
        if rough.kind != "replaced":
            yield _Stretch(rough)
            continue
        old = [before.key(i) for i in range(rough.i1, rough.i2)]
        new = [after.key(j) for j in range(rough.j1, rough.j2)]
        for inner in align(old, new):
            block = _shifted(inner, rough)
            if block.kind == "replaced":
                yield from _alike(before, after, block)
            else:
                yield _Stretch(block)


def _alike(before: MatchSide, after: MatchSide, block: AlignedBlock) -> Iterator[_Stretch]:
    """Yield a stretch by what its items are known by: texts that only look otherwise now."""
    old = [before.move_key(i) or ("before", i) for i in range(block.i1, block.i2)]
    new = [after.move_key(j) or ("after", j) for j in range(block.j1, block.j2)]
    for inner in align(old, new):
        yield _Stretch(_shifted(inner, block), is_alike=inner.kind == "equal")


def _shifted(inner: AlignedBlock, outer: AlignedBlock) -> AlignedBlock:
    return AlignedBlock(
        inner.kind, inner.i1 + outer.i1, inner.i2 + outer.i1, inner.j1 + outer.j1,
        inner.j2 + outer.j1,
    )  # fmt: skip


def _moves(before: MatchSide, after: MatchSide, stretches: Sequence[_Stretch]) -> Iterator[Move]:
    """Yield what moved; what nobody would know elsewhere has a key of its own."""
    old: list[Hashable] = [None] * len(before.raw)
    new: list[Hashable] = [None] * len(after.raw)
    for stretch in stretches:
        if stretch.is_matched:
            continue
        block = stretch.block
        for i in range(block.i1, block.i2):
            key = before.move_key(i)
            old[i] = ("before", i) if key is None else key
        for j in range(block.j1, block.j2):
            key = after.move_key(j)
            new[j] = ("after", j) if key is None else key
    starts = {stretch.block.j1 for stretch in stretches}
    for move in find_moves([stretch.block for stretch in stretches], old, new):
        # Divided where a stretch begins, for each has its place in the order.
        start = 0
        for offset in range(1, move.length + 1):
            if offset == move.length or move.after + offset in starts:
                yield Move(move.before + start, move.after + start, offset - start)
                start = offset


def _in_order(
    old: Sequence[int],
    new: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    moves: Mapping[int, Move],
    block: AlignedBlock,
) -> Iterator[Event]:
    """Yield what happened in a stretch in the order of the version after."""
    waiting_old, waiting_new = list(old[::-1]), list(new[::-1])
    ends = (block.i2, block.j2)
    at = block.j1
    for i, j in [*pairs, ends]:
        while waiting_old and waiting_old[-1] < i:
            yield Event("removed", waiting_old.pop(), at)
        while at < j:
            if at in moves:
                yield Event("moved", *moves[at])
                at += moves[at].length
                continue
            if waiting_new and waiting_new[-1] == at:
                yield Event("added", -1, waiting_new.pop())
            at += 1
        if (i, j) != ends:
            waiting_old.pop()
            waiting_new.pop()
            at = j + 1
            yield Event("paired", i, j)


class _Pairs:
    """Pairs by likeness, within a bounded number of comparisons."""

    def __init__(self, before: MatchSide, after: MatchSide, *, fills_gaps: bool) -> None:
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
        found = likeness(self._of(self._before, old), self._of(self._after, new))
        if found < LEAST_LIKENESS:
            traits = self._before.traits(old)
            if traits and traits & self._after.traits(new):
                return LEAST_LIKENESS
        return found

    def _of(self, side: MatchSide, index: int) -> Counter[str] | None:
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
