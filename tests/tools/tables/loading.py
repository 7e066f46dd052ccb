"""Loader of tables called on its own: columns of texts in, types, values and questions out."""

import csv
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from kbd.formats import AggregateRow, ColumnType, TableReading
from kbd_tables.loader import load

__all__ = ["LoadedTable", "Loading"]


class LoadedTable(msgspec.Struct, frozen=True):
    """What came of a table: SQL types, values and roles by column, how it was read, warnings."""

    types: dict[str, str]
    values: dict[str, list[Any]]
    reading: TableReading
    warnings: tuple[str, ...]
    roles: dict[str, dict[str, str]]


class Loading:
    """Loader of small tables.

    Args:
        folder: Takes their files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._numbers = folder, count()

    def __call__(
        self,
        columns: Mapping[str, Sequence[str]],
        known: Mapping[str, ColumnType] | None = None,
        aggregates: Sequence[AggregateRow] = (),
        **read_as: str,
    ) -> LoadedTable:
        """Load columns, the shorter ones filled up with empty values.

        Args:
            columns: Their values.
            known: The types that the format knows.
            aggregates: The rows whose formulas sum others up.
            read_as: What was said about how they are read.
        """
        stem = self._folder / f"table{next(self._numbers)}"
        plain, raw, target = (str(stem.with_suffix(end)) for end in (".csv", ".raw", ".parquet"))
        height = max(map(len, columns.values()))
        filled = [[*values, *[""] * (height - len(values))] for values in columns.values()]
        with Path(plain).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*filled, strict=True))
        types = [(name, (known or {}).get(name)) for name in columns]
        formulas = [msgspec.to_builtins(each) for each in aggregates]
        answer = load(plain, raw, target, types, height, dict(read_as), {}, formulas)
        read = duckdb.execute("SELECT * FROM read_parquet(?)", [target]).fetchall()
        return LoadedTable(
            {column["name"]: column["sql_type"] for column in answer["columns"]},
            {
                name: [row[place] for row in read][: len(values)]
                for place, (name, values) in enumerate(columns.items())
            },
            msgspec.convert(answer["reading"], TableReading),
            tuple(answer["warnings"]),
            answer["roles"],
        )
