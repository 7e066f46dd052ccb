"""Maps, descriptions, statistics and rows by number are exact (conformance 75, 117, 118)."""

import os
import resource
from pathlib import Path

import duckdb
import msgspec
import pytest

from backends import on_trio
from kbd.core.plugins.forked_call import OPEN_FILES
from kbd.errors import FileReadFailed, NotFound, ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool
from kbd_tables.results import describe
from tools.tables.conftest import Ask

pytestmark = pytest.mark.anyio

SALES = "region,amount,active\nwest,3,true\nwest,5,true\neast,10,false\n"


def test_every_tool_keeps_its_contract(tools: dict[str, Tool]) -> None:
    """The eight tools take source_sheet, and all can be shown to a model."""
    for tool in tools.values():
        check_tool(tool)
        assert "source_sheet" in tool.arguments.__struct_fields__
    assert sorted(tools) == [
        "table_describe", "table_export", "table_export_sheets", "table_get_map", "table_query",
        "table_read_rows", "table_stats", "table_update_from_export",
    ]  # fmt: skip


async def test_map(workbench: Workbench, ask: Ask) -> None:
    """A map has sizes, typed columns and what the format detected."""
    workbench.add("s.csv", SALES)
    found = await ask("get_map", path="s.csv")
    assert (found["row_count"], found["column_count"]) == (3, 3)
    assert found["columns"] == [
        {"name": "region", "type": "string"},
        {"name": "amount", "type": "integer"},
        {"name": "active", "type": "boolean"},
    ]
    assert found["encoding_detected"]
    assert found["delimiter"] == ","


async def test_describe(workbench: Workbench, ask: Ask) -> None:
    """Counts are of all rows; a column with a missing value is nullable."""
    workbench.add("s.csv", SALES + ",,\n")
    found = await ask("describe", path="s.csv")
    assert found["row_count"] == 4
    assert found["columns"][1] == {
        "name": "amount", "index": 1, "inferred_type": "integer", "nullable": True,
        "non_null_count": 3, "distinct_estimate": 3,
    }  # fmt: skip


def test_describe_opens_few_files(tmp_path: Path) -> None:
    """A table of many columns is described within the files that a call may have open."""
    target = tmp_path / "wide.parquet"
    names = [f"c{number}" for number in range(120)]
    selected = ", ".join(f"{number} AS {name}" for number, name in enumerate(names))
    duckdb.execute(f"COPY (SELECT {selected}) TO '{target}'")
    held = {int(number) for number in os.listdir("/proc/self/fd")}
    free = [number for number in range(len(held) + OPEN_FILES) if number not in held]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The worker of a call holds some of its own.
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[OPEN_FILES // 2], before[1]))
    try:
        found = describe(str(target), [(name, "integer", "INTEGER") for name in names], 1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [each["distinct_estimate"] for each in found] == [1] * 120


@pytest.mark.parametrize("name", ["V", "n", "place", "value", "count"])
async def test_columns_that_are_called_as_the_statements_own(
    workbench: Workbench, ask: Ask, name: str
) -> None:
    """A table with any names is described and counted, whatever the statements call their parts."""
    workbench.add("s.csv", f"K,{name}\na,1\nb,2\nb,5\n")
    first, second = (await ask("describe", path="s.csv"))["columns"]
    assert (first["non_null_count"], first["distinct_estimate"]) == (3, 2)
    assert (second["non_null_count"], second["distinct_estimate"]) == (3, 3)
    counted = (await ask("stats", path="s.csv"))["columns"]
    assert counted[0]["most_common"] == [{"value": "b", "count": 2}, {"value": "a", "count": 1}]
    assert counted[1]["sum"] == 8


async def test_stats(workbench: Workbench, ask: Ask) -> None:
    """Each type has its own statistics and no others."""
    workbench.add("s.csv", SALES)
    region, amount, active = (await ask("stats", path="s.csv"))["columns"]
    assert (amount["min"], amount["max"], amount["sum"], amount["mean"]) == (3, 10, 18, 6.0)
    assert region["most_common"][0] == {"value": "west", "count": 2}
    assert (region["min_length"], region["max_length"]) == (4, 4)
    assert (active["true_count"], active["false_count"]) == (2, 1)
    assert "min_length" not in active


async def test_statistics_that_are_no_numbers_are_told(workbench: Workbench, ask: Ask) -> None:
    """A sum that no double holds is null with a warning that names it, as in a query."""
    workbench.add("s.csv", "a,b,c\n1e308,1e200,1\n1e308,-1e200,2\n")
    found = await ask("stats", path="s.csv")
    a, b, c = found["columns"]
    assert (a["sum"], a["mean"], a["max"], b["sum"], b["stddev"]) == (None, None, 1e308, 0, None)
    (told,) = found["warnings"]
    note = "3 figure(s) are NaN or infinite: they are empty here, and no number: "
    assert told == note + "mean of a; sum of a; stddev of b"
    assert c["sum"] == 3
    assert "warnings" not in await ask("stats", path="s.csv", columns=["c"])


async def test_sums_of_decimals_are_exact(workbench: Workbench, ask: Ask) -> None:
    """Ten times 0.1 is 1: plain decimals are not doubles."""
    workbench.add("d.csv", "v\n" + "0.1\n" * 10)
    (found,) = (await ask("stats", path="d.csv", columns=["V"]))["columns"]
    assert (found["type"], found["sum"]) == ("float", 1.0)
    query = "SELECT sum(v) = 1 AS exact FROM data"
    assert (await ask("query", path="d.csv", query=query))["rows"] == [[True]]


async def test_rows_by_number(workbench: Workbench, ask: Ask) -> None:
    """Rows count from 1 without the header, in the file's order."""
    workbench.add("s.csv", SALES)
    found = await ask("read_rows", path="s.csv", row_start=2, row_count=2, columns=["amount"])
    assert found == {
        "columns": ["amount"], "column_types": ["integer"], "rows": [[5], [10]],
        "row_start": 2, "row_count": 2, "total_rows": 3, "has_more": False,
    }  # fmt: skip
    past = await ask("read_rows", path="s.csv", row_start=9, row_count=2)
    assert (past["rows"], past["total_rows"], past["has_more"]) == ([], 3, False)


@on_trio
async def test_many_rows_keep_their_order(workbench: Workbench, ask: Ask) -> None:
    """A window far into a file of many row groups is the file's window."""
    workbench.add("n.csv", "n\n" + "".join(f"{n}\n" for n in range(300_000)))
    found = await ask("read_rows", path="n.csv", row_start=250_001, row_count=3)
    assert found["rows"] == [[250_000], [250_001], [250_002]]
    assert found["has_more"] is True


async def test_a_changed_file_is_another_table(workbench: Workbench, ask: Ask) -> None:
    """What is cached belongs to content, so a change is seen at once (conformance 120)."""
    workbench.add("s.csv", SALES)
    assert (await ask("get_map", path="s.csv"))["row_count"] == 3
    workbench.add("s.csv", "region\nnorth\n")
    assert (await ask("get_map", path="s.csv"))["row_count"] == 1


async def test_a_damaged_cache_is_made_again(workbench: Workbench, ask: Ask) -> None:
    """A cached table that cannot be read costs time and nothing else."""
    workbench.add("s.csv", SALES)
    await ask("get_map", path="s.csv")
    (parquet,) = (
        path for path in workbench.files.cached("x").parent.iterdir() if path.suffix != ".record"
    )
    parquet.write_bytes(b"PAR1 not a table PAR1")
    assert (await ask("stats", path="s.csv", columns=["amount"]))["columns"][0]["sum"] == 18
    parquet.write_bytes(b"")
    query = await ask("query", path="s.csv", query="SELECT count(*) FROM data")
    assert query["rows"] == [[3]]


async def test_a_figure_that_the_disk_has_changed_is_not_told(
    workbench: Workbench, ask: Ask
) -> None:
    """One bit that is turned over makes another number, of which nothing but a digest knows."""
    workbench.add("s.csv", "name,amount\na,123456789\nb,1\n")
    await ask("get_map", path="s.csv")
    (parquet,) = (
        path for path in workbench.files.cached("x").parent.iterdir() if path.suffix != ".record"
    )
    before = parquet.read_bytes()
    written = (123456789).to_bytes(4, "little")
    assert written in before
    parquet.write_bytes(before.replace(written, (123456788).to_bytes(4, "little")))

    query = await ask("query", path="s.csv", query="SELECT sum(amount) FROM data")

    assert query["rows"] == [[123456790]]
    assert parquet.read_bytes() == before


async def test_rows_by_number_of_a_table_that_has_a_column_of_that_name(
    workbench: Workbench, ask: Ask
) -> None:
    """Parquet calls the number of a row `file_row_number`; so may a table call a column."""
    workbench.add("n.csv", "File_Row_Number,name\n7,a\n0,b\n1,c\n")

    found = await ask("read_rows", path="n.csv", row_start=2, row_count=2)

    assert found["rows"] == [[0, "b"], [1, "c"]]


async def test_what_is_asked_wrongly_is_told(workbench: Workbench, ask: Ask) -> None:
    """Unknown files, columns and formats are answered with what there is."""
    workbench.add("s.csv", SALES)
    workbench.add("a.txt", "x")
    with pytest.raises(NotFound, match=r"s\.csv"):
        await ask("get_map", path="x.csv")
    with pytest.raises(ValidationFailed, match="no column nope; its columns are region, amount"):
        await ask("stats", path="s.csv", columns=["nope"])
    with pytest.raises(ValidationFailed, match="tables are book, csv"):
        await ask("get_map", path="a.txt")
    with pytest.raises(ValidationFailed, match="no sheets"):
        await ask("describe", path="s.csv", source_sheet="S")
    with pytest.raises(ValidationFailed, match=">= 1"):
        await ask("read_rows", path="s.csv", row_start=0, row_count=1)


async def test_an_empty_file_is_no_table(workbench: Workbench, ask: Ask) -> None:
    """A file without columns is refused in words."""
    workbench.add("e.csv", "")
    with pytest.raises((ValidationFailed, FileReadFailed)):
        await ask("get_map", path="e.csv")


async def test_results_are_plain_json(workbench: Workbench, ask: Ask) -> None:
    """Nothing in a result needs a type of its own on the wire."""
    workbench.add("s.csv", "d,t\n2024-01-31,2024-01-31T10:00:00\n")
    found = await ask("read_rows", path="s.csv", row_start=1, row_count=1)
    assert msgspec.json.decode(msgspec.json.encode(found)) == found
    assert found["rows"] == [["2024-01-31", "2024-01-31T10:00:00"]]
