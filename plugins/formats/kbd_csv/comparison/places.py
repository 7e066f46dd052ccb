"""Places of a table: a row's number in the other version, and what people write for a cell."""

import re
from collections.abc import Sequence

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Place, Source, Trace
from kbd_csv.comparison.changes import cell_place, changed_columns, row_place
from kbd_csv.comparison.row_match import RowMatch, match_tables
from kbd_csv.comparison.version import (
    TableVersion,
    read_rows,
    read_table_version,
    read_table_versions,
    trimmed,
)

__all__ = ["locate", "trace"]

_ROW = re.compile(r"\s*(?:row|line|r)?\s*#?(\d+)\s*", re.IGNORECASE)
_ROW_FIRST = re.compile(r"\s*(?:row|r)?\s*#?(\d+)(?:\s*[,:;/]\s*|\s+)(.+?)\s*", re.IGNORECASE)
_ROW_LAST = re.compile(r"\s*(.+?)\s*[,:;/@]?\s+(?:(?:in|of)\s+)?row\s*#?(\d+)\s*", re.IGNORECASE)
_COLUMN_WORD = re.compile(r"\s*(?:column|col\.?|field)\s+(.+?)\s*", re.IGNORECASE)

_PARTS = frozenset(
    ("header", "delimiter", "notation", "quote character", "encoding", "byte order mark")
) | {"lines beside the table", "line ending", "final newline", "zero bytes", "bytes"}


def trace(
    before: Source, after: Source, places: Sequence[Place], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where rows, cells and columns of one version are in the other.

    Args:
        before: The older version.
        after: The newer version.
        places: Rows, cells, columns, or parts such as "header", which are in both.
        forward: Whether the places are of the version before.

    Raises:
        FileReadFailed: A version cannot be read, or is no table within the limits.
    """
    old, new = read_table_versions(before, after)
    match = match_tables(old, new, CompareOptions())
    followed = _Followed(match, is_forward=forward)
    return tuple(followed.trace(place) for place in places)


class _Followed:
    """What became of each row and column, looked up by its place."""

    def __init__(self, match: RowMatch, *, is_forward: bool) -> None:
        self._match = match
        self._is_forward = is_forward
        self._here, self._there = (
            (match.before, match.after) if is_forward else (match.after, match.before)
        )
        self._partners = {
            (pair.before if is_forward else pair.after): pair for pair in match.by_after.values()
        }
        self._columns = {
            (i if is_forward else j): (j if is_forward else i) for i, j in match.columns.pairs
        }

    def trace(self, place: Place) -> Trace:
        """Return where a place is in the other version, and whether it differs."""
        column = self._column(place.column)
        if place.row is None:
            return self._trace_column(column) if place.column is not None else _part(place)
        item, changed = self._follow(self._here.item(place.row))
        if item is None:
            return Trace(None)
        number = self._there.number(item)
        if place.column is None:
            columns = self._match.columns
            is_changed = bool(changed or columns.added or columns.removed)
            return Trace(row_place(number), is_changed)
        there = self._columns.get(column) if column is not None else None
        if there is None:
            return Trace(None)
        is_changed = any((i if self._is_forward else j) == column for i, j in changed)
        return Trace(cell_place(number, self._there.name(there)), is_changed)

    def _column(self, column: int | str | None) -> int | None:
        names = self._here.names
        if isinstance(column, int):
            return column - 1 if 1 <= column <= len(names) else None
        return names.index(column) if column in names else None

    def _trace_column(self, column: int | None) -> Trace:
        there = self._columns.get(column) if column is not None else None
        if there is None:
            return Trace(None)
        name = self._there.name(there)
        # Of rows that came or went each has a value in the column.
        rows = sum(len(each.before) + len(each.after) for each in self._match.stretches.found)
        is_changed = rows > 2 * len(self._partners) or any(
            (i if self._is_forward else j) == column
            for item in self._partners
            for i, j in self._follow(item)[1]
        )
        return Trace(Place(f"column {name}", column=name), is_changed)

    def _follow(self, item: int) -> tuple[int | None, list[tuple[int, int]]]:
        """Return where a row is in the other version, and the columns in which it differs."""
        stretches = self._match.stretches
        end = stretches.before_end if self._is_forward else stretches.after_end
        if item < 0 or item >= end:
            return None, []
        stretch, shifted = stretches.shift(item, forward=self._is_forward)
        if stretch is None:
            return shifted, []
        pair = self._partners.get(item)
        if pair is None:
            return None, []
        there, _ = stretches.shift(
            pair.after if self._is_forward else pair.before, forward=not self._is_forward
        )
        old, new = (stretch, there) if self._is_forward else (there, stretch)
        assert old is not None
        assert new is not None
        rows = old.before[pair.before - old.before_at], new.after[pair.after - new.after_at]
        differing = list(changed_columns(self._match, *rows))
        return (pair.after if self._is_forward else pair.before), differing


def _part(place: Place) -> Trace:
    return Trace(place if place.part else None)


def locate(source: Source, text: str) -> Place:
    """Return the row, cell or column that a text names: "row 7, amount", "7", "amount".

    Raises:
        FileReadFailed: The file cannot be read, or is no table within the limits.
        ValidationFailed: It names none, or one that the table does not have.
    """
    version = read_table_version(source)
    if found := _ROW.fullmatch(text):
        return row_place(_checked_row(version, int(found[1])))
    column = _named_column(version, text)
    if column is not None:
        return Place(f"column {column}", column=column)
    if text.strip().casefold() in _PARTS:
        name = text.strip().casefold()
        return Place(name, part=name)
    for pattern, row, rest in ((_ROW_FIRST, 1, 2), (_ROW_LAST, 2, 1)):
        found = pattern.fullmatch(text)
        column = _named_column(version, found[rest]) if found else None
        if found and column is not None:
            return cell_place(_checked_row(version, int(found[row])), column)
    names = ", ".join(version.names[:20])
    msg = (
        f'{text!r} is no place of {source.name}; write "row 7, {version.names[0]}", "row 7" or a '
        f"column: {names}"
        if version.names
        else f"{text!r} is no place of {source.name}, which is empty"
    )
    raise ValidationFailed(msg)


def _named_column(version: TableVersion, text: str) -> str | None:
    """Return the name of the column that a text means, by its name or its number."""
    plain = text.strip().strip("\"'")
    worded = _COLUMN_WORD.fullmatch(text)
    for wanted in (plain, worded[1].strip("\"'") if worded else plain):
        for name in version.names:
            if name == wanted:
                return name
        for name in version.names:
            if name.casefold() == wanted.casefold():
                return name
    if worded and worded[1].isdecimal() and 1 <= int(worded[1]) <= len(version.names):
        return version.names[int(worded[1]) - 1]
    return None


def _checked_row(version: TableVersion, number: int) -> int:
    count = 0
    if number >= 1:
        for batch in read_rows(version, version.start, trimmed):
            count += len(batch.items)
            if version.number(count - 1) >= number:
                return number
    rows = max(0, version.number(count - 1)) if count else 0
    msg = f"{version.source.name} has {rows:,} rows; row {number:,} is not one of them"
    raise ValidationFailed(msg if number >= 1 else "rows are counted from 1")
