"""Types are only taken where nothing is lost by them."""

import pytest

from backends import on_trio
from kbd.testing.tools import Workbench
from tools.small_formats import book
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_trio]

TYPES = {
    "integer": (["1", "-5", "0", ""], "integer"),
    "integers beyond 64 bits": (["1", "12345678901234567890"], "string"),
    "leading zeros": (["007", "010"], "string"),
    "a plus": (["+49", "+50"], "string"),
    "decimals": (["1.50", "-0.25", "3"], "float"),
    "doubles": (["1e5", "0.12345678901"], "float"),
    "decimals with leading zeros": (["00.5", "1.5"], "string"),
    "not a number": (["NaN", "NaN"], "string"),
    "infinity": (["1e999", "1.5"], "string"),
    "booleans": (["true", "False", "TRUE"], "boolean"),
    "yes and no": (["yes", "no"], "string"),
    "ISO dates": (["2024-01-31", "", "1999-12-01"], "date"),
    "impossible dates": (["2024-02-31"], "string"),
    "slashed ISO dates": (["2024/1/31"], "date"),
    "German dates": (["31.01.2024", "1.2.2024"], "date"),
    "day first": (["31/01/2024", "01/02/2024"], "date"),
    "month first": (["01/31/2024", "01/02/2024"], "date"),
    "ambiguous": (["01/02/2024", "03/04/2024"], "string"),
    "day first with hyphens": (["31-1-2024", "01-02-2024"], "date"),
    "month first with hyphens": (["1-31-2024", "01-02-2024"], "date"),
    "ambiguous with hyphens": (["1-2-2024", "3-4-2024"], "string"),
    "datetimes": (["2024-01-31T10:00:00", "2024-01-31 10:00", "2024-01-31"], "datetime"),
    "datetimes in UTC": (["2024-01-31T10:00:00.5Z"], "datetime"),
    "text": (["a", "1"], "string"),
    "nothing": (["", ""], "string"),
    "parentheses": (["(100)", "(200)"], "string"),
}


async def _column(workbench: Workbench, ask: Ask, values: list[str]) -> tuple[str, list[object]]:
    """Return the type and the values of a column beside a column of row numbers."""
    rows = "".join(f"{number},{value}\n" for number, value in enumerate(values))
    workbench.add("t.csv", f"row,value\n{rows}")
    found = await ask(
        "read_rows", path="t.csv", row_start=1, row_count=len(values), columns=["value"]
    )
    return found["column_types"][0], [row[0] for row in found["rows"]]


async def test_types_of_columns(workbench: Workbench, ask: Ask) -> None:
    """Each kind of values has the type that keeps them; text is kept to the letter."""
    length = max(len(values) for values, _ in TYPES.values())
    filled = [values + [""] * (length - len(values)) for values, _ in TYPES.values()]
    lines = [",".join(TYPES), *(",".join(row) for row in zip(*filled, strict=True))]
    workbench.add("t.csv", "\n".join(lines) + "\n")
    found = await ask("read_rows", path="t.csv", row_start=1, row_count=length)
    types = dict(zip(found["columns"], found["column_types"], strict=True))
    assert types == {name: kind for name, (_, kind) in TYPES.items()}
    for values, kind, *read in zip(filled, found["column_types"], *found["rows"], strict=True):
        assert [value is None for value in read] == [not value for value in values]
        if kind == "string":
            assert read == [value or None for value in values]


async def test_dates_are_read_in_their_order(workbench: Workbench, ask: Ask) -> None:
    """Day first and month first are told apart by the values."""
    assert (await _column(workbench, ask, ["31/01/2024", "01/02/2024"]))[1] == [
        "2024-01-31", "2024-02-01",
    ]  # fmt: skip
    assert (await _column(workbench, ask, ["01/31/2024", "01/02/2024"]))[1] == [
        "2024-01-31", "2024-01-02",
    ]  # fmt: skip
    assert (await _column(workbench, ask, ["31-1-2024", "1-2-2024"]))[1] == [
        "2024-01-31", "2024-02-01",
    ]  # fmt: skip


@pytest.mark.parametrize("values", [["01/02/2024", "03/04/2024"], ["1-2-2024", "3-4-2024"]])
async def test_ambiguous_dates_are_told(workbench: Workbench, ask: Ask, values: list[str]) -> None:
    """Text with a warning is better than a wrong date."""
    await _column(workbench, ask, values)
    question, how = (await ask("get_map", path="t.csv"))["warnings"]
    assert question == f"value: is {values[0]} 2024-02-01 or 2024-01-02?"
    assert how.startswith('To answer, say read_as {"date_order": "dmy" or "mdy"}; until then')


async def test_decimal_commas_are_exact(workbench: Workbench, ask: Ask) -> None:
    """Sums lose nothing, and order and comparison are those of numbers."""
    workbench.add("t.csv", "n;v\n1;0,1\n2;0,2\n3;1.000.000.000.000.000,05\n4;-9,99\n")
    found = await ask("query", path="t.csv", query="SELECT sum(v) FROM data WHERE v > 0")
    assert found["rows"] == [["1000000000000000.35"]]
    found = await ask("query", path="t.csv", query="SELECT v FROM data ORDER BY v")
    assert [row[0] for row in found["rows"]] == [-9.99, 0.1, 0.2, "1000000000000000.05"]
    (column,) = (await ask("stats", path="t.csv", columns=["v"]))["columns"]
    assert (column["type"], column["min"]) == ("float", -9.99)


async def test_one_late_comma_decides(workbench: Workbench, ask: Ask) -> None:
    """Whole numbers in the first rows do not rule decimal commas out."""
    workbench.add("t.csv", "n;v\n" + "1;5\n" * 3_000 + "1;2,50\n")
    found = await ask("query", path="t.csv", query="SELECT sum(v) FROM data")
    assert found["rows"] == [[15_002.5]]


async def test_one_late_value_decides(workbench: Workbench, ask: Ask) -> None:
    """The first rows only narrow the choice; every value is tested."""
    late = ["1"] * 6_000 + ["x"]
    assert (await _column(workbench, ask, late))[0] == "string"
    only_late = [""] * 6_000 + ["2024-01-31"]
    assert (await _column(workbench, ask, only_late))[0] == "date"


async def test_long_decimals_become_text_rather_than_lose_digits(
    workbench: Workbench, ask: Ask
) -> None:
    """A sum beyond 15 digits is text, exact to the last one."""
    workbench.add("t.csv", "v\n123456789012345.67\n0.01\n")
    found = await ask("query", path="t.csv", query="SELECT sum(v) FROM data")
    assert found["rows"] == [["123456789012345.68"]]


async def test_types_that_a_format_knows_are_kept(workbench: Workbench, ask: Ask) -> None:
    """A workbook's text "007" and "1" stay text, its dates are dates."""
    columns = [["code", "string"], ["n", "float"], ["d", "date"], ["lie", "integer"]]
    workbench.add("b.book", book(S=(columns, [["1", 2.5, "2024-01-31", "x"]])))
    found = await ask("get_map", path="b.book", source_sheet="S")
    assert [column["type"] for column in found["columns"]] == ["string", "float", "date", "string"]
    assert found["sheet"] == "S"


async def test_each_sheet_is_its_own_table(workbench: Workbench, ask: Ask) -> None:
    """source_sheet chooses; without it a workbook of several says which there are."""
    sheets = {name: ([["n", "integer"]], [[n]]) for n, name in enumerate("AB")}
    workbench.add("b.book", book(**sheets))
    for number, name in enumerate("AB"):
        found = await ask("read_rows", path="b.book", source_sheet=name, row_start=1, row_count=1)
        assert found["rows"] == [[number]]


async def test_names_that_differ_only_in_case(workbench: Workbench, ask: Ask) -> None:
    """SQL ignores case, so the second is renamed and the map says so; no column is lost."""
    workbench.add("t.csv", "Name,name,NAME_2\na,b,c\n")
    found = await ask("query", path="t.csv", query="SELECT * FROM data")
    assert found["rows"] == [["a", "b", "c"]]
    assert len({name.lower() for name in found["columns"]}) == 3
    assert found["warnings"]
