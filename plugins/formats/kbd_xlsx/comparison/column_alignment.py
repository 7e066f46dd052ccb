"""Columns of two versions of a sheet, aligned by what they hold."""

from collections import Counter

import msgspec

from kbd.formats.alignment import align, find_moves, pair_similar
from kbd_xlsx.comparison.line_maps import LineMap, LineRun, joined_runs, last_shift
from kbd_xlsx.comparison.row_tokens import RowTokens

__all__ = ["ColumnChanges", "find_column_changes", "sample_columns"]

SAMPLE_ROWS = 500
"""Rows by which columns are aligned."""

_SIMILAR = 0.5


class ColumnChanges(msgspec.Struct, frozen=True):
    """Columns of both versions: what they are called in tokens, and what happened to them."""

    before: dict[int, int]
    after: dict[int, int]
    lines: LineMap
    removed: list[int]
    added: list[int]
    moved: list[LineRun]

    @property
    def count(self) -> int:
        """How many changes of columns there are."""
        return len(self.removed) + len(self.added) + len(self.moved)


def sample_columns(tokens: RowTokens) -> dict[int, list[int]]:
    """Return what the columns of the first rows hold."""
    found: dict[int, list[int]] = {}
    for sketch, _ in zip(tokens.sketches.values(), range(SAMPLE_ROWS), strict=False):
        for column, content in zip(sketch.columns, sketch.hashes, strict=True):
            found.setdefault(column, []).append(content)
    return found


def find_column_changes(
    before: dict[int, list[int]], after: dict[int, list[int]]
) -> ColumnChanges | None:
    """Align columns by what they hold; None if none was inserted, removed or moved."""
    ends = max(before, default=0), max(after, default=0)
    one = [hash(tuple(before[c])) if c in before else 0 for c in range(1, ends[0] + 1)]
    two = [hash(tuple(after[c])) if c in after else 0 for c in range(1, ends[1] + 1)]
    blocks = align(one, two)
    moves = [
        LineRun(move.before + 1, move.after + 1, move.length)
        for move in find_moves(blocks, one, two)
        if any(one[move.before : move.before + move.length])
    ]
    gone = {line for run in moves for line in range(run.before, run.before + run.length)}
    come = {line for run in moves for line in range(run.after, run.after + run.length)}
    runs = list(moves)
    removed: list[int] = []
    added: list[int] = []
    for kind, i1, i2, j1, j2 in blocks:
        if kind == "equal":
            runs.append(LineRun(i1 + 1, j1 + 1, i2 - i1))
            continue
        ours = [line for line in range(i1 + 1, i2 + 1) if line not in gone]
        theirs = [line for line in range(j1 + 1, j2 + 1) if line not in come]
        _pair_columns(ours, theirs, before, after, (runs, removed, added))
    many = [column for column in removed if len(before.get(column, ())) > 1]
    many += [column for column in added if len(after.get(column, ())) > 1]
    # Columns that came or went empty are told by those behind them, which stand elsewhere.
    is_shifted = any(
        run.before != run.after
        and any(len(before.get(run.before + k, ())) > 1 for k in range(run.length))
        for run in runs
    )
    if not many and not moves and not is_shifted:
        return None
    names = [(run.before + k, run.after + k) for run in runs for k in range(run.length)]
    return ColumnChanges(
        dict(names),
        {after_: after_ for _, after_ in names},
        LineMap(joined_runs(runs), ends, last_shift(runs, moves)),
        removed,
        added,
        moves,
    )


def _pair_columns(
    ours: list[int],
    theirs: list[int],
    before: dict[int, list[int]],
    after: dict[int, list[int]],
    into: tuple[list[LineRun], list[int], list[int]],
) -> None:
    """Pair the columns of a stretch that are similar."""
    runs, removed, added = into
    one = [Counter(before.get(column, ())) for column in ours]
    two = [Counter(after.get(column, ())) for column in theirs]
    first = second = 0
    for i, j in [*pair_similar(one, two, _overlap, _SIMILAR), (len(ours), len(theirs))]:
        if i - first == j - second:
            runs.extend(
                LineRun(ours[first + place], theirs[second + place], 1)
                for place in range(i - first)
            )
        else:
            removed.extend(ours[first:i])
            added.extend(theirs[second:j])
        if i < len(ours):
            runs.append(LineRun(ours[i], theirs[j], 1))
        first, second = i + 1, j + 1


def _overlap(one: Counter[int], two: Counter[int]) -> float:
    most = max(one.total(), two.total())
    return (one & two).total() / most if most else 1.0
