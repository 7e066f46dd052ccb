"""Look of a range: of its cells, or of whole columns and rows, which new cells then take on."""

from collections.abc import Callable, Mapping
from typing import Any

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.ranges.places import MAX_CELLS, WHOLE, checked_area, opened_blocks
from kbd_xlsx.edits.style_mistakes import check_style
from kbd_xlsx.operations import FormatRange
from kbd_xlsx.parts.cell_blocks import CellBlocks
from kbd_xlsx.parts.cells import CellEdit
from kbd_xlsx.parts.markup import attribute, opened
from kbd_xlsx.parts.row_styles import with_row_styles
from kbd_xlsx.parts.sheet_elements import with_changed, with_column_styles

__all__ = ["format_range"]

MAX_ROWS = 10_000
"""Whole rows that one operation may format: each becomes an element of the file."""

_DEFAULT_WIDTH = "9.140625"
"""Characters: what Excel shows of a column whose width nobody set."""


def format_range(book: BookEdit, operation: FormatRange) -> str:
    """Change the look of a range and say which.

    Raises:
        ValidationFailed: The range is none or too large, or the style has a plain mistake.
    """
    area = parse_area(operation.range, WHOLE)
    title = book.title(operation.sheet)
    check_style(operation.style, f"{title}!{operation.range}")
    edit = CellEdit(None, (operation.style,))
    if area.top == 1 and area.bottom == MAX_ROW:
        _format_columns(book, title, area, edit)
    elif area.left == 1 and area.right == MAX_COLUMN:
        _format_rows(book, title, area, edit)
    else:
        area = checked_area(operation.range, what="format_range")
        sheet = book.sheet(title)
        for row in range(area.top, area.bottom + 1):
            for column in range(area.left, area.right + 1):
                sheet.set(row, column, edit)
    keys: Mapping[str, Any] = operation.style
    return f"{title}!{operation.range}: {', '.join(keys) or 'nothing'}"


def _format_columns(book: BookEdit, title: str, area: Area, edit: CellEdit) -> None:
    """Format columns: they, the cells that there are, and where a row has a look of its own."""
    _, blocks = opened_blocks(book, title)
    restyle = _restyle(book, edit)
    width = _width(blocks)
    data = with_changed(
        book.rewriting.read(book.part(title)),
        title,
        {
            "cols": lambda old, prefix: with_column_styles(
                old, prefix, (area.left, area.right), restyle, width
            )
        },
    )
    is_sheet = area == WHOLE
    styled = [row for row in blocks.row_numbers(area) if blocks.own_style(row) is not None]
    if is_sheet:
        # Their own look would hide that of the columns.
        data = with_row_styles(data, title, styled, restyle)
    book.rewriting.put(book.part(title), data)
    book.flush()
    sheet = book.sheet(title)
    held = blocks.places(area)
    for row, columns in held.items():
        for column in columns:
            sheet.set(row, column, edit)
    if is_sheet:
        return
    if len(styled) * (area.right - area.left + 1) > MAX_CELLS:
        raise ValidationFailed(
            f"{title}!{area}: too many rows have a look of their own; name the rows that are meant"
        )
    for row in styled:
        for column in range(area.left, area.right + 1):
            if column not in held.get(row, ()):
                sheet.set(row, column, edit)


def _format_rows(book: BookEdit, title: str, area: Area, edit: CellEdit) -> None:
    """Format rows: they, the cells that there are, and where a column has a look of its own."""
    if area.bottom - area.top >= MAX_ROWS:
        raise ValidationFailed(
            f"{title}!{area.top}:{area.bottom} are more than {MAX_ROWS:,} rows; format the columns "
            "instead, as A:XFD for all of the sheet"
        )
    _, blocks = opened_blocks(book, title)
    sheet = book.sheet(title)
    looks = [
        column for column in range(1, _last_styled(blocks) + 1) if blocks.columns.style(column)
    ]
    cells = blocks.places(area)
    for row in range(area.top, area.bottom + 1):
        held = set(cells.get(row, ()))
        if blocks.own_style(row) is None:
            held.update(looks)
        for column in sorted(held):
            sheet.set(row, column, edit)
    book.flush()
    data = book.rewriting.read(book.part(title))
    rows = range(area.top, area.bottom + 1)
    data = with_row_styles(data, title, rows, _restyle(book, edit))
    book.rewriting.put(book.part(title), data)


def _last_styled(blocks: CellBlocks) -> int:
    """Return the last column that may get a cell for its own look."""
    # A look that goes on to the last column is that of the sheet, not of its columns.
    return next((n for n in range(200, 0, -1) if blocks.columns.style(n)), 0)


def _restyle(book: BookEdit, edit: CellEdit) -> Callable[[int], int]:
    return lambda base: book.restyle(base, edit)


def _width(blocks: CellBlocks) -> str:
    """Return the width of the sheet's columns that have none of their own."""
    found = blocks.seen("sheetFormatPr")
    word = attribute(opened(found).attributes, b"defaultColWidth") if found else None
    return word or _DEFAULT_WIDTH
