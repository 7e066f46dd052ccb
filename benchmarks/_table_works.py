"""What peers do with tables, for `tables`: each work of DuckDB, pandas and polars by its name.

Warm works have the table in memory, by the types that the peer gave it. Cold ones are run as
`python -m benchmarks._table_works WORK PATH` in a process of their own, for their peak memory.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl

from benchmarks._child import Run, Work, answer

__all__ = ["JOINED", "ORDERED", "SUMS", "Peer", "peers"]

SUMS = (
    "SELECT category, sum(amount) AS total, count(*) AS n FROM {table} GROUP BY category"
    " ORDER BY category"
)
ORDERED = "SELECT id, day, category, amount FROM {table} ORDER BY amount, id"
JOINED = (
    "SELECT c.country, sum(t.amount) AS total FROM {table} AS t"
    " JOIN {other} AS c ON t.customer = c.customer GROUP BY c.country ORDER BY c.country"
)

Peer = dict[str, Callable[[], object]]
"""Works of a peer, by their names."""


def read_duckdb(path: Path) -> duckdb.DuckDBPyConnection:
    """Read a table into memory."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE data AS FROM '{path}'")
    return connection


def read_pandas(path: Path) -> pd.DataFrame:
    """Read a table into memory."""
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)


def read_polars(path: Path) -> pl.DataFrame:
    """Read a table into memory."""
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)


def by_duckdb(path: Path, other: Path, out: Path, window: int) -> Peer:
    """Return DuckDB's works."""
    connection = read_duckdb(path)
    connection.execute(f"CREATE TABLE customers AS FROM '{other}'")

    def rows(sql: str) -> Callable[[], object]:
        stated = sql.format(table="data", other="customers")
        return lambda: connection.execute(stated).fetchall()

    return {
        "map, cold": lambda: read_duckdb(path),
        "map, warm": rows("DESCRIBE data"),
        "describe": rows("SUMMARIZE data"),
        "stats": rows("SUMMARIZE data"),
        "group by": rows(SUMS),
        "window 1": rows(f"{ORDERED} LIMIT {window}"),
        "window 1,000": rows(f"{ORDERED} LIMIT {window} OFFSET {window * 999}"),
        "join": rows(JOINED),
        "rows by number": rows(f"FROM data LIMIT {window} OFFSET {window * 999}"),
        "export csv": rows(f"COPY data TO '{out / 'duckdb.csv'}' (FORMAT csv)"),
    }


def by_pandas(path: Path, other: Path, out: Path, window: int) -> Peer:
    """Return the works of pandas."""
    frame, customers = read_pandas(path), read_pandas(other)
    ordered = ["amount", "id"]

    def page(number: int) -> Callable[[], object]:
        start = number * window
        return lambda: frame.sort_values(ordered)[start : start + window].to_numpy().tolist()

    def joined() -> object:
        return frame.merge(customers, on="customer").groupby("country")["amount"].sum()

    return {
        "map, cold": lambda: read_pandas(path),
        "map, warm": lambda: frame.dtypes,
        "describe": lambda: (frame.count(), frame.nunique()),
        "stats": lambda: frame.describe(include="all"),
        "group by": lambda: frame.groupby("category")["amount"].agg(["sum", "count"]),
        "window 1": page(0),
        "window 1,000": page(999),
        "join": joined,
        "rows by number": lambda: frame[window * 999 : window * 1000].to_numpy().tolist(),
        "export csv": lambda: frame.to_csv(out / "pandas.csv", index=False),
        "export xlsx": lambda: frame[:100_000].to_excel(out / "pandas.xlsx", index=False),
    }


def by_polars(path: Path, other: Path, out: Path, window: int) -> Peer:
    """Return the works of polars."""
    frame, customers = read_polars(path), read_polars(other)

    def page(number: int) -> Callable[[], object]:
        return lambda: frame.sort("amount", "id").slice(number * window, window).rows()

    def joined() -> object:
        return frame.join(customers, on="customer").group_by("country").agg(pl.col("amount").sum())

    return {
        "map, cold": lambda: read_polars(path),
        "map, warm": lambda: frame.schema,
        "describe": lambda: (frame.count(), frame.n_unique()),
        "stats": frame.describe,
        "group by": lambda: (
            frame.group_by("category").agg(pl.col("amount").sum(), pl.len()).sort("category")
        ),
        "window 1": page(0),
        "window 1,000": page(999),
        "join": joined,
        "rows by number": lambda: frame.slice(window * 999, window).rows(),
        "export csv": lambda: frame.write_csv(out / "polars.csv"),
    }


def peers(path: Path, other: Path, out: Path, window: int) -> dict[str, Peer]:
    """Return the works of all peers on a table.

    Args:
        path: The table.
        other: The table that it is joined with.
        out: Where exports go.
        window: Rows of a window.
    """
    given: tuple[Any, ...] = (path, other, out, window)
    return {"DuckDB": by_duckdb(*given), "pandas": by_pandas(*given), "polars": by_polars(*given)}


def _cold(read: Callable[[Path], object]) -> Work:
    def ready(path: Path, _: Path) -> Run:
        return lambda: read(path)

    return ready


if __name__ == "__main__":
    answer(
        {"DuckDB": _cold(read_duckdb), "pandas": _cold(read_pandas), "polars": _cold(read_polars)},
        (),
    )
