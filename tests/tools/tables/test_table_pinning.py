"""A statement answers the same when its call is done again: time, chance, order and float sums."""

import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest

from kbd.errors import ValidationFailed
from kbd.testing.tools import Workbench
from kbd_tables import results
from kbd_tables.duck import closing_connection
from kbd_tables.sandbox import query
from kbd_tables.statement_time import CLOCKS, pin_clock
from tools.tables.conftest import Ask

THEN_US = 951_827_696_789_012
"""2000-02-29 12:34:56.789012 UTC."""
LIMITS = {"query_seconds": 30.0, "query_memory_mb": 512, "query_threads": 2}

CLOCK_VALUES = {
    "now()": "2000-02-29T12:34:56.789012+00:00",
    "transaction_timestamp()": "2000-02-29T12:34:56.789012+00:00",
    "get_current_timestamp()": "2000-02-29T12:34:56.789012+00:00",
    "current_timestamp": "2000-02-29T12:34:56.789012+00:00",
    "pg_postmaster_start_time()": "2000-02-29T12:34:56.789012+00:00",
    "pg_conf_load_time()": "2000-02-29T12:34:56.789012+00:00",
    "today()": "2000-02-29",
    "current_date": "2000-02-29",
    "get_current_time()": "12:34:56.789012+00:00",
    "current_time": "12:34:56.789012+00:00",
    "current_localtime()": "12:34:56.789012",
    "localtime": "12:34:56.789012",
    "current_localtimestamp()": "2000-02-29T12:34:56.789012",
    "localtimestamp": "2000-02-29T12:34:56.789012",
    "age(DATE '2000-02-28')": "1 day, 0:00:00",
    "age(TIMESTAMP '2000-02-28', TIMESTAMP '2000-02-26')": "2 days, 0:00:00",
    "uuid_extract_timestamp(uuidv7())": "2000-02-29T12:34:56.789000+00:00",
}
CHANCE = [
    "SELECT random(), uuid(), gen_random_uuid(), uuidv4(), uuidv7() FROM range(3)",
    "SELECT i FROM data USING SAMPLE 5 ROWS",
    "SELECT i FROM data USING SAMPLE reservoir(0.01%)",
    "SELECT i FROM data WHERE random() < 0.0001 ORDER BY random()",
]
ORDER = [
    "SELECT s, sum(v), count(*) FROM data GROUP BY s LIMIT 50",
    "SELECT sum(v), avg(v), stddev(v), corr(v, i), approx_quantile(v, 0.5) FROM data",
    "SELECT any_value(i), arg_min(i, k), mode(k), approx_top_k(s, 3) FROM data",
    "SELECT a.i, b.i FROM data a JOIN data b USING (k) LIMIT 50",
    "SUMMARIZE (SELECT v FROM data ORDER BY k)",
]
REFUSED = {
    "SELECT system.main.now()": "now",
    "SELECT System.RANDOM(), system.today()": "today",
    "FROM pg_timezone_names()": "pg_timezone_names",
    "FROM duckdb_memory()": "duckdb_memory",
    "FROM query('SELECT system.now()')": "statement itself",
    "SELECT count(*) FROM data USING SAMPLE 10%": "repeatable",
    "WITH s AS (FROM data TABLESAMPLE bernoulli(5%)) SELECT count(*) FROM s": "repeatable",
}


@pytest.fixture
def anyio_backend() -> str:
    """The SQL runs in a worker: one backend shows what there is to see."""
    return "asyncio"


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """Another time zone than that of the machine."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Kathmandu"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
    time.tzset()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of more rows than one thread takes at a time (122,880), with floats that round."""
    path = tmp_path_factory.mktemp("large") / "table"
    with duckdb.connect(":memory:") as connection:
        connection.execute(
            "COPY (SELECT i, (i * 7919) % 1000 AS k, sin(i) * 1e6 AS v, 'n' || (i % 5000) AS s"
            f" FROM range(140000) t(i)) TO '{path}' (FORMAT parquet)"
        )
    return str(path)


def _answer(parquet: str, sql: str, now_us: int = THEN_US) -> dict[str, Any]:
    columns = [(name, "string", "VARCHAR") for name in "ikvs"]
    table = {
        "name": {"file": "t.csv"}, "parquet": parquet, "columns": columns, "row_count": 140_000,
    }  # fmt: skip
    question = {
        "sql": sql, "catalog": {"data": {"file": "t.csv"}, "files": ["t.csv"]},
        "tables": [table], "limits": LIMITS, "now_us": now_us,
    }  # fmt: skip
    found = query(question, {"rows": 10_000, "offset": 0}, None)
    return {key: value for key, value in found.items() if key != "elapsed_ms"}


@pytest.mark.anyio
@pytest.mark.usefixtures("elsewhere")
async def test_the_clock_of_sql_is_the_calls(workbench: Workbench, ask: Ask) -> None:
    """Every function that reads a clock tells the time of the call in UTC, wherever it runs."""
    workbench.add("s.csv", "a\n1\n")
    workbench.now_us = THEN_US
    asked = ", ".join(CLOCK_VALUES)
    found = await ask("query", path="s.csv", query=f"SELECT {asked}")
    assert dict(zip(CLOCK_VALUES, found["rows"][0], strict=True)) == CLOCK_VALUES
    assert {name for sql in CLOCK_VALUES for name in re.findall(r"\w+", sql)} >= CLOCKS
    told = await ask("query", path="s.csv", query="SELECT '2000-01-01 00:00'::TIMESTAMPTZ::VARCHAR")
    assert told["rows"] == [["2000-01-01 00:00:00+00"]]


def test_nothing_of_duckdb_reads_a_clock_unseen() -> None:
    """No function that takes no argument tells the year of the machine while the clock is pinned.

    A new version of DuckDB may bring another clock.
    """
    year = str(datetime.now(UTC).year)
    with closing_connection() as connection:
        pin_clock(connection, THEN_US, "")
        names = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions()"
            " WHERE function_type IN ('scalar', 'macro') AND len(parameters) = 0"
        ).fetchall()
        assert len(names) > 20
        for (name,) in names:
            try:
                row = connection.execute(f'SELECT "{name}"()').fetchone()
            except duckdb.Error:
                continue
            assert year not in str(row), name


@pytest.mark.full
def test_chance_is_the_calls(large: str) -> None:
    """The same call has the same chance, and another call another."""
    for sql in CHANCE:
        first = _answer(large, sql)
        assert first["rows"]
        assert _answer(large, sql) == first, sql
    assert _answer(large, CHANCE[0], THEN_US + 1) != _answer(large, CHANCE[0])


@pytest.mark.full
def test_order_and_sums_are_the_same_each_time(large: str) -> None:
    """Groups, ties, joins and sums of floats come out equal, without an ORDER BY, to the digit."""
    columns = [(name, "float" if name == "v" else "string", "") for name in "vs"]
    for sql in ORDER:
        first = _answer(large, sql)
        assert _answer(large, sql) == first, sql
    stats = results.stats(large, columns)
    assert results.stats(large, columns) == stats


@pytest.mark.anyio
async def test_what_cannot_be_pinned_is_refused(workbench: Workbench, ask: Ask) -> None:
    """A statement past the pinned clock, or left to chance, is refused by name with a way out."""
    workbench.add("s.csv", "a\n1\n")
    for sql, said in REFUSED.items():
        with pytest.raises(ValidationFailed, match=said):
            await ask("query", path="s.csv", query=sql)
    steady = "SELECT count(*) FROM data USING SAMPLE 10% (bernoulli, 1)"
    assert (await ask("query", path="s.csv", query=steady))["row_count"] == 1
