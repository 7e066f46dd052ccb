"""Columns of two versions of a sheet, aligned by what they hold."""

from collections import Counter
from collections.abc import Mapping

import msgspec

from kbd.formats.alignment import align, find_moves, pair_similar
from kbd.sheets.areas import MAX_COLUMN
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.line_maps import LineMap, LineRun, joined_runs, last_shift
from kbd_xlsx.comparison.row_tokens import RowTokens
from kbd_xlsx.parts.stylesheet import number_of

__all__ = ["ColumnChanges", "SampledColumns", "find_column_changes", "sample_columns"]

SAMPLE_ROWS = 500
"""Rows by which columns are aligned."""

_SIMILAR = 0.5


class SampledColumns(msgspec.Struct, frozen=True):
    """Columns of a sheet, from 1 on: what they hold in the first rows, and how wide they are."""

    contents: Mapping[int, list[int]]
    widths: Mapping[int, str]

    def tokens(self) -> list[int]:
        """Return what to align columns by, up to the last one that holds something."""
        last = max(self.contents, default=0)
        # Of blank ones their widths tell which are which.
        return [
            hash(tuple(self.contents[column])) if column in self.contents
            else hash(self.widths.get(column, ""))
            for column in range(1, last + 1)
        ]  # fmt: skip

    def count(self, column: int) -> int:
        """Return in how many cells a column holds something."""
        return len(self.contents.get(column, ()))


class ColumnChanges(msgspec.Struct, frozen=True):
    """Columns of both versions: what they are called in tokens, and what happened to them.

    Args:
        before: What a column of the older version is called.
        after: What a column of the newer version is called.
        lines: Which are which.
        removed: Those that are gone.
        added: Those that are new.
        moved: Those that stand elsewhere by themselves.
        is_shifted: Whether others stand elsewhere because of them.
    """

    before: dict[int, int]
    after: dict[int, int]
    lines: LineMap
    removed: list[int]
    added: list[int]
    moved: list[LineRun]
    is_shifted: bool

    @property
    def count(self) -> int:
        """How many changes of columns there are."""
        return len(self.removed) + len(self.added) + len(self.moved)


def sample_columns(side: SheetSide, tokens: RowTokens) -> SampledColumns:
    """Return the columns of a sheet by its first rows; raises FileReadFailed."""
    contents: dict[int, list[int]] = {}
    for sketch, _ in zip(tokens.sketches.values(), range(SAMPLE_ROWS), strict=False):
        for column, content in zip(sketch.columns, sketch.hashes, strict=True):
            contents.setdefault(column, []).append(content)
    widths: dict[int, str] = {}
    last = 0
    for col in side.skeleton.iterfind("{*}cols/{*}col"):
        first, last = max(number_of(col, "min"), last + 1), min(number_of(col, "max"), MAX_COLUMN)
        widths |= dict.fromkeys(range(first, last + 1), col.get("width", ""))
    return SampledColumns(contents, widths)


def find_column_changes(before: SampledColumns, after: SampledColumns) -> ColumnChanges | None:
    """Align columns by what they hold; None if none was inserted, removed or moved."""
    one, two = before.tokens(), after.tokens()
    ends = len(one), len(two)
    blocks = align(one, two)
    moves = [
        LineRun(move.before + 1, move.after + 1, move.length)
        for move in find_moves(blocks, one, two)
        if any(before.count(move.before + 1 + k) for k in range(move.length))
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
    many = [column for column in removed if before.count(column) > 1]
    many += [column for column in added if after.count(column) > 1]
    # Columns that came or went empty are told by those behind them, which stand elsewhere.
    # Headers alone may stand elsewhere; one cell that does may have been written there.
    shifted = (
        before.count(run.before + k)
        for run in runs if run.before != run.after for k in range(run.length)
    )  # fmt: skip
    is_shifted = sum(shifted) > 1
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
        is_shifted,
    )


def _pair_columns(
    ours: list[int],
    theirs: list[int],
    before: SampledColumns,
    after: SampledColumns,
    into: tuple[list[LineRun], list[int], list[int]],
) -> None:
    """Pair the columns of a stretch that are similar."""
    runs, removed, added = into
    one = [Counter(before.contents.get(column, ())) for column in ours]
    two = [Counter(after.contents.get(column, ())) for column in theirs]
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
