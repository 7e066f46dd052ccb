"""Structured references as plain ones: what `Sales[[#This Row],[Amount]]` means in a cell.

Engines read tables in their own ways, and not all forms of such references; plain ranges they all
read alike.
"""

import re
from collections.abc import Sequence

from kbd.sheets.areas import Area, column_letters
from kbd_xlsx.calculation.operand_ranges import Place, TableArea, cells_of_table

__all__ = ["resolve_tables"]

_INSIDE = r"(?:[^\[\]']|'.)*"
_REFERENCE = re.compile(
    rf'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'!?|([\w.\\?]*)\[({_INSIDE}(?:\[{_INSIDE}\]{_INSIDE})*)\]',
    re.DOTALL,
)


def resolve_tables(
    text: str, place: Place, titles: Sequence[str], tables: Sequence[TableArea]
) -> str | None:
    """Return a formula with plain references in place of structured ones.

    Args:
        text: The formula.
        place: The cell that it stands in.
        titles: Of the sheets.
        tables: Of the workbook.

    Returns:
        The formula; None if one of the references means no cells, or is to no table.
    """
    if "[" not in text:
        return text
    fails = False

    def plain(found: re.Match[str]) -> str:
        nonlocal fails
        if found[2] is None:
            return found[0]
        table = _table(found[1], place, titles, tables)
        area = None if table is None else cells_of_table(table, found[2], place[1])
        if table is None or area is None:
            fails = True
            return found[0]
        sheet = table.sheet.replace("'", "''")
        return f"'{sheet}'!{_corners(area)}"

    resolved = _REFERENCE.sub(plain, text)
    return None if fails else resolved


def _table(
    name: str, place: Place, titles: Sequence[str], tables: Sequence[TableArea]
) -> TableArea | None:
    if name:
        folded = name.casefold()
        return next((table for table in tables if table.name.casefold() == folded), None)
    # Without a name it is the table that the formula stands in.
    sheet, row, column = place
    for table in tables:
        area = table.area
        if (
            table.sheet == titles[sheet]
            and area.top <= row <= area.bottom
            and area.left <= column <= area.right
        ):
            return table
    return None


def _corners(area: Area) -> str:
    first = f"${column_letters(area.left)}${area.top}"
    last = f"${column_letters(area.right)}${area.bottom}"
    return first if first == last else f"{first}:{last}"
