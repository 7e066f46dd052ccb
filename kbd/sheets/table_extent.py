"""Extent of a sheet's table: its cells, the names of its columns, and what else the sheet holds.

The table is the sheet's largest island, with the islands below it that go on in its columns (a
blank row does not end a table). Titles above its header and remarks below it are none of it. A
header may stand in two rows, of which the upper one heads several columns.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import MISSING_TEXTS, ReadAs, TouchedRows, is_remark, total_label
from kbd.formats.headings import repeats_header
from kbd.formats.unit_rows import COLUMN_NUMBERS, UNITS, has_units, numbers_columns
from kbd.sheets.aggregates import may_aggregate
from kbd.sheets.areas import Area
from kbd.sheets.cells import SheetCells
from kbd.sheets.islands import names_columns
from kbd.sheets.row_forms import (
    MOST_NAMED,
    SAMPLE_CHARS,
    count_values,
    figure_places,
    filled_rows,
    is_aside,
    stands_in,
    told_row,
    touched_rows,
    typical_count,
)
from kbd.sheets.values import Value, plain_text

__all__ = ["TableExtent", "find_extent"]

ABOVE = "line above the header"
BELOW = "line below the table"
UNCALCULATED = "total whose formulas have no stored result"
OTHER_TABLE = "another table"
OTHER_CELLS = "cells beside the table"
JOINED_NAMES = "column names joined of two rows"

_HEAD_ROWS = 60
_MOST_TITLES = 20
_TAIL_ROWS = 60
_PAGE = re.compile(r"[\W\d_]|page|seite|blatt|pagina|página|стр|continued|fortsetzung|of|von")
"""What titles of pages differ by."""
_MOST_TOTALS = 5
"""Totals one above the other that stand above a header."""


class TableExtent(msgspec.Struct, frozen=True):
    """A table's cells and names, and what is not in it.

    Args:
        area: The cells, the header's with them.
        headers: The names of the columns, or None.
        top: The first row of data.
        header_row: The row with the names, the lower one of two; 0 without names.
        name_rows: How many rows have names: two where the upper one heads several columns.
        skipped: Rows between those of data that are none: the header again, titles above it.
        left_out: What else the sheet holds.
        repaired: What was mended.
        warnings: What a reader must know of it.
    """

    area: Area
    headers: tuple[str, ...] | None
    top: int
    header_row: int
    name_rows: int = 1
    skipped: frozenset[int] = frozenset()
    left_out: tuple[TouchedRows, ...] = ()
    repaired: tuple[TouchedRows, ...] = ()
    warnings: tuple[str, ...] = ()

    def parts(self) -> list[Area]:
        """Return the cells of the rows of data, in one piece each, from top to bottom."""
        ends = sorted((self.top - 1, *self.skipped, self.area.bottom + 1))
        return [
            Area(before + 1, self.area.left, after - 1, self.area.right)
            for before, after in pairwise(ends)
            if after - before > 1
        ]


class _Head(msgspec.Struct, frozen=True):
    """The header of an island: its first row, its names, the first row of data."""

    first: int
    headers: tuple[str, ...] | None
    top: int


def find_extent(sheet: SheetCells, read_as: ReadAs) -> TableExtent | None:
    """Find the table of a sheet; None if it holds nothing.

    Raises:
        ValidationFailed: The header row that was said has no values.
    """
    of_sheet = read_as.header_sheet
    is_meant = of_sheet is None or of_sheet.casefold() == sheet.name.casefold()
    said = read_as.header_row if is_meant else None
    used = sheet.area
    if said is not None and said < 0:
        raise ValidationFailed("header_row is counted from 1; 0 stands for no header")
    if used is None:
        return None
    frozen = sheet.frozen_header()
    keeps_totals = read_as.totals == "keep"
    if frozen is not None and said is None:
        # The whole sheet is one island then, of which remarks and a total may be the end.
        head = _Head(used.top, frozen, used.top + 1)
        return _around(sheet, [used], used, head, keeps_totals=keeps_totals)
    areas = sheet.island_areas()
    if not areas:
        return None
    if said:
        core = _island_at(sheet, areas, said)
        row = tuple(map(plain_text, sheet.row(said, core.left, core.right)))
        head = _Head(said, row, said + 1)
    else:
        # Notes and totals around a table are smaller than it is.
        core = max(areas, key=_size)
        head = _head(sheet, core)
        if head.headers is None and said is None and (above := _begun(sheet, areas, core)):
            core, head = above
        if said == 0:
            head = _Head(head.first, None, head.first)
        core, head = _first_page(sheet, areas, core, head)
    return _around(sheet, areas, core, head, keeps_totals=keeps_totals)


def _begun(sheet: SheetCells, areas: Sequence[Area], core: Area) -> tuple[Area, _Head] | None:
    """Return the island above that begins the table of one without names, and its header.

    A blank row between them does not end it: it stands in the same columns, its names are above
    the figures of both, and neither has a text where the other has figures.
    """
    rows = [*filled_rows(sheet, _top(core)).values()]
    for area in sorted(areas, key=lambda each: each.bottom, reverse=True):
        if area.bottom >= core.top or (area.left, area.right) != (core.left, core.right):
            continue
        head = _head(sheet, area)
        below = Area(head.top, area.left, area.bottom, area.right)
        own = [*filled_rows(sheet, _top(below)).values()] if head.top <= area.bottom else []
        if head.headers is None:
            rows += own
            continue
        figures = figure_places(own or rows)
        goes_on = bool(figures) and all(
            figure_places([row]) >= figures - {n for n, value in enumerate(row) if value == ""}
            for row in rows
        )
        return (area, head) if goes_on and figure_places(rows) == figures else None
    return None


def _top(area: Area) -> Area:
    """Return the first rows of an area."""
    return Area(area.top, area.left, min(area.bottom, area.top + _HEAD_ROWS), area.right)


def _island_at(sheet: SheetCells, areas: Sequence[Area], row: int) -> Area:
    """Return the island that a row is in, the largest one of several side by side."""
    used = sheet.area
    assert used is not None
    found = [area for area in areas if area.top <= row <= area.bottom]
    filled = [area for area in found if any(v != "" for v in sheet.row(row, area.left, area.right))]
    if filled:
        return max(filled, key=_size)
    if row > used.bottom:
        raise ValidationFailed(
            f"the sheet {sheet.name} has {used.bottom:,} rows; header_row {row:,} is not one "
            "of them"
        )
    raise ValidationFailed(
        f"row {row:,} of the sheet {sheet.name} has no values, so it is no header"
    )


def _around(
    sheet: SheetCells, areas: Sequence[Area], core: Area, head: _Head, *, keeps_totals: bool
) -> TableExtent:
    """Return the extent of the table that an island begins, with what is around it."""
    area = Area(head.first, core.left, core.bottom, core.right)
    others, has_ended = list[Area](), False
    for found in areas:
        if found == core:
            continue
        inside = found.left >= area.left and found.right <= area.right
        is_below = inside and found.top > area.bottom
        # What is below another table is none of this one.
        has_ended = has_ended or (is_below and not _goes_on(sheet, found, head, core))
        if is_below and not has_ended:
            area = Area(area.top, area.left, found.bottom, area.right)
        # An island between blank cells of the table is part of it and not worth a warning.
        elif not (inside and area.top <= found.top and found.bottom <= area.bottom):
            others.append(found)
    bottom = _bottom(sheet, area, head.top)
    last = bottom
    if not keeps_totals:
        bottom = _above_total(sheet, Area(head.top, area.left, last, area.right))
    aside = _below_header(sheet, area, head)
    skipped = frozenset((head.top,)) if aside else frozenset[int]()
    warnings: tuple[str, ...] = ()
    if others:
        listed = ", ".join(map(str, others[:5])) + (" …" if len(others) > 5 else "")
        table = Area(area.top, area.left, bottom, area.right)
        warnings = (f"The table is {table}; not in it: {listed}.",)
    left_out = [*_left_out(sheet, others, area.top)]
    for what, start, end in (
        (ABOVE, core.top, head.first - 1),
        (aside, head.top, head.top if aside else 0),
        (UNCALCULATED, bottom + 1, last),
        (BELOW, last + 1, area.bottom),
    ):
        rows = filled_rows(sheet, Area(start, area.left, end, area.right)) if start <= end else {}
        numbers = [number for number, row in rows.items() if count_values(row)]
        if numbers:
            stored = sheet.row(numbers[0], area.left, area.right)
            left_out.append(touched_rows(what, numbers, told_row(stored)))
            listed = ", ".join(map(str, numbers[:3])) + (" …" if len(numbers) > 3 else "")
            warnings = (*warnings, f"Left out: {what} (row {listed}).")
    repaired: tuple[TouchedRows, ...] = ()
    header_row = head.top - 1 if head.headers is not None else 0
    if header_row > head.first:
        told = ", ".join(head.headers or ())[:SAMPLE_CHARS]
        repaired = (touched_rows(JOINED_NAMES, [head.first, header_row], told),)
    return TableExtent(
        Area(area.top, area.left, bottom, area.right),
        head.headers,
        head.top,
        header_row,
        head.top - head.first,
        skipped,
        left_out=tuple(left_out),
        repaired=repaired,
        warnings=warnings,
    )


def _below_header(sheet: SheetCells, area: Area, head: _Head) -> str:
    """Return what the row below the header is, "" for a row of data: units, or column numbers."""
    rows = [*filled_rows(sheet, _top(Area(head.top, area.left, area.bottom, area.right))).values()]
    if head.headers is None or not rows:
        return ""
    # What stands again on the next printed page says nothing of the columns.
    again = (rows[0], sheet.row(head.top - 1, area.left, area.right))
    below = [row for row in rows if row not in again and count_values(row)]
    first, *rest = ([*map(plain_text, row)] for row in (rows[0], *below))
    figures = figure_places(below)
    if all(isinstance(value, str) for value in rows[0]):
        return UNITS if has_units(first, rest, figures) else ""
    others = {n for n, value in enumerate(first) if not _are_texts(row[n] for row in below)}
    return COLUMN_NUMBERS if numbers_columns(first, rest, others) else ""


def _are_texts(values: Iterable[Value]) -> bool:
    return all(isinstance(value, str) for value in values)


def _first_page(
    sheet: SheetCells, areas: Sequence[Area], core: Area, head: _Head
) -> tuple[Area, _Head]:
    """Return the topmost island in the same columns that has the same header, and this header."""
    for area in areas:
        if area.bottom >= core.top or head.headers is None:
            break
        if (area.left, area.right) == (core.left, core.right):
            above = _head(sheet, area)
            are_pages = _have_same_titles(sheet, (area, above), (core, head))
            if are_pages and repeats_header(above.headers or (), head.headers):
                return area, above
    return core, head


def _goes_on(sheet: SheetCells, found: Area, head: _Head, table: Area) -> bool:
    """Tell whether an island below a table is more of it, and no table of its own."""
    if sheet.island(found).headers is not None:
        return _begins_alike(sheet, found, head, table)
    own = _head(sheet, found)
    if own.headers is None:
        return True
    if repeats_header(own.headers, head.headers or ()):
        return _have_same_titles(sheet, (table, head), (found, own))
    # Below a title a header is one only where it plainly names figures.
    return not _heads_figures(sheet, found, filled_rows(sheet, _top(found)), own.top - 1)


def _have_same_titles(
    sheet: SheetCells, one: tuple[Area, _Head], other: tuple[Area, _Head]
) -> bool:
    """Tell whether the titles of a table are those of one above but for digits, as on pages.

    Tables of one header below other titles are of other things: income and expenses.
    """
    first, second = (
        {
            # A number, such as a year, is no title that a page would have again.
            _PAGE.sub("", value.casefold()) if isinstance(value, str) else value
            for _, row in sheet.rows(Area(area.top, area.left, head.first - 1, area.right))
            for value in row
        }
        if area.top < head.first
        else set[Value]()
        for area, head in (one, other)
    )
    return second - {""} <= first and all(isinstance(value, str) for value in second)


def _begins_alike(sheet: SheetCells, found: Area, head: _Head, table: Area) -> bool:
    """Tell whether an island begins with the header of a table."""
    if head.headers is None:
        return False
    rows = (sheet.row(number, table.left, table.right) for number in (found.top, head.first))
    first, own = ([plain_text(value) for value in row] for row in rows)
    return repeats_header(first, own)


def _size(area: Area) -> int:
    return (area.bottom - area.top + 1) * (area.right - area.left + 1)


def _left_out(sheet: SheetCells, others: Sequence[Area], top: int) -> Iterator[TouchedRows]:
    """Yield a record for each island that is not in the table; the last one is of all further."""
    for place, area in enumerate(others):
        rest = others[place:] if place == MOST_NAMED - 1 else [area]
        is_table = _head(sheet, area).headers is not None
        what = OTHER_TABLE if is_table else ABOVE if area.bottom < top else OTHER_CELLS
        numbers = islice((n for each in rest for n in range(each.top, each.bottom + 1)), MOST_NAMED)
        count = sum(each.bottom - each.top + 1 for each in rest)
        first = sheet.row(area.top, area.left, area.right)
        yield TouchedRows(what, count, tuple(numbers), f"{area}: {told_row(first)}"[:SAMPLE_CHARS])
        if len(rest) > 1:
            return


def _head(sheet: SheetCells, core: Area) -> _Head:
    """Return the header of an island, below its titles if it has some."""
    sample = Area(core.top, core.left, min(core.bottom, core.top + _HEAD_ROWS), core.right)
    rows = filled_rows(sheet, sample)
    typical = typical_count([*rows.values()])
    for row in range(core.top, min(sample.bottom, core.top + _MOST_TITLES) + 1):
        # Before names are looked for: a formula without a result could be one.
        if _is_total_above(sheet, core, rows, row):
            continue
        if row < sample.bottom and (joined := _joined_names(sheet, core, rows, row)) is not None:
            return _Head(row, joined, row + 2)
        headers = sheet.island(Area(row, core.left, core.bottom, core.right)).headers
        if headers is not None and (row == core.top or count_values(rows[row]) > typical // 2):
            return _Head(row, headers, row + 1)
        # Titles have few values; what has more is data without a header, and so is a list.
        if typical < 2 or count_values(rows[row]) > max(1, typical // 2):
            break
    return _Head(core.top, None, core.top)


def _is_total_above(sheet: SheetCells, core: Area, rows: dict[int, list[Value]], row: int) -> bool:
    """Tell whether a row is a total above the header: that stands in the next row, or below others.

    Its label says so, or its figures are all formulas that sum up cells of their own columns.
    """
    head = row
    while head in rows and head < row + _MOST_TOTALS and _may_be_total(sheet, core, rows, head):
        head += 1
    return row < head and head in rows and _heads_figures(sheet, core, rows, head)


def _may_be_total(sheet: SheetCells, core: Area, rows: dict[int, list[Value]], row: int) -> bool:
    """Tell whether a row has figures, and a label of totals or sums alone."""
    texts = [value for value in rows[row] if isinstance(value, str) and value != ""]
    figures = {
        core.left + place
        for place, value in enumerate(rows[row])
        if value != "" and not isinstance(value, str)
    }
    own = Area(row, core.left, row, core.right)
    sums = {column for _, column, text in sheet.aggregating(own) if may_aggregate(text, column)}
    is_labeled = any(total_label(text) is not None for text in texts)
    return bool(figures) and (is_labeled or figures <= sums)


def _heads_figures(sheet: SheetCells, core: Area, rows: dict[int, list[Value]], row: int) -> bool:
    """Tell whether a row plainly names columns: texts alone above figures, no missing value."""
    names = rows[row]
    texts = [name for name in names if isinstance(name, str) and name.strip()]
    places = figure_places([values for number, values in rows.items() if number > row])
    return (
        len(texts) == len(names)
        and bool(places)
        and not any(text.strip().lower() in MISSING_TEXTS for text in texts)
        and sheet.island(Area(row, core.left, core.bottom, core.right)).headers is not None
    )


def _joined_names(
    sheet: SheetCells, core: Area, rows: dict[int, list[Value]], row: int
) -> tuple[str, ...] | None:
    """Return the names that two rows make together, the upper one of which heads several columns.

    That it does so is told by merged cells, by names that only both together tell apart, or by
    cells of the lower row that are blank below a name.
    """
    upper, lower = rows[row], rows[row + 1]
    below = [rows[number] for number in range(row + 2, max(rows) + 1)]
    # Where they stand again, as on printed pages, they say nothing of the columns.
    below = [each for each in below if each not in (upper, lower)]
    if not all(isinstance(value, str) for value in lower) or not _heads_several(upper, lower):
        return None
    # What the lower row has is a name only above figures.
    if not any(lower[place] != "" for place in figure_places(below)):
        return None
    wide = [
        area
        for area in sheet.merged_areas()
        if area.top == row and core.left <= area.left < area.right <= core.right
    ]
    named = [value for value in lower if value != ""]
    if not wide and len(set(named)) == len(named) == len(lower):
        return None
    names = _names(upper, lower, core.left, wide)
    first: list[Value] = [*names]
    if not all(names) or not names_columns([first, *below]):
        return None
    return tuple(names)


def _heads_several(upper: Sequence[Value], lower: Sequence[Value]) -> bool:
    """Tell whether a row's texts could head more columns than their own, and are no title."""
    filled = [value for value in upper if value != ""]
    if not filled or not any(isinstance(value, str) for value in filled):
        return False
    if len(filled) == 1 and upper[0] != "":
        return False
    gaps = any(one == "" and other != "" for one, other in zip(upper, lower, strict=True))
    return gaps or len(set(filled)) < len(filled)


def _names(
    upper: Sequence[Value], lower: Sequence[Value], left: int, wide: Sequence[Area]
) -> list[str]:
    """Join the names of two rows; the upper one's go on to the right as far as they head."""
    names = []
    group, end = "", -1
    for place, (above, below) in enumerate(zip(upper, lower, strict=True)):
        if above != "":
            group = plain_text(above)
            spans = [area.right - left for area in wide if area.left - left == place]
            # Without merged cells a name heads all columns up to the next one.
            end = spans[0] if spans else (place if wide else len(upper))
            if below == "":
                end = min(end, place)
        own = plain_text(below) if below != "" else ""
        names.append(" ".join(part for part in (group if place <= end else "", own) if part))
    return names


def _bottom(sheet: SheetCells, area: Area, top: int) -> int:
    """Return the last row of a table without the remarks below it."""
    start = max(top + 1, area.bottom - _TAIL_ROWS)
    if start > area.bottom or area.left == area.right:
        return area.bottom
    head = filled_rows(sheet, Area(top, area.left, min(area.bottom, top + _HEAD_ROWS), area.right))
    typical, figures = typical_count([*head.values()]), figure_places([*head.values()])
    tail = filled_rows(sheet, Area(start, area.left, area.bottom, area.right))
    bottom = row = area.bottom
    block: list[int] = []
    while row >= start:
        values = tail[row]
        if is_aside(values, typical):
            block.append(row)
        elif count_values(values) == 0:
            if block:
                bottom = row - 1
            block = []
        else:
            break
        row -= 1
    # Right below a row they are remarks if they stand where the table has figures, or by their form
    # where no row begins so.
    firsts = [plain_text(values[0]) for values in head.values() if count_values(values) > 1]
    is_plain = not any(map(is_remark, firsts))
    if row >= start - 1 and block:
        surely = [
            number
            for number in block
            if stands_in(tail[number], figures)
            or (
                is_plain
                and count_values(tail[number]) == 1
                and is_remark(plain_text(tail[number][0]))
            )
        ]
        if len(surely) == len(block):
            bottom = min(block) - 1
    while bottom in tail and count_values(tail[bottom]) == 0:
        bottom -= 1
    return bottom


def _above_total(sheet: SheetCells, area: Area) -> int:
    """Return the last row of a table without a total at its end that nobody calculated.

    Its figures are all formulas without a stored result, so that it is a row of a label alone.
    """
    row = sheet.row(area.bottom, area.left, area.right)
    texts = [value for value in row if isinstance(value, str) and value != ""]
    last = Area(area.bottom, area.left, area.bottom, area.right)
    has_formulas = count_values(filled_rows(sheet, last)[area.bottom]) > len(texts)
    if (
        area.bottom == area.top
        or not has_formulas
        or len(texts) < count_values(row)
        or not any(total_label(text) is not None for text in texts)
    ):
        return area.bottom
    bottom = area.bottom - 1
    while bottom > area.top and not count_values(sheet.row(bottom, area.left, area.right)):
        bottom -= 1
    return bottom
