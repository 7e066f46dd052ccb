"""Delimited text as tables.

`handler` declares the format; `dialect` finds delimiter, quotes and header, `rows` streams rows
whatever is wrong with them, `tables` maps them and writes the plain form, `writing` makes files.
`plainform` is how both write rows.
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
