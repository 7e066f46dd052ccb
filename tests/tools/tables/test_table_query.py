"""One read-only statement sees the table as `data`; windows and totals are right."""

from typing import Any

import pytest

from backends import on_asyncio
from kbd.errors import ToolTimeout, ValidationFailed
from kbd.testing.tools import Workbench
from kbd_tables import kbd_register_tools, loaded_tables
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_asyncio]

SALES = 'region,amount,"Unit Price"\nwest,3,1.50\nwest,5,2.25\neast,10,0.10\n'


@pytest.fixture(autouse=True)
def sales(workbench: Workbench) -> None:
    workbench.add("s.csv", SALES)
    workbench.add("n.csv", "n,square\n" + "".join(f"{n},{n * n}\n" for n in range(500)))


async def test_group_by(ask: Ask) -> None:
    """Two groups, two rows (conformance 119)."""
    query = "SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY region"
    found = await ask("query", path="s.csv", query=query)
    assert found.pop("query_elapsed_ms") >= 0
    assert found == {
        "columns": ["region", "total"], "column_types": ["string", "integer"],
        "rows": [["east", 10], ["west", 8]], "row_count": 2, "total_row_count": 2,
        "window_rows": 100, "window_offset": 0, "has_more": False,
    }  # fmt: skip
    past = await ask("query", path="s.csv", query=query, window_offset=10)
    assert (past["rows"], past["total_row_count"], past["has_more"]) == ([], 2, False)


async def test_a_join_reads_what_it_names(ask: Ask) -> None:
    """Tables are called as their files are; a CTE goes before, and errors say what is near."""
    query = 'SELECT amount, square FROM data JOIN "n.csv" ON n = amount ORDER BY 1'
    assert (await ask("query", path="s.csv", query=query))["rows"] == [[3, 9], [5, 25], [10, 100]]
    hidden = "WITH n AS (SELECT 1 AS x) FROM n"
    assert (await ask("query", path="s.csv", query=hidden))["rows"] == [[1]]
    for wrong, near in {
        "SELECT amuont FROM data": "there is no column amuont in data; did you mean amount",
        'FROM "m.csv"': r'there is no table m\.csv; did you mean "[ns]\.csv"',
    }.items():
        with pytest.raises(ValidationFailed, match=near):
            await ask("query", path="s.csv", query=wrong)


async def test_windows_of_an_ordered_query_fit_together(ask: Ask) -> None:
    """Pages cover everything once, and there is no warning."""
    rows: list[list[Any]] = []
    query = "SELECT n FROM data ORDER BY n DESC"
    while True:
        found = await ask(
            "query", path="n.csv", query=query, window_rows=150, window_offset=len(rows)
        )
        assert found["total_row_count"] == 500
        assert "warnings" not in found
        rows += found["rows"]
        if not found["has_more"]:
            break
    assert [row[0] for row in rows] == list(range(499, -1, -1))


async def test_paging_without_order_is_told(ask: Ask) -> None:
    """A window that is not the whole needs an ORDER BY; one that is does not."""
    found = await ask("query", path="n.csv", query="SELECT n FROM data")
    assert (found["row_count"], found["total_row_count"], found["has_more"]) == (100, 500, True)
    assert "ORDER BY" in found["warnings"][0]
    inner = "SELECT n FROM (SELECT n FROM data ORDER BY n)"
    assert "warnings" in await ask("query", path="n.csv", query=inner)
    assert "warnings" not in await ask("query", path="s.csv", query="SELECT region FROM data")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM data",
        "select * from data;",
        "SELECT * FROM data -- all of it",
        "/* why */ SELECT * FROM data ; -- done\n;",
        "FROM data",
        "WITH x AS (SELECT * FROM data) SELECT * FROM x",
        "SELECT region r, amount \"order\", 'é;--' FROM data",
        'SELECT "Unit Price" FROM DATA',
        "SELECT region copy, amount update FROM data",
        "SELECT region AS load, 'DROP TABLE data; COPY' AS delete FROM data",
        "DESCRIBE data",
        "SUMMARIZE data",
        "SUMMARIZE SELECT amount FROM data",
        "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) FROM r",
        "VALUES (1), (2), (3)",
    ],
)
async def test_what_reads_may_run(ask: Ask, query: str) -> None:
    """Every reading form works, with comments and semicolons as models write them."""
    found = await ask("query", path="s.csv", query=query)
    assert found["total_row_count"] in (1, 3)


async def test_an_error_names_the_columns(ask: Ask) -> None:
    """DuckDB's message, without the path of anything, and a hint."""
    with pytest.raises(ValidationFailed) as caught:
        await ask("query", path="s.csv", query="SELECT regoin FROM data")
    assert "regoin" in caught.value.message
    assert '"region" string, "amount" integer, "Unit Price" float' in caught.value.message
    with pytest.raises(ValidationFailed, match='syntax error at or near "data"'):
        await ask("query", path="s.csv", query="SELECT * form data")


async def test_values_are_plain(ask: Ask) -> None:
    """Dates are ISO, NaN is null, what JSON cannot hold is text, nested values are nested."""
    query = (
        "SELECT DATE '2024-01-31', TIMESTAMP '2024-01-31 10:00', 'NaN'::DOUBLE, 1.5::DECIMAL(9,2),"
        " 170141183460469231731687303715884105727, [1, 2], {'a': 1}, NULL, true, INTERVAL 1 DAY"
    )
    found = await ask("query", path="s.csv", query=query)
    assert found["rows"][0][:9] == [
        "2024-01-31", "2024-01-31T10:00:00", None, 1.5,
        "170141183460469231731687303715884105727", [1, 2], {"a": 1}, None, True,
    ]  # fmt: skip
    assert found["column_types"][:4] == ["date", "datetime", "float", "float"]
    assert found["warnings"] == [
        "1 figure(s) are NaN or infinite: they are empty here, and no number"
    ]


async def test_a_sum_that_is_no_number_is_told(ask: Ask) -> None:
    """It is no figure, and no empty sum either; nested ones are counted, too."""
    query = (
        "SELECT sum(x), avg(x), [x] FROM (SELECT unnest([1.0, 'inf'::DOUBLE]) AS x)"
        " GROUP BY ALL ORDER BY 1"
    )
    found = await ask("query", path="s.csv", query=query)
    assert found["rows"] == [[1.0, 1.0, [1.0]], [None, None, [None]]]
    assert found["warnings"] == [
        "3 figure(s) are NaN or infinite: they are empty here, and no number"
    ]


async def test_huge_results_are_cut(ask: Ask) -> None:
    """A cell ends at 32,767 characters, a window at some megabytes, and the result says so."""
    cell = await ask("query", path="s.csv", query="SELECT repeat('x', 1000000)")
    assert len(cell["rows"][0][0]) == 32_767 + 3
    many = "SELECT repeat('x', 30000) FROM range(1000)"
    found = await ask("query", path="s.csv", query=many, window_rows=1000)
    assert found["row_count"] < 200
    assert found["has_more"] is True
    assert "cut" in found["warnings"][-1]


async def test_a_large_table_loads_what_is_named(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past two million values only the named columns are loaded; answers are the same."""
    monkeypatch.setattr(loaded_tables, "_MANY_VALUES", 5)
    for query, rows in {
        "SELECT sum(amount), max(d.region) FROM data d": [[18, "west"]],
        "SELECT count(*) FROM data": [[3]],
        "SELECT len(COLUMNS(*)::VARCHAR) FROM data LIMIT 1": [[4, 1, 4]],
        "SELECT d.amount FROM data d JOIN data e USING (region, amount) ORDER BY 1": [
            [3], [5], [10],
        ],
        "SELECT count(*) FROM (SELECT * FROM data LIMIT 1) NATURAL JOIN data": [[1]],
    }.items():  # fmt: skip
        assert (await ask("query", path="s.csv", query=query))["rows"] == rows, query
    whole = await ask("query", path="s.csv", query="SELECT d FROM data AS d LIMIT 1")
    assert list(whole["rows"][0][0]) == ["region", "amount", "Unit Price"]


async def test_the_limits_are_settings(workbench: Workbench) -> None:
    """The clock of a statement and the wall of its worker follow the plugin's settings."""
    tools = kbd_register_tools({"query_seconds": 0.1}, workbench.formats)
    (tool,) = (tool for tool in tools if tool.name == "table_query")
    cross = "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c"
    with pytest.raises(ToolTimeout, match="time limit"):
        await workbench.call(tool, path="s.csv", query=cross)
    assert workbench.limits is not None
    assert 2.0 < workbench.limits.wall_s < 3.0
    with pytest.raises(ValidationFailed, match="query_hours"):
        kbd_register_tools({"query_hours": 1}, workbench.formats)


async def test_a_value_that_no_row_has(workbench: Workbench, ask: Ask) -> None:
    """A statement that finds nothing is told which values there are; one that finds, nothing."""
    workbench.add("t.csv", "Status,n\npaid,1\nopen,2\npaid,3\ncancelled,4\n")
    told = (
        "no row has Status = 'payed': Status is one of 'paid', 'cancelled', 'open' (4 rows);"
        " did you mean 'paid'?"
    )
    for sql in (
        "SELECT * FROM data WHERE Status = 'payed'",
        "SELECT sum(n) FROM data d WHERE n > 0 AND 'payed' = d.status",
        "SELECT n FROM data WHERE Status IN ('payed') ORDER BY n",
    ):
        assert (await ask("query", path="t.csv", query=sql))["warnings"] == [told]
    for sql in (
        "SELECT * FROM data WHERE Status = 'paid' AND n = 7",
        "SELECT * FROM data WHERE Status IN ('payed', 'open') AND n = 2",
        "SELECT 1 FROM data WHERE n = 9",
    ):
        assert "warnings" not in await ask("query", path="t.csv", query=sql)
