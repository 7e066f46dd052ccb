"""Delimited text as tables.

`handler` declares the format; `dialect` finds what separates and quotes fields, `rows` streams rows
whatever is wrong with them and writes them; `kinds` tells what fields look like, `layout` where the
table begins (below `preambles`, or which of several `record_types` it is of), `head` puts both
together with what was said, and asks about `joined_numbers`; `sorter` tells rows of the table from
other lines, such as `page_lines`, and `touched_rows` counts them; `tables` maps and reads tables,
`writer` writes files in the `notation` of what they hold already;
`grid` shows a window of one; `comparison` compares two versions by their rows, cells and columns.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_csv.handler import CsvFormat

__all__ = ["CsvFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format of delimited text."""
    return (CsvFormat(),)
