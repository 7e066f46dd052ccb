"""Exports keep types and what they do not address (conformance 76, 77, 78, 120, 121)."""

import json
from typing import Any

import pytest

from kbd.errors import NotFound, ValidationFailed
from kbd.testing.tools import Workbench
from tools.small_formats import book
from tools.tables.conftest import Ask

pytestmark = pytest.mark.anyio

SALES = "region,amount,price,day,code\nwest,3,1.50,2024-01-31,007\neast,10,-2.00,2024-02-01,=1+1\n"
NEUTRALIZED = (
    "1 text(s) that look like formulas were written with a leading ' so that no program "
    "evaluates them."
)
UPDATE: dict[str, Any] = {
    "path": "s.csv", "target_path": "b.book", "sheet": "T", "mode": "replace_sheet",
}  # fmt: skip


@pytest.fixture(autouse=True)
def files(workbench: Workbench) -> None:
    workbench.add("s.csv", SALES)
    workbench.add("b.book", book(Other=([["n", "integer"]], [[1]])))


def _sheets(workbench: Workbench, name: str = "b.book") -> Any:
    return json.loads(workbench.content(name))


async def test_text_tables_keep_the_text_of_numbers(workbench: Workbench, ask: Ask) -> None:
    """Without a query a text table comes out as it went in, but for text that is a formula."""
    found = await ask("export", path="s.csv", target_path="o.csv", format="csv")
    assert found == {
        "target_path": "o.csv", "format": "csv", "row_count": 2, "column_count": 5,
        "warnings": [NEUTRALIZED],
    }  # fmt: skip
    plain = SALES.replace("=1+1", "'=1+1")
    assert workbench.content("o.csv").decode() == plain
    await ask("export", path="s.csv", target_path="o.tsv", format="csv")
    assert workbench.content("o.tsv").decode() == plain.replace(",", "\t")


async def test_numbers_with_commas_keep_their_text_too(workbench: Workbench, ask: Ask) -> None:
    """As text they come out as they went in; a workbook gets the numbers."""
    workbench.add("d.csv", "name;Betrag\na;1.234,50\nb;-2,00\nc;+7\n")
    await ask("export", path="d.csv", target_path="o.csv", format="csv")
    assert workbench.content("o.csv").decode() == 'name,Betrag\na,"1.234,50"\nb,"-2,00"\nc,+7\n'
    assert (await ask("get_map", path="o.csv"))["columns"][1]["type"] == "float"
    await ask("export", path="d.csv", target_path="n.book", format="book", sheet="S")
    assert _sheets(workbench, "n.book")["S"]["columns"][1] == ["Betrag", "float"]
    assert [row[1] for row in _sheets(workbench, "n.book")["S"]["rows"]] == [
        "1234.50", "-2.00", "7.00",
    ]  # fmt: skip


async def test_a_query_over_its_own_source(workbench: Workbench, ask: Ask) -> None:
    """The export replaces the file, decimals keep their digits, the next map sees it."""
    query = "SELECT region, price FROM data WHERE amount < 5 ORDER BY region"
    await ask("export", path="s.csv", target_path="s.csv", format="csv", query=query)
    assert workbench.content("s.csv") == b"region,price\nwest,1.50\n"
    assert (await ask("get_map", path="s.csv"))["row_count"] == 1


@pytest.mark.parametrize(("target", "format_name"), [("n.csv", "csv"), ("n.book", "book")])
async def test_figures_that_are_no_numbers_are_told(
    workbench: Workbench, ask: Ask, target: str, format_name: str
) -> None:
    """They become empty cells, as does a null, which is not counted."""
    query = (
        "SELECT 'NaN'::DOUBLE AS a, '-inf'::DOUBLE AS b, ['inf'::FLOAT, 1] AS c, NULL::DOUBLE AS d,"
        " 1.5::DOUBLE AS e"
    )
    found = await ask("export", path="s.csv", target_path=target, format=format_name, query=query)
    note = "3 figure(s) are NaN or infinite: they are empty here, and no number"
    assert note in found["warnings"]
    if format_name == "csv":
        assert workbench.content(target) == b'a,b,c,d,e\n,,"[null, 1.0]",,1.5\n'


async def test_a_workbook_gets_typed_values(workbench: Workbench, ask: Ask) -> None:
    """Dates are told as dates, numbers as numbers, text that looks like either as text."""
    found = await ask("export", path="s.csv", target_path="n.book", format="book", sheet="All")
    assert (found["row_count"], found["column_count"], found["sheet"]) == (2, 5, "All")
    sheet = _sheets(workbench, "n.book")["All"]
    assert sheet["columns"] == [
        ["region", "string"], ["amount", "integer"], ["price", "float"], ["day", "date"],
        ["code", "string"],
    ]  # fmt: skip
    assert sheet["rows"] == [
        ["west", 3, "1.50", "2024-01-31", "007"],
        ["east", 10, "-2.00", "2024-02-01", "=1+1"],
    ]


async def test_an_existing_workbook_keeps_its_other_sheets(workbench: Workbench, ask: Ask) -> None:
    """An export into a workbook that is there is no new file, and it says so."""
    found = await ask("export", path="s.csv", target_path="b.book", format="book", sheet="T")
    assert list(_sheets(workbench)) == ["Other", "T"]
    assert "others are kept" in found["warnings"][0]


async def test_from_a_sheet_to_text(workbench: Workbench, ask: Ask) -> None:
    """source_sheet says which sheet is exported."""
    await ask("export", path="b.book", source_sheet="Other", target_path="o.csv", format="csv")
    assert workbench.content("o.csv") == b"n\n1\n"


@pytest.mark.parametrize(
    ("format_name", "target", "message"),
    [
        ("csv", "o.book", "format csv does not fit target_path: o.book is for book"),
        ("book", "o.csv", "is for csv"),
        ("csv", "o.xyz", "o.xyz has no format's suffix"),
        ("parquet", "o.csv", "format parquet does not fit"),
    ],
)
async def test_format_and_suffix_must_agree(
    ask: Ask, format_name: str, target: str, message: str
) -> None:
    """The message names both."""
    with pytest.raises(ValidationFailed, match=message):
        await ask("export", path="s.csv", target_path=target, format=format_name)


async def test_modes_of_an_update(workbench: Workbench, ask: Ask) -> None:
    """Replace, append without a second header, write at a cell; other sheets stay."""
    query = "SELECT region, amount FROM data ORDER BY amount"
    replaced = await ask("update_from_export", **UPDATE, query=query)
    assert replaced == {
        "target_path": "b.book", "sheet": "T", "written_range": "A1:+2", "row_count": 2,
        "column_count": 2, "warnings": [],
    }  # fmt: skip
    appended = await ask("update_from_export", **{**UPDATE, "mode": "append_rows"}, query=query)
    assert "header was not repeated" in appended["warnings"][0]
    ranged = await ask(
        "update_from_export", **{**UPDATE, "mode": "write_range", "sheet": "R"},
        query="SELECT region FROM data", start_cell="d2",
    )  # fmt: skip
    assert ranged["written_range"] == "D2:+2"
    assert "no ORDER BY" in ranged["warnings"][0]
    sheets = _sheets(workbench)
    assert [len(sheets[name]["rows"]) for name in ("Other", "T", "R")] == [1, 4, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_path": " "}, "target_path is missing"),
        ({"target_path": "o.csv"}, r"must be a workbook \(.book\); o.csv is not"),
        ({"sheet": ""}, "sheet is missing"),
        ({"mode": "overwrite"}, "mode: invalid enum value 'overwrite'"),
        ({"start_cell": "12", "mode": "write_range"}, "start_cell '12' is not a cell"),
        ({"start_cell": "B2"}, "start_cell is for write_range, not replace_sheet"),
        ({"clear_target_range": True, "mode": "append_rows"}, "clear_target_range is for write_r"),
        ({"query": "DELETE FROM data"}, "DELETE is not allowed"),
        ({"nonsense": 1}, "unknown field `nonsense`"),
    ],
)
async def test_what_is_wrong_with_an_update_is_told(
    workbench: Workbench, ask: Ask, changes: dict[str, Any], message: str
) -> None:
    """Each fault has its own text, and nothing is written."""
    before = workbench.content("b.book")
    with pytest.raises(ValidationFailed, match=message):
        await ask("update_from_export", **{**UPDATE, **changes})
    assert workbench.content("b.book") == before


async def test_missing_arguments_are_named(ask: Ask) -> None:
    """The record names the field that is missing."""
    for field in ("target_path", "sheet", "mode"):
        arguments = {name: value for name, value in UPDATE.items() if name != field}
        with pytest.raises(ValidationFailed, match=f"missing required field `{field}`"):
            await ask("update_from_export", **arguments)


async def test_a_workbook_is_made_only_if_asked(workbench: Workbench, ask: Ask) -> None:
    """create_workbook_if_missing false names near matches instead."""
    missing = {**UPDATE, "target_path": "bb.book"}
    with pytest.raises(NotFound, match=r"b\.book"):
        await ask("update_from_export", **missing, create_workbook_if_missing=False)
    await ask("update_from_export", **{**missing, "target_path": "new.book"})
    assert list(_sheets(workbench, "new.book")) == ["T"]


@pytest.mark.parametrize("tool", ["export", "update_from_export"])
async def test_a_misspelt_value_leaves_no_empty_file(
    workbench: Workbench, ask: Ask, tool: str
) -> None:
    """What no row has is named with what there is, also where a row of totals is below nothing."""
    rows = "SELECT region, amount FROM data WHERE region = 'wset'"
    both = f"{rows} UNION ALL SELECT 'Total', sum(amount) FROM data WHERE region = 'wset'"
    place = {"format": "csv"} if tool == "export" else {"sheet": "T", "mode": "replace_sheet"}
    target = "n.csv" if tool == "export" else "n.book"
    for query in (rows, both, "SELECT sum(amount) FROM data WHERE region IN ('wset')"):
        with pytest.raises(ValidationFailed, match=r"no row has region = 'wset'.*mean 'west'"):
            await ask(tool, path="s.csv", target_path=target, query=query, **place)
    assert target not in workbench.files.names()
    one = "SELECT region, NULL AS x FROM data WHERE region IN ('west', 'north')"
    assert (await ask(tool, path="s.csv", target_path=target, query=one, **place))["row_count"] == 1
    # Nothing is misspelt: nobody asked for a value that is not there.
    query = "SELECT region, amount FROM data WHERE amount > 99 ORDER BY 1"
    found = await ask(tool, path="s.csv", target_path=target, query=query, **place)
    assert "the statement found no rows" in found["warnings"][0]
