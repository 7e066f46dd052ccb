"""Parquet files as tables.

`handler` declares the format; `tables` reads files with DuckDB, which the table tools bring along:
no other library is needed, and only workers import it.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_parquet.handler import ParquetFormat

__all__ = ["ParquetFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format of Parquet files."""
    return (ParquetFormat(),)
