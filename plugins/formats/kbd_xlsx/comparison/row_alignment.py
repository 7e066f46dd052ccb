"""Rows and columns of two versions of a sheet, aligned: which are the same, new, gone or moved."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from kbd.formats.alignment import Block, align, find_moves, pair_similar
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.line_maps import LineMap, LineRun
from kbd_xlsx.comparison.row_tokens import (
    RowTokens,
    Sketch,
    plain_tokens,
    similarity,
    tokenize,
)

__all__ = ["SheetAlignment", "align_sheets"]

WINDOW_MARGIN = 64
"""Rows around those that differ which are aligned along with them."""

MANY_ROWS = 2000
"""From so many rows on those that only stand elsewhere are found before rows are taken apart."""

MAX_SIMILARITIES = 400_000
"""Pairs of rows that are compared for being similar; past it rows pair in order."""

MAX_STRETCH = 10_000
"""Pairs of rows of one stretch; `pair_similar` pairs those of a larger one in order only."""

SAMPLE_ROWS = 500
"""Rows by which columns are aligned."""

_SIMILAR = 0.5
_KEY_SHARE = 0.3
_SKETCHED_COLUMNS = 24


class SheetAlignment(msgspec.Struct, frozen=True):
    """How the rows and columns of two versions belong together.

    Args:
        rows: Which rows are which.
        columns: Which columns are which.
        pairs: Rows that are the same and may differ in something, by rising row after.
        removed: Rows that are gone, by their number before.
        added: Rows that are new.
        moved: Rows that stand elsewhere.
        removed_columns: Columns that are gone.
        added_columns: Columns that are new.
        moved_columns: Columns that stand elsewhere.
    """

    rows: LineMap
    columns: LineMap
    pairs: Sequence[tuple[int, int]] = ()
    removed: Sequence[int] = ()
    added: Sequence[int] = ()
    moved: Sequence[LineRun] = ()
    removed_columns: Sequence[int] = ()
    added_columns: Sequence[int] = ()
    moved_columns: Sequence[LineRun] = ()


def align_sheets(before: SheetSide, after: SheetSide, *, is_comparable: bool) -> SheetAlignment:
    """Align two versions of a sheet.

    Args:
        before: The older version.
        after: The newer version.
        is_comparable: Whether numbers of texts and looks mean the same in both versions.

    Raises:
        FileReadFailed: A sheet is damaged.
    """
    windows = _windows(before, after, is_comparable=is_comparable)
    ends = len(before.scan.hashes), len(after.scan.hashes)
    if not windows:
        length = max(ends)
        return SheetAlignment(
            LineMap([LineRun(1, 1, length)] if length else (), (length, length)), LineMap()
        )
    aligner = _Aligner(before, after, windows, is_comparable=is_comparable)
    found = aligner.aligned(None)
    columns = aligner.column_changes()
    if columns is not None:
        other = _Aligner(before, after, [(1, max(ends) + 1)], is_comparable=False)
        shifted = other.aligned(columns)
        if other.matched > aligner.matched:
            return shifted
    return found


def _windows(before: SheetSide, after: SheetSide, *, is_comparable: bool) -> list[tuple[int, int]]:
    """Return the stretches of row numbers, ends not included, in which rows differ."""
    one, two = before.scan, after.scan
    length = max(len(one.hashes), len(two.hashes))
    if not length:
        return []
    if not is_comparable:
        return [(1, length + 1)]
    different = list(_unequal(one.hashes, two.hashes))
    if one.masters != two.masters or one.groups != two.groups:
        different = sorted({*different, *one.sharing, *two.sharing})
    windows: list[tuple[int, int]] = []
    for row in different:
        start, end = max(1, row - WINDOW_MARGIN), min(length, row + WINDOW_MARGIN) + 1
        if windows and start <= windows[-1][1]:
            windows[-1] = windows[-1][0], end
        else:
            windows.append((start, end))
    return windows


def _unequal(one: list[int], two: list[int]) -> Iterator[int]:
    """Yield the numbers of rows that differ."""
    length = max(len(one), len(two))
    step = 1024
    for start in range(0, length, step):
        ours, theirs = one[start : start + step], two[start : start + step]
        if ours == theirs:
            continue
        ours += [0] * (step - len(ours))
        theirs += [0] * (step - len(theirs))
        for place, (first, second) in enumerate(zip(ours, theirs, strict=True), start + 1):
            if first != second:
                yield place


class _Aligner:
    """One attempt at an alignment.

    Attributes:
        matched: How many rows with values are the same in both versions.
    """

    def __init__(
        self,
        before: SheetSide,
        after: SheetSide,
        windows: Sequence[tuple[int, int]],
        *,
        is_comparable: bool,
    ) -> None:
        self._sides = before, after
        self._windows = windows
        self._is_comparable = is_comparable
        self._counts = len(before.scan.hashes), len(after.scan.hashes)
        self._count = max(self._counts)
        nothing = RowTokens([], [], {})
        self._tokens: tuple[RowTokens, RowTokens] = nothing, nothing
        self._left = MAX_SIMILARITIES
        self._runs: list[LineRun] = []
        self._pairs: list[tuple[int, int]] = []
        self._removed: list[int] = []
        self._added: list[int] = []
        self.matched = 0

    def aligned(self, columns: "_ColumnChanges | None") -> SheetAlignment:
        """Align all windows; between them rows are equal where they are."""
        self._tokens = self._tokenized(columns)
        one, two = self._tokens
        ends = self._ends()
        blocks: list[Block] = []
        at = 1
        for start, end in self._windows:
            if start > at:
                self._runs.append(LineRun(at, at, start - at))
            is_last = end == self._windows[-1][1]
            stops = [max(start, min(end, last + 1) if is_last else end) for last in ends]
            ours, theirs = one.by_row[start : stops[0]], two.by_row[start : stops[1]]
            blocks.extend(
                Block(kind, i1 + start, i2 + start, j1 + start, j2 + start)
                for kind, i1, i2, j1, j2 in align(ours, theirs)
            )
            at = end
        rest = self._count + 1 - at
        if rest > 0:
            self._runs.append(LineRun(at, at, rest))
        moved = self._take(blocks)
        self._add_tail(ends)
        return self._result(moved, columns)

    def column_changes(self) -> "_ColumnChanges | None":
        """Return how columns changed, if rows are so different that columns may have."""
        filled = [sum(map(bool, tokens.by_row)) for tokens in self._tokens]
        if self.matched * 2 >= min(filled) or not min(filled):
            return None
        return _changed_columns(*(_sample(tokens) for tokens in self._tokens))

    def _tokenized(self, columns: "_ColumnChanges | None") -> tuple[RowTokens, RowTokens]:
        wanted = [row for start, end in self._windows for row in range(start, end)]
        before, after = self._sides
        known: list[dict[int, tuple[int, int]]] = [{}, {}]
        if self._is_comparable and columns is None and len(wanted) > MANY_ROWS:
            found = [plain_tokens(side, wanted) for side in self._sides]
            both = {each[0] for each in found[0].values()}
            both &= {each[0] for each in found[1].values()}
            known = [
                {number: each for number, each in rows.items() if each[0] in both} for rows in found
            ]
        renamed = (None, None) if columns is None else (columns.before, columns.after)
        return (
            tokenize(before, wanted, self._count, known=known[0], columns=renamed[0]),
            tokenize(after, wanted, self._count, known=known[1], columns=renamed[1]),
        )

    def _ends(self) -> tuple[int, int]:
        """Return the last rows with values; below them rows have looks at most."""
        if self._windows[-1][1] <= self._count:
            return self._count, self._count
        found = []
        for tokens in self._tokens:
            end = self._count
            start = self._windows[-1][0]
            while end >= start and not tokens.by_row[end]:
                end -= 1
            found.append(end)
        return found[0], found[1]

    def _take(self, blocks: list[Block]) -> list[LineRun]:
        """Sort out the blocks; return what moved."""
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
            self._runs.append(run)
            self._add_suspects(run)
            self.matched += run.length
        return moves

    def _add_equal(self, block: Block) -> None:
        run = LineRun(block.i1, block.j1, block.i2 - block.i1)
        self._runs.append(run)
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
                self._pairs.append((run.before + place, run.after + place))

    def _add_replaced(self, ours: list[int], theirs: list[int]) -> None:
        """Pair rows that changed; the others are gone or new."""
        first = second = 0
        for i, j in [*self._similar(ours, theirs), (len(ours), len(theirs))]:
            # Between pairs, as many rows on both sides are rows that were written over.
            if i - first == j - second:
                for place in range(i - first):
                    self._add_pair(ours[first + place], theirs[second + place])
            else:
                self._removed.extend(ours[first:i])
                self._added.extend(theirs[second:j])
            if i < len(ours):
                self._add_pair(ours[i], theirs[j])
            first, second = i + 1, j + 1

    def _add_pair(self, before: int, after: int) -> None:
        self._pairs.append((before, after))
        self._runs.append(LineRun(before, after, 1))

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

    def _add_tail(self, ends: tuple[int, int]) -> None:
        """Pair the rows below the last values, which have looks at most."""
        if self._windows[-1][1] <= self._count:
            return
        one, two = self._tokens
        # They moved along with the table, or stayed where they were: whichever fits better.
        last = max(ends)
        along = sum(
            one.exact[ends[0] + place] == two.exact[ends[1] + place] != 0
            for place in range(1, self._count - last + 1)
        )
        stayed = sum(
            one.exact[row] == two.exact[row] != 0 for row in range(last + 1, self._count + 1)
        )
        starts = ends if along > stayed else (last, last)
        for place in range(1, self._count - min(starts) + 1):
            before, after = starts[0] + place, starts[1] + place
            first = one.exact[before] if before <= self._count else 0
            second = two.exact[after] if after <= self._count else 0
            if first != second:
                self._pairs.append((before, after))

    def _result(self, moved: list[LineRun], columns: "_ColumnChanges | None") -> SheetAlignment:
        one, two = self._tokens
        ends = self._ends()
        # A row that is blank at the end of one version is blank in the other one, too.
        removed = [row for row in self._removed if one.by_row[row] or row < ends[0]]
        added = _without_gap(sorted(self._added), two, ends)
        line_map = LineMap(_joined(self._runs), ends, _last_shift(self._runs, moved))
        self._pairs.sort(key=lambda pair: pair[1])
        found = SheetAlignment(line_map, LineMap(), self._pairs, sorted(removed), added, moved)
        if columns is None:
            return found
        return msgspec.structs.replace(
            found,
            columns=columns.lines,
            removed_columns=columns.removed,
            added_columns=columns.added,
            moved_columns=columns.moved,
        )


def _without_gap(added: list[int], tokens: RowTokens, ends: tuple[int, int]) -> list[int]:
    """Return new rows without blank ones past the end: nobody put these in."""
    run = len(added)
    last = ends[1]
    while run and added[run - 1] == last:
        run -= 1
        last -= 1
    # What was added from `run` on stands at the very end.
    return added[:run] + [row for row in added[run:] if tokens.by_row[row]]


def _last_shift(runs: Sequence[LineRun], moved: Sequence[LineRun]) -> int:
    """Return how far the last lines were shifted that did not move by themselves."""
    moves = set(moved)
    last = max((run for run in runs if run not in moves), default=LineRun(0, 0, 0))
    return last.after - last.before


def _joined(runs: list[LineRun]) -> list[LineRun]:
    """Join runs that go on one another."""
    found: list[LineRun] = []
    for run in sorted(runs):
        last = found[-1] if found else None
        if (
            last is not None
            and last.before + last.length == run.before
            and last.after + last.length == run.after
        ):
            found[-1] = last._replace(length=last.length + run.length)
        else:
            found.append(run)
    return found


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


class _ColumnChanges(msgspec.Struct, frozen=True):
    """Columns of both versions: what they are called in tokens, and what happened to them."""

    before: dict[int, int]
    after: dict[int, int]
    lines: LineMap
    removed: list[int]
    added: list[int]
    moved: list[LineRun]


def _sample(tokens: RowTokens) -> dict[int, list[int]]:
    """Return what the columns of the first rows hold."""
    found: dict[int, list[int]] = {}
    for sketch, _ in zip(tokens.sketches.values(), range(SAMPLE_ROWS), strict=False):
        for column, content in zip(sketch.columns, sketch.hashes, strict=True):
            found.setdefault(column, []).append(content)
    return found


def _changed_columns(
    before: dict[int, list[int]], after: dict[int, list[int]]
) -> _ColumnChanges | None:
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
    if not many and not moves:
        return None
    names = [(run.before + k, run.after + k) for run in runs for k in range(run.length)]
    return _ColumnChanges(
        dict(names),
        {after_: after_ for _, after_ in names},
        LineMap(_joined(runs), ends, _last_shift(runs, moves)),
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
