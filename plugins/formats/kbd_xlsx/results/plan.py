"""Plan of a calculation: the formulas to work out, what they read, and what no engine may try.

A formula that is asked for may read others without a stored result; these are worked out as well,
and not stored. All other formulas count as the results that they have.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.calculation.array_use import array_use
from kbd_xlsx.calculation.book import BookFormula, FormulaBook
from kbd_xlsx.calculation.dependents import SheetIndex
from kbd_xlsx.calculation.functions import known_name
from kbd_xlsx.calculation.operand_ranges import Cells, Place
from kbd_xlsx.calculation.stale import SpillRange
from kbd_xlsx.comparison.formula_texts import SharedText
from kbd_xlsx.parts.cells import AreaIndex
from kbd_xlsx.parts.stored_cells import StoredCells
from kbd_xlsx.results.references import PlainReferences

__all__ = [
    "MOMENT",
    "CalculationPlan",
    "ReadCells",
    "Reason",
    "calls_of",
    "plan_calculation",
    "shape_of",
    "tells_time",
]

MAX_WORK = 400_000_000
"""Cells that the formulas of one calculation may read, each as often as it is read: several
seconds of both engines."""

MAX_BESIDES = 50_000
"""Formulas that are worked out though nobody asked: in one go they cost some seconds."""

MAX_DEPTH = 80
"""Brackets in brackets; Excel takes 64 functions in one another."""

_UNSURE = "engines agree on results of it that are not those of Excel"
_FOR_EACH = "it is called for each cell of a range, where engines may be wrong"
_UNFIT = {
    "CELL": "what it tells depends on the program",
    "CUBEKPIMEMBER": "it asks a database",
    "CUBEMEMBER": "it asks a database",
    "CUBEMEMBERPROPERTY": "it asks a database",
    "CUBERANKEDMEMBER": "it asks a database",
    "CUBESET": "it asks a database",
    "CUBESETCOUNT": "it asks a database",
    "CUBEVALUE": "it asks a database",
    "DCOUNT": _UNSURE,
    "DCOUNTA": _UNSURE,
    "GETPIVOTDATA": "it reads a pivot table",
    "HYPERLINK": "it is a link",
    "INDIRECT": "which cells it reads shows only while it is calculated",
    "INFO": "what it tells depends on the program",
    "LOOKUP": _UNSURE,
    "MODE": _UNSURE,
    "RAND": "it is another number each time",
    "RANDARRAY": "it is another number each time",
    "RANDBETWEEN": "it is another number each time",
    "RTD": "it asks another program",
    "STOCKHISTORY": "it asks the network",
    "SUMX2MY2": _UNSURE,
    "SUMX2PY2": _UNSURE,
    "SUMXMY2": _UNSURE,
    "WEBSERVICE": "it asks the network",
}
"""Functions whose result no engine can give for a file at rest, and why."""

_NESTED = ("SUBTOTAL", "AGGREGATE")
_CODE = re.compile(r"""\"(?:[^"]|"")*"|'(?:[^']|'')*'|([A-Za-z_][A-Za-z0-9_.]*)\(""")
_OTHER_BOOK = re.compile(r"\[\d+\](?=[^\[\]]*!)|\[[^\[\]]*\.\w{2,4}\]")
_SHEETS = re.compile(r"(?:'[^']*:[^']*'|[\w.]+:[\w.]+)!")
_EARLY_DATE = re.compile(r"(?<![\w.])DATE\(\s*(?:1900|0)\s*,", re.IGNORECASE)
_NUMBER = re.compile("[1-9][0-9]*(?![0-9A-Za-z_(])")
"""Numbers but their zeros, which formats of TEXT are made of, and those in a function's name."""

MOMENT = re.compile(r'"(?:[^"]|"")*"|(?<![\w.])(TODAY|NOW)\(\s*\)', re.IGNORECASE)
"""A text, or a call that tells the time, which is the group."""

_TEXT_CALL = re.compile(r"(?<![\w.])TEXT\(", re.IGNORECASE)
_TEXT_FORMAT = re.compile(r',\s*"([^"]*)"\s*\)')
_NEUTRAL = re.compile(
    r"(?:#,##)?[0#]+(?:\.[0#]+)?%?|@|0+E\+0+"
    r"|(?i:(?!.*(?:mmm|ddd))(?:(?:yyyy|yy|mm|m|dd|d|hh|h|ss)[-/.: ]?)+)"
)
"""Formats of TEXT without names of days and months, which are in a language, and without a comma
but as it stands in #,##0: elsewhere it may be a decimal point."""

_STRING = re.compile(r'"(?:[^"]|"")*"')


class Reason(msgspec.Struct, frozen=True):
    """Reason for which a formula has no result.

    Args:
        text: As a sentence's end: "its result is another number each time".
        function: The function that is to blame; "" for none.
        cause: The cell that is, where it is another one.
        is_ring: Whether the formula leads to itself.
    """

    text: str
    function: str = ""
    cause: Place | None = None
    is_ring: bool = False


_TOO_MUCH = Reason("there is too much to calculate here at once")
_ARRAY = Reason("it is an array formula, which fills several cells")
_MANY = Reason("it gives more than one cell")
_IN_LINE = Reason("of a range it takes the cell in line with it")
_UNCLEAR = Reason("which cells of a range it takes cannot be told")
_NO_NAME = Reason("it uses a name that stands for no cells here, or for others in each cell")
_NOTHING: Mapping[Place, Area] = MappingProxyType({})


class ReadCells:
    """Cells of one sheet that formulas read, by their columns."""

    def __init__(self) -> None:
        self._columns: dict[int, list[list[int]]] = {}
        self._areas: set[tuple[int, int, int, int]] = set()

    def add(self, top: int, left: int, bottom: int, right: int) -> None:
        """Add a rectangle."""
        if left != right:
            # Many formulas read the same table.
            self._areas.add((top, left, bottom, right))
            return
        stretches = self._columns.get(left)
        if stretches is None:
            self._columns[left] = [[top, bottom]]
            return
        # Most often the next cell below.
        last = stretches[-1]
        if last[0] <= top <= last[1] + 1:
            last[1] = max(last[1], bottom)
        else:
            stretches.append([top, bottom])

    def stretches(self) -> dict[int, list[tuple[int, int]]]:
        """Return the first and last rows of what is read of each column, in order and apart."""
        columns = {
            column: [(first, last) for first, last in found]
            for column, found in self._columns.items()
        }
        for top, left, bottom, right in self._areas:
            for column in range(left, right + 1):
                columns.setdefault(column, []).append((top, bottom))
        return {column: _merged(found) for column, found in columns.items()}


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    stretches.sort()
    merged = [stretches[0]]
    for first, last in stretches[1:]:
        if first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return merged


class CalculationPlan:
    """Formulas to work out and the cells that they read.

    Attributes:
        texts: The formulas by their places, without "=", those of shared ones of their own.
        shapes: Of each of these its shape, as `shape_of` returns it.
        wanted: Of these, whose results are asked for.
        besides: Those that have no result, and are not asked for.
        untried: How many more of those there are than can be worked out in one go.
        reasons: Why some of the others are left out.
        inputs: The cells that are read, by the number of their sheet.
        reads: What each formula reads.
    """

    def __init__(self) -> None:
        self.texts: dict[Place, str] = {}
        self.shapes: dict[Place, str] = {}
        self.wanted: set[Place] = set()
        self.besides: set[Place] = set()
        self.untried = 0
        self.reasons: dict[Place, Reason] = {}
        self.inputs: dict[int, ReadCells] = {}
        self.reads: dict[Place, Sequence[Cells]] = {}

    @property
    def stored(self) -> set[Place]:
        """The formulas whose results go into the file."""
        return self.wanted | self.besides

    def read(self, cells: Iterable[Cells]) -> int:
        """Note that a formula reads cells; return how many these are."""
        count = 0
        for sheet, top, left, bottom, right in cells:
            known = self.inputs.get(sheet)
            if known is None:
                known = self.inputs[sheet] = ReadCells()
            known.add(top, left, bottom, right)
            count += (bottom - top + 1) * (right - left + 1)
        return count

    def leave_out(
        self, found: Mapping[Place, Reason], filled: Mapping[Place, Area] = _NOTHING
    ) -> None:
        """Leave out formulas, and all that depend on them.

        Args:
            found: Why, by their places.
            filled: The cells that results of some of them fill, or may fill.
        """
        if not found:
            return
        indexes: dict[int, SheetIndex] = {}
        places = list(self.texts)
        for number, place in enumerate(places):
            for sheet, *read in self.reads[place]:
                indexes.setdefault(sheet, SheetIndex()).add(number, *read)
        self.reasons.update(found)
        waiting = list(found)
        while waiting:
            cause = waiting.pop()
            sheet, row, column = cause
            if sheet not in indexes:
                continue
            sides = filled.get(cause) or Area(row, column, row, column)
            for number in indexes[sheet].take(sides.top, sides.left, sides.bottom, sides.right):
                place = places[number] if number >= 0 else cause
                known = self.reasons.get(place)
                if known is None:
                    waiting.append(place)
                # What reads a cell without a result is not to blame itself.
                is_told = known is not None and (known.cause is not None or known.is_ring)
                if place != cause and not is_told:
                    self.reasons[place] = Reason("it reads a cell without a result", cause=cause)


def plan_calculation(
    book: FormulaBook, wanted: Mapping[str, Sequence[Area]], sheets: Sequence[StoredCells]
) -> CalculationPlan:
    """Plan a calculation of what is asked for, and of what has no result.

    Args:
        book: The workbook's formulas.
        wanted: The cells whose formulas are worked out, by the titles of their sheets.
        sheets: The cells of each sheet: where they end, whole columns end.

    Raises:
        FileReadFailed: A sheet is damaged.
    """
    planner = _Planner(book, sheets)
    plan = planner.plan
    # In the order of the sheets: what lies together is read together.
    asked = sorted(planner.formulas.within(wanted), reverse=True)
    plan.wanted = set(asked)
    if not planner.take(asked, MAX_WORK):
        plan.reasons = dict.fromkeys(plan.wanted, _TOO_MUCH)
        return plan
    missing = sorted(place for place in planner.formulas.open() if place not in plan.wanted)
    for place in missing[:MAX_BESIDES]:
        if not planner.take([place], MAX_WORK // 2):
            break
        plan.besides.add(place)
    plan.untried = len(missing) - len(plan.besides)
    planner.leave_out_unfit()
    return plan


class _Planner:
    """What takes formulas into a plan.

    Attributes:
        plan: The plan.
        formulas: Those of the book.
    """

    def __init__(self, book: FormulaBook, sheets: Sequence[StoredCells]) -> None:
        self.plan = CalculationPlan()
        self.formulas = _Formulas(book)
        self._references = PlainReferences(book.titles, book.names, book.tables)
        self._sheets = sheets
        self._unfit: dict[Place, Reason] = {}
        self._work = 0

    def take(self, places: Iterable[Place], most_work: int) -> bool:
        """Take formulas, with those that they need; False where it is too much work in all."""
        plan, waiting = self.plan, list(places)
        while waiting:
            place = waiting.pop()
            if place in plan.texts:
                continue
            formula, text = self.formulas.get(place)
            own = shape = _shape(text)
            plain = text
            reason = _unfit(formula, text, shape)
            if reason is None:
                written = self._references.written_out(text, place)
                if written is not None and written != text:
                    plain, shape = written, _shape(written)
                is_array = formula.area is not None
                reason = _NO_NAME if written is None else _unfit_ranges(shape, is_array=is_array)
            plan.texts[place], plan.shapes[place] = plain, shape
            if reason is not None:
                self._unfit[place] = reason
                plan.reads[place] = ()
                continue
            cells = tuple(
                dict.fromkeys([_cut(each, self._sheets) for each in formula.meaning.cells])
            )
            plan.reads[place] = cells
            self._work += plan.read(cells)
            if self._work > most_work:
                return False
            waiting += self.formulas.open_within(cells, with_nested=_is_nested(own))
        return True

    def leave_out_unfit(self) -> None:
        """Leave out what no engine may try."""
        # What such a formula fills is not in the file yet, so who reads it would read empty cells.
        unfit = self._unfit | dict.fromkeys(self.formulas.growing, _ARRAY)
        self.plan.leave_out(unfit, self.formulas.filled())


class _Formulas:
    """The formulas of a book by their places.

    Attributes:
        growing: Dynamic arrays without a stored result.
    """

    def __init__(self, book: FormulaBook) -> None:
        self._titles = book.titles
        self._known: dict[Place, BookFormula] = {}
        self.growing: list[Place] = []
        self._masters: dict[tuple[int, str], SharedText] = {}
        open_rows: dict[tuple[int, int], list[int]] = {}
        nested_rows: dict[tuple[int, int], list[int]] = {}
        for formula in book.formulas():
            cell = formula.cell
            self._known[formula.sheet, cell.row, cell.column] = formula
            if cell.group is not None and cell.text:
                master = SharedText(cell.text, cell.row, cell.column)
                self._masters[formula.sheet, cell.group] = master
            column = formula.sheet, cell.column
            if formula.is_growing and not cell.is_stored:
                self.growing.append((formula.sheet, cell.row, cell.column))
            if not cell.is_stored:
                open_rows.setdefault(column, []).append(cell.row)
            if _NESTED[0] in cell.text or _NESTED[1] in cell.text:
                nested_rows.setdefault(column, []).append(cell.row)
        self._open = {key: sorted(rows) for key, rows in open_rows.items()}
        self._nested = {key: sorted(rows) for key, rows in nested_rows.items()}

    def filled(self) -> dict[Place, Area]:
        """Return the cells that arrays fill, and that growing ones may fill."""
        areas = {
            place: formula.area or Area(place[1], place[2], place[1], place[2])
            for place, formula in self._known.items()
            if formula.area is not None or formula.is_growing
        }
        growing = [place for place in areas if self._known[place].is_growing]
        if growing:
            room = SpillRange(growing, self._known)
            areas |= {place: room.of(place, areas[place]) for place in growing}
        return areas

    def get(self, place: Place) -> tuple[BookFormula, str]:
        """Return a formula and its text."""
        formula = self._known[place]
        cell = formula.cell
        if cell.text or cell.group is None:
            return formula, cell.text
        master = self._masters.get((formula.sheet, cell.group)) or SharedText("", 0, 0)
        return formula, master.at(cell.row, cell.column).removeprefix("=")

    def open(self) -> Iterator[Place]:
        """Yield the places of the formulas without a stored result."""
        return (place for place, formula in self._known.items() if not formula.cell.is_stored)

    def within(self, wanted: Mapping[str, Sequence[Area]]) -> Iterator[Place]:
        """Yield the places of the formulas in some areas."""
        folded = {title.casefold(): AreaIndex(areas) for title, areas in wanted.items()}
        by_number = [folded.get(title.casefold()) for title in self._titles]
        for place in self._known:
            index = by_number[place[0]]
            if index is not None and index.at(place[1], place[2]) is not None:
                yield place

    def open_within(self, areas: Iterable[Cells], *, with_nested: bool) -> Iterator[Place]:
        """Yield the places of formulas without a result in some areas.

        Args:
            areas: The areas.
            with_nested: Also of those that a subtotal leaves out: it has to see them as formulas.
        """
        for sheet, top, left, bottom, right in areas:
            for found in (self._open, self._nested) if with_nested else (self._open,):
                if left == right:
                    columns = [left] if (sheet, left) in found else []
                elif right - left > len(found):
                    columns = [c for s, c in found if s == sheet and left <= c <= right]
                else:
                    columns = [c for c in range(left, right + 1) if (sheet, c) in found]
                for column in columns:
                    rows = found[sheet, column]
                    first, last = bisect_left(rows, top), bisect_left(rows, bottom + 1)
                    yield from ((sheet, row, column) for row in rows[first:last])


def _unfit(formula: BookFormula, text: str, shape: str) -> Reason | None:
    """Return why no engine may try a formula of a shape, None if one may."""
    if formula.cell.kind == "dataTable":
        return Reason("it is a data table")
    if not text:
        return Reason("its text cannot be read")
    if formula.is_growing or not _is_single(formula.area):
        return _ARRAY
    if _names_date(shape) and _EARLY_DATE.search(text):
        return Reason("programs count the first days of 1900 in two ways", "DATE")
    reason = _unfit_shape(shape)
    if reason is None and formula.meaning.reads_all:
        return Reason("what it reads cannot be told")
    return reason


def _is_single(area: Area | None) -> bool:
    return area is None or (area.top, area.left) == (area.bottom, area.right)


@lru_cache(maxsize=4_096)
def _unfit_ranges(shape: str, *, is_array: bool) -> Reason | None:
    """Return why no engine may try a formula for the ranges in it: engines take them as arrays.

    Args:
        shape: The formula's, with names written out.
        is_array: Whether it is an array formula.
    """
    use = array_use(shape, _is_no_range)
    if use is None:
        return _UNCLEAR
    if use.gives_many:
        return _MANY
    if use.is_needed and not is_array:
        return _IN_LINE
    return Reason(_FOR_EACH, min(use.lifted)) if use.lifted else None


def _is_no_range(_: str) -> bool:
    return False


def shape_of(text: str) -> str:
    """Return a formula with other numbers: those that were filled down a column differ in them."""
    return _NUMBER.sub("1", text)


def _shape(text: str) -> str:
    """Return a formula's shape, one string for all formulas that have it."""
    return _same(shape_of(text))


@lru_cache(maxsize=4_096)
def _same(shape: str) -> str:
    return shape


@lru_cache(maxsize=4_096)
def _names_date(shape: str) -> bool:
    return "DATE" in shape.upper()


@lru_cache(maxsize=4_096)
def _is_nested(shape: str) -> bool:
    """Tell whether a formula has a function that leaves out the results of its own kind."""
    return any(name in shape.upper() for name in _NESTED)


@lru_cache(maxsize=4_096)
def tells_time(shape: str) -> bool:
    """Tell whether a formula of a shape asks what time it is."""
    return any(found[1] is not None for found in MOMENT.finditer(shape))


@lru_cache(maxsize=4_096)
def _unfit_shape(text: str) -> Reason | None:
    """Return why no engine may try a formula, whatever its numbers are."""
    code = _STRING.sub('""', text)
    if _depth(code) > MAX_DEPTH:
        # An engine follows brackets by calling itself, until its stack is full.
        return Reason("it is nested too deep")
    if _OTHER_BOOK.search(code):
        return Reason("it reads another workbook")
    if _SHEETS.search(code):
        return Reason("it reads the same cells of several sheets")
    calls = calls_of(text)
    for name in sorted(calls):
        if name in _UNFIT:
            return Reason(_UNFIT[name], name)
    if "TEXT" in calls and not _is_text_neutral(text):
        return Reason("its text hangs on the language of the program", "TEXT")
    return None


def _depth(code: str) -> int:
    deepest = depth = 0
    for sign in code:
        if sign in "({":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in ")}":
            depth -= 1
    return deepest


def _is_text_neutral(text: str) -> bool:
    """Tell whether what TEXT writes is the same in programs of all languages, as far as one can."""
    found = _TEXT_FORMAT.findall(text)
    return len(found) == len(_TEXT_CALL.findall(text)) and all(map(_NEUTRAL.fullmatch, found))


def calls_of(text: str) -> set[str]:
    """Return the functions that a formula calls, without the prefixes of newer ones."""
    return {known_name(found[1]) for found in _CODE.finditer(text) if found[1] is not None}


def _cut(cells: Cells, sheets: Sequence[StoredCells]) -> Cells:
    """Cut cells that reach to the end of a sheet where its cells end."""
    sheet, top, left, bottom, right = cells
    if bottom < MAX_ROW and right < MAX_COLUMN:
        return cells
    if bottom == MAX_ROW:
        bottom = max(top, sheets[sheet].last_row)
    if right == MAX_COLUMN:
        right = max(left, sheets[sheet].last_column)
    return sheet, top, left, bottom, right
