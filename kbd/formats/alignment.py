"""Alignment of two sequences: what is equal, removed, added; and words of a changed text.

Common ends are set aside, then what occurs once on both sides pairs up (Cohen's patience diff), and
Myers' algorithm does the rest within a bounded number of edits; a stretch with more is taken as
replaced, and so are those left when an alignment has cost too much. So the time is linear for
whatever comes.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from math import isqrt
from typing import Literal, NamedTuple, TypeVar

from kbd.formats.comparison import Span

__all__ = [
    "AlignedBlock",
    "Move",
    "align",
    "diff_words",
    "find_moves",
    "match_rows",
    "pair_similar",
]

MAX_EDITS = 300
"""Edits within one stretch between anchors; the time of Myers' algorithm grows with their square,
and so does its memory: 300 take 1 MB."""

MAX_STEPS = 8_000_000
"""Steps of Myers' algorithm in one alignment, over all its stretches: some two seconds."""

MAX_ROUNDS = 20
"""How often an item is counted, on average, in search of anchors; each anchor can set free another
one, so that without an end the time would grow with the square."""

MAX_TOKENS = 20_000
"""Words of both sides of a text; a longer one is told as replaced."""

MAX_PAIRINGS = 10_000
"""Comparisons within one stretch when similar items are paired; else they pair in order."""

Item = TypeVar("Item")


class AlignedBlock(NamedTuple):
    """Stretch of an alignment: items `[i1:i2]` before are items `[j1:j2]` after.

    `removed` has j1 == j2, `added` i1 == i2, and `replaced` has both sides.
    """

    kind: Literal["equal", "replaced", "removed", "added"]
    i1: int
    i2: int
    j1: int
    j2: int


class Move(NamedTuple):
    """Run of equal items that stands elsewhere: `length` from `before` are those from `after`."""

    before: int
    after: int
    length: int


def align(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[AlignedBlock, ...]:
    """Return the blocks that make `after` of `before`, in order, without gaps."""
    equal: list[tuple[int, int, int]] = []
    stretches = [(0, len(before), 0, len(after))]
    steps = MAX_STEPS
    counts = MAX_ROUNDS * (len(before) + len(after))
    while stretches:
        i1, i2, j1, j2 = stretches.pop()
        start = i1
        while i1 < i2 and j1 < j2 and before[i1] == after[j1]:
            i1, j1 = i1 + 1, j1 + 1
        equal.append((start, j1 - (i1 - start), i1 - start))
        end = i2
        while i1 < i2 and j1 < j2 and before[i2 - 1] == after[j2 - 1]:
            i2, j2 = i2 - 1, j2 - 1
        equal.append((i2, j2, end - i2))
        if i1 == i2 or j1 == j2:
            continue
        counts -= i2 - i1 + j2 - j1
        anchors = _anchors(before, after, i1, i2, j1, j2) if counts > 0 else []
        if not anchors:
            edits = min(MAX_EDITS, isqrt(steps))
            found, taken = _matched(before, after, (i1, i2, j1, j2), edits)
            equal += found
            steps -= taken * taken
            continue
        for i, j in anchors:
            stretches.append((i1, i, j1, j))
            equal.append((i, j, 1))
            i1, j1 = i + 1, j + 1
        stretches.append((i1, i2, j1, j2))
    runs = sorted(run for run in equal if run[2])
    return tuple(_blocks(runs, len(before), len(after)))


def _anchors(
    before: Sequence[Hashable], after: Sequence[Hashable], i1: int, i2: int, j1: int, j2: int
) -> list[tuple[int, int]]:
    """Return pairs of items that occur once on each side, in the same order on both."""
    counts = Counter(before[i1:i2])
    others = Counter(after[j1:j2])
    places = {after[j]: j for j in range(j1, j2) if others[after[j]] == 1}
    pairs = [
        (i, places[before[i]])
        for i in range(i1, i2)
        if counts[before[i]] == 1 and before[i] in places
    ]
    # The longest ascending chain, by patience sorting: each pile's top, and who lay to its left.
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for number, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        previous.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [j]
        ends[pile : pile + 1] = [number]
    chain = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = previous[number]
    return chain[::-1]


def _matched(
    before: Sequence[Hashable],
    after: Sequence[Hashable],
    stretch: tuple[int, int, int, int],
    max_edits: int,
) -> tuple[list[tuple[int, int, int]], int]:
    """Return the equal items of a stretch without anchors, each as a run, and the edits it took."""
    i1, i2, j1, j2 = stretch
    # What is on one side alone is an edit whatever the script: it need not take part.
    shared = set(before[i1:i2]).intersection(after[j1:j2])
    old = [i for i in range(i1, i2) if before[i] in shared]
    new = [j for j in range(j1, j2) if after[j] in shared]
    found, edits = _shortest([before[i] for i in old], [after[j] for j in new], max_edits)
    pairs = [(old[i + k], new[j + k], 1) for i, j, run in found for k in range(run)]
    return pairs, edits


def _shortest(
    before: Sequence[Hashable], after: Sequence[Hashable], max_edits: int
) -> tuple[list[tuple[int, int, int]], int]:
    """Return the equal runs of a shortest edit script (Myers 1986), and its edits.

    There are no runs if it has more edits than it may.
    """
    n, m = len(before), len(after)
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    most = min(n + m, max_edits)
    for edits in range(most + 1):
        trail.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            i = reach[k + 1] if down else reach[k - 1] + 1
            j = i - k
            while i < n and j < m and before[i] == after[j]:
                i, j = i + 1, j + 1
            reach[k] = i
            if i >= n and j >= m:
                return list(_walk_back(trail, n, m)), edits
    return [], most


def _walk_back(trail: list[dict[int, int]], i: int, j: int) -> Iterator[tuple[int, int, int]]:
    """Yield the equal runs of the script that reached the end, last first."""
    for edits in range(len(trail) - 1, -1, -1):
        reach = trail[edits]
        k = i - j
        if edits == 0:
            yield 0, 0, i
            return
        down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        i_from = reach[before]
        i_start = i_from if down else i_from + 1
        yield i_start, i_start - k, i - i_start
        i, j = i_from, i_from - before


def _blocks(equal: list[tuple[int, int, int]], n: int, m: int) -> Iterator[AlignedBlock]:
    """Yield the blocks of equal runs and of what lies between them."""
    i = j = 0
    run: AlignedBlock | None = None
    for i1, j1, count in [*equal, (n, m, 0)]:
        if i1 > i or j1 > j:
            if run is not None:
                yield run
                run = None
            kind: Literal["replaced", "removed", "added"] = "replaced"
            if i1 == i:
                kind = "added"
            elif j1 == j:
                kind = "removed"
            yield AlignedBlock(kind, i, i1, j, j1)
        if count:
            # Runs that touch are one: anchors come singly.
            start = (i1, j1) if run is None else (run.i1, run.j1)
            run = AlignedBlock("equal", start[0], i1 + count, start[1], j1 + count)
        i, j = i1 + count, j1 + count
    if run is not None:
        yield run


def find_moves(
    blocks: Sequence[AlignedBlock], before: Sequence[Hashable], after: Sequence[Hashable]
) -> tuple[Move, ...]:
    """Return the runs that an alignment removed in one place and added in another.

    Only items that were removed once and added once count: of others nobody can say which went
    where.
    """
    removed = [i for block in blocks if block.kind != "equal" for i in range(block.i1, block.i2)]
    added = [j for block in blocks if block.kind != "equal" for j in range(block.j1, block.j2)]
    gone = Counter(before[i] for i in removed)
    come = Counter(after[j] for j in added)
    places = {after[j]: j for j in added if come[after[j]] == 1}
    moves: list[Move] = []
    for i in removed:
        j = places.get(before[i])
        if j is None or gone[before[i]] != 1:
            continue
        last = moves[-1] if moves else None
        if last and last.before + last.length == i and last.after + last.length == j:
            moves[-1] = last._replace(length=last.length + 1)
        else:
            moves.append(Move(i, j, 1))
    return tuple(moves)


def pair_similar(
    before: Sequence[Item],
    after: Sequence[Item],
    similarity: Callable[[Item, Item], float],
    least: float = 0.5,
) -> tuple[tuple[int, int], ...]:
    """Return the pairs, in order on both sides, that are most similar together.

    Args:
        before: Items of a replaced stretch.
        after: Those that replaced them.
        similarity: From 0 to 1.
        least: What a pair must have.
    """
    n, m = len(before), len(after)
    if n * m > MAX_PAIRINGS:
        return tuple((i, i) for i in range(min(n, m)) if similarity(before[i], after[i]) >= least)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    scores = [[similarity(one, other) for other in after] for one in before]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            paired = scores[i][j] + best[i + 1][j + 1] if scores[i][j] >= least else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs = []
    i = j = 0
    while i < n and j < m:
        if scores[i][j] >= least and best[i][j] == scores[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return tuple(pairs)


# Han characters and kana stand without spaces: else one of them that changed would be a sentence.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# A number is one word, with its separators: of 314.60 and 341.60 the whole figure changed.
_TOKEN = re.compile(rf"\d+(?:[.,'’]\d+)*|[^\W{_UNSPACED}]+|\s+|.", re.DOTALL)


def match_rows(
    old: Sequence[tuple[str, ...]], new: Sequence[tuple[str, ...]]
) -> Iterator[tuple[int, int]]:
    """Yield which rows of two tables are the same; -1 where one is not, in order."""
    for stretch in align(old, new):
        ours, theirs = range(stretch.i1, stretch.i2), range(stretch.j1, stretch.j2)
        if len(ours) == len(theirs):
            # As many rows in place of others are those, changed.
            yield from zip(ours, theirs, strict=True)
            continue
        pairs = [
            (ours[i], theirs[j])
            for i, j in pair_similar(
                [old[i] for i in ours], [new[j] for j in theirs], _row_likeness
            )
        ]
        i, j = stretch.i1, stretch.j1
        for one, other in [*pairs, (stretch.i2, stretch.j2)]:
            yield from ((at, -1) for at in range(i, one))
            yield from ((-1, at) for at in range(j, other))
            if (one, other) != (stretch.i2, stretch.j2):
                yield one, other
            i, j = one + 1, other + 1


def _row_likeness(before: tuple[str, ...], after: tuple[str, ...]) -> float:
    same = sum(one == other for one, other in zip(before, after, strict=False))
    return same / max(len(before), len(after), 1)


def diff_words(before: str, after: str) -> tuple[Span, ...]:
    """Return the words of a changed text as spans; of a very long one, both texts whole."""
    if len(before) + len(after) > MAX_TOKENS * 8:
        return _spans([("removed", before), ("added", after)])
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) + len(new) > MAX_TOKENS:
        return _spans([("removed", before), ("added", after)])
    pieces: list[Span] = []
    for block in align(old, new):
        if block.kind == "equal":
            pieces.append(("equal", "".join(old[block.i1 : block.i2])))
            continue
        pieces.append(("removed", "".join(old[block.i1 : block.i2])))
        pieces.append(("added", "".join(new[block.j1 : block.j2])))
    return _spans(pieces)


def _spans(pieces: Sequence[Span]) -> tuple[Span, ...]:
    return tuple(piece for piece in pieces if piece[1])
