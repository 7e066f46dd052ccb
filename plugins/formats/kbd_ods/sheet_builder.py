"""Sheet as it is found in a file: rows of cells, each kept once, however often it is repeated."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kbd.errors import FileReadFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd.sheets.islands import RowRun, find_areas, joined
from kbd.sheets.values import Stamp, Value

__all__ = ["MAX_CELLS", "CellRun", "FoundFormula", "FoundSheet", "RepeatedRow", "SheetBuilder"]

MAX_CELLS = 16_000_000
"""Cells of a sheet, those that a file repeats counted each; as for other workbooks."""

_MAX_PLACES = 4_000_000
"""Values of a sheet that are held; a row that is repeated counts once."""

_FORMULA_PLACES = 4
"""As many values take the memory of one formula."""

_MAX_GAP = 8


class CellRun(msgspec.Struct, frozen=True, array_like=True):
    """Cells of a row beside each other, the first column with them."""

    left: int
    values: list[Any]

    @property
    def right(self) -> int:
        """The last column."""
        return self.left + len(self.values) - 1


class RepeatedRow(msgspec.Struct, frozen=True, array_like=True):
    """A row, how often it is there, and its cells from left to right."""

    top: int
    count: int
    runs: list[CellRun]


class FoundFormula(msgspec.Struct, frozen=True, array_like=True):
    """A formula or an error: its place, its text with its "=", the error, whether one is stored."""

    row: int
    column: int
    text: str
    error: str
    is_stored: bool


class FoundSheet(msgspec.Struct, frozen=True):
    """What there is of a sheet.

    Args:
        name: As its tab says.
        hidden: Whether its tab is not shown.
        area: Around all that it holds; None for nothing.
        rows: Those that hold something, from top to bottom.
        formulas: From top to bottom.
        islands: Where cells lie beside each other.
        merged: Merged ranges.
        hidden_rows: Ranges of rows that are not shown.
        hidden_columns: The same of columns.
        currencies: The codes of currencies by column.
        covered: How many cells below merged ones hold something that nobody sees.
        comments: How many cells have one.
        objects: How many charts and pictures it has.
        frozen_rows: How many rows from the top stay in view.
    """

    name: str
    hidden: bool
    area: Area | None
    rows: list[RepeatedRow]
    formulas: list[FoundFormula]
    islands: list[Area]
    merged: list[Area]
    hidden_rows: list[tuple[int, int]]
    hidden_columns: list[tuple[int, int]]
    currencies: dict[int, list[str]]
    covered: int
    comments: int
    objects: int
    frozen_rows: int


class _Values:
    """Values of a row, with stamps as pairs, so that they can be kept."""

    def __init__(self) -> None:
        self.runs: list[CellRun] = []

    def add(self, column: int, count: int, value: Value) -> None:
        """Add a value in some columns."""
        kept = [value.kind, value.text] if isinstance(value, Stamp) else value
        last = self.runs[-1] if self.runs else None
        if last is not None and column - last.right - 1 <= _MAX_GAP:
            last.values.extend([""] * (column - last.right - 1))
            last.values.extend([kept] * count)
        else:
            self.runs.append(CellRun(column, [kept] * count))


class SheetBuilder:
    """A sheet that grows row by row; raises FileReadFailed where it is too large.

    Args:
        file: The file's name, for messages.
        name: The sheet's.
        hidden: Whether its tab is not shown.
    """

    def __init__(self, file: str, name: str, *, hidden: bool) -> None:
        self._file, self.name, self._hidden = file, name, hidden
        self.covered = self.comments = self.objects = 0
        self._rows: list[RepeatedRow] = []
        self._masks: list[RowRun] = []
        self._formulas: list[FoundFormula] = []
        self._merged: list[Area] = []
        self._hidden_rows: list[tuple[int, int]] = []
        self._hidden_columns: list[tuple[int, int]] = []
        self._currencies: dict[int, set[str]] = {}
        self._cells = self._places = 0
        self._begin_row()
        self._next_row = self._next_column = 1

    def _begin_row(self) -> None:
        self._values = _Values()
        self._mask = 0
        self._row_formulas: list[FoundFormula] = []
        self._column = 1

    def add_columns(self, count: int, *, hidden: bool) -> None:
        """Add columns, which may not be shown."""
        first = self._next_column
        self._next_column = min(first + count, MAX_COLUMN + 1)
        if hidden and first < self._next_column:
            _add_span(self._hidden_columns, first, self._next_column - 1)

    def skip(self, count: int) -> None:
        """Pass over cells that hold nothing."""
        self._column += count

    def add_cell(
        self, value: Value, count: int, formula: FoundFormula | None, currency: str = ""
    ) -> None:
        """Add a cell that holds something, in some columns; `formula` is without its place."""
        first = self._column
        self._column += count
        if self._column - 1 > MAX_COLUMN:
            self._refuse(f"has more than {MAX_COLUMN:,} columns")
        self._places += count
        self._check_places()
        if value != "":
            self._values.add(first, count, value)
        self._mask |= ((1 << count) - 1) << (first - 1)
        if formula is not None:
            for column in range(first, first + count):
                self._row_formulas.append(msgspec.structs.replace(formula, column=column))
            self._places += _FORMULA_PLACES * count
        if currency:
            for column in range(first, first + count):
                self._currencies.setdefault(column, set()).add(currency)

    def add_merged(self, rows: int, columns: int) -> None:
        """Add a merged range that begins at the cell that is added next."""
        bottom = min(self._next_row + rows - 1, MAX_ROW)
        right = min(self._column + columns - 1, MAX_COLUMN)
        self._merged.append(Area(self._next_row, self._column, bottom, right))

    def end_row(self, count: int, *, hidden: bool) -> None:
        """End a row, which is there some times."""
        top = self._next_row
        self._next_row += count
        is_filled = self._mask != 0
        if is_filled:
            if self._next_row - 1 > MAX_ROW:
                self._refuse(f"has more than {MAX_ROW:,} rows")
            filled = self._mask.bit_count()
            self._cells += filled * count
            self._places += _FORMULA_PLACES * len(self._row_formulas) * (count - 1)
            if self._cells > MAX_CELLS:
                self._refuse(f"holds more than {MAX_CELLS:,} cells")
            self._check_places()
            self._rows.append(RepeatedRow(top, count, self._values.runs))
            self._masks.append(RowRun(top, self._next_row - 1, self._mask))
            for place in range(count):
                self._formulas += [
                    msgspec.structs.replace(each, row=top + place) for each in self._row_formulas
                ]
        if hidden and top <= MAX_ROW:
            _add_span(self._hidden_rows, top, min(self._next_row - 1, MAX_ROW))
        self._begin_row()

    def _check_places(self) -> None:
        if self._places > _MAX_PLACES:
            self._refuse(
                f"holds more than {_MAX_PLACES:,} values, with each formula counted "
                f"{_FORMULA_PLACES + 1} times"
            )

    def _refuse(self, why: str) -> None:
        raise FileReadFailed(
            f"{self._file} is refused: its sheet {self.name} {why}; that is too large to be read"
        )

    def found(self, frozen_rows: int) -> FoundSheet:
        """Return the sheet, of which so many rows stay in view."""
        area = None
        union = 0
        for run in self._masks:
            union |= run.mask
        if union:
            left = (union & -union).bit_length()
            last = self._masks[-1].bottom
            area = Area(self._masks[0].top, left, last, union.bit_length())
        last = area.bottom if area else 0
        hidden = [(top, min(bottom, last)) for top, bottom in self._hidden_rows if top <= last]
        return FoundSheet(
            self.name, self._hidden, area, self._rows, self._formulas,
            find_areas(list(joined(self._masks))), _sorted(self._merged), hidden,
            self._hidden_columns, _codes(self._currencies), self.covered, self.comments,
            self.objects, frozen_rows,
        )  # fmt: skip


def _add_span(spans: list[tuple[int, int]], first: int, last: int) -> None:
    if spans and spans[-1][1] == first - 1:
        spans[-1] = (spans[-1][0], last)
    else:
        spans.append((first, last))


def _sorted(areas: Sequence[Area]) -> list[Area]:
    return sorted(areas, key=lambda area: (area.top, area.left))


def _codes(found: Mapping[int, set[str]]) -> dict[int, list[str]]:
    return {column: sorted(codes) for column, codes in found.items()}
