"""Workbooks of Office Open XML.

`handler` declares the format and `operations` what can be asked of it.
`workbook` and `features` read its parts, `grids` its values and `formulas` what those leave out;
`references` are cells and ranges. `mapping`, `islands`, `reading` and `tables` show them.
`editing`, `values` and `styles` carry out operations. `filling` writes tables, with what
is in `rows`.
`saving` writes the file, `marker` recognises files that were written so, `loading` reads them.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_xlsx.handler import XlsxFormat

__all__ = ["XlsxFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format of workbooks."""
    return (XlsxFormat(),)
