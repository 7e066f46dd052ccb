"""Which formulas depend on cells, worked out with openpyxl's tokenizer and nothing of kbd's.

Two answers: the cells whose stored result an edit may cost (generous: whole tables, and every
formula that is volatile or names what nobody knows), and those whose stored result it must
cost, because they refer to a changed cell plainly and so show an old result if they keep it.

A dynamic array that is calculated again may fill more cells than before. It may cost the results
of all that reads below and right of it, up to the next formula of its own column and row; it must
cost those that read the empty cells next to it, which are the first that it would fill.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from openpyxl.formula import Tokenizer
from openpyxl.formula.tokenizer import Token, TokenizerError
from openpyxl.utils import FORMULAE

from judging.book import Book, TableArea
from judging.cells import Cell
from judging.places import MAX_COLUMN, MAX_ROW, Box, Place, box, name
from judging.spills import Spot, free_beside, is_dynamic, room_of

__all__ = ["Affected", "affected"]

Where = Spot | tuple[str, Box]
"""A cell, or all cells of a rectangle."""

VOLATILE = re.compile(
    r"\b(NOW|TODAY|RAND|RANDBETWEEN|RANDARRAY|OFFSET|INDIRECT|CELL|INFO|RTD|CUBE\w+"
    r"|EVALUATE|GET\.\w+|CALL|REGISTER\.ID)\s*\(",
    re.IGNORECASE,
)
_CALL = re.compile(r"([A-Za-z_][\w.]*)\(")
_CROSSING = re.compile(r"[A-Z]\$?\d+ +\$?[A-Z]{1,3}\$?\d", re.IGNORECASE)
_NEWER = ("AGGREGATE",)
_SHEETS = re.compile(r"^(?:'((?:[^']|'')+)'|([^'!]+))!(.+)$", re.DOTALL)
_TABLE = re.compile(r"^([^\[\]!]*)\[(.*)\]$", re.DOTALL)


class Affected(NamedTuple):
    """Cells with formulas, or within the range of one."""

    may: frozenset[Spot]
    must: frozenset[Spot]


class _Reach(NamedTuple):
    """What a formula refers to; `sure` where nothing else can change its result."""

    areas: tuple[tuple[str, Box], ...]
    loose: tuple[tuple[str, Box], ...]
    unsure: bool


@cache
def _operands(formula: str) -> tuple[str, ...] | None:
    """The references and names in a formula; None if it cannot be taken apart."""
    try:
        tokens = Tokenizer("=" + formula).items
    except (TokenizerError, IndexError):
        return None
    return tuple(t.value for t in tokens if t.type == Token.OPERAND and t.subtype == Token.RANGE)


@cache
def _is_doubtful(formula: str) -> bool:
    """Whether a formula may read other cells than it names: by a function, or one nobody knows."""
    called = {call.upper() for call in _CALL.findall(formula)}
    return bool(VOLATILE.search(formula)) or any(
        call not in FORMULAE and call not in _NEWER and not call.startswith("_XL")
        for call in called
    )


class _Reader:
    """Resolves what formulas of a workbook name."""

    def __init__(self, book: Book) -> None:
        self.titles = [sheet.title.lower() for sheet in book.sheets]
        self.names = book.names
        self.tables = {table.name: table for table in book.tables}

    def reach(self, formula: str, sheet: str, at: Place, depth: int = 0) -> _Reach:
        operands = _operands(formula)
        if operands is None or depth > 20:
            return _Reach((), (), True)
        areas: list[tuple[str, Box]] = []
        loose: list[tuple[str, Box]] = []
        unsure = _is_doubtful(formula)
        for operand in operands:
            found = self._operand(operand, sheet, at, depth)
            areas += found.areas
            loose += found.loose
            unsure |= found.unsure
        # What operators on references reach (A1:INDEX(…), B1:C1 C1:C5) is not worked out.
        unsure |= ":INDEX" in formula.upper() or "):" in formula or bool(_CROSSING.search(formula))
        return _Reach(tuple(areas), tuple(loose), unsure)

    def _operand(self, operand: str, sheet: str, at: Place, depth: int) -> _Reach:
        if operand.startswith("["):
            table = self._table_at(sheet, at)
            if table and not re.match(r"\[\d+\]", operand):
                return self._structured(table, operand[1:-1], at)
            return _Reach((), (), False)
        sheets, rest = [sheet], operand
        if match := _SHEETS.match(operand):
            prefix = (match[1] or match[2]).replace("''", "'").lower()
            if "[" in prefix:
                return _Reach((), (), False)
            sheets, rest = self._between(prefix), match[3]
        if rest.startswith("#"):
            return _Reach((), (), False)
        try:
            area = box(rest.rstrip("#"))
        except ValueError:
            return self._named(rest, sheets, sheet, at, depth)
        return _Reach(tuple((title, area) for title in sheets), (), rest.endswith("#"))

    def _between(self, prefix: str) -> list[str]:
        if prefix in self.titles:
            return [prefix]
        first, _, last = prefix.partition(":")
        if first in self.titles and last in self.titles:
            start, end = sorted((self.titles.index(first), self.titles.index(last)))
            return self.titles[start : end + 1]
        return []

    def _named(self, rest: str, sheets: list[str], sheet: str, at: Place, depth: int) -> _Reach:
        if (match := _TABLE.match(rest)) and (table := self.tables.get(match[1].lower())):
            return self._structured(table, match[2], at)
        if table := self.tables.get(rest.lower()):
            return self._structured(table, "", at)
        for scope in (*sheets, sheet, ""):
            if (text := self.names.get((rest.lower(), scope))) is not None:
                found = self.reach(text, scope or sheet, at, depth + 1)
                # Relative references in names shift with the cell: not sure, unless all are fixed.
                shifts = re.search(r"(?<![$A-Za-z0-9_])[A-Za-z]{1,3}\$?\d+\b", text)
                sure = () if shifts else found.areas
                return _Reach(sure, found.areas, found.unsure or bool(shifts))
        return _Reach((), (), unsure=True)

    def _table_at(self, sheet: str, at: Place) -> TableArea | None:
        for table in self.tables.values():
            if table.sheet.lower() == sheet and table.area.holds(at):
                return table
        return None

    def _structured(self, table: TableArea, inner: str, at: Place) -> _Reach:
        """A structured reference: exactly where it is a plain column, loosely the whole table."""
        sheet, area = table.sheet.lower(), table.area
        top, bottom = area.top + table.header_rows, area.bottom - table.totals_rows
        loose = ((sheet, area),)
        column = inner.strip()
        if column.startswith("@"):
            column, top, bottom = column[1:].strip("[]"), at.row, at.row
        elif match := re.fullmatch(r"\[#This Row\],\[([^\[\]]+)\]", column):
            column, top, bottom = match[1], at.row, at.row
        if not column:
            return _Reach(((sheet, Box(top, area.left, bottom, area.right)),), loose, False)
        columns = [name.lower() for name in table.columns]
        if column.lower() not in columns or top > bottom:
            return _Reach((), loose, False)
        left = area.left + columns.index(column.lower())
        return _Reach(((sheet, Box(top, left, bottom, left)),), loose, False)


class _Graph:
    """Formulas by what they refer to."""

    def __init__(self) -> None:
        self.single: dict[Spot, list[int]] = defaultdict(list)
        self.ranges: dict[str, dict[Box, list[int]]] = defaultdict(lambda: defaultdict(list))

    def add(self, number: int, areas: Iterable[tuple[str, Box]]) -> None:
        for sheet, area in areas:
            if area.top == area.bottom and area.left == area.right:
                self.single[sheet, Place(area.top, area.left)].append(number)
            else:
                self.ranges[sheet][area].append(number)

    def close(self, start: Iterable[Where], spread: Callable[[int], Iterator[Where]]) -> set[int]:
        """The formulas that start reaches; each range is looked at until it is hit."""
        found: set[int] = set()
        pending = list(start)
        seen = set(pending)
        while pending:
            what = pending.pop()
            hit = self._within(*what) if isinstance(what[1], Box) else self._at((what[0], what[1]))
            for number in hit:
                if number not in found:
                    found.add(number)
                    news = [what for what in spread(number) if what not in seen]
                    seen.update(news)
                    pending += news
        return found

    def _at(self, spot: Spot) -> list[int]:
        sheet, cell = spot
        hit = list(self.single.get(spot, ()))
        for area in [area for area in self.ranges[sheet] if area.holds(cell)]:
            hit += self.ranges[sheet].pop(area)
        return hit

    def _within(self, sheet: str, room: Box) -> list[int]:
        hit = [
            number
            for (title, cell), numbers in self.single.items()
            if title == sheet and room.holds(cell)
            for number in numbers
        ]
        for area in [area for area in self.ranges[sheet] if area.meets(room)]:
            hit += self.ranges[sheet].pop(area)
        return hit


class _Formula(NamedTuple):
    sheet: str
    cell: Cell
    room: Box | None
    free: tuple[Box, ...]

    @property
    def spots(self) -> Iterator[Spot]:
        """The cells that it fills."""
        yield self.sheet, self.cell.at
        if self.cell.array:
            area = box(self.cell.array)
            for row in range(area.top, area.bottom + 1):
                for column in range(area.left, area.right + 1):
                    yield self.sheet, Place(row, column)


def _formulas(book: Book, changed: Container[Spot]) -> Iterator[_Formula]:
    for sheet in book.worksheets:
        for cell in sheet.cells.values():
            if cell.formula is None:
                continue
            room: Box | None = None
            free: tuple[Box, ...] = ()
            # One that the edit writes over spreads no more.
            if is_dynamic(cell) and (sheet.title.lower(), cell.at) not in changed:
                room = room_of(sheet, cell.at, changed)
                if "cm=" in cell.extra and cell.array:
                    free = free_beside(sheet, cell.at, box(cell.array), changed)
            yield _Formula(sheet.title.lower(), cell, room, free)


def affected(book: Book, changed: Iterable[Spot], spilling: Iterable[Spot] = ()) -> Affected:
    """Work out which stored results a change of these cells may and must cost.

    Args:
        book: The workbook before the change.
        changed: The cells.
        spilling: Those of them that a dynamic array comes into.
    """
    changed = set(changed)
    reader, may, must = _Reader(book), _Graph(), _Graph()
    formulas = list(_formulas(book, changed))
    unsure: set[int] = set()
    for number, formula in enumerate(formulas):
        title, cell = formula.sheet, formula.cell
        reach = reader.reach(cell.formula or "", title, cell.at)
        own: list[tuple[str, Box]] = []
        sure: list[tuple[str, Box]] = []
        if is_dynamic(cell):
            # An error may be one for want of room: then any value below and right is in the way.
            area = Box(*cell.at, MAX_ROW, MAX_COLUMN)
            is_near = any(sheet == title and area.holds(at) for sheet, at in changed)
            own = [(title, area if cell.kind == "error" else box(cell.array or name(cell.at)))]
            sure = own if cell.kind != "error" or is_near else []
        is_table = "t=dataTable" in cell.extra
        may.add(number, (*reach.areas, *reach.loose, *own))
        must.add(number, () if is_table else (*reach.areas, *sure))
        if reach.unsure or is_table:
            unsure.add(number)

    def at_most(number: int) -> Iterator[Where]:
        formula = formulas[number]
        yield from formula.spots
        if formula.room:
            yield formula.sheet, formula.room

    def at_least(number: int) -> Iterator[Where]:
        formula = formulas[number]
        yield from formula.spots
        yield from ((formula.sheet, strip) for strip in formula.free)

    def spots(numbers: set[int]) -> frozenset[Spot]:
        return frozenset(spot for number in numbers for spot in formulas[number].spots)

    sheets = {sheet.title.lower(): sheet for sheet in book.worksheets}
    rooms = [(title, room_of(sheets[title], at, changed)) for title, at in spilling]
    strips = [
        (title, strip)
        for title, at in spilling
        for strip in free_beside(sheets[title], at, box(name(at)), changed)
    ]
    doubtful = [where for number in unsure for where in at_most(number)]
    return Affected(
        spots(may.close([*changed, *rooms, *doubtful], at_most) | unsure),
        spots(must.close([*changed, *strips], at_least)),
    )
