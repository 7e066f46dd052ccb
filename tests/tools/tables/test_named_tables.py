"""A statement sees every table of the workbench by name, and reads only those that it names."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from backends import on_asyncio
from kbd.errors import NotFound, ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import CallLimits
from kbd_csv import CsvFormat
from kbd_tables import jobs, kbd_register_tools
from tools.small_formats import BookFormat, LinesFormat, book
from tools.tables.conftest import Ask

SHEETS = book(
    Sheet=([["n", "integer"], ["m", "integer"]], [[1, 2]]), Other=([["n", "integer"]], [[5]])
)

pytestmark = [pytest.mark.anyio, on_asyncio, pytest.mark.full]


class CountingWorkbench(Workbench):
    """A workbench that notes which jobs its tools ask for."""

    asked: list[Callable[..., Any]]

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
        with_program: bool = False,
    ) -> Any:
        """Note the function and call it."""
        self.asked.append(function)
        return await super().isolate(function, arguments, limits=limits, with_program=with_program)


@pytest.fixture
def workbench(tmp_path: Path) -> CountingWorkbench:
    made = CountingWorkbench(tmp_path / "workbench", [CsvFormat(), BookFormat(), LinesFormat()])
    made.asked = []
    made.add("orders.csv", "id,customer,total\n1,a,10\n2,b,20\n3,a,30\n")
    made.add("in/2024/customers.tsv", "id\tname\na\tAnna\nb\tBen\n")
    made.add("Größen.csv", "k,v\nx,1\n")
    made.add('q"uote.csv', "k,v\nx,7\n")
    made.add("sales.csv", "n\n1\n")
    made.add("sales.psv", "n|m\n2|3\n")
    made.add("notes.txt", "nothing")
    made.add("m.book", SHEETS)
    return made


async def rows(ask: Ask, query: str, path: str = "orders.csv") -> Any:
    return (await ask("query", path=path, query=query))["rows"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('SELECT count(*) FROM "orders.csv"', [[3]]),
        ("SELECT count(*) FROM orders", [[3]]),
        ("SELECT count(*) FROM ORDERS", [[3]]),
        ("SELECT count(*) FROM orders.csv", [[3]]),
        ("SELECT count(*) FROM main.orders", [[3]]),
        ('SELECT name FROM "in/2024/customers.tsv" ORDER BY 1', [["Anna"], ["Ben"]]),
        ('SELECT name FROM "in/2024/customers" ORDER BY 1', [["Anna"], ["Ben"]]),
        ("SELECT name FROM customers ORDER BY 1", [["Anna"], ["Ben"]]),
        ('SELECT v FROM "GRÖSSEN.csv"', [[1]]),
        ("SELECT v FROM größen", [[1]]),
        ('SELECT v FROM "q""uote.csv"', [[7]]),
        ('SELECT m FROM "sales.psv"', [[3]]),
        ('SELECT m FROM "m.book"."Sheet"', [[2]]),
        ('SELECT n FROM m."Other"', [[5]]),
        (
            "SELECT name, sum(total) FROM data o JOIN customers c ON c.id = customer GROUP BY 1",
            [["Anna", 40], ["Ben", 20]],
        ),
        ('SELECT count(*) FROM data JOIN "orders.csv" o USING (id) JOIN orders USING (id)', [[3]]),
        ("SELECT (SELECT max(name) FROM customers)", [["Ben"]]),
        ("SELECT 1 WHERE EXISTS (FROM customers)", [[1]]),
        ("SELECT count(*) FROM (SUMMARIZE customers)", [[2]]),
        ('DESCRIBE "sales.csv"', [["n", "BIGINT", "YES", None, None, None]]),
    ],
)
async def test_a_table_is_called_as_its_file(ask: Ask, query: str, expected: Any) -> None:
    """By its whole name, and shorter or in another case where only one can be meant."""
    assert await rows(ask, query) == expected


async def test_data_is_the_table_that_is_named(ask: Ask, workbench: CountingWorkbench) -> None:
    """Whatever a file is called, and whichever sheet the call names."""
    workbench.add("data.csv", "x\n9\n")
    assert await rows(ask, "SELECT count(*) FROM data") == [[3]]
    assert await rows(ask, 'SELECT x FROM "data.csv"') == [[9]]
    other = await ask("query", path="m.book", source_sheet="Other", query="FROM data")
    assert other["rows"] == [[5]]


async def test_only_what_is_named_is_read(ask: Ask, workbench: CountingWorkbench) -> None:
    """Each table once; where all are cached a statement takes one call of a worker."""
    await rows(ask, "SELECT name FROM customers")
    # Found out, read, asked: `data` is not named, so it is not read.
    assert workbench.asked == [jobs.query, jobs.load, jobs.query]
    workbench.asked.clear()
    await rows(ask, "SELECT count(*) FROM data, customers")
    await rows(ask, "SELECT count(*) FROM data, customers")
    assert workbench.asked == [jobs.load, jobs.query, jobs.query]


@pytest.mark.parametrize(
    "query",
    [
        "WITH customers AS (SELECT 1 AS name) SELECT name FROM customers",
        "WITH a AS (SELECT 1 AS name), customers AS (FROM a) SELECT name FROM customers",
        "SELECT customers.name FROM (SELECT 1 AS name) customers",
        "WITH RECURSIVE customers AS (SELECT 1 n UNION SELECT n FROM customers) FROM customers",
    ],
)
async def test_names_of_the_statement_go_first(
    ask: Ask, workbench: CountingWorkbench, query: str
) -> None:
    """A CTE or an alias of a table's name is what the statement says it is."""
    assert await rows(ask, query) == [[1]]
    assert jobs.load not in workbench.asked


async def test_a_cte_may_read_the_table_of_its_name(ask: Ask) -> None:
    """As in SQL: within itself the name means the table."""
    query = "WITH customers AS (SELECT upper(name) AS n FROM customers) FROM customers ORDER BY 1"
    assert await rows(ask, query) == [["ANNA"], ["BEN"]]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT Totl FROM data", r"there is no column Totl in data; did you mean total\?"),
        ("SELECT o.totl FROM orders o", r"there is no column totl in o; did you mean total\?"),
        ("SELECT * EXCLUDE (totl) FROM data", r"no column totl in data; did you mean total\?"),
        ("SELECT naem FROM customers", r"no column naem in customers; did you mean name\?"),
        ("SELECT summ(total) FROM data", r"there is no function summ; did you mean sum\?"),
        ("SELECT x.total FROM data", "no table called x in its FROM"),
        ("FROM custmers", r"there is no table custmers; did you mean customers\?"),
        ('FROM "ordes.csv"', r'there is no table ordes\.csv; did you mean "orders\.csv"\?'),
        ("FROM sales", r'may be "sales\.csv" or "sales\.psv"; write the whole name'),
        ("FROM dta", r"did you mean data\?"),
        ("FROM nothing_like_it", r'the tables are data, which is orders\.csv, and "Größen\.csv"'),
        ("FROM notes", "there is no table notes"),
        ('FROM "m.book"."Nope"', "Nope"),
        ("SELECT nonsense_column_xyz FROM data", r'the columns of data are "id" integer'),
    ],
)
async def test_errors_name_what_is_near(ask: Ask, query: str, said: str) -> None:
    """The nearest column, table or function, and what there is."""
    with pytest.raises(ValidationFailed, match=said):
        await rows(ask, query)


async def test_tables_are_listed(ask: Ask) -> None:
    """SHOW TABLES names them all, read or not."""
    for query in ("SHOW TABLES", "SHOW ALL TABLES;", "DESCRIBE"):
        found = await rows(ask, query)
        assert ["in/2024/customers.tsv"] in found, query
        assert ["notes.txt"] not in found


async def test_an_export_joins_tables_too(ask: Ask, workbench: CountingWorkbench) -> None:
    """And its warnings are those of every table that it reads, with their files' names."""
    workbench.add("ragged.csv", "id,w\n1,2\n2\n")
    found = await ask(
        "export", path="orders.csv", target_path="out.csv", format="csv",
        query="SELECT o.id, w FROM data o JOIN ragged r USING (id) ORDER BY 1",
    )  # fmt: skip
    assert workbench.content("out.csv") == b"id,w\n1,2\n2,\n"
    assert any(warning.startswith("ragged.csv: ") for warning in found["warnings"])


async def test_warnings_do_not_depend_on_the_cache(ask: Ask, workbench: CountingWorkbench) -> None:
    """A table that is only mentioned adds none, cached or not: a call repeated answers the same."""
    workbench.add("ragged.csv", "id,w\n1,2\n2\n")
    query = "SELECT 'ragged', count(*) FROM data"
    cold = await ask("query", path="orders.csv", query=query)
    await ask("get_map", path="ragged.csv")
    warm = await ask("query", path="orders.csv", query=query)
    cold.pop("query_elapsed_ms")
    warm.pop("query_elapsed_ms")
    assert cold == warm


async def test_a_damaged_table_is_made_again(ask: Ask, workbench: CountingWorkbench) -> None:
    """Also one that is not `data`."""
    await rows(ask, "FROM customers")
    for path in workbench.files.cached("x").parent.glob("tables-*"):
        if path.read_bytes()[:4] == b"PAR1":
            path.write_bytes(b"PAR1 no more")
    assert await rows(ask, "SELECT count(*) FROM customers") == [[2]]


async def test_the_file_must_be_a_table(ask: Ask) -> None:
    """The one that the call names must be there, whether or not the statement asks for it."""
    with pytest.raises(NotFound):
        await rows(ask, "SELECT 1", path="nowhere.csv")
    with pytest.raises(ValidationFailed, match="not a table"):
        await rows(ask, "SELECT 1", path="notes.txt")


async def test_windows_fit_together_where_keys_are_equal(
    ask: Ask, workbench: CountingWorkbench
) -> None:
    """Ordered by a key that many rows share, no row comes twice, in whatever way it is written."""
    text = "i,k\n" + "".join(f"{i},{i * 7919 % 3}\n" for i in range(20_000))
    workbench.add("many.csv", text)
    for query in (
        "SELECT i, k FROM data ORDER BY k",
        "SELECT * FROM data ORDER BY k DESC NULLS LAST -- by key",
        "(SELECT i, k FROM data ORDER BY k)",
        "SELECT i, k FROM data UNION ALL SELECT i, k FROM data WHERE i < 0 ORDER BY k",
        "FROM data ORDER BY ALL",
        "SELECT i, k FROM data ORDER BY k LIMIT 15000",
    ):
        seen: list[int] = []
        for offset in range(0, 3_000, 300):
            found = await ask(
                "query", path="many.csv", query=query, window_rows=300, window_offset=offset
            )
            seen += [row[0] for row in found["rows"]]
            assert found["total_row_count"] == (15_000 if "LIMIT" in query else 20_000)
        assert len(seen) == len(set(seen)) == 3_000, query


async def test_rows_are_counted_once(ask: Ask, workbench: CountingWorkbench) -> None:
    """Later windows take the total of the first; with another content it is counted anew."""
    workbench.add("n.csv", "n\n" + "".join(f"{n}\n" for n in range(50)))
    query = "SELECT n FROM data WHERE n % 2 = 0 ORDER BY n"

    async def total(offset: int) -> int:
        found = await ask("query", path="n.csv", query=query, window_rows=5, window_offset=offset)
        return int(found["total_row_count"])

    assert await total(0) == 25
    (kept,) = (p for p in workbench.files.cached("x").parent.iterdir() if p.stat().st_size < 9)
    # What is kept is what is told: a total that is wrong there shows that nothing was counted.
    kept.write_bytes(b"\x2a")
    assert await total(5) == 42
    kept.unlink()
    assert await total(100) == 25
    workbench.add("n.csv", "n\n" + "".join(f"{n}\n" for n in range(90)))
    assert await total(5) == 45
    for query in ("SELECT n FROM data WHERE random() < 2", "SELECT n, now() FROM data"):
        before = set(workbench.files.cached("x").parent.iterdir())
        assert await total(0) == 90
        assert set(workbench.files.cached("x").parent.iterdir()) == before, query


async def test_rows_of_a_window_are_limited(workbench: CountingWorkbench) -> None:
    """By a setting of the plugin."""
    tools = kbd_register_tools({"query_rows": 2}, workbench.formats)
    (tool,) = (tool for tool in tools if tool.name == "table_query")
    with pytest.raises(ValidationFailed, match="at most 2 rows"):
        await workbench.call(tool, path="orders.csv", query="FROM data", window_rows=3)
