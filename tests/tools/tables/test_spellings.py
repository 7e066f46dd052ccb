"""Texts that differ in capitals alone are one value to people: what parts them says so."""

from pathlib import Path
from typing import Any

import pytest

from backends import on_trio
from kbd.testing.tools import Workbench
from kbd_csv import CsvFormat
from kbd_tables import kbd_register_tools
from kbd_tables.summed_columns import tells_capitals_apart
from tools.small_formats import LinesFormat
from tools.tables.conftest import Ask
from tools.tables.loading import Loading

NOTE = "1 value is written with other capitals, too (ACME, Acme)"
APART = f"customer: {NOTE}, and counts as another one"
JOINED = f'customer of "data" and name of "people.csv": {NOTE}'


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path / "workbench", [CsvFormat(), LinesFormat()])
    made.add("orders.csv", "customer,total,remark\nACME,10,x\nAcme,20,X\nBolt,30,y\n")
    made.add("upper.csv", "customer,total\nACME,10\nBolt,30\n")
    made.add("people.csv", "name,city\nAcme,Rome\nBolt,Oslo\n")
    return made


async def told(workbench: Workbench, name: str, **arguments: Any) -> tuple[str, ...]:
    """Call `table_<name>` and return what a person is told."""
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    return tuple((await workbench.call(tools[f"table_{name}"], **arguments)).told)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT customer, sum(total) FROM data GROUP BY customer",
        "SELECT customer, sum(total) FROM data GROUP BY 1",
        "SELECT customer, sum(total) FROM data GROUP BY ALL",
        "SELECT DISTINCT customer FROM data",
        "SELECT count(DISTINCT customer) FROM data",
        "SELECT sum(total) FROM data WHERE customer = 'Acme'",
        "SELECT sum(total) FROM data WHERE customer IN ('Acme', 'Bolt')",
        "SELECT sum(total) FROM data WHERE customer LIKE 'Ac%'",
        "SELECT sum(total) FROM data WHERE starts_with(customer, 'Ac')",
        "SELECT total, sum(total) OVER (PARTITION BY customer) FROM data",
    ],
)
@pytest.mark.anyio
@on_trio
async def test_figures_by_capitals_are_told(workbench: Workbench, query: str) -> None:
    """Whoever gets groups or a choice by such a column is told what it parts, and of no other."""
    assert f"orders.csv, {APART}" in await told(workbench, "query", path="orders.csv", query=query)
    others = await told(workbench, "query", path="orders.csv", query=query)
    assert not [line for line in others if "remark" in line]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT customer, total FROM data ORDER BY customer",
        "SELECT sum(total) FROM data",
        "SELECT lower(customer) AS customer, sum(total) FROM data GROUP BY 1",
        "SELECT sum(total) FROM data WHERE customer ILIKE 'acme'",
    ],
)
@pytest.mark.anyio
@on_trio
async def test_what_parts_no_capitals_is_not_told(workbench: Workbench, query: str) -> None:
    """Rows as they stand, and statements that take capitals off, need no word to a person."""
    lines = await told(workbench, "query", path="orders.csv", query=query)
    assert not [line for line in lines if "capitals" in line]


@pytest.mark.parametrize(
    "joined",
    [
        'data JOIN "people.csv" AS p ON customer = p.name',
        'data AS d, "people.csv" AS p WHERE p.name = d.customer',
        'data WHERE customer IN (SELECT name FROM "people.csv")',
        'data WHERE EXISTS (SELECT 1 FROM "people.csv" AS p WHERE p.name = data.customer)',
    ],
)
@pytest.mark.anyio
@on_trio
async def test_a_join_that_loses_rows_by_capitals_says_so(
    workbench: Workbench, ask: Ask, joined: str
) -> None:
    """Rows that find no partner by their capitals alone are warned of, and told to a person."""
    given = {"path": "upper.csv", "query": f"SELECT sum(total) FROM {joined}"}
    found = await ask("query", **given)
    assert found["rows"] == [[30]]
    assert [warning for warning in found["warnings"] if JOINED in warning]
    assert [line for line in await told(workbench, "query", **given) if JOINED in line]


@pytest.mark.anyio
@on_trio
async def test_a_join_without_such_values_says_nothing(workbench: Workbench, ask: Ask) -> None:
    """What matches as it is written, or finds nothing in any spelling, is no loss by capitals."""
    workbench.add("others.csv", "name,city\nBolt,Oslo\nCobb,Bonn\n")
    query = 'SELECT sum(total) FROM data JOIN "others.csv" AS o ON customer = o.name'
    assert "warnings" not in await ask("query", path="upper.csv", query=query)


@pytest.mark.anyio
@on_trio
async def test_an_export_says_so_in_its_review(workbench: Workbench, ask: Ask) -> None:
    """A file that is made of a join has the loss among its warnings, where a query has no time."""
    workbench.add("upper.csv", "customer,total\nACME,10\n" + "Bolt,30\n" * 3_000)
    query = 'SELECT name, total FROM data JOIN "people.csv" AS p ON customer = p.name ORDER BY 1'
    given = {"path": "upper.csv", "target_path": "out.csv", "format": "csv", "query": query}
    found = await ask("export", **given)
    assert [warning for warning in found["warnings"] if JOINED in warning]
    assert "warnings" not in await ask("query", path="upper.csv", query=query)


def test_large_tables_are_searched_where_values_are_few(loading: Loading) -> None:
    """Beyond 100,000 rows columns of keys are passed over, and no others."""
    rows = 150_000
    keys = [f"k{number}" for number in range(rows - 1)] + ["K0"]
    found = loading({"key": keys, "kind": ["Paid", "paid", "open"] * (rows // 3)})
    told = [warning for warning in found.warnings if "capitals" in warning]
    note = "1 value is written with other capitals, too (Paid, paid)"
    assert told == [f"kind: {note}: SQL tells them apart, lower() does not"]


@pytest.mark.parametrize(
    ("sql", "is_apart"),
    [
        ("SELECT a FROM data WHERE a = 'lower'", True),
        ("SELECT a FROM data -- lower(a)", True),
        ("SELECT Lower(a) FROM data", False),
        ("SELECT a FROM data WHERE a ILIKE 'x'", False),
        ("SELECT a FROM data ORDER BY a COLLATE nocase", False),
    ],
)
def test_words_that_take_capitals_off(sql: str, *, is_apart: bool) -> None:
    """A word counts as SQL's own, not within a text or a remark."""
    assert tells_capitals_apart(sql) is is_apart
