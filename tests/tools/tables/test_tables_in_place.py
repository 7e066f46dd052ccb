"""Tables that a statement reads where they lie: as fast, as closed and as right as copies.

Each test runs in a process that Landlock holds as it holds a worker, but for reading: all that it
could read on this machine is open to it, so that what is refused is refused by the sandbox.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kbd.core.plugins.confinement.landlock import find_version
from tools.tables.sql_attacks import HARMLESS, NAMED, READS, WRITES

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not find_version(), reason="this kernel has no Landlock"
)

_PRELUDE = """
    import json, sys
    from pathlib import Path
    import msgspec
    from kbd.core.plugins.confinement.landlock import READ, WRITE, Grant, restrict_files
    from kbd.errors import KbdError
    from kbd_tables import loaded_tables, sandbox
    from kbd_tables.duck import closing_connection
    from kbd_tables.statements import checked_statement

    given = json.load(sys.stdin)
    folder, parquet = Path(given["folder"]), given["parquet"]

    def question(sql):
        columns = [["a", "integer", "BIGINT"], ["b", "string", "VARCHAR"]]
        name = {"file": "s.csv", "sheet": None}
        return {
            "sql": sql, "catalog": {"data": name, "files": ["s.csv", "other.csv"]}, "limits": {},
            "tables": [{
                "name": name, "parquet": parquet, "columns": columns, "row_count": given["rows"],
            }],
            "now_us": 1_800_000_000_000_000,
        }

    def answered(sql, rows=100):
        return sandbox.query(question(sql), {"rows": rows, "offset": 0}, None)

    def seal():
        restrict_files([Grant("/", READ), Grant(given["out"], WRITE)])

    def places(sql):
        asked = msgspec.convert(question(sql), sandbox.TableQuestion)
        with closing_connection() as connection:
            statement = checked_statement(connection, sql)
            named = sandbox._named_tables(connection, statement, asked)
            return list(loaded_tables.load_tables(connection, statement, named))
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A typed table of three rows."""
    path = tmp_path / "table.parquet"
    rows = "(VALUES (1::BIGINT, 'x'), (2, 'y'), (3, 'x')) AS t(a, b)"
    duckdb.sql(f"COPY (FROM {rows}) TO '{path}' (FORMAT parquet)")
    (tmp_path / "secret.csv").write_text("k\nTOPSECRET\n")
    (tmp_path / "out").mkdir()
    return path


def _run(table: Path, work: str, **given: Any) -> Any:
    """Run a work in a process of its own and return what it prints as JSON."""
    folder = table.parent
    facts = {"folder": str(folder), "parquet": str(table), "out": str(folder / "out"), "rows": 3}
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_PRELUDE) + textwrap.dedent(work)],
        input=json.dumps(facts | given), capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


def test_only_what_cannot_be_written_is_read_in_place(table: Path) -> None:
    """A table is copied where this process could write its file, and left where it cannot."""
    work = """
        before = places("SELECT a FROM data")
        seal()
        print(json.dumps([before, places("SELECT a FROM data")]))
    """
    assert _run(table, work) == [[], [str(table)]]


_ASKING = [
    "SELECT rowid FROM data",
    "SELECT * FROM data, duckdb_settings()",
    "SELECT current_setting('allowed_paths') FROM data",
    "SELECT * FROM data, pg_catalog.pg_class",
    "SELECT * FROM data, information_schema.tables",
    "SELECT (SELECT count(*) FROM read_blob('x')) FROM data",
    "WITH s AS (FROM pragma_database_list()) SELECT * FROM data, s",
    "SUMMARIZE data",
]


def test_what_asks_for_more_than_tables_gets_copies(table: Path) -> None:
    """A statement that could tell where a file lies has none that it may read."""
    work = 'seal(); print(json.dumps([sql for sql in given["asking"] if places(sql)]))'
    assert _run(table, work, asking=[*_ASKING, "SELECT a FROM data"]) == ["SELECT a FROM data"]


def test_answers_are_those_of_copies(table: Path) -> None:
    """Whatever is asked, tables in place answer what copies of them do, also in several threads."""
    queries = [
        "SELECT b, sum(a) AS total, count(*) FROM data GROUP BY b ORDER BY b",
        "SELECT * FROM data ORDER BY b",
        "SELECT * FROM data ORDER BY b DESC LIMIT 2",
        "SELECT a FROM data WHERE b = 'x' AND a BETWEEN 1 AND 9",
        "SELECT d.a, e.b FROM data d JOIN data e ON d.a = e.a ORDER BY 1",
        'SELECT count(*) FROM "s.csv"',
        "SELECT rowid, a FROM data ORDER BY rowid",
        "DESCRIBE data",
        "SUMMARIZE data",
        "FROM data",
        "SELECT max(a) FROM data, range(2)",
    ]
    work = """
        def shown():
            return [answered(sql)["rows"] for sql in given["queries"]]
        copied = shown()
        seal()
        in_place = shown()
        loaded_tables._MANY_VALUES = 1
        print(json.dumps([copied, in_place, shown()]))
    """
    copied, in_place, large = _run(table, work, queries=queries)
    for sql, one, other, by_threads in zip(queries, copied, in_place, large, strict=True):
        assert one == other, sql
        # Of a large table the order of rows with equal keys is another one.
        assert sorted(map(str, one)) == sorted(map(str, by_threads)), sql
    assert copied[0] == [["x", 4, 2], ["y", 2, 1]]


@pytest.mark.full
def test_no_attack_reads_writes_or_tells(table: Path) -> None:
    """Whatever the SQL says, nothing outside is read, nothing is written, and no path is told."""
    whole = table.read_bytes()
    attacks = [
        attack.replace("{secret}", str(table.parent / "secret.csv"))
        .replace("{parquet}", str(table)).replace("{cached}", str(table))
        .replace("{out}", str(table.parent / "out" / "made")).replace("{folder}", str(table.parent))
        for attack in (*READS, *WRITES, *NAMED, *HARMLESS)
    ]  # fmt: skip
    # Whatever function DuckDB has, also in a later version.
    functions = (
        duckdb.connect()
        .execute(
            "SELECT DISTINCT function_name, len(parameters) FROM duckdb_functions()"
            " WHERE function_type IN ('scalar', 'macro') AND len(parameters) <= 1"
            " AND regexp_matches(function_name, '^[a-z_0-9]+$') ORDER BY ALL"
        )
        .fetchall()
    )
    assert len(functions) > 300
    attacks += [
        f"""SELECT {name}({"'allowed_paths'" if count else ""}) FROM data"""
        for name, count in functions
    ]
    work = """
        seal()
        told = []
        for sql in given["attacks"]:
            try:
                said = json.dumps(answered(sql), default=str)
            except KbdError as error:
                said = error.message
            # What the statement itself says may be repeated.
            if "TOPSECRET" in said or (given["folder"] in said and given["folder"] not in sql):
                told.append(sql)
        print(json.dumps(told))
    """
    assert _run(table, work, attacks=attacks) == []
    assert table.read_bytes() == whole
    assert list((table.parent / "out").iterdir()) == []


_CONTROLS = {
    "asks_engine": "SELECT value FROM duckdb_settings() WHERE name = 'allowed_paths'",
    "sealed": "COPY (SELECT 1) TO '{parquet}' (USE_TMP_FILE false)",
}


@pytest.mark.parametrize("rule", _CONTROLS)
def test_each_rule_is_needed(table: Path, rule: str) -> None:
    """The control: without one of the rules the path is told, or the file is written."""
    whole = table.read_bytes()
    work = """
        rule, sql = given["rule"], given["sql"].replace("{parquet}", parquet)
        if rule == "sealed":
            loaded_tables._is_sealed = lambda path: True
        else:
            seal()
        asked = msgspec.convert(question("SELECT a FROM data"), sandbox.TableQuestion)
        with closing_connection() as connection:
            statement = checked_statement(connection, "SELECT a FROM data")
            named = sandbox._named_tables(connection, statement, asked)
            files = loaded_tables.load_tables(connection, statement, named)
            sandbox._lock(connection, 512, files)
            print(json.dumps(str(connection.execute(sql).fetchall())))
    """
    said = _run(table, work, rule=rule, sql=_CONTROLS[rule])
    assert (str(table) in said) == (rule == "asks_engine")
    assert (table.read_bytes() != whole) == (rule == "sealed")


@pytest.mark.full
def test_a_damaged_table_is_told_from_a_faulty_statement(table: Path) -> None:
    """A file that is damaged is one to be made anew; what the statement does wrong is told so."""
    work = """
        def detail(sql):
            try:
                answered(sql)
            except KbdError as error:
                return [error.code, error.detail.get("stale_table", False)]
        seal()
        first = detail("SELECT a::VARCHAR::DATE FROM data")
        print(json.dumps([first, detail(given["sql"])]))
    """
    sound = _run(table, work, sql="SELECT error('x') FROM data")
    assert sound == [["VALIDATION_FAILED", False], ["VALIDATION_FAILED", False]]
    data = bytearray(table.read_bytes())
    # The first column's page; its place is told at the end of the file, which stays whole.
    data[4:40] = bytes(36)
    table.write_bytes(data)
    assert _run(table, work, sql="SELECT sum(a) FROM data")[1] == ["FILE_READ_FAILED", True]
