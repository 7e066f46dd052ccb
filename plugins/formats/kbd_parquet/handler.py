"""The declarations of the formats; the work is in `tables`, which the worker loads once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from kbd.errors import ValidationFailed
from kbd.formats import FormatHandler, Mappable, Placement, ReadAs, Source, Table, Tabular, Written

__all__ = ["ArrowFormat", "ParquetFormat"]


class _TypedColumns(FormatHandler, Mappable, Tabular):
    """Columns of typed values, read as a table."""

    kind = "table"
    guidance = "Use the table tools: count first, then query or fetch windows of rows."
    writes_types = True
    wire_methods = ()


class ParquetFormat(_TypedColumns):
    """Parquet files."""

    name = "parquet"
    wire_name = "Parquet"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".parquet": "application/vnd.apache.parquet",
        ".pq": "application/vnd.apache.parquet",
    }
    preload = ("kbd_parquet.parquet_files", "kbd_parquet.parquet_writer")

    def map(self, source: Source) -> dict[str, Any]:
        """Return the columns with their types, the rows and the chunks of 500 rows."""
        from kbd_parquet import parquet_files, tables  # noqa: PLC0415 - 90 ms of DuckDB

        return tables.table_map(source, parquet_files.opened)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write every row in the plain form, with the types that the file says."""
        from kbd_parquet import parquet_files, tables  # noqa: PLC0415 - as in `map`

        return tables.read_table(source, sheet, read_as, target, parquet_files.opened)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Write a new file, its columns typed; rows are not added to one that is there."""
        from kbd_parquet import parquet_writer  # noqa: PLC0415 - as in `map`

        del source
        return parquet_writer.write_rows(rows, placement, target)


class ArrowFormat(_TypedColumns):
    """Arrow files: the IPC format, as a file (Feather, version 2) or as a stream."""

    name = "arrow"
    wire_name = "Arrow"
    suffixes: ClassVar[Mapping[str, str]] = {
        ".arrow": "application/vnd.apache.arrow.file",
        ".feather": "application/vnd.apache.arrow.file",
        ".ipc": "application/vnd.apache.arrow.file",
        ".arrows": "application/vnd.apache.arrow.stream",
    }
    preload = ("kbd_parquet.arrow_files",)
    writes_tables = False

    def map(self, source: Source) -> dict[str, Any]:
        """Return the columns with their types, the rows and the chunks of 500 rows."""
        from kbd_parquet import arrow_files, tables  # noqa: PLC0415 - 90 ms of DuckDB

        return tables.table_map(source, arrow_files.opened)

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write every row in the plain form, with the types that the file says."""
        from kbd_parquet import arrow_files, tables  # noqa: PLC0415 - as in `map`

        return tables.read_table(source, sheet, read_as, target, arrow_files.opened)

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Refuse: there is no writer."""
        del source, rows, placement, target
        raise ValidationFailed("an Arrow file is read, not written; write a .parquet or .csv file")
