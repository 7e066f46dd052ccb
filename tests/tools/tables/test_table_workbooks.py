"""Tables into workbooks by the tools, with the real format (conformance 76, 77, 78)."""

import datetime as dt
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.errors import NotFound, ValidationFailed
from kbd.formats import ReadAs
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_csv import CsvFormat
from kbd_tables import kbd_register_tools
from kbd_xlsx import XlsxFormat
from written_rows import foreign, parts

pytestmark = pytest.mark.anyio

SALES = "region,amount,price,day,code\nwest,3,1.50,2024-01-31,007\neast,10,-2.00,2024-02-01,=1+1\n"
ROWS = [
    ["region", "amount", "price", "day", "code"],
    ["west", 3, 1.5, dt.datetime(2024, 1, 31), "007"],  # noqa: DTZ001
    ["east", 10, -2, dt.datetime(2024, 2, 1), "=1+1"],  # noqa: DTZ001
]


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path / "workbench", [CsvFormat(), XlsxFormat()])
    found.add("s.csv", SALES)
    path = foreign(tmp_path / "theirs.xlsx", [["name", "amount"], ["a", 1]])
    found.add("theirs.xlsx", path.read_bytes())
    return found


@pytest.fixture
def tools(workbench: Workbench) -> dict[str, Tool]:
    return {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}


async def ask(workbench: Workbench, tools: dict[str, Tool], name: str, **arguments: Any) -> Any:
    return (await workbench.call(tools[f"table_{name}"], path="s.csv", **arguments)).value


def values(workbench: Workbench, name: str, sheet: str) -> list[list[Any]]:
    found = openpyxl.load_workbook(BytesIO(workbench.content(name)))[sheet]
    return [[cell.value for cell in row] for row in found.iter_rows()]


async def test_an_export_makes_a_workbook(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """Types are kept: numbers, dates, text that looks like either."""
    found = await ask(workbench, tools, "export", target_path="o.xlsx", format="xlsx")

    assert found == {
        "target_path": "o.xlsx", "format": "xlsx", "row_count": 2, "column_count": 5,
        "sheet": "Sheet1",
        "warnings": [
            "1 text(s) would be formulas if they were typed: written as text."
        ],
    }  # fmt: skip
    assert values(workbench, "o.xlsx", "Sheet1") == ROWS


async def test_an_export_into_a_workbook_that_is_there_keeps_it(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """Another program's sheets and parts stay; the rows go into a sheet of their own."""
    before = parts(workbench.files.get("theirs.xlsx").path)

    found = await ask(
        workbench, tools, "export", target_path="theirs.xlsx", format="xlsx", sheet="Sales"
    )

    assert found["warnings"][0] == "theirs.xlsx exists: sheet Sales was written, others are kept"
    assert values(workbench, "theirs.xlsx", "Sales") == ROWS
    after = parts(workbench.files.get("theirs.xlsx").path)
    kept = [name for name in before if "/sheet" in name or "chart" in name or "comment" in name]
    assert len(kept) >= 5
    assert {name: _bare(after[name]) for name in kept} == {
        name: _bare(before[name]) for name in kept
    }


def _bare(part: bytes) -> bytes:
    """Return a part without results, which formulas get that had none."""
    return re.sub(rb"</f>(?:<v>[^<]*</v>|<v ?/>)?", b"</f>", part)


async def test_an_update_forwards_all_its_arguments(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """The range that was written is told with both ends, "" where nothing was."""
    target = {"target_path": "theirs.xlsx", "sheet": "Data"}
    query = "SELECT region, amount FROM data ORDER BY amount"

    placed = await ask(workbench, tools, "update_from_export", **target, mode="write_range",
                       start_cell="c4", query=query, include_header=False,
                       clear_target_range=True)  # fmt: skip
    default = await ask(workbench, tools, "update_from_export", **target, mode="write_range",
                        query=query)  # fmt: skip
    nothing = await ask(workbench, tools, "update_from_export", **target, mode="append_rows",
                        query=f"SELECT * FROM ({query}) WHERE amount > 99")  # fmt: skip

    assert placed["written_range"] == "C4:D5"
    assert default["written_range"] == "A1:B3"
    assert (nothing["written_range"], nothing["row_count"]) == ("", 0)
    assert values(workbench, "theirs.xlsx", "Data") == [
        ["region", "amount", None, None], ["west", 3, None, None], ["east", 10, None, None],
        [None, None, "west", 3], [None, None, "east", 10],
    ]  # fmt: skip


async def test_nothing_is_made_that_was_not_asked_for(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """A workbook and a sheet are made only where that is allowed; a text table is no target."""
    update: dict[str, Any] = {"sheet": "Nope", "mode": "append_rows"}

    with pytest.raises(NotFound, match=r"theirs\.xlsx"):
        await ask(workbench, tools, "update_from_export", target_path="their.xlsx", **update,
                  create_workbook_if_missing=False)  # fmt: skip
    with pytest.raises(ValidationFailed, match="no sheet 'Nope'"):
        await ask(workbench, tools, "update_from_export", target_path="theirs.xlsx", **update,
                  create_sheet_if_missing=False)  # fmt: skip
    with pytest.raises(ValidationFailed, match=r"must be a workbook \(\.xlsx"):
        await ask(workbench, tools, "update_from_export", target_path="o.csv", **update)


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_rows_are_added_to_a_text_table(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """At its end and in its own form; it has no sheet, and is not replaced."""
    workbench.add("o.csv", b"where;what\r\nnorth;1\r\n")
    query = "SELECT region, price FROM data ORDER BY amount"
    update: dict[str, Any] = {"target_path": "o.csv", "sheet": "Sheet1", "query": query}

    found = await ask(workbench, tools, "update_from_export", **update, mode="append_rows")

    assert workbench.content("o.csv") == b"where;what\r\nnorth;1\r\nwest;1.50\r\neast;-2.00\r\n"
    assert (found["sheet"], found["row_count"]) == (None, 2)
    with pytest.raises(ValidationFailed, match="must be a workbook"):
        await ask(workbench, tools, "update_from_export", **update, mode="replace_sheet")


async def test_a_header_row_is_said_of_one_sheet(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """It holds for that sheet; another one is read as if nothing was said, or as a call says."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    for name in ("A", "B"):
        sheet = book.create_sheet(name)
        for row in (["x", "y"], [1, 2], ["k", "m"], [3, 4], [5, 6]):
            sheet.append(row)
    out = BytesIO()
    book.save(out)
    workbench.add("b.xlsx", out.getvalue())

    async def columns(sheet: str, **said: Any) -> list[str]:
        found = await workbench.call(
            tools["table_get_map"], path="b.xlsx", source_sheet=sheet, read_as=said
        )
        return [column["name"] for column in found.value["columns"]]

    of_b = {"header_row": 3, "header_sheet": "b"}
    assert await columns("A", **of_b) == ["x", "y"]
    assert await columns("B", **of_b) == ["k", "m"]
    assert await columns("A", header_row=3) == ["k", "m"]
    with pytest.raises(ValidationFailed, match="Elsewhere"):
        await columns("A", header_row=3, header_sheet="Elsewhere")
    workbench.add("b.xlsx", out.getvalue(), read_as=ReadAs(header_row=3, header_sheet="B"))
    assert await columns("A") == ["x", "y"]
    assert await columns("B") == ["k", "m"]
    assert await columns("A", header_row=3) == ["k", "m"]
    with pytest.raises(ValidationFailed, match="has no sheets"):
        await ask(workbench, tools, "get_map", read_as={"header_row": 1, "header_sheet": "A"})


async def test_a_sum_of_several_currencies_is_told(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """Whoever gets a figure of the column learns it, and the map has it beside the column."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in (["name", "amount"], ["a", 1], ["b", 2]):
        sheet.append(row)
    sheet["B2"].number_format, sheet["B3"].number_format = '0.00 "€"', "[$$-409]0.00"
    content = BytesIO()
    book.save(content)
    workbench.add("paid.xlsx", content.getvalue())
    call = {"path": "paid.xlsx", "query": "SELECT sum(amount) FROM data"}
    answer = await workbench.call(tools["table_query"], **call)

    told = "its cells are in several currencies (EUR, USD)"
    assert any(told in each for each in answer.told)
    found = (await workbench.call(tools["table_get_map"], path="paid.xlsx")).value
    assert [each.get("notes") for each in found["columns"]] == [None, [told]]
