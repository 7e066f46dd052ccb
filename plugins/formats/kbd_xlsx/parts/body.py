"""All rows of a worksheet part as they will be, as splices of the rows that there are."""

from collections.abc import Iterator

from kbd_xlsx.parts.areas import AreaIndex
from kbd_xlsx.parts.cells import Restyle
from kbd_xlsx.parts.columns import ColumnStyles
from kbd_xlsx.parts.formulas import Groups, SharedFormulas, checked_groups
from kbd_xlsx.parts.markup import Splice
from kbd_xlsx.parts.outline import Outline
from kbd_xlsx.parts.pending_cells import PendingCells
from kbd_xlsx.parts.rows import Rows
from kbd_xlsx.parts.splices import Reach, RowWriter
from kbd_xlsx.references import Area

__all__ = ["row_splices"]


def row_splices(
    outline: Outline,
    rows: Rows,
    groups: Groups,
    columns: ColumnStyles,
    pending: PendingCells,
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
    touched = _touched(rows, pending, shared, reaches)
    for number, place in sorted([*((number, -1) for number in new), *touched.items()]):
        if place < 0:
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


def _new_rows(rows: Rows, pending: PendingCells) -> list[int]:
    named = {*pending.edits, *pending.puts, *pending.heights}
    return sorted(number for number in named if rows.place(number) is None)


def _touched(
    rows: Rows, pending: PendingCells, shared: SharedFormulas, reaches: "_Reaches"
) -> dict[int, int]:
    """Return the places of the rows that there are and that something reaches, by number."""
    found = {rows.numbers[place]: place for place in shared.rows}
    for number in {*pending.edits, *pending.puts, *pending.heights}:
        place = rows.place(number)
        if place is not None:
            found[number] = place
    for area in reaches.areas:
        for place in rows.places(area):
            found[rows.numbers[place]] = place
    return found


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
    """The areas that reach rows, without regard to single cells.

    Attributes:
        areas: All of them.
    """

    def __init__(self, groups: Groups, pending: PendingCells, gone: list[Area]) -> None:
        self._pending, self._gone = pending, AreaIndex(gone)
        single = (
            Area(row, column, row, column)
            for row, cells in pending.edits.items()
            for column, edit in cells.items()
            if edit.forget
        )
        forgotten = AreaIndex([*pending.forgets, *single])
        # The results of a group are old together.
        members = [group.area for group in groups.areas if forgotten.overlapping(group.area)]
        self._members = AreaIndex(members)
        self._forgets = AreaIndex([*pending.forgets, *members])
        self.areas = (*pending.clears, *gone, *pending.forgets, *members)

    def of(self, row: int) -> Reach:
        """Return what reaches a row."""
        return Reach(
            (*self._pending.clears_of(row), *self._gone.of_row(row)),
            self._forgets.of_row(row),
            self._members.of_row(row),
        )
