"""Files of typed columns as tables: Parquet and Arrow.

`handler` declares the formats; `parquet_files` and `arrow_files` open a file, `tables` reads it
with DuckDB, which the table tools bring along; `parquet_writer` writes one. Arrow files need
pyarrow as well, an extra of kbd.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_parquet.handler import ArrowFormat, ParquetFormat

__all__ = ["ArrowFormat", "ParquetFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the formats of Parquet and Arrow files."""
    return (ParquetFormat(), ArrowFormat())
