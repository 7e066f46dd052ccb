"""Dependents: formulas that refer to a sheet, and an index of those that refer to its cells.

The index is asked for each cell that changes. A reference to one cell is found by its place. Ranges
lie in trees over their rows, one for each pair of columns that ranges begin and end at. What was
found is taken out, so that all questions together find each reference once.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import repeat

from kbd.sheets.areas import cell_name
from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.calculation.operand_ranges import OperandRanges
from kbd_xlsx.calculation.operands import NameUse, Operands, TableUse, read_operands

__all__ = ["MAX_PLACES", "SheetIndex", "mentions"]

WIDE = 32
"""Columns from which a range is no longer looked up by each of its columns."""

_STRIDE = 1 << 15
"""Places that a row has in the number of a place; more than a sheet has columns."""

_SEARCHED = 4
"""Places that are searched in the time of one look at a reference."""

_ROWS = 1 << 24
"""More than the rows of a sheet, and than what seven digits make of one."""


class SheetIndex:
    """The references to one sheet, each with the number of the formula that holds it."""

    def __init__(self) -> None:
        # Formulas that refer to one place are chained: the place leads to its last entry.
        # Numbers for places, and arrays, cost a fraction of what records and lists would.
        self._last_at: dict[int, int] = {}
        self._last_of: dict[int, int] = {}
        self._owners = array("l")
        self._earlier = array("l")
        self._trees: dict[tuple[int, int], _RowTree] = {}
        self._at_column: dict[int, list[tuple[int, int]]] = {}
        self._wide: list[tuple[int, int]] = []

    def add(self, formula: int, top: int, left: int, bottom: int, right: int) -> None:
        """Note that a formula refers to a rectangle; not to be called after `take`."""
        if top == bottom and left == right:
            chains, place = self._last_at, top * _STRIDE + left
        else:
            chains, place = (
                self._last_of,
                ((top * _ROWS + bottom) * _STRIDE + left) * _STRIDE + right,
            )
        self._earlier.append(chains.get(place, -1))
        chains[place] = len(self._owners)
        self._owners.append(formula)

    def take(self, top: int, left: int, bottom: int, right: int) -> Iterator[int]:
        """Yield the formulas that refer to any cell of a rectangle, and forget those references.

        A formula comes once for each of its references; -1 stands for a tree or for some places
        that were searched.
        """
        if self._last_at:
            if top == bottom and left == right:
                yield from self._chain(self._last_at.pop(top * _STRIDE + left, -1))
            else:
                # Searches that find nothing take time, too, so they count as steps of the caller.
                places, searched = self._places(top, left, bottom, right)
                for place in places:
                    yield from self._chain(self._last_at.pop(place, -1))
                yield from repeat(-1, searched // _SEARCHED)
        if self._last_of:
            # The trees are built once all references are known, as none can be added to them later.
            if not self._trees:
                self._grow()
            for columns in self._columns(left, right):
                yield -1
                for place in self._trees[columns].take(top, bottom):
                    yield from self._chain(self._last_of.pop(place))

    def _places(self, top: int, left: int, bottom: int, right: int) -> tuple[Iterable[int], int]:
        """Return the places of a rectangle that may be referred to, and how many were searched."""
        # A change may reach to the last row of the sheet, but nothing refers past this corner.
        last_row, last_column = self._last
        bottom, right = min(bottom, last_row), min(right, last_column)
        count = max(0, bottom - top + 1) * max(0, right - left + 1)
        if count <= len(self._last_at):
            found = (
                row * _STRIDE + column
                for row in range(top, bottom + 1)
                for column in range(left, right + 1)
            )
            return found, count
        # This must be a list: the caller removes entries from the dict while it goes through it.
        within = [
            place
            for place in self._last_at
            if top <= place // _STRIDE <= bottom and left <= place % _STRIDE <= right
        ]
        return within, len(self._last_at)

    @cached_property
    def _last(self) -> tuple[int, int]:
        """The last row and the last column of the single cells that were referred to at first."""
        places = self._last_at
        return max(places) // _STRIDE, max(place % _STRIDE for place in places)

    def _chain(self, entry: int) -> Iterator[int]:
        while entry >= 0:
            yield self._owners[entry]
            entry = self._earlier[entry]

    def _grow(self) -> None:
        places: dict[tuple[int, int], list[int]] = {}
        for place in self._last_of:
            places.setdefault((place // _STRIDE % _STRIDE, place % _STRIDE), []).append(place)
        for columns, found in places.items():
            self._trees[columns] = _RowTree(found)
            left, right = columns
            # A range over whole rows would otherwise be listed under each of its 16,384 columns.
            if right - left < WIDE:
                for column in range(left, right + 1):
                    self._at_column.setdefault(column, []).append(columns)
            else:
                self._wide.append(columns)

    def _columns(self, left: int, right: int) -> list[tuple[int, int]]:
        """Return the pairs of columns between which a cell of some columns may lie."""
        if left == right:
            found = list(self._at_column.get(left, ()))
        # The shorter way is taken: by the columns that changed, or by all pairs that there are.
        elif right - left < len(self._at_column):
            found = list(
                dict.fromkeys(
                    columns
                    for column in range(left, right + 1)
                    for columns in self._at_column.get(column, ())
                )
            )
        else:
            found = [
                columns
                for columns in self._trees
                if columns[1] - columns[0] < WIDE and columns[0] <= right and columns[1] >= left
            ]
        found.extend(columns for columns in self._wide if columns[0] <= right >= left <= columns[1])
        return found


class _RowTree:
    """Intervals of rows, found by a row that they hold, and taken out.

    A binary tree over the intervals in the order of their first rows; a node has the greatest
    last row below it, 0 once nothing is left.
    """

    def __init__(self, places: list[int]) -> None:
        # The number of a range's place begins with its first row.
        self._places = sorted(places)
        self._tops = array("l", (place // _STRIDE**2 // _ROWS for place in self._places))
        size = 1
        # The children of node n are 2n and 2n + 1, so the number of leaves is a power of two.
        while size < len(places):
            size *= 2
        self._size = size
        greatest = array("l", bytes(array("l").itemsize * 2 * size))
        for number, place in enumerate(self._places):
            greatest[size + number] = place // _STRIDE**2 % _ROWS
        for node in range(size - 1, 0, -1):
            greatest[node] = max(greatest[2 * node], greatest[2 * node + 1])
        self._greatest = greatest

    def take(self, top: int, bottom: int) -> Iterator[int]:
        """Yield the intervals that meet the rows from `top` to `bottom`, and forget them."""
        greatest, size = self._greatest, self._size
        if greatest[1] < top:
            return
        # Leaves from here on begin below the rows. The search finds the leftmost leaf that reaches
        # down to `top` first, so one past the limit means that no other is left.
        limit = size + bisect_right(self._tops, bottom)
        while greatest[1] >= top:
            node = 1
            while node < size:
                node *= 2
                if greatest[node] < top:
                    node += 1
            if node >= limit:
                return
            yield self._places[node - size]
            # No row has the number 0, so what was taken is never found again.
            greatest[node] = 0
            while node > 1:
                node //= 2
                greatest[node] = max(greatest[2 * node], greatest[2 * node + 1])


MAX_PLACES = 20
"""Places that are listed; the others are counted."""


def mentions(book: FormulaBook, title: str) -> list[str]:
    """Return the places that refer to a sheet, but for its own cells and the names of its own.

    A cell is given as "Sheet1!B2" or "'My Sheet'!B2", a name as "the name Total". Places whose
    text only holds the title, where a function makes a reference of it, are marked as possible.
    After MAX_PLACES comes how many more there are. Raises FileReadFailed for a damaged sheet.
    """
    found = list(_mentions(book, title))
    more = len(found) - MAX_PLACES
    return found if more <= 0 else [*found[:MAX_PLACES], f"and {more} more"]


def _mentions(book: FormulaBook, title: str) -> Iterator[str]:
    reader = _Reader(book, title)
    if reader.number < 0:
        return
    for name in book.names:
        if name.scope is None or name.scope.casefold() != title.casefold():
            reference_text = reader.reference_text(name.text)
            if reference_text is not None:
                yield f"the name {name.name}{reference_text}"
    for number, (other, data) in enumerate(book.sheets):
        if number == reader.number:
            continue
        sharing: dict[str, str] = {}
        for cell in formula_cells(data, other):
            if cell.group is not None and not cell.text:
                reference_text = sharing.get(cell.group)
            else:
                reference_text = reader.reference_text(cell.text)
                if cell.group is not None and reference_text is not None:
                    sharing[cell.group] = reference_text
            if reference_text is not None:
                yield f"{_quoted(other)}!{cell_name(cell.row, cell.column)}{reference_text}"


class _Reader:
    """Finder of references to one sheet in the texts of formulas."""

    def __init__(self, book: FormulaBook, title: str) -> None:
        titles = [each.casefold() for each in book.titles]
        self._title = title.casefold()
        self.number = titles.index(self._title) if self._title in titles else -1
        # Defined names are checked on their own, and tables are recognized by their names.
        self._meanings = OperandRanges(book.titles, (), ())
        self._tables = {
            table.name.casefold() for table in book.tables if table.sheet.casefold() == self._title
        }

    def reference_text(self, text: str) -> str | None:
        """Return None for no mention, "" for a reference, else a remark on the mention."""
        # A formula without any of these reaches another sheet only through a defined name, and
        # those are checked on their own.
        if "!" not in text and '"' not in text and not self._tables:
            return None
        operands = read_operands(text)
        if self._refers(operands):
            return ""
        if '"' in text and self._title in text.casefold() and _makes_references(operands):
            return " (possibly, in a text)"
        return None

    def _refers(self, operands: Operands) -> bool:
        for reference in (*operands.references, *operands.others):
            match reference:
                case TableUse():
                    if reference.name.casefold() in self._tables:
                        return True
                case NameUse() if reference.sheet is None:
                    if reference.name.casefold() in self._tables:
                        return True
                case _:
                    # A reference without a sheet means the formula's own; no sheet is number -1.
                    sheets = self._meanings.sheets(reference.sheet or "", -1)
                    if sheets is not None and self.number in sheets:
                        return True
        return False


def _makes_references(operands: Operands) -> bool:
    """Tell whether a formula calls a function that may take a text for a reference."""
    return any(call.upper() in ("INDIRECT", "HYPERLINK", "GETPIVOTDATA") for call in operands.calls)


def _quoted(title: str) -> str:
    plain = title.isidentifier() and title.isascii()
    return title if plain else "'" + title.replace("'", "''") + "'"
