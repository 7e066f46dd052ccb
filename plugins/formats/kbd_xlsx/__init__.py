"""Workbooks of Office Open XML.

`handler` declares the format and `operations` what can be asked of it. `values` checks what goes
into cells, `stored_formulas` spells formulas as files do, `translator` moves formulas from one cell
to another. What sheets of any format have in common is `kbd.sheets`.

Seen: `workbook` reads what there is beside sheets, `reader` finds what is in a sheet, once, after
its extent is bounded; `workbook_map`, `regions` and `grid` show it; `active_content` is what of
it runs or fetches.

Changed: `parts` are the pieces of a file, each changed by itself. `edits` apply operations, `rows`
places the rows of tables, `shifting` carries references along where rows or columns are put in or
taken out, `styles` describes formatting, `assets` copies it, `drawings` are charts and pictures,
`calculation` knows which results an edit makes old, `results` works them out anew. `tables` reads
the table of a sheet and writes one. `comparison` finds what differs between two versions,
`relocation` carries operations over from one to the other; `receipt` finds the same as facts for
receipts, and `receipt_check` finds those again, sharing no code.
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
