"""The declaration of the format; the work is in `tables`, which the worker loads once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from kbd.errors import ValidationFailed
from kbd.formats import FormatHandler, Mappable, Placement, ReadAs, Source, Table, Tabular, Written

__all__ = ["ParquetFormat"]


class ParquetFormat(FormatHandler, Mappable, Tabular):
    """Columns of typed values; read as a table, not written."""

    name = "parquet"
    wire_name = "Parquet"
    kind = "table"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".parquet": "application/vnd.apache.parquet",
        ".pq": "application/vnd.apache.parquet",
    }
    preload = ("kbd_parquet.tables",)
    guidance = "Use the table tools: count first, then query or fetch windows of rows."
    writes_tables = False
    wire_methods = ()

    def map(self, source: Source) -> dict[str, Any]:
        """Return the columns with their types, the rows and the chunks of 500 rows."""
        from kbd_parquet import tables  # noqa: PLC0415 - 90 ms of DuckDB

        return tables.table_map(source)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write every row in the plain form, with the types that the file says."""
        from kbd_parquet import tables  # noqa: PLC0415 - as in `map`

        return tables.read_table(source, sheet, read_as, target)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Refuse: there is no writer yet."""
        del source, rows, placement, target
        raise ValidationFailed("a Parquet file is read, not written; write a .csv file")
