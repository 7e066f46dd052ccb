"""Reader of a workbook and its sheets: from its shelf where that has it, else from its file.

What is found of a sheet goes onto the shelf, so that a later call reads a few rows of it without
opening the workbook. The shelf is of these very bytes: what is there was checked when it was made.
A sheet's used range, islands, values and formulas are read a part at a time.
"""

import contextlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd.sheets.aggregates import may_aggregate
from kbd.sheets.areas import Area, overlaps
from kbd.sheets.cells import Formula, Marks, SheetCells
from kbd.sheets.values import Value
from kbd_xlsx.calculation import result_state
from kbd_xlsx.reader.blocks import PackedColumn, column_values, unpack
from kbd_xlsx.reader.book_values import BookValues, open_values
from kbd_xlsx.reader.builder import PackedBlock, PackedSheet, SharedFacts, build, read_shared
from kbd_xlsx.reader.cell_currencies import seen_currencies
from kbd_xlsx.reader.formulas import FormulaBatch, FormulaFacts, FormulaTexts
from kbd_xlsx.reader.section_file import FileSection, SectionFile, ShelfDamagedError, write_sections
from kbd_xlsx.reader.sheet_sight import MarkCounts, SheetLooks, SheetSight, UnseenPlaces
from kbd_xlsx.reader.unseen import UnseenRun
from kbd_xlsx.stored_formulas import shown as as_shown
from kbd_xlsx.workbook import SheetEntry, Workbook, find_sheet, read_workbook

__all__ = ["SheetReader", "WorkbookReader", "with_workbook"]

T = TypeVar("T")


_COUNTED_ROWS = 2_000
MAX_COUNTED_CONDITIONS = 20_000
"""Conditions of a sheet that are evaluated for the counts of its map."""


class SheetReader(SheetCells):
    """A sheet; a context manager.

    Args:
        part: What the workbook says of it.
        index: What there is.
        sections: Where it is.
    """

    def __init__(self, part: SheetEntry, index: PackedSheet, sections: SectionFile) -> None:
        self.part = part
        self.name = part.name
        self.area = index.area
        self.features = index.features
        self.frozen_rows = index.features.frozen_rows
        self._index = index
        self._sections = sections
        self._latest: tuple[PackedBlock | None, list[PackedColumn]] = (None, [])
        self._texts = FormulaTexts()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sections.close()

    def island_areas(self) -> list[Area]:
        """Return where the islands are, from top to bottom, whatever stays in view."""
        found = self._decoded(self._index.islands, list[tuple[int, int, int, int]])
        return [Area(*area) for area in found]

    def rows(self, area: Area) -> Iterator[tuple[int, list[Value]]]:
        """Yield the rows of an area with their numbers; blank ones may be left out."""
        for stretch in self._index.blocks:
            first, last = max(area.top, stretch.top), min(area.bottom, stretch.bottom)
            if first > last:
                continue
            columns = self._columns(stretch)
            # What lies outside the block is blank.
            left, right = self._index.left, self._index.left + len(columns) - 1
            before = max(0, min(left, area.right + 1) - area.left)
            after = area.right - max(right, area.left - 1) if area.right > right else 0
            inside = columns[max(0, area.left - left) : max(0, area.right - left + 1)]
            span = [
                column_values(column, first - stretch.top, last - stretch.top) for column in inside
            ]
            for place in range(last - first + 1):
                values = [column[place] for column in span]
                yield first + place, [*[""] * before, *values, *[""] * after]

    def blocks(self) -> Iterator[tuple[int, int, list[PackedColumn]]]:
        """Yield the packed values: the first row and column of each block, and its columns."""
        for stretch in self._index.blocks:
            yield stretch.top, self._index.left, self._columns(stretch)

    def facts(self, area: Area) -> Iterator[tuple[FormulaFacts, FormulaBatch]]:
        """Yield an area's cells with formulas or errors, in no order that could be relied on."""
        for stretch in self._index.batches:
            if stretch.top > area.bottom or stretch.bottom < area.top:
                continue
            batch = self._decoded(stretch.section, FormulaBatch)
            for cell in batch.cells:
                if area.top <= cell.row <= area.bottom and area.left <= cell.column <= area.right:
                    yield cell, batch

    def computed(self, area: Area) -> Iterator[tuple[int, int, str]]:
        """Yield the same by row and column, each with its error or its text."""
        for facts, batch in self.facts(area):
            yield facts.row, facts.column, facts.error or self._texts.text(facts, batch)

    def aggregating(self, area: Area) -> Iterator[tuple[int, int, str]]:
        """Yield an area's cells with formulas; of one that sums up no own cells "" for the text."""
        shared: dict[tuple[str, int, int], bool] = {}
        for facts, batch in self.facts(area):
            if facts.text is None:
                continue
            is_meant = True
            if isinstance(facts.text, int):
                # To write one out for each of a million cells takes a minute.
                text, _, column = master = batch.masters[facts.text]
                if master not in shared:
                    shared[master] = may_aggregate(f"={text}", column)
                is_meant = shared[master]
            text = self._texts.text(facts, batch) if is_meant else ""
            yield facts.row, facts.column, text

    def formulas(self, area: Area) -> dict[tuple[int, int], Formula]:
        """Return an area's formulas and errors by row and column."""
        found = list(self.facts(area))
        if not found:
            return {}
        values = dict(self.rows(area))
        return {
            (facts.row, facts.column): self._formula(
                facts,
                batch,
                values[facts.row][facts.column - area.left] if facts.row in values else "",
            )
            for facts, batch in found
        }

    def value(self, row: int, column: int) -> Value:
        """Return the value of one cell; quick if the one before was near it."""
        if not self._is_latest(row):
            place = bisect_right(self._index.blocks, row, key=lambda stretch: stretch.top) - 1
            if place < 0 or self._index.blocks[place].bottom < row:
                return ""
            self._columns(self._index.blocks[place])
        stretch, columns = self._latest
        number = column - self._index.left
        if stretch is None or not 0 <= number < len(columns):
            return ""
        return column_values(columns[number], row - stretch.top, row - stretch.top)[0]

    def merged_areas(self) -> list[Area]:
        """Return the merged ranges from top to bottom."""
        found = self._decoded(self._index.merged, list[tuple[int, int, int, int]])
        return [Area(*area) for area in found]

    def hidden_rows(self, area: Area) -> list[tuple[int, int]]:
        """Return the ranges of hidden rows in an area."""
        ranges = self._decoded(self._index.hidden_rows, list[tuple[int, int]])
        return _within(ranges, area.top, area.bottom)

    def hidden_columns(self, area: Area) -> list[tuple[int, int]]:
        """Return the ranges of hidden columns in an area."""
        return _within(list(self.features.hidden_columns), area.left, area.right)

    def marks(self, area: Area) -> Marks:
        """Return what people do not see of the cells of an area, by row and column."""
        return self._marks(area, conditioned=True)[0]

    def unseen_counts(self, within: Area | None = None) -> MarkCounts:
        """Return how many cells, of an area or of all, hold something that people do not see.

        Conditions are evaluated until `MAX_COUNTED_CONDITIONS`; what others hide is not counted.
        """
        used, counts, evaluated = within or self.area, MarkCounts(), 0
        # A part at a time: all values at once may take hundreds of megabytes.
        for top in range(used.top, used.bottom + 1, _COUNTED_ROWS) if used is not None else ():
            assert used is not None
            area = Area(top, used.left, min(top + _COUNTED_ROWS - 1, used.bottom), used.right)
            found = self._marks(area, conditioned=evaluated < MAX_COUNTED_CONDITIONS)
            counts, evaluated = counts.added(found[0]), evaluated + found[1]
        return counts

    def currencies(self, area: Area) -> Mapping[int, list[str]]:
        """Return the currencies that number formats show, by the columns of an area."""
        if not self._index.currencies:
            return {}
        runs = self._decoded(self._index.paid, list[UnseenRun])
        return seen_currencies(runs, self._index.currencies, area)

    def hiding_areas(self) -> list[Area]:
        """Return the ranges of conditional formats that may hide texts."""
        return self._looks.hiding_areas()

    def _marks(self, area: Area, *, conditioned: bool) -> tuple[Marks, int]:
        """Return the marks of an area, and how many conditions were evaluated for them."""
        looks, places = self._looks, self._places
        runs = places.runs(area)
        computed = {(cell.row, cell.column): cell.error for cell, _ in self.facts(area)}
        covered = [each for each in self.merged_areas() if computed and overlaps(each, area)]
        if not (runs or looks.rich.cells or (looks.conditions and conditioned) or covered):
            return {}, 0
        rows = dict(self.rows(area))
        for row, _ in computed:
            rows.setdefault(row, [""] * (area.right - area.left + 1))
        filled = self.features.filled_areas
        found = SheetSight(area, rows, computed, looks, filled, self._known_value)
        rich = places.rich(rows)
        marks = found.marks(runs, rich, covered, conditioned=conditioned)
        return marks, found.evaluated

    @cached_property
    def _looks(self) -> SheetLooks:
        return self._decoded(self._index.looks, SheetLooks)

    @cached_property
    def _places(self) -> UnseenPlaces:
        runs = self._decoded(self._index.unseen, list[UnseenRun])
        return UnseenPlaces(runs, self._looks.rich.cells)

    def _known_value(self, row: int, column: int) -> Value | None:
        """Return the value of a cell, None where a formula's result, or an error, is not known."""
        value = self.value(row, column)
        if value == "" and any(True for _ in self.facts(Area(row, column, row, column))):
            return None
        return value

    def _formula(self, facts: FormulaFacts, batch: FormulaBatch, value: Value) -> Formula:
        if facts.text is None:
            return Formula("", facts.error, "missing")
        text = self._texts.text(facts, batch)
        # Errors and empty texts are read as no value, although both are stored results.
        stored = facts.is_empty_text or bool(facts.error) or value != ""
        state = result_state(text, is_stored=stored)
        # The file asks for a calculation every time (ca), even if the text shows no reason.
        if state == "current" and facts.is_recalculated:
            state = "momentary"
        return Formula(as_shown(text), facts.error, state)

    def _is_latest(self, row: int) -> bool:
        stretch = self._latest[0]
        return stretch is not None and stretch.top <= row <= stretch.bottom

    def _columns(self, stretch: PackedBlock) -> list[PackedColumn]:
        """Return a block's columns; the latest is cached, for islands lie side by side."""
        if self._latest[0] is not stretch:
            try:
                columns = unpack(self._sections.section(stretch.section))
            except msgspec.MsgspecError as fault:
                raise ShelfDamagedError from fault
            self._latest = (stretch, columns)
        return self._latest[1]

    def _decoded(self, section: FileSection, kind: type[T]) -> T:
        try:
            return msgspec.msgpack.decode(self._sections.section(section), type=kind)
        except msgspec.MsgspecError as fault:
            raise ShelfDamagedError from fault


def _within(ranges: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    return [(max(a, first), min(b, last)) for a, b in ranges if a <= last and b >= first]


def with_workbook(source: Source, work: Callable[["WorkbookReader"], T]) -> T:
    """Do some work with a workbook; once more, without its cache, if that is damaged.

    Raises:
        FileReadFailed: It is no workbook, is encrypted or damaged, or is too large.
    """
    try:
        with WorkbookReader(source) as book:
            return work(book)
    except ShelfDamagedError:
        # One retry is enough, because nothing is read from the shelf this time.
        with WorkbookReader(source, ignores_cache=True) as book:
            return work(book)


class WorkbookReader:
    """A workbook; a context manager.

    Args:
        source: The file.
        ignores_cache: Whether its cache is made anew.

    Raises:
        FileReadFailed: It is no workbook, is encrypted or damaged, or is too large.
    """

    def __init__(self, source: Source, *, ignores_cache: bool = False) -> None:
        self._source = source
        self._anew = ignores_cache
        self._open = ExitStack()
        self._package: Package | None = None
        self._values: BookValues | None = None
        self._shared: SharedFacts | None = None
        self.workbook = self._find_workbook()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def find(self, name: str) -> SheetEntry:
        """Return a sheet by its name, without regard to case; raises ValidationFailed."""
        return find_sheet(self.workbook, name)

    def sheet(self, part: SheetEntry) -> SheetReader:
        """Open a sheet, from the cache or from the file.

        Raises:
            FileReadFailed: It is damaged, or its used range is too large.
        """
        # By its place: two sheets may share a name, and a name may be any text.
        place = self._place(f"{self.workbook.sheets.index(part)}.sheet-4")
        if place is not None and not self._anew:
            # A cache that cannot be read never stands between a reader and the file: it is made
            # anew.
            with contextlib.suppress(OSError, ShelfDamagedError, msgspec.MsgspecError):
                sections = SectionFile.opened(place)
                try:
                    return SheetReader(part, _decoded(sections, PackedSheet), sections)
                except msgspec.MsgspecError:
                    sections.close()
                    raise
        package = self._opened_package()
        if self._shared is None:
            self._shared = read_shared(package)
        sections, index = build(package, part, self._shared, self._opened_values)
        if place is not None:
            write_sections(place, sections)
        return SheetReader(part, index, sections)

    def _place(self, name: str) -> Path | None:
        return None if self._source.shelf is None else self._source.shelf / name

    def _find_workbook(self) -> Workbook:
        """Return the workbook part, cached or read."""
        place = self._place("book")
        if place is not None and not self._anew:
            ignored = contextlib.suppress(OSError, ShelfDamagedError, msgspec.MsgspecError)
            with ignored, SectionFile.opened(place) as sections:
                return _decoded(sections, Workbook)
        package = self._opened_package()
        try:
            workbook = read_workbook(package)
            if not workbook.sheets:
                raise FileReadFailed(f"{self._source.name} is damaged: it has no sheets")
        # Called by `__init__`: no caller has the reader yet who could close the package.
        except BaseException:
            self._open.close()
            raise
        if place is not None:
            sections = SectionFile()
            sections.index = msgspec.msgpack.encode(workbook)
            write_sections(place, sections)
        return workbook

    def _opened_package(self) -> Package:
        if self._package is None:
            self._package = self._open.enter_context(Package(self._source))
        return self._package

    def _opened_values(self) -> BookValues:
        if self._values is None:
            opening = open_values(self._source, self._opened_package())
            self._values = self._open.enter_context(opening)
        return self._values


def _decoded(sections: SectionFile, kind: type[T]) -> T:
    return msgspec.msgpack.decode(sections.index, type=kind)
