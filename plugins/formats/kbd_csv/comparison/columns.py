"""Which columns of one version became which of the other.

By name, where both have a header; a column that stands where another one stood and has much the
same values was renamed. Without names, by place, or by values where there are more or fewer.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from kbd.formats import Change, ChangeKind, Place
from kbd.formats.alignment import align, pair_similar
from kbd_csv.comparison.version import TableVersion, table_rows

__all__ = ["Columns", "column_changes", "match_columns"]

_SAMPLE_ROWS = 500

_LEAST = 0.5
"""How much of the values of a renamed column must be the same."""

_LEAST_ELSEWHERE = 0.9
"""The same, of one that stands elsewhere, too."""

_SHOWN_VALUES = 3


class Columns(msgspec.Struct, frozen=True):
    """What became of the columns, by their places from 0.

    Args:
        pairs: Columns of both versions, in the order of the version before.
        renamed: Those of them that have another name now.
        moved: Those of them that stand elsewhere among the others.
        removed: Columns of the version before alone.
        added: Columns of the version after alone.
    """

    pairs: tuple[tuple[int, int], ...]
    renamed: frozenset[tuple[int, int]]
    moved: frozenset[tuple[int, int]]
    removed: tuple[int, ...]
    added: tuple[int, ...]

    @property
    def is_same(self) -> bool:
        """Whether both versions have the same columns in the same places."""
        in_place = all(one == other for one, other in self.pairs)
        return in_place and not self.removed and not self.added


def match_columns(before: TableVersion, after: TableVersion) -> Columns:
    """Find out what became of the columns; raises FileReadFailed."""
    old, new = len(before.names), len(after.names)
    if not (before.has_header and after.has_header) and old == new:
        return _columns(before, after, [(each, each) for each in range(old)])
    values = _Values(_sample(before, old), _sample(after, new))
    if not (before.has_header and after.has_header):
        alike = pair_similar(range(old), range(new), values.similarity, _LEAST)
        return _columns(before, after, alike)
    numbers = {name: number for number, name in enumerate(after.names)}
    found = {i: numbers[name] for i, name in enumerate(before.names) if name in numbers}
    for block in align(before.names, after.names):
        gone = [each for each in range(block.i1, block.i2) if each not in found]
        come = [each for each in range(block.j1, block.j2) if each not in found.values()]
        alike = pair_similar(gone, come, values.similarity, _LEAST)
        found |= {gone[i]: come[j] for i, j in alike}
    found |= _elsewhere(found, old, new, values)
    return _columns(before, after, sorted(found.items()))


def _elsewhere(found: dict[int, int], old: int, new: int, values: "_Values") -> dict[int, int]:
    """Return columns that have another name in another place, by their values."""
    free = [each for each in range(new) if each not in found.values()]
    pairs: dict[int, int] = {}
    for gone in range(old):
        if gone in found or not free:
            continue
        best = max(free, key=lambda come: values.similarity(gone, come))
        if values.similarity(gone, best) >= _LEAST_ELSEWHERE:
            pairs[gone] = best
            free.remove(best)
    return pairs


def _columns(
    before: TableVersion, after: TableVersion, pairs: Sequence[tuple[int, int]]
) -> Columns:
    both = before.has_header and after.has_header
    renamed = [each for each in pairs if both and before.names[each[0]] != after.names[each[1]]]
    order = [j for _, j in pairs]
    in_place = {
        j
        for block in align(sorted(order), order)
        if block.kind == "equal"
        for j in order[block.j1 : block.j2]
    }
    paired = {i for i, _ in pairs}
    return Columns(
        tuple(pairs),
        frozenset(renamed),
        frozenset(pair for pair in pairs if pair[1] not in in_place),
        tuple(each for each in range(len(before.names)) if each not in paired),
        tuple(each for each in range(len(after.names)) if each not in order),
    )


class _Values:
    """The first values of the columns of both versions."""

    def __init__(self, before: list[Counter[str]], after: list[Counter[str]]) -> None:
        self._before, self._after = before, after

    def similarity(self, before: int, after: int) -> float:
        """Return how many of the values are the same, whichever rows they are in."""
        old, new = self._before[before], self._after[after]
        if not old or not new:
            return 0.5 if not old and not new else 0.0
        return (old & new).total() / max(old.total(), new.total())


def _sample(version: TableVersion, width: int) -> list[Counter[str]]:
    counts: list[Counter[str]] = [Counter() for _ in range(width)]
    for row in _first_rows(version, _SAMPLE_ROWS):
        for count, field in zip(counts, row, strict=False):
            if field:
                count[field] += 1
    return counts


def _first_rows(version: TableVersion, most: int) -> Iterator[list[str]]:
    return islice(table_rows(version), int(version.has_header), most)


def column_changes(before: TableVersion, after: TableVersion, columns: Columns) -> Iterator[Change]:
    """Yield the changes of the header and of the columns."""
    if before.has_header != after.has_header:
        kind: ChangeKind = "added" if after.has_header else "removed"
        old = before.names if before.has_header else None
        new = after.names if after.has_header else None
        yield Change(Place("header", part="header"), kind, "header", old, new)
    for one in columns.removed:
        name = before.names[one]
        yield Change(_place(name), "removed", "column", name, note=_first_values(before, one))
    partners = {j: (i, j) for i, j in columns.pairs}
    for other, name in enumerate(after.names):
        pair = partners.get(other)
        if pair is None:
            note = _first_values(after, other)
            yield Change(_place(name), "added", "column", None, name, note=note)
            continue
        # Names that are made unique, and without blanks, may hide what the header itself says.
        was, now = before.written(pair[0]), after.written(pair[1])
        if pair in columns.renamed:
            yield Change(_place(name), "changed", "column", before.names[pair[0]], name)
        elif was != now and was is not None and now is not None:
            yield Change(_place(name), "changed", "column", was or None, now or None)
        if pair in columns.moved:
            start = Place(f"column {pair[0] + 1}", column=before.names[pair[0]])
            at = pair[0] + 1, pair[1] + 1
            yield Change(_place(name), "moved", "column", *at, moved_from=start)


def _place(name: str) -> Place:
    return Place(f"column {name}", column=name)


def _first_values(version: TableVersion, column: int) -> str:
    """Return the first values of a column, for a reader to recognise it."""
    rows = _first_rows(version, _SHOWN_VALUES + int(version.has_header))
    values = [row[column][:60] for row in rows if column < len(row) and row[column]]
    return f"its first values: {', '.join(values)}" if values else "it is empty at first"
