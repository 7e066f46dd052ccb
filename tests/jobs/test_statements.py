"""Statements of a job: one query for what is asked, parts that are all of the whole, odd names."""

from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from job_tables import TODAY, JobTables, fold, job
from kbd.errors import ValidationFailed
from kbd.jobs.checks import plan_checks
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.shapes import GivenTable
from kbd.jobs.statements import (
    MAX_PIVOT_VALUES,
    SplitValue,
    WantedValues,
    compile_job,
    pivot_values,
    split_values,
)
from kbd_tables.statements import checked_statement, with_whole_order

DATABASE = duckdb.connect(config={"threads": 1})

SALES = {"Region": "string", "Amount": "float", "Day": "date"}
ROWS = [
    ["north", 0.1, date(2024, 1, 5)], ["South", 0.2, date(2024, 2, 5)],
    ["North", 0.2, date(2024, 1, 7)], [None, 5.0, None], ["North", None, date(2024, 2, 1)],
]  # fmt: skip


def test_only_what_is_needed_is_in_a_query() -> None:
    """A table's query holds the steps that it is made of, and no others, in order."""
    tables = JobTables(t=(SALES, ROWS), o=(SALES, ROWS))
    turn = tables.compiled(job(
        {"do": "filter", "where": "Amount > 0", "make": "paid"},
        {"do": "sort", "by": [{"column": "Day"}], "make": "sorted"},
        {"do": "filter", "of": "t", "where": "Amount < 0", "make": "lost"},
        {"do": "join", "of": "paid", "other": "o", "on": {"Day": "Day"}, "columns": ["Region"],
         "kind": "missing", "make": "alone"},
        inputs=["t", "o"],
    ))  # fmt: skip

    assert '"lost" AS' in turn.rows("lost")
    assert '"paid" AS' not in turn.rows("lost")
    alone = turn.rows("alone")
    assert alone.index('FROM "t"') < alone.index('FROM "o"') < alone.index('"paid" AS')
    assert alone.index('"paid" AS') < alone.index('"alone" AS')
    assert '"sorted" AS' not in alone
    assert alone == tables.compiled(turn.job).rows("alone")


def test_a_step_reads_what_the_step_before_made() -> None:
    """Without `of` it is the table before, past steps that write; at first the first table."""
    tables = JobTables(t=(SALES, ROWS))
    turn = tables.compiled(job(
        {"do": "convert", "table": "t", "file": "x.json"},
        {"do": "filter", "where": "Region is empty"},
        {"do": "write", "file": "x.xlsx"},
        {"do": "derive", "columns": {"Twice": "Amount * 2"}},
        {"do": "report"},
    ))  # fmt: skip

    assert turn.shapes.sources == (None, "t", "step 2", "step 2", "step 4")
    assert turn.shapes.made == (None, "step 2", None, "step 4", None)
    assert tables.ask(turn.rows("step 4")) == [(None, 5.0, None, 10.0)]


def test_fractions_are_rounded_where_nobody_reads() -> None:
    """Sums of binary fractions come as written, a tiny dose too, and a balance of 0 as 0."""
    columns = {"Kind": "string", "Amount": "float"}
    rows: list[list[Any]] = [
        ["cents", 0.1], ["cents", 0.2], ["balance", 0.1], ["balance", 0.2], ["balance", -0.3],
        ["dose", 0.0000012], ["large", 1e15], ["large", 0.25], ["none", None],
    ]  # fmt: skip
    tables = JobTables(t=(columns, rows))
    found = dict(tables.rows({
        "do": "group", "by": ["Kind"],
        "figures": [{"name": "s", "function": "sum", "column": "Amount"}],
    }))  # fmt: skip

    assert found == {
        "cents": 0.3, "balance": 0.0, "dose": 0.0000012, "large": 1e15 + 0.25, "none": None,
    }  # fmt: skip


def test_averages_and_medians() -> None:
    """The average and the median of what is there, of whole numbers too."""
    tables = JobTables(t=({"n": "integer", "d": "decimal"}, [
        [1, Decimal("0.10")], [2, Decimal("0.20")], [4, None], [None, Decimal("0.40")],
    ]))  # fmt: skip
    figures = [
        {"name": f"{function} {column}", "function": function, "column": column}
        for function in ("average", "median")
        for column in ("n", "d")
    ]

    assert tables.rows({"do": "group", "figures": figures}) == [
        (2.3333333333, 0.2333333333, 2.0, 0.2)
    ]


def test_whole_numbers_stay_exact() -> None:
    """Sums beyond 2^53, and beyond 64 bits, are whole numbers to the last figure."""
    big = 2**53 + 1
    tables = JobTables(t=({"n": "integer"}, [[big], [2**62], [2**62], [1]]))
    found = tables.rows({
        "do": "group", "figures": [{"name": "s", "function": "sum", "column": "n"}],
    })  # fmt: skip

    assert [(big + 2**63 + 1,)] == found
    assert [(big,)] == tables.rows({"do": "filter", "where": f"n = {big}"})


def test_decimals_stay_as_they_came_but_for_a_sheet() -> None:
    """Rows keep their decimals; a sheet's numbers are binary fractions."""
    tables = JobTables(t=({"d": "decimal"}, [[Decimal("1.10")]]))
    turn = tables.compiled(job({"do": "sort", "by": [{"column": "d"}], "make": "s"}))

    assert [(Decimal("1.10"),)] == tables.ask(turn.rows("s"))
    assert tables.ask(turn.rows("s", for_sheet=True)) == [(1.1,)]


@pytest.mark.parametrize("rows", [[], [["select", 1, "x"]]])
def test_no_column_is_taken_for_one_of_ours(rows: list[list[Any]]) -> None:
    """Columns that are called like the hidden ones are columns as any, also of one row or none."""
    names = {"row of the file": "string", "part of the step": "integer", "v": "string"}
    tables = JobTables(t=(names, rows))
    steps = [
        {"do": "derive", "columns": {"row of the file (2)": '"part of the step" + 1'}},
        {"do": "deduplicate", "by": ["row of the file"]},
        {"do": "top", "count": 3, "by": [{"column": "v"}]},
        {"do": "running", "column": "part of the step", "name": "k0",
         "by": [{"column": "row of the file"}]},
        {"do": "share", "column": "k0", "name": "f"},
    ]  # fmt: skip

    assert [(*row, row[1] + 1, row[1], 1.0) for row in rows] == tables.rows(*steps)
    assert [(*row[:1], row[1], row[1]) for row in rows] == tables.rows({
        "do": "pivot", "rows": ["row of the file"], "column": "v", "total": "whole",
        "figure": {"name": "x", "function": "sum", "column": "part of the step"},
    })  # fmt: skip


def test_pivots_on_pivots_take_a_turn_each() -> None:
    """A pivot behind another one is asked for once the first one's values are known."""
    tables = JobTables(t=(SALES, ROWS))
    asked = job(
        {"do": "derive", "columns": {"Month": "month_of(Day)"}},
        {"do": "pivot", "rows": ["Month"], "column": "Region",
         "figure": {"name": "n", "function": "count"}},
        {"do": "filter", "where": "North > 0"},
        {"do": "pivot", "rows": ["North"], "column": "Month",
         "figure": {"name": "n", "function": "count"}},
    )  # fmt: skip
    first = compile_job(asked, tables.given, TODAY)

    assert [want.step for want in first.wanted] == [2]
    assert "step 3" not in first.relations
    values = pivot_values(first.wanted[0], tables.ask(first.wanted[0].sql))
    assert list(values) == ["North", "South", None]
    second = compile_job(asked, tables.given, TODAY, {2: values})
    assert [want.step for want in second.wanted] == [4]
    assert tables.table(asked) == (
        ["North", "2024-01", "2024-02"], [(1, 0, 1), (2, 1, 0)]
    )  # fmt: skip


def test_headings_of_a_pivot_that_are_taken_get_a_number() -> None:
    """A value that is called like a column of the groups does not hide it."""
    tables = JobTables(t=({"Region": "string", "Kind": "string"}, [["a", "region"], ["b", "x"]]))
    names, rows = tables.table(job({
        "do": "pivot", "rows": ["Region"], "column": "Kind",
        "figure": {"name": "n", "function": "count"},
    }))  # fmt: skip

    assert names == ["Region", "region (2)", "x"]
    assert rows == [("a", 1, 0), ("b", 0, 1)]


def test_a_pivot_of_too_many_values_is_refused() -> None:
    """Of more values than a table has use for, the column is named and what helps."""
    rows = [[f"v{number}", "x"] for number in range(MAX_PIVOT_VALUES + 1)]
    tables = JobTables(t=({"b": "string", "a": "string"}, rows))
    asked = job({
        "do": "pivot", "rows": ["a"], "column": "b", "figure": {"name": "n", "function": "count"},
    })  # fmt: skip

    with pytest.raises(ValidationFailed, match=r'step 1 \(pivot\): column "b" has more than 200'):
        tables.compiled(asked)


def test_a_value_too_long_for_a_name_is_refused() -> None:
    """A text of a page is no name of a sheet or a column."""
    with pytest.raises(ValidationFailed, match="has 1001 characters; names have at most 1000"):
        split_values([["x" * 1001, 1]])
    with pytest.raises(ValidationFailed, match="has 1001 characters"):
        pivot_values(WantedValues(1, "a", ""), [["x" * 1001, 1]])


NAMES = st.none() | st.sampled_from(["a", "A", "a'); --", " ", "\u00fc", "u\u0308", "{value}", "0"])
VALUES = {
    "string": NAMES,
    "integer": st.none() | st.integers(-3, 3),
    "float": st.none() | st.sampled_from([0.1 + 0.2, 0.3, 1.0, 1e20, -2.5]),
    "decimal": st.none() | st.decimals(-3, 3, places=2),
    "date": st.none() | st.dates(date(2024, 1, 1), date(2024, 1, 4)),
    "datetime": st.none()
    | st.sampled_from(
        [datetime.fromisoformat("2024-01-01 00:00"), datetime.fromisoformat("2024-01-01 09:30")]
    ),
    "boolean": st.none() | st.booleans(),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", VALUES)
@settings(max_examples=25)
@given(data=st.data())
def test_parts_of_a_split_are_all_rows_once(kind: str, exact: bool, data: st.DataObject) -> None:
    """The values' parts together are the table, each row in just one, counted as it is told."""
    values: list[Any] = data.draw(st.lists(VALUES[kind], max_size=8))
    rows = [[value, place] for place, value in enumerate(values)]
    tables = JobTables(DATABASE, t=({"by": kind, "place": "integer"}, rows))
    turn = tables.compiled(job(
        {"do": "split", "by": "by", "file": "x.xlsx", "exact": exact, "keep_column": False}
    ))  # fmt: skip
    found = split_values(tables.ask(turn.values(1)))
    parts = [[place for (place,) in tables.ask(turn.part(1, each.value))] for each in found]

    assert sorted(range(len(rows))) == sorted(place for part in parts for place in part)
    assert [each.rows for each in found] == [len(part) for part in parts]
    assert all(part == sorted(part) for part in parts)
    assert None not in [each.value for each in found[:-1]]
    if kind == "string":
        told = {value if exact and fold(value) else fold(value) for value in values}
        assert len(told) == len(found)


def test_values_of_a_split_come_in_their_order() -> None:
    """Numbers go by their size, texts by their letters, rows without a value come last."""
    columns = {"n": "integer", "s": "string"}
    tables = JobTables(t=(columns, [[10, "b"], [9, "B"], [None, "\u00e4"], [-1, "b"], [9, None]]))
    turn = tables.compiled(job(
        {"do": "split", "by": "n", "file": "x.xlsx"}, {"do": "split", "by": "s", "file": "y.xlsx"}
    ))  # fmt: skip

    assert (
        SplitValue("-1", 1), SplitValue("9", 2), SplitValue("10", 1), SplitValue(None, 1)
    ) == split_values(tables.ask(turn.values(1)))  # fmt: skip
    assert (
        SplitValue("\u00e4", 1), SplitValue("b", 3), SplitValue(None, 1)
    ) == split_values(tables.ask(turn.values(2)))  # fmt: skip


def test_today_is_the_day_that_is_given() -> None:
    """`today()` is a date in the statement, the same whenever that runs."""
    tables = JobTables(t=({"Due": "date"}, [[date(2026, 11, 28)], [date(2026, 11, 29)]]))
    turn = tables.compiled(job({"do": "filter", "where": "Due < today()", "make": "late"}))

    assert "DATE '2026-11-29'" in turn.rows("late")
    assert [(date(2026, 11, 28),)] == tables.ask(turn.rows("late"))


def test_a_union_takes_columns_of_any_type() -> None:
    """A column without a value has the type that the other table's has."""
    at = datetime.fromisoformat("2024-01-01 09:00")
    tables = JobTables(
        t=({"a": "float", "d": "date"}, [[1.5, None]]),
        o=({"A": "string", "D": "datetime"}, [[None, at]]),
    )
    columns = (ShapeColumn("A", "any"), ShapeColumn("D", "datetime"))
    tables.given["o"] = GivenTable(columns, "o.csv")
    names, rows = tables.table(job({"do": "union", "tables": ["t", "o"]}, inputs=["t", "o"]))

    assert names == ["a", "d"]
    assert rows == [(1.5, None), (None, at)]


def test_rows_without_any_value_are_none() -> None:
    """They are left out of each table, told, and counted nowhere; a list of one column keeps them.

    A row with a single value stays, whatever it is.
    """
    rows = [["North", 1.0], [None, None], [None, 0.0], ["", None], [None, None]]
    columns = {"Region": "string", "Amount": "float"}
    tables = JobTables(t=(columns, rows), o=(columns, [["East", 1.0]]))
    count = {"do": "group", "figures": [{"name": "n", "function": "count"}]}
    listed = JobTables(t=({"Region": "string"}, [["North"], [None]]))

    assert tables.rows(count) == [(3,)]
    told = "told: 2 rows of t have no value at all and are left out"
    assert told in tables.told(count)
    assert told in tables.told({"do": "union", "tables": ["o", "t"]})
    assert listed.rows(count) == [(2,)]
    assert not any("no value at all" in text for text in listed.told(count))


def test_the_table_tools_see_the_inputs_alone() -> None:
    """In what is asked they find no table but the inputs, and an order that can be made whole."""
    tables = JobTables(t=(SALES, ROWS), o=(SALES, ROWS))
    asked = job(
        {"do": "filter", "where": "Amount > 0", "make": "paid"},
        {"do": "pivot", "rows": ["Day"], "column": "Region", "make": "pivot",
         "figure": {"name": "x", "function": "sum", "column": "Amount"}},
        {"do": "union", "tables": ["paid", "o"], "make": "both"},
        {"do": "split", "by": "Region", "file": "x.xlsx"},
        inputs=["t", "o"],
    )  # fmt: skip
    turn = tables.compiled(asked)
    parse = partial(checked_statement, tables.connection)

    assert {("t",)} == set(parse(turn.rows("pivot")).tables)
    for sql in (
        turn.rows("both"), turn.values(4), turn.part(4, "North"), *plan_checks(turn).statements,
    ):  # fmt: skip
        assert {("t",), ("o",)} == set(parse(sql).tables)
        assert parse(sql).is_timeless
    rows = parse(turn.rows("both", for_sheet=True))
    whole = with_whole_order(tables.connection, rows, ["1", "2", "3"])
    assert whole is not None
    assert tables.ask(rows.sql) == tables.ask(whole)


def test_a_column_without_a_value_is_of_any_type() -> None:
    """What is worked out of it is empty, and runs, however it is held."""
    tables = JobTables(t=({"k": "string", "x": "string"}, [["a", None], ["b", None]]))
    columns = (ShapeColumn("k", "string"), ShapeColumn("x", "any"))
    tables.given["t"] = GivenTable(columns, "t.csv")
    figures = [
        {"name": function, "function": function, "column": "x"}
        for function in ("sum", "average", "median", "minimum", "count", "distinct")
    ]
    group = {"do": "group", "figures": figures}

    assert tables.rows(group) == [(None, None, None, None, 0, 0)]
    assert {each[:6] for each in tables.told(group)} <= {"passed", "told: "}
    derived = {"y": "x + 1", "d": "year(x)", "t": "lower(x)", "b": "x > 1 or x = 'a'"}
    derive = {"do": "derive", "columns": derived}
    running = {"do": "running", "column": "x", "name": "r", "by": [{"column": "k"}]}
    assert tables.rows(derive, running) == [
        (key, None, None, None, None, None, 0.0) for key in ("a", "b")
    ]


def test_keys_without_a_value_are_of_any_type() -> None:
    """A table whose key is empty throughout is joined and compared; nothing is a partner."""
    tables = JobTables(
        t=({"k": "integer", "x": "float"}, [[1, 1.5]]),
        o=({"k": "string", "x": "string", "n": "integer"}, [[None, None, 1]]),
    )
    columns = (ShapeColumn("k", "any"), ShapeColumn("x", "any"), ShapeColumn("n", "integer"))
    tables.given["o"] = GivenTable(columns, "o.csv")
    join = {"do": "join", "other": "o", "on": {"k": "k"}, "columns": ["x"], "kind": "missing"}
    compare = {"do": "compare", "other": "o", "on": ["k"], "columns": ["x"]}
    turned = {"do": "compare", "of": "o", "other": "t", "on": ["k"], "columns": ["x"]}

    assert tables.rows(join) == [(1, 1.5)]
    assert tables.rows(compare) == [(1, "removed", 1.5, None), (None, "added", None, None)]
    assert tables.rows(turned)[1][1:] == ("added", None, 1.5)
    assert "failed" not in {each.split(":")[0] for each in tables.told(compare, turned)}
