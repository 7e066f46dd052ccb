"""Ranges that a formula reads: what its operands mean in a workbook with its names and tables.

Structured references: which cells of a table "[[#Headers],[Amount]:[Tax]]" means.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.calculation.functions import PLAIN, known_name
from kbd_xlsx.calculation.operands import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    NameUse,
    Operand,
    Operands,
    Reference,
    TableUse,
    read_operands,
)

__all__ = [
    "Cells",
    "DefinedName",
    "Meaning",
    "OperandRanges",
    "Place",
    "TableArea",
    "cells_of_table",
    "names_column",
]


class DefinedName(msgspec.Struct, frozen=True):
    """A name of the workbook, or of one sheet.

    Args:
        name: As it is written in formulas; compared without case.
        scope: The title of the sheet that it belongs to, None for the whole workbook.
        text: The formula that it stands for, with or without "=".
    """

    name: str
    scope: str | None
    text: str


class TableArea(msgspec.Struct, frozen=True):
    """A table, for references such as Sales[Amount].

    Args:
        name: The name that formulas use (displayName).
        sheet: The title of its sheet.
        area: All of its cells, with header and totals.
        columns: The names of its columns, from left to right.
        header_rows: How many rows its header has, 0 or 1.
        totals_rows: How many rows of totals it ends with, 0 or 1.
    """

    name: str
    sheet: str
    area: Area
    columns: tuple[str, ...]
    header_rows: int = 1
    totals_rows: int = 0


# In a structured reference an apostrophe escapes the character after it: a bracket, # or @.
_ITEM = re.compile(r"\[((?:[^\[\]']|'.)*)\]", re.DOTALL)
_SPELT = re.compile("_x([0-9A-Fa-f]{4})_")
_ESCAPED = re.compile(r"'(.)", re.DOTALL)


def cells_of_table(table: TableArea, inside: str, row: int) -> Area | None:
    """Return the cells that a structured reference means, None if the table has none such.

    Args:
        table: The table.
        inside: What stands between the outer brackets.
        row: Of the formula; "this row" outside of the table is taken for all of its rows.
    """
    is_this_row = inside.startswith("@")
    rest = inside.removeprefix("@")
    # One column needs no brackets of its own: Sales[Amount].
    items = _ITEM.findall(rest) if rest.lstrip().startswith("[") else [rest]
    parts = {item.strip().casefold() for item in items if item.lstrip().startswith("#")}
    if is_this_row:
        parts.add("#this row")
    rows = _rows(table, parts, row)
    if rows is None:
        return None
    columns = [item for item in items if item.strip() and not item.lstrip().startswith("#")]
    left, right = _columns(table, columns)
    return Area(rows[0], left, rows[1], right)


def _rows(table: TableArea, parts: set[str], row: int) -> tuple[int, int] | None:
    area = table.area
    data = area.top + table.header_rows, area.bottom - table.totals_rows
    found = []
    for part in parts or {"#data"}:
        match part:
            case "#all":
                found.append((area.top, area.bottom))
            case "#headers":
                found.append((area.top, area.top + table.header_rows - 1))
            case "#totals":
                found.append((area.bottom - table.totals_rows + 1, area.bottom))
            case "#this row" if area.top <= row <= area.bottom:
                found.append((row, row))
            case _:
                found.append(data)
    # For a header or totals that the table does not have, the last row is before the first.
    found = [rows for rows in found if rows[0] <= rows[1]]
    if not found:
        return None
    return min(rows[0] for rows in found), max(rows[1] for rows in found)


def _columns(table: TableArea, names: list[str]) -> tuple[int, int]:
    """Return the first and last column that are named; all if one of them is not known."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(table.columns):
        # Columns may have equal names once these are normalized; reading too many of them is safe.
        places.setdefault(_alike(name), []).append(place)
    found = [places.get(_alike(_ESCAPED.sub(r"\1", name)), []) for name in names]
    known = [place for each in found for place in each]
    if not known or not all(found):
        return table.area.left, table.area.right
    return table.area.left + min(known), table.area.left + max(known)


def _alike(name: str) -> str:
    """Return what is equal for a column's name in a table and in a formula.

    Line breaks are spelt in several ways.
    """
    return " ".join(_spelt_out(name).casefold().split())


def _spelt_out(text: str) -> str:
    return _SPELT.sub(lambda found: chr(int(found[1], 16)), text)


def names_column(text: str, column: str) -> bool:
    """Tell whether a text may hold a structured reference that names a table's column."""
    words = (
        "".join(f"'?{re.escape(sign)}" for sign in word) for word in _spelt_out(column).split()
    )
    # Names stand in brackets also within longer references, such as Sales[[#Data],[Tax]].
    name = re.compile(r"\[@?\s*" + r"\s+".join(words) + r"\s*\]", re.IGNORECASE)
    return name.search(_spelt_out(text)) is not None


Place = tuple[int, int, int]
"""A cell: the number of its sheet, its row and its column."""

Cells = tuple[int, int, int, int, int]
"""A rectangle: the number of its sheet; top, left, bottom and right."""


class Meaning(msgspec.Struct, gc=False):
    """The cells that a formula reads.

    Args:
        cells: Rectangles, some perhaps more than once.
        reads_all: Whether it may read any cell of the workbook.
        is_fixed: Whether it means the same in each cell of a sheet.
    """

    cells: list[Cells]
    reads_all: bool = False
    is_fixed: bool = True


MAX_WORK = 2_000_000
"""Formulas and references of a workbook that are looked at; what comes after may read anything."""

_NameKey = tuple[int | None, str]


class _Named(msgspec.Struct):
    """Names of the formula that is read, and how deep they are nested."""

    known: dict[_NameKey, Meaning] = msgspec.field(default_factory=dict)
    depth: int = 0


class OperandRanges:
    """Resolver of the operands of formulas in one workbook.

    Args:
        titles: Of the sheets, in the order of the tabs; they are compared without case.
        names: The defined names.
        tables: The tables.
    """

    def __init__(
        self, titles: Sequence[str], names: Iterable[DefinedName], tables: Iterable[TableArea]
    ) -> None:
        self._sheets = {title.casefold(): number for number, title in enumerate(titles)}
        # An exact title takes precedence over one that differs only in case.
        self._sheets.update((title, number) for number, title in enumerate(titles))
        self._names: dict[_NameKey, list[Operands]] = {}
        for name in names:
            scope = None if name.scope is None else self._sheet(name.scope)
            key = scope, name.name.casefold()
            # A damaged file may define a name twice; then both count.
            self._names.setdefault(key, []).append(read_operands(name.text))
        self._tables = {
            table.name.casefold(): (sheet, table)
            for table in tables
            if (sheet := self._sheet(table.sheet)) is not None
        }
        self._written: dict[str, tuple[int, ...] | None] = {}
        self._work = 0
        self._known: dict[tuple[int | None, str, int], Meaning] = {}

    def of(self, operands: Operands, place: Place, moved: tuple[int, int] = (0, 0)) -> Meaning:
        """Return the cells that a formula reads.

        Args:
            operands: What its text refers to.
            place: The cell that it stands in.
            moved: Rows and columns from the cell that the text was written for.
        """
        self._work += 1 + len(operands.references)
        # Past the bound: better a result is dropped needlessly than kept when it is old.
        if self._work > MAX_WORK:
            return Meaning([], reads_all=True)
        return self._of(operands, place, moved, _Named())

    def of_cells(self, cells: list[Cells], references: int, *, is_fixed: bool) -> Meaning:
        """Return the meaning of a formula that reads its references alone.

        Args:
            cells: What they mean, as `only_references` tells their sheets.
            references: How many there are.
            is_fixed: Whether none of them is relative.
        """
        self._work += 1 + references
        if self._work > MAX_WORK:
            return Meaning([], reads_all=True)
        return Meaning(cells, is_fixed=is_fixed)

    def only_references(self, operands: Operands, own: int) -> list[tuple[int, ...]] | None:
        """Return the sheets of each reference; None if a formula may read anything besides.

        Args:
            operands: What its text refers to.
            own: The sheet that it stands on.
        """
        if operands.others or operands.spans or not operands.is_clear:
            return None
        if not all(call in PLAIN or known_name(call) in PLAIN for call in operands.calls):
            return None
        found: list[tuple[int, ...]] = []
        for reference in operands.references:
            sheets: tuple[int, ...] = (own,)
            if reference.sheet is not None:
                named = self.sheets(reference.sheet, own)
                if named is None:
                    return None
                sheets = named
            found.append(sheets)
        return found

    def sheets(self, written: str, own: int) -> tuple[int, ...] | None:
        """Return the numbers of the sheets that are written before "!", None if that is unclear.

        Other workbooks and sheets that are not there are none. An empty text, and this workbook
        without a sheet ("[0]"), stand for the sheet of the formula.
        """
        if written in ("", "[0]"):
            return (own,)
        if written not in self._written:
            self._written[written] = self._read_sheets(written)
        return self._written[written]

    def _sheet(self, title: str) -> int | None:
        found = self._sheets.get(title)
        return self._sheets.get(title.casefold()) if found is None else found

    def _read_sheets(self, written: str) -> tuple[int, ...] | None:
        if written.startswith("'"):
            title = written[1:-1].replace("''", "'")
        else:
            title = written.replace("$", "")
        title = title.removeprefix("[0]")
        found = self._sheet(title)
        if found is not None:
            return (found,)
        first, colon, last = title.partition(":")
        if not colon or "[" in title:
            return ()
        ends = self._sheet(first), self._sheet(last)
        if ends[0] is not None and ends[1] is not None:
            return tuple(range(min(ends[0], ends[1]), max(ends[0], ends[1]) + 1))
        # With one end unknown it may be a range that ends on the other sheet: "A1:Sheet2!B2".
        return () if ends == (None, None) else None

    def _of(
        self,
        operands: Operands,
        place: Place,
        moved: tuple[int, int],
        named: _Named,
    ) -> Meaning:
        found = Meaning([], reads_all=not operands.is_clear)
        for reference in operands.references:
            self._add_reference(reference, place, moved, found)
        for other in operands.others:
            self._add_other(other, place, named, found)
        for span in operands.spans:
            found.cells.extend(self._between(span, place, moved, named))
        is_sheetwide = False
        for call in operands.calls:
            if call in PLAIN:
                continue
            name = known_name(call)
            if name == "OFFSET":
                is_sheetwide = True
            # _xlpm. marks a parameter of LAMBDA or LET. Google Sheets exports the dummy for
            # functions that Excel does not have.
            elif name not in PLAIN and not name.startswith(("_XLPM.", "__XLUDF.DUMMYFUNCTION")):
                self._add_call(call, place, named, found)
        if is_sheetwide:
            # What is moved away from a reference stays on its sheet.
            sheets = {cells[0] for cells in found.cells}
            found.cells = [(sheet, 1, 1, MAX_ROW, MAX_COLUMN) for sheet in sorted(sheets)]
        return found

    def _add_reference(
        self, reference: Reference, place: Place, moved: tuple[int, int], found: Meaning
    ) -> None:
        moves = reference.moves
        top, left, bottom, right = reference.top, reference.left, reference.bottom, reference.right
        if moves:
            found.is_fixed = False
            if moved != (0, 0):
                top, bottom = _along(top, bottom, moves & TOP, moves & BOTTOM, moved[0], MAX_ROW)
                left, right = _along(left, right, moves & LEFT, moves & RIGHT, moved[1], MAX_COLUMN)
        if top > bottom:
            top, bottom = bottom, top
        if left > right:
            left, right = right, left
        if reference.sheet is None:
            found.cells.append((place[0], top, left, bottom, right))
            return
        sheets = self.sheets(reference.sheet, place[0])
        if sheets is None:
            found.reads_all = True
            return
        found.cells.extend((sheet, top, left, bottom, right) for sheet in sheets)

    def _add_other(
        self,
        other: NameUse | TableUse,
        place: Place,
        named: _Named,
        found: Meaning,
    ) -> None:
        if isinstance(other, NameUse):
            meaning = self._name(other, place, named)
        else:
            meaning = self._table(other, place)
        if meaning is not None:
            found.cells.extend(meaning.cells)
            found.reads_all |= meaning.reads_all
            found.is_fixed &= meaning.is_fixed

    def _name(self, use: NameUse, place: Place, named: _Named) -> Meaning | None:
        """Return what a name or a table's name means, None if it is neither."""
        scope = place[0]
        if use.sheet is not None:
            sheets = self.sheets(use.sheet, scope)
            if sheets is None:
                return Meaning([], reads_all=True)
            # A name that belongs to another workbook reads nothing in this one.
            if len(sheets) != 1:
                return None
            scope = sheets[0]
        folded = use.name.casefold()
        keys: list[_NameKey] = [(None, folded)]
        if use.sheet != "[0]":
            keys.insert(0, (scope, folded))
        keys = [key for key in keys if key in self._names]
        if not keys:
            table = self._tables.get(folded)
            return None if table is None else self._table(TableUse(use.name, ""), place)
        if not named.depth:
            # A sheet's own name hides that of the workbook; within a name either may be meant.
            del keys[1:]
        meanings = [self._definition(key, place, named) for key in keys]
        return meanings[0] if len(meanings) == 1 else _joined(meanings)

    def _definition(self, key: _NameKey, place: Place, named: _Named) -> Meaning:
        known = self._known.get((*key, place[0])) or named.known.get(key)
        if known is not None:
            return known
        # A name that leads back to itself adds nothing, but is not to be remembered without it.
        named.known[key] = Meaning([], is_fixed=False)
        named.depth += 1
        # Relative places in a name are written as for the first cell.
        moved = place[1] - 1, place[2] - 1
        meaning = _joined([self._of(each, place, moved, named) for each in self._names[key]])
        named.depth -= 1
        named.known[key] = meaning
        if meaning.is_fixed:
            # The sheet is in the key: a reference without one means the sheet that uses the name.
            self._known[(*key, place[0])] = meaning
        return meaning

    def _add_call(
        self,
        call: str,
        place: Place,
        named: _Named,
        found: Meaning,
    ) -> None:
        """Add what a function reads that is not known: only a name for a LAMBDA says it."""
        use = NameUse(None, call)
        for key in ((place[0], call.casefold()), (None, call.casefold())):
            if key in self._names and all(
                any(known_name(inner) == "LAMBDA" for inner in operands.calls)
                for operands in self._names[key]
            ):
                self._add_other(use, place, named, found)
                return
        found.reads_all = True

    def _between(
        self,
        span: Sequence[Operand],
        place: Place,
        moved: tuple[int, int],
        named: _Named,
    ) -> Iterator[Cells]:
        """Yield the rectangles around the operands of a span, one for each sheet."""
        found = Meaning([])
        for operand in span:
            if isinstance(operand, Reference):
                self._add_reference(operand, place, moved, found)
            else:
                self._add_other(operand, place, named, found)
        for number in {cells[0] for cells in found.cells}:
            of_sheet = [cells for cells in found.cells if cells[0] == number]
            yield (
                number,
                min(cells[1] for cells in of_sheet),
                min(cells[2] for cells in of_sheet),
                max(cells[3] for cells in of_sheet),
                max(cells[4] for cells in of_sheet),
            )

    def _table(self, use: TableUse, place: Place) -> Meaning | None:
        """Return what a structured reference means; one to a table that is not known, anything."""
        if use.name:
            found = self._tables.get(use.name.casefold())
        else:
            found = next((each for each in self._tables.values() if _holds(each, place)), None)
        if found is None:
            return Meaning([], reads_all=True)
        sheet, table = found
        area = cells_of_table(table, use.inside, place[1])
        if area is None:
            return None
        cells = (sheet, area.top, area.left, area.bottom, area.right)
        # "This row" (@) depends on where the formula stands.
        return Meaning([cells], is_fixed=use.inside.find("@") < 0 and "#" not in use.inside)


def _joined(meanings: Sequence[Meaning]) -> Meaning:
    return Meaning(
        list(dict.fromkeys(cells for meaning in meanings for cells in meaning.cells)),
        any(meaning.reads_all for meaning in meanings),
        all(meaning.is_fixed for meaning in meanings),
    )


def _holds(table: tuple[int, TableArea], place: Place) -> bool:
    area = table[1].area
    return (
        table[0] == place[0]
        and area.top <= place[1] <= area.bottom
        and area.left <= place[2] <= area.right
    )


def _along(
    first: int, last: int, first_moves: int, last_moves: int, by: int, count: int
) -> tuple[int, int]:
    """Return the ends of a range that moves along rows or columns.

    What leaves the sheet comes in again at its other edge; a range that does may mean all.
    """
    new_first = first + by if first_moves else first
    new_last = last + by if last_moves else last
    if 0 < new_first <= count and 0 < new_last <= count:
        return new_first, new_last
    if first == last and first_moves and last_moves:
        around = (new_first - 1) % count + 1
        return around, around
    return 1, count
