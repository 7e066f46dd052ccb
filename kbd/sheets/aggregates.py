"""Formulas of a table that sum up others of their columns: what a sheet itself says of its totals.

Only a function over cells of the formula's own column tells something, all of them above it or all
below, and an addition of all single cells above (=B2+B3). One over a few cells of its row, over
another column or another sheet is a value like others, and so are running sums and moving averages.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from kbd.formats import AggregateRow, TotalKind
from kbd.sheets.areas import Area, column_letters
from kbd.sheets.cells import SheetCells

__all__ = ["SummingFormulas", "may_aggregate"]

_KINDS: dict[str, TotalKind] = {
    "SUM": "sum", "AVERAGE": "average", "MIN": "minimum", "MAX": "maximum", "COUNT": "count",
    "COUNTA": "count",
}  # fmt: skip
_CODES: dict[str, TotalKind] = {
    "1": "average", "2": "count", "3": "count", "4": "maximum", "5": "minimum", "9": "sum",
}  # fmt: skip
"""First arguments of SUBTOTAL and AGGREGATE; a hundred more leaves hidden rows out."""
_CALL = re.compile(r"(?:_XLFN\.)?([A-Z]+)\(([^()]+)\)")
_AROUND = re.compile(r"(?:ROUND|ROUNDUP|ROUNDDOWN|IFERROR)\((.+)[,;][^,;()]*\)")
_CELLS = re.compile(
    r"(\$?)([A-Z]{1,3})\$?([1-9][0-9]{0,6})(?::(\$?)([A-Z]{1,3})\$?([1-9][0-9]{0,6}))?"
)
_OF_LISTING = re.compile(r"[^\[\]!]+\[([^\[\]@#]+)\]")
_MOST_PASSES = 5
"""Sums of sums of sums: as deep as they are followed."""
_MOST_ADDED = 500
"""Sums of single cells that a person may have written in a column."""

Side = Literal["above", "below"]
Stretch = tuple[int, int]


class _Aggregate(NamedTuple):
    """A formula over cells of its own column.

    `is_of_cells` says that it names single cells alone, `skips_others` that others like it among
    its cells do not count.
    """

    kind: TotalKind
    stretches: tuple[Stretch, ...]
    is_of_cells: bool
    skips_others: bool

    def side(self, row: int) -> Side | None:
        """Return where its cells are, seen from its row."""
        if all(last < row for _, last in self.stretches):
            return "above"
        return "below" if all(first > row for first, _ in self.stretches) else None


class _Call(NamedTuple):
    """A part of a formula: a function with its arguments, or cells alone."""

    kind: TotalKind
    arguments: tuple[str, ...]
    skips_others: bool


def may_aggregate(text: str, column: int) -> bool:
    """Tell whether a formula, or one that is copied from it, may sum up cells of its own column.

    Args:
        text: The formula with its "=".
        column: Where it stands.
    """
    own = column_letters(column)
    calls = _calls(text)
    cells = [_CELLS.fullmatch(each) for call in calls for each in call.arguments]
    # What is fixed may be the own column elsewhere.
    return bool(calls) and all(
        found is None or ((found[1] or found[2] == own) and (found[4] or found[5] in (None, own)))
        for found in cells
    )


class SummingFormulas:
    """Formulas of a table that sum up rows of it.

    Args:
        sheet: Where it is.
        body: Its rows, without the header.
        names: Of its columns.
        count: How many of its rows are not blank.
        skipped: Rows among them that are none.

    Attributes:
        valueless: Rows with a sum that nobody calculated and nothing beside: blank by their values,
            and yet the end of the rows above.
    """

    def __init__(
        self,
        sheet: SheetCells,
        body: Area,
        names: Sequence[str],
        count: int,
        skipped: frozenset[int] = frozenset(),
    ) -> None:
        self._sheet, self._body = sheet, body
        self._filled: Sequence[int] = range(body.top, body.bottom + 1)
        self._by_row = _summing(sheet, body, names)
        self.valueless: frozenset[int] = frozenset()
        # Where most rows are sums, they are what the table is about.
        if 3 * len(self._by_row) > 2 * count:
            self._by_row = {}
        if self._by_row and count != len(self._filled):
            has_values = {row: any(v != "" for v in values) for row, values in sheet.rows(body)}
            self._filled = [row for row, has in has_values.items() if has and row not in skipped]
            sums = {row for row, cells in self._by_row.items() if _kind(cells) == "sum"}
            self.valueless = frozenset(row for row in sums if has_values.get(row) is False)

    def rows(self, kept: frozenset[int] = frozenset()) -> tuple[AggregateRow, ...]:
        """Return the rows of the plain form that have such formulas, from top to bottom.

        Args:
            kept: Those of `valueless` that are in the plain form.
        """
        if not self._by_row:
            return ()
        body = self._body
        places = _Places(sorted((*self._filled, *kept)) if kept else self._filled)
        computed: dict[int, set[int]] = {row: set() for row in self._by_row}
        for row, column, _ in self._sheet.aggregating(body):
            if row in computed:
                computed[row].add(column - body.left)
        made = (
            _row(row, cells, computed[row], places, body.left)
            for row, cells in sorted(self._by_row.items())
        )
        return tuple(each for each in made if each is not None)


_Cells = dict[int, tuple[_Aggregate, tuple[Stretch, ...]]]
"""The formulas of a row by their columns, each with the rows that it names."""


def _summing(sheet: SheetCells, body: Area, names: Sequence[str]) -> dict[int, _Cells]:
    """Return the rows whose formulas sum others up, with these formulas."""
    found: dict[int, dict[int, _Aggregate]] = {}
    for row, column, text in sheet.aggregating(body):
        name = names[column - body.left]
        if text and (one := _aggregate(text, row, column, name, sheet.name, body)):
            found.setdefault(column, {})[row] = one
    by_row: dict[int, _Cells] = {}
    for column, cells in found.items():
        proven = _proven(cells)
        if any(row not in proven for row in cells):
            own = Area(body.top, column, body.bottom, column)
            proven |= _added_up(cells, proven, _figure_rows(sheet, own))
        for row, stretches in proven.items():
            by_row.setdefault(row, {})[column] = cells[row], stretches
    return by_row


def _kind(cells: _Cells) -> TotalKind:
    """Return what a row's formulas make of others: its sums, where it has some, go first."""
    kinds = [one.kind for one, _ in cells.values()]
    return "sum" if "sum" in kinds else kinds[0]


class _Places:
    """Places of a table's rows among those of the plain form.

    Args:
        numbers: The numbers of these in the sheet.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def of(self, row: int) -> int | None:
        """Return the place of a row; None for a blank one."""
        place = bisect_left(self._numbers, row)
        is_there = place < len(self._numbers) and self._numbers[place] == row
        return place if is_there else None

    def within(self, stretch: Stretch) -> Stretch | None:
        """Return the first and the last place of some rows; None where all are blank."""
        low, high = bisect_left(self._numbers, stretch[0]), bisect_right(self._numbers, stretch[1])
        return (low, high - 1) if low < high else None


def _row(
    row: int,
    cells: _Cells,
    computed: set[int],
    places: _Places,
    left: int,
) -> AggregateRow | None:
    """Return a row by its formulas, None where they do not agree on which rows these are of."""
    place, kind = places.of(row), _kind(cells)
    sides = {side for one, _ in cells.values() if one.kind == kind and (side := one.side(row))}
    if place is None or len(sides) != 1:
        return None
    stretches = next(each for one, each in cells.values() if one.kind == kind)
    ranges = tuple(each for one in stretches if (each := places.within(one)))
    columns = tuple(sorted(column - left for column in cells))
    if not ranges:
        return None
    return AggregateRow(place, kind, sides.pop(), columns, tuple(sorted(computed)), ranges)


def _proven(cells: Mapping[int, _Aggregate]) -> dict[int, tuple[Stretch, ...]]:
    """Return the rows of a column whose formulas sum others up, with the rows that each names.

    One that names single cells does where these are such sums themselves.
    """
    sliding: set[int] = set()
    before: tuple[int, Stretch] | None = None
    for row in sorted(cells):
        one = cells[row]
        if one.is_of_cells or one.skips_others:
            continue
        whole = min(first for first, _ in one.stretches), max(last for _, last in one.stretches)
        # Ranges that overlap in part move on with their rows, as those of moving averages do.
        if before is not None and before[1][0] < whole[0] <= before[1][1] < whole[1]:
            sliding |= {before[0], row}
        before = row, whole
    proven = {
        row: one.stretches
        for row, one in cells.items()
        if not one.is_of_cells and row not in sliding
    }
    open_ = {row: one for row, one in cells.items() if one.is_of_cells}
    for _ in range(_MOST_PASSES):
        more = {
            row: tuple(stretch for first, _ in one.stretches for stretch in proven[first])
            for row, one in open_.items()
            if all(first in proven for first, _ in one.stretches)
        }
        if not more:
            break
        proven |= more
        open_ = {row: one for row, one in open_.items() if row not in more}
    return proven


def _figure_rows(sheet: SheetCells, column: Area) -> list[int]:
    """Return the rows of a column that have a figure, or a formula without a result."""
    found = {row for row, (value,) in sheet.rows(column) if not isinstance(value, str)}
    return sorted(found | {row for row, _, _ in sheet.computed(column)})


def _added_up(
    cells: Mapping[int, _Aggregate],
    proven: Mapping[int, tuple[Stretch, ...]],
    figures: Sequence[int],
) -> dict[int, tuple[Stretch, ...]]:
    """Return the rows whose formulas add single cells up that are all rows above, up to a sum.

    So people write sums of a few rows (=B2+B3). Where others of the column add something else up,
    it goes on by its rows, as series do, and none is a sum.

    Args:
        cells: The formulas of the column that may be sums, by their rows.
        proven: Those that are, with the rows that each names.
        figures: The rows in which the column has figures.
    """
    known, more = {**proven}, dict[int, tuple[Stretch, ...]]()
    open_ = sorted(row for row, one in cells.items() if row not in proven and one.is_of_cells)
    for row in open_ if len(open_) <= _MOST_ADDED else ():
        named = [first for first, _ in cells[row].stretches]
        parts = [part for each in named for part in known.get(each, ((each, each),))]
        rows = {each for first, last in parts for each in range(first, last + 1)}
        above = figures[: bisect_left(figures, row)]
        plain = [each for each in above if each not in known and each >= min(rows)]
        start = bisect_left(above, min(rows))
        begins = start == 0 or above[start - 1] in known
        is_twice = sum(last - first + 1 for first, last in parts) > len(rows)
        if not begins or is_twice or cells[row].side(row) != "above" or not rows >= {*plain}:
            return {}
        known[row] = more[row] = tuple(parts)
    return more


def _aggregate(
    text: str, row: int, column: int, name: str, sheet_name: str, body: Area
) -> _Aggregate | None:
    """Return what a formula is, None for one that does not sum up cells of its own column."""
    if "!" in text:
        quoted = sheet_name.replace("'", "''")
        text = text.replace(f"'{quoted}'!", "").replace(f"{sheet_name}!", "")
    calls = _calls(text)
    own, stretches, is_of_cells = column_letters(column), list[Stretch](), True
    for call in calls:
        for argument in call.arguments:
            found = _CELLS.fullmatch(argument)
            if found is not None and found[2] == own and found[5] in (None, own):
                ends = int(found[3]), int(found[6] or found[3])
                stretches.append((min(ends), max(ends)))
                is_of_cells = is_of_cells and found[5] is None
                continue
            listing = _OF_LISTING.fullmatch(argument)
            # The row of totals of a listing has its columns by their names.
            if listing is None or not call.skips_others or listing[1] != _plain(name):
                return None
            stretches.append((body.top, row - 1))
            is_of_cells = False
    if not stretches or (is_of_cells and len(stretches) < 2):
        return None
    kind = calls[0].kind
    made = _Aggregate(kind, tuple(stretches), is_of_cells, all(c.skips_others for c in calls))
    is_within = all(first <= body.bottom and last >= body.top for first, last in stretches)
    return made if is_within and made.side(row) else None


def _calls(text: str) -> list[_Call]:
    """Return the functions that a formula adds up; none where it does anything else."""
    plain = _plain(text.removeprefix("="))
    while found := _AROUND.fullmatch(plain):
        plain = found[1]
    made = [_call(part) for part in plain.removeprefix("+").split("+")]
    calls = [call for call in made if call is not None]
    is_sum = len(made) == 1 or all(call.kind == "sum" for call in calls)
    return calls if len(calls) == len(made) and is_sum else []


def _call(part: str) -> _Call | None:
    found = _CALL.fullmatch(part)
    if found is None:
        return _Call("sum", (part,), skips_others=False) if _CELLS.fullmatch(part) else None
    function, arguments = found[1], tuple(re.split("[,;]", found[2]))
    if function in _KINDS:
        return _Call(_KINDS[function], arguments, skips_others=False)
    first = {"SUBTOTAL": 1, "AGGREGATE": 2}.get(function)
    code = arguments[0]
    kind = _CODES.get(code[1:].removeprefix("0") if len(code) == 3 and code[0] == "1" else code)
    if first is None or kind is None or len(arguments) <= first:
        return None
    return _Call(kind, arguments[first:], skips_others=True)


def _plain(text: str) -> str:
    return text.replace(" ", "").upper()
