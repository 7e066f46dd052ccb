"""Whatever the SQL says, no file is read, written or deleted, and no limit is passed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kbd.errors import KbdError, ToolTimeout, ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_tables import kbd_register_tools
from kbd_tables.duck import closing_connection
from kbd_tables.jobs import QueryLimits
from kbd_tables.loaded_tables import LoadedTable, _copy
from kbd_tables.sandbox import TableQuestion, TablesNeeded, _lock, _named_tables
from kbd_tables.statements import checked_statement
from kbd_tables.table_names import TableCatalog, TableName
from tools.tables.conftest import Ask
from tools.tables.sql_attacks import HARMLESS, NAMED, READS, WRITES

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
    workbench.add("other.csv", "a,c\n1,9\n")
    return {"secret": secret, "out": tmp_path / "out", "folder": tmp_path}


def _untouched(places: dict[str, Path]) -> None:
    assert places["secret"].read_text() == "k\nTOPSECRET\n"
    assert sorted(path.name for path in places["folder"].iterdir()) == ["secret.csv", "workbench"]


def _filled(query: str, places: dict[str, Path]) -> str:
    for name, path in places.items():
        query = query.replace("{" + name + "}", str(path))
    return query


ATTACKS = READS + WRITES + NAMED + ILL_FORMED


@pytest.mark.anyio
@pytest.mark.parametrize("attacks", [ATTACKS[::12], pytest.param(ATTACKS, marks=pytest.mark.full)])
async def test_attacks_are_refused(
    workbench: Workbench, ask: Ask, places: dict[str, Path], attacks: list[str]
) -> None:
    """Every attack is VALIDATION_FAILED without a path in the message; nothing is touched."""
    assert len(ATTACKS) > 300
    await ask("get_map", path="s.csv")
    cache = workbench.files.cached("x").parent
    (parquet,) = (path for path in cache.iterdir() if path.suffix != ".record")
    before = parquet.read_bytes()
    for attack in attacks:
        query = _filled(attack, {**places, "parquet": parquet, "cached": Path(parquet.name)})
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
@pytest.mark.full
async def test_what_answers_tells_nothing_of_the_machine(ask: Ask, places: dict[str, Path]) -> None:
    """What DuckDB knows of itself and of the tables names no folder, and no table but the named."""
    await ask("get_map", path="other.csv")
    for query in HARMLESS:
        sql = f"{query}" if query.startswith("S") else f"{query} WHERE EXISTS (FROM data)"
        found = await ask("query", path="s.csv", query=sql, window_rows=1000)
        told = str(found["rows"])
        for place in (str(places["folder"]), str(Path.home()) + "/", "/tmp", "tables-"):
            assert place not in told, query
        assert "other.csv" not in told or query == "SHOW TABLES", query


@pytest.mark.anyio
async def test_an_export_goes_through_the_same_gate(ask: Ask, places: dict[str, Path]) -> None:
    """A query that writes a file for the draft can reach no more than one that answers.

    The gate is the same; each fourth reading attack tells whether it is there.
    """
    for attack in READS[::9] + WRITES[::3] + NAMED[::50]:
        with pytest.raises(KbdError):
            await ask(
                "export", path="s.csv", target_path="o.csv", format="csv",
                query=_filled(
                    attack, {**places, "parquet": places["secret"], "cached": Path("x")}
                ),
            )  # fmt: skip
    _untouched(places)


def _breaches(
    tmp_path: Path, attacks: list[str], *, gated: bool, locked: bool
) -> tuple[set[str], set[str]]:
    """Run attacks with some of the walls; return those that read the secret, and that wrote."""
    folder = tmp_path / f"{gated}{locked}"
    folder.mkdir()
    secret, parquet, out = (folder / name for name in ("secret.csv", "table.parquet", "out"))
    columns = (("a", "integer", "INTEGER"), ("b", "string", "VARCHAR"))
    table = LoadedTable(TableName("s.csv"), str(parquet), columns, 1)
    catalog = TableCatalog(TableName("s.csv"), ("s.csv",))
    question = TableQuestion("", catalog, (table,), QueryLimits(), 0)
    with closing_connection() as connection:
        connection.execute(f"COPY (SELECT 1 AS a, 'x' AS b) TO '{parquet}' (FORMAT parquet)")
    whole = parquet.read_bytes()
    places = {
        "secret": secret, "parquet": parquet, "cached": parquet, "out": out, "folder": folder,
    }  # fmt: skip
    read, wrote = set(), set()
    for attack in attacks:
        parquet.write_bytes(whole)
        secret.write_text("k\nTOPSECRET\n")
        said = ""
        try:
            with closing_connection() as connection:
                for sql in (
                    [_filled(attack, places)] if gated else _filled(attack, places).split(";")
                ):
                    if gated:
                        statement = checked_statement(connection, sql)
                        _named_tables(
                            connection, statement, msgspec.structs.replace(question, sql=sql)
                        )
                    _copy(connection, table, "data", ["a", "b"])
                    if locked:
                        _lock(connection, 512)
                    said += str(connection.execute(sql).fetchall())
        except (KbdError, TablesNeeded):
            pass
        if "TOPSECRET" in said:
            read.add(attack)
        there = {path.name for path in folder.iterdir()}
        if there != {"secret.csv", "table.parquet"} or (
            (secret.read_text(), parquet.read_bytes()) != ("k\nTOPSECRET\n", whole)
        ):
            wrote.add(attack)
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    return read, wrote


@pytest.mark.full
def test_the_box_holds_without_the_gate(tmp_path: Path) -> None:
    """Run ungated, each attack fails or does nothing: the lock-down alone has no file effect."""
    attacks = READS + WRITES + NAMED[::5]
    assert _breaches(tmp_path, attacks, gated=False, locked=True) == (set(), set())


@pytest.mark.full
def test_each_wall_is_needed_against_these_attacks(tmp_path: Path) -> None:
    """The control: without the lock-down they read, and without the gate they write as well.

    Names are looked up among the tables whatever DuckDB would make of them: with the gate alone,
    only functions read files.
    """
    attacks = READS + WRITES + NAMED[::5]
    read, wrote = _breaches(tmp_path, attacks, gated=False, locked=False)
    assert len(read) >= 15
    assert len(wrote) >= 8
    read, wrote = _breaches(tmp_path, attacks, gated=True, locked=False)
    assert len(read) > 5
    assert all(attack in READS and re.search(r"(read_|scan)", attack) for attack in read), read
    assert wrote == set()


@pytest.mark.full
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


def test_the_open_database_can_be_forked() -> None:
    """A process that has imported DuckDB's side of the tools has one thread, and its forks work."""
    script = (
        "import os; from kbd_tables.duck import closing_connection\n"
        "assert len(os.listdir('/proc/self/task')) == 1\n"
        "for _ in range(3):\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        with closing_connection() as connection:\n"
        "            connection.execute('CREATE TABLE data AS SELECT 1 AS a')\n"
        "            assert connection.execute('FROM data').fetchall() == [(1,)]\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", script], timeout=60, check=True)


def test_no_use_sees_what_another_did() -> None:
    """Each use begins with an empty database whose configuration is open."""
    for _ in range(3):
        with closing_connection() as connection:
            assert connection.execute("SHOW ALL TABLES").fetchall() == []
            connection.execute("CREATE TABLE data AS SELECT 1 AS a")
            _lock(connection, 512)
