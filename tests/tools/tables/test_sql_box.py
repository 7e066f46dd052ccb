"""Whatever the SQL says, no file is read, written or deleted, and no limit is passed."""

import subprocess
import sys
from pathlib import Path

import pytest

from kbd.errors import KbdError, ToolTimeout, ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_tables import kbd_register_tools
from kbd_tables.duck import closing_connection
from kbd_tables.sandbox import LoadedTable, _load_table, _lock
from kbd_tables.table_names import TableName
from tools.tables.conftest import Ask

READS = [
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_csv_auto('/etc/passwd')",
    "SELECT * FROM read_json('{secret}')",
    "SELECT * FROM read_parquet('{parquet}')",
    "SELECT * FROM parquet_metadata('{parquet}')",
    "SELECT * FROM parquet_kv_metadata('{parquet}')",
    "SELECT * FROM read_csv('../')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM sniff_csv('{secret}')",
    "FROM '{secret}'",
    'FROM "{secret}"',
    "FROM '{folder}/*.csv'",
    "SELECT * FROM 'file://{secret}'",
    "SELECT * FROM 'http://127.0.0.1:1/x.csv'",
    "SELECT * FROM query('FROM ''{secret}''')",
    "SELECT * FROM query_table('{secret}')",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM \"{secret}\"'))",
    "SELECT getenv('HOME')",
    "SELECT * FROM READS",
]

WRITES = [
    "COPY data TO '{out}'",
    "COPY data TO '{secret}' (USE_TMP_FILE false)",
    "COPY (SELECT 1) TO '{folder}' (PARTITION_BY x, OVERWRITE)",
    "EXPLAIN ANALYZE COPY data TO '{out}' (USE_TMP_FILE false)",
    "WITH x AS (COPY data TO '{out}' (USE_TMP_FILE false)) SELECT 1",
    "WITH x AS (COPY data TO '{secret}' (USE_TMP_FILE false)) SELECT 1",
    "SELECT (WITH x AS (COPY data TO '{out}') SELECT 1)",
    "WITH x AS (INSERT INTO data VALUES (1, 'x') RETURNING 1) SELECT * FROM x",
    "WITH x AS (DELETE FROM data RETURNING 1) SELECT * FROM x",
    "EXPORT DATABASE '{out}'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{out}' AS x",
    "ATTACH '{secret}' AS x",
    "DETACH memory",
    "INSTALL httpfs",
    "LOAD '{secret}'",
    "DELETE FROM data",
    "UPDATE data SET a = 1",
    "DROP TABLE data",
    "CREATE TABLE x AS SELECT 1",
    "CREATE SECRET s (TYPE s3)",
    "MERGE INTO data USING data AS d ON true WHEN MATCHED THEN DELETE",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "SET temp_directory = '{folder}'",
    "PRAGMA profile_output = '{out}'",
    "PRAGMA database_list",
    "CALL enable_logging(storage = 'file', storage_path = '{out}')",
    "CHECKPOINT",
    "COMMIT",
]

ILL_FORMED = [
    "",
    ";",
    "-- only a comment",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY data TO '{out}'",
    "SELECT 1) UNION (SELECT 2",
    "SELECT 1) --",
    "SELECT * FROM (COPY data TO '{out}')",
    "not sql",
    "SELECT 'a\0b'",
    "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "SELECT '" + "x" * 10_000_000 + "'",
]

GREEDY = [
    "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
    "SELECT i, count(*) FROM range(1000000000) r(i) GROUP BY 1",
]


@pytest.fixture
def anyio_backend() -> str:
    """The SQL runs in a worker: one backend shows what there is to see."""
    return "asyncio"


@pytest.fixture
def places(tmp_path: Path, workbench: Workbench) -> dict[str, Path]:
    """A secret beside the workbench, a place to write to, and the table in the workbench."""
    secret = tmp_path / "secret.csv"
    secret.write_text("k\nTOPSECRET\n")
    workbench.add("s.csv", "a,b\n1,x\n2,y\n")
    return {"secret": secret, "out": tmp_path / "out", "folder": tmp_path}


def _untouched(places: dict[str, Path]) -> None:
    assert places["secret"].read_text() == "k\nTOPSECRET\n"
    assert sorted(path.name for path in places["folder"].iterdir()) == ["secret.csv", "workbench"]


def _filled(query: str, places: dict[str, Path]) -> str:
    for name, path in places.items():
        query = query.replace("{" + name + "}", str(path))
    return query


@pytest.mark.anyio
async def test_attacks_are_refused(workbench: Workbench, ask: Ask, places: dict[str, Path]) -> None:
    """Every attack is VALIDATION_FAILED without a path in the message; nothing is touched."""
    await ask("get_map", path="s.csv")
    cache = workbench.files.cached("x").parent
    (parquet,) = (path for path in cache.iterdir() if path.suffix != ".record")
    before = parquet.read_bytes()
    for attack in READS + WRITES + ILL_FORMED:
        query = _filled(attack, {**places, "parquet": parquet})
        with pytest.raises(ValidationFailed) as caught:
            await ask("query", path="s.csv", query=query)
        assert "TOPSECRET" not in caught.value.message, attack
        assert str(places["folder"]) not in caught.value.message, attack
        assert parquet.read_bytes() == before, attack
        _untouched(places)
    assert (await ask("read_rows", path="s.csv", row_start=1, row_count=9))["rows"] == [
        [1, "x"],
        [2, "y"],
    ]


@pytest.mark.anyio
async def test_an_export_goes_through_the_same_gate(ask: Ask, places: dict[str, Path]) -> None:
    """A query that writes a file for the draft can reach no more than one that answers.

    The gate is the same; each fourth reading attack tells whether it is there.
    """
    for attack in READS[::4] + WRITES:
        with pytest.raises(KbdError):
            await ask(
                "export", path="s.csv", target_path="o.csv", format="csv",
                query=_filled(attack, {**places, "parquet": places["secret"]}),
            )  # fmt: skip
    _untouched(places)


@pytest.mark.full
def test_the_box_holds_without_the_gate(tmp_path: Path, places: dict[str, Path]) -> None:
    """Run ungated, each attack fails or does nothing: the lock-down alone has no file effect."""
    parquet = places["folder"] / "workbench" / "table"
    with closing_connection() as connection:
        connection.execute(f"COPY (SELECT 1 AS a, 'x' AS b) TO '{parquet}' (FORMAT parquet)")
    before = parquet.read_bytes()
    columns = (("a", "integer", "INTEGER"), ("b", "string", "VARCHAR"))
    table = LoadedTable(TableName("s.csv"), str(parquet), columns, 1)
    for attack in READS + WRITES:
        for statement in _filled(attack, {**places, "parquet": parquet}).split(";"):
            said = ""
            try:
                with closing_connection() as connection:
                    _load_table(connection, table, "data", ["a", "b"])
                    _lock(connection, 512)
                    said = str(connection.execute(statement).fetchall())
            except KbdError:
                continue
            assert "TOPSECRET" not in said, attack
    assert parquet.read_bytes() == before
    _untouched(places)


@pytest.mark.anyio
@pytest.mark.parametrize("query", GREEDY)
async def test_greedy_statements_are_stopped(
    workbench: Workbench, places: dict[str, Path], query: str
) -> None:
    """Time and memory are TOOL_TIMEOUT, and the next statement works."""
    tools = kbd_register_tools({"query_seconds": 0.3}, workbench.formats)
    (tool,) = (tool for tool in tools if tool.name == "table_query")
    with pytest.raises(ToolTimeout):
        await workbench.call(tool, path="s.csv", query=query)
    found = await workbench.call(tool, path="s.csv", query="SELECT count(*) FROM data")
    assert found.value["rows"] == [[2]]


def test_huge_values_are_stopped_by_the_workers_memory() -> None:
    """What DuckDB's own limit does not see (one huge value) ends at the address space's end."""
    script = (
        "import resource; from kbd_tables.jobs import WORK_LIMITS\n"
        "resource.setrlimit(resource.RLIMIT_AS, (WORK_LIMITS.memory_bytes,) * 2)\n"
        "from kbd_tables.duck import closing_connection; from kbd.errors import ToolTimeout\n"
        "for sql in (\"SELECT repeat('x', 4000000000)\", 'SELECT len(range(1000000000))'):\n"
        "    try:\n"
        "        with closing_connection() as connection: connection.execute(sql).fetchall()\n"
        "    except ToolTimeout as _: print('stopped')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.split() == ["stopped", "stopped"]


@pytest.mark.anyio
async def test_the_settings_show_no_path(ask: Ask, places: dict[str, Path]) -> None:
    """What DuckDB tells of itself names no folder of this machine."""
    for query in ("FROM duckdb_settings()", "FROM duckdb_databases()", "FROM duckdb_tables()"):
        found = await ask("query", path="s.csv", query=query, window_rows=1000)
        assert str(places["folder"]) not in str(found["rows"])
        assert str(Path.home()) + "/" not in str(found["rows"])


def test_no_variable_of_this_process_is_a_table(tools: dict[str, Tool]) -> None:
    """Python values in scope are not seen by SQL."""
    data_in_scope = [{"a": 1}]
    assert data_in_scope
    with closing_connection() as connection, pytest.raises(Exception, match="data_in_scope"):
        connection.execute("FROM data_in_scope")
