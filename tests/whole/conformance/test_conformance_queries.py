"""Conformance of queries: what is kept of tables, windows, limits, and what SQL may not do."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kbd.client.blocking import RemoteError
from wired import Wired

pytestmark = pytest.mark.full

SALES = "region,amount\nwest,3\nwest,5\neast,10\n"
GREEDY = {
    "a triple cross join": "SELECT count(*) FROM range(100000) a, range(100000), range(100000)",
    "an endless recursion": (
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
    ),
    "20 GB in one value": "SELECT len(range(2500000000))",
    "a text that no limit of DuckDB sees": "SELECT repeat('x', 4000000000)",
}


def ask(wire: Wired, workbench_id: str, tool: str, **arguments: Any) -> Any:
    """Call a tool."""
    return wire.ask("ToolsCall", workbench_id=workbench_id, name=tool, arguments=arguments)


def refused(wire: Wired, workbench_id: str, **arguments: Any) -> RemoteError:
    """Ask for what `table_query` must refuse; the error tells no path."""
    return wire.refused(
        "ToolsCall", workbench_id=workbench_id, name="table_query", arguments=arguments
    )


def cached(wire: Wired, workbench_id: str) -> list[str]:
    """Return the names of the tables that are kept."""
    folder = wire.daemon.home / "workbenches" / workbench_id / "cache"
    return sorted(path.name for path in folder.glob("tables-*"))


def test_a_removed_files_tables_go(wire: Wired) -> None:
    """Conformance 19: what is kept of sales.csv goes with it, what is kept of others stays."""
    workbench_id = wire.workbench(sales__csv=SALES, other__csv="a\n1\n")
    ask(wire, workbench_id, "table_get_map", path="other.csv")
    others = cached(wire, workbench_id)
    query = "SELECT * FROM range(3)"
    ask(wire, workbench_id, "table_query", path="sales.csv", query=query, window_rows=1)
    ask(wire, workbench_id, "table_get_map", path="sales.csv")
    assert len(cached(wire, workbench_id)) == len(others) + 3
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["sales.csv"])
    assert cached(wire, workbench_id) == others != []


def test_what_two_files_share_stays(wire: Wired) -> None:
    """Conformance 19: a table goes with the last file of its content."""
    workbench_id = wire.workbench(a__csv=SALES, b__csv=SALES)
    ask(wire, workbench_id, "table_get_map", path="a.csv")
    kept = cached(wire, workbench_id)
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["a.csv"])
    assert cached(wire, workbench_id) == kept
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["b.csv"])
    assert cached(wire, workbench_id) == []


def test_a_group_by_and_its_windows(wire: Wired) -> None:
    """Conformance 119: two rows of two; past the end none of two, and no more."""
    workbench_id = wire.workbench(sales__csv=SALES)
    query = "SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY region"
    found = ask(wire, workbench_id, "table_query", path="sales.csv", query=query)
    assert (found["rows"], found["total_row_count"]) == ([["east", 10], ["west", 8]], 2)
    past = ask(
        wire, workbench_id, "table_query", path="sales.csv", query=query, window_offset=10
    )  # fmt: skip
    assert (past["rows"], past["total_row_count"], past["has_more"]) == ([], 2, False)


def test_a_query_sees_what_an_export_wrote(wire: Wired) -> None:
    """Conformance 120: the next map and the next query have the new rows; so after a change."""
    workbench_id = wire.workbench(sales__csv=SALES)
    assert ask(wire, workbench_id, "table_get_map", path="sales.csv")["row_count"] == 3
    query = "SELECT * FROM data WHERE amount > 3 ORDER BY amount"
    export = {"path": "sales.csv", "target_path": "sales.csv", "format": "csv", "query": query}
    assert ask(wire, workbench_id, "table_export", **export)["row_count"] == 2
    assert ask(wire, workbench_id, "table_get_map", path="sales.csv")["row_count"] == 2
    named = ask(
        wire, workbench_id, "table_query", path="sales.csv", query="SELECT count(*) FROM sales"
    )
    assert named["rows"] == [[2]]
    wire.ask("DraftDiscard", workbench_id=workbench_id)
    # What is published was kept, too.
    assert ask(wire, workbench_id, "table_get_map", path="sales.csv")["row_count"] == 3
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["sales.csv"])
    wire.add(workbench_id, wire.file("sales.csv", SALES + "north,1\nnorth,2\n"))
    assert ask(wire, workbench_id, "table_get_map", path="sales.csv")["row_count"] == 5


@pytest.mark.parametrize("query", GREEDY.values(), ids=GREEDY)
def test_greedy_statements_end_and_disturb_nobody(wire: Wired, query: str) -> None:
    """Conformance 122: TOOL_TIMEOUT (contract, section 7), while others are answered."""
    workbench_id = wire.workbench(sales__csv=SALES)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(refused, wire, workbench_id, path="sales.csv", query=query)
        for _ in range(5):
            # Each of these waits for its answer.
            found = ask(
                wire, workbench_id, "table_query", path="sales.csv", query="SELECT 1 FROM data"
            )
            assert found["total_row_count"] == 3
            assert wire.ask("EngineGetInfo")["api_version"] == "1"
        error = waiting.result()
    assert error.data["error_code"] == "TOOL_TIMEOUT"
    assert "time limit" in error.message or "memory" in error.message
    assert ask(wire, workbench_id, "table_query", path="sales.csv", query="FROM data")["rows"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv_auto('/etc/passwd')",
        "SELECT 1; SELECT 2",
        "DELETE FROM data",
        "FROM '/etc/passwd'",
        'FROM "../settings.toml"',
    ],
)
def test_what_sql_may_not_do(wire: Wired, query: str) -> None:
    """Conformance 123: VALIDATION_FAILED, and the file is as it was."""
    workbench_id = wire.workbench(sales__csv=SALES)
    error = refused(wire, workbench_id, path="sales.csv", query=query)
    assert error.data["error_code"] == "VALIDATION_FAILED"
    assert "root:" not in error.message
    assert (wire.published(workbench_id) / "sales.csv").read_text() == SALES
