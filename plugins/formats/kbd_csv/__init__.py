"""Delimited text as tables.

`handler` declares the format; `rows` finds delimiter, quotes and header, streams rows whatever is
wrong with them, and writes them in the plain form; `tables` maps and reads tables, and writes
files; `grid` shows a window of one; `comparison` compares two versions by their rows, cells and
columns.
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
