"""All rows of a worksheet part as they will be, as splices of the rows that there are."""

from collections.abc import Iterator

from kbd_xlsx.parts.cells import Restyle
from kbd_xlsx.parts.columns import ColumnStyles
from kbd_xlsx.parts.formulas import Groups, SharedFormulas, checked_groups
from kbd_xlsx.parts.markup import Splice
from kbd_xlsx.parts.outline import Outline
from kbd_xlsx.parts.pending import Pending
from kbd_xlsx.parts.rows import Rows
from kbd_xlsx.parts.splicing import Reach, RowWriter
from kbd_xlsx.references import Area, overlaps

__all__ = ["row_splices"]


def row_splices(
    outline: Outline,
    rows: Rows,
    groups: Groups,
    columns: ColumnStyles,
    pending: Pending,
    restyle: Restyle,
) -> Iterator[Splice]:
    """Yield what changes between the tags of sheetData, in order.

    Args:
        outline: The part.
        rows: Its rows; none if they are wiped.
        groups: Its formulas over areas; none if its rows are wiped.
        columns: The styles of its columns.
        pending: What is to change.
        restyle: Gives the styles of edited cells.

    Raises:
        ValidationFailed: An edit reaches what cannot be changed alone.
    """
    gone = checked_groups(groups, pending, outline)
    shared = SharedFormulas(outline, rows, groups, pending)
    writer = RowWriter(outline, rows, columns, pending, shared, restyle)
    if pending.is_wiped and not outline.is_closed:
        yield Splice(outline.sheet_data[1], outline.rows_end, b"")
    new = _new_rows(rows, pending)
    if outline.is_closed:
        yield from _opened(outline, filter(None, map(writer.new_row, new)))
        return
    reaches = _Reaches(groups, pending, gone)
    place_of = {number: rows.place(number) for number in new}
    for number in sorted({*new, *_touched(rows, pending, shared, reaches)}):
        place = None if number in place_of else rows.place(number)
        if place is None:
            text = writer.new_row(number)
            if text:
                start = rows.start_after(number)
                yield Splice(start, start, text)
            continue
        row = rows.at(place)
        if number in pending.puts:
            yield Splice(row.start, row.end, writer.filled_row(row))
            continue
        changed = writer.changed_row(row, reaches.of(number))
        if changed is not None:
            yield Splice(row.start, row.end, changed)


def _new_rows(rows: Rows, pending: Pending) -> list[int]:
    named = {*pending.edits, *pending.puts, *pending.heights}
    return sorted(number for number in named if rows.place(number) is None)


def _touched(
    rows: Rows, pending: Pending, shared: SharedFormulas, reaches: "_Reaches"
) -> Iterator[int]:
    """Yield the numbers of rows that there are and that something reaches."""
    for number in (*pending.edits, *pending.puts, *pending.heights):
        if rows.place(number) is not None:
            yield number
    for area in (*reaches.clears, *reaches.forgets):
        for place in rows.places(area):
            yield rows.numbers[place]
    for place in shared.rows:
        yield rows.numbers[place]


def _opened(outline: Outline, texts: Iterator[bytes]) -> Iterator[Splice]:
    """Yield rows within a sheetData that was closed, and nothing if there are none."""
    start, end = outline.sheet_data
    first = next(texts, b"")
    if not first:
        return
    tag = outline.data[start:end].removesuffix(b"/>").rstrip()
    yield Splice(start, end, tag + b">")
    yield Splice(end, end, first)
    for text in texts:
        yield Splice(end, end, text)
    yield Splice(end, end, b"</" + outline.qualified(b"sheetData") + b">")


class _Reaches:
    """The areas that reach rows, without regard to single cells."""

    def __init__(self, groups: Groups, pending: Pending, gone: list[Area]) -> None:
        self._pending, self._gone = pending, gone
        self.clears = (*pending.clears, *gone)
        forgets = [*pending.forgets]
        forgets += (
            Area(row, column, row, column)
            for row, cells in pending.edits.items()
            for column, edit in cells.items()
            if edit.forget
        )
        # The results of a group are old together.
        self._members = tuple(
            group.area
            for group in groups.areas
            if any(overlaps(group.area, area) for area in forgets)
        )
        self.forgets = (*pending.forgets, *self._members)

    def of(self, row: int) -> Reach:
        """Return what reaches a row."""
        return Reach(
            (*self._pending.clears_of(row), *_at(row, self._gone)),
            _at(row, self.forgets),
            _at(row, self._members),
        )


def _at(row: int, areas: tuple[Area, ...] | list[Area]) -> tuple[Area, ...]:
    return tuple(area for area in areas if area.top <= row <= area.bottom)
