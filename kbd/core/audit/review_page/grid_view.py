"""View of changed cells: the neighborhood in both versions, side by side, each change marked."""

import re
from collections.abc import Iterable, Mapping, Sequence

from kbd.core.audit.html.markup import Html, count, element, joined, text
from kbd.core.audit.review_page.change_view import (
    render_changes,
    render_sign,
    value_text,
)
from kbd.core.audit.review_page.neighborhood import (
    ChangeMark,
    ColumnNames,
    GridBlock,
    Pair,
    find_blocks,
    sheet_of,
)
from kbd.core.audit.review_page.records import SheetGrids
from kbd.requests.base import Unset
from kbd.requests.formats import PreviewGrid
from kbd.requests.reviews import ContentChange

__all__ = ["MAX_BLOCKS", "render_sheet"]

MAX_BLOCKS = 40
"""Blocks of one sheet that are drawn; changes of further ones are listed."""

CELL_CHARACTERS = 120
"""Of a cell's text; the list of changes has more of it."""

_NUMBER = re.compile(r"[-+]?[\d.,]*\d%?")

_CONTENTS = frozenset({"cell", "row", "column", "value", "formula"})
"""What changes the contents of a cell; everything else changes how it looks."""

_MISMATCHES = 3
"""As many cells around the changes must differ before the two versions count as not aligned."""


class _Version:
    """Cells of one version, as its windows have them."""

    def __init__(self, windows: Sequence[PreviewGrid]) -> None:
        self.is_there = bool(windows)
        self.total_rows = max((each.total_rows for each in windows), default=0)
        self.total_columns = max((each.total_columns for each in windows), default=0)
        self.names: dict[int, str] = {}
        self._rows: dict[int, list[tuple[int, Sequence[str | None]]]] = {}
        for window in windows:
            self.names |= dict(enumerate(window.columns, window.column_start))
            for number, row in enumerate(window.rows, window.row_start):
                self._rows.setdefault(number, []).append((window.column_start, row))

    def names_in_order(self) -> tuple[str, ...]:
        """Return the names of the columns from the first one on."""
        return tuple(self.names.get(n, "") for n in range(1, max(self.names, default=0) + 1))

    def has_row(self, row: int | None) -> bool:
        """Return whether a row is in a window."""
        return row in self._rows

    def cell(self, row: int, column: int) -> str:
        """Return a cell's text; "" if it is blank or in no window."""
        for first, cells in self._rows.get(row, ()):
            if first <= column < first + len(cells):
                return cells[column - first] or ""
        return ""


def render_sheet(
    file: int,
    grids: SheetGrids,
    changes: Sequence[tuple[int, ContentChange]],
) -> Html:
    """Return the changes of a sheet or table: blocks of cells, each with its list of changes.

    Args:
        file: The file's place in the page.
        grids: The cells around the changes.
        changes: The sheet's changes, each with its index in the comparison.
    """
    before, after = _Version(grids.before), _Version(grids.after)
    names = (
        ColumnNames()
        if grids.sheet
        else ColumnNames(before.names_in_order(), after.names_in_order())
    )
    blocks = find_blocks(changes, names)
    # What is told of the sheet as a whole comes first.
    whole = [each for each in changes if sheet_of(each[1].place) is None]
    parts: list[Html] = [render_changes(file, whole)]
    listed = {index for index, _ in whole}
    by_index = dict(changes)
    for block in blocks[:MAX_BLOCKS]:
        # A change that reaches over several blocks is listed below the first one.
        own = [(index, by_index[index]) for index in block.changes if index not in listed]
        listed |= set(block.changes)
        parts.append(
            element(
                "section",
                {"class": "block"},
                _render_pair(file, grids.sheet, block, before, after, by_index),
                render_changes(file, own),
            )
        )
    rest = [(index, change) for index, change in changes if index not in listed]
    return joined((*parts, render_changes(file, rest)))


def _render_pair(
    file: int,
    sheet: str,
    block: GridBlock,
    before: _Version,
    after: _Version,
    changes: Mapping[int, ContentChange],
) -> Html:
    """Return both versions of a block; one alone where the sheet is new or gone."""
    columns = [pair for pair in block.columns if _is_within(pair, before, after, "column")]
    rows = [pair for pair in block.rows if _is_within(pair, before, after, "row")]
    if not any(before.has_row(pair.before) or after.has_row(pair.after) for pair in rows):
        # So large a file that no window was read for this block.
        return Html("")
    is_aligned = _is_aligned(block, rows, columns, before, after)
    sides = [
        _Side("before", before, block.cells_before, block, changes, file),
        _Side("after", after, block.cells_after, block, changes, file),
    ]
    parts = [
        element("figure", {"class": "grid"}, *side.render(rows, columns, sheet))
        for side in sides
        if side.version.is_there and (is_aligned or side.name == "after")
    ]
    notes: list[Html] = []
    if not is_aligned:
        words = "The earlier rows could not be aligned with these; the list has what they held."
        notes.append(element("p", {"class": "note"}, text(words)))
    if block.more_columns:
        more = count(block.more_columns, "more changed column")
        notes.append(element("p", {"class": "note"}, text(f"{more} in the list only.")))
    return joined((element("div", {"class": "pair"}, *parts), *notes))


def _is_within(pair: Pair, before: _Version, after: _Version, axis: str) -> bool:
    """Return whether a row or column is one that either version has."""
    totals = [
        (pair.before, before.total_rows if axis == "row" else before.total_columns),
        (pair.after, after.total_rows if axis == "row" else after.total_columns),
    ]
    return any(number is not None and number <= total for number, total in totals)


def _is_aligned(
    block: GridBlock,
    rows: Sequence[Pair],
    columns: Sequence[Pair],
    before: _Version,
    after: _Version,
) -> bool:
    """Return whether what is not marked is the same in both versions, by and large.

    Of a comparison that lists a part of its changes, rows could be paired wrongly.
    """
    if not (before.is_there and after.is_there):
        return True
    same = different = 0
    for row in rows:
        for column in columns:
            if row.before is None or row.after is None:
                continue
            if column.before is None or column.after is None:
                continue
            if (row.after, column.after) in block.cells_after:
                continue
            one, other = before.cell(row.before, column.before), after.cell(row.after, column.after)
            same += one == other != ""
            different += one != other
    return different < _MISMATCHES or different <= same


class _Side:
    """One version of a block."""

    def __init__(
        self,
        name: str,
        version: _Version,
        cells: Mapping[tuple[int, int], ChangeMark],
        block: GridBlock,
        changes: Mapping[int, ContentChange],
        file: int,
    ) -> None:
        self.name, self.version = name, version
        self._cells, self._block, self._changes, self._file = cells, block, changes, file

    def render(self, rows: Sequence[Pair], columns: Sequence[Pair], sheet: str) -> list[Html]:
        """Return the caption and the table."""
        is_before = self.name == "before"
        numbers = [number for pair in rows if (number := self._number(pair)) is not None]
        span = "no rows here"
        if numbers:
            first, last = numbers[0], numbers[-1]
            span = f"row {first}" if first == last else f"rows {first}–{last}"
        caption = f"{sheet}, {span}" if sheet else span
        title = element(
            "figcaption",
            {},
            element("b", {}, text("Before" if is_before else "After")),
            text(" "),
            element("span", {"dir": "auto"}, text(caption)),
        )
        total = self.version.total_columns
        shown = [pair for pair in columns if 0 < (self._number(pair) or 0) <= total]
        heads = [self._render_head(pair, before) for before, pair in _with_last(shown, self)]
        lines: list[Html] = []
        if sheet and all(self._number(pair) != 1 for pair in rows):
            lines += self._render_first_row(shown, has_gap=numbers[:1] != [2])
        lines += [self._render_line(pair, shown) for pair in rows]
        corner = element("td", {"class": "corner"})
        head = element("thead", {}, element("tr", {}, corner, *heads))
        table = element(
            "table",
            {"aria-label": f"{self.name}, {caption}"},
            head,
            element("tbody", {}, *lines),
        )
        return [title, element("div", {"class": "scroll", "tabindex": 0, "role": "group"}, table)]

    def _number(self, pair: Pair) -> int | None:
        return pair.before if self.name == "before" else pair.after

    def _render_head(self, pair: Pair, last: int | None) -> Html:
        number = self._number(pair) or 0
        mark = self._block.column_marks.get(pair)
        gap = last is not None and number - last > 1
        kinds = " ".join(filter(None, (mark.kind if mark else "", "gap" if gap else "")))
        name = self.version.names.get(number, str(number))
        return element(
            "th", {"scope": "col", "class": kinds or None}, _render_mark(mark), text(name)
        )

    def _render_first_row(self, columns: Sequence[Pair], *, has_gap: bool) -> list[Html]:
        """Return the first row, which names the columns of most sheets; none if it is blank."""
        words = [self.version.cell(1, self._number(pair) or 0) for pair in columns]
        if not any(words):
            return []
        cells = [element("td", {"dir": "auto"}, text(_cut(each))) for each in words]
        row = element("tr", {"class": "first"}, element("th", {"scope": "row"}, text("1")), *cells)
        if not has_gap:
            return [row]
        gap = element("td", {"colspan": len(columns) + 1}, text("⋯"))
        return [row, element("tr", {"class": "skipped", "aria-hidden": "true"}, gap)]

    def _render_line(self, pair: Pair, columns: Sequence[Pair]) -> Html:
        number = self._number(pair)
        mark = self._block.row_marks.get(pair)
        if number is None:
            # The other version has a row here: nothing stands against it.
            filler = element("td", {"colspan": len(columns) + 1})
            return element("tr", {"class": "filler", "aria-hidden": "true"}, filler)
        head = element(
            "th",
            {"scope": "row", "class": mark.kind if mark else None},
            _render_mark(mark),
            text(str(number)),
        )
        attributes = {"class": mark.kind, **self._link(mark)} if mark else {}
        cells = (self._render_cell(number, column, mark) for column in columns)
        return element("tr", attributes, head, *cells)

    def _render_cell(self, row: int, column: Pair, line: ChangeMark | None) -> Html:
        number = self._number(column) or 0
        mark = self._cells.get((row, number)) or self._block.column_marks.get(column)
        words = self.version.cell(row, number)
        if mark is not None and (row, number) in self._cells:
            words = self._own_value(self._changes[mark.change], words)
        if mark is None:
            return element("td", {"dir": "auto", "class": _form(words)}, text(_cut(words)))
        sign = Html("") if line and mark == line else _render_mark(mark)
        change = self._changes[mark.change]
        look = None if change.what in _CONTENTS else "look"
        kinds = " ".join(filter(None, (mark.kind, look, _form(words))))
        return element(
            "td",
            {"class": kinds, "dir": "auto", "title": _cut(words), **self._link(mark)},
            sign,
            text(_cut(words)),
        )

    def _own_value(self, change: ContentChange, shown: str) -> str:
        """Return what the change itself says of a cell, which is right however rows are paired."""
        if change.what != "cell":
            return shown
        value = change.before if self.name == "before" else change.after
        return shown if isinstance(value, Unset) else value_text(value)

    def _link(self, mark: ChangeMark) -> dict[str, str | int]:
        return {"data-of": f"f{self._file}c{mark.change}"}


def _render_mark(mark: ChangeMark | None) -> Html:
    return Html("") if mark is None else render_sign(mark.kind)


def _form(words: str) -> str | None:
    """Return the class of a cell: numbers stand at the right, as sheets have them."""
    return "figure" if _NUMBER.fullmatch(words) else None


def _cut(words: str) -> str:
    return words if len(words) <= CELL_CHARACTERS else words[:CELL_CHARACTERS] + "…"


def _with_last(columns: Sequence[Pair], side: _Side) -> Iterable[tuple[int | None, Pair]]:
    """Yield columns, each with the number of the one before."""
    last: int | None = None
    for pair in columns:
        yield last, pair
        last = pair.before if side.name == "before" else pair.after
