"""Table readers of the field with their defaults: what each makes of a file, for one judge.

They have no way to ask, nor to say which rows they left out, so that such rows count as said. What
they raise counts as a refusal.
"""

import warnings
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import clevercsv
import duckdb
import pandas as pd
import polars as pl

from golden_tables.cases import Kind
from golden_tables.judge import Answer, ReadColumn

__all__ = ["READERS", "read"]

_ALL_SAID = 1_000_000
"""Rows that count as said to be left out, whatever a case expects."""


def _of_pandas(frame: pd.DataFrame) -> list[ReadColumn]:
    types = pd.api.types
    columns = []
    # By place: a name may occur twice.
    for place, name in enumerate(frame.columns):
        series = frame.iloc[:, place]
        held = [value for value in series.tolist() if not pd.isna(value)]
        if types.is_bool_dtype(series.dtype):
            kind: Kind = "boolean"
        elif types.is_numeric_dtype(series.dtype):
            kind = "number"
        elif types.is_datetime64_any_dtype(series.dtype):
            kind = "datetime"
        else:
            kind = "text"
        texts = [None if pd.isna(value) else str(value) for value in series.tolist()]
        columns.append(_column(str(name), kind, held, texts))
    return columns


def _column(name: str, kind: Kind, held: list[Any], texts: list[str | None]) -> ReadColumn:
    """Return a column of values that are there; texts with those that are not."""
    if kind == "number" and held:
        exact = all(isinstance(value, int | Decimal) for value in held)
        numbers = [Decimal(value) if exact else Decimal(repr(float(value))) for value in held]
        total = sum(numbers, Decimal())
        return ReadColumn(name, kind, len(held), total, min(numbers), max(numbers), exact)
    if kind in ("date", "datetime") and held:
        ends = min(held).isoformat(), max(held).isoformat()
        return ReadColumn(name, kind, len(held), low=ends[0], high=ends[1])
    return ReadColumn(name, kind, len(held), texts=tuple(texts))


def _pandas(path: Path) -> tuple[int, list[ReadColumn]]:
    frame = pd.read_csv(path)
    return len(frame), _of_pandas(frame)


def _clevercsv(path: Path) -> tuple[int, list[ReadColumn]]:
    frame = clevercsv.read_dataframe(str(path))
    return len(frame), _of_pandas(frame)


def _duckdb(path: Path) -> tuple[int, list[ReadColumn]]:
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        found = connection.execute("FROM read_csv_auto(?)", [str(path)])
        names = [str(item[0]) for item in found.description or ()]
        kinds = [_duckdb_kind(str(item[1])) for item in found.description or ()]
        rows = found.fetchall()
    columns = []
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        values = [row[place] for row in rows]
        held = [value for value in values if value is not None]
        texts = [None if value is None else str(value) for value in values]
        columns.append(_column(name, kind, held, texts))
    return len(rows), columns


def _duckdb_kind(name: str) -> Kind:
    if name.endswith("INT") or name.startswith(("INT", "DECIMAL", "DOUBLE", "FLOAT")):
        return "number"
    if name.startswith("TIMESTAMP"):
        return "datetime"
    kinds: Mapping[str, Kind] = {"BOOLEAN": "boolean", "DATE": "date"}
    return kinds.get(name, "text")


def _polars(path: Path) -> tuple[int, list[ReadColumn]]:
    frame = pl.read_csv(path)
    columns = []
    for name, dtype in frame.schema.items():
        values = frame[name].to_list()
        held = [value for value in values if value is not None]
        if dtype.is_numeric():
            kind: Kind = "number"
        elif dtype == pl.Boolean:
            kind = "boolean"
        elif held and isinstance(held[0], date):
            kind = "datetime"
        else:
            kind = "text"
        texts = [None if value is None else str(value) for value in values]
        columns.append(_column(name, kind, held, texts))
    return frame.height, columns


READERS: Mapping[str, Callable[[Path], tuple[int, list[ReadColumn]]]] = {
    "pandas.read_csv": _pandas,
    "duckdb read_csv_auto": _duckdb,
    "clevercsv.read_dataframe": _clevercsv,
    "polars.read_csv": _polars,
}
"""Readers by what is called."""


def read(name: str, path: Path) -> Answer:
    """Return what a reader makes of a file."""
    try:
        with warnings.catch_warnings():
            # Doubts that it prints are not seen by whoever uses the frame.
            warnings.simplefilter("ignore")
            row_count, columns = READERS[name](path)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return Answer(refusal=f"{type(error).__name__}: {str(error)[:80]}")
    return Answer(row_count, tuple(columns), left_out=_ALL_SAID)
