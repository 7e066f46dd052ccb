"""A range copied to another place: its values, its formulas, its look, or all of it.

Cells are copied as they are written, so that runs of texts come along. Formulas move as in Excel:
what is not absolute in them is as far from the new place as from the old one.
"""

import re
from collections.abc import Iterator

import msgspec

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, cell_name, overlaps, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.ranges.carried_objects import Copies, carry_objects
from kbd_xlsx.edits.ranges.moved_formulas import moved_formula
from kbd_xlsx.edits.ranges.places import (
    MAX_CELLS,
    WHOLE,
    check_groups,
    check_headers,
    check_pivots,
    clipped,
    note_formula,
    opened_blocks,
    put_cells,
)
from kbd_xlsx.operations import CopyRange
from kbd_xlsx.parts.cell_blocks import CellBlocks, LooseCell
from kbd_xlsx.parts.cells import contains, size_of

__all__ = ["copy_range"]

Cells = dict[int, dict[int, LooseCell]]
_BLANK = LooseCell(b"", b"")


class _Side(msgspec.Struct, frozen=True):
    """A sheet that is copied from, or to."""

    title: str
    blocks: CellBlocks
    area: Area

    def style(self, row: int, column: int, cell: LooseCell | None) -> int:
        """Return the style of a cell, or the one that it would inherit."""
        if cell is not None:
            return cell.style
        own = self.blocks.own_style(row)
        return self.blocks.columns.style(column) if own is None else own


def copy_range(book: BookEdit, operation: CopyRange) -> str:
    """Copy a range and say where to.

    Raises:
        ValidationFailed: The place has no room or holds what cannot be overwritten in part, or
            values are asked for of a formula without a stored result.
    """
    what = operation.what
    title, blocks = opened_blocks(book, operation.sheet)
    asked = parse_area(operation.source, WHOLE)
    source = _Side(title, blocks, clipped(blocks, asked) if asked.bottom == MAX_ROW else asked)
    target_title, target_blocks = title, blocks
    if operation.to_sheet is not None and book.title(operation.to_sheet) != title:
        target_title, target_blocks = opened_blocks(book, operation.to_sheet)
    target = _Side(target_title, target_blocks, _place(operation, source.area))
    _check(book, source, target, what)
    new: dict[int, dict[int, LooseCell | None]] = {}
    held, there = source.blocks.cells(source.area), target.blocks.cells(target.area)
    for rows, columns in _offsets(source.area, target.area):
        copier = _Copier(book, source, target, what, (rows, columns))
        places = _positions(
            source, target, (held, there), (rows, columns), with_looks=what in ("all", "formats")
        )
        for row, column in places:
            cell = held.get(row, {}).get(column)
            at = row + rows, column + columns
            old = there.get(at[0], {}).get(at[1])
            new.setdefault(at[0], {})[at[1]] = copier.copied((row, column), cell, old)
    put_cells(book, target.title, target.blocks, new, [] if what == "formats" else [target.area])
    if what in ("all", "formats"):
        _copy_merges(book, source, target)
    along = ""
    if what == "all":
        offsets = tuple(_offsets(source.area, target.area))
        along = _carry(book, Copies(title, source.area, target_title, target.area, offsets))
    return f"{target.title}!{target.area}: {what} of {source.title}!{source.area}{along}"


def _place(operation: CopyRange, source: Area) -> Area:
    """Return where copies go: from one cell on, or all over a range."""
    asked = parse_area(operation.to, WHOLE)
    height, width = source.bottom - source.top + 1, source.right - source.left + 1
    rows, columns = asked.bottom - asked.top + 1, asked.right - asked.left + 1
    if asked.bottom == MAX_ROW:
        rows = height
    if (rows, columns) == (1, 1):
        rows, columns = height, width
    if rows % height or columns % width:
        raise ValidationFailed(
            f"{operation.to} is no whole number of copies of {source} ({height} x {width} cells); "
            "name its first cell alone"
        )
    area = Area(asked.top, asked.left, asked.top + rows - 1, asked.left + columns - 1)
    if area.bottom > MAX_ROW or area.right > MAX_COLUMN:
        raise ValidationFailed(f"{operation.to} leaves no room: a sheet ends at XFD1048576")
    if size_of(area) > MAX_CELLS:
        raise ValidationFailed(f"copy_range reaches {MAX_CELLS:,} cells at most")
    return area


def _check(book: BookEdit, source: _Side, target: _Side, what: str) -> None:
    if what != "formats":
        check_headers(book, target.title, target.area)
        check_groups(target.blocks, target.area, target.title, verb="copied over")
        check_pivots(book, target.title, target.area)
        if what != "values":
            check_groups(source.blocks, source.area, source.title, verb="copied")
    for merge in book.sheet(target.title).merges:
        if overlaps(merge, target.area):
            raise ValidationFailed(
                f"{target.title}!{target.area} holds the merged cells {merge}; unmerge them first"
            )


def _offsets(source: Area, target: Area) -> Iterator[tuple[int, int]]:
    """Yield how far each copy is from what is copied."""
    height, width = source.bottom - source.top + 1, source.right - source.left + 1
    for top in range(target.top, target.bottom + 1, height):
        for left in range(target.left, target.right + 1, width):
            yield top - source.top, left - source.left


def _positions(
    source: _Side,
    target: _Side,
    cells: tuple[Cells, Cells],
    offset: tuple[int, int],
    *,
    with_looks: bool,
) -> Iterator[tuple[int, int]]:
    """Yield the places of the source that have something to copy, or to write over."""
    rows, columns = offset
    area, (held, there) = source.area, cells
    looks = (
        [column for column in range(area.left, area.right + 1)
         if source.blocks.columns.style(column) or target.blocks.columns.style(column + columns)]
        if with_looks else []
    )  # fmt: skip
    for row in range(area.top, area.bottom + 1):
        found = set(held.get(row, ()))
        found.update(
            column - columns
            for column in there.get(row + rows, ())
            if area.left <= column - columns <= area.right
        )
        # Where rows or columns have a look of their own, cells that are not there have it, too.
        found.update(looks)
        if with_looks and (
            source.blocks.own_style(row) is not None
            or target.blocks.own_style(row + rows) is not None
        ):
            found.update(range(area.left, area.right + 1))
        yield from ((row, column) for column in sorted(found))


class _Copier:
    """Makes the cells of one copy.

    Args:
        book: The workbook.
        source: Where they come from.
        target: Where they go.
        what: What of them is copied.
        offset: How far they move, in rows and columns.
    """

    def __init__(
        self, book: BookEdit, source: _Side, target: _Side, what: str, offset: tuple[int, int]
    ) -> None:
        self._book, self._source, self._target = book, source, target
        self._what, self._offset = what, offset

    def copied(
        self, place: tuple[int, int], cell: LooseCell | None, old: LooseCell | None
    ) -> LooseCell | None:
        """Return the cell at the new place; None for none."""
        at = place[0] + self._offset[0], place[1] + self._offset[1]
        inherited = self._target.style(*at, None)
        source = self._source.style(*place, cell)
        style = source if self._what in ("all", "formats") else self._target.style(*at, old)
        if self._what == "formats":
            made = (old or _BLANK).styled(style)
        else:
            made = self._content(cell or _BLANK, place, at).styled(style)
        if not made.inner and style == inherited == 0:
            return None
        return made

    def _content(self, cell: LooseCell, place: tuple[int, int], at: tuple[int, int]) -> LooseCell:
        blocks = self._source.blocks
        text = blocks.formula(cell)
        if text is None:
            return self._spelt(cell)
        if self._what == "values":
            if not blocks.value(cell) and cell.kind != "str":
                raise ValidationFailed(
                    f"{self._source.title}!{cell_name(*place)} has no stored result yet, so its "
                    "value cannot be copied; copy what formulas"
                )
            return self._spelt(blocks.without_formula(cell))
        moved = moved_formula(text, *self._offset)
        # A result is of the old place.
        made = blocks.without_result(blocks.with_formula(cell, moved, cell_name(*at)))
        note_formula(self._book, self._target.title, at, moved)
        return self._spelt(made)

    def _spelt(self, cell: LooseCell) -> LooseCell:
        """Return a cell as the part that it goes to spells its names."""
        old, new = self._source.blocks.prefix.encode(), self._target.blocks.prefix.encode()
        if old == new:
            return cell
        # A text holds no "<", so what follows one is a tag.
        tag = re.compile(rb"<(/?)" + re.escape(old) + rb"(?=[A-Za-z]+[\s/>])")
        return cell._replace(inner=tag.sub(rb"<\1" + new, cell.inner))


def _copy_merges(book: BookEdit, source: _Side, target: _Side) -> None:
    merges = [merge for merge in book.sheet(source.title).merges if contains(source.area, merge)]
    sheet = book.sheet(target.title)
    for rows, columns in _offsets(source.area, target.area):
        for merge in merges:
            sheet.merge(
                Area(
                    merge.top + rows, merge.left + columns,
                    merge.bottom + rows, merge.right + columns,
                )
            )  # fmt: skip


def _carry(book: BookEdit, copies: Copies) -> str:
    """Have what lies on cells go along, say so, and warn of what does not."""
    gone, left = carry_objects(book, copies)
    if left:
        book.notices.warn(
            f"copy_range left behind of {copies.source}!{copies.area}: {', '.join(left)}."
        )
    return f" with {', '.join(gone)}" if gone else ""
