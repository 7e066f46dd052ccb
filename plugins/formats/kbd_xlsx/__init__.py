"""Workbooks of Office Open XML.

`handler` declares the format and `operations` what can be asked of it; `references` are cells and
ranges. `values`, `formulatext` and `contents` check what goes into cells and spell it as files do.

Seen: `workbook` reads what there is beside sheets, `extents` bounds a sheet before it is loaded,
`reader` finds what is in it, once; `workbook_map`, `regions` and `tables` show
it.

Changed: `parts` are the pieces of a file, each changed by itself. `edits` apply operations, `rows`
and `table_writer` write tables, `styles` tells looks, `assets` copies them, `calculation` knows
which results an edit makes old.
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
