"""What a workbook tells about its formulas besides their cells: names and tables."""

import msgspec

from kbd_xlsx.references import Area

__all__ = ["DefinedName", "TableArea"]


class DefinedName(msgspec.Struct, frozen=True):
    """A name of the workbook, or of one sheet.

    Args:
        name: As it is written in formulas; compared without case.
        scope: The title of the sheet that it belongs to, None for the whole workbook.
        text: The formula that it stands for, with or without "=".
    """

    name: str
    scope: str | None
    text: str


class TableArea(msgspec.Struct, frozen=True):
    """A table, for references such as Sales[Amount].

    Args:
        name: The name that formulas use (displayName).
        sheet: The title of its sheet.
        area: All of its cells, with header and totals.
        columns: The names of its columns, from left to right.
        header_rows: How many rows its header has, 0 or 1.
        totals_rows: How many rows of totals it ends with, 0 or 1.
    """

    name: str
    sheet: str
    area: Area
    columns: tuple[str, ...]
    header_rows: int = 1
    totals_rows: int = 0
