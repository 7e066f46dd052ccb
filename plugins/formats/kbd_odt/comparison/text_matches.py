"""Matches of the blocks of two texts: which are the same, which came, went or moved."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from kbd.formats.alignment import align, find_moves, pair_similar
from kbd_odt.comparison.text_version import TextBlock

__all__ = ["BlockEvent", "BlockMatches", "match_blocks"]

_LEAST = 0.5
_SHORT_WORDS = 6
_MAX_PAIRINGS = 60_000


class BlockEvent(NamedTuple):
    """What happened to a block: `before` and `after` are indices, -1 where it is not."""

    kind: Literal["paired", "removed", "added", "moved"]
    before: int
    after: int


class BlockMatches(msgspec.Struct):
    """Matches of two texts: what happened, in order, and which block before is which after."""

    events: list[BlockEvent] = []
    forward: dict[int, int] = {}


def match_blocks(old: Sequence[TextBlock], new: Sequence[TextBlock]) -> BlockMatches:
    """Return which blocks of two texts are the same."""
    before, after = [_key(each) for each in old], [_key(each) for each in new]
    stretches = align(before, after)
    known = [_known(each, ("before", at)) for at, each in enumerate(old)]
    theirs = [_known(each, ("after", at)) for at, each in enumerate(new)]
    moved = {
        move.after + at: move.before + at
        for move in find_moves(stretches, known, theirs)
        for at in range(move.length)
    }
    gone = set(moved.values())
    found = BlockMatches()
    left = _MAX_PAIRINGS
    for stretch in stretches:
        if stretch.kind == "equal":
            for at in range(stretch.i2 - stretch.i1):
                i, j = stretch.i1 + at, stretch.j1 + at
                found.forward[i] = j
                if old[i].digest != new[j].digest:
                    found.events.append(BlockEvent("paired", i, j))
            continue
        ours = [i for i in range(stretch.i1, stretch.i2) if i not in gone]
        come = [j for j in range(stretch.j1, stretch.j2) if j not in moved]
        left -= len(ours) * len(come)
        pairs = dict(_pairs(old, new, ours, come, is_bounded=left < 0))
        found.events += _ordered(stretch.j1, stretch.j2, ours, pairs, moved)
    for event in found.events:
        if event.kind in ("paired", "moved"):
            found.forward[event.before] = event.after
    return found


def _ordered(
    start: int,
    end: int,
    ours: Sequence[int],
    pairs: dict[int, int],
    moved: dict[int, int],
) -> Iterator[BlockEvent]:
    """Yield what happened in a stretch in the order of the version after."""
    back = {j: i for i, j in pairs.items()}
    waiting = list(ours[::-1])
    for j in range(start, end):
        if j in moved:
            yield BlockEvent("moved", moved[j], j)
        elif j in back:
            while waiting and waiting[-1] != back[j]:
                yield BlockEvent("removed", waiting.pop(), -1)
            yield BlockEvent("paired", waiting.pop(), j)
        else:
            yield BlockEvent("added", -1, j)
    while waiting:
        yield BlockEvent("removed", waiting.pop(), -1)


def _key(block: TextBlock) -> Hashable:
    return (block.kind, block.text, block.rows) if block.text or block.rows else block.digest


def _known(block: TextBlock, otherwise: Hashable) -> Hashable:
    return (block.kind, block.text, block.rows) if block.text or block.rows else otherwise


def _pairs(
    old: Sequence[TextBlock],
    new: Sequence[TextBlock],
    ours: Sequence[int],
    come: Sequence[int],
    *,
    is_bounded: bool,
) -> Iterator[tuple[int, int]]:
    if is_bounded:
        both = zip(ours, come, strict=False)
        yield from ((i, j) for i, j in both if _likeness(old[i], new[j]) >= _LEAST)
        return
    if len(ours) == len(come) == 1:
        one, other = old[ours[0]], new[come[0]]
        sizes = [len(_text(each).split()) for each in (one, other)]
        if one.kind == other.kind and (one.kind == "table" or max(sizes) <= _SHORT_WORDS):
            yield ours[0], come[0]
            return
    for i, j in pair_similar([old[i] for i in ours], [new[j] for j in come], _likeness, _LEAST):
        yield ours[i], come[j]


def _text(block: TextBlock) -> str:
    return block.text or " ".join(cell for row in block.rows for cell in row)


def _likeness(before: TextBlock, after: TextBlock) -> float:
    if before.kind != after.kind:
        return 0.0
    old, new = Counter(_text(before).split()), Counter(_text(after).split())
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else 1.0
