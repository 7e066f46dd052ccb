"""Calculation of a workbook: results of formulas into the file, and nothing else of it.

TODAY and NOW stand for the moment that is given, in UTC, so that the same call made again writes
the same bytes.
"""

import gc
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Calculated, Calculation, Source
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, parse_area
from kbd_xlsx.calculation.operand_ranges import Place
from kbd_xlsx.comparison.shared_texts import SharedTexts
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.chart_points import keep_charts
from kbd_xlsx.parts.cells import AreaIndex, CellEdit, Result
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stored_cells import StoredCells
from kbd_xlsx.reader.fallback_parser import moment
from kbd_xlsx.results.engines import agreed, ask_engines
from kbd_xlsx.results.inputs import InputReader, find_empty, find_fractions, is_fraction
from kbd_xlsx.results.number_texts import find_number_texts
from kbd_xlsx.results.plan import MOMENT, Reason, calls_of, plan_calculation, tells_time
from kbd_xlsx.results.report import tell
from kbd_xlsx.results.small_book import write_small_book
from kbd_xlsx.values import stored_text

__all__ = ["CalculationRun", "calculate", "shared_texts_part"]

_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_MAX_FUNCTIONS = 3
_SMALL_BOOK = "calculation.xlsx"
_DAY_US = 86_400_000_000
_EPOCH = 25_569
"""Days from 1899-12-30, day 0 of a sheet, to 1970."""

_FROM_1904 = 1_462
"""Days from there to 1904, day 0 of other workbooks."""

_NO_CELLS = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b"<sheetData/></worksheet>"
)
_UNSAFE = Reason("its sheet, or one that it reads, is damaged")
_ROUNDED = Reason("the workbook calculates with the digits that it shows")
_HIDDEN_ROW = re.compile(rb"<(?:[\w.-]+:)?row\s[^>]*\bhidden=[\"'](?:1|true)")
_LEAVES_OUT_HIDDEN = re.compile(r"\b(?:SUBTOTAL|AGGREGATE)\(", re.IGNORECASE)


def calculate(source: Source, wanted: Calculation, target: Path) -> Calculated:
    """Write a workbook with the results of its formulas.

    Args:
        source: The workbook.
        wanted: Which formulas, and the moment that it is.
        target: Where to, in a folder of its own; nothing is written where no result is new.

    Raises:
        FileReadFailed: The workbook is damaged.
        ValidationFailed: It cannot be changed.
    """
    # The collector of cycles would walk again and again through records that only grow.
    collecting = gc.isenabled()
    gc.disable()
    try:
        with Package(source) as package:
            run = CalculationRun(BookEdit.opened(package), wanted, target)
            results = run.results()
            if results:
                run.store(results)
            return tell(run.plan, results, run.titles, run.shown, run.empty)
    finally:
        if collecting:
            gc.enable()


class CalculationRun:
    """One calculation of one workbook.

    Attributes:
        book: The workbook.
        plan: What is worked out, and what is not.
        empty: Formulas that were written and the empty cells that they read.
    """

    def __init__(self, book: BookEdit, wanted: Calculation, target: Path) -> None:
        self.book, self._wanted, self._target = book, wanted, target
        self._parts = {title: book.rewriting.read(part) for title, part in book.worksheets()}
        self._formulas = book.formulas(self._parts)
        self._unsafe: set[int] = set()
        self._cells = {
            title: self._stored(number, title, data)
            for number, (title, data) in enumerate(self._parts.items())
        }
        self._stored_in: dict[int, SheetPart] = {}
        self.empty: dict[Place, str] = {}
        self.plan = plan_calculation(
            self._formulas, _areas(wanted.places), list(self._cells.values())
        )

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the sheets that have cells."""
        return self._formulas.titles

    def results(self) -> dict[Place, Result]:
        """Return the results that both engines agree on."""
        plan = self.plan
        self._leave_out_unsafe()
        self._leave_out_hidden()
        texts = self._open_texts()
        stored = plan.stored
        if stored.isdisjoint(texts):
            return {}
        reader = InputReader(
            self._formulas, self._cells, self._texts, from_1904=self.book.book.from_1904
        )
        sheets = reader.sheets(plan, texts)
        self.empty = find_empty(plan, sheets, self._written())
        is_rounded = self.book.book.is_precision_as_displayed
        if is_rounded:
            plan.leave_out(dict.fromkeys(find_fractions(sheets), _ROUNDED))
            texts = self._open_texts()
        small = self._target.with_name(_SMALL_BOOK)
        write_small_book(small, sheets, from_1904=self.book.book.from_1904)
        answers = list(ask_engines(small, self.titles, list(texts)))
        small.unlink()
        found = {place: agreed(one, other) for place, one, other in answers}
        doubts = {
            place: _doubt(texts[place], one, other)
            for place, one, other in answers
            if found[place] is None
        }
        doubts |= find_number_texts(plan, sheets, texts, found)
        if is_rounded:
            fractions = (p for p, answer in found.items() if answer and is_fraction(answer))
            doubts |= dict.fromkeys(fractions, _ROUNDED)
        plan.leave_out(doubts)
        return {
            place: answer
            for place, answer in found.items()
            if answer is not None and place in stored and place not in plan.reasons
        }

    def _open_texts(self) -> dict[Place, str]:
        """Return the formulas that may have a result, with the moment that it is."""
        plan = self.plan
        return {
            place: MOMENT.sub(self._moment, text) if tells_time(plan.shapes[place]) else text
            for place, text in plan.texts.items()
            if place not in plan.reasons
        }

    def _written(self) -> Iterator[Place]:
        """Yield the places of formulas that were written just now."""
        numbers = {title: number for number, title in enumerate(self.titles)}
        indexes = {
            numbers[title]: AreaIndex(areas)
            for title, areas in _areas(self._wanted.written).items()
            if title in numbers
        }
        for place in self.plan.wanted:
            index = indexes.get(place[0])
            if index is not None and index.at(place[1], place[2]) is not None:
                yield place

    @cached_property
    def _texts(self) -> SharedTexts:
        return SharedTexts(self.book.rewriting.package, shared_texts_part(self.book))

    def _moment(self, found: re.Match[str]) -> str:
        """Return the moment in place of TODAY() and NOW(), a text as it is."""
        if found[1] is None:
            return found[0]
        days, rest = divmod(self._wanted.now_us, _DAY_US)
        day = days + _EPOCH - (_FROM_1904 if self.book.book.from_1904 else 0)
        if found[1].upper() == "TODAY":
            return str(day)
        # To the second, as sheets show it.
        return repr(day + (rest // 1_000_000) / 86_400)

    def _stored(self, number: int, title: str, data: bytes) -> StoredCells:
        """Return the cells of a sheet, none of one that is not safe to change."""
        try:
            return StoredCells(data, title)
        except (FileReadFailed, ValidationFailed):
            self._unsafe.add(number)
            return StoredCells(_NO_CELLS, title)

    def _leave_out_unsafe(self) -> None:
        """Leave out formulas of sheets whose cells cannot be told for sure, and their readers."""
        if not self._unsafe:
            return
        sheets = {
            place: (place[0], *(cells[0] for cells in self.plan.reads[place]))
            for place in self.plan.texts
            if place not in self.plan.reasons
        }
        self.plan.leave_out(
            {place: _UNSAFE for place, of in sheets.items() if not self._unsafe.isdisjoint(of)}
        )

    def _leave_out_hidden(self) -> None:
        """Leave out subtotals of sheets with hidden rows: which of these count, a filter says."""
        shapes = {
            shape for shape in set(self.plan.shapes.values()) if _LEAVES_OUT_HIDDEN.search(shape)
        }
        if not shapes:
            return
        hidden = {
            number
            for number, data in enumerate(self._parts.values())
            if _HIDDEN_ROW.search(data) is not None
        }
        reason = Reason("it leaves out rows that are hidden", "SUBTOTAL")
        self.plan.leave_out(
            {
                place: reason
                for place, shape in self.plan.shapes.items()
                if shape in shapes
                and place not in self.plan.reasons
                and any(cells[0] in hidden for cells in self.plan.reads[place])
            }
        )

    def shown(self, place: Place, result: Result) -> str:
        """Return a stored result as people read it: a number in a cell that shows dates as one."""
        sheet, row, column = place
        if result.kind == "boolean":
            return "TRUE" if result.text == "1" else "FALSE"
        # Results change no style.
        style = self._stored_in[sheet].style_at(row, column)
        if result.kind != "number" or not self.book.styles.is_date(style):
            return result.text
        return str(moment(float(result.text), "moment", from_1904=self.book.book.from_1904))

    def store(self, results: Mapping[Place, Result]) -> None:
        """Write the workbook with results."""
        places: dict[str, list[Area]] = {}
        for (sheet, row, column), answer in results.items():
            if sheet not in self._stored_in:
                self._stored_in[sheet] = self.book.sheet(self.titles[sheet])
            self._stored_in[sheet].set(row, column, CellEdit(result=_stored(answer)))
            places.setdefault(self.titles[sheet], []).append(Area(row, column, row, column))
        self.book.results.renew(places)
        keep_charts(self.book)
        self.book.save(self._target, only_results=True)


def shared_texts_part(book: BookEdit) -> str:
    """Return the part of the texts that cells share, "" if there is none."""
    targets = (r.target for r in book.rewriting.relations(book.main) if r.kind == "sharedStrings")
    return next((target for target in targets if target in book.rewriting), "")


def _areas(places: Iterable[tuple[str, str]]) -> dict[str, list[Area]]:
    found: dict[str, list[Area]] = {}
    for sheet, text in places:
        found.setdefault(sheet, []).append(parse_area(text, _WHOLE) if text else _WHOLE)
    return found


def _stored(result: Result) -> Result:
    if result.kind != "text":
        return result
    return Result("text", stored_text(result.text, "a result"))


def _doubt(text: str, one: Result | None, other: Result | None) -> Reason:
    texts = {result.text for result in (one, other) if result is not None}
    if "#CIRC!" in texts:
        return Reason("it refers to itself", is_ring=True)
    functions = ", ".join(sorted(calls_of(text))[:_MAX_FUNCTIONS])
    if None in (one, other) or "#NAME?" in texts:
        return Reason("not all engines here know it", functions)
    return Reason("the engines here differ", functions)
