"""Trials: inputs are changed in every way that a next file may differ, and results are judged."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from job_tables import JobTables, job
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.recipes.trial_checks import (
    AdditiveTable,
    ResultTable,
    additive_tables,
    order_free_tables,
    parts_faults,
    same_faults,
)
from kbd.jobs.recipes.trial_tables import ChangedTable, TrialTable, changed_inputs

TABLE = TrialTable(
    (
        ShapeColumn("Id", "string"), ShapeColumn("Shop", "string"), ShapeColumn("Amount", "float"),
        ShapeColumn("Level", "integer"), ShapeColumn("Date", "date"), ShapeColumn("Note", "string"),
    ),
    (
        ("a1", "North", Decimal("1.50"), 1, date(2024, 3, 1), "x"),
        ("a2", "South", Decimal("2.25"), 2, date(2024, 3, 2), "y"),
        ("a3", "North", None, 1, None, "z"),
        ("a4", None, Decimal("4.00"), 2, date(2024, 3, 4), "z"),
    ),
)  # fmt: skip


def changes(seed: int = 1) -> list[ChangedTable]:
    """The changes of the table."""
    used, categories = ("Id", "Shop", "Amount", "Level"), ("Shop", "Level")
    return list(changed_inputs(TABLE, used, categories, ["Id"], seed))


def change(kind: str) -> list[ChangedTable]:
    """The changes of a kind."""
    return [each for each in changes() if each.change == kind]


def test_changes_are_the_same_by_their_seed() -> None:
    """The same seed gives the same rows, another one others; an empty table is not changed."""
    assert changes() == changes()
    assert changes(1) != changes(2)
    assert changed_inputs(TrialTable(TABLE.columns, ()), ["Shop"]) == ()


def test_each_way_to_differ_is_there() -> None:
    """There is each kind of change, of each grouping a new category, of each column a gap."""
    kinds = [(each.change, each.column) for each in changes()]

    assert kinds == [
        ("shuffled", ""), ("removed", ""), ("added", ""), ("new category", "Shop"),
        ("new category", "Level"), ("other amounts", ""), ("many rows", ""),
        ("empty fields", "Id"), ("empty fields", "Shop"), ("empty fields", "Amount"),
        ("empty fields", "Level"),
    ]  # fmt: skip


def test_parts_are_the_whole() -> None:
    """The rows of the parts are those of the whole, each once."""
    for each in changes():
        if each.parts:
            rows = [row for part in each.parts for row in part]
            assert sorted(map(repr, rows)) == sorted(map(repr, each.whole)), each.text
        assert each.table.columns == TABLE.columns


def test_rows_are_removed_and_shuffled() -> None:
    """Rows that are removed are a part; shuffled ones are all there."""
    (removed,), (shuffled,) = change("removed"), change("shuffled")

    assert removed.whole == TABLE.rows
    assert removed.table.rows == removed.parts[0] != TABLE.rows
    assert sorted(map(repr, shuffled.table.rows)) == sorted(map(repr, TABLE.rows))


def test_rows_are_added_with_keys_of_their_own() -> None:
    """A row that is added has another key, another amount and a later date; its group stays."""
    (added,), (many,) = change("added"), change("many rows")
    row = added.table.rows[-1]
    like = next(each for each in TABLE.rows if each[1:2] == row[1:2] and each[5] == row[5])

    assert len({each[0] for each in added.table.rows}) == len(added.table.rows)
    assert (row[1], row[3], row[5]) == (like[1], like[3], like[5])
    assert row[2] != like[2] or like[2] is None
    assert row[4] is None or row[4] > like[4]  # type: ignore[operator]
    assert len(many.table.rows) == 40
    assert len({each[0] for each in many.table.rows}) == 40


def test_categories_and_amounts_are_new() -> None:
    """A new category is one that no row had; amounts differ, one is negative and one nothing."""
    shop, level = change("new category")
    (amounts,) = change("other amounts")

    assert (shop.value, level.value) == ("New Shop 1", 3)
    assert shop.table.rows[-1][1] == "New Shop 1"
    assert [row[2] for row in amounts.table.rows][1] == 0
    assert amounts.table.rows[0][2] < 0  # type: ignore[operator]
    assert amounts.table.rows[3][2] != Decimal("4.00")


def test_one_field_is_emptied() -> None:
    """Of each column that is used one row has no value."""
    for each in change("empty fields"):
        place = TABLE.place(each.column)
        before = sum(row[place] is None for row in TABLE.rows)
        assert sum(row[place] is None for row in each.table.rows) in (before, before + 1)


GROUP = {"do": "group", "by": ["Shop"], "make": "g", "figures": [
    {"name": "Sum", "function": "sum", "column": "Amount"}]}  # fmt: skip
BY = [{"column": "Amount"}]


@pytest.mark.parametrize(
    ("steps", "name", "additive"),
    [
        ([GROUP], "g", AdditiveTable(("Shop",))),
        ([{"do": "filter", "where": "Amount > 1"}, GROUP], "g", AdditiveTable(("Shop",))),
        ([{"do": "filter", "where": "Amount > 1", "make": "f"}], "f", AdditiveTable()),
        ([GROUP, {"do": "sort", "by": [{"column": "Sum"}], "make": "s"}], "s",
         AdditiveTable(("Shop",))),
        ([GROUP, {"do": "filter", "where": "Sum > 1", "make": "s"}], "s", None),
        ([{"do": "top", "count": 3, "by": BY}, GROUP], "g", None),
        ([{"do": "deduplicate"}, GROUP], "g", None),
        ([GROUP | {"figures": [{"name": "M", "function": "median", "column": "Amount"}]}], "g",
         None),
        ([{"do": "share", "column": "Amount", "name": "Share", "make": "s"}], "s", None),
        ([{"do": "pivot", "rows": ["Shop"], "column": "Status", "make": "p",
           "figure": {"name": "N", "function": "count"}}], "p", AdditiveTable(("Shop",))),
    ],
)  # fmt: skip
def test_what_adds_up_is_known(steps: list[Any], name: str, additive: AdditiveTable | None) -> None:
    """Sums and counts of rows add up; what was chosen, ranked or averaged first does not."""
    columns = {"Shop": "string", "Amount": "decimal", "Status": "string"}
    tables = JobTables(t=(columns, [["North", "1.00", "paid"]]))
    compiled = tables.compiled(job(*steps))

    assert additive_tables(compiled.job, compiled.shapes, "t").get(name) == additive


@pytest.mark.parametrize(
    ("step", "is_free"),
    [
        (GROUP, True),
        ({"do": "deduplicate"}, True),
        ({"do": "deduplicate", "by": ["Shop"]}, False),
        ({"do": "top", "count": 1, "by": BY}, False),
        ({"do": "top", "count": 1, "by": BY, "ties": True}, True),
        ({"do": "running", "column": "Amount", "name": "R", "by": BY}, False),
    ],
)
def test_what_hangs_on_the_order_is_known(step: dict[str, Any], is_free: bool) -> None:
    """Which row is the first of its like hangs on the order, and so does what is made of it."""
    tables = JobTables(t=({"Shop": "string", "Amount": "decimal"}, [["North", "1.00"]]))
    compiled = tables.compiled(
        job(step | {"make": "a"}, {"do": "filter", "where": "true", "make": "b"})
    )

    assert ({"a", "b"} <= order_free_tables(compiled.job, compiled.shapes)) is is_free


def result(*rows: tuple[Any, ...]) -> ResultTable:
    """A sum by shop."""
    return ResultTable(("Shop", "Sum"), rows)


def test_a_missed_category_is_a_fault() -> None:
    """A whole that lacks a group of its parts, or has an old figure, is told by both."""
    one, two = result(("North", 1.5), ("South", 2)), result(("north", 3), ("New", 4))
    keys = AdditiveTable(("Shop",))

    assert parts_faults(result(("North", 4.5), ("South", 2), ("New", 4)), [one, two], keys) == ()
    assert parts_faults(result(("North", 4.5), ("South", 2)), [one, two], keys) == (
        "sum of new is not there, and of its parts 4",
    )
    assert parts_faults(result(("North", 1.5), ("South", 2), ("New", 4)), [one, two], keys) == (
        "sum of north is 1.5, and of its parts 4.5",
    )


def test_rows_of_parts_are_rows_of_the_whole() -> None:
    """Of rows that are chosen one by one the whole has those of its parts, in any order."""
    one, two = result(("North", 1)), result(("South", 2), ("South", None))

    assert parts_faults(result(("South", None), ("South", 2), ("North", 1)), [one, two],
                        AdditiveTable()) == ()  # fmt: skip
    assert parts_faults(result(("South", 2), ("North", 1)), [one, two], AdditiveTable()) == (
        "there were 3 rows, and are 2",
    )


def test_same_results_differ_in_order_alone() -> None:
    """Rows in another order are the same; another figure, row or column is told."""
    one = result(("North", 0.1 + 0.2), ("South", None))

    assert same_faults(one, result(("South", None), ("North", Decimal("0.3")))) == ()
    assert same_faults(one, result(("South", None), ("North", 0.31))) == (
        "a row was North, 0.30000000000000004, and is North, 0.31",
    )
    assert same_faults(one, ResultTable(("Shop", "Total"), one.rows)) == (
        "the columns were Shop, Sum, and are Shop, Total",
    )
