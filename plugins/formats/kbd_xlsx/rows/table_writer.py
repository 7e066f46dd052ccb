"""Rows written into the sheets of a workbook, new or not, whose other contents stay as they are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, get_args

import msgpack
import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Column,
    ColumnType,
    FocusHint,
    Placement,
    SheetForm,
    SheetRows,
    Source,
    Written,
    WrittenSheet,
    WrittenTables,
)
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_COLUMN, Area, cell_name
from kbd_xlsx.edits.book import BookEdit, lacks_results
from kbd_xlsx.edits.chart_points import keep_charts
from kbd_xlsx.edits.charts import ChartWriter
from kbd_xlsx.edits.reach import reach_after
from kbd_xlsx.operations import AddChart, DeleteChart
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.rows.cells import TypedRows
from kbd_xlsx.rows.obstacles import overwritten_note
from kbd_xlsx.rows.placement import (
    EVERYWHERE,
    AppendedRows,
    ColumnWidths,
    RowPlacer,
    TargetCells,
    fit_tables,
    prepare_spot,
)
from kbd_xlsx.rows.ranges_above import ranges_note
from kbd_xlsx.rows.sheet_form import FormedSheet
from kbd_xlsx.rows.total_row import TotalRow, sum_formula, total_notes, with_total
from kbd_xlsx.workbook import SUFFIXES

__all__ = ["write_table", "write_tables"]

_TYPES: frozenset[str] = frozenset(get_args(ColumnType))
_Rows = Iterator[tuple[list[Any], TotalRow | None]]


def write_table(source: Source | None, rows: Path, placement: Placement, target: Path) -> Written:
    """Write rows into a sheet, at the place and in the mode of the placement.

    Raises:
        ValidationFailed: There is no such sheet and none may be made, the rows do not fit, or
            they cannot be written without a loss.
        FileReadFailed: The source, or the rows, cannot be read.
    """
    with ExitStack() as stack:
        is_new = source is None or placement.mode == "new_file"
        book, package = _opened(stack, None if is_new else source, target)
        put = _put(book, package, rows, placement, None)
        written = _saved(book, [put], source, target)
    sheet = put.written
    return Written(
        sheet.written_range, sheet.row_count, sheet.column_count,
        (*put.warnings, *written.warnings), written.remaining, written.focus,
        written.open_results, written.lacks_results,
    )  # fmt: skip


def write_tables(
    source: Source | None, sheets: tuple[SheetRows, ...], target: Path
) -> WrittenTables:
    """Write several sheets at once, each with what its form says.

    Raises:
        ValidationFailed: As `write_table`; a form does not fit the rows. It says of which sheet.
        FileReadFailed: The source, or rows, cannot be read.
    """
    with ExitStack() as stack:
        book, package = _opened(stack, source, target)
        puts = []
        for each in sheets:
            name = each.placement.sheet
            try:
                puts.append(_put(book, package, each.rows, each.placement, each.form))
            except ValidationFailed as error:
                raise ValidationFailed(f"sheet {name}: {error.message}") from error
        charts = [put.chart for put in puts if put.chart is not None]
        if charts:
            # What a chart shows is read from the sheets, which have no cell before that.
            book.flush()
            _draw(book, charts)
        written = _saved(book, puts, source, target)
    notes = tuple(f"{put.written.sheet}: {note}" for put in puts for note in put.warnings)
    return msgspec.structs.replace(written, warnings=(*notes, *written.warnings))


class _PutRows(msgspec.Struct, frozen=True):
    """Rows that were put into a sheet, what must be known of it, and its chart."""

    written: WrittenSheet
    focus: FocusHint
    warnings: tuple[str, ...]
    chart: AddChart | None


def _opened(
    stack: ExitStack, source: Source | None, target: Path
) -> tuple[BookEdit, Package | None]:
    """Return the workbook to write to, and what it was before."""
    package = None
    if source is None:
        SUFFIXES.type_of_new(target.name)
        book = BookEdit.blank(target.name)
    else:
        package = stack.enter_context(Package(source))
        book = BookEdit.opened(package)
        book.fit(target.name)
    keep_charts(book)
    return book, package


def _saved(
    book: BookEdit, puts: Sequence[_PutRows], source: Source | None, target: Path
) -> WrittenTables:
    """Write the workbook; the warnings are those of it as a whole."""
    book.save(target)
    _, results = book.results.open_ranges()
    lacks = lacks_results(book)
    _, remaining = reach_after(book, None if book.is_new else source)
    return WrittenTables(
        tuple(put.written for put in puts), book.warnings, remaining, puts[0].focus, results, lacks
    )


def _put(
    book: BookEdit,
    package: Package | None,
    rows: Path,
    placement: Placement,
    form: SheetForm | None,
) -> _PutRows:
    """Put the rows of a file into a sheet."""
    with rows.open("rb") as file:
        stream = iter(msgpack.Unpacker(file, raw=False, strict_map_key=False))
        columns = _columns(stream)
        is_made = _ensure(book, placement)
        is_fresh = placement.mode != "append_rows" or book.sheet(placement.sheet).used() is None
        spot = prepare_spot(book, package, placement, columns)
        if spot.left + len(columns) - 1 > MAX_COLUMN:
            raise ValidationFailed(f"{len(columns):,} columns do not fit from there on")
        landing = _Landing(book, placement, spot, columns, is_made=is_made)
        marked = with_total(stream, columns, rows)
        if form is None:
            return landing.plain(marked)
        if is_fresh:
            return landing.formed(marked, form)
        if form.totals:
            raise ValidationFailed(
                "it has rows already, and totals of the rows that are added alone would be wrong: "
                "leave the totals out, or replace the sheet"
            )
        named = [name for name in ("title", "chart") if getattr(form, name)]
        note = f"it has rows already, so no {' and no '.join(named)} was added" if named else ""
        return landing.plain(marked, (note,) if note else ())


def _columns(stream: Iterator[Any]) -> list[Column]:
    first = next(stream, None)
    if first is None:
        raise FileReadFailed("the stream of rows is empty; it begins with its columns")
    if len(first) > MAX_COLUMN:
        raise ValidationFailed(f"{len(first):,} columns do not fit into a sheet")
    return [Column(str(name), kind if kind in _TYPES else None) for name, kind in first]


def _ensure(book: BookEdit, placement: Placement) -> bool:
    """Make the sheet if it is missing and may be made, and say whether it was made."""
    if book.is_new or placement.create_sheet_if_missing:
        return book.ensure(placement.sheet)
    book.title(placement.sheet)  # raises, naming near ones
    return False


class _Landing:
    """Landing of rows on a sheet.

    Args:
        book: The workbook.
        placement: Where they are wanted.
        spot: Where they go.
        columns: Their columns.
        is_made: Whether the sheet was made for them.
    """

    def __init__(
        self,
        book: BookEdit,
        placement: Placement,
        spot: TargetCells,
        columns: list[Column],
        *,
        is_made: bool,
    ) -> None:
        self._book, self._placement, self._spot, self._columns = book, placement, spot, columns
        self._is_made = is_made
        self._sheet: SheetPart = book.sheet(placement.sheet)
        self._title = book.title(placement.sheet)
        self._typed = TypedRows(from_1904=book.book.from_1904)

    def plain(self, rows: _Rows, more: tuple[str, ...] = ()) -> _PutRows:
        """Put the rows at their spot, with their names above them where these are wanted."""
        spot, columns = self._spot, self._columns
        placing = RowPlacer(
            self._book, self._sheet, columns, self._typed, spot.top, spot.left, spot.like
        )
        widths = ColumnWidths(columns)
        has_header = spot.has_header and bool(columns)
        if has_header:
            placing.header()
        count, summed = self._rows(rows, placing, widths)
        if self._is_made:
            widths.set(self._sheet, spot.left)
            if has_header and (spot.top, spot.left) == (1, 1):
                # Keeps the names in view, and says that they are names.
                self._sheet.freeze(1, 0)
        area = self._area(spot.top, placing.next_row - 1)
        notes = self._standing(area, has_header=has_header)
        return self._result(area, count, (*spot.warnings, *more, *notes, *summed))

    def formed(self, rows: _Rows, form: SheetForm) -> _PutRows:
        """Put the rows with all that the form says beside them; nothing else is on the sheet."""
        sheet, columns = self._sheet, self._columns
        sheet.clear_all()
        inherited = [sheet.style_at(1, number) for number in range(1, len(columns) + 1)]
        formed = FormedSheet(self._book, columns, form, inherited)
        placing = RowPlacer(
            self._book, sheet, columns, self._typed, 1, 1,
            bases=formed.bases, chosen=formed.chosen, amounts=formed.amounts,
        )  # fmt: skip
        if form.title:
            placing.line(formed.title(self._typed))
        heading = placing.next_row
        if columns:
            placing.line(formed.headings(self._typed, heading))
        count, summed = self._rows(rows, placing, formed)
        if summed and formed.has_totals:
            raise ValidationFailed(
                "its rows end with a total already, which would count twice: leave out that row, "
                "or the totals of the form"
            )
        body = self._area(heading, placing.next_row - 1)
        figures: dict[str, Any] = {}
        if count and formed.has_totals:
            cells, figures = formed.totals(heading + 1, placing.next_row - 1)
            self._know(placing.next_row, figures)
            placing.line(cells)
        chart = None
        if count:
            lines = Area(heading + 1, 1, heading + count, max(len(columns), 1))
            chart = formed.chart(self._title, heading, lines)
        elif form.totals or form.chart:
            formed.warnings.append("there are no rows, so no totals and no chart")
        formed.set_widths(sheet)
        if not form.plain and columns:
            # Keeps the names in view, and says that they are names.
            sheet.freeze(heading, 0)
        notes = self._standing(body, has_header=True)
        whole = self._area(1, placing.next_row - 1)
        found = self._result(whole, count, (*notes, *summed, *formed.warnings))
        written = msgspec.structs.replace(found.written, totals=figures)
        return msgspec.structs.replace(found, written=written, chart=chart)

    def _know(self, row: int, figures: Mapping[str, Any]) -> None:
        """Note that totals have their results: the rows above hold values alone."""
        known = self._book.results.known.setdefault(self._title, set())
        known.update(
            (row, place) for place, column in enumerate(self._columns, 1) if column.name in figures
        )

    def _rows(
        self, rows: _Rows, placing: RowPlacer, seen: ColumnWidths | FormedSheet
    ) -> tuple[int, list[str]]:
        """Put rows; return how many they were, and notes on the total that they end with."""
        count, first, left = 0, placing.next_row, self._spot.left
        summed: list[str] = []
        for values, total in rows:
            row, formulas = placing.next_row, dict[int, str]()
            if total is not None:
                formulas = {n: sum_formula(first, row, left + n) for n in total.summed}
                summed = total_notes(total, first, row, left)
            placing.row(values, formulas)
            seen.see(values)
            count += 1
        return count, summed

    def _area(self, top: int, bottom: int) -> Area | None:
        left = self._spot.left
        if not self._columns or bottom < top:
            return None
        return Area(top, left, bottom, left + len(self._columns) - 1)

    def _standing(self, area: Area | None, *, has_header: bool) -> list[str]:
        """Fit what stands there to the rows, and return notes on it.

        Raises:
            ValidationFailed: A table or a merged area is in the way, or a formula would be written
                over without having been asked for.
        """
        book, spot = self._book, self._spot
        names = [column.name for column in self._columns]
        landing = AppendedRows(self._title, names, area, has_header, spot.emptied, spot.joined)
        # Before the workbook is written, so that a refusal leaves no file.
        notes = fit_tables(book, landing)
        if not book.is_new and not self._is_made:
            notes += _standing_notes(book, self._placement, self._title, area, spot)
        return notes

    def _result(self, area: Area | None, count: int, notes: tuple[str, ...]) -> _PutRows:
        # An empty result leaves nothing to look at but the sheet's beginning.
        row, column = (area.top - 1, area.left - 1) if area else (0, 0)
        return _PutRows(
            WrittenSheet(self._title, _range(area), count, len(self._columns)),
            FocusHint(sheet=self._title, row_start=row, col_start=column),
            (*notes, *self._typed.warnings()),
            None,
        )


def _draw(book: BookEdit, charts: Sequence[AddChart]) -> None:
    """Add charts, each in place of one with its title."""
    writer = ChartWriter(book)
    for chart in charts:
        for name, title in writer.titles(chart.sheet).items():
            # The sheet was written before, by the same job.
            if title == (chart.title or ""):
                writer.delete(DeleteChart(sheet=chart.sheet, chart=name))
        try:
            writer.add(chart)
        except ValidationFailed as error:
            raise ValidationFailed(f"sheet {chart.sheet}: {error.message}") from error


def _standing_notes(
    book: BookEdit, placement: Placement, title: str, area: Area | None, spot: TargetCells
) -> list[str]:
    """Return what must be known of what stood where the rows go, or above them.

    Raises:
        ValidationFailed: A formula would be written over without having been asked for.
    """
    standing, note = book.rewriting.read(book.part(title)), None
    match placement.mode:
        case "write_range" if area is not None:
            note = overwritten_note(standing, title, area, spot.emptied)
        case "replace_sheet":
            note = overwritten_note(standing, title, EVERYWHERE, EVERYWHERE)
        case "append_rows" if area is not None:
            note = ranges_note(book, title, area)
        case _:
            pass
    return [note] if note else []


def _range(area: Area | None) -> str:
    """Return a range with both ends, even if it is one cell; "" if there is none."""
    if area is None:
        return ""
    return f"{cell_name(area.top, area.left)}:{cell_name(area.bottom, area.right)}"
