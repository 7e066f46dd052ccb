"""Puts rows on a sheet, one below the other."""

from collections.abc import Sequence
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import Column
from kbd.opc.guard import MAX_PART_BYTES
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import BLANK, CellEdit
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.references import MAX_ROW, cell_name
from kbd_xlsx.rows.formatting import RowFormatting
from kbd_xlsx.rows.row_types import TypedRows
from kbd_xlsx.rows.text import RowText

__all__ = ["RowPlacing"]


class RowPlacing:
    """Puts a header and rows on a sheet: as ready text where it has no row, else cell by cell.

    Args:
        book: The workbook.
        sheet: The sheet.
        columns: The columns in order.
        typed: Types the values.
        row: The first row.
        left: The first column.

    Attributes:
        next_row: Where the next row goes.
    """

    def __init__(
        self,
        book: BookEdit,
        sheet: SheetPart,
        columns: Sequence[Column],
        typed: TypedRows,
        row: int,
        left: int,
    ) -> None:
        self.next_row = row
        self._sheet, self._columns, self._typed, self._left = sheet, columns, typed, left
        self._looks = RowFormatting(book)
        # Of a row that is not there, so that they are the columns' own.
        bases = [sheet.style_at(MAX_ROW + 1, left + number) for number in range(len(columns))]
        self._text = RowText(sheet.prefix, columns, left, typed, self._looks, bases)
        self._size = 0

    def header(self) -> None:
        """Put the names of the columns; raises ValidationFailed if no cell can hold one."""
        row = self._begun()
        if not self._sheet.has_row(row):
            self._put(row, self._text.header(row))
            return
        for number, column in enumerate(self._columns, self._left):
            content = self._typed.name(column.name, cell_name(row, number))
            base = self._sheet.style_at(row, number)
            self._sheet.set(row, number, self._looks.name_edit(base, content))

    def row(self, values: Sequence[Any]) -> None:
        """Put a row of values; None empties a cell.

        Raises:
            ValidationFailed: A cell cannot hold a value, or the sheet cannot hold the row.
        """
        row = self._begun()
        if not self._sheet.has_row(row):
            self._put(row, self._text.row(row, values))
            return
        pairs = zip(self._columns, values, strict=True)
        for number, (column, value) in enumerate(pairs, self._left):
            if value is None:
                self._sheet.set(row, number, CellEdit(BLANK))
                continue
            held = self._typed.held(column.type, value, cell_name(row, number))
            base = self._sheet.style_at(row, number)
            self._sheet.set(row, number, self._looks.edit(base, held))

    def _begun(self) -> int:
        """Return the next row, which the caller fills."""
        row = self.next_row
        if row > MAX_ROW:
            raise ValidationFailed(f"The rows do not fit: a sheet ends at row {MAX_ROW:,}.")
        self.next_row += 1
        return row

    def _put(self, row: int, cells: str) -> None:
        if not cells:
            return
        self._size += len(cells)
        if self._size > MAX_PART_BYTES:
            raise ValidationFailed(
                "The rows are too many to be read again from a workbook; write them as CSV."
            )
        self._sheet.put_row(row, cells)
