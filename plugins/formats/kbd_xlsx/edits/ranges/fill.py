"""One formula over a range: each cell has it as its own, as every program reads that."""

from functools import partial

from kbd.errors import ValidationFailed
from kbd.sheets.areas import cell_name
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.ranges.moved_formulas import moved_formula
from kbd_xlsx.edits.ranges.places import checked_area
from kbd_xlsx.operations import FillFormula
from kbd_xlsx.values import checked_formula

__all__ = ["fill_formula"]


def fill_formula(book: BookEdit, writer: CellWriter, operation: FillFormula) -> str:
    """Fill a range and say which.

    Raises:
        ValidationFailed: The formula is malformed, leaves the sheet somewhere in the range, or a
            cell of the range cannot hold one.
    """
    sheet = book.sheet(operation.sheet)
    area = checked_area(operation.range, what="fill_formula")
    first = f"{sheet.name}!{cell_name(area.top, area.left)}"
    text = checked_formula(operation.formula, first)
    shown = partial(_checked, text, operation.range)
    writer.set_formulas(
        sheet.name,
        (
            (row, column, shown(row - area.top, column - area.left))
            for row in range(area.top, area.bottom + 1)
            for column in range(area.left, area.right + 1)
        ),
    )
    return f"{sheet.name}!{area}: ={text} and so on"


def _checked(text: str, area: str, rows: int, columns: int) -> str:
    moved = moved_formula(text, rows, columns)
    if "#REF!" in moved and "#REF!" not in text:
        raise ValidationFailed(
            f"={text} leaves the sheet within {area}; write it as of the range's first cell, with "
            "$ at what must not move"
        )
    return moved
