"""Workbooks of LibreOffice and its relatives: mapped, read by sheet and range, and used as tables.

`handler` declares the format. `workbook` opens a file of it, zipped or flat, and keeps its sheets
for later calls; `content_parser` reads them in one pass, with `cell_values` for what a cell holds,
`formula_texts` for how formulas are shown and `sheet_builder` for the sheet that they add up to.
`sheets` offers sheets as `kbd.sheets` wants them; `regions` shows them, `workbook_map` maps them,
`tables` reads the table of one.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_ods.handler import OdsFormat

__all__ = ["OdsFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format."""
    return (OdsFormat(),)
