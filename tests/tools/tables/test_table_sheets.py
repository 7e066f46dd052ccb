"""Many sheets by one call: rows by statements over tables that are loaded once, all or nothing."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from backends import on_asyncio
from kbd.errors import NotFound, ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import CallLimits
from kbd.types import FileName
from kbd_csv import CsvFormat
from kbd_tables import jobs, kbd_register_tools
from kbd_xlsx.handler import XlsxFormat
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.anyio, on_asyncio]

SALES = "Shop,Day,Amount\nWest,2024-01-31,1.50\nEast,2024-02-01,-2.00\nWest,2024-03-01,4.00\n"


class NotingWorkbench(Workbench):
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
def workbench(tmp_path: Path) -> NotingWorkbench:
    made = NotingWorkbench(tmp_path / "workbench", [CsvFormat(), XlsxFormat()])
    made.asked = []
    made.add("s.csv", SALES)
    made.add("c.csv", "Shop;Limit\nWest;1,5\nEast;2,25\n")
    return made


@pytest.fixture
def ask(workbench: NotingWorkbench) -> Ask:
    """Call `table_<name>` on the table s.csv and return its value."""
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}

    async def call(name: str, **arguments: Any) -> Any:
        return (await workbench.call(tools[f"table_{name}"], path="s.csv", **arguments)).value

    return call


def output(target: str, *sheets: tuple[str, str], mode: str = "replace") -> dict[str, Any]:
    """Return a file with sheets: their names and statements."""
    listed = [{"sheet": name, "query": query} for name, query in sheets]
    return {"target_path": target, "sheets": listed, "mode": mode}


SHOPS = "SELECT Shop, sum(Amount) AS Sum FROM data GROUP BY 1 ORDER BY 1"


async def test_one_call_runs_all_statements(ask: Ask, workbench: NotingWorkbench) -> None:
    """Twelve sheets take the worker once: that is what the tool is for."""
    sheets = [(f"S{n}", f"SELECT * FROM data WHERE Amount > {n} ORDER BY Day") for n in range(12)]
    await ask("get_map")
    workbench.asked.clear()
    (found,) = (await ask("export_sheets", outputs=[output("o.xlsx", *sheets)]))["outputs"]

    assert workbench.asked == [jobs.export_queries]
    assert [each["row_count"] for each in found["sheets"]] == [2, 2, 1, 1] + [0] * 8
    assert found["format"] == "xlsx"
    again = await ask("query", query='SELECT * FROM "o.xlsx"."S0"')
    assert again["rows"] == [["West", "2024-01-31", 1.5], ["West", "2024-03-01", 4.0]]


async def test_what_is_asked_is_answered_by_the_same_call(
    ask: Ask, workbench: NotingWorkbench
) -> None:
    """A statement beside the sheets: its rows are the answer, and the worker is called once."""
    await ask("get_map")
    workbench.asked.clear()
    few, many = "SELECT count(*) AS n, sum(Amount) AS s FROM data", "SELECT i FROM range(6000) r(i)"
    wanted = [few, many]
    found = await ask("export_sheets", outputs=[output("o.xlsx", ("S", SHOPS))], ask=wanted)

    assert workbench.asked == [jobs.export_queries]
    assert [sheet["row_count"] for sheet in found["outputs"][0]["sheets"]] == [2]
    totals, listed = found["answers"]
    assert (totals["columns"], totals["rows"], totals["warnings"]) == (["n", "s"], [[3, 3.5]], [])
    assert (len(listed["rows"]), listed["total_row_count"]) == (5_000, 6_000)
    alone = await ask("query", query=few)
    assert alone["rows"] == totals["rows"]


async def test_what_is_asked_and_refused_leaves_nothing(
    ask: Ask, workbench: NotingWorkbench
) -> None:
    """A statement that cannot be answered ends the call, which says what is wrong with it."""
    given = output("o.xlsx", ("S", SHOPS), ("T", SHOPS))
    with pytest.raises(ValidationFailed, match=r"^there is no column Amuont") as refused:
        await ask("export_sheets", outputs=[given], ask=["SELECT sum(Amuont) FROM data"])

    assert "sheet" not in refused.value.message
    assert set(workbench.files.names()) == {"s.csv", "c.csv"}


async def test_totals_and_lists_of_columns(ask: Ask) -> None:
    """A form is taken by columns' names, and as the lists that a schema can hold a model to."""
    by_name = {"totals": {"Sum": "sum"}, "formats": {"Sum": "0.0"}, "widths": {"Shop": 20}}
    listed = {
        "totals": [{"column": "Sum", "function": "sum"}],
        "formats": [{"column": "Sum", "format": "0.0"}],
        "widths": [{"column": "Shop", "width": 20}],
    }
    sheets = [{"sheet": name, "query": SHOPS, "form": form}
              for name, form in (("A", by_name), ("B", listed))]  # fmt: skip
    given = {"target_path": "o.xlsx", "sheets": sheets}
    (found,) = (await ask("export_sheets", outputs=[given]))["outputs"]

    assert [each["totals"] for each in found["sheets"]] == [{"Sum": 3.5}, {"Sum": 3.5}]


async def test_names_are_made_legal_and_told(ask: Ask) -> None:
    """A name that Excel refuses is another one, and the warnings say which."""
    given = output("o.xlsx", ("a/b", SHOPS), ("A B", SHOPS), ("History", SHOPS))
    (found,) = (await ask("export_sheets", outputs=[given]))["outputs"]

    assert [each["sheet"] for each in found["sheets"]] == ["a b", "A B (2)", "(History)"]
    assert any("'a/b' is called 'a b'" in warning for warning in found["warnings"])


async def test_all_or_nothing(ask: Ask, workbench: NotingWorkbench) -> None:
    """Where one sheet is refused no file is there, and the message says which one."""
    good = output("good.xlsx", ("A", SHOPS))
    before = list(workbench.files.names())
    for bad, said in (
        (output("bad.xlsx", ("A", SHOPS), ("B", "SELECT Amuont FROM data")), "sheet B of bad.xlsx"),
        (output("bad.csv", ("A", SHOPS), ("B", SHOPS)), "bad.csv: .*has no sheets"),
        (output("bad.txt", ("A", SHOPS)), "bad.txt"),
        (output("bad.xlsx", ("A", "DROP TABLE data")), "sheet A of bad.xlsx"),
        (good, "written twice"),
    ):
        with pytest.raises(ValidationFailed, match=said):
            await ask("export_sheets", outputs=[good, bad])
    assert list(workbench.files.names()) == before


async def test_several_files(ask: Ask, workbench: NotingWorkbench) -> None:
    """A text table has its one sheet; a form that it has no place for is refused."""
    outputs = [output("w.csv", ("", "SELECT Amount FROM data ORDER BY 1")),
               output("o.xlsx", ("A", SHOPS))]  # fmt: skip
    found = (await ask("export_sheets", outputs=outputs))["outputs"]

    assert [each["format"] for each in found] == ["csv", "xlsx"]
    assert workbench.content("w.csv") == b"Amount\n-2.00\n1.50\n4.00\n"
    outputs[0]["sheets"][0]["form"] = {"totals": {"Amount": "sum"}}
    with pytest.raises(ValidationFailed, match=r"w\.csv: totals: only sheets of workbooks"):
        await ask("export_sheets", outputs=outputs)


async def test_append_goes_below(ask: Ask, workbench: NotingWorkbench) -> None:
    """Into a text table in its own notation, into a sheet below its rows."""
    more = 'SELECT Shop, "Limit" * 2 AS "Limit" FROM "c.csv" WHERE Shop = \'West\''
    await ask("export_sheets", outputs=[output("c.csv", ("", more), mode="append")])
    assert workbench.content("c.csv") == b"Shop;Limit\nWest;1,5\nEast;2,25\nWest;3,00\n"
    given = output("o.xlsx", ("A", SHOPS), mode="append")
    await ask("export_sheets", outputs=[given])
    (found,) = (await ask("export_sheets", outputs=[given]))["outputs"]
    assert found["sheets"][0]["written_range"] == "A4:B5"


async def test_an_empty_sheet_is_told(ask: Ask) -> None:
    """It may be right this time; a misspelt value looks the same, so both are said."""
    given = output("o.xlsx", ("A", "SELECT * FROM data WHERE Shop = 'Wset' ORDER BY Day"))
    (found,) = (await ask("export_sheets", outputs=[given]))["outputs"]

    assert found["sheets"][0]["row_count"] == 0
    assert any("did you mean 'West'" in warning for warning in found["warnings"])


NAMED = {"limits": {"path": "c.csv"}, "again": {"path": "c.csv"}}


async def test_tables_have_names_and_readings_of_their_own(
    ask: Ask, workbench: NotingWorkbench
) -> None:
    """One file may be two tables; a name goes before a file's, and the reading is noted."""
    joined = 'SELECT Shop, "Limit" FROM data JOIN limits USING (Shop) ORDER BY ALL LIMIT 1'
    assert (await ask("query", query=joined, tables=NAMED))["rows"] == [["East", 2.25]]
    assert workbench.readings[FileName("c.csv"), None].decimal == ","
    listed = [{"name": "limits", "path": "c.csv"}]
    assert (await ask("query", query=joined, tables=listed))["rows"] == [["East", 2.25]]
    workbench.add("d.csv", "day\n01/02/2024\n")
    two = {order: {"path": "d.csv", "read_as": {"date_order": order}} for order in ("dmy", "mdy")}
    found = await ask("query", query="SELECT * FROM dmy UNION ALL FROM mdy ORDER BY 1", tables=two)
    assert found["rows"] == [["2024-01-02"], ["2024-02-01"]]
    own = await ask("query", query="SELECT count(*) FROM c", tables={"c": {"path": "s.csv"}})
    assert own["rows"] == [[3]]
    shown = await ask("query", query="SHOW TABLES", tables=NAMED)
    assert [row[0] for row in shown["rows"]] == [
        "data", "limits", "again", "c.csv", "d.csv", "s.csv",
    ]  # fmt: skip


async def test_a_count_is_of_the_tables_that_were_named(ask: Ask) -> None:
    """The same statement over other tables has another number of rows."""
    query = "SELECT * FROM t ORDER BY 1"
    for path, total in (("s.csv", 3), ("c.csv", 2)):
        named = {"t": {"path": path}}
        found = await ask("query", query=query, tables=named, window_rows=1)
        assert found["total_row_count"] == total


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"no name": {"path": "c.csv"}}, "'no name' cannot name a table"),
        ({"DATA": {"path": "c.csv"}}, "data is the table at path"),
        ({"a": {"path": "c.csv"}, "A": {"path": "s.csv"}}, "the same"),
        ([{"name": "a", "path": "c.csv"}, {"name": "a", "path": "s.csv"}], "the same"),
    ],
)
async def test_names_that_cannot_be(ask: Ask, tables: Any, said: str) -> None:
    """They are refused by name."""
    with pytest.raises(ValidationFailed, match=said):
        await ask("query", query="SELECT 1", tables=tables)


async def test_tables_that_are_not_there(ask: Ask) -> None:
    """A file, and a name that nobody gave, are refused with what there is."""
    with pytest.raises(NotFound, match="none"):
        await ask("query", query="SELECT 1", tables={"a": {"path": "none.csv"}})
    with pytest.raises(ValidationFailed, match="there is no table limit; did you mean limits"):
        await ask("query", query='FROM "limit"', tables=NAMED)


async def test_open_questions_hold_every_table(ask: Ask, workbench: NotingWorkbench) -> None:
    """A figure that hangs on how a named table is read is refused as for `data`."""
    workbench.add("q.csv", "day,n\n01/02/2024,1\n03/04/2024,2\n05/06/2024,3\n")
    query = "SELECT max(day) AS last FROM q"
    tables: dict[str, dict[str, Any]] = {"q": {"path": "q.csv"}}
    with pytest.raises(ValidationFailed, match=r"q\.csv"):
        await ask("query", query=query, tables=tables)
    with pytest.raises(ValidationFailed, match=r"q\.csv"):
        await ask("export_sheets", outputs=[output("o.xlsx", ("A", query))], tables=tables)
    tables["q"]["read_as"] = {"date_order": "dmy"}
    assert (await ask("query", query=query, tables=tables))["rows"] == [["2024-06-05"]]


@pytest.fixture
def prices(workbench: NotingWorkbench) -> None:
    """A table with prices, and one of which it is not known whether its last row is a total."""
    lines = "".join(f"article {n},{n}.5{n % 10},{n % 3 + 1}\n" for n in range(1, 30))
    workbench.add("p.csv", f"Article,Unit price,Pieces\n{lines}")
    workbench.add("open.csv", "Shop,Sum\nWest,1\nEast,2\nNorth,4\nAll shops,7\n")


@pytest.mark.usefixtures("prices")
async def test_totals_of_forms_are_judged_as_sums(ask: Ask) -> None:
    """A sum of prices means nothing, made by a statement or by a form."""

    def given(function: str) -> list[dict[str, Any]]:
        sheet = {"sheet": "A", "query": "SELECT * FROM p ORDER BY 1",
                 "form": {"totals": {"Unit price": function}}}  # fmt: skip
        return [{"target_path": "o.xlsx", "sheets": [sheet]}]

    tables = {"p": {"path": "p.csv"}}
    (found,) = (await ask("export_sheets", outputs=given("sum"), tables=tables))["outputs"]
    assert any("sums that mean nothing" in each for each in found["warnings"])
    (found,) = (await ask("export_sheets", outputs=given("maximum"), tables=tables))["outputs"]
    assert not any("sums that mean nothing" in each for each in found["warnings"])


@pytest.mark.usefixtures("prices")
async def test_totals_of_forms_wait_for_answers(ask: Ask) -> None:
    """Rows of a table with an open total are written, a total over them is not."""
    sheet: dict[str, Any] = {"sheet": "A", "query": "FROM o ORDER BY 1"}
    given = [{"target_path": "o.xlsx", "sheets": [sheet]}]
    tables = {"o": {"path": "open.csv"}}
    await ask("export_sheets", outputs=given, tables=tables)
    sheet["form"] = {"totals": {"Sum": "sum"}}
    with pytest.raises(ValidationFailed, match=r"open\.csv: .* Figures wait"):
        await ask("export_sheets", outputs=given, tables=tables)
