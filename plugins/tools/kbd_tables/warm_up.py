"""Warm-up of a process that waits for a call: the first use of DuckDB after a fork, made ahead.

The first statement in a fork takes ten times as long as the second: each page that DuckDB touches
is one of the parent's that must be mapped, or copied. So a process that waits runs statements of
each kind on a table of its own, in memory, and leaves nothing of it in the database.
"""

import os

from kbd_tables.duck import READY, parquet_rows
from kbd_tables.statements import checked_statement, with_whole_order

__all__ = ["warm_up"]

_TABLE = (
    "SELECT i AS id, DATE '2024-01-01' + i::INTEGER AS day, i / 8 AS amount, i % 2 = 0 AS paid,"
    " 'name ' || i % 7 AS name FROM range(3000) AS t(i)"
)
_GROUPED = "SELECT name, sum(amount) AS total, count(*) AS n FROM data GROUP BY name ORDER BY name"
_JOINED = (
    "SELECT a.name, sum(b.amount) FROM data AS a JOIN data AS b ON a.id = b.id AND a.name = b.name"
    " WHERE a.paid GROUP BY ALL ORDER BY 1"
)
_ORDERED = "SELECT id, day, name, amount FROM data ORDER BY amount"
_COUNTS = "SELECT count(*), count(n) FROM (SELECT {0} AS n FROM data GROUP BY ALL)"


def warm_up() -> None:
    """Run statements as calls do, on a small table that is gone afterwards."""
    if not hasattr(os, "memfd_create"):
        return
    descriptor = os.memfd_create("table")
    path = f"/proc/self/fd/{descriptor}"
    try:
        READY.execute(f"COPY ({_TABLE}) TO '{path}' (FORMAT parquet, USE_TMP_FILE false)")
        READY.execute("BEGIN TRANSACTION")
        READY.execute(f"CREATE VIEW data AS FROM {parquet_rows(path)}")
        for sql in (_GROUPED, _JOINED, _ORDERED):
            _run(sql)
        for column in ("name", "day", "amount"):
            READY.execute(_COUNTS.format(column)).fetchall()
        READY.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        READY.execute("ROLLBACK")
    finally:
        os.close(descriptor)


def _run(sql: str) -> None:
    """Check and run a statement in the steps of `sandbox.query`."""
    statement = checked_statement(READY, sql)
    READY.execute(f"DESCRIBE (\n{statement.sql}\n)").fetchall()
    whole = with_whole_order(READY, statement, ["1"])
    READY.execute(f"SELECT * FROM (\n{whole}\n) LIMIT 20 OFFSET 10").fetchall()
