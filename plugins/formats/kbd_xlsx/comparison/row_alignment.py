"""Rows and columns of two versions of a sheet, aligned: which are the same, new, gone or moved."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence

import msgspec

from kbd.formats.alignment import AlignedBlock, align
from kbd_xlsx.comparison.book_side import SheetSide
from kbd_xlsx.comparison.column_alignment import (
    ColumnChanges,
    find_column_changes,
    sample_columns,
)
from kbd_xlsx.comparison.line_maps import LineMap, LineRun, joined_runs, last_shift
from kbd_xlsx.comparison.row_pairs import RowPairing
from kbd_xlsx.comparison.row_tokens import RowTokens, plain_tokens, similarity, tokenize

__all__ = ["SheetAlignment", "align_sheets"]

WINDOW_MARGIN = 64
"""Rows around those that differ which are aligned along with them."""

MANY_ROWS = 2000
"""From so many rows on those that only stand elsewhere are found before rows are taken apart."""

MAX_IN_PLACE = 5000
"""Rows that differ where they are; with more of them they are taken for shifted."""

FEW_ROWS = 5000
"""Rows of a sheet whose columns are always aligned, too; of more rows half have to differ."""

COLUMN_COST = 3
"""Changes of cells that a change of a column counts for: fewer of them are told one by one."""


SAMPLE_ROWS = 500
"""Rows of very many that are looked at for whether they were changed where they are."""

_SIMILAR = 0.5
_Aligning = Callable[[Sequence[Hashable], Sequence[Hashable]], tuple[AlignedBlock, ...]]


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


def align_sheets(
    before: SheetSide, after: SheetSide, *, is_comparable: bool, in_place: bool = False
) -> SheetAlignment:
    """Align two versions of a sheet.

    Args:
        before: The older version.
        after: The newer version.
        is_comparable: Whether numbers of texts and looks mean the same in both versions.
        in_place: Whether it is known that all rows and columns are where they were.

    Raises:
        FileReadFailed: A sheet is damaged.
    """
    ends = len(before.scan.hashes), len(after.scan.hashes)
    different = _different(before, after, is_comparable=is_comparable)
    sample = _sampled_rows(before, after, different)
    if in_place or (sample and _are_similar(before, after, sample, None)):
        return _stayed(different, ends)
    windows = _windows(different, max(ends))
    if not windows:
        length = max(ends)
        return SheetAlignment(
            LineMap([LineRun(1, 1, length)] if length else (), (length, length)), LineMap()
        )
    other = _Aligner(before, after, [(1, max(ends) + 1)], is_comparable=False)
    columns = _shifted_columns(before, after, sample)
    if columns is not None:
        return other.aligned(columns)
    aligner = _Aligner(before, after, windows, is_comparable=is_comparable)
    found = aligner.aligned(None)
    columns = aligner.column_changes()
    if columns is not None:
        shifted = other.aligned(columns)
        if other.cost + COLUMN_COST * columns.count < aligner.cost:
            return shifted
    return found


def _different(before: SheetSide, after: SheetSide, *, is_comparable: bool) -> Sequence[int]:
    """Return the numbers of the rows that differ, or may."""
    one, two = before.scan, after.scan
    length = max(len(one.hashes), len(two.hashes))
    if not is_comparable:
        return range(1, length + 1)
    different = list(_unequal(one.hashes, two.hashes))
    if one.masters != two.masters or one.groups != two.groups:
        different = sorted({*different, *one.sharing, *two.sharing})
    return different


def _sampled_rows(before: SheetSide, after: SheetSide, different: Sequence[int]) -> Sequence[int]:
    """Return some of very many rows that differ and are in both versions; none of fewer."""
    last = min(len(before.scan.hashes), len(after.scan.hashes))
    rows = different[: bisect_right(different, last)]
    if len(rows) < MANY_ROWS:
        return ()
    return sorted({*rows[:: max(1, len(rows) // SAMPLE_ROWS)], *rows[-50:]})


def _are_similar(
    before: SheetSide, after: SheetSide, sample: Sequence[int], columns: ColumnChanges | None
) -> bool:
    """Tell whether rows differ in a few cells each, where they are: a column was written anew."""
    renamed = (None, None) if columns is None else (columns.before, columns.after)
    one, two = (
        tokenize(side, sample, sample[-1], columns=names).sketches
        for side, names in zip((before, after), renamed, strict=True)
    )
    return all(similarity(one.get(row), two.get(row)) >= _SIMILAR for row in sample)


def _shifted_columns(
    before: SheetSide, after: SheetSide, sample: Sequence[int]
) -> ColumnChanges | None:
    """Return how columns changed, if that makes very many rows similar where they are."""
    if not sample:
        return None
    one, two = (
        sample_columns(side, tokenize(side, sample, sample[-1])) for side in (before, after)
    )
    found = find_column_changes(one, two)
    if found is None or not _are_similar(before, after, sample, found):
        return None
    return found


def _stayed(different: Sequence[int], ends: tuple[int, int]) -> SheetAlignment:
    """Return the alignment of rows that all are where they were."""
    both = min(ends)
    place = bisect_right(different, both)
    rest = different[place:]
    return SheetAlignment(
        LineMap([LineRun(1, 1, both)] if both else (), ends),
        LineMap(),
        [(row, row) for row in different[:place]],
        rest if ends[0] > both else (),
        rest if ends[1] > both else (),
    )


def _windows(different: Sequence[int], length: int) -> list[tuple[int, int]]:
    """Return the stretches of row numbers, ends not included, in which rows differ."""
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
        cost: How many changes of cells and rows there would be to tell.
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
        self._matched = 0
        self.cost = 0

    def aligned(self, columns: ColumnChanges | None) -> SheetAlignment:
        """Align all windows; between them rows are equal where they are."""
        self._tokens = self._tokenized(columns)
        ends = self._ends()
        found = RowPairing(self._tokens, self._blocks(ends, align))
        # Where many rows are alike, an edit in place may look like a shift of them.
        if found.cost and self._differ_in_few():
            in_place = RowPairing(self._tokens, self._blocks(ends, _in_place))
            if in_place.cost <= found.cost:
                found = in_place
        self.cost, self._matched = found.cost, found.matched
        runs = [*found.runs, *self._between()]
        one, two = self._tokens
        # A row that is blank at the end of one version is blank in the other one, too.
        removed = _without_gap(sorted(found.removed), one, ends[0])
        added = _without_gap(sorted(found.added), two, ends[1])
        shift = last_shift(runs, found.moved)
        gap = self._past(
            [
                *((row, row + shift) for row in set(found.removed).difference(removed)),
                *((row - shift, row) for row in set(found.added).difference(added)),
            ],
            ends,
        )
        runs.extend(LineRun(before, after, 1) for before, after in gap)
        gap = [pair for pair in gap if self._exact(0, pair[0]) != self._exact(1, pair[1])]
        pairs = sorted([*found.pairs, *gap, *self._tail(ends)], key=lambda pair: pair[1])
        result = SheetAlignment(
            LineMap(joined_runs(runs), ends, shift),
            LineMap(),
            pairs,
            removed,
            added,
            found.moved,
        )
        if columns is None:
            return result
        return msgspec.structs.replace(
            result,
            columns=columns.lines,
            removed_columns=columns.removed,
            added_columns=columns.added,
            moved_columns=columns.moved,
        )

    def column_changes(self) -> ColumnChanges | None:
        """Return how columns changed, if rows are so different that columns may have."""
        filled = min(sum(map(bool, tokens.by_row)) for tokens in self._tokens)
        are_many = self._matched * 2 < filled
        if not filled or not (are_many or (self.cost > COLUMN_COST and self._count <= FEW_ROWS)):
            return None
        one, two = map(sample_columns, self._sides, self._tokens)
        found = find_column_changes(one, two)
        if found is None or are_many:
            return found
        # In a form many rows end before the column that was put in or taken out. But cells in a
        # column that was blank are cells, and of columns that are all alike some other pairing
        # is found where a few cells changed.
        is_one_way = not found.moved and not (found.removed and found.added)
        return found if found.is_shifted and is_one_way else None

    def _blocks(self, ends: tuple[int, int], aligning: _Aligning) -> list[AlignedBlock]:
        """Return the alignments of all windows, by row numbers."""
        one, two = self._tokens
        blocks: list[AlignedBlock] = []
        for start, end in self._windows:
            is_last = end == self._windows[-1][1]
            stops = [max(start, min(end, last + 1) if is_last else end) for last in ends]
            ours, theirs = one.by_row[start : stops[0]], two.by_row[start : stops[1]]
            blocks.extend(
                AlignedBlock(kind, i1 + start, i2 + start, j1 + start, j2 + start)
                for kind, i1, i2, j1, j2 in aligning(ours, theirs)
            )
        return blocks

    def _differ_in_few(self) -> bool:
        """Tell whether few rows differ where they are."""
        one, two = self._tokens
        count = 0
        for first, second in zip(one.by_row, two.by_row, strict=True):
            count += first != second
            if count > MAX_IN_PLACE:
                return False
        return True

    def _between(self) -> Iterator[LineRun]:
        """Yield the rows around the windows."""
        at = 1
        for start, end in [*self._windows, (self._count + 1, 0)]:
            if start > at:
                yield LineRun(at, at, start - at)
            at = end

    def _tokenized(self, columns: ColumnChanges | None) -> tuple[RowTokens, RowTokens]:
        wanted = [row for start, end in self._windows for row in range(start, end)]
        before, after = self._sides
        known: list[dict[int, tuple[int, int]]] = [{}, {}]
        if self._is_comparable and columns is None and self._are_shifted(wanted):
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

    def _are_shifted(self, wanted: Sequence[int]) -> bool:
        """Tell whether rows are likely to stand elsewhere as they are."""
        if len(wanted) <= MANY_ROWS:
            return False
        middle = len(wanted) // 2
        some = wanted[middle : middle + MANY_ROWS]
        one, two = (
            {token for token, _ in plain_tokens(side, some).values()} for side in self._sides
        )
        return len(one & two) * 10 > min(len(one), len(two))

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

    def _tail(self, ends: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """Yield pairs of rows below the last values, which have looks at most."""
        if self._windows[-1][1] <= self._count:
            return
        last = max(ends)
        starts = ends if self._moved_along(ends) else (last, last)
        for place in range(1, self._count - min(starts) + 1):
            before, after = starts[0] + place, starts[1] + place
            if self._exact(0, before) != self._exact(1, after):
                yield before, after

    def _moved_along(self, ends: tuple[int, int]) -> bool:
        """Tell whether rows below the last values moved along with the table, or else stayed."""
        one, two = self._tokens
        last = max(ends)
        along = sum(
            one.exact[ends[0] + place] == two.exact[ends[1] + place] != 0
            for place in range(1, self._count - last + 1)
        )
        stayed = sum(
            one.exact[row] == two.exact[row] != 0 for row in range(last + 1, self._count + 1)
        )
        return along > stayed

    def _past(self, pairs: list[tuple[int, int]], ends: tuple[int, int]) -> list[tuple[int, int]]:
        """Return those blank rows that have looks, and are past the end of one version only."""
        if self._moved_along(ends):
            return []
        looks = [side.looks for side in self._sides]
        return [
            (before, after)
            for before, after in pairs
            if (ends[0] < before <= max(ends) or ends[1] < after <= max(ends))
            and (
                before in looks[0]
                or after in looks[1]
                or self._exact(0, before) != self._exact(1, after)
            )
        ]

    def _exact(self, version: int, row: int) -> int:
        return self._tokens[version].exact[row] if row <= self._count else 0


def _in_place(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[AlignedBlock, ...]:
    """Return the blocks of rows that did not move."""
    both = min(len(before), len(after))
    blocks: list[AlignedBlock] = []
    start = 0
    for place in range(both + 1):
        if place < both and before[place] == after[place]:
            continue
        if place > start:
            blocks.append(AlignedBlock("equal", start, place, start, place))
        if place < both:
            blocks.append(AlignedBlock("replaced", place, place + 1, place, place + 1))
        start = place + 1
    if len(before) > both:
        blocks.append(AlignedBlock("removed", both, len(before), both, both))
    elif len(after) > both:
        blocks.append(AlignedBlock("added", both, both, both, len(after)))
    return tuple(blocks)


def _without_gap(rows: list[int], tokens: RowTokens, last: int) -> list[int]:
    """Return rows that only one version has without blank ones at its end: nobody put these in."""
    run = len(rows)
    while run and rows[run - 1] == last:
        run -= 1
        last -= 1
    # What is listed from `run` on stands at the very end.
    return rows[:run] + [row for row in rows[run:] if tokens.by_row[row]]
