"""Parquet files, opened by DuckDB itself.

An opener for `tables`, as `arrow_files` is for the other format: the handlers import theirs when
they are first called.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from kbd.formats import Source
from kbd_parquet.tables import ColumnScan, connected, sql_text

__all__ = ["opened"]


class _ParquetScan(ColumnScan):
    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement).fetchall()

    def row_count(self) -> int:
        ((count,),) = self.ask("SELECT count(*) FROM source")
        return int(count)


@contextmanager
def opened(source: Source) -> Iterator[ColumnScan]:
    """Open a file.

    Raises:
        FileReadFailed: It is no Parquet file, or what is done with it fails.
    """
    with connected(source) as connection:
        path = sql_text(str(source.path))
        # Else each folder above it that is called so (`region=north`) would be a column.
        connection.execute(
            f"CREATE VIEW source AS FROM read_parquet('{path}', hive_partitioning = false)"
        )
        yield _ParquetScan(connection)
