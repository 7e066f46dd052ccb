"""Which rows of one version became which of the other.

Only rows that are not equal in place are looked at. Those with the same key are the same row; else
rows pair within the stretch that replaced another one, where most of their fields are the same, and
an equal row that stands elsewhere has moved.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import msgspec

from kbd.formats import CompareOptions
from kbd.formats.alignment import align, pair_similar
from kbd.plaintext.differences import SequencePart, Side, Skipper, differences
from kbd.plaintext.stretches import Observer, Stretch, Stretches, collect, find_moved
from kbd_csv.comparison.columns import Columns, match_columns
from kbd_csv.comparison.keys import RowKey, check_key, find_key, named_key
from kbd_csv.comparison.version import (
    Row,
    RowsCannotBeSkipped,
    TableVersion,
    read_rows,
    trimmed,
    whole_rows,
)

__all__ = ["RowMatch", "RowPair", "match_tables"]

MAX_COMPARED = 500_000
"""Comparisons of two rows in all; past it rows that were replaced pair by their place."""

LEAST = 0.5
"""How much of its fields a row must share with one to be it."""


class RowPair(NamedTuple):
    """A row that is in both versions, by its places there, and whether it stands elsewhere."""

    before: int
    after: int
    is_moved: bool


class RowMatch(msgspec.Struct, frozen=True):
    """What became of the rows that differ.

    Args:
        before: The older version.
        after: The newer version.
        columns: What became of the columns.
        stretches: The rows that differ; places count all rows from 0, the header, too.
        by_after: The rows that are in both versions, by their place in that after.
        key: What rows were paired by, if there is a key.
    """

    before: TableVersion
    after: TableVersion
    columns: Columns
    stretches: Stretches[Row]
    by_after: dict[int, RowPair]
    key: RowKey | None


def match_tables(
    before: TableVersion,
    after: TableVersion,
    options: CompareOptions,
    observe: Observer[Row] | None = None,
    begun: float | None = None,
) -> RowMatch:
    """Find out what became of the rows.

    Args:
        before: The older version.
        after: The newer version.
        options: The key, if one is named.
        observe: Is shown the equal rows whose bytes are not known to be the same.
        begun: When the comparison began, by the monotonic clock.

    Raises:
        FileReadFailed: A version cannot be read, or is no table within the limits.
        ValidationFailed: The named columns do not identify rows.
    """
    columns = match_columns(before, after)
    key = named_key(options.key, before, after, columns) if options.key else None
    try:
        stretches = _collect(before, after, columns, observe, begun, may_skip=True)
    except RowsCannotBeSkipped:
        stretches = _collect(before, after, columns, observe, begun, may_skip=False)
    if key is not None:
        check_key(key, before, after)
    else:
        key = find_key(before, after, columns, stretches.found)
    rows = _Rows(before, after, columns, stretches.found)
    if key is not None:
        rows.pair_by_key(key)
    else:
        rows.pair_moved()
    if key is None or not key.is_named:
        rows.pair_similar()
    return RowMatch(before, after, columns, stretches, rows.by_after, key)


def _collect(
    before: TableVersion,
    after: TableVersion,
    columns: Columns,
    observe: Observer[Row] | None,
    begun: float | None,
    *,
    may_skip: bool,
) -> Stretches[Row]:
    may_skip = may_skip and _can_skip(before, after, columns)
    skipper = None
    if may_skip:
        count = lambda data, _: whole_rows(before, data)  # noqa: E731 - it is no name of its own
        skipper = Skipper(before.source.path, after.source.path, count, 0)
    sides = []
    for version, places in (
        (before, [i for i, _ in columns.pairs]),
        (after, [j for _, j in columns.pairs]),
    ):
        key_of = trimmed if columns.is_same else _shared(places, len(version.names))
        read = partial(read_rows, version, key_of=key_of, may_skip=may_skip)
        sides.append(Side(read, version.start))
    parts: Iterator[SequencePart[Row]] = differences(sides[0], sides[1], skipper=skipper)
    return collect(parts, lambda row: len(row.text), observe=observe, begun=begun)


def _can_skip(before: TableVersion, after: TableVersion, columns: Columns) -> bool:
    """Tell whether equal bytes are equal rows wherever they stand."""
    same = before.head.dialect.delimiter == after.head.dialect.delimiter
    same = same and before.head.dialect.quote_char == after.head.dialect.quote_char
    plain = before.text.is_bytewise and after.text.is_bytewise and before.head.width > 1
    plain = plain and not before.is_sorted and not after.is_sorted
    return plain and same and columns.is_same and before.has_header == after.has_header


def _shared(places: Sequence[int], width: int) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """Return what takes of a row the columns of both versions, and what is beyond all columns."""
    needed = max(places, default=-1) + 1
    pick = itemgetter(*places) if len(places) > 1 else None

    def shared(fields: Sequence[str]) -> tuple[str, ...]:
        size = len(fields)
        if pick is not None and needed <= size <= width:
            return trimmed(pick(fields))
        found = [fields[place] if place < size else "" for place in places]
        return trimmed([*found, *fields[width:]])

    return shared


class _Rows:
    """Rows that differ, on the way to being paired."""

    def __init__(
        self,
        before: TableVersion,
        after: TableVersion,
        columns: Columns,
        stretches: Sequence[Stretch[Row]],
    ) -> None:
        self._stretches = stretches
        self._headers = before.has_header, after.has_header
        self._columns = columns
        self._paired: set[int] = set()
        self.by_after: dict[int, RowPair] = {}

    def pair_by_key(self, key: RowKey) -> None:
        """Pair rows with the same key; those that do not keep their order have moved."""
        known: dict[tuple[str, ...], int] = {}
        for stretch in self._stretches:
            for i in self._left(stretch, is_after=False):
                row = stretch.before[i - stretch.before_at]
                known[key.value(row.fields, is_after=False)] = i
        for stretch in self._stretches:
            pairs = []
            for j in self._left(stretch, is_after=True):
                row = stretch.after[j - stretch.after_at]
                found = known.pop(key.value(row.fields, is_after=True), None)
                if found is not None:
                    pairs.append((found, j))
            end = stretch.before_at + len(stretch.before)
            here = [i for i, _ in pairs if stretch.before_at <= i < end]
            in_place = {
                i
                for block in align(sorted(here), here)
                if block.kind == "equal"
                for i in here[block.j1 : block.j2]
            }
            for i, j in pairs:
                self._add(i, j, is_moved=i not in in_place)

    def pair_moved(self) -> None:
        """Pair rows that are equal and stand elsewhere."""
        for before, after, length in find_moved(self._stretches, lambda row: row.key):
            for step in range(length):
                if before + step >= self._headers[0] and after + step >= self._headers[1]:
                    self._add(before + step, after + step, is_moved=True)

    def pair_similar(self) -> None:
        """Pair what is left of each stretch, where rows have most of their fields in common."""
        budget = MAX_COMPARED
        for stretch in self._stretches:
            old = self._left(stretch, is_after=False)
            new = self._left(stretch, is_after=True)
            if not old or not new:
                continue
            one = [stretch.before[i - stretch.before_at].fields for i in old]
            other = [stretch.after[j - stretch.after_at].fields for j in new]
            budget -= len(old) * len(new)
            if len(old) == len(new) == 1:
                pairs: Sequence[tuple[int, int]] = (
                    [(0, 0)] if self._similarity(*one, *other) else ()
                )
            elif budget >= 0:
                pairs = pair_similar(one, other, self._similarity, LEAST)
            else:
                pairs = [
                    (number, number)
                    for number, rows in enumerate(zip(one, other, strict=False))
                    if self._similarity(*rows) >= LEAST
                ]
            for i, j in pairs:
                self._add(old[i], new[j], is_moved=False)

    def _add(self, before: int, after: int, *, is_moved: bool) -> None:
        self._paired.add(before)
        self.by_after[after] = RowPair(before, after, is_moved)

    def _left(self, stretch: Stretch[Row], *, is_after: bool) -> list[int]:
        """Return the places of a stretch's rows that are not paired yet; a header is no row."""
        at, rows = (
            (stretch.after_at, stretch.after) if is_after else (stretch.before_at, stretch.before)
        )
        known = self.by_after if is_after else self._paired
        header = self._headers[is_after]
        return [each for each in range(at, at + len(rows)) if each not in known and each >= header]

    def _similarity(self, before: Sequence[str], after: Sequence[str]) -> float:
        """Return how much of the filled fields is the same in both rows."""
        pairs = self._columns.pairs
        if len(pairs) == 1:
            # A table of one column is a list: what stands in the same place is the same entry.
            return LEAST
        same = filled = 0
        for i, j in pairs:
            old = before[i] if i < len(before) else ""
            new = after[j] if j < len(after) else ""
            if old or new:
                filled += 1
                same += old == new
        return same / filled if filled else 1.0
