"""Rows of stretches that differ, paired: changed, moved, removed or added."""

from collections import Counter
from collections.abc import Sequence

from kbd.formats.alignment import AlignedBlock, align, find_moves, pair_similar
from kbd_xlsx.comparison.line_maps import LineRun
from kbd_xlsx.comparison.row_tokens import (
    RowTokens,
    Sketch,
    count_differences,
    similarity,
)

__all__ = ["RowPairing"]

MAX_SIMILARITIES = 400_000
"""Pairs of rows that are compared for being similar; past it rows pair in order."""

MAX_STRETCH = 10_000
"""Pairs of rows of one stretch; `pair_similar` pairs those of a larger one in order only."""

_SIMILAR = 0.5
_KEY_SHARE = 0.3
_SKETCHED_COLUMNS = 24
_UNKNOWN_COST = 5
_ROW_COST = 3


class RowPairing:
    """Rows that belong together, by one alignment.

    Attributes:
        runs: Rows that are the same, or changed.
        pairs: Rows that may differ in something.
        removed: Rows that are gone.
        added: Rows that are new.
        moved: Rows that stand elsewhere.
        matched: How many rows with values are the same in both versions.
        cost: How many changes of cells and rows there would be to tell.

    Args:
        tokens: The tokens of both versions.
        blocks: The alignment, by row numbers.
    """

    def __init__(self, tokens: tuple[RowTokens, RowTokens], blocks: Sequence[AlignedBlock]) -> None:
        self._tokens = tokens
        self._left = MAX_SIMILARITIES
        self.runs: list[LineRun] = []
        self.pairs: list[tuple[int, int]] = []
        self.removed: list[int] = []
        self.added: list[int] = []
        self.moved: list[LineRun] = []
        self.matched = 0
        self.cost = 0
        self._take(blocks)

    def _take(self, blocks: Sequence[AlignedBlock]) -> None:
        """Sort out the blocks."""
        one, two = self._tokens
        moves = [
            LineRun(move.before, move.after, move.length)
            for move in find_moves(blocks, one.by_row, two.by_row)
            if any(one.by_row[move.before : move.before + move.length])
        ]
        gone = {row for run in moves for row in range(run.before, run.before + run.length)}
        come = {row for run in moves for row in range(run.after, run.after + run.length)}
        for block in blocks:
            if block.kind == "equal":
                self._add_equal(block)
                continue
            ours = [row for row in range(block.i1, block.i2) if row not in gone]
            theirs = [row for row in range(block.j1, block.j2) if row not in come]
            self._add_replaced(ours, theirs)
        for run in moves:
            self.runs.append(run)
            self._add_suspects(run)
            self.matched += run.length
        self.moved = moves
        self.cost += len(moves)

    def _add_equal(self, block: AlignedBlock) -> None:
        run = LineRun(block.i1, block.j1, block.i2 - block.i1)
        self.runs.append(run)
        self._add_suspects(run)
        self.matched += sum(map(bool, self._tokens[0].by_row[block.i1 : block.i2]))

    def _add_suspects(self, run: LineRun) -> None:
        """Note the rows of a run that are not equal in everything."""
        one, two = self._tokens
        ours = one.exact[run.before : run.before + run.length]
        theirs = two.exact[run.after : run.after + run.length]
        if ours == theirs:
            return
        for place, (first, second) in enumerate(zip(ours, theirs, strict=True)):
            if first != second:
                self.pairs.append((run.before + place, run.after + place))

    def _add_replaced(self, ours: list[int], theirs: list[int]) -> None:
        """Pair rows that changed; the others are gone or new."""
        first = second = 0
        for i, j in [*self._similar(ours, theirs), (len(ours), len(theirs))]:
            # Between pairs, as many rows on both sides are rows that were written over.
            if i - first == j - second:
                for place in range(i - first):
                    self._add_pair(ours[first + place], theirs[second + place])
            else:
                self.removed.extend(ours[first:i])
                self.added.extend(theirs[second:j])
                self.cost += _ROW_COST * (i - first + j - second)
            if i < len(ours):
                self._add_pair(ours[i], theirs[j])
            first, second = i + 1, j + 1

    def _add_pair(self, before: int, after: int) -> None:
        self.pairs.append((before, after))
        self.runs.append(LineRun(before, after, 1))
        one, two = self._tokens
        first, second = one.sketches.get(before), two.sketches.get(after)
        is_known = (first is not None or not one.by_row[before]) and (
            second is not None or not two.by_row[after]
        )
        self.cost += count_differences(first, second) if is_known else _UNKNOWN_COST

    def _similar(self, ours: list[int], theirs: list[int]) -> Sequence[tuple[int, int]]:
        """Return the places of similar rows."""
        if not ours or not theirs:
            return ()
        one = [self._tokens[0].sketches.get(row) for row in ours]
        two = [self._tokens[1].sketches.get(row) for row in theirs]
        if len(ours) == len(theirs):
            pairs = zip(one, two, strict=True)
            if all(similarity(first, second) >= _SIMILAR for first, second in pairs):
                return tuple((place, place) for place in range(len(ours)))
        work = len(ours) * len(theirs)
        if work <= MAX_STRETCH and work <= self._left:
            self._left -= work
            return pair_similar(one, two, similarity, _SIMILAR)
        return _paired_by_key(one, two)


def _paired_by_key(
    one: Sequence[Sketch | None], two: Sequence[Sketch | None]
) -> Sequence[tuple[int, int]]:
    """Pair the rows of a long stretch by the column in which most values are found again."""
    best, share = 0, _KEY_SHARE
    counts = Counter(column for each in one[:1000] if each is not None for column in each.columns)
    for column, _ in counts.most_common(_SKETCHED_COLUMNS):
        ours, theirs = set(_held(one, column)), set(_held(two, column))
        found = len((ours & theirs) - {0}) / max(len(one), len(two))
        if found > share:
            best, share = column, found
    if not best:
        return ()
    blocks = align(_held(one, best), _held(two, best))
    return tuple(
        (block.i1 + place, block.j1 + place)
        for block in blocks
        if block.kind == "equal"
        for place in range(block.i2 - block.i1)
    )


def _held(rows: Sequence[Sketch | None], column: int) -> list[int]:
    """Return what rows hold in a column, 0 for nothing."""
    return [
        each.hashes[each.columns.index(column)] if each is not None and column in each.columns
        else 0
        for each in rows
    ]  # fmt: skip
