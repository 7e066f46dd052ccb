"""Odd files: every row is kept or the result says which were not (traps B 15 to 17)."""

import pytest

from backends import on_asyncio
from kbd.testing.tools import Workbench
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_asyncio]

ODD: dict[str, bytes] = {
    "byte order mark": "\ufeffa,b\né,1\n".encode(),
    "UTF-16": "a,b\né,1\n".encode("utf-16"),
    "Windows": "a,b\r\né,1\r\n".encode("cp1252"),
    "parentheses": b"a,b\n(100),1\n(see note),2\n",
    "quotes": b'a,b\n"x ""y"", z",1\n"two\nlines",2\n',
    "lone carriage returns in quotes": b'a,b\n"two\rlines",1\n',
    "zeros": b"a,b\nx\0y,1\nz,2\n",
    "semicolons": b"a;b\n1,5;2\n2,5;3\n",
    "blank last fields": b"a,b\n1,\n2,\n",
    "one column": b"a\n1\n\n3\n",
    "SQL in a header": b'"a"");--","b\'"\n1,2\n',
    "a reserved word": b"select,from\n1,2\n",
    "a long field": b"a,b\n" + b"x" * 3_000_000 + b",1\n",
}


@pytest.mark.parametrize("name", ODD)
async def test_every_row_is_there(workbench: Workbench, ask: Ask, name: str) -> None:
    """Map, rows and SQL agree on rows and columns."""
    workbench.add("t.csv", ODD[name])
    found = await ask("get_map", path="t.csv")
    read = await ask("read_rows", path="t.csv", row_start=1, row_count=100)
    queried = await ask("query", path="t.csv", query="FROM data")
    assert found["row_count"] == len(read["rows"]) > 0
    assert read["rows"] == queried["rows"]
    assert [column["name"] for column in found["columns"]] == read["columns"]


async def test_ragged_rows_are_kept_and_told(workbench: Workbench, ask: Ask) -> None:
    """Short rows are padded, long ones widen the table; a warning says how many."""
    workbench.add("t.csv", "a,b\n1\n2,3\n4,5,6\n")
    found = await ask("get_map", path="t.csv")
    assert (found["row_count"], found["column_count"]) == (3, 3)
    assert found["warnings"]
    read = await ask("read_rows", path="t.csv", row_start=1, row_count=9)
    assert read["rows"] == [[1, None, None], [2, 3, None], [4, 5, 6]]


@pytest.mark.full
async def test_quoted_line_breaks_in_a_large_file(workbench: Workbench, ask: Ask) -> None:
    """Reading in parallel may not tear a field that looks like rows."""
    field = '"' + "1,2\n" * 2_000 + '"'
    workbench.add("t.csv", "a,b\n" + f"{field},1\n" * 600)
    queried = await ask("query", path="t.csv", query="SELECT count(*), min(length(a)) FROM data")
    # The last line break goes: it is a blank at the end.
    assert queried["rows"] == [[600, 7_999]]
