"""Comparison of two versions of a table.

Columns that were added, removed, renamed or moved; rows that were added, removed or moved; cells
that changed. And what no cell shows: the delimiter, the quotes, the encoding, the line ends.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from kbd.formats import (
    Change,
    ChangeKind,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    Source,
    Span,
)
from kbd.formats.alignment import diff_words
from kbd.plaintext.stretches import Stretch
from kbd.plaintext.versions import EndCount, add_bytes, add_facts, is_same_file
from kbd_csv.comparison.columns import column_changes
from kbd_csv.comparison.row_match import RowMatch, RowPair, match_tables
from kbd_csv.comparison.version import (
    Row,
    TableVersion,
    count_rows,
    read_rows,
    read_table_version,
    read_table_versions,
    trimmed,
)

__all__ = ["cell_place", "changed_columns", "compare", "row_place"]

MAX_WORDS_CHARS = 1_000_000
"""Characters of the cells whose words are compared."""


class _Notation:
    """Notation of rows with equal values: their quotes, empty fields and line ends."""

    def __init__(self, before: TableVersion, after: TableVersion) -> None:
        self.ends = EndCount()
        self._count = 0
        self._first = 0
        one, other = before.head.dialect, after.head.dialect
        # With another delimiter each row is written otherwise.
        self._is_same = (one.delimiter, one.quote_char) == (other.delimiter, other.quote_char)
        self._after = after

    def observe(
        self, before_at: int, after_at: int, before: Sequence[Row], after: Sequence[Row]
    ) -> None:
        """Count rows that are equal to a reader."""
        del before_at
        for number, (old, new) in enumerate(zip(before, after, strict=True), after_at):
            if old.text == new.text:
                continue
            one, other = old.text.rstrip("\r\n"), new.text.rstrip("\r\n")
            self.ends.add(
                number + self._after.head.layout.start, old.text[len(one) :], new.text[len(other) :]
            )
            # In other columns, too, unless their fields are the same.
            is_same = self._is_same and trimmed(old.fields) == trimmed(new.fields)
            if is_same and one != other:
                row = max(1, self._after.number(number))
                self._first = min(self._first or row, row)
                self._count += 1

    def observe_pairs(self, match: RowMatch) -> None:
        """Count rows that were changed or moved."""
        old, new = (
            {at + place: row for at, rows in sides for place, row in enumerate(rows)}
            for sides in (
                [(each.before_at, each.before) for each in match.stretches.found],
                [(each.after_at, each.after) for each in match.stretches.found],
            )
        )
        for pair in match.by_after.values():
            before, after = old[pair.before], new[pair.after]
            if before.key == after.key:
                self.observe(pair.before, pair.after, [before], [after])
            elif before.text != after.text:
                ends = [each.text[len(each.text.rstrip("\r\n")) :] for each in (before, after)]
                line = pair.after + self._after.head.layout.start
                self.ends.add(line, *ends, is_same_text=False)

    def add_to(self, changes: ChangeList) -> None:
        """Add one change for all rows that have the same values and are written otherwise."""
        if self._count:
            rows = f"{self._count:,} rows" if self._count > 1 else "1 row"
            note = (
                f"{rows} with the same values, from row {self._first} on: other quotes, or other "
                "empty fields or lines"
            )
            changes.add(
                Change(Place("notation", part="notation"), "changed", "notation", note=note)
            )


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Return what differs between two versions of a table; nothing for equal ones.

    Raises:
        FileReadFailed: A version cannot be read, or is no table within the limits.
        ValidationFailed: The named columns do not identify rows.
    """
    if before is None or after is None:
        return _whole(before or after, "removed" if after is None else "added")
    begun = time.monotonic()
    changes = ChangeList()
    if is_same_file(before, after) and not options.key:
        read_table_version(after)
        return changes.comparison()
    old, new = read_table_versions(before, after)
    notation = _Notation(old, new)
    match = match_tables(old, new, options, notation.observe, begun)
    notation.observe_pairs(match)
    add_facts(changes, old.text, new.text, notation.ends)
    _add_dialect(changes, old, new)
    _add_beside(changes, old, new)
    notation.add_to(changes)
    for change in column_changes(old, new, match.columns):
        changes.add(change)
    differ = _RowChanges(changes, match)
    for stretch in match.stretches.found:
        differ.add(stretch)
    if match.key is not None and match.by_after and not match.key.is_named:
        changes.warn(f"rows are paired by {match.key.name}")
    _add_rest(changes, match)
    if not changes.comparison().total and match.stretches.is_whole:
        add_bytes(changes, before, after)
    return changes.comparison()


def _whole(source: Source | None, kind: ChangeKind) -> Comparison:
    """Return all rows of a table as added or removed."""
    assert source is not None
    version = read_table_version(source)
    changes = ChangeList()
    if version.has_header:
        place = Place("header", part="header")
        changes.add(Change(place, kind, "header", *_sides(kind, version.names)))
    item = 0
    for batch in read_rows(version, version.start, trimmed):
        for row in batch.items:
            if item or not version.has_header:
                place = row_place(version.number(item))
                changes.add(Change(place, kind, "row", *_sides(kind, row.fields)))
            item += 1
            if changes.is_full:
                break
        if changes.is_full:
            changes.count(kind, "row", max(0, count_rows(version) - item))
            break
    for warning in version.text.encoding.warnings:
        changes.warn(warning)
    return changes.comparison()


def _sides(kind: ChangeKind, values: Sequence[str]) -> tuple[list[str] | None, list[str] | None]:
    return (None, [*values]) if kind == "added" else ([*values], None)


def row_place(number: int) -> Place:
    """Return the place of a data row, counted from 1."""
    return Place(f"row {number}", row=number)


def cell_place(number: int, column: str) -> Place:
    """Return the place of a cell."""
    return Place(f"row {number}, {column}", row=number, column=column)


def changed_columns(match: RowMatch, before: Row, after: Row) -> Iterator[tuple[int, int]]:
    """Yield the columns of two rows, by their places in both, in which they differ."""
    old, new = before.fields, after.fields
    extra = len(match.before.names), len(match.after.names)
    beyond = max(len(old) - extra[0], len(new) - extra[1], 0)
    for i, j in [*match.columns.pairs, *((extra[0] + k, extra[1] + k) for k in range(beyond))]:
        if (old[i] if i < len(old) else "") != (new[j] if j < len(new) else ""):
            yield i, j


class _RowChanges:
    """Changes of rows and cells, in the order of the version after."""

    def __init__(self, changes: ChangeList, match: RowMatch) -> None:
        self._changes = changes
        self._match = match
        self._paired = {pair.before for pair in match.by_after.values()}
        self._words_left = MAX_WORDS_CHARS
        self._before = {
            stretch.before_at + place: row
            for stretch in match.stretches.found
            for place, row in enumerate(stretch.before)
        }

    def add(self, stretch: Stretch[Row]) -> None:
        """Add what became of a stretch's rows; what was removed stands before what followed it."""
        match = self._match
        removed = [
            at
            for at in range(stretch.before_at, stretch.before_at + len(stretch.before))
            if at not in self._paired and at >= match.before.has_header
        ]
        done = 0
        for at, row in enumerate(stretch.after, stretch.after_at):
            if at < match.after.has_header:
                continue
            pair = match.by_after.get(at)
            if pair is not None and not pair.is_moved:
                while done < len(removed) and removed[done] < pair.before:
                    self._remove(removed[done])
                    done += 1
            place = row_place(match.after.number(at))
            if pair is None:
                self._changes.add(Change(place, "added", "row", after=row.fields))
                continue
            if pair.is_moved:
                start = row_place(match.before.number(pair.before))
                old = self._before[pair.before].fields
                change = Change(place, "moved", "row", old, row.fields, moved_from=start)
                self._changes.add(change)
            self._add_cells(pair, row)
        for at in removed[done:]:
            self._remove(at)

    def _remove(self, at: int) -> None:
        place = row_place(self._match.before.number(at))
        self._changes.add(Change(place, "removed", "row", before=self._before[at].fields))

    def _add_cells(self, pair: RowPair, row: Row) -> None:
        old = self._before[pair.before]
        number = self._match.after.number(pair.after)
        for i, j in changed_columns(self._match, old, row):
            if self._changes.is_full:
                self._changes.count("changed", "cell", 1)
                continue
            one = old.fields[i] if i < len(old.fields) else ""
            other = row.fields[j] if j < len(row.fields) else ""
            words: tuple[Span, ...] = ()
            size = len(one) + len(other)
            # A figure is one word; a text has several.
            if one and other and " " in one + other and size <= self._words_left:
                self._words_left -= size
                words = diff_words(one, other)
            place = cell_place(number, self._match.after.name(j))
            change = Change(place, "changed", "cell", one or None, other or None, words=words)
            self._changes.add(change)


def _add_dialect(changes: ChangeList, before: TableVersion, after: TableVersion) -> None:
    """Add changes of how fields are separated and quoted."""
    one, other = before.head.dialect, after.head.dialect
    for what, old, new in (
        ("delimiter", one.delimiter, other.delimiter),
        ("quote character", one.quote_char, other.quote_char),
    ):
        if old != new and not before.text.is_empty and not after.text.is_empty:
            changes.add(Change(Place(what, part=what), "changed", what, old, new))


def _add_beside(changes: ChangeList, before: TableVersion, after: TableVersion) -> None:
    """Add one change where lines differ that are no rows: titles, comments, remarks."""
    pairs = zip_longest(before.beside, after.beside)
    differing = [pair for pair in pairs if _text(pair[0]) != _text(pair[1])]
    if not differing:
        return
    what = "lines beside the table"
    kind: ChangeKind = "changed"
    if not before.beside or not after.beside:
        kind = "added" if after.beside else "removed"
    count = f"{len(differing):,} lines" if len(differing) > 1 else "1 line"
    note = f"{count} above, between or below the rows; the first of them is shown"
    one, other = ((text or "").strip() or None for text in differing[0])
    changes.add(Change(Place(what, part=what), kind, what, one, other, note=note))


def _text(line: str | None) -> str | None:
    """Return a line without its end, which is compared elsewhere."""
    return None if line is None else line.rstrip("\r\n")


def _add_rest(changes: ChangeList, match: RowMatch) -> None:
    """Count the rows that were not looked at closely, and warn of it."""
    stretches = match.stretches
    both = min(stretches.removed, stretches.added)
    changes.count("changed", "row", both)
    changes.count("removed", "row", stretches.removed - both)
    changes.count("added", "row", stretches.added - both)
    if stretches.removed or stretches.added:
        last = stretches.found[-1]
        row = match.after.number(last.after_at + len(last.after) - 1)
        changes.warn(
            f"too much differs: behind row {row:,} rows that differ are only counted, not paired"
        )
    if not stretches.is_whole:
        row = match.after.number(stretches.after_end - 1)
        changes.warn(f"the tables were compared up to row {row:,}; the rest would take too long")
